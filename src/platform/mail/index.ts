import type { Config } from '../../config/index.ts'
import type { Db } from '../../db/open.ts'
import type { Alerts } from '../alerts/index.ts'
import type { Branding } from '../branding/index.ts'
import type { Clock } from '../clock.ts'
import { createDueLoop } from '../due/loop.ts'
import type { Instances } from '../instances.ts'
import type { Log } from '../log.ts'
import type { Metrics } from '../metrics/index.ts'
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
import { createSettling } from './settling.ts'
import { createStore } from './store/index.ts'
import { sendTestMail } from './test-mail.ts'
import { createThrottle } from './throttle.ts'

export type { Body } from './body.ts'
export { oneLine } from './one-line.ts'
export type { OpenMail, Whose } from './outbox.ts'
export type { NewMail } from './post.ts'
export type { MailSummary } from './store/outbox-queries.ts'
export { type Content, renderMail, tidied } from './template.ts'
export type { TestMail } from './test-mail.ts'
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
  branding: Pick<Branding, 'of' | 'imageOf'>
  alerts: Pick<Alerts, 'open' | 'resolve'>
  config: Pick<Config, 'retention' | 'brand'>
  /** The mail server in effect, which can change while the program runs. */
  settings: () => Config['mail']
  /** Additional trusted root certificates, PEM. */
  ca?: string[]
}) {
  const { db, clock, log, sealing, instances, metrics, config, settings } = parts
  const store = createStore(db)
  const bodies = createBodies(sealing)
  const hashOf = createRecipientHash(sealing)
  const sender = createSender(parts)
  const hasServer = () => settings().smtpUrl !== undefined
  const wake = onceATurn(() => loop.nudge())
  const events = createMailMetrics(metrics, store)
  const common = { store, clock, log, afterCommit: db.afterCommit }
  const settling = createSettling({ ...common, events, alerts: parts.alerts })
  const queue = createMailQueue({ ...common, bodies, settling, sender, wake })
  const loop = createDueLoop({ queue, db, clock, log, instances })

  return {
    ...createPost({ store, bodies, hashOf, hasServer, wake }),
    ...createThrottle({ store, hashOf }),
    ...createErase({ store, clock, hashOf }),
    outbox: createOutbox({ store, bodies, clock, wake }),
    retention: mailRetention(store, config.retention.mailsMs),
    /** Whether a mail server is configured. Ask each time: an admin can change it in the console. */
    get hasServer() {
      return hasServer()
    },
    /** Sends a test message through the mail server in effect; undefined without one. */
    sendTest: (recipient: string, installationName: string) =>
      sendTestMail({
        clock,
        settings: settings(),
        brandName: config.brand.name,
        installationName,
        recipient,
        ca: parts.ca,
      }),
    /** The name of the sender, for tenants without one of their own. */
    get senderName() {
      const { from = '' } = settings()
      return senderOf(from, config.brand.name).name
    },
    start: loop.start,
    stop: loop.stop,
    idle: loop.idle,
    /** Checks for work immediately, for example after another process has posted mails. */
    nudge: loop.nudge,
  }
}

/** The sender for the mail server in effect; undefined without one. */
function createSender({ clock, config, branding, settings, ca }: Parameters<typeof createMail>[0]) {
  let known: { of: Config['mail']; send: Send } | undefined

  return (): Send | undefined => {
    const of = settings()
    const { smtpUrl, from } = of
    // The configuration requires a sender address for a mail server.
    if (smtpUrl === undefined || from === undefined) return undefined
    if (known?.of.smtpUrl === smtpUrl && known.of.from === from) return known.send
    const sender = senderOf(from, config.brand.name)
    const send = createSend({ clock, server: mailServerOf(smtpUrl), sender, branding, ca })
    known = { of, send }
    return send
  }
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
