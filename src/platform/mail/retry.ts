import { MINUTE_MS, SECOND_MS } from '../durations.ts'

/** The delay after each failed attempt; the last one repeats. */
const DELAYS_MS = [10 * SECOND_MS, MINUTE_MS, 5 * MINUTE_MS, 30 * MINUTE_MS, 60 * MINUTE_MS]

/** The time of the next attempt after `tries` attempts; undefined if the mail expires before it. */
export function nextTryAt(failed: {
  tries: number
  endedAt: number
  expiresAt: number
}): number | undefined {
  const delay = DELAYS_MS[Math.min(failed.tries, DELAYS_MS.length) - 1] ?? 0
  const at = failed.endedAt + delay
  return at < failed.expiresAt ? at : undefined
}
