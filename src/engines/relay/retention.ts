import type { RetentionRule } from '../../platform/retention.ts'
import type { Store } from './store/index.ts'

/** The retention rules of the engine. */
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
