export interface Bar {
  /** Label of the bar and of its table row, usually a day. */
  label: string
  /** One value per series, in the order of `series`. */
  values: readonly number[]
}

const HEIGHT = 168
/** More would overlap on a narrow screen. */
const MAX_LABELS = 5

/** Stacked bar chart, with the same values as a collapsed table. Series differ in color and pattern. */
export const Bars = (chart: {
  title: string
  series: readonly string[]
  bars: readonly Bar[]
  format?: (value: number) => string
}) => {
  const format = chart.format ?? ((value) => value.toLocaleString('en'))
  const top = niceTop(Math.max(1, ...chart.bars.map(({ values }) => sumOf(values))))
  const width = 100 / Math.max(1, chart.bars.length)
  return (
    <figure class="bars">
      <figcaption>
        <span class="charttitle">{chart.title}</span>
        {chart.series.length > 1 && (
          <ul class="legend" aria-label="Legend">
            {chart.series.map((name, index) => (
              <li>
                <svg width="10" height="10" aria-hidden="true">
                  <Swatch series={index} width="10" height="10" rx="2" />
                </svg>
                {name}
              </li>
            ))}
          </ul>
        )}
      </figcaption>
      <div class="plot">
        <div class="scale" aria-hidden="true">
          {[top, top / 2, 0].map((value) => (
            <span>{format(value)}</span>
          ))}
        </div>
        <svg height={HEIGHT} role="img" aria-label={inWords(chart, format)}>
          {chart.series.length > 1 && <Patterns />}
          {[0.5, HEIGHT / 2, HEIGHT - 0.5].map((y) => (
            <line class="grid" x1="0" x2="100%" y1={y} y2={y} />
          ))}
          {chart.bars.map(({ label, values }, index) => (
            <g>
              <title>{`${label}: ${namedAmounts(chart.series, values, format)}`}</title>
              <rect class="hit" x={`${index * width}%`} width={`${width}%`} height={HEIGHT} />
              {stackOf(values, top).map(({ y, height }, series) => (
                <Swatch
                  series={series}
                  x={`${index * width + width * 0.16}%`}
                  width={`${width * 0.68}%`}
                  y={y}
                  height={height}
                  rx="1.5"
                />
              ))}
            </g>
          ))}
        </svg>
        <div class="labels" aria-hidden="true">
          {labelsOf(chart.bars).map((label) => (
            <span>{label}</span>
          ))}
        </div>
      </div>
      <details class="fold">
        <summary>View as table</summary>
        <table>
          <caption class="unseen">{chart.title}</caption>
          <thead>
            <tr>
              <th scope="col">Day</th>
              {chart.series.map((name) => (
                <th scope="col" class="right">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {chart.bars.map(({ label, values }) => (
              <tr>
                <th scope="row">{label}</th>
                {values.map((value) => (
                  <td class="right">{format(value)}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </details>
    </figure>
  )
}

interface Position {
  x?: string
  y?: number
  width: string
  height: number | string
  rx: string
}

/** A rectangle in the color and pattern of a series. */
const Swatch = ({ series, ...position }: Position & { series: number }) => (
  <>
    <rect class={`series s-${series + 1}`} {...position} />
    {series % 2 === 1 && <rect fill={`url(#${patternOf(series)})`} {...position} />}
  </>
)

const patternOf = (series: number): string => `series-${series + 1}`

/** Patterns of every second series, so that neighbors differ by more than their color. */
const Patterns = () => (
  <defs>
    <pattern
      id={patternOf(1)}
      width="5"
      height="5"
      patternUnits="userSpaceOnUse"
      patternTransform="rotate(45)"
    >
      <line class="hatch" y2="5" />
    </pattern>
    <pattern id={patternOf(3)} width="4" height="4" patternUnits="userSpaceOnUse">
      <circle class="dot" cx="2" cy="2" r="0.9" />
    </pattern>
  </defs>
)

type Format = (value: number) => string

const sumOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0)

/** A round number at or above the highest bar whose half is a whole number. */
function niceTop(highest: number): number {
  const power = 10 ** Math.floor(Math.log10(highest))
  const steps = power < 10 ? [2, 4, 6, 8, 10] : [1, 2, 3, 4, 5, 6, 8, 10]
  return (steps.find((step) => step * power >= highest) ?? 10) * power
}

function stackOf(values: readonly number[], top: number) {
  let below = 0
  return values.map((value) => {
    const whole = (value / top) * HEIGHT
    below += whole
    // A gap of 1 px separates the series without relying on color.
    return { y: HEIGHT - below, height: Math.max(0, whole - (below > whole ? 1 : 0)) }
  })
}

function labelsOf(bars: readonly Bar[]): string[] {
  const amount = Math.min(MAX_LABELS, bars.length)
  return Array.from({ length: amount }, (_, index) => {
    const at = amount === 1 ? 0 : Math.round((index * (bars.length - 1)) / (amount - 1))
    return bars[at]?.label ?? ''
  })
}

const namedAmounts = (series: readonly string[], values: readonly number[], format: Format) =>
  series.map((name, index) => `${name} ${format(values[index] ?? 0)}`).join(', ')

function inWords(
  { title, series, bars }: { title: string; series: readonly string[]; bars: readonly Bar[] },
  format: Format,
): string {
  const totals = series.map((_, index) => sumOf(bars.map(({ values }) => values[index] ?? 0)))
  const span = `${bars[0]?.label ?? ''} to ${bars.at(-1)?.label ?? ''}`
  return `${title}, ${span}: ${namedAmounts(series, totals, format)} in total`
}
