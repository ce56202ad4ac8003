import { HOUR_MS } from '../../../src/platform/durations.ts'

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

/** Share of successful attempts; undefined without attempts. */
export function deliveredIn(hours: readonly HourTally[]): number | undefined {
  const all = attemptsOf(hours)
  return all === 0 ? undefined : hours.reduce((sum, hour) => sum + hour.succeeded, 0) / all
}

/**
 * Share of successful attempts, such as `99.2%`. Counts attempts rather than deliveries, so that
 * deliveries that are still retrying count as well.
 */
export function shareOf(hours: readonly HourTally[]): string {
  const share = deliveredIn(hours)
  if (share === undefined) return '–'
  // Rounded down, so that only a full success shows 100%.
  return `${(Math.floor(share * 1000) / 10).toFixed(share === 1 ? 0 : 1)}%`
}

interface HourBar {
  good: number
  bad: number
}

const HEIGHT = 22

/** Successes and failures by hour, small enough for a table row. */
export const HourBars = ({ bars, label }: { bars: readonly HourBar[]; label: string }) => {
  const top = Math.max(1, ...bars.map(({ good, bad }) => good + bad))
  const width = 100 / Math.max(1, bars.length)
  return (
    <svg class="hourbars" height={HEIGHT} role="img" aria-label={label}>
      {bars.map(({ good, bad }, index) => {
        const goodHeight = heightOf(good, top)
        const badHeight = heightOf(bad, top)
        const position = { x: `${index * width + width * 0.14}%`, width: `${width * 0.72}%` }
        if (good + bad === 0)
          return <rect class="none" {...position} y={HEIGHT - 1.5} height={1.5} />
        return (
          <>
            {good > 0 && (
              <rect class="good" {...position} y={HEIGHT - goodHeight} height={goodHeight} rx="1" />
            )}
            {bad > 0 && (
              <rect
                class="bad"
                {...position}
                y={HEIGHT - goodHeight - badHeight - (good > 0 ? 1 : 0)}
                height={badHeight}
                rx="1"
              />
            )}
          </>
        )
      })}
    </svg>
  )
}

const heightOf = (amount: number, top: number): number =>
  amount === 0 ? 0 : Math.max(2, Math.round((amount / top) * (HEIGHT - 3) * 10) / 10)
