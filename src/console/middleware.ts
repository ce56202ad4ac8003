import { Elysia } from 'elysia'
import { type Fields, readFields } from '../http/body.ts'
import { requireSameOrigin } from '../http/same-origin.ts'
import { operatorLane, type Turns } from '../http/turns.ts'
import { isUpload, readUpload } from '../http/upload.ts'
import type { Actor } from '../platform/audit/index.ts'
import { forbidden } from '../platform/errors.ts'
import {
  type CurrentOperator,
  type Operator,
  type TenantScope,
  tenantScopeIn,
} from './operators/current-operator.ts'
import { may, type Right } from './operators/rights.ts'

/** An authorized request to a page of a tenant. */
export type TenantContext = { operator: Operator; tenant: TenantScope; actor: Actor }
export type OperatorContext = { operator: Operator; actor: Actor }

export type ConsoleMiddleware = ReturnType<typeof createConsoleMiddleware>

/**
 * Builds the console's routes, which check access to a page and its forms. `right` opens a page to
 * operators with that right in the tenant of its address, `admin` to admins of the installation,
 * `operator` to every signed-in operator, and `anonymous` to everyone. A form sent from a page of
 * another site is refused, with or without a session. Access is checked before a form's fields are
 * read, and again after them.
 */
export function createConsoleMiddleware(parts: {
  currentOperator: CurrentOperator
  baseUrl: () => string
  addressOf: (request: Request) => string | undefined
  turns: Turns
  maxBody: number
}) {
  const { currentOperator, baseUrl, addressOf, turns, maxBody } = parts

  function operatorOf(request: Request): OperatorContext {
    const operator = currentOperator.of(request)
    requireSameOrigin(request, baseUrl())
    const source = addressOf(request)
    return {
      operator,
      actor: { kind: 'operator', id: operator.id, ...(source !== undefined && { source }) },
    }
  }

  /** The operator of a request, once it is their turn. Each operator has a lane of their own. */
  async function inTurn(request: Request): Promise<OperatorContext> {
    const context = operatorOf(request)
    const turn = turns.take(operatorLane(context.operator.id))
    if (!turn) return context
    await turn
    return operatorOf(request)
  }

  /** Throws `not_found` for a tenant that the operator is not a member of, and `forbidden` without the right. */
  function tenantContextOf(
    context: OperatorContext,
    { tenant: tenantId = '' }: Record<string, string>,
    right: Right,
  ): TenantContext {
    const tenant = tenantScopeIn(context.operator, tenantId)
    if (!may(tenant.role, right)) throw forbidden(NEEDS[right])
    return { ...context, tenant }
  }

  function requireAdmin(context: OperatorContext): OperatorContext {
    if (!context.operator.isAdmin) throw forbidden('this is for admins of the installation')
    return context
  }

  const fields = (request: Request, check: () => unknown): Promise<Fields> | undefined => {
    check()
    if (request.method !== 'POST') return undefined
    return isUpload(request) ? readUpload(request, maxBody) : readFields(request, maxBody)
  }

  return new Elysia({ name: 'console middleware' })
    .macro('right', (right: Right) => ({
      parse: ({ request, params }) =>
        fields(request, () => tenantContextOf(operatorOf(request), params, right)),
      resolve: async ({ request, params }) => tenantContextOf(await inTurn(request), params, right),
    }))
    .macro('admin', (_: true) => ({
      parse: ({ request }) => fields(request, () => requireAdmin(operatorOf(request))),
      resolve: async ({ request }) => requireAdmin(await inTurn(request)),
    }))
    .macro('operator', (_: true) => ({
      parse: ({ request }) => fields(request, () => operatorOf(request)),
      resolve: ({ request }) => inTurn(request),
    }))
    .macro('anonymous', (_: true) => ({
      parse: ({ request }) => fields(request, () => requireSameOrigin(request, baseUrl())),
    }))
}

/** Error texts for missing rights. */
const NEEDS: Record<Right, string> = {
  read: "you don't have access to this tenant",
  change: "viewers can't make changes; ask an owner for a higher role",
  delete: 'only owners can delete',
  keys: 'only owners can manage API keys',
  team: 'only owners can manage the team',
  billing: 'only owners can manage plans and billing',
  settings: "only owners can change a tenant's settings",
}
