import type { Db } from '../db/open.ts'
import type { Clock } from '../platform/clock.ts'
import type { Log } from '../platform/log.ts'
import { SLICE } from './limits.ts'
import type { Store } from './store/index.ts'

export type Parking = ReturnType<typeof createParking>

/** Moves all deliveries of an endpoint, a slice a commit: there may be hundreds of thousands. */
export function createParking(parts: { db: Db; clock: Clock; store: Store; log: Log }) {
  const { db, clock, store, log } = parts
  const { holding, hours } = store

  /**
   * Holds what is still to come for an endpoint that is inactive. Where it does not get to the
   * end, the loop holds the rest as it comes due. Never rejects.
   */
  async function parkAll(tenantId: string, endpointId: string): Promise<void> {
    try {
      await untilNoneIsLeft(() =>
        store.endpoints.isActive(tenantId, endpointId)
          ? 0
          : holding.park(tenantId, endpointId, SLICE),
      )
    } catch (error) {
      log.warn('not all deliveries are held yet', { endpointId, error: String(error) })
    }
  }

  /** Cancels what is held for an endpoint. */
  const discardHeld = (tenantId: string, endpointId: string): Promise<void> =>
    untilNoneIsLeft(() => discardSlice(tenantId, endpointId))

  /** The few that came since, inside the commit that lets the endpoint take deliveries again. */
  function discardRest(tenantId: string, endpointId: string) {
    holding.cancelAfterwards(tenantId, endpointId)
    while (discardSlice(tenantId, endpointId) > 0);
  }

  const discardSlice = (tenantId: string, endpointId: string): number =>
    counted(endpointId, holding.cancelHeld(tenantId, endpointId, clock.now(), SLICE))

  /** Cancels whatever has not ended. */
  const cancelAll = (tenantId: string, endpointId: string): Promise<void> =>
    untilNoneIsLeft(() => cancelSlice(tenantId, endpointId, SLICE))

  /** Runs inside a commit; how many it took. */
  function cancelSlice(tenantId: string, endpointId: string, limit: number): number {
    const now = clock.now()
    const open = holding.cancelOpen(tenantId, endpointId, now, limit)
    const held = open < limit ? holding.cancelHeld(tenantId, endpointId, now, limit - open) : 0
    return counted(endpointId, open + held)
  }

  function counted(endpointId: string, cancelled: number): number {
    if (cancelled > 0) hours.add(endpointId, clock.now(), { cancelled })
    return cancelled
  }

  async function untilNoneIsLeft(slice: () => number) {
    while ((await db.commit(slice)) > 0);
  }

  return { parkAll, discardHeld, discardRest, cancelAll, cancelSlice }
}
