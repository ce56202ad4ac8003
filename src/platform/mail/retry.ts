const SECOND = 1000
const MINUTE = 60 * SECOND

/** The wait after each failed try; the last one repeats. */
const DELAYS_MS = [10 * SECOND, MINUTE, 5 * MINUTE, 30 * MINUTE, 60 * MINUTE]

/** When the try after number `tries` is made; undefined when it would come too late for anybody. */
export function nextTryAt(failed: {
  tries: number
  endedAt: number
  expiresAt: number
}): number | undefined {
  const delay = DELAYS_MS[Math.min(failed.tries, DELAYS_MS.length) - 1] ?? 0
  const at = failed.endedAt + delay
  return at < failed.expiresAt ? at : undefined
}
