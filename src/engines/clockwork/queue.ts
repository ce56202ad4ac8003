import type { Clock } from '../../platform/clock.ts'
import type { DueQueue, Holders, Lane, Lease } from '../../platform/due-loop.ts'
import { newId } from '../../platform/ids.ts'
import type { AttemptOutcome, createAttempt } from './attempt.ts'
import { LISTED_EXECUTIONS, RUNS_IN_FLIGHT } from './limits.ts'
import { hostOf, type JobRequest, loadedRequest, type StoredRequest } from './request.ts'
import { nextAttemptAt } from './retry.ts'
import { countOccurrences, scheduleOf } from './schedule/index.ts'
import type { DueCronJob } from './store/cron-jobs.ts'
import type { Store } from './store/index.ts'
import type { RunRow } from './store/runs.ts'
import type { Tick } from './tick.ts'

/** One attempt of a run, under lease. */
export interface Attempt extends Lane {
  run: RunRow
  executionId: string
  owner: string
  startedAt: number
  request: JobRequest
}

export interface QueueSettings {
  timeoutMs: number
  retryDelaysMs: readonly number[]
  /** How long an ended delayed job is kept. */
  delayedKeptMs: number
  /** How long a failure is kept beyond the executions that the list shows. */
  failuresKeptMs: number
}

export interface QueueEvents {
  attemptEnded(status: 'success' | 'failed', latenessMs: number): void
  slotsSkipped(reason: 'outage' | 'overlap', count: number): void
  leaseReclaimed(): void
}

/** Rows that one transaction moves on: keeps requests waiting no longer than some 20 ms. */
const SLICE = 300
const INTERRUPTED = 'Gatehouse stopped before the answer was stored'

/** Clockwork's work for the due loop: cron slots, delayed jobs and retries of both. */
export function createRunQueue(parts: {
  store: Store
  clock: Clock
  tick: Tick
  settings: QueueSettings
  events: QueueEvents
  send: ReturnType<typeof createAttempt>
}): DueQueue<Attempt, AttemptOutcome> {
  const { store, clock, tick, settings, events, send } = parts

  function nextDueAt(): number | undefined {
    const times = [store.cronJobs.firstDueAt(), store.runs.firstWaitingAt()]
    const first = Math.min(...times.map((at) => at ?? Number.POSITIVE_INFINITY))
    return Number.isFinite(first) ? tick.ceil(first) : undefined
  }

  function promote(now: number): boolean {
    const cutoff = tick.floor(now)
    const due = store.cronJobs.due(cutoff, SLICE)
    for (const job of due) fireSlot(job, cutoff)
    return store.runs.promote(cutoff, SLICE) === SLICE || due.length === SLICE
  }

  /** After an outage the first missed slot runs, late; the rest are counted as skipped. */
  function fireSlot(job: DueCronJob, cutoff: number) {
    const schedule = scheduleOf(job.schedule)
    const slot = job.nextRunAt
    const next = schedule.next(cutoff) ?? Number.MAX_SAFE_INTEGER
    if (!store.cronJobs.advance(job.seq, slot, next)) return
    skip(job.id, 'outage', slot, countOccurrences(schedule, slot, cutoff))
    if (store.runs.inFlight(job.tenantId, job.id) >= RUNS_IN_FLIGHT)
      return skip(job.id, 'overlap', slot, 1)
    store.runs.insert({
      tenantId: job.tenantId,
      jobKind: 'cron',
      jobId: job.id,
      trigger: 'schedule',
      slotAt: slot,
      dueAt: slot,
      state: 'ready',
      host: hostOf(job.url),
    })
  }

  function skip(jobId: string, reason: 'outage' | 'overlap', at: number, count: number) {
    if (count === 0) return
    store.skipped.add(jobId, reason, at, count)
    events.slotsSkipped(reason, count)
  }

  const claim = (lane: Lane, limit: number, lease: Lease): Attempt[] =>
    store.runs.ready(lane, limit).flatMap((run) => begin(run, lane, lease) ?? [])

  /** Lease, execution row and the job's own state in one commit: all or nothing. */
  function begin(run: RunRow, lane: Lane, lease: Lease): Attempt | undefined {
    const { tenantId, jobId, attempt, slotAt, dueAt, trigger } = run
    const executionId = newId()
    if (!store.runs.lease(run.seq, executionId, lease)) return undefined
    const request = requestOf(run)
    const startedAt = clock.now()
    const latenessMs = Math.max(startedAt - dueAt, 0)
    store.executions.insert({
      id: executionId,
      tenantId,
      jobId,
      trigger,
      attempt,
      slotAt,
      latenessMs,
      startedAt,
    })
    noteStart(run, startedAt)
    if (run.jobKind === 'cron') trimHistory(run, startedAt)
    return { ...lane, run, executionId, owner: lease.owner, startedAt, request }
  }

  function noteStart({ jobKind, tenantId, jobId, attempt }: RunRow, now: number) {
    if (jobKind === 'delayed')
      store.delayedJobs.move(tenantId, jobId, { from: 'pending', to: 'running', now })
    else if (attempt === 1) store.cronJobs.noteRun(tenantId, jobId, now)
  }

  /** The request kept from before an edit, else the job's own. A run never outlives its job. */
  function requestOf({ request, jobKind, tenantId, jobId }: RunRow): JobRequest {
    const jobs = jobKind === 'cron' ? store.cronJobs : store.delayedJobs
    const stored = request === null ? jobs.find(tenantId, jobId) : JSON.parse(request)
    return loadedRequest(stored as StoredRequest)
  }

  const perform = ({ request, executionId, run }: Attempt, signal: AbortSignal) =>
    send(request, { executionId, number: run.attempt }, signal)

  function settle({ run, executionId, owner, startedAt }: Attempt, outcome: AttemptOutcome) {
    const ended = { run: { ...run, leaseOwner: owner }, executionId, startedAt }
    if (!endAttempt(ended, outcome)) return
    events.attemptEnded(outcome.result.status, Math.max(startedAt - run.dueAt, 0))
  }

  /** Does nothing when the lease is void: somebody else has ended this attempt. */
  function endAttempt(
    { run, executionId, startedAt }: { run: RunRow; executionId: string; startedAt: number },
    { result, retryable }: AttemptOutcome,
  ): boolean {
    const { completedAt, status } = result
    const retryAt =
      status === 'failed' && retryable && mayRetry(run)
        ? nextAttemptAt(
            { attempt: run.attempt, startedAt, completedAt },
            settings.retryDelaysMs,
            tick,
          )
        : undefined
    const held = retryAt === undefined ? store.runs.finish(run) : store.runs.rearm(run, retryAt)
    if (!held) return false
    store.executions.complete(executionId, result)
    if (run.jobKind === 'delayed') endDelayed(run, status, completedAt, retryAt)
    return true
  }

  /** A paused cron job makes no more attempts. */
  const mayRetry = ({ jobKind, tenantId, jobId }: RunRow): boolean =>
    jobKind === 'delayed' || (store.cronJobs.find(tenantId, jobId)?.isActive ?? false)

  function endDelayed(
    { tenantId, jobId }: RunRow,
    status: 'success' | 'failed',
    now: number,
    retryAt: number | undefined,
  ) {
    if (retryAt !== undefined)
      return store.delayedJobs.move(tenantId, jobId, {
        from: 'running',
        to: 'pending',
        now,
        runAt: retryAt,
      })
    const expiresAt = now + settings.delayedKeptMs
    store.delayedJobs.move(tenantId, jobId, { from: 'running', to: status, now, expiresAt })
    store.counts.add(tenantId, 'openDelayedJobs', -1)
  }

  /** Each new execution pushes one out of the list: a success goes, a failure stays a while. */
  function trimHistory({ tenantId, jobId }: RunRow, now: number) {
    const pushedOut = store.executions.nth(tenantId, jobId, LISTED_EXECUTIONS)
    if (!pushedOut) return
    if (pushedOut.status === 'success') store.executions.remove(pushedOut.seq)
    else store.executions.expire(pushedOut.seq, now + settings.failuresKeptMs)
  }

  const hasLost = (holders: Holders): boolean => store.runs.lost(holders, 1).length > 0

  /** What was under way in a process that is gone counts as a network failure. */
  function reclaim(holders: Holders) {
    for (const run of store.runs.lost(holders, SLICE)) interrupt(run, holders.now)
  }

  function interrupt(run: RunRow, now: number) {
    const executionId = run.executionId as string
    const startedAt = store.executions.startedAt(executionId) ?? now
    endAttempt({ run, executionId, startedAt }, unanswered(INTERRUPTED, startedAt, now))
    events.leaseReclaimed()
  }

  const broken = ({ startedAt }: Attempt): AttemptOutcome =>
    unanswered('Gatehouse could not make this call; its log says why', startedAt, clock.now())

  return {
    name: 'clockwork',
    limits: { total: 512, perTenant: 128, perTarget: 20 },
    longestMs: settings.timeoutMs,
    nextDueAt,
    promote,
    nextLane: store.runs.nextLane,
    claim,
    perform,
    broken,
    settle,
    hasLost,
    reclaim,
  }
}

/** A failure of ours: retried like a network failure. */
const unanswered = (errorMessage: string, startedAt: number, now: number): AttemptOutcome => ({
  retryable: true,
  result: {
    status: 'failed',
    completedAt: now,
    durationMs: Math.max(now - startedAt, 0),
    responseStatus: null,
    responseBody: null,
    errorMessage,
    address: null,
    timings: null,
  },
})
