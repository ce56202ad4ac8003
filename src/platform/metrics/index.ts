/** A current value, read at each scrape. */
export interface Reading {
  labels?: Labels
  value: number
}

interface Metric {
  name: string
  help: string
  type: 'counter' | 'gauge' | 'histogram'
  lines: () => string[]
}

export type Metrics = ReturnType<typeof createMetrics>

type Labels = Record<string, string>

const PREFIX = 'gatehouse_'

/** Counters, gauges and histograms in the text format of Prometheus, version 0.0.4. */
export function createMetrics() {
  const metrics: Metric[] = []
  let failures = 0

  /** Counts up; `labels` values must come from a small fixed set. */
  function counter(name: string, help: string) {
    const values = new Map<string, number>()
    metrics.push({
      name,
      help,
      type: 'counter',
      lines: () => Array.from(values, ([labels, value]) => `${PREFIX}${name}${labels} ${value}`),
    })
    const bump = (key: string, n: number) => values.set(key, (values.get(key) ?? 0) + n)
    return {
      add: (labels: Labels, n = 1) => void bump(labelText(labels), n),
      /** For hot paths: renders labels once. Starts at 0, so that `rate()` sees the first event. */
      with(labels: Labels) {
        const key = labelText(labels)
        bump(key, 0)
        return { add: (n = 1) => void bump(key, n) }
      },
    }
  }

  /** A current value, read at each scrape. */
  const gauge = (name: string, help: string, read: () => Reading[]) =>
    readings(name, help, 'gauge', read)

  /** A counter with its own storage, read at each scrape. */
  const total = (name: string, help: string, read: () => Reading[]) =>
    readings(name, help, 'counter', read)

  function readings(name: string, help: string, type: Metric['type'], read: () => Reading[]) {
    const line = ({ labels = {}, value }: Reading) =>
      `${PREFIX}${name}${labelText(labels)} ${value}`
    metrics.push({ name, help, type, lines: () => read().map(line) })
  }

  /** A histogram with ascending `bounds` in the unit of the name. */
  function histogram(name: string, help: string, bounds: readonly number[]) {
    const series = new Map<string, { labels: Labels; cells: Cells }>()
    metrics.push({
      name,
      help,
      type: 'histogram',
      lines: () =>
        [...series.values()].flatMap(({ labels, cells }) =>
          histogramLines(`${PREFIX}${name}`, labels, bounds, cells),
        ),
    })
    function cellsOf(labels: Labels): Cells {
      const key = labelText(labels)
      const entry = series.get(key) ?? { labels, cells: newCells(bounds) }
      series.set(key, entry)
      return entry.cells
    }
    return {
      observe: (labels: Labels, value: number) => observe(cellsOf(labels), bounds, value),
      /** For hot paths: renders labels once. The series is shown from now on, even if empty. */
      with(labels: Labels) {
        const cells = cellsOf(labels)
        return { observe: (value: number) => observe(cells, bounds, value) }
      },
    }
  }

  /** Leaves out metrics that can't be read, because the others are needed most then. */
  function render(): string {
    const lines = [...metrics.flatMap(familyOf), ...errors()]
    return `${lines.join('\n')}\n`
  }

  function familyOf(metric: Metric): string[] {
    try {
      return family(metric, metric.lines())
    } catch {
      failures++
      return []
    }
  }

  /** Rendered last, so that it includes errors of the current scrape. */
  const errors = () => family(SCRAPE_ERRORS, [`${PREFIX}${SCRAPE_ERRORS.name} ${failures}`])

  return { counter, gauge, total, histogram, render }
}

const SCRAPE_ERRORS: Omit<Metric, 'lines'> = {
  name: 'scrape_errors_total',
  help: 'Metrics missing because they could not be read.',
  type: 'counter',
}

const family = ({ name, help, type }: Omit<Metric, 'lines'>, lines: string[]): string[] => [
  `# HELP ${PREFIX}${name} ${help}`,
  `# TYPE ${PREFIX}${name} ${type}`,
  ...lines,
]

interface Cells {
  /** One count per bound, and one for values above the last. */
  counts: number[]
  sum: number
}

const newCells = (bounds: readonly number[]): Cells => ({
  counts: new Array(bounds.length + 1).fill(0),
  sum: 0,
})

function observe(cells: Cells, bounds: readonly number[], value: number) {
  const index = bounds.findIndex((bound) => value <= bound)
  const cell = index === -1 ? bounds.length : index
  cells.counts[cell] = (cells.counts[cell] ?? 0) + 1
  cells.sum += value
}

/** The lines of a histogram. Each bucket includes all values up to its bound. */
function histogramLines(
  name: string,
  labels: Labels,
  bounds: readonly number[],
  { counts, sum }: Cells,
): string[] {
  let total = 0
  const buckets = counts.map((count, index) => {
    total += count
    const le = index < bounds.length ? `${bounds[index]}` : '+Inf'
    return `${name}_bucket${labelText({ ...labels, le })} ${total}`
  })
  const suffix = labelText(labels)
  return [...buckets, `${name}_sum${suffix} ${sum}`, `${name}_count${suffix} ${total}`]
}

function labelText(labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escapeLabel(value)}"`)
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`
}

const escapeLabel = (value: string) =>
  value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')
