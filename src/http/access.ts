import { Elysia } from 'elysia'
import { ENGINE_SCOPES, ENGINES, type Engine, type EngineScope } from '../platform/engines.ts'
import { forbidden, unauthenticated } from '../platform/errors.ts'
import type { Caller, Keys } from '../platform/keys.ts'
import { readJson } from './body.ts'

const BEARER = /^Bearer +([^\s]+) *$/i

export type Access = ReturnType<typeof createAccess>

/**
 * The route option `scope: '…'`: only a live key with this scope gets through, and the
 * handler finds its `caller`. The key is looked at before the body is read, so that 401
 * and 403 come before anything that is wrong with the body. A body, if any, is JSON.
 */
export function createAccess({ keys, maxBody }: { keys: Keys; maxBody: number }) {
  /** Routes with a body are checked while parsing, all others before validation. */
  const admitted = new WeakMap<Request, Caller>()

  function admit(request: Request, scope: EngineScope): Caller {
    const known = admitted.get(request)
    if (known) return known
    const caller = authenticate(request)
    authorize(caller, scope)
    admitted.set(request, caller)
    return caller
  }

  function authenticate(request: Request): Caller {
    const header = request.headers.get('authorization')
    if (header === null) throw unauthenticated('missing API key: send Authorization: Bearer <key>')
    const key = BEARER.exec(header)?.[1]
    const caller = key === undefined ? undefined : keys.verify(key)
    if (!caller) throw unauthenticated('invalid or revoked API key')
    return caller
  }

  return new Elysia({ name: 'access' }).macro('scope', (scope: EngineScope) => ({
    detail: { security: [{ apiKey: [] }] },
    parse: ({ request }) => {
      admit(request, scope)
      return request.method === 'DELETE' ? null : readJson(request, maxBody)
    },
    transform: ({ request }) => {
      admit(request, scope)
    },
    resolve: ({ request }) => ({ caller: admit(request, scope) }),
  }))
}

function authorize(caller: Caller, scope: EngineScope) {
  const engine = engineOf(scope)
  if (caller.engine !== engine)
    throw forbidden(`this is a ${caller.engine} key; the route needs a ${engine} key`)
  if (!caller.scopes.has(scope)) throw forbidden(`the key lacks the scope ${scope}`)
}

const ENGINE_BY_SCOPE = new Map<string, Engine>(
  ENGINES.flatMap((engine) => ENGINE_SCOPES[engine].map((scope) => [scope, engine] as const)),
)

const engineOf = (scope: EngineScope) => ENGINE_BY_SCOPE.get(scope) as Engine
