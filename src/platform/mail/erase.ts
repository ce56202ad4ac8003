import type { Clock } from '../clock.ts'
import type { RecipientHash } from './recipient-hash.ts'
import type { Store } from './store/index.ts'
import { COUNTED_MS } from './throttle.ts'

/**
 * Erases the personal data in mails. A mail that still counts against the limits of its address
 * leaves an anonymous row: otherwise deleting and recreating an identity would allow unlimited
 * mails to an address. Both functions run inside the caller's commit and return the number of
 * mails.
 */
export function createErase(parts: { store: Store; clock: Clock; hashOf: RecipientHash }) {
  const { clock, hashOf } = parts
  const { mails } = parts.store

  function eraseAbout(tenantId: string, about: string, limit: number): number {
    const now = clock.now()
    const removed = mails.removeAbout(tenantId, about, now - COUNTED_MS, limit)
    return removed + mails.blankAbout(tenantId, about, now, limit - removed)
  }

  /** Erases mails sent to an address, which may not be about an identity. */
  const eraseTo = (tenantId: string, recipient: string, limit: number): number =>
    mails.blankTo(hashOf(tenantId, recipient), clock.now(), limit)

  return { eraseAbout, eraseTo }
}
