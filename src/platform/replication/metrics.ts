import type { Metrics } from '../metrics/index.ts'

/** One of several servers that share their data, as it sees itself and the others. */
export interface PairReading {
  role: 'active' | 'standby'
  /** Undefined before any server was active. */
  generation: number | undefined
  /** Whether it serves, or could take over. */
  isReady: boolean
  /** Of the active server: standbys that could take over, and those that couldn't. */
  standbys?: { ready: number; notReady: number }
  /** How far the slowest standby, or this one, is behind. */
  lagMs: number | undefined
}

/** Metrics of servers that take over from each other; without values for a server on its own. */
export function createPairMetrics(metrics: Metrics, read: () => PairReading | undefined) {
  const gauge = (
    name: string,
    help: string,
    numberOf: (reading: PairReading) => number | undefined,
  ) =>
    metrics.gauge(`replication_${name}`, help, () => {
      const reading = read()
      const value = reading && numberOf(reading)
      return value === undefined ? [] : [{ value }]
    })
  metrics.gauge('replication_role', 'Always 1; the label says what the server is.', () => {
    const role = read()?.role
    return role === undefined ? [] : [{ labels: { role }, value: 1 }]
  })
  gauge('generation', 'Grows by 1 when a server becomes active.', ({ generation }) => generation)
  gauge('ready', 'Whether the server serves, or could take over.', ({ isReady }) => Number(isReady))
  metrics.gauge('replication_standbys', 'Standbys, as the active server knows them.', () => {
    const standbys = read()?.standbys
    if (!standbys) return []
    return [
      { labels: { state: 'ready' }, value: standbys.ready },
      { labels: { state: 'not ready' }, value: standbys.notReady },
    ]
  })
  gauge(
    'standby_lag_seconds',
    'How far the copy of the slowest standby, or of this one, is behind.',
    ({ lagMs }) => (lagMs === undefined ? undefined : lagMs / 1000),
  )
}
