import type { Tone } from '../status.tsx'

/** A progress bar. */
export const Meter = (meter: {
  label: string
  value: number
  max: number
  tone?: Tone
  /** Value as text, such as "8,120 of 10,000". */
  amount: string
}) => (
  <div class={`meter ${meter.tone ?? 'accent'}`}>
    <p>
      <span>{meter.label}</span>
      <span>{meter.amount}</span>
    </p>
    <svg height="6" role="img" aria-label={`${meter.label}: ${meter.amount}`}>
      <rect class="lanetrack" width="100%" height="6" rx="3" />
      <rect
        class="span"
        width={`${Math.min(100, Math.round((meter.value / Math.max(1, meter.max)) * 1000) / 10)}%`}
        height="6"
        rx="3"
      />
    </svg>
  </div>
)

const HEIGHT = 24
const WIDTH = 100

/** A line chart without axes. `label` is its text alternative. */
export const Sparkline = (line: { values: readonly number[]; label: string; tone?: Tone }) => {
  const points = pointsOf(line.values)
  return (
    <svg
      class={`spark ${line.tone ?? 'accent'}`}
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={line.label}
    >
      <path class="area" d={`${points}L${WIDTH} ${HEIGHT}L0 ${HEIGHT}Z`} />
      <path class="line" d={points} />
    </svg>
  )
}

function pointsOf(values: readonly number[]): string {
  const top = Math.max(1, ...values)
  const step = WIDTH / Math.max(1, values.length - 1)
  const heightOf = (value: number) => HEIGHT - 1.5 - (value / top) * (HEIGHT - 4)
  const drawn =
    values.length === 0 ? [0, 0] : values.length === 1 ? [values[0] ?? 0, values[0] ?? 0] : values
  const width = drawn.length === values.length ? step : WIDTH
  return drawn
    .map(
      (value, index) =>
        `${index === 0 ? 'M' : 'L'}${round(index * width)} ${round(heightOf(value))}`,
    )
    .join('')
}

const round = (number: number): number => Math.round(number * 100) / 100
