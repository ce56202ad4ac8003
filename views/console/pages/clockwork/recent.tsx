import type { ExecutionSummary } from '../../../../src/engines/clockwork/queries.ts'
import { counted } from '../../words.ts'

const HEIGHT = 22
const WIDTH = 100
/** Fixed number of slots, so that rows are comparable. */
const PLACES = 20
const STEP = WIDTH / PLACES

/**
 * The last attempts of a job in a table row, newest on the right: height is the duration, color the
 * outcome. One path per color, because a list has a thousand bars.
 */
export const Recent = ({ attempts }: { attempts: readonly ExecutionSummary[] }) => {
  const failed = attempts.filter(({ status }) => status === 'failed').length
  const longest = Math.max(1, ...attempts.map(({ durationMs }) => durationMs ?? 0))
  const pathOf = (wanted: ExecutionSummary['status']) =>
    attempts
      .map(({ status, durationMs }, index) =>
        status === wanted ? barAt(index, heightOf(durationMs ?? 0, longest)) : '',
      )
      .join('')
  return (
    <svg
      class="hourbars recent"
      height={HEIGHT}
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={`Last ${counted(attempts.length, 'attempt')}: ${failed} failed`}
    >
      <path class="good" d={pathOf('success')} />
      <path class="bad" d={pathOf('failed')} />
      <path class="busy" d={pathOf('running')} />
    </svg>
  )
}

/** Attempts are ordered newest first. */
const barAt = (index: number, height: number): string =>
  `M${WIDTH - (index + 1) * STEP} ${HEIGHT}v-${height}h3.6v${height}z`

/** Square root of the share, so that one slow attempt does not flatten all others. */
const heightOf = (took: number, longest: number): number =>
  Math.round(4 + Math.sqrt(took / longest) * (HEIGHT - 5))
