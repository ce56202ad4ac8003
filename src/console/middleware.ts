import { Elysia } from 'elysia'
import { type Fields, readFields } from '../http/body.ts'
import { requireSameOrigin } from '../http/same-origin.ts'
import { operatorLane, type Turns } from '../http/turns.ts'
import type { Actor } from '../platform/audit/index.ts'
import { forbidden } from '../platform/errors.ts'
import { type CurrentOperator, type Operator, tenantScopeOf } from './operators/current-operator.ts'
import { may, type Right } from './operators/rights.ts'
import type { ScopeChecks } from './scope.ts'

/** An authorized request to a page of a tenant. */
export type TenantContext = {
  operator: Operator
  tenant: ReturnType<typeof tenantScopeOf>
  actor: Actor
}
export type OperatorContext = { operator: Operator; actor: Actor }

export type ConsoleMiddleware = ReturnType<typeof createConsoleMiddleware>

/**
 * Builds the console's routes, which check access to a page and its forms. `right` opens a page to
 * operators with that right in the tenant they act in, `instance` to operators who act for the
 * installation, `operator` to every signed-in operator, and `anonymous` to everyone. A form sent from a
 * page of another site is refused, with or without a session. Access is checked before a form's
 * fields are read.
 *
 * Forms, scripts and streams of a page that was opened in another scope than the session's current
 * one are refused before any handler runs. Routes without a scope skip this check: `anonymous`, and
 * those declared `operator: 'unscoped'`.
 */
export function createConsoleMiddleware(parts: {
  currentOperator: CurrentOperator
  scopeChecks: ScopeChecks
  baseUrl: () => string
  addressOf: (request: Request) => string | undefined
  turns: Turns
  maxBody: number
}) {
  const { currentOperator, scopeChecks, baseUrl, addressOf, turns, maxBody } = parts

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

  /** The result of `admit`, for a request whose page is not outdated. */
  function scoped<V>(
    { request, body }: { request: Request; body: unknown },
    context: OperatorContext,
    admit: (context: OperatorContext) => V,
  ): V {
    // Before rights are checked, because the operator might lack them only in the current scope.
    scopeChecks.refuseOther(request, context.operator, body)
    const admitted = admit(context)
    scopeChecks.requireNamed(request, context.operator, body)
    return admitted
  }

  function tenantContextOf(context: OperatorContext, right: Right): TenantContext {
    const tenant = tenantScopeOf(context.operator)
    if (!may(tenant.role, right)) throw forbidden(NEEDS[right])
    return { ...context, tenant }
  }

  /** Throws `forbidden` for operators who are not admins, in every scope. */
  function requireAdmin(context: OperatorContext): OperatorContext {
    if (!context.operator.isAdmin) throw forbidden('this is for admins of the installation')
    return context
  }

  function instanceContextOf(context: OperatorContext): OperatorContext {
    if (context.operator.scope?.kind !== 'instance')
      throw forbidden('switch to the installation to open its pages')
    return context
  }

  const fields = (request: Request, check: () => unknown): Promise<Fields> | undefined => {
    check()
    return request.method === 'POST' ? readFields(request, maxBody) : undefined
  }

  return new Elysia({ name: 'console middleware' })
    .macro('right', (right: Right) => ({
      parse: ({ request }) => fields(request, () => operatorOf(request)),
      resolve: async ({ request, body }) =>
        scoped({ request, body }, await inTurn(request), (context) =>
          tenantContextOf(context, right),
        ),
    }))
    .macro('instance', (_: true) => ({
      parse: ({ request }) => fields(request, () => requireAdmin(operatorOf(request))),
      resolve: async ({ request, body }) =>
        scoped({ request, body }, requireAdmin(await inTurn(request)), instanceContextOf),
    }))
    .macro('operator', (scope: true | 'unscoped') => ({
      parse: ({ request }) => fields(request, () => operatorOf(request)),
      resolve: async ({ request, body }) => {
        const context = await inTurn(request)
        return scope === 'unscoped' ? context : scoped({ request, body }, context, (same) => same)
      },
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
  rename: 'only owners can rename a tenant',
}
