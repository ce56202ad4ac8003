import { relative, Time } from '../time.tsx'

export interface Coming {
  at: number
  name: string
  href: string
  /** At the end of its line, such as the schedule in words. */
  note?: string
}

const HEIGHT = 40
const TICKS = 4

/** What comes next on a line of time, and the same as a list that leads there. */
export const TimeAxis = (axis: {
  label: string
  now: number
  until: number
  coming: readonly Coming[]
}) => {
  const { now, until, coming } = axis
  const placeOf = (at: number) => Math.round(((at - now) / (until - now)) * 9_800 + 100) / 100
  const inSight = coming.filter(({ at }) => at >= now && at <= until)
  return (
    <figure class="axis">
      <svg
        height={HEIGHT}
        role="img"
        aria-label={`${axis.label}: ${inSight.length} until ${relative(until, now)}`}
      >
        <line class="rule" x1="0" x2="100%" y1="28" y2="28" />
        {Array.from({ length: TICKS + 1 }, (_, index) => {
          const x = `${placeOf(now + ((until - now) * index) / TICKS)}%`
          return <line class="tickmark" x1={x} x2={x} y1="28" y2="34" />
        })}
        {inSight.map(({ at, name }) => (
          <g>
            <title>{`${name}, ${relative(at, now)}`}</title>
            <rect class="span" x={`${placeOf(at)}%`} y="8" width="3" height="20" rx="1.5" />
          </g>
        ))}
      </svg>
      <div class="labels" aria-hidden="true">
        {Array.from({ length: TICKS + 1 }, (_, index) => (
          <span>{index === 0 ? 'now' : spanOf(((until - now) * index) / TICKS)}</span>
        ))}
      </div>
      <ol class="coming" aria-label={axis.label}>
        {coming.map(({ at, name, href, note }) => (
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

/** For a tick, in the unit that keeps it short. */
function spanOf(milliseconds: number): string {
  const minutes = Math.round(milliseconds / 60_000)
  return minutes < 60 ? `${minutes} min` : `${Math.round(minutes / 6) / 10} h`
}
