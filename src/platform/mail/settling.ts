import type { Db } from '../../db/open.ts'
import type { Alerts } from '../alerts/index.ts'
import type { Clock } from '../clock.ts'
import type { Log } from '../log.ts'
import type { MailEvents } from './metrics.ts'
import { nextTryAt } from './retry.ts'
import type { Sent } from './send.ts'
import type { Store } from './store/index.ts'
import type { LeasedMail, MailRow } from './store/rows.ts'

export type Settling = ReturnType<typeof createSettling>

export const EXPIRED = 'expired before it was sent'
const INTERRUPTED = 'Gatehouse stopped before the mail server responded'

/** Stores the result of an attempt, inside the commit that settles it. */
export function createSettling(parts: {
  store: Store
  clock: Clock
  log: Log
  events: MailEvents
  alerts: Pick<Alerts, 'open' | 'resolve'>
  afterCommit: Db['afterCommit']
}) {
  const { clock, log, events, alerts, afterCommit } = parts
  const { queue } = parts.store
  let failures = 0

  /** Returns the time of the next attempt, in milliseconds; undefined if there is none. */
  function end(mail: LeasedMail, sent: Sent): number | undefined {
    judge(sent)
    if (sent.result === 'deferred') return defer(mail, sent.reason)
    if (sent.result === 'refused') return fail(mail, sent.reason)
    const end = { state: 'sent', lastError: null, endedAt: clock.now() } as const
    if (queue.finish(mail, end)) afterCommit(() => events.ended('sent'))
  }

  /** A mail that is refused concerns its recipient; one that is deferred may concern the server. */
  function judge(sent: Sent) {
    if (sent.result === 'deferred') failures++
    else failures = 0
    if (failures === FAILURES) alerts.open(failing(sent))
    if (sent.result === 'accepted') alerts.resolve(MAIL)
  }

  function defer(mail: LeasedMail, reason: string): number | undefined {
    const at = nextTryAt({ ...mail, endedAt: clock.now() })
    if (at === undefined) return fail(mail, reason)
    const wait = { state: 'waiting', dueAt: at, lastError: reason } as const
    if (!queue.rearm(mail, wait)) return undefined
    afterCommit(() => log.warn('mail will be retried', { ...namesOf(mail), reason }))
    return at
  }

  function fail(mail: LeasedMail, reason: string): undefined {
    const end = { state: 'failed', lastError: reason, endedAt: clock.now() } as const
    if (queue.finish(mail, end)) failed(mail, reason)
  }

  /** Defers mails of dead processes, because the mail server may have accepted them. */
  const interrupt = (mail: LeasedMail) => void defer(mail, INTERRUPTED)

  /** Fails a queued mail that has expired. */
  function expire(mail: MailRow) {
    const reason = mail.lastError === null ? EXPIRED : `${EXPIRED}: ${mail.lastError}`
    queue.giveUp(mail.seq, reason, clock.now())
    failed(mail, reason)
  }

  function failed(mail: MailRow, reason: string) {
    afterCommit(() => {
      events.ended('failed')
      log.warn('mail not delivered', { ...namesOf(mail), reason })
    })
  }

  return { end, interrupt, expire }
}

/** Deferred mails in a row after which the mail server counts as failing. */
const FAILURES = 5

const MAIL = { tenantId: null, kind: 'mail.failing', subject: 'mail' } as const

const failing = (sent: Sent) => ({
  ...MAIL,
  name: 'Mail server',
  text: `${FAILURES} emails in a row were not accepted, the last one with: ${sent.result === 'accepted' ? '' : sent.reason}.`,
  path: '/mail',
})

const namesOf = ({ id, kind, tries }: MailRow) => ({ mailId: id, kind, tries })
