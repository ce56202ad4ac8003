import { DAY_MS } from '../../platform/durations.ts'
import type { RetentionRule } from '../../platform/retention.ts'
import type { Store } from './store/index.ts'

const SKIPS_KEPT_MS = 30 * DAY_MS
/** Kept for 15 days, so that each day can be compared with the same day a week earlier. */
const HOURS_KEPT_MS = 15 * DAY_MS

/** The retention rules of the scheduler. Most rows hold the time at which they expire. */
export const clockworkRetention = ({
  delayedJobs,
  executions,
  hours,
  skipped,
  counts,
}: Store): RetentionRule[] => [
  { name: 'clockwork executions', deleteSlice: executions.removeExpired },
  {
    name: 'clockwork delayed jobs',
    deleteSlice: (now, limit) => {
      const gone = delayedJobs.removeExpired(now, limit)
      for (const { tenantId, bytes } of gone)
        counts.add(tenantId, { delayedJobs: -1, bytes: -bytes })
      return gone.length
    },
  },
  {
    name: 'clockwork hours',
    deleteSlice: (now, limit) => hours.removeBefore(now - HOURS_KEPT_MS, limit),
  },
  {
    name: 'clockwork skipped slots',
    deleteSlice: (now, limit) => skipped.removeBefore(now - SKIPS_KEPT_MS, limit),
  },
]
