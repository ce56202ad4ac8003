import type { RetentionRule } from '../../platform/retention.ts'
import type { Store } from './store/index.ts'

/** What of the engine goes, and when. */
export const relayRetention = (
  { idempotency, eventTypes }: Store,
  { countersMs }: { countersMs: number },
): RetentionRule[] => [
  { name: 'relay idempotency keys', deleteSlice: idempotency.removeExpired },
  {
    name: 'relay event types',
    deleteSlice: (now, limit) => eventTypes.removeUnseen(now - countersMs, limit),
  },
]
