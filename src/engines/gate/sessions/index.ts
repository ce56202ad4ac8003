import type { Db } from '../../../db/open.ts'
import type { Audit } from '../../../platform/audit/index.ts'
import type { Caller } from '../../../platform/caller.ts'
import { type Clock, isoTime } from '../../../platform/clock.ts'
import { isMinted, mintSecret, sha256 } from '../../../platform/crypto.ts'
import { MINUTE_MS } from '../../../platform/durations.ts'
import { fail, forbidden, notFound, unauthenticated } from '../../../platform/errors.ts'
import { newId } from '../../../platform/ids.ts'
import type { AddressRow } from '../identities/addresses-store.ts'
import type { People } from '../identities/people.ts'
import {
  type PresentableIdentity,
  type PresentableSession,
  presentIdentity,
  presentSession,
  takeApart,
} from '../identities/present.ts'
import type { IdentityRow } from '../identities/store.ts'
import { SESSIONS_KEPT } from '../limits.ts'
import type { Rules } from '../settings/rules.ts'
import type { Store } from '../store.ts'
import type { AssuranceLevel, AuthenticationMethod, Session, SessionDetail } from './model.ts'
import type { SessionWithIdentity } from './store.ts'

const PREFIX = 'gat_st_'

/** Precision of the last use, and less than the shortest idle timeout. */
const USE_PRECISION_MS = MINUTE_MS

/** Methods that prove control of the mailbox. */
const BY_MAILBOX: ReadonlySet<AuthenticationMethod['method']> = new Set(['code', 'code_recovery'])

/** How and on what device the user signed in. */
interface SignIn {
  assuranceLevel: AssuranceLevel
  methods: Omit<AuthenticationMethod, 'completed_at'>[]
  ipAddress: string | null
  userAgent: string | null
}

export type Sessions = ReturnType<typeof createSessions>

/** Sessions: contract/gate. Sessions are looked up by the hash of their token; the token itself is not stored. */
export function createSessions(parts: {
  db: Db
  clock: Clock
  audit: Audit
  store: Store
  people: People
  schemaUrl: (schemaId: string) => string
  /** Whether the identity requires a second factor. */
  owesSecondFactor: (person: { tenantId: string; id: string }) => boolean
  rules: Pick<Rules, 'lifetimeMsOf' | 'idleOf'>
}) {
  const { db, clock, audit, store, people, schemaUrl, owesSecondFactor, rules } = parts
  /** Sessions whose last use is being stored. */
  const noting = new Set<string>()

  /**
   * Creates a session, inside the commit in which `identity` was read. The token is returned only
   * once. Beyond the maximum number of sessions, the oldest one ends.
   */
  function open(identity: IdentityRow, signIn: SignIn): { token: string; session: SessionDetail } {
    const now = clock.now()
    const token = PREFIX + mintSecret()
    const row = {
      id: newId(),
      tenantId: identity.tenantId,
      identityId: identity.id,
      tokenHash: sha256(token),
      generation: identity.sessionGeneration,
      assuranceLevel: signIn.assuranceLevel,
      methods: JSON.stringify(signIn.methods.map((method) => completed(method, now))),
      authenticatedAt: now,
      issuedAt: now,
      expiresAt: now + rules.lifetimeMsOf(identity.tenantId),
      ipAddress: signIn.ipAddress,
      userAgent: signIn.userAgent,
    }
    store.sessions.insert(row)
    store.identities.signedIn(identity.tenantId, identity.id, now)
    store.sessions.removeBeyond(identity.tenantId, identity.id, SESSIONS_KEPT)
    const address = store.addresses.of(identity.tenantId, identity.id)
    return { token, session: presentDetail(row, identity, address) }
  }

  /**
   * Adds a proof of identity within a commit: a second factor, or the first one again. The session
   * then counts as recently authenticated.
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
    const proof = {
      assuranceLevel: methods.some(({ aal }) => aal === 'aal2') ? 'aal2' : 'aal1',
      methods: JSON.stringify(methods),
      authenticatedAt: now,
    } as const
    store.sessions.setProof(row.tenant_id, row.id, proof)
    const { session, identity, address } = takeApart(row)
    return presentDetail({ ...session, ...proof }, identity, address)
  }

  /** A new token for the party that receives the session; the previous one becomes invalid. */
  function reissue(tenantId: string, id: string): string {
    const token = PREFIX + mintSecret()
    store.sessions.setToken(tenantId, id, sha256(token))
    return token
  }

  /** The session of a token that needs no further factor; with `caller`, only of that tenant. */
  function whoami(token: string | undefined, caller: Caller | undefined): SessionDetail {
    const row = authenticated(token, caller?.tenantId)
    if (owes(row))
      throw forbidden('the session requires two-factor authentication', {
        code: 'session_aal2_required',
        detail: { id: 'session_aal2_required' },
      })
    return present(row)
  }

  /** The session of a token, even if a second factor is missing. */
  function authenticated(token: string | undefined, tenantId?: string): SessionWithIdentity {
    if (token === undefined)
      throw unauthenticated('missing session token: send it as X-Session-Token')
    return (
      ofToken(token, tenantId) ??
      fail(unauthenticated('the session token is invalid, or its session has ended'))
    )
  }

  /** The same; undefined if the token is invalid. */
  function ofToken(token = '', tenantId?: string): SessionWithIdentity | undefined {
    const row = isWellFormed(token) ? store.sessions.byToken(sha256(token)) : undefined
    const isTheirs = tenantId === undefined || row?.tenant_id === tenantId
    if (!row || !isAlive(row) || !isTheirs) return undefined
    noteUse(row)
    return row
  }

  /** Stores the last use for an idle timeout, at most once a minute and outside the request. */
  function noteUse(row: SessionWithIdentity) {
    const { id, tenant_id: tenantId } = row
    const now = clock.now()
    if (!rules.idleOf(tenantId) || now - lastUseOf(row) < USE_PRECISION_MS || noting.has(id)) return
    noting.add(id)
    const stored = db.commitFor(tenantId, () => store.sessions.setSeen(tenantId, id, now))
    // A use that isn't stored ends the session earlier, but fails no request.
    stored.catch(() => {}).finally(() => noting.delete(id))
  }

  /** The active session with the id; undefined once it has ended. */
  function alive(tenantId: string, id: string): SessionWithIdentity | undefined {
    const row = store.sessions.byId(tenantId, id)
    return row && isAlive(row) ? row : undefined
  }

  /** Whether the session is not usable before the second factor. */
  const owes = (row: SessionWithIdentity): boolean =>
    isOwedBy({ tenantId: row.tenant_id, id: row.identity_id }, row.assurance_level)

  const isOwedBy = (person: { tenantId: string; id: string }, level: AssuranceLevel): boolean =>
    level === 'aal1' && owesSecondFactor(person)

  const endAll = (person: IdentityRow): IdentityRow => endSessions(store, person)

  /** Ends all sessions of the identity except one. */
  function endOthers(person: IdentityRow, keptId: string): IdentityRow {
    const next = endAll(person)
    store.sessions.setGeneration(person.tenantId, keptId, next.sessionGeneration)
    return next
  }

  const isAlive = (row: SessionWithIdentity): boolean =>
    row.revoked_at === null &&
    row.state === 'active' &&
    row.generation === row.session_generation &&
    clock.now() < row.expires_at &&
    !isIdle(row)

  function isIdle(row: LastUse & { tenant_id: string }): boolean {
    const idle = rules.idleOf(row.tenant_id)
    return (
      idle !== undefined && clock.now() - Math.max(lastUseOf(row), idle.setAt) >= idle.timeoutMs
    )
  }

  function present(row: SessionWithIdentity): SessionDetail {
    const { session, identity, address } = takeApart(row)
    return presentDetail(session, identity, address)
  }

  const presentDetail = (
    session: PresentableSession,
    identity: PresentableIdentity,
    address: AddressRow | undefined,
  ): SessionDetail => ({
    ...presentSession(session),
    identity: presentIdentity(identity, address, schemaUrl),
  })

  /** Active sessions, newest first. */
  function list({ tenantId }: Caller, identityId: string): Session[] {
    const { state, sessionGeneration: generation } = people.existing(tenantId, identityId)
    if (state === 'inactive') return []
    const of = { generation, now: clock.now(), limit: SESSIONS_KEPT }
    return store.sessions
      .live(tenantId, identityId, of)
      .filter(
        ({ lastSeenAt, authenticatedAt }) =>
          !isIdle({
            tenant_id: tenantId,
            last_seen_at: lastSeenAt,
            authenticated_at: authenticatedAt,
          }),
      )
      .map(presentSession)
  }

  const revokeAll = (caller: Caller, identityId: string): Promise<void> =>
    db.commitFor(caller.tenantId, () => {
      const row = people.existing(caller.tenantId, identityId)
      endAll(row)
      record(caller, 'sessions.revoked', `identity:${identityId}`)
    })

  /** Revokes a session. Idempotent until retention deletes its row. */
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
    owes,
    isOwedBy,
    present,
    endAll,
    endOthers,
    list,
    revokeAll,
    revoke,
  }
}

/** Ends all sessions of an identity, within a commit; returns the updated identity. */
export function endSessions({ identities }: Store, person: IdentityRow): IdentityRow {
  const next = { ...person, sessionGeneration: person.sessionGeneration + 1 }
  identities.update(next)
  return next
}

/** Whether the session began with an emailed code. */
export const isByMailbox = ({ methods }: SessionWithIdentity): boolean =>
  (JSON.parse(methods) as AuthenticationMethod[]).some(({ method }) => BY_MAILBOX.has(method))

type LastUse = Pick<SessionWithIdentity, 'last_seen_at' | 'authenticated_at'>

const lastUseOf = ({ last_seen_at: seen, authenticated_at: begun }: LastUse): number =>
  Math.max(seen ?? 0, begun)

const completed = (
  method: Omit<AuthenticationMethod, 'completed_at'>,
  now: number,
): AuthenticationMethod => ({ ...method, completed_at: isoTime(now) })

const isWellFormed = (token: string): boolean =>
  token.startsWith(PREFIX) && isMinted(token.slice(PREFIX.length))
