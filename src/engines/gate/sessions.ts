import type { Db } from '../../db/open.ts'
import type { Audit } from '../../platform/audit/index.ts'
import type { Caller } from '../../platform/caller.ts'
import { type Clock, isoTime } from '../../platform/clock.ts'
import { isMinted, mintSecret, sha256 } from '../../platform/crypto.ts'
import { fail, forbidden, notFound, unauthenticated } from '../../platform/errors.ts'
import { newId } from '../../platform/ids.ts'
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

/** Methods of those who have shown that they read the mails of the person. */
const BY_MAILBOX: ReadonlySet<AuthenticationMethod['method']> = new Set(['code', 'code_recovery'])

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
  /** Whether one factor is not enough for somebody. */
  owesSecondFactor: (person: { tenantId: string; id: string }) => boolean
  lifetimeMs: number
}) {
  const { db, clock, audit, store, people, schemaUrl, owesSecondFactor, lifetimeMs } = parts

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
      methods: JSON.stringify(signIn.methods.map((method) => completed(method, now))),
      authenticatedAt: now,
      issuedAt: now,
      expiresAt: now + lifetimeMs,
      ipAddress: signIn.ipAddress,
      userAgent: signIn.userAgent,
    })
    store.sessions.removeBeyond(identity.tenantId, identity.id, SESSIONS_KEPT)
    return { token, session: present(store.sessions.byToken(hash) as SessionWithIdentity) }
  }

  /**
   * One more proof of who somebody is, within a commit: of a second factor, or of the first one
   * anew. Sign-ins of long ago count as recent from then on.
   */
  function strengthen(
    row: SessionWithIdentity,
    method: Omit<AuthenticationMethod, 'completed_at'>,
  ): SessionDetail {
    const now = clock.now()
    const before: AuthenticationMethod[] = JSON.parse(row.methods)
    const methods = [
      ...before.filter((one) => one.method !== method.method),
      completed(method, now),
    ]
    store.sessions.setProof(row.tenant_id, row.id, {
      assuranceLevel: methods.some(({ aal }) => aal === 'aal2') ? 'aal2' : 'aal1',
      methods: JSON.stringify(methods),
      authenticatedAt: now,
    })
    return present(store.sessions.byId(row.tenant_id, row.id) as SessionWithIdentity)
  }

  /** A token of its own for whoever was handed the session; the one before dies. */
  function reissue(tenantId: string, id: string): string {
    const token = PREFIX + mintSecret()
    store.sessions.setToken(tenantId, id, sha256(token))
    return token
  }

  /** The session behind a token that is complete; with a `caller`, one of that tenant alone. */
  function whoami(token: string | undefined, caller: Caller | undefined): SessionDetail {
    const row = authenticated(token, caller?.tenantId)
    if (owes(row))
      throw forbidden('the session needs a second factor', {
        code: 'session_aal2_required',
        detail: { id: 'session_aal2_required' },
      })
    return present(row)
  }

  /** The session behind a token, even if it owes a second factor. */
  function authenticated(token: string | undefined, tenantId?: string): SessionWithIdentity {
    if (token === undefined)
      throw unauthenticated('missing session token: send it as X-Session-Token')
    return (
      ofToken(token, tenantId) ??
      fail(unauthenticated('the session token is invalid, or its session has ended'))
    )
  }

  /** The same; undefined for a token that is not good. */
  function ofToken(token = '', tenantId?: string): SessionWithIdentity | undefined {
    const row = isWellFormed(token) ? store.sessions.byToken(sha256(token)) : undefined
    const isTheirs = tenantId === undefined || row?.tenant_id === tenantId
    return row && isAlive(row) && isTheirs ? row : undefined
  }

  /** By its id; undefined once it has ended. */
  function alive(tenantId: string, id: string): SessionWithIdentity | undefined {
    const row = store.sessions.byId(tenantId, id)
    return row && isAlive(row) ? row : undefined
  }

  /** Whether it began with a code from a mail. */
  function isByMailbox(tenantId: string, id: string): boolean {
    const methods: AuthenticationMethod[] = JSON.parse(alive(tenantId, id)?.methods ?? '[]')
    return methods.some(({ method }) => BY_MAILBOX.has(method))
  }

  const owes = (row: SessionWithIdentity): boolean =>
    row.assurance_level === 'aal1' &&
    owesSecondFactor({ tenantId: row.tenant_id, id: row.identity_id })

  const endAll = (person: IdentityRow): IdentityRow => endSessions(store, person)

  /** All but one. */
  function endOthers(person: IdentityRow, keptId: string): IdentityRow {
    const next = endAll(person)
    store.sessions.setGeneration(person.tenantId, keptId, next.sessionGeneration)
    return next
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
    db.commitFor(caller.tenantId, () => {
      const row = people.existing(caller.tenantId, identityId)
      endAll(row)
      record(caller, 'sessions.revoked', `identity:${identityId}`)
    })

  /** Idempotent while the session is remembered. */
  const revoke = (caller: Caller, id: string): Promise<void> =>
    db.commitFor(caller.tenantId, () => {
      const session = store.sessions.find(id) ?? fail(notFound('session not found'))
      if (session.tenantId !== caller.tenantId)
        throw forbidden('the session belongs to another tenant')
      if (session.revokedAt !== null) return
      store.sessions.revoke(caller.tenantId, id, clock.now())
      record(caller, 'session.revoked', `session:${id}`)
    })

  const record = (caller: Caller, action: string, object: string) =>
    audit.record({ tenantId: caller.tenantId, actor: caller.actor, action, object })

  return {
    open,
    strengthen,
    reissue,
    whoami,
    authenticated,
    ofToken,
    alive,
    isByMailbox,
    owes,
    present,
    endAll,
    endOthers,
    list,
    revokeAll,
    revoke,
  }
}

/** All sessions of a person, within a commit; returns the person as they are then. */
export function endSessions({ identities }: Store, person: IdentityRow): IdentityRow {
  const next = { ...person, sessionGeneration: person.sessionGeneration + 1 }
  identities.update(next)
  return next
}

const completed = (
  method: Omit<AuthenticationMethod, 'completed_at'>,
  now: number,
): AuthenticationMethod => ({ ...method, completed_at: isoTime(now) })

const isWellFormed = (token: string): boolean =>
  token.startsWith(PREFIX) && isMinted(token.slice(PREFIX.length))
