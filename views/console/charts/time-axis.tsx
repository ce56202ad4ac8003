import { relative, Time } from '../time.tsx'

export interface Coming {
  at: number
  name: string
  href: string
  /** At the end of its line, such as the schedule in words. */
  note?: string
  /** When it comes again, on the axis alone. */
  again?: readonly number[]
  /** It comes again and again after that, too. */
  isEndless?: boolean
}

const HEIGHT = 52
const LINE = 28
const MOST_TICKS = 5
const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
/** Spans that people count in. */
const STEPS = [
  ...[1, 2, 5, 10, 15, 30].map((minutes) => minutes * MINUTE),
  ...[1, 2, 3, 6, 12].map((hours) => hours * HOUR),
  ...[1, 2, 7, 14, 30, 90].map((days) => days * DAY),
]

/** What comes next on a line of time, and the same as a list that leads there. */
export const TimeAxis = (axis: {
  label: string
  now: number
  until: number
  coming: readonly Coming[]
  /** Written out are the first so many of them; all unless given. */
  listed?: number
}) => {
  const { now, until, coming } = axis
  const placeOf = (at: number) => Math.round(((at - now) / (until - now)) * 9_800 + 100) / 100
  const isInSight = (at: number) => at >= now && at <= until
  const inSight = coming.filter(({ at }) => isInSight(at))
  return (
    <figure class="axis">
      <svg
        height={HEIGHT}
        role="img"
        aria-label={`${axis.label}: ${inSight.length} until ${relative(until, now)}`}
      >
        <line class="rule" x1="0" x2="100%" y1={LINE} y2={LINE} />
        {ticksOf(until - now).map((tick) => {
          const place = placeOf(now + tick)
          return (
            <g>
              <line class="tickmark" x1={`${place}%`} x2={`${place}%`} y1={LINE} y2={LINE + 6} />
              <text class={`ticklabel ${sideOf(place)}`} x={`${place}%`} y={HEIGHT - 4}>
                {tick === 0 ? 'now' : spanOf(tick)}
              </text>
            </g>
          )
        })}
        {inSight.map(({ at, name, again = [], isEndless }) => (
          <g>
            <title>{`${name}, ${relative(at, now)}`}</title>
            {isEndless && (
              <line
                class="endless"
                x1={`${placeOf(at)}%`}
                x2={`${placeOf(until)}%`}
                y1={LINE - 3}
                y2={LINE - 3}
              />
            )}
            {[at, ...again.filter(isInSight)].map((time) => (
              <rect class="span" x={`${placeOf(time)}%`} y="8" width="3" height="20" rx="1.5" />
            ))}
          </g>
        ))}
      </svg>
      <ol class="coming" aria-label={axis.label}>
        {coming.slice(0, axis.listed).map(({ at, name, href, note }) => (
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

/** Round spans from now on, of which no more than there is room for on a narrow screen. */
function ticksOf(span: number): number[] {
  const step = STEPS.find((one) => span / one <= MOST_TICKS) ?? span / MOST_TICKS
  return Array.from({ length: Math.floor(span / step) + 1 }, (_, index) => index * step)
}

/** Names of the ends stay within the picture. */
const sideOf = (place: number): string => (place < 6 ? 'first' : place > 94 ? 'last' : '')

/** For a tick, in the unit that keeps it short. */
function spanOf(span: number): string {
  if (span < HOUR) return `${Math.round(span / MINUTE)} min`
  if (span < 2 * DAY && span % DAY !== 0) return `${Math.round(span / HOUR)} h`
  return `${Math.round(span / DAY)} d`
}
