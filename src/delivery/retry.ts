import { DAY_MS, SECOND_MS } from '../platform/durations.ts'

/** The longest delay that a receiver can request. */
const MAX_WAIT_MS = DAY_MS

/**
 * When the attempt after number `attempt` is made, or undefined if no retries are left. Jitter only
 * adds time, and a receiver that asks for more time gets it, so no retry comes early.
 */
export function nextAttemptAt(failed: {
  /** Number of the failed attempt, from 1. */
  attempt: number
  endedAt: number
  delaysMs: readonly number[]
  retryAfterMs: number | null
  /** The largest share of the delay that is added at random. */
  jitter: number
  /** From 0 up to, but not including, 1. */
  random: () => number
}): number | undefined {
  const delay = failed.delaysMs[failed.attempt - 1]
  if (delay === undefined) return undefined
  const scheduled = Math.round(delay * (1 + failed.jitter * failed.random()))
  return failed.endedAt + Math.max(scheduled, Math.min(failed.retryAfterMs ?? 0, MAX_WAIT_MS))
}

/**
 * The delay of `Retry-After` (RFC 9110, section 10.2.3), at most 24 hours and the longest of
 * several; null if none is valid. Accepts fractions of a second, which some receivers send.
 */
export function retryAfterOf(
  headers: readonly (readonly [name: string, value: string])[],
  now: number,
): number | null {
  const waits = headers
    .filter(([name]) => name.toLowerCase() === 'retry-after')
    .map(([, value]) => waitOf(value.trim(), now))
    .filter((wait) => wait !== null)
  return waits.length === 0 ? null : Math.min(Math.max(...waits, 0), MAX_WAIT_MS)
}

function waitOf(text: string, now: number): number | null {
  if (/^\d+(\.\d+)?$/.test(text)) return Math.round(Number(text) * SECOND_MS)
  const date = parseHttpDate(text, now)
  return date === null ? null : date - now
}

/** RFC 9110, section 5.6.7: the current format and two obsolete ones that must be accepted. */
const HTTP_DATES = [
  /^[a-z]{3}, (?<day>\d\d) (?<month>[a-z]{3}) (?<year>\d{4}) (?<time>\d\d:\d\d:\d\d) GMT$/i,
  /^[a-z]{6,9}, (?<day>\d\d)-(?<month>[a-z]{3})-(?<year>\d\d) (?<time>\d\d:\d\d:\d\d) GMT$/i,
  /^[a-z]{3} (?<month>[a-z]{3}) (?<day>[ \d]\d) (?<time>\d\d:\d\d:\d\d) (?<year>\d{4})$/i,
]

const MONTHS = 'jan feb mar apr may jun jul aug sep oct nov dec'.split(' ')

function parseHttpDate(text: string, now: number): number | null {
  const parts = HTTP_DATES.map((form) => form.exec(text)?.groups).find((found) => found)
  if (!parts) return null
  const { day = '', month = '', year = '', time = '' } = parts
  const [hour = 0, minute = 0, second = 0] = time.split(':').map(Number)
  const monthIndex = MONTHS.indexOf(month.toLowerCase())
  const wholeYear = year.length === 2 ? yearEnding(Number(year), now) : Number(year)
  const date = Date.UTC(wholeYear, monthIndex, Number(day))
  // A day or month that doesn't exist results in a different date. Second 60 is a leap second.
  const real = new Date(date).getUTCDate() === Number(day) && monthIndex !== -1
  if (!real || hour > 23 || minute > 59 || second > 60) return null
  return date + ((hour * 60 + minute) * 60 + second) * SECOND_MS
}

/** The latest year with these last two digits that is at most 50 years in the future. */
function yearEnding(digits: number, now: number): number {
  const last = new Date(now).getUTCFullYear() + 50
  return last - ((last - digits) % 100)
}
