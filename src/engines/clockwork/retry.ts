import type { OutboundResult } from '../../platform/outbound/index.ts'
import type { Tick } from './tick.ts'

/**
 * Whether a failed attempt is retried, by the contract's retry rules: network failures, 5xx and
 * 429. A URL that the outbound guard refuses is not.
 */
export const isRetryable = (result: OutboundResult): boolean =>
  result.replied ? result.status >= 500 || result.status === 429 : result.reason !== 'refused'

export const isSuccess = (result: OutboundResult): boolean =>
  result.replied && result.status >= 200 && result.status < 300

/**
 * The tick of the attempt after number `attempt`, or undefined if no retries are left. The delay
 * counts from the tick that started the failed attempt, so that a late start adds no tick. If the
 * attempt took longer than the delay, the next one follows at the first tick after its end.
 */
export function nextAttemptAt(
  failed: { attempt: number; startedAt: number; completedAt: number },
  delaysMs: readonly number[],
  tick: Tick,
): number | undefined {
  const delay = delaysMs[failed.attempt - 1]
  if (delay === undefined) return undefined
  return tick.ceil(Math.max(tick.origin(failed.startedAt) + delay, failed.completedAt))
}
