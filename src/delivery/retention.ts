import type { RetentionRule } from '../platform/retention.ts'
import type { BulkHold } from './bulk-hold.ts'
import type { Store } from './store/index.ts'
import type { MessageSize } from './store/messages.ts'

/** Page size of the database. A larger payload takes pages of its own. */
const PAGE_BYTES = 4096

interface Kept {
  /** Retention of messages with their deliveries and attempts. */
  deliveriesMs: number
  /** Retention of the hourly counters of endpoints. */
  countersMs: number
}

/** A message is deleted together with its deliveries and attempts. */
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
  { name: 'deleted endpoints', deleteSlice: (_, limit) => finishDeletions(store, bulkHold, limit) },
]

/**
 * Deletes messages with their deliveries and attempts, and returns the number of rows. A message
 * may have a thousand deliveries with a hundred attempts each, so these count towards the slice, as
 * do the pages of a large payload. A delivery that is still open, because its endpoint took none,
 * is counted as cancelled.
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

/** Finishes deletions of endpoints that a stopped server left incomplete. */
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
