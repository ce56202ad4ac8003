import type { Clock } from '../clock.ts'
import type { Store } from './store/index.ts'
import { COUNTED_MS } from './throttle.ts'

/**
 * Takes away what mails tell of somebody. A mail that still counts against the address leaves a
 * row that names nobody: else whoever deletes people and makes them anew could write to an address
 * without end.
 */
export function createEraseAbout({ store: { mails }, clock }: { store: Store; clock: Clock }) {
  /** Of up to `limit` mails, inside the caller's commit; says of how many. */
  return function eraseAbout(tenantId: string, about: string, limit: number): number {
    const now = clock.now()
    const removed = mails.removeAbout(tenantId, about, now - COUNTED_MS, limit)
    return removed + mails.blankAbout(tenantId, about, now, limit - removed)
  }
}
