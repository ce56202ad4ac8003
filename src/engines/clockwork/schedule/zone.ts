import { DAY_MS, MINUTE_MS } from '../../../platform/durations.ts'
import { checkedTimeZone, offsetAt } from '../../../platform/time-zone.ts'

/** A time in which clocks of a zone have one offset. All numbers are minutes. */
export interface Period {
  /** In UTC, since 1970. Both are also cut at the ends of a span. */
  start: number
  end: number
  /** How far clocks are ahead of UTC. */
  offset: number
  /** The first wall time that clocks hadn't reached before the period. */
  reached: number
}

export type Zone = ReturnType<typeof createZone>

/** Periods are searched and kept for about a year at a time, and also for a margin around it. */
const SPAN = 2 ** 19
/** Longer than any offset or clock change. */
const MARGIN = (2 * DAY_MS) / MINUTE_MS
/** Clocks change less often than once in this many minutes, or at least not there and back. */
const STEP = 2 ** 13

/**
 * The clocks of a time zone. A wall time is what they show, in minutes since 1970 as if it was UTC. Data
 * comes from `Intl`, whose answers are kept.
 */
function createZone(name: string) {
  const spans = new Map<number, Period[]>()

  function spanOf(minute: number): Period[] {
    const index = Math.floor(minute / SPAN)
    const known = spans.get(index) ?? periodsBetween(name, index * SPAN, (index + 1) * SPAN)
    spans.set(index, known)
    return known
  }

  /** The period that a minute in UTC belongs to. */
  const periodAt = (minute: number): Period =>
    spanOf(minute).findLast(({ start }) => start <= minute) as Period

  return {
    periodAt,

    /** The first wall time that clocks haven't reached at the end of a minute in UTC. */
    unreachedAfter(minute: number): number {
      const { offset, reached } = periodAt(minute)
      return Math.max(reached, minute + offset + 1)
    },

    /** The first minute in UTC at which clocks show a wall time or, if they skip it, a later one. */
    momentOf(wall: number): number {
      const { start, offset } = spanOf(wall).findLast(({ reached }) => reached <= wall) as Period
      return Math.max(start, wall - offset)
    },
  }
}

function periodsBetween(zone: string, from: number, to: number): Period[] {
  const offsetOf = (minute: number) => Math.round(offsetAt(minute * MINUTE_MS, zone) / MINUTE_MS)
  const last = to + MARGIN
  const periods: Period[] = []
  let [start, reached] = [from - MARGIN, Number.NEGATIVE_INFINITY]
  let offset = offsetOf(start)
  for (let at = start; at < last; ) {
    const next = Math.min(at + STEP, last)
    if (offsetOf(next) !== offset) {
      at = firstWhere((minute) => offsetOf(minute) !== offset, at, next)
      periods.push({ start, end: at, offset, reached })
      reached = Math.max(reached, at + offset)
      start = at
      offset = offsetOf(at)
    } else at = next
  }
  return [...periods, { start, end: last, offset, reached }]
}

/** The first number for which a condition holds, which doesn't for `below` and does for `above`. */
function firstWhere(holds: (n: number) => boolean, below: number, above: number): number {
  if (above - below === 1) return above
  const middle = Math.floor((below + above) / 2)
  return holds(middle) ? firstWhere(holds, below, middle) : firstWhere(holds, middle, above)
}

const zones = new Map<string, Zone>()

/** The clocks of a time zone by its name in the usual spelling. Throws `invalid` if it is unknown. */
export function zoneOf(name: string): Zone {
  const known = zones.get(name) ?? createZone(checkedTimeZone(name))
  zones.set(name, known)
  return known
}
