import type { Db } from '../../db/open.ts'
import { type Audit, actorOf } from '../../platform/audit.ts'
import { type Clock, isoTime } from '../../platform/clock.ts'
import { isMinted, mintSecret, sha256 } from '../../platform/crypto.ts'
import { fail, forbidden, notFound, unauthenticated } from '../../platform/errors.ts'
import { newId } from '../../platform/ids.ts'
import type { Caller } from '../../platform/keys.ts'
import { SESSIONS_KEPT } from './limits.ts'
import type {
  AssuranceLevel,
  AuthenticationMethod,
  Session,
  SessionDetail,
} from './model/sessions.ts'
import type { People } from './people.ts'
import { presentIdentity, presentSession, takeApart } from './present.ts'
import type { IdentityRow } from './store/identities.ts'
import type { Store } from './store/index.ts'
import type { SessionWithIdentity } from './store/sessions.ts'

const PREFIX = 'gat_st_'

/** How somebody has just signed in, and with what device. */
interface SignIn {
  assuranceLevel: AssuranceLevel
  methods: Omit<AuthenticationMethod, 'completed_at'>[]
  ipAddress: string | null
  userAgent: string | null
}

export type Sessions = ReturnType<typeof createSessions>

/** Sign-ins that last: contract/gate. A session is known by its token, of which the hash is kept. */
export function createSessions(parts: {
  db: Db
  clock: Clock
  audit: Audit
  store: Store
  people: People
  schemaUrl: (schemaId: string) => string
  lifetimeMs: number
}) {
  const { db, clock, audit, store, people, schemaUrl, lifetimeMs } = parts

  /**
   * Begins a session, inside the commit in which `identity` was read. The token is shown this
   * once. Of more sessions than a person may have, the oldest ends.
   */
  function open(identity: IdentityRow, signIn: SignIn): { token: string; session: SessionDetail } {
    const now = clock.now()
    const token = PREFIX + mintSecret()
    const hash = sha256(token)
    store.sessions.insert({
      id: newId(),
      tenantId: identity.tenantId,
      identityId: identity.id,
      tokenHash: hash,
      generation: identity.sessionGeneration,
      assuranceLevel: signIn.assuranceLevel,
      methods: JSON.stringify(
        signIn.methods.map((method) => ({ ...method, completed_at: isoTime(now) })),
      ),
      authenticatedAt: now,
      issuedAt: now,
      expiresAt: now + lifetimeMs,
      ipAddress: signIn.ipAddress,
      userAgent: signIn.userAgent,
    })
    store.sessions.removeBeyond(identity.tenantId, identity.id, SESSIONS_KEPT)
    return { token, session: present(store.sessions.byToken(hash) as SessionWithIdentity) }
  }

  /** The session behind a token; with a `caller`, one of that tenant alone. */
  function whoami(token: string | undefined, caller: Caller | undefined): SessionDetail {
    if (token === undefined)
      throw unauthenticated('missing session token: send it as X-Session-Token')
    const row = isWellFormed(token) ? store.sessions.byToken(sha256(token)) : undefined
    const isTheirs = caller === undefined || row?.tenant_id === caller.tenantId
    if (!row || !isTheirs || !isAlive(row))
      throw unauthenticated('the session token is not valid, or its session has ended')
    return present(row)
  }

  const isAlive = (row: SessionWithIdentity): boolean =>
    row.revoked_at === null &&
    row.state === 'active' &&
    row.generation === row.session_generation &&
    clock.now() < row.expires_at

  function present(row: SessionWithIdentity): SessionDetail {
    const { session, identity, address } = takeApart(row)
    return { ...presentSession(session), identity: presentIdentity(identity, address, schemaUrl) }
  }

  /** Those that are alive, newest first. */
  function list({ tenantId }: Caller, identityId: string): Session[] {
    const { state, sessionGeneration: generation } = people.existing(tenantId, identityId)
    if (state === 'inactive') return []
    const of = { generation, now: clock.now(), limit: SESSIONS_KEPT }
    return store.sessions.live(tenantId, identityId, of).map(presentSession)
  }

  const revokeAll = (caller: Caller, identityId: string): Promise<void> =>
    db.commit(() => {
      const row = people.existing(caller.tenantId, identityId)
      const next = { ...row, sessionGeneration: row.sessionGeneration + 1 }
      store.identities.update(next)
      record(caller, 'sessions.revoked', `identity:${identityId}`)
    })

  /** Idempotent while the session is remembered. */
  const revoke = (caller: Caller, id: string): Promise<void> =>
    db.commit(() => {
      const session = store.sessions.find(id) ?? fail(notFound('session not found'))
      if (session.tenantId !== caller.tenantId)
        throw forbidden('the session belongs to another tenant')
      if (session.revokedAt !== null) return
      store.sessions.revoke(caller.tenantId, id, clock.now())
      record(caller, 'session.revoked', `session:${id}`)
    })

  const record = (caller: Caller, action: string, object: string) =>
    audit.record({ tenantId: caller.tenantId, actor: actorOf(caller), action, object })

  return { open, whoami, list, revokeAll, revoke }
}

const isWellFormed = (token: string): boolean =>
  token.startsWith(PREFIX) && isMinted(token.slice(PREFIX.length))
