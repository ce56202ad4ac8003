import { type Family, type Sample, textOf } from './family.ts'

/** A current value, read at each scrape. */
export interface Reading {
  labels?: Labels
  value: number
}

type Metric = Omit<Family, 'samples'> & { read: () => readonly Sample[] }

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
      name: PREFIX + name,
      help,
      type: 'counter',
      combine: 'sum',
      read: () => Array.from(values, ([labels, value]) => [`${PREFIX}${name}${labels}`, value]),
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

  /** A current value, read at each scrape; by default the same in all processes of the server. */
  const gauge = (
    name: string,
    help: string,
    read: () => Reading[],
    combine: Metric['combine'] = 'same',
  ) => readings({ name, help, type: 'gauge', combine }, read)

  /** A counter of this process with its own storage, read at each scrape. */
  const total = (name: string, help: string, read: () => Reading[]) =>
    readings({ name, help, type: 'counter', combine: 'sum' }, read)

  function readings({ name, ...metric }: Omit<Metric, 'read'>, read: () => Reading[]) {
    const full = PREFIX + name
    const sample = ({ labels = {}, value }: Reading): Sample => [full + labelText(labels), value]
    metrics.push({ name: full, ...metric, read: () => read().map(sample) })
  }

  /** A histogram with ascending `bounds` in the unit of the name. */
  function histogram(name: string, help: string, bounds: readonly number[]) {
    const series = new Map<string, { labels: Labels; cells: Cells }>()
    metrics.push({
      name: PREFIX + name,
      help,
      type: 'histogram',
      combine: 'sum',
      read: () =>
        [...series.values()].flatMap(({ labels, cells }) =>
          histogramSamples(`${PREFIX}${name}`, labels, bounds, cells),
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

  /**
   * All metrics with their values; with `ofProcess`, only those that differ between the processes of
   * a server. Leaves out those that can't be read, because the others are needed most then.
   */
  function collect({ ofProcess = false } = {}): Family[] {
    const wanted = ofProcess ? metrics.filter(({ combine }) => combine !== 'same') : metrics
    return [...wanted.flatMap(familyOf), errors()]
  }

  function familyOf({ read, ...metric }: Metric): Family[] {
    try {
      return [{ ...metric, samples: read() }]
    } catch {
      failures++
      return []
    }
  }

  /** Collected last, so that it includes errors of the current scrape. */
  const errors = (): Family => ({ ...SCRAPE_ERRORS, samples: [[SCRAPE_ERRORS.name, failures]] })

  const render = () => textOf(collect())

  return { counter, gauge, total, histogram, collect, render }
}

const SCRAPE_ERRORS: Omit<Family, 'samples'> = {
  name: `${PREFIX}scrape_errors_total`,
  help: 'Metrics missing because they could not be read.',
  type: 'counter',
  combine: 'sum',
}

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

/** The series of a histogram. Each bucket includes all values up to its bound. */
function histogramSamples(
  name: string,
  labels: Labels,
  bounds: readonly number[],
  { counts, sum }: Cells,
): Sample[] {
  let total = 0
  const buckets = counts.map((count, index): Sample => {
    total += count
    const le = index < bounds.length ? `${bounds[index]}` : '+Inf'
    return [`${name}_bucket${labelText({ ...labels, le })}`, total]
  })
  const suffix = labelText(labels)
  return [...buckets, [`${name}_sum${suffix}`, sum], [`${name}_count${suffix}`, total]]
}

function labelText(labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escapeLabel(value)}"`)
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`
}

const escapeLabel = (value: string) =>
  value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')
