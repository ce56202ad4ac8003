import type { Db } from '../db/open.ts'
import type { Clock } from '../platform/clock.ts'
import type { Log } from '../platform/log.ts'
import { SLICE } from './limits.ts'
import type { Store } from './store/index.ts'

export type BulkHold = ReturnType<typeof createBulkHold>

/** Moves all deliveries of an endpoint, a slice a commit: there may be hundreds of thousands. */
export function createBulkHold(parts: { db: Db; clock: Clock; store: Store; log: Log }) {
  const { db, clock, store, log } = parts
  const { holding, hours } = store

  /**
   * Holds what is still to come for an endpoint that is inactive. Where it does not get to the
   * end, the loop holds the rest as it comes due. Never rejects.
   */
  async function parkAll(tenantId: string, endpointId: string): Promise<void> {
    try {
      await untilNoneIsLeft(tenantId, () => parkSlice(tenantId, endpointId))
    } catch (error) {
      log.warn('some deliveries are not on hold yet', { endpointId, error: String(error) })
    }
  }

  /** One that is deleted has its deliveries cancelled instead. */
  function parkSlice(tenantId: string, endpointId: string): number {
    const endpoint = store.endpoints.ofTenant(tenantId, endpointId)
    return endpoint && !endpoint.isActive ? holding.park(tenantId, endpointId, SLICE) : 0
  }

  /** Cancels what an endpoint that is inactive has missed. */
  const discard = (tenantId: string, endpointId: string): Promise<void> =>
    untilNoneIsLeft(tenantId, () =>
      store.endpoints.isActive(tenantId, endpointId) ? 0 : cancelSlice(tenantId, endpointId, SLICE),
    )

  /** The few that came since, inside the commit that lets the endpoint take deliveries again. */
  function discardRest(tenantId: string, endpointId: string) {
    holding.cancelAfterwards(tenantId, endpointId)
    while (cancelSlice(tenantId, endpointId, SLICE) > 0);
  }

  /** Cancels whatever has not ended. */
  const cancelAll = (tenantId: string, endpointId: string): Promise<void> =>
    untilNoneIsLeft(tenantId, () => cancelSlice(tenantId, endpointId, SLICE))

  /** Runs inside a commit; how many it took. */
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
