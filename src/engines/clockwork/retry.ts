import type { OutboundResult } from '../../platform/outbound/index.ts'
import type { Tick } from './tick.ts'

/** By the contract: network failures, 5xx and 429, but no URL that the outbound guard refuses. */
export const isRetryable = (result: OutboundResult): boolean =>
  result.replied ? result.status >= 500 || result.status === 429 : result.reason !== 'refused'

export const isSuccess = (result: OutboundResult): boolean =>
  result.replied && result.status >= 200 && result.status < 300

/**
 * The tick of the next attempt, never before the failed one's end; undefined if none is left. The
 * delay counts from the tick that started the failed one, so that a late start adds no tick.
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
