import type { Db } from '../../../db/open.ts'
import type { Delivery } from '../../../delivery/index.ts'
import type { Clock } from '../../../platform/clock.ts'
import type { Log } from '../../../platform/log.ts'
import type { Mail } from '../../../platform/mail/index.ts'
import { type RetentionRule, SLICE } from '../../../platform/retention.ts'
import type { Store } from '../store.ts'
import type { IdentityRow } from './store.ts'

/** Events that are kept, because they contain no personal data but the id. */
const KEPT_EVENTS = ['identity.deleted']

export type Erasure = ReturnType<typeof createErasure>

/**
 * Erases what is not deleted with an identity's row: access tokens, mails, and webhook events
 * except the deletion itself. Waits for pending deliveries, but not for those of a paused webhook.
 */
export function createErasure(parts: {
  db: Db
  store: Store
  delivery: Delivery
  mail: Mail
  clock: Clock
  log: Log
}) {
  const { db, store, delivery, mail, clock, log } = parts

  /** Requests the erasure, inside the commit of the deletion. */
  function request({ tenantId, id, email }: IdentityRow) {
    store.erasures.insert({ tenantId, identityId: id, requestedAt: clock.now() })
    store.flows.removeOfAddress(tenantId, email)
    mail.eraseTo(tenantId, email, SLICE)
  }

  /** Erases a first batch immediately; retention continues with the rest. Never rejects. */
  async function begin(tenantId: string, identityId: string): Promise<void> {
    try {
      await db.commitFor(tenantId, () => erase(tenantId, identityId, SLICE))
    } catch (error) {
      log.warn('erasure postponed', { tenantId, error: String(error) })
    }
  }

  /** Erases up to `limit` rows inside a commit and returns their number. */
  function erase(tenantId: string, identityId: string, limit: number): number {
    let left = limit
    left -= store.accessTokens.removeOfSubject(tenantId, identityId, left)
    if (left > 0) left -= mail.eraseAbout(tenantId, identityId, left)
    if (left <= 0) return limit
    const { deleted, isComplete } = delivery.erase(tenantId, identityId, KEPT_EVENTS, left)
    if (isComplete) store.erasures.complete(tenantId, identityId, clock.now())
    return limit - left + deleted
  }

  const rule: RetentionRule = {
    name: 'gate erasures',
    deleteSlice: (_, limit) => {
      let left = limit
      for (const { tenantId, identityId } of store.erasures.open(limit)) {
        left -= erase(tenantId, identityId, left)
        if (left <= 0) return limit
      }
      return limit - left
    },
  }

  return { request, begin, rule }
}
