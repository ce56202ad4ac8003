import { type AttemptOutcome, unanswered } from './attempt.ts'
import type { CompleteDelayedJob } from './complete-delayed-job.ts'
import type { RunEvents } from './metrics.ts'
import { nextAttemptAt } from './retry.ts'
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
  events: RunEvents
}) {
  const { store, tick, retryDelaysMs, completeDelayedJob, events } = parts

  /**
   * Ends an attempt and returns when the next one is due, if there is one. Does nothing if the
   * lease is void, because another process has already ended the attempt.
   */
  function end(
    run: LeasedRun,
    startedAt: number,
    { result, retryable }: AttemptOutcome,
  ): number | undefined {
    const retryAt = retryable ? retryTime(run, startedAt, result.completedAt) : undefined
    const held = retryAt === undefined ? store.runs.finish(run) : store.runs.rearm(run, retryAt)
    if (!held) return undefined
    store.executions.complete(run.executionId, result)
    store.hours.add(run.tenantId, result)
    if (run.jobKind === 'delayed') moveDelayedJob(run, result, retryAt)
    else noteStatus(run, result)
    events.attemptEnded(result.status, Math.max(startedAt - run.dueAt, 0))
    return retryAt
  }

  function retryTime(run: RunRow, startedAt: number, completedAt: number) {
    if (isPaused(run)) return undefined
    const { attempt } = run
    return nextAttemptAt({ attempt, startedAt, completedAt }, retryDelaysMs, tick)
  }

  /** Whether the run of a paused job gets no more attempts. A manual run continues. */
  const isPaused = ({ jobKind, trigger, tenantId, jobId }: RunRow): boolean =>
    jobKind === 'cron' && trigger === 'schedule' && !store.cronJobs.find(tenantId, jobId)?.isActive

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
    end(run, startedAt, unanswered(INTERRUPTED, startedAt, now))
    events.leaseReclaimed()
  }

  return { end, interrupt }
}
