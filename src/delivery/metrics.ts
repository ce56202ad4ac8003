import type { Db } from '../db/open.ts'
import type { Clock } from '../platform/clock.ts'
import type { Metrics } from '../platform/metrics/index.ts'
import type { Store } from './store/index.ts'
import { LINES, type Line } from './store/rows.ts'

/** Counts delivery attempts. */
export interface DeliveryEvents {
  /** Called inside the commit that settles the attempt. */
  attemptEnded(result: 'succeeded' | 'failed' | 'interrupted', durationMs: number): void
}

/** Endpoints that a scrape reads at most. */
const MAX_LANES = 500

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
  const perLine = (read: (line: Line) => number) => () =>
    Object.entries(LINES).map(([name, line]) => ({ labels: { line: name }, value: read(line) }))
  metrics.gauge(
    'delivery_ready',
    'Due deliveries not started, up to 10,000.',
    perLine(store.line.standing),
  )
  metrics.gauge(
    'delivery_lag_seconds',
    'Age of the oldest due delivery not started.',
    perLine((line) => Math.max(clock.now() - oldest(store, line, clock.now()), 0) / 1000),
  )

  return {
    attemptEnded: (result, durationMs) =>
      afterCommit(() => {
        byResult[result].add()
        duration.observe(durationMs / 1000)
      }),
  }
}

/**
 * Time of the oldest due delivery. Each endpoint's deliveries are in order, so only the first of
 * each is read.
 */
function oldest({ line: store }: Store, line: Line, now: number): number {
  let first = now
  let lane = store.nextLane(line, undefined)
  for (let n = 0; lane && n < MAX_LANES; n++) {
    first = Math.min(first, lane.dueAt)
    lane = store.nextLane(line, lane)
  }
  return first
}
