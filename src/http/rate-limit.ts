import type { Quota } from '../platform/metering/index.ts'
import { endOfMonth, monthOf, startOfMonth } from '../platform/metering/months.ts'

/** The largest integer in a structured field: RFC 9651, section 3.3.1. */
const MAX = 999_999_999_999_999
const BURST_SECONDS = 60

/**
 * `RateLimit-Policy` and `RateLimit` of draft-ietf-httpapi-ratelimit-headers. `burst` counts
 * requests with the key, `month` those of the tenant if its plan has a limit.
 */
export function rateLimitHeaders(parts: {
  now: number
  /** The day of the request, such as `2026-01-31`. */
  day: string
  month: Quota | undefined
  burst: Quota & { fullInMs: number }
}): { policy: string; limit: string } {
  const { now, day, month, burst } = parts
  const policy = `"burst";q=${burst.limit};w=${BURST_SECONDS}`
  const limit = `"burst";r=${burst.left};t=${seconds(burst.fullInMs)}`
  if (!month) return { policy, limit }
  const name = monthOf(day)
  const end = endOfMonth(name)
  const window = seconds(end - startOfMonth(name))
  return {
    policy: `${policy}, "month";q=${whole(month.limit)};w=${window}`,
    limit: `${limit}, "month";r=${whole(month.left)};t=${seconds(end - now)}`,
  }
}

const whole = (count: number): number => Math.min(Math.max(count, 0), MAX)

const seconds = (ms: number): number => Math.ceil(Math.max(ms, 0) / 1000)
