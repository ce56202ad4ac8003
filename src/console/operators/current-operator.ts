import type { GateOperators } from '../../engines/gate/operators/index.ts'
import { AppError, fail, forbidden, notFound, unauthenticated } from '../../platform/errors.ts'
import { defaultScopeOf } from './default-scope.ts'
import type { Role } from './rights.ts'
import { SESSION_COOKIE, type SessionCookie, type SessionRate } from './session-cookie.ts'
import type { OperatorStore } from './store/index.ts'
import type { MembershipRow } from './store/memberships.ts'

/** The tenant that an operator selected last, or the installation. */
export type Scope = TenantScope | { kind: 'instance' }

/** A tenant, and the role of the operator in it. */
export type TenantScope = { kind: 'tenant'; tenantId: string; name: string; role: Role }

/** An operator at the console. */
export interface Operator {
  id: string
  email: string
  displayName: string
  sessionId: string
  isAdmin: boolean
  memberships: MembershipRow[]
  /** Undefined without access to any tenant. */
  scope: Scope | undefined
}

export type CurrentOperator = ReturnType<typeof createCurrentOperator>

/** Resolves the operator of a request from its session cookie. */
export function createCurrentOperator(parts: {
  sessions: Pick<GateOperators['sessions'], 'authenticated' | 'owes'>
  store: OperatorStore
  rate: SessionRate
  cookie: SessionCookie
}) {
  const { sessions, store, rate, cookie } = parts

  /** Throws `unauthenticated` (no session, or a second factor is owed) or `rate_limited`. */
  function of(request: Request, tokenIn = cookie.tokenIn): Operator {
    const token = tokenIn(request)
    if (token === undefined)
      throw unauthenticated(`missing session: sign in to the console, which sets ${SESSION_COOKIE}`)
    const row = sessions.authenticated(token)
    rate(request, row.id)
    if (sessions.owes(row)) throw unauthenticated('the session requires two-factor authentication')
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
      scope: scopeOf(row.id, isAdmin, memberships),
    }
  }

  /** The operator of a request, or undefined; for pages that need no session. */
  function ifAny(request: Request): Operator | undefined {
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
  function scopeOf(
    sessionId: string,
    isAdmin: boolean,
    memberships: MembershipRow[],
  ): Scope | undefined {
    const chosen = store.scope(sessionId)
    const tenantId = chosen ? chosen.tenantId : defaultScopeOf(memberships, isAdmin)
    if (tenantId === undefined) return undefined
    if (tenantId === null) return isAdmin ? { kind: 'instance' } : undefined
    return membershipIn(memberships, tenantId)
  }

  return { of, ifAny }
}

function membershipIn(memberships: MembershipRow[], tenantId: string): TenantScope | undefined {
  const membership = memberships.find((one) => one.tenantId === tenantId)
  if (!membership) return undefined
  return { kind: 'tenant', tenantId, name: membership.tenantName, role: membership.role }
}

/** A tenant that an operator is a member of. Throws `not_found` for all others, as if they did not exist. */
export const tenantScopeIn = ({ memberships }: Operator, tenantId: string): TenantScope =>
  membershipIn(memberships, tenantId) ??
  fail(notFound("this tenant doesn't exist, or you're not a member of it"))

/** Selected tenant of an operator. Throws `forbidden` for the installation and without a tenant. */
export function tenantScopeOf({ scope }: Operator): TenantScope {
  if (scope?.kind === 'tenant') return scope
  throw forbidden(
    scope
      ? 'switch to a tenant first; this session acts for the installation'
      : "you don't have access to the selected tenant; select another one",
  )
}
