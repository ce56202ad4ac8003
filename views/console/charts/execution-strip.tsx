import { duration } from '../time.tsx'
import type { Tone } from '../tone.ts'

export interface StripRun {
  href: string
  /** When it was due, as people say it. */
  when: string
  /** `skipped` leaves a gap: there was a slot, and nothing ran. */
  outcome: Exclude<Tone, 'quiet'> | 'skipped'
  word: string
  /** In milliseconds; none of what was skipped or still runs. */
  took?: number
  isSelected?: boolean
}

const HEIGHT = 56
const SHORTEST = 6
/** So many places, however few runs there are: a single one is no wall. */
const LEAST_PLACES = 40

/**
 * The last runs, the newest at the right: height is how long each took, colour how it ended. A
 * hundred stops would be too many for the keyboard: it goes from run to run by links that the page
 * has beside this, and only the chosen run is a stop.
 */
export const ExecutionStrip = ({ runs, label }: { runs: readonly StripRun[]; label: string }) => {
  const longest = Math.max(1, ...runs.map(({ took = 0 }) => took))
  const places = Math.max(LEAST_PLACES, runs.length)
  const width = 100 / places
  const placeOf = (index: number) => (places - runs.length + index) * width
  return (
    <figure class="strip">
      <svg height={HEIGHT}>
        <title>{label}</title>
        <line class="grid" x1="0" x2="100%" y1={HEIGHT - 0.5} y2={HEIGHT - 0.5} />
        {runs.map((run, index) => {
          const height = heightOf(run, longest)
          const name = `${run.when}: ${run.word}${run.took === undefined ? '' : `, ${duration(run.took)}`}`
          return (
            <a
              href={run.href}
              class={run.isSelected ? 'selected' : undefined}
              tabindex={run.isSelected ? 0 : -1}
              aria-label={name}
              aria-current={run.isSelected ? 'true' : undefined}
            >
              <title>{name}</title>
              <rect
                class="hit"
                x={`${placeOf(index)}%`}
                width={`${width}%`}
                height={HEIGHT}
                rx="2"
              />
              {run.outcome !== 'skipped' && (
                <rect
                  class={run.outcome}
                  x={`${placeOf(index) + width * 0.15}%`}
                  width={`${width * 0.7}%`}
                  y={HEIGHT - 1 - height}
                  height={height}
                  rx="1"
                />
              )}
            </a>
          )
        })}
      </svg>
      <figcaption aria-hidden="true">
        <span>{runs.length === places && runs[0]?.when}</span>
        <span>longest {duration(longest)}</span>
        <span>{runs.at(-1)?.when}</span>
      </figcaption>
    </figure>
  )
}

/** By the square root, so that one slow run does not flatten all others. */
const heightOf = ({ took = 0 }: StripRun, longest: number): number =>
  Math.round(SHORTEST + Math.sqrt(took / longest) * (HEIGHT - SHORTEST - 4))
