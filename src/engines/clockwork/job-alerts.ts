import type { Tell } from '../../delivery/operational.ts'
import type { Alerts } from '../../platform/alerts/index.ts'
import { isoTime } from '../../platform/clock.ts'
import { DAY_MS } from '../../platform/durations.ts'
import type { AttemptOutcome } from './attempt.ts'
import type { ExecutionResult } from './store/executions.ts'
import type { Store } from './store/index.ts'
import type { LeasedRun } from './store/runs.ts'

type EndedRun = Pick<
  LeasedRun,
  'tenantId' | 'jobKind' | 'jobId' | 'executionId' | 'slotAt' | 'attempt'
>

export type JobAlerts = ReturnType<typeof createJobAlerts>

/**
 * Alerts and events about jobs. Those of a cron job end at its next success; a delayed job has only
 * one run.
 */
export function createJobAlerts(parts: { store: Store; alerts: Alerts; tell: Tell }) {
  const { store, alerts, tell } = parts

  /** A run that gets no further attempt. Runs within the commit that ends it. */
  function ended(run: EndedRun, outcome: AttemptOutcome) {
    if (run.jobKind === 'delayed') delayedEnded(run, outcome)
    else if (outcome.errorCode === null) succeeded(run)
    else failed(run, outcome)
  }

  function succeeded(run: EndedRun) {
    const { tenantId, jobId } = run
    store.cronJobs.clearFailedRuns(tenantId, jobId)
    if (!alerts.resolve(keyOf(run))) return
    const job = store.cronJobs.find(tenantId, jobId)
    if (job) tellOf('job.recovered', job.name, run)
  }

  /** With `isLast`, an alert opens however many failed runs the job allows, as it has no further one. */
  function failed(run: EndedRun, outcome: AttemptOutcome, isLast = false) {
    const job = store.cronJobs.countFailedRun(run.tenantId, run.jobId)
    if (!job?.isActive || (job.failedRuns < job.alertAfter && !isLast)) return
    const reason = reasonOf(outcome.result, run.attempt)
    const text =
      job.alertAfter === 1 || job.failedRuns === 1
        ? reason
        : `${job.failedRuns} runs in a row failed. ${reason}`
    const isNew = alerts.open({ ...keyOf(run), name: job.name, text, path: pathOf(run) })
    if (isNew) tellOf('job.failed', job.name, run, errorOf(outcome))
  }

  function delayedEnded(run: EndedRun, outcome: AttemptOutcome) {
    const job = outcome.errorCode !== null && store.delayedJobs.find(run.tenantId, run.jobId)
    if (!job) return
    const text = reasonOf(outcome.result, run.attempt)
    alerts.open({ ...keyOf(run), name: job.name, text, path: pathOf(run), closesAfterMs: DAY_MS })
    tellOf('job.failed', job.name, run, errorOf(outcome))
  }

  const tellOf = (
    type: 'job.failed' | 'job.recovered',
    name: string,
    run: EndedRun,
    reason: Record<string, unknown> = {},
  ) =>
    tell({
      tenantId: run.tenantId,
      type,
      about: `job:${run.jobId}`,
      path: pathOf(run),
      fields: () => ({
        job_id: run.jobId,
        kind: run.jobKind,
        name,
        execution_id: run.executionId,
        scheduled_at: isoTime(run.slotAt),
        attempts: run.attempt,
        ...reason,
      }),
    })

  /** A run after which Gatehouse pauses the job. */
  const suspended = (run: EndedRun, outcome: AttemptOutcome) => failed(run, outcome, true)

  return { ended, suspended }
}

const keyOf = ({ tenantId, jobId }: EndedRun) =>
  ({ tenantId, kind: 'job.failed', subject: `job:${jobId}` }) as const

const pathOf = ({ jobKind, jobId }: EndedRun): string =>
  jobKind === 'delayed' ? `/delayed/${jobId}` : `/jobs/${jobId}`

const errorOf = ({ errorCode, result }: AttemptOutcome) => ({
  error_code: errorCode,
  response_status: result.responseStatus,
})

/** The body of a response is left out: it may contain data that no channel should see. */
function reasonOf({ responseStatus, errorMessage }: ExecutionResult, attempts: number): string {
  const reason = errorMessage ?? `The target answered with status ${responseStatus}`
  return attempts === 1 ? `${reason}.` : `${reason}, after ${attempts} attempts.`
}
