import type { OutboundResult } from '../../platform/outbound/index.ts'
import type { Tick } from './tick.ts'

/** Contract, retry rules: network failures, 5xx and 429; a URL that is refused stays so. */
export const isRetryable = (result: OutboundResult): boolean =>
  result.replied ? result.status >= 500 || result.status === 429 : result.reason !== 'refused'

export const isSuccess = (result: OutboundResult): boolean =>
  result.replied && result.status >= 200 && result.status < 300

/**
 * When the attempt after number `attempt` is due, or undefined when there is none. Counted
 * from the tick in which the failed attempt began, so that its own lateness adds no tick;
 * an attempt that outlived the delay is followed on the first tick after its end.
 */
export function nextAttemptAt(
  failed: { attempt: number; startedAt: number; completedAt: number },
  delaysMs: readonly number[],
  tick: Tick,
): number | undefined {
  const delay = delaysMs[failed.attempt - 1]
  if (delay === undefined) return undefined
  return Math.max(tick.floor(failed.startedAt) + delay, tick.ceil(failed.completedAt))
}
