import type { Clock } from '../../../platform/clock.ts'
import { MINUTE_MS, SECOND_MS } from '../../../platform/durations.ts'
import type { Mail } from '../../../platform/mail/index.ts'
import type { createChannelStore } from '../channels/store.ts'
import type { Outcome } from './send.ts'
import type { createNoticeStore, LeasedNotice } from './store.ts'

/** The delay after each failed attempt; after the last one, a notice fails for good. */
export const DELAYS_MS = [10 * SECOND_MS, MINUTE_MS, 5 * MINUTE_MS, 30 * MINUTE_MS, 120 * MINUTE_MS]

const INTERRUPTED = 'Gatehouse stopped during the attempt'

/** Stores the result of an attempt, inside the commit that settles it. */
export function createSettling(parts: {
  clock: Clock
  store: ReturnType<typeof createNoticeStore>
  channels: ReturnType<typeof createChannelStore>
  mail: Pick<Mail, 'post'>
}) {
  const { clock, store, channels, mail } = parts

  /** Returns when the next attempt is due, in milliseconds; undefined if there is none. */
  function end(notice: LeasedNotice, outcome: Outcome): number | undefined {
    const now = clock.now()
    if (outcome.result === 'failed') return fail(notice, outcome, now)
    if (!store.finish(notice, { state: 'sent', lastError: null, endedAt: now })) return undefined
    if (outcome.result === 'posted') for (const one of outcome.mails) mail.post(one, now)
    channels.tried(notice.tenantId, notice.channelId, now, null)
  }

  function fail(
    notice: LeasedNotice,
    { reason, isFinal = false }: { reason: string; isFinal?: boolean },
    now: number,
  ): number | undefined {
    const delay = isFinal ? undefined : DELAYS_MS[notice.tries - 1]
    const isHeld =
      delay === undefined
        ? store.finish(notice, { state: 'failed', lastError: reason, endedAt: now })
        : store.rearm(notice, { dueAt: now + delay, lastError: reason })
    if (!isHeld) return undefined
    channels.tried(notice.tenantId, notice.channelId, now, reason)
    return delay === undefined ? undefined : now + delay
  }

  /** The dead process may have notified the channel, so its next attempt has the same id. */
  const interrupt = (notice: LeasedNotice, now: number) =>
    void fail(notice, { reason: INTERRUPTED }, now)

  return { end, interrupt }
}
