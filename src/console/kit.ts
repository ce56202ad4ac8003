import { Elysia } from 'elysia'
import { type Fields, readFields } from '../http/body.ts'
import { requireSameOrigin } from '../http/same-origin.ts'
import type { Actor } from '../platform/audit/index.ts'
import { forbidden } from '../platform/errors.ts'
import { may, type Right } from './operators/rights.ts'
import { tenantPlaceOf, type Visitor, type Visitors } from './operators/visitors.ts'
import type { Scopes } from './scope.ts'

/** What a page of a tenant asks of whoever opens it. */
export type TenantVisit = {
  visitor: Visitor
  tenant: ReturnType<typeof tenantPlaceOf>
  actor: Actor
}
export type OperatorVisit = { visitor: Visitor; actor: Actor }

export type ConsoleKit = ReturnType<typeof createConsoleKit>

/**
 * Who may see a page, and send its forms. With `right` a page is that of the tenant in which the
 * visitor acts, with `instance` that of the installation, with `operator` anybody's who is signed in,
 * and with `stranger` everybody's. A form from a page of another site is refused, whoever's the
 * cookie is; who somebody is comes before what they have sent.
 *
 * Forms and scripts of a page that was opened for another tenant or environment than the session acts
 * in now are refused, before any handler. Routes that act on neither do without: `instance`, where the
 * session acts makes no difference; `stranger`; and, by its own declaration, `operator: 'unscoped'`.
 * `stream` is `right` for streams, which tell their page themselves that it is outdated.
 */
export function createConsoleKit(parts: {
  visitors: Visitors
  scopes: Scopes
  baseUrl: () => string
  addressOf: (request: Request) => string | undefined
  maxBody: number
}) {
  const { visitors, scopes, baseUrl, addressOf, maxBody } = parts

  function operatorOf(request: Request): OperatorVisit {
    const visitor = visitors.of(request)
    requireSameOrigin(request, baseUrl())
    const source = addressOf(request)
    return {
      visitor,
      actor: { kind: 'operator', id: visitor.id, ...(source !== undefined && { source }) },
    }
  }

  /** What `admit` makes of whoever sends a page, or a form, that is not outdated. */
  function scoped<V>(request: Request, body: unknown, admit: (visit: OperatorVisit) => V): V {
    const visit = operatorOf(request)
    // Before their rights, which they may lack only where they are now.
    scopes.refuseOther(request, visit.visitor, body)
    const admitted = admit(visit)
    scopes.requireNamed(request, visit.visitor, body)
    return admitted
  }

  function tenantVisitOf(visit: OperatorVisit, right: Right): TenantVisit {
    const tenant = tenantPlaceOf(visit.visitor)
    if (!may(tenant.role, right)) throw forbidden(NEEDS[right])
    return { ...visit, tenant }
  }

  /** Its pages act on no tenant: they are an admin's in any tab, wherever the session acts. */
  function instanceVisitOf(request: Request): OperatorVisit {
    const { visitor, actor } = operatorOf(request)
    if (!visitor.isAdmin) throw forbidden('this is for admins of the installation')
    return { visitor: { ...visitor, place: { kind: 'instance' } }, actor }
  }

  const fields = (request: Request, check: () => unknown): Promise<Fields> | undefined => {
    check()
    return request.method === 'POST' ? readFields(request, maxBody) : undefined
  }

  return new Elysia({ name: 'console kit' })
    .macro('right', (right: Right) => ({
      parse: ({ request }) => fields(request, () => operatorOf(request)),
      resolve: ({ request, body }) => scoped(request, body, (visit) => tenantVisitOf(visit, right)),
    }))
    .macro('stream', (right: Right) => ({
      resolve: ({ request }) => tenantVisitOf(operatorOf(request), right),
    }))
    .macro('instance', (_: true) => ({
      parse: ({ request }) => fields(request, () => instanceVisitOf(request)),
      resolve: ({ request }) => instanceVisitOf(request),
    }))
    .macro('operator', (scope: true | 'unscoped') => ({
      parse: ({ request }) => fields(request, () => operatorOf(request)),
      resolve: ({ request, body }) =>
        scope === 'unscoped' ? operatorOf(request) : scoped(request, body, (visit) => visit),
    }))
    .macro('stranger', (_: true) => ({
      parse: ({ request }) => fields(request, () => requireSameOrigin(request, baseUrl())),
    }))
}

/** What somebody lacks, in words that say who has it. */
const NEEDS: Record<Right, string> = {
  read: 'you have no part in this tenant',
  change: 'viewers may look and change nothing; ask an owner for more',
  delete: 'only owners may delete',
  keys: 'only owners see and make keys',
  team: 'only owners decide who belongs to the team',
  billing: 'only owners see to plans and bills',
}
