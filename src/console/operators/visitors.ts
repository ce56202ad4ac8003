import type { Sessions } from '../../engines/gate/sessions/index.ts'
import { AppError, forbidden, unauthenticated } from '../../platform/errors.ts'
import { SYSTEM_TENANT_ID } from '../../platform/system-tenant.ts'
import { SESSION_COOKIE, type SessionCookie } from '../session-cookie.ts'
import { defaultPlaceOf } from './default-place.ts'
import type { Role } from './rights.ts'
import type { SessionRate } from './session-rate.ts'
import type { OperatorStore } from './store/index.ts'
import type { MembershipRow } from './store/memberships.ts'

/** Current tenant of an operator, or the installation. */
export type Place =
  | { kind: 'tenant'; tenantId: string; name: string; role: Role }
  | { kind: 'instance' }

/** An operator at the console. */
export interface Visitor {
  id: string
  email: string
  displayName: string
  sessionId: string
  isAdmin: boolean
  memberships: MembershipRow[]
  /** Undefined without access to any tenant. */
  place: Place | undefined
}

export type Visitors = ReturnType<typeof createVisitors>

/** Resolves the operator of a request from its session cookie. */
export function createVisitors(parts: {
  sessions: Sessions
  store: OperatorStore
  rate: SessionRate
  cookie: SessionCookie
}) {
  const { sessions, store, rate, cookie } = parts

  /**
   * Throws `unauthenticated` without a session, or with one that owes a second factor, and
   * `rate_limited` for one that goes too fast. `tokenIn` finds the session's token.
   */
  function of(request: Request, tokenIn = cookie.tokenIn): Visitor {
    const token = tokenIn(request)
    if (token === undefined)
      throw unauthenticated(`missing session: sign in to the console, which sets ${SESSION_COOKIE}`)
    const row = sessions.authenticated(token, SYSTEM_TENANT_ID)
    rate(request, row.id)
    if (sessions.owes(row)) throw unauthenticated('the session needs a second factor')
    const { display_name: displayName = '' } = JSON.parse(row.traits)
    const isAdmin = store.isAdmin(row.identity_id)
    const memberships = store.membershipsOf(row.identity_id)
    return {
      id: row.identity_id,
      email: row.email,
      displayName,
      sessionId: row.id,
      isAdmin,
      memberships,
      place: placeOf(row.id, isAdmin, memberships),
    }
  }

  /** The operator of a request, or undefined; for pages that need no session. */
  function ifAny(request: Request): Visitor | undefined {
    try {
      return of(request)
    } catch (error) {
      if (error instanceof AppError && error.kind === 'unauthenticated') return undefined
      throw error
    }
  }

  /**
   * The selected tenant, or undefined once the operator has lost access to it: requests of open pages must
   * not change another tenant.
   */
  function placeOf(
    sessionId: string,
    isAdmin: boolean,
    memberships: MembershipRow[],
  ): Place | undefined {
    const chosen = store.place(sessionId)
    const tenantId = chosen ? chosen.tenantId : defaultPlaceOf(memberships, isAdmin)
    if (tenantId === undefined) return undefined
    if (tenantId === null) return isAdmin ? { kind: 'instance' } : undefined
    const membership = memberships.find((one) => one.tenantId === tenantId)
    if (!membership) return undefined
    return { kind: 'tenant', tenantId, name: membership.tenantName, role: membership.role }
  }

  return { of, ifAny }
}

/** Current tenant of an operator. Throws `forbidden` for the installation and without a tenant. */
export function tenantPlaceOf({ place }: Visitor): Extract<Place, { kind: 'tenant' }> {
  if (place?.kind === 'tenant') return place
  throw forbidden(
    place
      ? 'switch to a tenant first; this session acts for the installation'
      : "you don't have access to the selected tenant; select another one",
  )
}
