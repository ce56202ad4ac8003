import type { Db } from '../../db/open.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Metrics } from '../../platform/metrics/index.ts'
import type { Store } from './store/index.ts'
import type { SkipReason } from './store/ledgers.ts'

/** Counts what happens to runs. Called inside the commit that stores the change. */
export interface RunEvents {
  attemptEnded(status: 'success' | 'failed', latenessMs: number): void
  slotsSkipped(reason: SkipReason, count: number): void
  leaseReclaimed(): void
}

const LATENESS_SECONDS = [0.1, 0.5, 1, 5, 15, 60, 300, 3600] as const

/** Metrics of the scheduler. */
export function createClockworkMetrics(
  { metrics, clock, db: { afterCommit } }: { metrics: Metrics; clock: Clock; db: Db },
  { runs }: Pick<Store, 'runs'>,
): RunEvents {
  const attempts = metrics.counter('clockwork_attempts_total', 'Job attempts by status.')
  const byStatus = {
    success: attempts.with({ status: 'success' }),
    failed: attempts.with({ status: 'failed' }),
  }
  const skipped = metrics.counter('clockwork_slots_skipped_total', 'Skipped runs by reason.')
  const byReason = {
    outage: skipped.with({ reason: 'outage' }),
    overlap: skipped.with({ reason: 'overlap' }),
  }
  const reclaimed = metrics
    .counter('clockwork_leases_reclaimed_total', 'Runs reclaimed from dead processes.')
    .with({})
  const lateness = metrics
    .histogram('clockwork_lateness_seconds', 'Start delay of attempts.', LATENESS_SECONDS)
    .with({})
  metrics.gauge('clockwork_runs_ready', 'Due runs not started, up to 10,000.', () => [
    { value: runs.readyCount() },
  ])
  metrics.gauge('clockwork_lag_seconds', 'Age of the oldest due run not started.', () => [
    { value: runs.lagMs(clock.now()) / 1000 },
  ])

  return {
    attemptEnded: (status, latenessMs) =>
      afterCommit(() => {
        byStatus[status].add()
        lateness.observe(latenessMs / 1000)
      }),
    slotsSkipped: (reason, count) => afterCommit(() => byReason[reason].add(count)),
    leaseReclaimed: () => afterCommit(() => reclaimed.add()),
  }
}
