import type { RunEvents } from './metrics.ts'
import { placeFor } from './overlap.ts'
import { hostOf } from './request.ts'
import { countOccurrences, scheduleOf } from './schedule/index.ts'
import type { DueCronJob } from './store/cron-jobs.ts'
import type { Store } from './store/index.ts'
import type { SkipReason } from './store/ledgers.ts'

/** The next time of a schedule without further slots: the latest time that a date can hold. */
const NEVER = 8.64e15

/** Turns due slots of cron jobs into ready runs. */
export function createSlots({ store, events }: { store: Store; events: RunEvents }) {
  /** Handles up to `limit` jobs that are due by `cutoff` and returns how many there were. */
  function fire(cutoff: number, limit: number): number {
    const due = store.cronJobs.due(cutoff, limit)
    for (const job of due) fireSlot(job, cutoff)
    return due.length
  }

  /** After an outage, the first missed slot runs late and the others are counted as skipped. */
  function fireSlot(job: DueCronJob, cutoff: number) {
    const schedule = scheduleOf(job.schedule, job.timeZone)
    const slot = job.nextRunAt
    if (!store.cronJobs.advance(job.seq, slot, schedule.next(cutoff) ?? NEVER)) return
    skip(job.id, 'outage', cutoff, countOccurrences(schedule, slot, cutoff))
    const state = placeFor(store, job)
    if (state) enqueue(job, state)
    else skip(job.id, 'overlap', cutoff, 1)
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
