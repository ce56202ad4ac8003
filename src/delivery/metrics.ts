import type { Clock } from '../platform/clock.ts'
import type { Metrics } from '../platform/metrics.ts'
import type { Store } from './store/index.ts'
import { LINES } from './store/rows.ts'

/** What happens to deliveries, for whoever counts. */
export interface DeliveryEvents {
  attemptEnded(result: 'succeeded' | 'failed' | 'interrupted', durationMs: number): void
}

const DURATION_SECONDS = [0.05, 0.1, 0.3, 1, 3, 10, 30] as const

/** How the dispatcher keeps up, for /metrics. */
export function createDeliveryMetrics(
  metrics: Metrics,
  store: Store,
  clock: Clock,
): DeliveryEvents {
  const attempts = metrics.counter('delivery_attempts_total', 'Ended attempts by result.')
  const duration = metrics.histogram(
    'delivery_attempt_seconds',
    'Time that attempts took.',
    DURATION_SECONDS,
  )
  const lines = () =>
    Object.entries(LINES).map(([name, line]) => ({ line: name, ...store.line.backlog(line) }))
  metrics.gauge('delivery_ready', 'Deliveries that are due and not under way.', () =>
    lines().map(({ line, count }) => ({ labels: { line }, value: count })),
  )
  metrics.gauge('delivery_lag_seconds', 'Age of the oldest delivery that is due.', () =>
    lines().map(({ line, oldest }) => ({
      labels: { line },
      value: oldest === null ? 0 : Math.max(clock.now() - oldest, 0) / 1000,
    })),
  )

  return {
    attemptEnded(result, durationMs) {
      attempts.add({ result })
      duration.observe({}, durationMs / 1000)
    },
  }
}
