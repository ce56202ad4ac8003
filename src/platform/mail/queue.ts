import type { Db } from '../../db/open.ts'
import type { Clock } from '../clock.ts'
import type { DueQueue, Holders, Lane, Lease } from '../due/queue.ts'
import { newId } from '../ids.ts'
import type { Log } from '../log.ts'
import { SLICE } from '../retention.ts'
import type { Bodies, Body } from './body.ts'
import { SEND_MS, type Send, type Sent } from './send.ts'
import { EXPIRED, type Settling } from './settling.ts'
import type { Store } from './store/index.ts'
import type { LeasedMail, MailRow } from './store/rows.ts'

/** A leased mail in its lane. */
interface Try extends Lane {
  mail: LeasedMail
}

/** All mails go to one server, which accepts few connections from one client. */
const LIMITS = { total: 8, perTenant: 4, perTarget: 8, perLane: 4, isShared: true }

const BROKEN = 'Gatehouse failed to send it; see the server log'
const REMOVED = 'the mail server was removed'
const UNREADABLE = 'the body cannot be decrypted with the current master key'

/**
 * Mails for the due loop. Without a mail server, it keeps them; with one, it releases those that were
 * kept. So a server that an admin adds or removes takes effect at the next turn of every process.
 */
export function createMailQueue(parts: {
  store: Store
  clock: Clock
  log: Log
  bodies: Bodies
  settling: Settling
  /** Undefined without a mail server. */
  sender: () => Send | undefined
  /** Called when there is more to claim. */
  wake: () => void
  afterCommit: Db['afterCommit']
}): DueQueue<Try, Sent> {
  const { store, clock, log, bodies, settling, sender, wake, afterCommit } = parts
  const { queue, mails } = store

  function nextDueAt(): number | undefined {
    if (sender()) return queue.has('kept') ? 0 : queue.firstWaitingAt()
    return queue.has('ready') || queue.has('waiting') ? 0 : undefined
  }

  const promote = (now: number): boolean => (sender() ? release(now) : keep())

  /** Whether there may be more. */
  function release(now: number): boolean {
    const expired = mails.expire(EXPIRED, now, SLICE)
    const released = mails.release(now, SLICE)
    return queue.promote(now, SLICE) || expired === SLICE || released === SLICE
  }

  const keep = (): boolean =>
    [mails.keep('ready', SLICE), mails.keep('waiting', SLICE)].includes(SLICE)

  const nextLane = (after: Lane | undefined): Lane | undefined =>
    sender() ? queue.nextLane(after) : undefined

  function claim(lane: Lane, limit: number, lease: Lease): Try[] {
    const now = clock.now()
    const rows = queue.ready(lane, limit)
    const late = rows.filter(({ expiresAt }) => expiresAt <= now)
    for (const mail of late) settling.expire(mail)
    // Waking the loop before the commit would make it spin for as long as commits fail.
    if (late.length > 0) afterCommit(wake)
    return rows
      .filter((row) => !late.includes(row))
      .flatMap((row) => begin(row, lane, lease, now) ?? [])
  }

  function begin(row: MailRow, lane: Lane, lease: Lease, now: number): Try | undefined {
    const attempt = { attemptId: newId(), startedAt: now, tries: row.tries + 1 }
    const mail = queue.lease(row, attempt, lease)
    return mail && { ...lane, mail }
  }

  async function perform({ mail }: Try, signal: AbortSignal): Promise<Sent> {
    const [send, body] = [sender(), bodyOf(mail)]
    if (!body) return { result: 'refused', reason: UNREADABLE }
    return send ? send(mail, body, signal) : { result: 'deferred', reason: REMOVED }
  }

  function bodyOf({ id, body }: LeasedMail): Body | undefined {
    try {
      return body === null ? undefined : bodies.open(id, body)
    } catch (error) {
      log.error('mail cannot be decrypted', { mailId: id, error: String(error) })
      return undefined
    }
  }

  const broken = (): Sent => ({ result: 'deferred', reason: BROKEN })

  const settle = ({ mail }: Try, sent: Sent) => settling.end(mail, sent)

  function reclaim(holders: Holders) {
    for (const mail of queue.lost(holders, SLICE)) settling.interrupt(mail)
  }

  return {
    name: 'mails',
    limits: LIMITS,
    longestMs: SEND_MS,
    nextDueAt,
    promote,
    nextLane,
    claim,
    perform,
    broken,
    settle,
    hasLost: queue.hasLost,
    reclaim,
  }
}
