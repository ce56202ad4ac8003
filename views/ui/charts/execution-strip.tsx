import type { Tone } from '../status.tsx'
import { duration } from '../time.tsx'

export interface StripRun {
  href: string
  /** When it was due. */
  when: string
  /** `skipped` leaves a gap: the slot passed without a run. */
  outcome: Exclude<Tone, 'quiet'> | 'skipped'
  word: string
  /** In milliseconds; undefined while running and for skipped slots. */
  took?: number
  isSelected?: boolean
}

const HEIGHT = 56
const MIN_LENGTH = 6
/** Least number of slots, so that a few runs are not drawn too wide. */
const MIN_POSITIONS = 40

/**
 * The last runs, the newest on the right: height is the duration, color the outcome. Only the selected
 * run is a tab stop; the page has links to the runs before and after.
 */
export const ExecutionStrip = ({ runs, label }: { runs: readonly StripRun[]; label: string }) => {
  const longest = Math.max(1, ...runs.map(({ took = 0 }) => took))
  const positions = Math.max(MIN_POSITIONS, runs.length)
  const width = 100 / positions
  const positionOf = (index: number) => (positions - runs.length + index) * width
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
                x={`${positionOf(index)}%`}
                width={`${width}%`}
                height={HEIGHT}
                rx="2"
              />
              {run.outcome !== 'skipped' && (
                <rect
                  class={run.outcome}
                  x={`${positionOf(index) + width * 0.15}%`}
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
        <span>{runs.length === positions && runs[0]?.when}</span>
        <span>Longest: {duration(longest)}</span>
        <span>{runs.at(-1)?.when}</span>
      </figcaption>
    </figure>
  )
}

/** Square root of the share, so that one slow run does not flatten all others. */
const heightOf = ({ took = 0 }: StripRun, longest: number): number =>
  Math.round(MIN_LENGTH + Math.sqrt(took / longest) * (HEIGHT - MIN_LENGTH - 4))
