import {
  Elysia,
  ElysiaCustomStatusResponse,
  NotFoundError,
  ParseError,
  ValidationError,
} from 'elysia'
import { asStorageError, StorageError } from '../db/errors.ts'
import { WriteRefused } from '../db/no-writes.ts'
import { AppError, unavailable } from '../platform/errors.ts'
import type { Log } from '../platform/log.ts'
import { errorBody, type Failure, failureOf, INTERNAL, statusOf } from './errors.ts'
import type { HttpMetrics } from './http-metrics.ts'
import { jsonResponse } from './json-response.ts'
import { createQueryNames, type QueryRoutes } from './query-names.ts'
import type { RequestContexts } from './request-context.ts'
import { newRequestId } from './request-id.ts'
import { SECURITY_HEADERS } from './security-headers.ts'
import { asInvalid } from './validation.ts'

/** The default for `Retry-After`, in milliseconds. */
const SOON_MS = 1000

/** Statuses of requests refused because of a limit, a quota or overload. */
const TURNED_AWAY = new Set([402, 429, 503])

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const

/** The finished app: the methods of paths, fixed or with parameters. */
interface Routes extends QueryRoutes {
  router: {
    static: Record<string, Record<string, unknown>>
    http: { find(method: string, path: string): unknown }
  }
}

/** Adds request id, security headers, error body, log and metrics. `routes` is the finished app. */
export function createMiddleware(parts: {
  log: Log
  metrics: HttpMetrics
  addressOf: (request: Request) => string | undefined
  contexts: RequestContexts
  /** Gets each error of a request, before it is explained. */
  noteError?: (error: unknown) => void
  routes: () => Routes
  /** The `WWW-Authenticate` of a 401; a key by default. */
  challengeOn?: (path: string) => string
  /** The response that people see on pages in place of a JSON error. */
  errorPage?: (request: Request, failure: Failure, requestId: string) => Response | undefined
}) {
  const { log, metrics, addressOf, contexts, routes, errorPage } = parts
  const { challengeOn = () => 'Bearer', noteError = () => {} } = parts
  const arrivals = new WeakMap<Request, number>()
  const requireQueryNames = createQueryNames(routes)

  function explain(error: unknown, method: string, path: string): Failure & { allow?: string } {
    if (error instanceof AppError) return failureOf(error)
    if (error instanceof ParseError) return explain(error.cause, method, path)
    if (error instanceof NotFoundError) return noSuchRoute(method, path)
    if (error instanceof WriteRefused) return HEAD_REFUSED
    noteError(error)
    const issue = asStorageError(error)
    if (issue instanceof StorageError)
      return failureOf(unavailable(issue.message, { within: 'storage' }))
    if (error instanceof ValidationError && error.type !== 'response')
      return failureOf(asInvalid(error))
    return INTERNAL
  }

  function noSuchRoute(method: string, path: string): Failure & { allow?: string } {
    const { static: fixed, http: parametric } = routes().router
    const allowed = METHODS.filter(
      (other) => fixed[path]?.[other] !== undefined || parametric.find(other, path),
    )
    if (allowed.length === 0)
      return {
        kind: 'not_found',
        code: 'not_found',
        message: `no such route: ${method} ${path}`,
        rule: 'unknown_route',
      }
    const allow = allowed.join(', ')
    const message = `${method} is not allowed here; use ${allow}`
    return { kind: 'method_not_allowed', code: 'method_not_allowed', message, allow }
  }

  /** Counts a request once: a response that fails its own schema passes again, as an error. */
  function observe(
    { request, route = '', path, set }: Answered,
    status: number,
    reason?: string | undefined,
  ) {
    const arrivedAt = arrivals.get(request)
    if (arrivedAt === undefined) return
    arrivals.delete(request)
    const durationMs = performance.now() - arrivedAt
    metrics.observe({ route: route || 'none', method: request.method, status, durationMs })
    const level = levelOf(status, route)
    if (!log.covers(level)) return
    log[level]('request', {
      requestId: `${set.headers['x-request-id']}`,
      method: request.method,
      path: path.replace(SECRET_PATH, '$1…'),
      status,
      ms: Math.round(durationMs),
      ...(reason !== undefined && { reason }),
      from: addressOf(request),
    })
  }

  /** Adds rate limit headers. Errors are only logged: the request has already been handled. */
  function close(request: Request, status: number, headers: Record<string, unknown>) {
    try {
      contexts.close(request, status, headers)
    } catch (error) {
      log.error('rate limit headers failed', { error: detail(error) })
    }
  }

  // Hooks are blocks without a call behind `return`, which the framework would await.
  return new Elysia({ name: 'kit' })
    .onRequest(({ request, set }) => {
      arrivals.set(request, performance.now())
      set.headers = { ...SECURITY_HEADERS, 'x-request-id': newRequestId() }
    })
    .onTransform(({ params }) => {
      emptyUndecodable(params)
    })
    .onBeforeHandle(({ request, route }) => {
      requireQueryNames({ request, route })
    })
    .onAfterHandle(({ request, route, path, set, responseValue }) => {
      const status = statusIn(responseValue, set.status)
      close(request, status, set.headers)
      observe({ request, route, path, set }, status)
    })
    .mapResponse(
      // If this hook returned nothing, the framework would drop the body of an error.
      ({ request, responseValue, set }) =>
        jsonResponse(request, valueIn(responseValue), set) ?? (responseValue as Response),
    )
    .onError(({ error, request, route, path, set }) => {
      const failure = explain(error, request.method, path)
      const requestId = `${set.headers['x-request-id']}`
      if (failure.kind === 'internal')
        log.error('request failed', { requestId, error: detail(error) })
      if (failure.kind === 'unavailable' || failure.kind === 'rate_limited')
        set.headers['retry-after'] = `${Math.ceil((failure.retryAfterMs ?? SOON_MS) / 1000)}`
      if (failure.kind === 'unauthenticated') set.headers['www-authenticate'] = challengeOn(path)
      if (failure.allow) set.headers.allow = failure.allow
      set.status = statusOf(failure)
      close(request, set.status, set.headers)
      if (TURNED_AWAY.has(set.status)) metrics.refused(failure.code)
      const reason = failure.kind === 'unavailable' ? failure.message : undefined
      observe({ request, route, path, set }, set.status, reason)
      return errorPage?.(request, failure, requestId) ?? errorBody(path, failure, requestId)
    })
    .as('global')
}

/** Turns undecodable parameters (null from the router) into '', which matches no object. */
function emptyUndecodable(params: Record<string, string | null> | undefined) {
  for (const name in params) params[name] ??= ''
}

/** The error for a HEAD whose GET has an effect, such as starting a sign-in. */
const HEAD_REFUSED: Failure & { allow: string } = {
  kind: 'method_not_allowed',
  code: 'method_not_allowed',
  message: 'HEAD is not allowed here; use GET',
  allow: 'GET',
}

/** The parts of a request that the log and the metrics use. */
interface Answered {
  request: Request
  route?: string
  path: string
  set: { headers: Record<string, unknown> }
}

/** The body of a response, from what a handler returned. */
const valueIn = (value: unknown): unknown =>
  value instanceof ElysiaCustomStatusResponse ? value.response : value

/** The status of a response. A handler returns a plain value, `status(…)` or a whole response. */
function statusIn(value: unknown, set: unknown): number {
  if (value instanceof ElysiaCustomStatusResponse) return value.code
  if (value instanceof Response) return value.status
  return typeof set === 'number' ? set : 200
}

/** URLs that work as credentials, so their secret part is not logged. */
const SECRET_PATH =
  /^(\/+(?:ping|badge|setup|sandbox\/+passepartout|console\/+(?:link|invitation))\/+).+/i

const PROBES = new Set(['/healthz', '/readyz', '/metrics'])

/** Successful requests and health checks are logged only at debug level. */
function levelOf(status: number, route: string) {
  if (PROBES.has(route)) return 'debug'
  // Overload is no fault of the server; the client is asked to retry.
  if (status === 503) return 'warn'
  if (status >= 500) return 'error'
  return status >= 400 ? 'info' : 'debug'
}

const detail = (error: unknown): string =>
  error instanceof Error ? (error.stack ?? error.message).slice(0, 4000) : String(error)
