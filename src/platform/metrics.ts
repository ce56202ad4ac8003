/** A number of the moment, read when somebody asks for the metrics. */
export interface Reading {
  labels?: Record<string, string>
  value: number
}

interface Metric {
  name: string
  help: string
  type: 'counter' | 'gauge' | 'histogram'
  lines: () => string[]
}

export type Metrics = ReturnType<typeof createMetrics>

const PREFIX = 'gatehouse_'

/** Counters, gauges and histograms in the text format of Prometheus, version 0.0.4. */
export function createMetrics() {
  const metrics: Metric[] = []

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
      add: (labels: Record<string, string>, n = 1) => void bump(labelText(labels), n),
      /** For hot paths: the labels are written out once. */
      with(labels: Record<string, string>) {
        const key = labelText(labels)
        return { add: (n = 1) => void bump(key, n) }
      },
    }
  }

  /** Read at each scrape. */
  function gauge(name: string, help: string, read: () => Reading[]) {
    const line = ({ labels = {}, value }: Reading) =>
      `${PREFIX}${name}${labelText(labels)} ${value}`
    metrics.push({ name, help, type: 'gauge', lines: () => read().map(line) })
  }

  /** Distribution over `bounds`, ascending, in the unit of the name. */
  function histogram(name: string, help: string, bounds: readonly number[]) {
    const series = new Map<string, { labels: Record<string, string>; cells: Cells }>()
    metrics.push({
      name,
      help,
      type: 'histogram',
      lines: () =>
        [...series.values()].flatMap(({ labels, cells }) =>
          histogramLines(`${PREFIX}${name}`, labels, bounds, cells),
        ),
    })
    function cellsOf(labels: Record<string, string>): Cells {
      const key = labelText(labels)
      const entry = series.get(key) ?? { labels, cells: newCells(bounds) }
      series.set(key, entry)
      return entry.cells
    }
    return {
      observe: (labels: Record<string, string>, value: number) =>
        observe(cellsOf(labels), bounds, value),
      /** For hot paths: the labels are written out once. */
      with(labels: Record<string, string>) {
        const cells = cellsOf(labels)
        return { observe: (value: number) => observe(cells, bounds, value) }
      },
    }
  }

  const render = () =>
    metrics
      .flatMap(({ name, help, type, lines }) => [
        `# HELP ${PREFIX}${name} ${help}`,
        `# TYPE ${PREFIX}${name} ${type}`,
        ...lines(),
      ])
      .join('\n')
      .concat('\n')

  return { counter, gauge, histogram, render }
}

interface Cells {
  /** One a bound, and one for all that is above the last. */
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

/** Buckets are cumulative on the wire: each holds all that is at or below its bound. */
function histogramLines(
  name: string,
  labels: Record<string, string>,
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

function labelText(labels: Record<string, string>): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escapeLabel(value)}"`)
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`
}

const escapeLabel = (value: string) =>
  value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')
