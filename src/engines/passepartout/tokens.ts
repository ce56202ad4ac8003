import type { Db } from '../../db/open.ts'
import type { Introspection } from '../../http/introspection.ts'
import type { Audit } from '../../platform/audit/index.ts'
import type { Caller } from '../../platform/caller.ts'
import { type Clock, isoTime } from '../../platform/clock.ts'
import { isMinted, mintSecret, sha256 } from '../../platform/crypto.ts'
import { type Owner, ownerOf } from './owner.ts'
import type { Store } from './store/index.ts'

const TOKEN = /^ppt_(?:live|test)_([0-9A-Za-z]+)$/
const SCOPES = ['passepartout']

export type Tokens = ReturnType<typeof createTokens>

/** Access tokens of users: contract/passepartout-relay, introspection. */
export function createTokens(parts: {
  db: Db
  clock: Clock
  audit: Audit
  store: Store
  lifetimeMs: number
}) {
  const { db, clock, audit, store, lifetimeMs } = parts

  /** Issues a token, inside the commit of the sign-in. */
  function issue(owner: Owner, personId: string): string {
    const token = `ppt_${owner.environment}_${mintSecret()}`
    const now = clock.now()
    store.tokens.insert({
      ...owner,
      hash: sha256(token),
      personId,
      issuedAt: now,
      expiresAt: now + lifetimeMs,
    })
    return token
  }

  /** Does not reveal why a token is inactive, or whether it ever existed. */
  function introspect(caller: Caller, token: string): Introspection {
    const row = isToken(token) ? store.tokens.find(ownerOf(caller), sha256(token)) : undefined
    if (!row || clock.now() >= row.expires_at) return { active: false }
    return {
      active: true,
      subject: row.person_id,
      tenant_id: caller.tenantId,
      scopes: SCOPES,
      expires_at: isoTime(row.expires_at),
    }
  }

  /** Revokes a token (RFC 7009). The result does not reveal whether it existed. */
  async function revoke(caller: Caller, token: string): Promise<void> {
    if (!isToken(token)) return
    await db.commitFor(caller.tenantId, () => {
      const subject = store.tokens.revoke(ownerOf(caller), sha256(token), clock.now())
      if (subject === undefined) return
      audit.record({
        tenantId: caller.tenantId,
        actor: caller.actor,
        action: 'login_token.revoked',
        object: `passepartout:user:${subject}`,
      })
    })
  }

  return { issue, introspect, revoke }
}

/** Rejects malformed tokens without a lookup. */
function isToken(text: string): boolean {
  const secret = TOKEN.exec(text)?.[1]
  return secret !== undefined && isMinted(secret)
}
