import type { Fields } from '../http/body.ts'
import { preferenceIn } from '../http/cookies.ts'
import { isSafe } from '../http/scoped.ts'
import { ENVIRONMENTS, type Environment } from '../platform/engines.ts'
import { conflict } from '../platform/errors.ts'
import type { Visitor } from './operators/visitors.ts'

export const ENVIRONMENT_COOKIE = 'gatehouse_environment'

/** Names the scope of a form, or of a link to a download. No form has a field of its own like it. */
export const SCOPE_FIELD = '_scope'
/** The same for requests of scripts, which replace parts of a page. */
export const SCOPE_HEADER = 'gatehouse-scope'

/** A tenant and which of its data, or the installation, which keeps no test data apart. */
export type Scope =
  | { tenantId: string; environment: Environment }
  | { tenantId: null; environment?: undefined }

const INSTALLATION = 'installation'

export type Scopes = ReturnType<typeof createScopes>

/** Why a request was refused: it names another scope than its session acts in, or none. */
interface Refusal {
  visitor: Visitor
  /** As the request names it. */
  named: string | undefined
  /** Of a form. */
  fields: Fields
}

/**
 * What a page acts on, as one word: a tenant and an environment, or the installation. This belongs to
 * the session and the browser, which another tab can switch while the page stays open: so each page
 * says for which scope it was drawn, and the answer to what it sends depends on it.
 */
export const scopeOf = ({ place }: Visitor, request: Request): string => {
  if (place?.kind === 'tenant') return `${place.tenantId}.${environmentOf(request)}`
  return place ? INSTALLATION : 'nowhere'
}

/** Reads what `scopeOf` wrote; undefined for a scope that no session can switch to. */
export function scopeIn(scope: string): Scope | undefined {
  if (scope === INSTALLATION) return { tenantId: null }
  const [tenantId = '', named] = scope.split('.')
  const environment = ENVIRONMENTS.find((one) => one === named)
  return environment && { tenantId, environment }
}

/** Which data the browser shows: live until its user switches to test. */
export const environmentOf = (request: Request): Environment =>
  preferenceIn(request, ENVIRONMENT_COOKIE) === 'test' ? 'test' : 'live'

/** Refuses what was meant for another scope than the session acts in now. */
export function createScopes() {
  const refusals = new WeakMap<Request, Refusal>()

  function refuse(request: Request, refusal: Refusal, message: string): never {
    refusals.set(request, refusal)
    throw conflict(message)
  }

  /** Throws `conflict` for a request that names another scope, be it beside the right one. */
  function refuseOther(request: Request, visitor: Visitor, body: unknown) {
    const fields = fieldsOf(body)
    const current = scopeOf(visitor, request)
    const named = namesIn(request, fields).find((name) => name !== current)
    if (named !== undefined) refuse(request, { visitor, named, fields }, OTHER)
  }

  /** Throws `conflict` for a form, and a request of a script, that names none; a link need not. */
  function requireNamed(request: Request, visitor: Visitor, body: unknown) {
    const fields = fieldsOf(body)
    if (mustName(request) && namesIn(request, fields).length === 0)
      refuse(request, { visitor, named: undefined, fields }, UNNAMED)
  }

  return { refuseOther, requireNamed, refusalOf: (request: Request) => refusals.get(request) }
}

const fieldsOf = (body: unknown): Fields => (body ?? {}) as Fields

/** Every scope that a request names. Anything but text is the name of none. */
const namesIn = ({ url, headers }: Request, { [SCOPE_FIELD]: field }: Fields): string[] =>
  [field, headers.get(SCOPE_HEADER), ...new URL(url).searchParams.getAll(SCOPE_FIELD)]
    .filter((name) => name !== undefined && name !== null)
    .map((name) => (typeof name === 'string' ? name : ''))

const mustName = ({ method, headers }: Request): boolean =>
  !isSafe(method) || headers.has('hx-request')

const OTHER =
  'you have switched to another tenant or environment since opening this page. Nothing was changed. Reload the page'
const UNNAMED = `${SCOPE_FIELD}: is required: the tenant and environment of the form. Nothing was changed. Reload the page`
