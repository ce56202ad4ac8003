import type { ExecutionSummary } from '../../../../src/engines/clockwork/queries.ts'
import { MINUTE_MS } from '../../../../src/platform/durations.ts'
import { Section } from '../../section.tsx'
import { duration } from '../../time.tsx'

const HEIGHT = 56
/** Longer start delays are drawn as late. */
const LATE_MS = MINUTE_MS

/** Start delay of the last attempts, oldest first. */
export const StartDelay = ({ attempts }: { attempts: readonly ExecutionSummary[] }) => {
  const delays = attempts.map(({ latenessMs }) => latenessMs).toReversed()
  const sorted = delays.toSorted((one, other) => one - other)
  const at = (share: number) => sorted[Math.floor((sorted.length - 1) * share)] ?? 0
  const worst = at(1)
  const words = `Median ${duration(at(0.5))}, 95% within ${duration(at(0.95))}, maximum ${duration(worst)}.`
  const positions = Math.max(MAX, delays.length)
  const pathOf = (isLate: boolean) =>
    delays
      .map((ms, index) =>
        ms > LATE_MS === isLate
          ? barAt(positions - delays.length + index, heightOf(ms, worst))
          : '',
      )
      .join('')
  return (
    <Section id="lateness" title="Start delay" isCard>
      <p>{words}</p>
      <svg
        class="startdelay"
        height={HEIGHT}
        viewBox={`0 0 ${positions} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`Start delay of the last ${delays.length} attempts. ${words}`}
      >
        <path class="ontime" d={pathOf(false)} />
        <path class="late" d={pathOf(true)} />
      </svg>
      <p class="hint">Start delay of each attempt, newest on the right.</p>
    </Section>
  )
}

/** Least number of slots in the chart. */
const MAX = 100

const barAt = (index: number, height: number): string =>
  `M${index + 0.15} ${HEIGHT}v-${height}h.7v${height}z`

/** Square root of the share, so that one long delay does not flatten all others. */
const heightOf = (ms: number, worst: number): number =>
  Math.round(2 + Math.sqrt(ms / Math.max(1, worst)) * (HEIGHT - 4))
