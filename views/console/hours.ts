import type { Beat } from './charts/pulse.tsx'

const HOUR_MS = 3_600_000
/** What the console calls lately. */
const HOURS = 24

/** Attempts of one hour, which is told by when it began. */
export interface HourTally {
  hour: string
  succeeded: number
  failed: number
}

/** One value an hour up to the present one: hours in which nothing happened are not stored. */
export function byHour<Hour extends { hour: string }, Value>(
  hours: readonly Hour[],
  now: number,
  valueIn: (hour: Hour | undefined) => Value,
): Value[] {
  const first = now - (now % HOUR_MS) - (HOURS - 1) * HOUR_MS
  const known = new Map(hours.map((hour) => [Date.parse(hour.hour), hour]))
  return Array.from({ length: HOURS }, (_, index) => valueIn(known.get(first + index * HOUR_MS)))
}

/** One beat an hour. */
export const beatsOf = (hours: readonly HourTally[], now: number): Beat[] =>
  byHour(hours, now, (hour) => ({ good: hour?.succeeded ?? 0, bad: hour?.failed ?? 0 }))

export const attemptsOf = (hours: readonly HourTally[]): number =>
  hours.reduce((sum, { succeeded, failed }) => sum + succeeded + failed, 0)

/**
 * How much of what was tried arrived. Attempts are counted, not deliveries: what is still being
 * tried again has not failed for good, and yet is what somebody wants to see here.
 */
export function shareOf(hours: readonly HourTally[]): string {
  const succeeded = hours.reduce((sum, hour) => sum + hour.succeeded, 0)
  const all = attemptsOf(hours)
  if (all === 0) return '–'
  // Rounded down: what is not all is never shown as all.
  return `${(Math.floor((succeeded / all) * 1000) / 10).toFixed(succeeded === all ? 0 : 1)} %`
}
