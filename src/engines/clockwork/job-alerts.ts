import type { Alerts } from '../../platform/alerts/index.ts'
import { DAY_MS } from '../../platform/durations.ts'
import type { ExecutionResult } from './store/executions.ts'
import type { Store } from './store/index.ts'
import type { RunRow } from './store/runs.ts'

export type JobAlerts = ReturnType<typeof createJobAlerts>

/** Alerts about jobs. One of a cron job ends at its next success; a delayed job has only one run. */
export function createJobAlerts({ store, alerts }: { store: Store; alerts: Alerts }) {
  /** A run that gets no further attempt. Runs within the commit that ends it. */
  function ended(run: RunRow, result: ExecutionResult) {
    const { tenantId, jobId } = run
    const key = { tenantId, kind: 'job.failed', subject: `job:${jobId}` } as const
    if (result.status === 'success') return run.jobKind === 'cron' ? alerts.resolve(key) : undefined
    const text = reasonOf(result, run.attempt)
    if (run.jobKind === 'delayed') {
      const job = store.delayedJobs.find(tenantId, jobId)
      const path = `/delayed/${jobId}`
      if (job) alerts.open({ ...key, name: job.name, text, path, closesAfterMs: DAY_MS })
      return
    }
    const job = store.cronJobs.find(tenantId, jobId)
    if (job?.isActive) alerts.open({ ...key, name: job.name, text, path: `/jobs/${jobId}` })
  }

  return { ended }
}

/** The body of a response is left out: it may contain data that no channel should see. */
function reasonOf({ responseStatus, errorMessage }: ExecutionResult, attempts: number): string {
  const reason = errorMessage ?? `The target answered with status ${responseStatus}`
  return attempts === 1 ? `${reason}.` : `${reason}, after ${attempts} attempts.`
}
