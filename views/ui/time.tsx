import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../src/platform/durations.ts'
import { useNow } from './here.tsx'

const UNITS = [
  [DAY_MS, 'd'],
  [HOUR_MS, 'h'],
  [MINUTE_MS, 'min'],
  [SECOND_MS, 's'],
] as const

/**
 * Distance to a moment in one unit, or the exact time if it is a day or more away. assets/console.js
 * does the same while a page is open.
 */
export function relative(at: number, now: number): string {
  const distance = Math.abs(at - now)
  if (distance < SECOND_MS) return 'now'
  if (distance >= DAY_MS) return utcMinute(at)
  const [size, unit] = UNITS.find(([size]) => distance >= size) ?? [SECOND_MS, 's']
  const amount = `${Math.floor(distance / size)} ${unit}`
  return at < now ? `${amount} ago` : `in ${amount}`
}

/** A duration in one or two units, such as `1.20 s` or `5 min 3 s`. */
export function duration(milliseconds: number): string {
  if (milliseconds < 1) return '0 ms'
  if (milliseconds < 999.5) return `${Math.round(milliseconds)} ms`
  if (milliseconds < MINUTE_MS)
    return `${(milliseconds / SECOND_MS).toFixed(milliseconds < 9950 ? 2 : 1)} s`
  if (milliseconds < HOUR_MS)
    return `${Math.floor(milliseconds / MINUTE_MS)} min ${Math.floor((milliseconds % MINUTE_MS) / SECOND_MS)} s`
  return `${Math.floor(milliseconds / HOUR_MS)} h ${Math.floor((milliseconds % HOUR_MS) / MINUTE_MS)} min`
}

/** Remaining time in its two largest units. */
export function left(until: number, now: number): string {
  const distance = Math.max(0, until - now)
  const at = UNITS.findIndex(([size]) => distance >= size)
  if (at === -1) return '0 s'
  return UNITS.slice(at, at + 2)
    .map(([size, unit], index) => {
      const larger = index === 0 ? Number.POSITIVE_INFINITY : (UNITS[at]?.[0] ?? size)
      return `${Math.floor((distance % larger) / size)} ${unit}`
    })
    .join(' ')
}

/** A moment to the second: `2026-11-22 14:05:09 UTC`. */
export const utc = (at: number): string =>
  `${new Date(at).toISOString().slice(0, 19).replace('T', ' ')} UTC`

/** A moment to the minute: `2026-11-22 14:05 UTC`. */
export const utcMinute = (at: number): string =>
  `${new Date(at).toISOString().slice(0, 16).replace('T', ' ')} UTC`

/** A moment, relative up to a day, with the exact time on hover and for screen readers. */
export function Time({ at, now = useNow() }: { at: number; now?: number }) {
  return (
    <time datetime={new Date(at).toISOString()} title={utc(at)}>
      <span data-relative>{relative(at, now)}</span>
      {Math.abs(at - now) < DAY_MS && <span class="unseen"> ({utc(at)})</span>}
    </time>
  )
}

/** Remaining time, which counts down while the page is open. */
export const Countdown = ({ until, now = useNow() }: { until: number; now?: number }) => (
  <time datetime={new Date(until).toISOString()} title={utc(until)}>
    <span data-left>{left(until, now)}</span>
    <span class="unseen"> (until {utc(until)})</span>
  </time>
)
