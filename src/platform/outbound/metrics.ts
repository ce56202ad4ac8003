import type { Metrics } from '../metrics/index.ts'
import type { Outbound } from './client.ts'

/** Metrics of the connections of `outbound`. */
export function createOutboundMetrics(metrics: Metrics, { connections }: Outbound) {
  metrics.total('outbound_connections_total', 'Connections used for outbound calls.', () => {
    const { opened, reused, lost } = connections()
    return [
      { labels: { kind: 'opened' }, value: opened },
      { labels: { kind: 'reused' }, value: reused },
      { labels: { kind: 'lost' }, value: lost },
    ]
  })
  metrics.total(
    'outbound_tls_resumptions_total',
    'Outbound connections that resumed a TLS session.',
    () => [{ value: connections().resumed }],
  )
  metrics.gauge(
    'outbound_idle_connections',
    'Outbound connections kept for the next call.',
    () => [{ value: connections().idle }],
    'sum',
  )
}
