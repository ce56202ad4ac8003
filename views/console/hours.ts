import { HOUR_MS } from '../../src/platform/durations.ts'
import type { HourBar } from './charts/hour-bars.tsx'

const HOURS = 24

/** Attempts of one hour, identified by its start. */
export interface HourTally {
  hour: string
  succeeded: number
  failed: number
}

/** One value for each of the last 24 hours, including hours without a row. */
export function byHour<Hour extends { hour: string }, Value>(
  hours: readonly Hour[],
  now: number,
  valueIn: (hour: Hour | undefined) => Value,
): Value[] {
  const first = now - (now % HOUR_MS) - (HOURS - 1) * HOUR_MS
  const known = new Map(hours.map((hour) => [Date.parse(hour.hour), hour]))
  return Array.from({ length: HOURS }, (_, index) => valueIn(known.get(first + index * HOUR_MS)))
}

/** Successes and failures, one bar per hour. */
export const hourBarsOf = (hours: readonly HourTally[], now: number): HourBar[] =>
  byHour(hours, now, (hour) => ({ good: hour?.succeeded ?? 0, bad: hour?.failed ?? 0 }))

export const attemptsOf = (hours: readonly HourTally[]): number =>
  hours.reduce((sum, { succeeded, failed }) => sum + succeeded + failed, 0)

/**
 * Share of successful attempts, such as `99.2%`. Counts attempts rather than deliveries, so that
 * deliveries that are still retrying count as well.
 */
export function shareOf(hours: readonly HourTally[]): string {
  const succeeded = hours.reduce((sum, hour) => sum + hour.succeeded, 0)
  const all = attemptsOf(hours)
  if (all === 0) return '–'
  // Rounded down, so that only a full success shows 100%.
  return `${(Math.floor((succeeded / all) * 1000) / 10).toFixed(succeeded === all ? 0 : 1)}%`
}
