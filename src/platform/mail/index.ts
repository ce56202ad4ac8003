import type { Config } from '../../config/index.ts'
import type { Db } from '../../db/open.ts'
import type { Clock } from '../clock.ts'
import { createDueLoop } from '../due/loop.ts'
import type { Instances } from '../instances.ts'
import type { Log } from '../log.ts'
import type { Metrics } from '../metrics/index.ts'
import { SLICE } from '../retention.ts'
import type { Sealing } from '../sealing/index.ts'
import { createBodies } from './body.ts'
import { createErase } from './erase.ts'
import { createMailMetrics } from './metrics.ts'
import { createOutbox } from './outbox.ts'
import { createPost } from './post.ts'
import { createMailQueue } from './queue.ts'
import { createRecipientHash } from './recipient-hash.ts'
import { mailRetention } from './retention.ts'
import { createSend, type Send } from './send.ts'
import { mailServerOf, senderOf } from './server.ts'
import { createSettling, EXPIRED } from './settling.ts'
import { createStore } from './store/index.ts'
import { createThrottle } from './throttle.ts'

export type { Body } from './body.ts'
export type { OpenMail, Whose } from './outbox.ts'
export type { NewMail } from './post.ts'
export type { MailSummary } from './store/outbox-queries.ts'
export { renderMail } from './template.ts'
export type { Allowance } from './throttle.ts'

export type Mail = ReturnType<typeof createMail>

/**
 * The mail outbox: mails are stored in the commit of what they report and sent later, with retries.
 * Without a mail server they are kept until there is one, unless they expire.
 */
export function createMail(parts: {
  db: Db
  clock: Clock
  log: Log
  sealing: Sealing
  instances: Instances
  metrics: Metrics
  config: Pick<Config, 'mail' | 'retention' | 'brand'>
  /** Additional trusted root certificates, PEM. */
  ca?: string[]
}) {
  const { db, clock, log, sealing, instances, metrics, config } = parts
  const store = createStore(db)
  const bodies = createBodies(sealing)
  const hashOf = createRecipientHash(sealing)
  const send = senderFor(parts)
  const hasServer = send !== undefined
  const wake = onceATurn(() => loop.nudge())
  const events = createMailMetrics(metrics, store)
  const common = { store, clock, log, afterCommit: db.afterCommit }
  const settling = createSettling({ ...common, events, hasServer })
  const queue = createMailQueue({ ...common, bodies, settling, send, wake })
  const loop = createDueLoop({ queue, db, clock, log, instances })

  async function start() {
    if (hasServer) await sendWhatWasKept()
    else await keepWhatWasToBeSent()
    loop.start()
  }

  async function sendWhatWasKept() {
    await inSlices((limit) => store.mails.expire(EXPIRED, clock.now(), limit))
    await inSlices((limit) => store.mails.release(clock.now(), limit))
  }

  async function keepWhatWasToBeSent() {
    await inSlices((limit) => store.mails.keep('ready', limit))
    await inSlices((limit) => store.mails.keep('waiting', limit))
  }

  async function inSlices(move: (limit: number) => number) {
    while ((await db.commit(() => move(SLICE))) === SLICE) {}
  }

  return {
    ...createPost({ store, bodies, hashOf, hasServer, wake }),
    ...createThrottle({ store, hashOf }),
    ...createErase({ store, clock, hashOf }),
    outbox: createOutbox({ store, bodies, clock, wake }),
    retention: mailRetention(store, config.retention.mailsMs, hasServer),
    /** Whether a mail server is configured. */
    hasServer,
    start,
    stop: loop.stop,
    idle: loop.idle,
    /** Checks for work immediately, for example after another process has posted mails. */
    nudge: loop.nudge,
  }
}

/**
 * Creates the sender of mails; undefined without a mail server. The configuration requires a sender
 * address for a mail server.
 */
function senderFor({ clock, config, ca }: Parameters<typeof createMail>[0]): Send | undefined {
  const { smtpUrl, from } = config.mail
  if (smtpUrl === undefined || from === undefined) return undefined
  const sender = senderOf(from, config.brand.name)
  return createSend({ clock, server: mailServerOf(smtpUrl), sender, ca })
}

/** Calls `tell` once in the next microtask, however many mails a commit posts. */
function onceATurn(tell: () => void) {
  let isScheduled = false
  return () => {
    if (isScheduled) return
    isScheduled = true
    queueMicrotask(() => {
      isScheduled = false
      tell()
    })
  }
}
