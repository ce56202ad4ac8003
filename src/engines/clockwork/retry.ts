import type { OutboundResult } from '../../platform/outbound/index.ts'
import type { Tick } from './tick.ts'

/** Contract, retry rules: network failures, 5xx and 429; a URL that is refused stays so. */
export const isRetryable = (result: OutboundResult): boolean =>
  result.replied ? result.status >= 500 || result.status === 429 : result.reason !== 'refused'

export const isSuccess = (result: OutboundResult): boolean =>
  result.replied && result.status >= 200 && result.status < 300

/**
 * The tick on which the attempt after number `attempt` is made, or undefined when there is
 * none. The delay counts from the tick that set the failed attempt off, so that its own
 * lateness adds no tick; an attempt that outlived the delay is followed right after its end.
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
