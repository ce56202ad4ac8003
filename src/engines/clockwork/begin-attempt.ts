import type { Clock } from '../../platform/clock.ts'
import type { Lane, Lease } from '../../platform/due/queue.ts'
import { fail } from '../../platform/errors.ts'
import { newId } from '../../platform/ids.ts'
import { LISTED_EXECUTIONS } from './limits.ts'
import { type StoredRequest, storedRequest } from './request.ts'
import type { StatusPattern } from './status-patterns.ts'
import type { Store } from './store/index.ts'
import type { LeasedRun, RunRow } from './store/runs.ts'

/** One attempt of a run, under a lease. */
export interface Attempt extends Lane {
  run: LeasedRun
  startedAt: number
  request: StoredRequest
  timeoutMs: number
  successStatuses: readonly StatusPattern[]
  isSigned: boolean
  reusesConnection: boolean
}

const SUCCESS: readonly StatusPattern[] = ['2xx']

export type BeginAttempt = ReturnType<typeof createBeginAttempt>

/** Starts attempts. The lease, the execution row and the state of the job change in one commit. */
export function createBeginAttempt(parts: {
  store: Store
  clock: Clock
  /** How long a failure is kept after it has left the list of executions, in milliseconds. */
  failuresKeptMs: number
  /** The longest that an attempt may take, unless its job has an own timeout. */
  timeoutMs: number
}) {
  const { store, clock, failuresKeptMs } = parts

  /** Starts an attempt; undefined if another process holds the run. A lease outlives the attempt. */
  function beginAttempt(row: RunRow, lane: Lane, { owner, until }: Lease): Attempt | undefined {
    const call = callOf(row)
    const lease = { owner, until: until + Math.max(0, call.timeoutMs - parts.timeoutMs) }
    const run = store.runs.lease(row, { executionId: newId() }, lease)
    if (!run) return undefined
    const startedAt = clock.now()
    insertExecution(run, startedAt)
    if (run.jobKind === 'cron') beginCron(run, startedAt)
    else beginDelayed(run, startedAt)
    return { ...lane, ...call, run, startedAt }
  }

  function insertExecution(run: LeasedRun, startedAt: number) {
    const { executionId: id, tenantId, jobId, trigger, attempt, slotAt, dueAt } = run
    const latenessMs = Math.max(startedAt - dueAt, 0)
    store.executions.insert({
      id,
      tenantId,
      jobId,
      trigger,
      attempt,
      slotAt,
      latenessMs,
      startedAt,
    })
  }

  function beginCron({ tenantId, jobId, attempt }: RunRow, now: number) {
    if (attempt === 1) store.cronJobs.noteRun(tenantId, jobId, now)
    trimHistory(tenantId, jobId, now)
  }

  /** Removes the execution that a new one pushes out of the list; a failure is kept for a while. */
  function trimHistory(tenantId: string, jobId: string, now: number) {
    const pushedOut = store.executions.nth(tenantId, jobId, LISTED_EXECUTIONS)
    if (!pushedOut) return
    if (pushedOut.status === 'success') store.executions.remove(pushedOut.seq)
    else store.executions.archive(pushedOut.seq, now + failuresKeptMs)
  }

  const beginDelayed = ({ tenantId, jobId }: RunRow, now: number) =>
    store.delayedJobs.move(tenantId, jobId, { from: 'pending', to: 'running', now })

  /** The request kept at an edit, otherwise the job's own, and the options of the job. */
  function callOf({ request, jobKind, tenantId, jobId }: RunRow) {
    const jobs = jobKind === 'cron' ? store.cronJobs : store.delayedJobs
    const job = jobs.find(tenantId, jobId) ?? fail(new Error('a run has outlived its job'))
    const { timeoutMs, successStatuses, isSigned, reusesConnection } = job
    return {
      request: request === null ? storedRequest(job) : (JSON.parse(request) as StoredRequest),
      timeoutMs: timeoutMs ?? parts.timeoutMs,
      successStatuses: successStatuses === null ? SUCCESS : JSON.parse(successStatuses),
      isSigned,
      reusesConnection,
    }
  }

  return beginAttempt
}
