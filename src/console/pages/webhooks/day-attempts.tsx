import {
  attemptsOf,
  byHour,
  HourBars,
  type HourTally,
  hourBarsOf,
  shareOf,
} from '../../../../views/ui/charts/hour-bars.tsx'
import { useHere } from '../../../../views/ui/here.tsx'
import { duration } from '../../../../views/ui/time.tsx'
import { counted } from '../../../../views/ui/words.ts'
import type { Stats } from '../../../engines/relay/model/endpoints.ts'

type Hours = Stats['data']

const BOUNDS = [
  ['up_to_100_ms', 100],
  ['up_to_300_ms', 300],
  ['up_to_1000_ms', 1000],
  ['up_to_3000_ms', 3000],
] as const

/** Upper bound of the 95th percentile of response times, from counts by bucket; undefined without attempts. */
export function p95In(hours: Hours): number | undefined {
  const all = attemptsOf(hours)
  if (all === 0) return undefined
  const slowest = Math.max(...hours.map((hour) => hour.slowest_ms))
  const kept = BOUNDS.find(([name]) => sumOf(hours, name) >= all * 0.95)
  return Math.min(kept?.[1] ?? slowest, slowest)
}

export function p95Of(hours: Hours): string {
  const bound = p95In(hours)
  return bound === undefined ? '–' : `≤ ${duration(bound)}`
}

type Tally = Exclude<keyof Hours[number], 'hour' | 'average_ms' | 'slowest_ms'>

export const sumOf = (hours: Hours, of: Tally): number =>
  hours.reduce((sum, hour) => sum + hour[of], 0)

/** Average response time by hour; 0 for hours without responses. */
export const averagesOf = (hours: Hours, now: number): number[] =>
  byHour(hours, now, (hour) => hour?.average_ms ?? 0)

/** Attempts of the last 24 hours in one line. */
export const DayAttempts = ({ hours }: { hours: readonly HourTally[] }) => (
  <figure class="dayattempts">
    <HourBars
      bars={hourBarsOf(hours, useHere().now)}
      label="Attempts in the last 24 hours, by hour"
    />
    <figcaption>
      <span>{counted(attemptsOf(hours), 'attempt')} in 24 h</span>
      <span>{attemptsOf(hours) > 0 && `${shareOf(hours)} delivered`}</span>
    </figcaption>
  </figure>
)
