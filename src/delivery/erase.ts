import type { Clock } from '../platform/clock.ts'
import { deleteMessages } from './retention.ts'
import type { Store } from './store/index.ts'

/** The result of one slice of an erasure. */
interface Erased {
  /** Deleted rows; equals the limit if there is more to delete. */
  deleted: number
  /** False while messages remain, beyond this slice or with open deliveries. */
  isComplete: boolean
}

/** Creates the function that deletes the messages about a person whose data is erased. */
export function createErase({ store, clock }: { store: Store; clock: Clock }) {
  /**
   * Inside a commit, deletes messages about `about` with deliveries, even those held for an
   * inactive endpoint for weeks. Keeps `keptTypes` and messages with an attempt in progress.
   */
  return (tenantId: string, about: string, keptTypes: readonly string[], limit: number): Erased => {
    const resting = store.messages.restingAbout(tenantId, about, keptTypes, limit)
    const deleted = deleteMessages(store, resting, clock.now(), limit)
    return { deleted, isComplete: !store.messages.isAnyAbout(tenantId, about, keptTypes) }
  }
}
