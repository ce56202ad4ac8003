import type { Db } from '../db/open.ts'
import type { Clock } from '../platform/clock.ts'
import type { Metrics } from '../platform/metrics/index.ts'
import type { Store } from './store/index.ts'

/** Counts delivery attempts. */
export interface DeliveryEvents {
  /** Called inside the commit that settles the attempt. */
  attemptEnded(result: 'succeeded' | 'failed' | 'interrupted', durationMs: number): void
}

const DURATION_SECONDS = [0.05, 0.1, 0.3, 1, 3, 10, 30] as const

/** Metrics of deliveries. */
export function createDeliveryMetrics(
  { metrics, clock, db: { afterCommit } }: { metrics: Metrics; clock: Clock; db: Db },
  store: Store,
): DeliveryEvents {
  const attempts = metrics.counter('delivery_attempts_total', 'Delivery attempts by result.')
  const byResult = {
    succeeded: attempts.with({ result: 'succeeded' }),
    failed: attempts.with({ result: 'failed' }),
    interrupted: attempts.with({ result: 'interrupted' }),
  }
  const duration = metrics
    .histogram(
      'delivery_attempt_duration_seconds',
      'Duration of delivery attempts.',
      DURATION_SECONDS,
    )
    .with({})
  const { first, again } = store.queue
  const perQueue = (read: (queue: typeof first) => number) => () => [
    { labels: { queue: 'first' }, value: read(first) },
    { labels: { queue: 'again' }, value: read(again) },
  ]
  metrics.gauge(
    'delivery_ready',
    'Due deliveries not started, up to 10,000.',
    perQueue((queue) => queue.readyCount()),
  )
  metrics.gauge(
    'delivery_lag_seconds',
    'Age of the oldest due delivery not started.',
    perQueue((queue) => queue.lagMs(clock.now()) / 1000),
  )

  return {
    attemptEnded: (result, durationMs) =>
      afterCommit(() => {
        byResult[result].add()
        duration.observe(durationMs / 1000)
      }),
  }
}
