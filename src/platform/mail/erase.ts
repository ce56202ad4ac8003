import type { Clock } from '../clock.ts'
import type { RecipientHash } from './recipient-hash.ts'
import type { Store } from './store/index.ts'
import { COUNTED_MS } from './throttle.ts'

/**
 * Takes away what mails tell of somebody. A mail that still counts against the address leaves a
 * row that names nobody: else whoever deletes people and makes them anew could write to an address
 * without end. Both run inside the caller's commit and say of how many mails they were.
 */
export function createErase(parts: { store: Store; clock: Clock; hashOf: RecipientHash }) {
  const { clock, hashOf } = parts
  const { mails } = parts.store

  function eraseAbout(tenantId: string, about: string, limit: number): number {
    const now = clock.now()
    const removed = mails.removeAbout(tenantId, about, now - COUNTED_MS, limit)
    return removed + mails.blankAbout(tenantId, about, now, limit - removed)
  }

  /** Of mails that were to go to an address, though they may not have been about anybody. */
  const eraseTo = (tenantId: string, recipient: string, limit: number): number =>
    mails.blankTo(hashOf(tenantId, recipient), clock.now(), limit)

  return { eraseAbout, eraseTo }
}
