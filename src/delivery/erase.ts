import type { Clock } from '../platform/clock.ts'
import { deleteMessages } from './retention.ts'
import type { Store } from './store/index.ts'

/** What one slice of an erasure came to. */
interface Erased {
  /** Rows that are gone: the whole limit where there is more to delete at once. */
  deleted: number
  /** False while messages are left, of this slice's rest or with deliveries still to come. */
  isComplete: boolean
}

/** Deletes what was told about somebody who is to be forgotten. */
export function createErase({ store, clock }: { store: Store; clock: Clock }) {
  /**
   * Deletes, inside the caller's commit, messages about `about` with all that became of them,
   * but for the types to keep. One stays while a delivery of it is on its way; what is held for an
   * endpoint that takes nothing may be held for weeks, and goes.
   */
  return (tenantId: string, about: string, keptTypes: readonly string[], limit: number): Erased => {
    const resting = store.messages.restingAbout(tenantId, about, keptTypes, limit)
    const deleted = deleteMessages(store, resting, clock.now(), limit)
    return { deleted, isComplete: !store.messages.isAnyAbout(tenantId, about, keptTypes) }
  }
}
