import type { Db } from '../db/open.ts'
import type { Clock } from '../platform/clock.ts'
import type { Log } from '../platform/log.ts'
import { SLICE } from './limits.ts'
import { handlingOf } from './paused.ts'
import type { Store } from './store/index.ts'

export type BulkHold = ReturnType<typeof createBulkHold>

/** One slice per commit, because an endpoint may have hundreds of thousands of deliveries. */
export function createBulkHold(parts: { db: Db; clock: Clock; store: Store; log: Log }) {
  const { db, clock, store, log } = parts
  const { holding, hours } = store

  /** If it stops early, the due loop holds the other deliveries as they come due. Never rejects. */
  async function parkAll(tenantId: string, endpointId: string): Promise<void> {
    try {
      await untilNoneIsLeft(tenantId, () => parkSlice(tenantId, endpointId))
    } catch (error) {
      log.warn('some deliveries are not held yet; try again', { endpointId, error: String(error) })
    }
  }

  /** Returns the slice's size. Skips a deleted endpoint, whose deliveries are cancelled instead. */
  function parkSlice(tenantId: string, endpointId: string): number {
    const handling = handlingOf(store.endpoints.ofTenant(tenantId, endpointId))
    return handling === 'hold' ? holding.park(tenantId, endpointId, SLICE) : 0
  }

  /** Cancels the deliveries that an inactive endpoint has missed. */
  const discard = (tenantId: string, endpointId: string): Promise<void> =>
    untilNoneIsLeft(tenantId, () =>
      store.endpoints.isActive(tenantId, endpointId) ? 0 : cancelSlice(tenantId, endpointId, SLICE),
    )

  /** Cancels what arrived since `discard`, inside the commit that reactivates the endpoint. */
  function discardRest(tenantId: string, endpointId: string) {
    holding.cancelAfterwards(tenantId, endpointId)
    while (cancelSlice(tenantId, endpointId, SLICE) > 0);
  }

  /** Cancels all deliveries that have not ended. */
  const cancelAll = (tenantId: string, endpointId: string): Promise<void> =>
    untilNoneIsLeft(tenantId, () => cancelSlice(tenantId, endpointId, SLICE))

  /** Cancels up to `limit` deliveries inside a commit and returns how many it cancelled. */
  function cancelSlice(tenantId: string, endpointId: string, limit: number): number {
    const now = clock.now()
    const open = holding.cancelOpen(tenantId, endpointId, now, limit)
    const held = open < limit ? holding.cancelHeld(tenantId, endpointId, now, limit - open) : 0
    const cancelled = open + held
    if (cancelled > 0) hours.add(endpointId, now, { cancelled })
    return cancelled
  }

  async function untilNoneIsLeft(tenantId: string, slice: () => number) {
    while ((await db.commitFor(tenantId, slice)) > 0);
  }

  return { parkAll, discard, discardRest, cancelAll, cancelSlice }
}
