import type { Clock } from '../../platform/clock.ts'
import { newId } from '../../platform/ids.ts'
import { unanswered } from './attempt.ts'
import type { JobAlerts } from './job-alerts.ts'
import type { RunEvents } from './metrics.ts'
import { placeFor } from './overlap.ts'
import { hostOf } from './request.ts'
import { countOccurrences, readableSchedule } from './schedule/index.ts'
import type { DueCronJob } from './store/cron-jobs.ts'
import type { Store } from './store/index.ts'
import type { SkipReason } from './store/ledgers.ts'

/** The next time of a schedule without further slots: the latest time that a date can hold. */
const NEVER = 8.64e15

/** Turns due slots of cron jobs into ready runs. */
export function createSlots(parts: {
  store: Store
  clock: Clock
  jobAlerts: JobAlerts
  events: RunEvents
}) {
  const { store, clock, jobAlerts, events } = parts

  /** Handles up to `limit` jobs that are due by `cutoff` and returns how many there were. */
  function fire(cutoff: number, limit: number): number {
    const due = store.cronJobs.due(cutoff, limit)
    for (const job of due) fireSlot(job, cutoff)
    return due.length
  }

  /** After an outage, the first missed slot runs late and the others are counted as skipped. */
  function fireSlot(job: DueCronJob, cutoff: number) {
    const schedule = readableSchedule(job.schedule, job.timeZone)
    if (!schedule) return suspend(job)
    const slot = job.nextRunAt
    if (!store.cronJobs.advance(job.seq, slot, schedule.next(cutoff) ?? NEVER)) return
    skip(job.id, 'outage', cutoff, countOccurrences(schedule, slot, cutoff))
    const state = placeFor(store, job)
    if (state) enqueue(job, state)
    else skip(job.id, 'overlap', cutoff, 1)
  }

  /** Fails the slot and pauses the job, so that the others go on. */
  function suspend(job: DueCronJob) {
    const { tenantId, id: jobId, schedule, timeZone, nextRunAt: slotAt } = job
    const [now, executionId] = [clock.now(), newId()]
    const run = { tenantId, jobKind: 'cron', jobId, executionId, slotAt, attempt: 1 } as const
    const reason = `Paused: this version of Gatehouse can't read the schedule ${schedule} in ${timeZone}`
    const outcome = unanswered('internal', reason, now, now)
    store.executions.insert({
      ...{ id: executionId, tenantId, jobId, trigger: 'schedule', attempt: 1, slotAt },
      ...{ latenessMs: now - slotAt, startedAt: now },
    })
    store.executions.complete(executionId, outcome.result)
    store.cronJobs.noteRun(tenantId, jobId, now)
    store.cronJobs.noteStatus({ tenantId, id: jobId, executionId, status: 'failed' })
    jobAlerts.suspended(run, outcome)
    store.cronJobs.pause(tenantId, jobId)
  }

  function skip(jobId: string, reason: SkipReason, noticedAt: number, count: number) {
    if (count === 0) return
    store.skipped.add(jobId, reason, noticedAt, count)
    events.slotsSkipped(reason, count)
  }

  function enqueue({ tenantId, id, url, nextRunAt: slot }: DueCronJob, state: 'ready' | 'queued') {
    store.runs.insert({
      tenantId,
      jobKind: 'cron',
      jobId: id,
      trigger: 'schedule',
      slotAt: slot,
      dueAt: slot,
      state,
      host: hostOf(url),
    })
  }

  return { fire }
}
