import type { Tone } from '../status.tsx'

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
