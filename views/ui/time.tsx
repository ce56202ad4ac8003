import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../src/platform/durations.ts'
import { UTC, wallTime } from '../../src/platform/time-zone.ts'
import { useHere, useNow } from './here.tsx'

const UNITS = [
  [HOUR_MS, 'h'],
  [MINUTE_MS, 'min'],
  [SECOND_MS, 's'],
] as const

/**
 * Distance to a moment in one unit, or the exact time if it is a day or more away. assets/console.js
 * does the same while a page is open.
 */
export function relative(at: number, now: number, zone: string): string {
  const distance = Math.abs(at - now)
  if (distance < SECOND_MS) return 'now'
  if (distance >= DAY_MS) return minuteIn(at, zone)
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
  if (milliseconds < HOUR_MS) return inTwo(milliseconds, [MINUTE_MS, 'min'], [SECOND_MS, 's'])
  if (milliseconds < 2 * DAY_MS) return inTwo(milliseconds, [HOUR_MS, 'h'], [MINUTE_MS, 'min'])
  return inTwo(milliseconds, [DAY_MS, 'd'], [HOUR_MS, 'h'])
}

type Unit = readonly [size: number, name: string]

/** A duration in a unit and, unless that is 0, the next smaller one. */
function inTwo(milliseconds: number, [size, name]: Unit, [smaller, rest]: Unit): string {
  const more = Math.floor((milliseconds % size) / smaller)
  return `${Math.floor(milliseconds / size)} ${name}${more === 0 ? '' : ` ${more} ${rest}`}`
}

/** A moment to the second: `2026-11-22 15:05:09 GMT+1`. */
export function secondIn(at: number, zone: string): string {
  const { text, offset } = wallTime(at, zone)
  return `${text} ${offset}`
}

/** A moment to the minute: `2026-11-22 15:05 GMT+1`. */
export function minuteIn(at: number, zone: string): string {
  const { text, offset } = wallTime(at, zone)
  return `${text.slice(0, -3)} ${offset}`
}

/** Texts of moments in the time zone of the page. */
export function useTimes() {
  const { now, zone } = useHere()
  return {
    minute: (at: number) => minuteIn(at, zone),
    second: (at: number) => secondIn(at, zone),
    relative: (at: number) => relative(at, now, zone),
  }
}

/**
 * Attributes of a time: on hover, the moment to the second in the zone of the page, and in UTC on a line
 * of its own. assets/console.js reads the first line.
 */
export function timeAttributes(at: number, zone: string) {
  const lines = new Set([secondIn(at, zone), secondIn(at, UTC)])
  return { datetime: new Date(at).toISOString(), title: [...lines].join('\n') }
}

/** A moment, relative up to a day, with the exact time on hover and for screen readers. */
export function Time({ at, now = useNow() }: { at: number; now?: number }) {
  const { zone } = useHere()
  return (
    <time {...timeAttributes(at, zone)}>
      <span data-relative>{relative(at, now, zone)}</span>
      {Math.abs(at - now) < DAY_MS && <span class="unseen"> ({secondIn(at, zone)})</span>}
    </time>
  )
}
