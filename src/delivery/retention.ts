import type { RetentionRule } from '../platform/retention.ts'
import type { BulkHold } from './bulk-hold.ts'
import type { Store } from './store/index.ts'
import type { MessageSize } from './store/messages.ts'

/** Of the database: what is larger than one goes into pages of its own. */
const PAGE_BYTES = 4096

interface Kept {
  /** Messages with their deliveries and attempts. */
  deliveriesMs: number
  /** What is counted of endpoints, hour by hour. */
  countersMs: number
}

/** What of the delivery layer goes, and when. A message takes all that became of it along. */
export const deliveryRetention = (
  store: Store,
  bulkHold: BulkHold,
  kept: Kept,
): RetentionRule[] => [
  {
    name: 'messages',
    deleteSlice: (now, limit) =>
      deleteMessages(store, store.messages.expired(now - kept.deliveriesMs, limit), now, limit),
  },
  {
    name: 'endpoint counters',
    deleteSlice: (now, limit) => store.hours.removeBefore(now - kept.countersMs, limit),
  },
  {
    name: 'deleted endpoints',
    deleteSlice: (_, limit) => finishDeletions(store, bulkHold, limit),
  },
]

/**
 * Deletes messages with all that became of them, and says how many rows that were. A message may
 * have a thousand deliveries, and each a hundred attempts: they count towards the slice, and so do
 * the pages of a large payload. A delivery that has not ended by then, because its endpoint took
 * none, goes as cancelled.
 */
export function deleteMessages(
  store: Store,
  messages: readonly MessageSize[],
  now: number,
  limit: number,
): number {
  let left = limit
  for (const { seq, bytes } of messages) {
    left -= store.attempts.removeOfMessage(seq, left)
    if (left > 0) left -= deleteDeliveries(store, seq, now, left)
    if (left <= 0) return limit
    store.messages.remove(seq)
    left -= 1 + Math.floor(bytes / PAGE_BYTES)
    if (left <= 0) return limit
  }
  return limit - left
}

function deleteDeliveries(store: Store, messageSeq: number, now: number, limit: number): number {
  const removed = store.deliveries.removeOfMessage(messageSeq, limit)
  for (const { endpointId, endedAt } of removed)
    if (endedAt === null) store.hours.add(endpointId, now, { cancelled: 1 })
  return removed.length
}

/** Those of a server that ended before it was through with them. */
function finishDeletions(store: Store, bulkHold: BulkHold, limit: number): number {
  let done = 0
  for (const { tenantId, id } of store.endpoints.deleted(limit)) {
    done += bulkHold.cancelSlice(tenantId, id, limit - done)
    if (done >= limit) return limit
    store.endpoints.remove(tenantId, id)
    done++
  }
  return Math.min(done, limit)
}
