import { type AttemptOutcome, unanswered } from './attempt.ts'
import type { CompleteDelayedJob } from './complete-delayed-job.ts'
import type { JobAlerts } from './job-alerts.ts'
import type { RunEvents } from './metrics.ts'
import { isRetried, nextAttemptAt, retryPolicyOf } from './retry.ts'
import type { ExecutionResult } from './store/executions.ts'
import type { Store } from './store/index.ts'
import type { LeasedRun, RunRow } from './store/runs.ts'
import type { Tick } from './tick.ts'

const INTERRUPTED = 'Gatehouse stopped before the response was stored'

/** Ends attempts: stores the result, and then ends the run or lets it wait for a retry. */
export function createSettling(parts: {
  store: Store
  tick: Tick
  retryDelaysMs: readonly number[]
  completeDelayedJob: CompleteDelayedJob
  jobAlerts: JobAlerts
  events: RunEvents
}) {
  const { store, tick, retryDelaysMs, completeDelayedJob, jobAlerts, events } = parts

  /**
   * Ends an attempt and returns when the next one, or a queued run, is due, if there is one. Does nothing if the
   * lease is void, because another process has already ended the attempt.
   */
  function end(run: LeasedRun, startedAt: number, outcome: AttemptOutcome): number | undefined {
    const { result, errorCode } = outcome
    const isFinal = errorCode === null || errorCode === 'blocked'
    const retryAt = isFinal ? undefined : retryTime(run, startedAt, result)
    const held = retryAt === undefined ? store.runs.finish(run) : store.runs.rearm(run, retryAt)
    if (!held) return undefined
    store.executions.complete(run.executionId, result)
    store.hours.add(run.tenantId, result)
    if (run.jobKind === 'delayed') moveDelayedJob(run, result, retryAt)
    else noteStatus(run, result)
    if (retryAt === undefined) jobAlerts.ended(run, outcome)
    events.attemptEnded(result.status, Math.max(startedAt - run.dueAt, 0))
    if (retryAt !== undefined || run.jobKind === 'delayed') return retryAt
    return store.runs.release(run.tenantId, run.jobId) ? result.completedAt : undefined
  }

  function retryTime(run: RunRow, startedAt: number, result: ExecutionResult) {
    const job = openJob(run)
    if (!job) return undefined
    const options = job.retry === null ? null : JSON.parse(job.retry)
    const policy = retryPolicyOf(options, retryDelaysMs)
    if (!isRetried(result.responseStatus, policy)) return undefined
    const { completedAt } = result
    return nextAttemptAt({ attempt: run.attempt, startedAt, completedAt }, policy.delaysMs, tick)
  }

  /** The job of a run, unless it is paused: then only a manual run continues. */
  function openJob({ jobKind, trigger, tenantId, jobId }: RunRow) {
    if (jobKind === 'delayed') return store.delayedJobs.find(tenantId, jobId)
    const job = store.cronJobs.find(tenantId, jobId)
    return job?.isActive || trigger === 'manual' ? job : undefined
  }

  const noteStatus = (
    { tenantId, jobId: id, executionId }: LeasedRun,
    { status }: ExecutionResult,
  ) => store.cronJobs.noteStatus({ tenantId, id, executionId, status })

  function moveDelayedJob(
    { tenantId, jobId }: RunRow,
    { status, completedAt: now }: ExecutionResult,
    retryAt: number | undefined,
  ) {
    if (retryAt === undefined)
      return completeDelayedJob(tenantId, jobId, { from: 'running', to: status, now })
    const step = { from: 'running', to: 'pending', now, runAt: retryAt } as const
    return store.delayedJobs.move(tenantId, jobId, step)
  }

  /** Ends an attempt whose process is gone as a network failure. */
  function interrupt(run: LeasedRun, now: number) {
    const startedAt = store.executions.startedAt(run.executionId) ?? now
    end(run, startedAt, unanswered('interrupted', INTERRUPTED, startedAt, now))
    events.leaseReclaimed()
  }

  return { end, interrupt }
}
