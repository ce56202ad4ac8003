import { Elysia } from 'elysia'
import type { Caller } from '../platform/caller.ts'
import type { Engine, EngineScope } from '../platform/engines.ts'
import { parseJson, readText } from './body.ts'
import { operatorLane, type Turns } from './turns.ts'

/** The scope that a route asks for, or several of one engine of which any suffices. */
export type RouteScope = EngineScope | { [E in Engine]: AnyOf<EngineScope<E>> }[Engine]
export type AnyOf<Scope> = readonly [Scope, ...Scope[]]

/** What a route does to what is stored; not everybody who may look may touch. */
export type Effect = 'read' | 'change' | 'delete'

/** What a route asks of whoever calls it. */
export interface Demand {
  /** Any of them suffices. */
  scopes: AnyOf<EngineScope>
  effect: Effect
}

/** What is known of a request that was let in; macros take no interface. */
export type Admitted<C extends Caller> = {
  caller: C
  /** The body as it was spelled, for handlers that pass it on; empty when there is none. */
  bodyText: string
}

/** Lets requests in by whatever they show: a key, or a session. */
export interface Door<C extends Caller> {
  /** One that was let in before. */
  known(request: Request): Admitted<C> | undefined
  /** Throws for who may not come in. */
  open(request: Request, demand: Demand): Admitted<C>
  /** The same once more for one that was let in: what was good then may be no longer. */
  renew(request: Request, demand: Demand): void
}

/** Answers, whenever it is called, whether what was known when it was made may be outdated. */
export type StartAging = () => () => boolean

export type Scoped<C extends Caller = Caller> = ReturnType<typeof createScoped<C>>

/**
 * The route option `scope: '…'`: only who has this scope gets through the door, and the handler
 * finds their `caller`. The credential is looked at before the body is read, so that 401 and 403
 * come before anything that is wrong with the body, and once more after a slow one. A body, if any,
 * is JSON, and its text is in `bodyText`.
 *
 * What a route does follows from its method; `scopeToRead` is for a POST that stores nothing.
 */
export function createScoped<C extends Caller>(parts: {
  /** Of the plugin: no two may have the same. */
  name: string
  /** What OpenAPI calls the credential. */
  security: string
  door: Door<C>
  startAging: StartAging
  turns: Turns
  maxBody: number
}) {
  const { name, security, door, startAging, turns, maxBody } = parts

  const admit = (request: Request, demand: Demand): Admitted<C> =>
    door.known(request) ?? door.open(request, demand)

  function readBody(request: Request, admitted: Admitted<C>, demand: Demand) {
    if (request.method === 'DELETE') return null
    const again = () => door.renew(request, demand)
    return readmitting(again, startAging, readText(request, maxBody)).then((text) => {
      admitted.bodyText = text
      return parseJson(text)
    })
  }

  async function inTurn(request: Request, demand: Demand): Promise<Admitted<C>> {
    const admitted = admit(request, demand)
    const turn = turns.take(laneOf(admitted.caller))
    if (!turn) return admitted
    await turn
    door.renew(request, demand)
    return admitted
  }

  /** Routes with a body are checked while parsing, all others before validation. */
  function hooks(demandOf: (request: Request) => Demand) {
    return {
      detail: { security: [{ [security]: [] }] },
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
      return hooks(({ method }) => ({ scopes, effect: effectOf(method) }))
    })
    .macro('scopeToRead', (scope: RouteScope) => {
      const demand: Demand = { scopes: scopesOf(scope), effect: 'read' }
      return hooks(() => demand)
    })
}

const laneOf = ({ actor, tenantId }: Caller): string =>
  actor.kind === 'operator' ? operatorLane(actor.id) : tenantId

/**
 * A body may take its time, and must not carry its sender past a suspension or a revocation: the
 * credential is looked at once more behind a slow one, before anything that is wrong with that is
 * told.
 */
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

/** Of a request that asks for nothing but an answer (RFC 9110, 9.2.1). */
export const isSafe = (method: string): boolean => method === 'GET' || method === 'HEAD'
