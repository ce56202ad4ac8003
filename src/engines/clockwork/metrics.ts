import type { Clock } from '../../platform/clock.ts'
import type { Metrics } from '../../platform/metrics.ts'
import type { Store } from './store/index.ts'
import type { SkipReason } from './store/ledgers.ts'

/** What happens to runs, for whoever counts. */
export interface RunEvents {
  attemptEnded(status: 'success' | 'failed', latenessMs: number): void
  slotsSkipped(reason: SkipReason, count: number): void
  leaseReclaimed(): void
}

const LATENESS_SECONDS = [0.1, 0.5, 1, 5, 15, 60, 300, 3600] as const

/** How the scheduler keeps up, for /metrics. */
export function createClockworkMetrics(metrics: Metrics, store: Store, clock: Clock): RunEvents {
  const attempts = metrics.counter('clockwork_attempts_total', 'Ended attempts by outcome.')
  const skipped = metrics.counter(
    'clockwork_slots_skipped_total',
    'Slots without a run, by reason.',
  )
  const reclaimed = metrics.counter('clockwork_leases_reclaimed_total', 'Runs of lost processes.')
  const lateness = metrics.histogram(
    'clockwork_lateness_seconds',
    'Time between the moment an attempt was due and its start.',
    LATENESS_SECONDS,
  )
  metrics.gauge('clockwork_runs_ready', 'Runs that are due and not yet started.', () => [
    { value: store.runs.backlog().count },
  ])
  metrics.gauge('clockwork_lag_seconds', 'Age of the oldest run that is not yet started.', () => {
    const { oldest } = store.runs.backlog()
    return [{ value: oldest === null ? 0 : Math.max(clock.now() - oldest, 0) / 1000 }]
  })

  return {
    attemptEnded(status, latenessMs) {
      attempts.add({ status })
      lateness.observe({}, latenessMs / 1000)
    },
    slotsSkipped: (reason, count) => skipped.add({ reason }, count),
    leaseReclaimed: () => reclaimed.add({}),
  }
}
