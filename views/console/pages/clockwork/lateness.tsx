import type { ExecutionLook } from '../../../../src/engines/clockwork/looks.ts'
import { Section } from '../../section.tsx'
import { duration } from '../../time.tsx'

const HEIGHT = 56
/** Later than that, and somebody who waits for the run has noticed. */
const LATE_MS = 60_000

/** How long after its time each of the last attempts began, the oldest first. */
export const Lateness = ({ attempts }: { attempts: readonly ExecutionLook[] }) => {
  const late = attempts.map(({ latenessMs }) => latenessMs).toReversed()
  const sorted = late.toSorted((one, other) => one - other)
  const at = (share: number) => sorted[Math.floor((sorted.length - 1) * share)] ?? 0
  const worst = at(1)
  const words = `Half begin within ${duration(at(0.5))}, 95 % within ${duration(at(0.95))}; the latest began ${duration(worst)} late.`
  const places = Math.max(MOST, late.length)
  const pathOf = (isLate: boolean) =>
    late
      .map((ms, index) =>
        ms > LATE_MS === isLate ? barAt(places - late.length + index, heightOf(ms, worst)) : '',
      )
      .join('')
  return (
    <Section id="lateness" title="Lateness" isCard>
      <p>{words}</p>
      <svg
        class="lateness"
        height={HEIGHT}
        viewBox={`0 0 ${places} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`How late the last ${late.length} attempts began. ${words}`}
      >
        <path class="ontime" d={pathOf(false)} />
        <path class="late" d={pathOf(true)} />
      </svg>
      <p class="hint">How late each of the last attempts began, the newest at the right.</p>
    </Section>
  )
}

/** So many have room, however few there are yet. */
const MOST = 100

const barAt = (index: number, height: number): string =>
  `M${index + 0.15} ${HEIGHT}v-${height}h.7v${height}z`

/** By the square root: one that waited for an outage leaves the others in sight. */
const heightOf = (ms: number, worst: number): number =>
  Math.round(2 + Math.sqrt(ms / Math.max(1, worst)) * (HEIGHT - 4))
