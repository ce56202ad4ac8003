import { RUNS_IN_FLIGHT } from './limits.ts'
import type { RunEvents } from './metrics.ts'
import { hostOf } from './request.ts'
import { countOccurrences, scheduleOf } from './schedule/index.ts'
import type { DueCronJob } from './store/cron-jobs.ts'
import type { Store } from './store/index.ts'
import type { SkipReason } from './store/ledgers.ts'

/** Where a schedule stands that has come to its end: the last time that a date can be. */
const NEVER = 8.64e15

/** Turns the slots of cron jobs that have come into runs that stand ready. */
export function createSlots({ store, events }: { store: Store; events: RunEvents }) {
  /** Takes up to `limit` jobs that are due by `cutoff`, and says how many there were. */
  function fire(cutoff: number, limit: number): number {
    const due = store.cronJobs.due(cutoff, limit)
    for (const job of due) fireSlot(job, cutoff)
    return due.length
  }

  /** After an outage the first missed slot runs, late; the rest are counted as skipped. */
  function fireSlot(job: DueCronJob, cutoff: number) {
    const schedule = scheduleOf(job.schedule)
    const slot = job.nextRunAt
    if (!store.cronJobs.advance(job.seq, slot, schedule.next(cutoff) ?? NEVER)) return
    skip(job.id, 'outage', cutoff, countOccurrences(schedule, slot, cutoff))
    if (store.runs.inFlight(job.tenantId, job.id) < RUNS_IN_FLIGHT) putInLine(job)
    else skip(job.id, 'overlap', cutoff, 1)
  }

  function skip(jobId: string, reason: SkipReason, noticedAt: number, count: number) {
    if (count === 0) return
    store.skipped.add(jobId, reason, noticedAt, count)
    events.slotsSkipped(reason, count)
  }

  function putInLine({ tenantId, id, url, nextRunAt: slot }: DueCronJob) {
    store.runs.insert({
      tenantId,
      jobKind: 'cron',
      jobId: id,
      trigger: 'schedule',
      slotAt: slot,
      dueAt: slot,
      state: 'ready',
      host: hostOf(url),
    })
  }

  return { fire }
}
