import { Elysia } from 'elysia'
import { ENGINE_SCOPES, ENGINES, type Engine, type EngineScope } from '../platform/engines.ts'
import { fail, forbidden, unauthenticated } from '../platform/errors.ts'
import type { Caller, KeyHolder, Keys } from '../platform/keys.ts'
import { parseJson, readFields, readText } from './body.ts'
import { createTurns } from './turns.ts'
import type { Visit, Visits } from './visits.ts'

const BEARER = /^Bearer +([^\s]+) *$/i

export type Access = ReturnType<typeof createAccess>

/** The scope that a route asks for, or several of one engine of which any suffices. */
export type RouteScope = EngineScope | { [E in Engine]: AnyOf<EngineScope<E>> }[Engine]
type AnyOf<Scope> = readonly [Scope, ...Scope[]]

/**
 * The route option `scope: '…'`: only a live key with this scope gets through, and the
 * handler finds its `caller`. The key is looked at before the body is read, so that 401
 * and 403 come before anything that is wrong with the body, and once more after a slow one.
 * A body, if any, is JSON, and its text is in `bodyText`.
 *
 * `scopeOfBodyKey` is the same for a route that takes the key as `api_key` of its body. With
 * `optionalKeyOf` a route works without a key, and its `caller` may be undefined; a key that is
 * shown has to be a good one all the same. With `form` anybody may send one, as such or as JSON;
 * its `keyScope` is what a key must have that is shown besides.
 */
export function createAccess(parts: { keys: Keys; visits: Visits; maxBody: number }) {
  const { keys, visits, maxBody } = parts
  const formTurn = createTurns()

  /** Routes with a body are checked while parsing, all others before validation. */
  function admit(request: Request, anyOf: AnyOf<EngineScope>): Visit {
    const known = visits.of(request)
    if (known) return known
    const holder = authenticate(request)
    authorize(holder, anyOf)
    return visits.open(request, holder)
  }

  function readBody(request: Request, visit: Visit, anyOf: AnyOf<EngineScope>) {
    if (request.method === 'DELETE') return null
    return readmitted(request, anyOf, readText(request, maxBody)).then((text) => {
      visit.bodyText = text
      return parseJson(text)
    })
  }

  /**
   * A body may take its time, and must not carry its sender past a suspension or a revocation: the
   * key is looked at once more behind a slow one, before anything that is wrong with that is told.
   */
  function readmitted<T>(request: Request, anyOf: AnyOf<EngineScope>, reading: Promise<T>) {
    const isOutdated = visits.startAging()
    return reading.finally(() => {
      if (isOutdated() && visits.of(request)) readmit(request, anyOf)
    })
  }

  function readmit(request: Request, anyOf: AnyOf<EngineScope>) {
    const holder = authenticate(request)
    authorize(holder, anyOf)
    visits.renew(request, holder)
  }

  /** The key is in the body, which therefore has to be read first, but nothing else of it counts. */
  async function admitByBody(request: Request, anyOf: AnyOf<EngineScope>) {
    const body = parseJson(await readText(request, maxBody))
    const key = keyIn(body)
    if (key === undefined) return body
    const holder = verified(key)
    authorize(holder, anyOf)
    visits.open(request, holder)
    return body
  }

  function authenticate(request: Request): KeyHolder {
    const header = request.headers.get('authorization')
    if (header === null) throw unauthenticated('missing API key: send Authorization: Bearer <key>')
    return verified(BEARER.exec(header)?.[1])
  }

  const verified = (key: string | undefined): KeyHolder =>
    (key === undefined ? undefined : keys.verify(key)) ?? fail(NO_GOOD_KEY)

  /** A key need not be there; one that is has to be a good one of this engine. */
  function callerIfAny(request: Request, engine: Engine, scope?: EngineScope): Caller | undefined {
    if (!request.headers.has('authorization')) return undefined
    const known = visits.of(request)
    if (known) return known.caller
    const holder = authenticate(request)
    requireEngine(holder, engine)
    if (scope) authorize(holder, [scope])
    return visits.open(request, holder).caller
  }

  const callerOfForm = (request: Request, scope: EngineScope | undefined) =>
    scope && callerIfAny(request, engineOf(scope), scope)

  return new Elysia({ name: 'access' })
    .macro('scope', (scope: RouteScope) => {
      const anyOf = listOf(scope)
      return {
        detail: { security: [{ apiKey: [] }] },
        parse: ({ request }) => readBody(request, admit(request, anyOf), anyOf),
        transform: ({ request }) => {
          admit(request, anyOf)
        },
        resolve: ({ request }) => admit(request, anyOf),
      }
    })
    .macro('scopeOfBodyKey', (scope: RouteScope) => {
      const anyOf = listOf(scope)
      return {
        parse: ({ request }) => admitByBody(request, anyOf),
        // Without a key that is text, validation has refused the body before.
        resolve: ({ request }) => visits.of(request) ?? fail(NO_GOOD_KEY),
      }
    })
    .macro('form', ({ keyScope }: { keyScope?: EngineScope }) => ({
      parse: ({ request }) => {
        callerOfForm(request, keyScope)
        const reading = formTurn().then(() => readFields(request, maxBody))
        return keyScope ? readmitted(request, [keyScope], reading) : reading
      },
      resolve: ({ request }) => ({
        caller: callerOfForm(request, keyScope),
      }),
    }))
    .macro('optionalKeyOf', (engine: Engine) => ({
      resolve: ({ request }) => ({ caller: callerIfAny(request, engine) }),
    }))
}

const NO_GOOD_KEY = unauthenticated('invalid or revoked API key')

const listOf = (scope: RouteScope): AnyOf<EngineScope> =>
  typeof scope === 'string' ? [scope] : scope

function keyIn(body: unknown): string | undefined {
  const key = typeof body === 'object' && body !== null && 'api_key' in body && body.api_key
  return typeof key === 'string' ? key : undefined
}

function authorize(caller: KeyHolder, anyOf: AnyOf<EngineScope>) {
  requireEngine(caller, engineOf(anyOf[0]))
  if (!anyOf.some((scope) => caller.scopes.has(scope)))
    throw forbidden(`the key lacks the scope ${anyOf.join(' or ')}`)
}

function requireEngine(caller: KeyHolder, engine: Engine) {
  if (caller.engine !== engine)
    throw forbidden(`this is a ${caller.engine} key; the route needs a ${engine} key`)
}

const ENGINE_BY_SCOPE = new Map<string, Engine>(
  ENGINES.flatMap((engine) => ENGINE_SCOPES[engine].map((scope) => [scope, engine] as const)),
)

const engineOf = (scope: EngineScope) => ENGINE_BY_SCOPE.get(scope) as Engine
