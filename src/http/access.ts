import type { Caller, KeyCaller, KeyHolder } from '../platform/caller.ts'
import { ENGINE_SCOPES, ENGINES, type Engine, type EngineScope } from '../platform/engines.ts'
import { fail, forbidden, unauthenticated } from '../platform/errors.ts'
import type { Keys } from '../platform/keys.ts'
import { parseJson, readFields, readText } from './body.ts'
import type { RequestContexts } from './request-context.ts'
import {
  type AnyOf,
  createScoped,
  type Door,
  type RouteScope,
  readmitting,
  type Scoped,
  scopesOf,
} from './scoped.ts'
import { addressLane, type Turns } from './turns.ts'

const BEARER = /^Bearer +([^\s]+) *$/i

export type Access = ReturnType<typeof createAccess>

export type { RouteScope } from './scoped.ts'

interface KeyParts {
  keys: Keys
  contexts: RequestContexts
  turns: Turns
  maxBody: number
}

interface Parts extends KeyParts {
  addressOf: (request: Request) => string | undefined
}

/**
 * Routes for whoever has a key: `scope` and `scopeToRead` (scoped.ts) for one in the header.
 *
 * `scopeOfBodyKey` is the same for a route that takes the key as `api_key` of its body. With
 * `optionalKeyOf` a route works without a key, and its `caller` may be undefined; a key that is
 * shown has to be a good one all the same. With `form` anybody may send one, as such or as JSON;
 * its `keyScope` is what a key must have that is shown besides.
 */
export function createAccess({ keys, contexts, turns, addressOf, maxBody }: Parts) {
  const { verified, authenticate } = createHolders(keys)
  const { startAging } = contexts
  const door = createKeyDoor({ keys, contexts })

  /** The key is in the body, which therefore has to be read first, but nothing else of it counts. */
  async function admitByBody(request: Request, anyOf: AnyOf<EngineScope>) {
    const text = await readText(request, maxBody)
    await turnOfAddress(request)
    const body = parseJson(text)
    const key = keyIn(body)
    if (key === undefined) return body
    const holder = verified(key)
    authorize(holder, anyOf)
    contexts.open(request, holder)
    return body
  }

  /** A key need not be there; one that is has to be a good one of this engine. */
  function callerIfAny(request: Request, engine: Engine, scope?: EngineScope): Caller | undefined {
    if (!request.headers.has('authorization')) return undefined
    const known = contexts.of(request)
    if (known) return known.caller
    const holder = authenticate(request)
    requireEngine(holder, engine)
    if (scope) authorize(holder, [scope])
    return contexts.open(request, holder).caller
  }

  const turnOfAddress = (request: Request) => turns.take(addressLane(addressOf(request)))

  const callerOfForm = (request: Request, scope: EngineScope | undefined) =>
    scope && callerIfAny(request, engineOf(scope), scope)

  return createScoped({ name: 'access', security: 'apiKey', door, startAging, turns, maxBody })
    .macro('scopeOfBodyKey', (scope: RouteScope) => {
      const anyOf = scopesOf(scope)
      return {
        parse: ({ request }) => admitByBody(request, anyOf),
        // Without a key that is text, validation has refused the body before.
        resolve: ({ request }) => contexts.of(request) ?? fail(NO_GOOD_KEY),
      }
    })
    .macro('form', ({ keyScope }: { keyScope?: EngineScope }) => ({
      parse: ({ request }) => {
        const caller = callerOfForm(request, keyScope)
        const turn = caller ? turns.take(caller.tenantId) : turnOfAddress(request)
        const reading = Promise.resolve(turn).then(() => readFields(request, maxBody))
        if (!caller || !keyScope) return reading
        const again = () => door.renew(request, { scopes: [keyScope], effect: 'change' })
        return readmitting(again, startAging, reading)
      },
      resolve: ({ request }) => ({
        caller: callerOfForm(request, keyScope),
      }),
    }))
    .macro('optionalKeyOf', (engine: Engine) => ({
      resolve: ({ request }) => ({ caller: callerIfAny(request, engine) }),
    }))
}

/** The same for routes that sessions have as well: their handlers see a caller of either kind. */
export const createKeyAccess = ({ keys, contexts, turns, maxBody }: KeyParts): Scoped =>
  createScoped<Caller>({
    name: 'access by key',
    security: 'apiKey',
    door: createKeyDoor({ keys, contexts }),
    startAging: contexts.startAging,
    turns,
    maxBody,
  })

function createKeyDoor({ keys, contexts }: Pick<Parts, 'keys' | 'contexts'>): Door<KeyCaller> {
  const { authenticate } = createHolders(keys)

  function authorized(request: Request, anyOf: AnyOf<EngineScope>): KeyHolder {
    const holder = authenticate(request)
    authorize(holder, anyOf)
    return holder
  }

  return {
    known: contexts.of,
    open: (request, { scopes }) => contexts.open(request, authorized(request, scopes)),
    renew: (request, { scopes }) => contexts.renew(request, authorized(request, scopes)),
  }
}

/** Who is behind the key of a request. */
function createHolders(keys: Keys) {
  const verified = (key: string | undefined): KeyHolder =>
    (key === undefined ? undefined : keys.verify(key)) ?? fail(NO_GOOD_KEY)

  function authenticate(request: Request): KeyHolder {
    const header = request.headers.get('authorization')
    if (header === null) throw unauthenticated('missing API key: send Authorization: Bearer <key>')
    return verified(BEARER.exec(header)?.[1])
  }

  return { verified, authenticate }
}

const NO_GOOD_KEY = unauthenticated('invalid or revoked API key')

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
