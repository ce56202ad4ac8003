import type { HourOutcomes } from '../../../../src/engines/clockwork/queries.ts'
import { HOUR_MS } from '../../../../src/platform/durations.ts'
import { amount } from './words.tsx'

const HEIGHT = 64

/** Outcomes of all attempts of a tenant by hour. */
export const Outcomes = ({ hours }: { hours: readonly HourOutcomes[] }) => {
  const top = Math.max(1, ...hours.map(totalOf))
  const width = 100 / hours.length
  const title = `Attempts in the last ${hours.length} hours, including delayed jobs`
  const sum = (of: 'succeeded' | 'failed') => hours.reduce((total, hour) => total + hour[of], 0)
  const [succeeded, failed] = [
    `${amount(sum('succeeded'))} succeeded`,
    `${amount(sum('failed'))} failed`,
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
      <svg height={HEIGHT} role="img" aria-label={`${title}: ${succeeded}, ${failed}`}>
        <line class="grid" x1="0" x2="100%" y1={HEIGHT - 0.5} y2={HEIGHT - 0.5} />
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
  if (totalOf(hour) === 0) return null
  const heightOf = (number: number) =>
    number === 0 ? 0 : Math.max(2, Math.round((number / top) * (HEIGHT - 4)))
  const good = heightOf(hour.succeeded)
  const bad = heightOf(hour.failed)
  const position = { x: `${bar.x + bar.width * 0.14}%`, width: `${bar.width * 0.72}%`, rx: 1.5 }
  return (
    <g>
      <title>{`${clockOf(hour.hour)} to ${clockOf(hour.hour + HOUR_MS)} UTC: ${amount(hour.succeeded)} succeeded, ${amount(hour.failed)} failed`}</title>
      <rect class="hit" x={`${bar.x}%`} width={`${bar.width}%`} height={HEIGHT} />
      <rect class="good" {...position} y={HEIGHT - good} height={good} />
      <rect class="bad" {...position} y={HEIGHT - good - bad} height={bad} />
    </g>
  )
}

const totalOf = ({ succeeded, failed }: HourOutcomes): number => succeeded + failed

const clockOf = (at: number): string => new Date(at).toISOString().slice(11, 16)
