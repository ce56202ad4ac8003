import type { RetentionRule } from '../platform/retention.ts'
import type { Parking } from './parking.ts'
import type { Store } from './store/index.ts'

export interface Kept {
  /** Messages with their deliveries and attempts. */
  deliveriesMs: number
  /** What is counted of endpoints, hour by hour. */
  countersMs: number
}

/** What of the delivery layer goes, and when. A message takes all that became of it along. */
export const deliveryRetention = (store: Store, parking: Parking, kept: Kept): RetentionRule[] => [
  {
    name: 'messages',
    deleteSlice: (now, limit) => deleteMessages(store, now, kept.deliveriesMs, limit),
  },
  {
    name: 'endpoint counters',
    deleteSlice: (now, limit) => store.hours.removeBefore(now - kept.countersMs, limit),
  },
  {
    name: 'deleted endpoints',
    deleteSlice: (_, limit) => finishDeletions(store, parking, limit),
  },
]

/**
 * A message may have a thousand deliveries: they count towards the slice. One that has not ended
 * by then, because its endpoint took none, goes as cancelled.
 */
function deleteMessages(store: Store, now: number, keptMs: number, limit: number): number {
  let left = limit
  for (const seq of store.messages.expired(now - keptMs, limit)) {
    const removed = store.deliveries.removeOfMessage(seq, left)
    for (const { endpointId, endedAt } of removed)
      if (endedAt === null) store.hours.add(endpointId, now, { cancelled: 1 })
    left -= removed.length
    if (left <= 0) return limit
    store.messages.remove(seq)
    left--
    if (left <= 0) return limit
  }
  return limit - left
}

/** Those of a server that ended before it was through with them. */
function finishDeletions(store: Store, parking: Parking, limit: number): number {
  let done = 0
  for (const { tenantId, id } of store.endpoints.deleted(limit)) {
    done += parking.cancelSlice(tenantId, id, limit - done)
    if (done >= limit) return limit
    store.endpoints.remove(tenantId, id)
    done++
  }
  return Math.min(done, limit)
}
