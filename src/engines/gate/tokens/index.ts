import type { Db } from '../../../db/open.ts'
import type { Introspection } from '../../../http/introspection.ts'
import type { Audit } from '../../../platform/audit/index.ts'
import type { KeyCaller } from '../../../platform/caller.ts'
import { type Clock, isoTime } from '../../../platform/clock.ts'
import { isMinted, mintSecret, sha256 } from '../../../platform/crypto.ts'
import type { Environment } from '../../../platform/engines.ts'
import { forbidden, invalid, type Rule } from '../../../platform/errors.ts'
import type { Keys } from '../../../platform/keys/index.ts'
import type { Metering } from '../../../platform/metering/index.ts'
import { checkName } from '../authorization/policy/question.ts'
import type { SubjectOf } from '../authorization/subjects.ts'
import { USUAL_TTL } from '../limits.ts'
import type { Store } from '../store.ts'
import type { TokenGenerations } from './generations.ts'
import type { AccessToken, TokenRequest } from './model.ts'
import type { TokenOwner, UnrevokedToken } from './store.ts'

const TOKEN = /^gat_(?:live|test)_at_([0-9A-Za-z]+)$/

export type AccessTokens = ReturnType<typeof createAccessTokens>

/** Issues and verifies short-lived access tokens for API keys: contract/gate, tokens. */
export function createAccessTokens(parts: {
  db: Db
  clock: Clock
  audit: Audit
  store: Store
  subjectOf: SubjectOf
  generations: TokenGenerations
  keys: Pick<Keys, 'isAlive'>
  metering: Metering
}) {
  const { db, clock, audit, store, subjectOf, generations, keys, metering } = parts

  /** `subject` is an identity of the tenant, or a service name that the tenant chose. */
  async function issue(caller: KeyCaller, input: TokenRequest): Promise<AccessToken> {
    checkName(input.subject, 'subject')
    const scopes = narrowed(caller, input.scopes)
    const { subject, ttl_seconds: ttl = USUAL_TTL } = input
    const { tenantId, keyId } = caller
    const environment = environmentOf(caller)
    const token = `gat_${environment}_at_${mintSecret()}`
    return db.commitFor(tenantId, () => {
      const generation = generationOf(tenantId, subject)
      metering.reserve(caller)
      const now = clock.now()
      const expiresAt = now + ttl * 1000
      store.accessTokens.insert({
        tenantId,
        environment,
        hash: sha256(token),
        keyId,
        subject,
        generation,
        scopes: JSON.stringify(scopes),
        issuedAt: now,
        expiresAt,
      })
      return { access_token: token, expires_at: isoTime(expiresAt), subject, tenant_id: tenantId }
    })
  }

  /**
   * The identity's generation; null for a service. Throws unless a token may speak for the
   * identity.
   */
  function generationOf(tenantId: string, name: string): number | null {
    const subject = subjectOf(tenantId, name)
    if (subject.kind === 'service') return null
    if (subject.kind === 'unknown') throw forbidden('the subject is unknown')
    if (subject.person.state === 'inactive') throw forbidden('the subject is an inactive identity')
    return subject.person.tokenGeneration
  }

  /** Malformed or expired tokens throw; those of another tenant or environment are inactive. */
  function introspect(caller: KeyCaller, token: string): Introspection {
    const row = store.accessTokens.find(ownerOf(caller), hashOf(token))
    if (!row || !isGood(caller.tenantId, row)) return { active: false }
    if (clock.now() >= row.expires_at) throw invalidToken('has expired', 'expired')
    return {
      active: true,
      subject: row.subject,
      tenant_id: caller.tenantId,
      scopes: JSON.parse(row.scopes),
      expires_at: isoTime(row.expires_at),
    }
  }

  /** Whether the token's key is still valid and its identity has not been reset since. */
  const isGood = (tenantId: string, { key_id, generation, subject }: UnrevokedToken): boolean =>
    keys.isAlive(key_id) &&
    (generation === null || generation === generations.of(tenantId, subject))

  /** Revokes a token (RFC 7009). The result does not reveal whether the token existed. */
  async function revoke(caller: KeyCaller, token: string): Promise<void> {
    const hash = hashOf(token)
    await db.commitFor(caller.tenantId, () => {
      const subject = store.accessTokens.revoke(ownerOf(caller), hash, clock.now())
      if (subject === undefined) return
      audit.record({
        tenantId: caller.tenantId,
        actor: caller.actor,
        action: 'access_token.revoked',
        object: `subject:${subject}`,
      })
    })
  }

  return { issue, introspect, revoke }
}

/** Gate keys always have an environment. */
const environmentOf = ({ environment }: KeyCaller): Environment => environment as Environment

const ownerOf = (caller: KeyCaller): TokenOwner => ({
  tenantId: caller.tenantId,
  environment: environmentOf(caller),
})

function hashOf(token: string): string {
  const secret = TOKEN.exec(token)?.[1]
  if (secret === undefined || !isMinted(secret))
    throw invalidToken('must be an access token', 'format')
  return sha256(token)
}

const invalidToken = (problem: string, rule: Rule) =>
  invalid(problem, { field: 'access_token', rule, code: 'invalid_token' })

function narrowed({ scopes }: KeyCaller, wanted: string[] | undefined): string[] {
  if (wanted === undefined) return [...scopes]
  const missing = wanted.find((scope) => !scopes.has(scope))
  if (missing !== undefined) throw forbidden(`the key lacks the scope ${missing.slice(0, 100)}`)
  return [...new Set(wanted)]
}
