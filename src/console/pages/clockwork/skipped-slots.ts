import type { CronJob } from '../../../engines/clockwork/model.ts'
import type { ExecutionSummary } from '../../../engines/clockwork/queries.ts'
import { countOccurrences, scheduleOf } from '../../../engines/clockwork/schedule/index.ts'

/** Skipped slots are counted up to this number. */
const MAX_SKIPPED = 100

/** Number of skipped slots before each run. Unknown before the last edit, when the schedule may have differed. */
export function skippedSlotsIn(
  job: CronJob,
  attempts: readonly ExecutionSummary[],
): Map<number, number> {
  const schedule = scheduleOf(job.schedule)
  const since = Date.parse(job.updated_at)
  const started = attempts.flatMap(({ trigger, slotAt }) =>
    trigger === 'schedule' && slotAt >= since ? [slotAt] : [],
  )
  const slots = [...new Set(started)].sort((one, other) => one - other)
  const skippedSlots = new Map<number, number>()
  for (const [index, slot] of slots.entries()) {
    const before = slots[index - 1]
    if (before === undefined) continue
    const skipped = countOccurrences(schedule, before, slot - 1, MAX_SKIPPED)
    if (skipped > 0) skippedSlots.set(slot, skipped)
  }
  return skippedSlots
}
