import type { Caller, KeyCaller, KeyHolder } from '../platform/caller.ts'
import {
  ENGINE_SCOPES,
  type EngineScope,
  KEY_ENGINES,
  type KeyEngine,
} from '../platform/engines.ts'
import { fail, forbidden, unauthenticated } from '../platform/errors.ts'
import type { Keys } from '../platform/keys/index.ts'
import { parseJson, readForm, readText } from './body.ts'
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
import { addressLane, createTurns, type Turns } from './turns.ts'

const BEARER = /^Bearer +([^\s]+) *$/i

/**
 * Milliseconds per turn of the event loop in which forms may start, less than for other requests,
 * because they arrive in bursts and cost more. Several share a commit.
 */
const FORM_TURN_MS = 2

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
 * Creates the authentication of routes by API key. `scope` and `scopeToRead` (scoped.ts) require a
 * key in the header.
 *
 * `scopeOfBodyKey` is for a route that takes the key as `api_key` in its body. With `optionalKeyOf`
 * a route works without a key, and its `caller` may be undefined, but a key that is sent must be
 * valid. With `form` no key is needed and the body is a form or JSON; a key that is sent must have
 * `keyScope`.
 */
export function createAccess({ keys, contexts, turns, addressOf, maxBody }: Parts) {
  const { verified, authenticate } = createHolders(keys)
  const { startAging } = contexts
  const door = createKeyDoor({ keys, contexts })
  const formTurns = createTurns(FORM_TURN_MS)

  /** Authenticates by a key in the body, which must be parsed first; only its key is used. */
  async function admitByBody(request: Request, anyOf: AnyOf<EngineScope>) {
    const text = await readText(request, maxBody)
    await turnOfAddress(request)
    const body = parseJson(text)
    const key = keyIn(body)
    if (key === undefined) return body
    const holder = verified(key)
    authorize(holder, anyOf)
    contexts.open(request, holder, engineOf(anyOf[0]))
    return body
  }

  /** The caller of an optional key. A key that is sent must be valid and belong to this engine. */
  function callerIfAny(
    request: Request,
    engine: KeyEngine,
    scope?: EngineScope,
  ): Caller | undefined {
    if (!request.headers.has('authorization')) return undefined
    const known = contexts.of(request)
    if (known) return known.caller
    const holder = authenticate(request)
    requireEngine(holder, engine)
    if (scope) authorize(holder, [scope])
    return contexts.open(request, holder, engine).caller
  }

  const turnOfAddress = (request: Request) => turns.take(addressLane(addressOf(request)))

  const callerOfForm = (request: Request, scope: EngineScope | undefined) =>
    scope && callerIfAny(request, engineOf(scope), scope)

  return createScoped({ name: 'access', securityOf: keyWith, door, startAging, turns, maxBody })
    .macro('scopeOfBodyKey', (scope: RouteScope) => {
      const anyOf = scopesOf(scope)
      return {
        parse: ({ request }) => admitByBody(request, anyOf),
        // If the body has no key that is text, validation has already rejected it.
        resolve: ({ request }) => contexts.of(request) ?? fail(NO_GOOD_KEY),
      }
    })
    .macro('form', ({ keyScope }: { keyScope?: EngineScope }) => ({
      parse: ({ request }) => {
        const caller = callerOfForm(request, keyScope)
        const reading = readForm(request, maxBody).then(async (fields) => {
          await formTurns.take(caller?.tenantId ?? addressLane(addressOf(request)))
          return fields()
        })
        if (!caller || !keyScope) return reading
        const again = () => door.renew(request, { scopes: [keyScope], effect: 'change' })
        return readmitting(again, startAging, reading)
      },
      resolve: ({ request }) => ({ caller: callerOfForm(request, keyScope) }),
    }))
    .macro('optionalKeyOf', (engine: KeyEngine) => ({
      resolve: ({ request }) => ({ caller: callerIfAny(request, engine) }),
    }))
}

/** Access by key for routes that also accept sessions; handlers see callers of either kind. */
export const createKeyAccess = ({ keys, contexts, turns, maxBody }: KeyParts): Scoped =>
  createScoped<Caller>({
    name: 'access by key',
    securityOf: keyWith,
    door: createKeyDoor({ keys, contexts }),
    startAging: contexts.startAging,
    turns,
    maxBody,
  })

/** One entry for each scope: in OpenAPI, any entry of the list is enough. */
const keyWith = (scopes: AnyOf<EngineScope>) => scopes.map((scope) => ({ apiKey: [scope] }))

function createKeyDoor({ keys, contexts }: Pick<Parts, 'keys' | 'contexts'>): Door<KeyCaller> {
  const { authenticate } = createHolders(keys)

  function authorized(request: Request, anyOf: AnyOf<EngineScope>): KeyHolder {
    const holder = authenticate(request)
    authorize(holder, anyOf)
    return holder
  }

  return {
    known: contexts.of,
    open: (request, { scopes }) =>
      contexts.open(request, authorized(request, scopes), engineOf(scopes[0])),
    renew: (request, { scopes }) => contexts.renew(request, authorized(request, scopes)),
  }
}

/** Finds the holder of a request's key. */
function createHolders(keys: Keys) {
  const verified = (key: string | undefined): KeyHolder =>
    (key === undefined ? undefined : keys.verify(key)) ?? fail(refused(key))

  /** The holder of a whole key may know why it no longer works. */
  function refused(key: string | undefined) {
    const end = key === undefined ? undefined : keys.endOf(key)
    return end ? unauthenticated(ENDED[end]) : NO_GOOD_KEY
  }

  function authenticate(request: Request): KeyHolder {
    const header = request.headers.get('authorization')
    if (header === null) throw unauthenticated('missing API key: send Authorization: Bearer <key>')
    return verified(BEARER.exec(header)?.[1])
  }

  return { verified, authenticate }
}

const NO_GOOD_KEY = unauthenticated('invalid API key')

const ENDED = {
  revoked: 'this API key is revoked: use another one',
  expired: 'this API key has expired: create or rotate a key before the old one ends',
} as const

function keyIn(body: unknown): string | undefined {
  const key = typeof body === 'object' && body !== null && 'api_key' in body && body.api_key
  return typeof key === 'string' ? key : undefined
}

function authorize(caller: KeyHolder, anyOf: AnyOf<EngineScope>) {
  requireEngine(caller, engineOf(anyOf[0]))
  if (!anyOf.some((scope) => caller.scopes.has(scope)))
    throw forbidden(`the key lacks the scope ${anyOf.join(' or ')}`)
}

function requireEngine(caller: KeyHolder, engine: KeyEngine) {
  if (!caller.engines.includes(engine))
    throw forbidden(
      `this is ${withArticle(caller.engines.join(', '))} key; the route needs ${withArticle(engine)} key`,
    )
}

const withArticle = (engine: string): string =>
  `${engine === 'installation' ? 'an' : 'a'} ${engine}`

const ENGINE_BY_SCOPE = new Map<string, KeyEngine>(
  KEY_ENGINES.flatMap((engine) => ENGINE_SCOPES[engine].map((scope) => [scope, engine] as const)),
)

const engineOf = (scope: EngineScope) => ENGINE_BY_SCOPE.get(scope) as KeyEngine
