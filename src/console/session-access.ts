import { requireSameOrigin } from '../http/same-origin.ts'
import { type Admitted, createScoped, type Demand, type StartAging } from '../http/scoped.ts'
import type { Turns } from '../http/turns.ts'
import type { Caller } from '../platform/caller.ts'
import type { Engine } from '../platform/engines.ts'
import { conflict, forbidden } from '../platform/errors.ts'
import type { Tenants } from '../platform/tenants.ts'
import { type CurrentOperator, tenantScopeOf } from './operators/current-operator.ts'
import { may } from './operators/rights.ts'
import { createSessionCookie } from './operators/session-cookie.ts'

/** Names the tenant that a program means: its session acts where its operator last switched to. */
const TENANT_HEADER = 'gatehouse-tenant'

function requireMeant({ headers }: Request, tenantId: string) {
  const meant = headers.get(TENANT_HEADER)
  if (meant !== null && meant !== tenantId)
    throw conflict('must name the tenant that the session acts in. Nothing was changed', {
      field: 'Gatehouse-Tenant',
      rule: 'mismatch',
    })
}

const SWITCHED =
  'the session switched to another tenant before the whole request was received; nothing was changed'

/**
 * Opens an engine's API to console sessions, unmetered and within the rights of the operator's
 * role. Role, tenant and its limits are read on every request, so changes apply immediately.
 */
export function createSessionAccess(parts: {
  engine: Engine
  currentOperator: CurrentOperator
  tenants: Tenants
  baseUrl: () => string
  addressOf: (request: Request) => string | undefined
  startAging: StartAging
  turns: Turns
  maxBody: number
}) {
  const { engine, currentOperator, tenants, baseUrl, addressOf, startAging, turns, maxBody } = parts
  const admitted = new WeakMap<Request, Admitted<Caller>>()
  const cookie = createSessionCookie(parts)

  function open(request: Request, demand: Demand): Admitted<Caller> {
    const admission = { caller: callerOf(request, demand), bodyText: '' }
    admitted.set(request, admission)
    return admission
  }

  /** Throws `conflict` for a request that would act in another tenant than the one it was let in to. */
  function renew(request: Request, demand: Demand) {
    const caller = callerOf(request, demand)
    const admission = admitted.get(request)
    if (!admission) return
    if (caller.tenantId !== admission.caller.tenantId) throw conflict(SWITCHED)
    admission.caller = caller
  }

  function callerOf(request: Request, { effect }: Demand): Caller {
    const operator = currentOperator.of(request, cookie.dashboardTokenIn)
    requireSameOrigin(request, baseUrl())
    const { tenantId, role } = tenantScopeOf(operator)
    requireMeant(request, tenantId)
    if (!may(role, effect)) throw forbidden(`a ${role} cannot ${effect} anything here`)
    const { status, plan, spend_cap_cents: spendCapCents } = tenants.find(tenantId)
    const source = addressOf(request)
    return {
      tenantId,
      tenantStatus: status,
      plan,
      spendCapCents,
      engine,
      environment: null,
      isReadOnly: !may(role, 'change'),
      actor: { kind: 'operator', id: operator.id, ...(source !== undefined && { source }) },
    }
  }

  return createScoped<Caller>({
    name: `${engine} by session`,
    securityOf: () => [{ session: [] }],
    door: { known: (request) => admitted.get(request), open, renew },
    startAging,
    turns,
    maxBody,
  })
}
