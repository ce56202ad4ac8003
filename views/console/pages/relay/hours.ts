import type { Stats } from '../../../../src/engines/relay/model/endpoints.ts'
import type { Beat } from '../../charts/pulse.tsx'

const HOUR_MS = 3_600_000
const HOURS = 24

type Hours = Stats['data']

/** One beat an hour up to the present one: hours in which nothing happened are not stored. */
export function beatsOf(hours: Hours, now: number): Beat[] {
  const latest = now - (now % HOUR_MS)
  const known = new Map(hours.map((hour) => [Date.parse(hour.hour), hour]))
  return Array.from({ length: HOURS }, (_, index) => {
    const hour = known.get(latest - (HOURS - 1 - index) * HOUR_MS)
    return { good: hour?.succeeded ?? 0, bad: hour?.failed ?? 0 }
  })
}

/**
 * How much of what was tried arrived. Attempts are counted, not deliveries: what is still being
 * tried again has not failed for good, and yet is what somebody wants to see here.
 */
export function shareOf(hours: Hours): string {
  const succeeded = sumOf(hours, 'succeeded')
  const all = succeeded + sumOf(hours, 'failed')
  if (all === 0) return '–'
  // Rounded down: what is not all is never shown as all.
  return `${(Math.floor((succeeded / all) * 1000) / 10).toFixed(succeeded === all ? 0 : 1)} %`
}

type Tally = 'succeeded' | 'failed' | 'exhausted' | 'cancelled'

export const sumOf = (hours: Hours, of: Tally): number =>
  hours.reduce((sum, hour) => sum + hour[of], 0)

/** How long an answer took on average, hour by hour; nothing where none came. */
export function averagesOf(hours: Hours, now: number): number[] {
  const latest = now - (now % HOUR_MS)
  const known = new Map(hours.map((hour) => [Date.parse(hour.hour), hour.average_ms ?? 0]))
  return Array.from(
    { length: HOURS },
    (_, index) => known.get(latest - (HOURS - 1 - index) * HOUR_MS) ?? 0,
  )
}
