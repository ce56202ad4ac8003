import type { RetentionRule } from '../../platform/retention.ts'
import type { Store } from './store/index.ts'

const SKIPS_KEPT_MS = 30 * 86_400_000

/** What of clockwork goes, and when: rows carry the time at which they may. */
export const clockworkRetention = ({
  delayedJobs,
  executions,
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
    name: 'clockwork skipped slots',
    deleteSlice: (now, limit) => skipped.removeBefore(now - SKIPS_KEPT_MS, limit),
  },
]
