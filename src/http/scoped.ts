import { Elysia } from 'elysia'
import type { Caller } from '../platform/caller.ts'
import type { EngineScope, KeyEngine } from '../platform/engines.ts'
import { parseJson, readText } from './body.ts'
import { operatorLane, type Turns } from './turns.ts'

/** The scope that a route requires, or several scopes of one engine, any of which is enough. */
export type RouteScope = EngineScope | { [E in KeyEngine]: AnyOf<EngineScope<E>> }[KeyEngine]
export type AnyOf<Scope> = readonly [Scope, ...Scope[]]

/** The effect of a route on stored data. Some callers may only read. */
export type Effect = 'read' | 'change' | 'delete'

/** What a route requires of its caller. */
export interface Demand {
  /** Any of them is enough. */
  scopes: AnyOf<EngineScope>
  effect: Effect
}

/** The state of an authorized request. A type, because macros accept no interface. */
export type Admitted<C extends Caller> = {
  caller: C
  /** The body exactly as sent, for handlers that pass it on; empty if there is none. */
  bodyText: string
}

/** Authorizes requests by a credential: a key or a session. */
export interface Door<C extends Caller> {
  /** The state of a request that is already authorized. */
  known(request: Request): Admitted<C> | undefined
  /** Throws if the request is not authorized. */
  open(request: Request, demand: Demand): Admitted<C>
  /** Authorizes a request again, because its credential may have become invalid since. */
  renew(request: Request, demand: Demand): void
}

/** The returned function says whether what was known at the start may be outdated. */
export type StartAging = () => () => boolean

export type Scoped<C extends Caller = Caller> = ReturnType<typeof createScoped<C>>

/**
 * Creates the route options `scope: '…'` and `scopeToRead: '…'`, which authorize a request by scope
 * and pass its `caller` to the handler. The credential is checked before the body is read, so that
 * 401 and 403 come before any error in the body, and again after a slow one. A body, if any, is
 * JSON, and its text is in `bodyText`.
 *
 * The effect of a route follows from its method; `scopeToRead` is for a POST that stores nothing.
 */
export function createScoped<C extends Caller>(parts: {
  /** Name of the plugin, which must be unique. */
  name: string
  /** The credential in the OpenAPI document, for a route that requires any of these scopes. */
  securityOf: (scopes: AnyOf<EngineScope>) => Record<string, EngineScope[]>[]
  door: Door<C>
  startAging: StartAging
  turns: Turns
  maxBody: number
}) {
  const { name, securityOf, door, startAging, turns, maxBody } = parts

  const admit = (request: Request, demand: Demand): Admitted<C> =>
    door.known(request) ?? door.open(request, demand)

  async function readBody(request: Request, admitted: Admitted<C>, demand: Demand) {
    if (request.method === 'DELETE') return null
    const isOutdated = startAging()
    try {
      admitted.bodyText = await readText(request, maxBody)
    } finally {
      // Authorizes again after a slow body, so that it can't outlast a suspension or revocation.
      if (isOutdated()) door.renew(request, demand)
    }
    return parseJson(admitted.bodyText)
  }

  async function inTurn(request: Request, demand: Demand): Promise<Admitted<C>> {
    const admitted = admit(request, demand)
    const turn = turns.take(laneOf(admitted.caller))
    if (!turn) return admitted
    await turn
    door.renew(request, demand)
    return admitted
  }

  /** Authorizes while parsing for routes with a body, otherwise before validation. */
  function hooks(scopes: AnyOf<EngineScope>, demandOf: (request: Request) => Demand) {
    return {
      detail: { security: securityOf(scopes) },
      parse: ({ request }: { request: Request }) => {
        const demand = demandOf(request)
        return readBody(request, admit(request, demand), demand)
      },
      transform: ({ request }: { request: Request }) => {
        admit(request, demandOf(request))
      },
      resolve: async ({ request }: { request: Request }) => inTurn(request, demandOf(request)),
    }
  }

  return new Elysia({ name })
    .macro('scope', (scope: RouteScope) => {
      const scopes = scopesOf(scope)
      return hooks(scopes, ({ method }) => ({ scopes, effect: effectOf(method) }))
    })
    .macro('scopeToRead', (scope: RouteScope) => {
      const scopes = scopesOf(scope)
      return hooks(scopes, () => ({ scopes, effect: 'read' }))
    })
}

const laneOf = ({ actor, tenantId }: Caller): string =>
  actor.kind === 'operator' ? operatorLane(actor.id) : tenantId

/** Authorizes again after a slow body, so that it can't outlast a suspension or revocation. */
export function readmitting<T>(again: () => void, startAging: StartAging, reading: Promise<T>) {
  const isOutdated = startAging()
  return reading.finally(() => {
    if (isOutdated()) again()
  })
}

export const scopesOf = (scope: RouteScope): AnyOf<EngineScope> =>
  typeof scope === 'string' ? [scope] : scope

function effectOf(method: string): Effect {
  if (isSafe(method)) return 'read'
  return method === 'DELETE' ? 'delete' : 'change'
}

/** Whether a method is safe, which means that it only reads (RFC 9110, section 9.2.1). */
export const isSafe = (method: string): boolean => method === 'GET' || method === 'HEAD'
