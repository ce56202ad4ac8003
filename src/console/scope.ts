import { SCOPE_FIELD, SCOPE_HEADER } from '../../views/console/scope.tsx'
import type { Fields } from '../http/body.ts'
import { preferenceIn } from '../http/cookies.ts'
import { isSafe } from '../http/scoped.ts'
import { ENVIRONMENTS, type Environment } from '../platform/engines.ts'
import { conflict } from '../platform/errors.ts'
import type { Operator } from './operators/current-operator.ts'

export const ENVIRONMENT_COOKIE = 'gatehouse_environment'

/** A tenant and an environment, or the installation, which has no environments. */
export type PageScope =
  | { tenantId: string; environment: Environment }
  | { tenantId: null; environment?: undefined }

const INSTALLATION = 'installation'

export type ScopeChecks = ReturnType<typeof createScopeChecks>

/** A rejected request, which names another scope than the session's current one, or none. */
interface Refusal {
  operator: Operator
  /** Scope in the request. */
  named: string | undefined
  /** Fields of the form. */
  fields: Fields
}

/** Scope of a page as text, checked on its requests because another tab can switch scope. */
export const pageScopeOf = ({ scope }: Operator, request: Request): string => {
  if (scope?.kind === 'tenant') return `${scope.tenantId}.${environmentOf(request)}`
  return scope ? INSTALLATION : 'nowhere'
}

/** Parses the result of `pageScopeOf`; undefined for a scope that no session can select. */
export function pageScopeIn(scope: string): PageScope | undefined {
  if (scope === INSTALLATION) return { tenantId: null }
  const [tenantId = '', named] = scope.split('.')
  const environment = ENVIRONMENTS.find((one) => one === named)
  return environment && { tenantId, environment }
}

/** Environment selected in the browser; live by default. */
export const environmentOf = (request: Request): Environment =>
  preferenceIn(request, ENVIRONMENT_COOKIE) === 'test' ? 'test' : 'live'

/** Rejects requests for another scope than the session's current one. */
export function createScopeChecks() {
  const refusals = new WeakMap<Request, Refusal>()

  function refuse(request: Request, refusal: Refusal, message: string): never {
    refusals.set(request, refusal)
    throw conflict(message)
  }

  /** Throws `conflict` for a request that names another scope, even in addition to the current one. */
  function refuseOther(request: Request, operator: Operator, body: unknown) {
    const fields = fieldsOf(body)
    const current = pageScopeOf(operator, request)
    const named = namesIn(request, fields).find((name) => name !== current)
    if (named !== undefined) refuse(request, { operator, named, fields }, OTHER)
  }

  /** Throws `conflict` for a form or htmx request without a scope. Links need none. */
  function requireNamed(request: Request, operator: Operator, body: unknown) {
    const fields = fieldsOf(body)
    if (mustName(request) && namesIn(request, fields).length === 0)
      refuse(request, { operator, named: undefined, fields }, UNNAMED)
  }

  return { refuseOther, requireNamed, refusalOf: (request: Request) => refusals.get(request) }
}

const fieldsOf = (body: unknown): Fields => (body ?? {}) as Fields

/** Every scope that a request names. Values that are not text become an empty scope. */
const namesIn = ({ url, headers }: Request, { [SCOPE_FIELD]: field }: Fields): string[] =>
  [field, headers.get(SCOPE_HEADER), ...new URL(url).searchParams.getAll(SCOPE_FIELD)]
    .filter((name) => name !== undefined && name !== null)
    .map((name) => (typeof name === 'string' ? name : ''))

const mustName = ({ method, headers }: Request): boolean =>
  !isSafe(method) || headers.has('hx-request')

const OTHER =
  'you have switched to another tenant or environment since opening this page. Nothing was changed. Reload the page'
const UNNAMED = `${SCOPE_FIELD}: is required: the tenant and environment of the form. Nothing was changed. Reload the page`
