import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../src/platform/durations.ts'
import { useHere } from '../here.tsx'
import { relative, Time } from '../time.tsx'

export interface Upcoming {
  at: number
  name: string
  href: string
  /** Text at the end of its line, such as the schedule in words. */
  note?: string
  /** Further occurrences, shown on the axis only. */
  again?: readonly number[]
  /** Repeats beyond the listed occurrences. */
  isEndless?: boolean
}

const HEIGHT = 52
const LINE = 28
const MAX_TICKS = 5
/** Round spans for ticks. */
const STEPS = [
  ...[1, 2, 5, 10, 15, 30].map((minutes) => minutes * MINUTE_MS),
  ...[1, 2, 3, 6, 12].map((hours) => hours * HOUR_MS),
  ...[1, 2, 7, 14, 30, 90].map((days) => days * DAY_MS),
]

/** Upcoming events on a time axis, and as a list of links. */
export const TimeAxis = (axis: {
  label: string
  now: number
  until: number
  upcoming: readonly Upcoming[]
  /** Number of events in the list; all by default. */
  listed?: number
}) => {
  const { now, until, upcoming } = axis
  const { zone } = useHere()
  const positionOf = (at: number) => Math.round(((at - now) / (until - now)) * 9_800 + 100) / 100
  const isInSight = (at: number) => at >= now && at <= until
  const inSight = upcoming.filter(({ at }) => isInSight(at))
  return (
    <figure class="axis">
      <svg
        height={HEIGHT}
        role="img"
        aria-label={`${axis.label}: ${inSight.length} in the next ${spanOf(until - now)}`}
      >
        <line class="rule" x1="0" x2="100%" y1={LINE} y2={LINE} />
        {ticksOf(until - now).map((tick) => {
          const position = positionOf(now + tick)
          return (
            <g>
              <line
                class="tickmark"
                x1={`${position}%`}
                x2={`${position}%`}
                y1={LINE}
                y2={LINE + 6}
              />
              <text class={`ticklabel ${sideOf(position)}`} x={`${position}%`} y={HEIGHT - 4}>
                {tick === 0 ? 'now' : spanOf(tick)}
              </text>
            </g>
          )
        })}
        {inSight.map(({ at, name, again = [], isEndless }) => (
          <g>
            <title>{`${name}, ${relative(at, now, zone)}`}</title>
            {isEndless && (
              <line
                class="endless"
                x1={`${positionOf(at)}%`}
                x2={`${positionOf(until)}%`}
                y1={LINE - 3}
                y2={LINE - 3}
              />
            )}
            {[at, ...again.filter(isInSight)].map((time) => (
              <rect class="span" x={`${positionOf(time)}%`} y="8" width="3" height="20" rx="1.5" />
            ))}
          </g>
        ))}
      </svg>
      <ol class="upcoming" aria-label={axis.label}>
        {upcoming.slice(0, axis.listed).map(({ at, name, href, note }) => (
          <li>
            <a href={href}>{name}</a>
            {note && <span class="hint">{note}</span>}
            <Time at={at} now={now} />
          </li>
        ))}
      </ol>
    </figure>
  )
}

/** Ticks at round spans, as many as fit on a narrow screen. */
function ticksOf(span: number): number[] {
  const step = STEPS.find((one) => span / one <= MAX_TICKS) ?? span / MAX_TICKS
  return Array.from({ length: Math.floor(span / step) + 1 }, (_, index) => index * step)
}

/** Aligns the first and last label within the chart. */
const sideOf = (position: number): string => (position < 6 ? 'first' : position > 94 ? 'last' : '')

/** A span in one unit. */
function spanOf(span: number): string {
  if (span < HOUR_MS) return `${Math.round(span / MINUTE_MS)} min`
  if (span < 2 * DAY_MS && span % DAY_MS !== 0) return `${Math.round(span / HOUR_MS)} h`
  return `${Math.round(span / DAY_MS)} d`
}
