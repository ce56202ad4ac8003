import { Section } from '../../../../views/ui/section.tsx'
import { duration, useTimes } from '../../../../views/ui/time.tsx'
import { counted, numeral } from '../../../../views/ui/words.ts'
import type { ExecutionSummary, HourOutcomes } from '../../../engines/clockwork/queries.ts'
import { HOUR_MS, MINUTE_MS } from '../../../platform/durations.ts'

const ROW_HEIGHT = 22
const ROW_WIDTH = 100
/** Fixed number of slots, so that rows are comparable. */
const SLOTS = 20
const STEP = ROW_WIDTH / SLOTS

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
        status === wanted ? rowBarAt(index, rowHeightOf(durationMs ?? 0, longest)) : '',
      )
      .join('')
  return (
    <svg
      class="hourbars recent"
      height={ROW_HEIGHT}
      viewBox={`0 0 ${ROW_WIDTH} ${ROW_HEIGHT}`}
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
const rowBarAt = (index: number, height: number): string =>
  `M${ROW_WIDTH - (index + 1) * STEP} ${ROW_HEIGHT}v-${height}h3.6v${height}z`

/** Square root of the share, so that one slow attempt does not flatten all others. */
const rowHeightOf = (took: number, longest: number): number =>
  Math.round(4 + Math.sqrt(took / longest) * (ROW_HEIGHT - 5))

const OUTCOMES_HEIGHT = 64

/** Outcomes of all attempts of a tenant by hour. */
export const Outcomes = ({ hours }: { hours: readonly HourOutcomes[] }) => {
  const top = Math.max(1, ...hours.map(totalOf))
  const width = 100 / hours.length
  const title = `Attempts in the last ${hours.length} hours, including delayed jobs`
  const sum = (of: 'succeeded' | 'failed') => hours.reduce((total, hour) => total + hour[of], 0)
  const [succeeded, failed] = [
    `${numeral(sum('succeeded'))} succeeded`,
    `${numeral(sum('failed'))} failed`,
  ]
  return (
    <figure class="outcomes">
      <figcaption>
        <span class="charttitle">{title}</span>
        <ul class="legend" aria-hidden="true">
          <Entry tone="good" text={succeeded} />
          <Entry tone="bad" text={failed} />
        </ul>
      </figcaption>
      <svg height={OUTCOMES_HEIGHT} role="img" aria-label={`${title}: ${succeeded}, ${failed}`}>
        <line class="grid" x1="0" x2="100%" y1={OUTCOMES_HEIGHT - 0.5} y2={OUTCOMES_HEIGHT - 0.5} />
        {hours.map((hour, index) => (
          <Bar hour={hour} top={top} x={index * width} width={width} />
        ))}
      </svg>
      <div class="labels" aria-hidden="true">
        <span>{hours.length} hours ago</span>
        <span>{hours.length / 2} hours ago</span>
        <span>Now</span>
      </div>
    </figure>
  )
}

const Entry = ({ tone, text }: { tone: string; text: string }) => (
  <li>
    <svg width="10" height="10" aria-hidden="true">
      <rect class={tone} width="10" height="10" rx="2" />
    </svg>
    {text}
  </li>
)

const Bar = (bar: { hour: HourOutcomes; top: number; x: number; width: number }) => {
  const { hour, top } = bar
  const { minute } = useTimes()
  if (totalOf(hour) === 0) return null
  const heightOf = (number: number) =>
    number === 0 ? 0 : Math.max(2, Math.round((number / top) * (OUTCOMES_HEIGHT - 4)))
  const good = heightOf(hour.succeeded)
  const bad = heightOf(hour.failed)
  const position = { x: `${bar.x + bar.width * 0.14}%`, width: `${bar.width * 0.72}%`, rx: 1.5 }
  return (
    <g>
      <title>{`${minute(hour.hour).slice(11, 16)} to ${minute(hour.hour + HOUR_MS).slice(11)}: ${numeral(hour.succeeded)} succeeded, ${numeral(hour.failed)} failed`}</title>
      <rect class="hit" x={`${bar.x}%`} width={`${bar.width}%`} height={OUTCOMES_HEIGHT} />
      <rect class="good" {...position} y={OUTCOMES_HEIGHT - good} height={good} />
      <rect class="bad" {...position} y={OUTCOMES_HEIGHT - good - bad} height={bad} />
    </g>
  )
}

const totalOf = ({ succeeded, failed }: HourOutcomes): number => succeeded + failed

const DELAY_HEIGHT = 56
/** Longer start delays are drawn as late. */
const LATE_MS = MINUTE_MS

/** Start delay of the last attempts, oldest first. */
export const StartDelay = ({ attempts }: { attempts: readonly ExecutionSummary[] }) => {
  const delays = attempts.map(({ latenessMs }) => latenessMs).toReversed()
  const sorted = delays.toSorted((one, other) => one - other)
  const at = (share: number) => sorted[Math.floor((sorted.length - 1) * share)] ?? 0
  const worst = at(1)
  const words = `Median ${duration(at(0.5))}, 95% within ${duration(at(0.95))}, maximum ${duration(worst)}.`
  const positions = Math.max(LEAST_SLOTS, delays.length)
  const pathOf = (isLate: boolean) =>
    delays
      .map((ms, index) =>
        ms > LATE_MS === isLate
          ? delayBarAt(positions - delays.length + index, delayHeightOf(ms, worst))
          : '',
      )
      .join('')
  return (
    <Section id="lateness" title="Start delay" isCard>
      <p>{words}</p>
      <svg
        class="startdelay"
        height={DELAY_HEIGHT}
        viewBox={`0 0 ${positions} ${DELAY_HEIGHT}`}
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
const LEAST_SLOTS = 100

const delayBarAt = (index: number, height: number): string =>
  `M${index + 0.15} ${DELAY_HEIGHT}v-${height}h.7v${height}z`

/** Square root of the share, so that one long delay does not flatten all others. */
const delayHeightOf = (ms: number, worst: number): number =>
  Math.round(2 + Math.sqrt(ms / Math.max(1, worst)) * (DELAY_HEIGHT - 4))
