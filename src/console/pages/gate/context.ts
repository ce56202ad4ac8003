import type { Fields } from '../../../http/body.ts'
import type { Caller } from '../../../platform/caller.ts'
import type { CallerOf } from '../../callers.ts'
import type { TenantContext } from '../../middleware.ts'
import { may } from '../../operators/rights.ts'

/** Request to a gate page: operator, caller and parameters. */
export interface Context extends TenantContext {
  request: Request
  /** ID of the object, and of the part to change. */
  params: { id: string; part: string }
  query: Record<string, string | undefined>
  body: Fields
  caller: Caller
  mayChange: boolean
  mayDelete: boolean
}

type Routed = TenantContext & { request: Request; params: object; query: object; body: unknown }

/** Fills in empty parameters, body and query for routes without them. */
export const createContexts =
  (callerOf: CallerOf) =>
  (routed: Routed): Context => ({
    ...routed,
    params: { id: '', part: '', ...routed.params },
    query: Object.fromEntries(
      Object.entries(routed.query).filter(([, value]) => typeof value === 'string'),
    ),
    body: (routed.body ?? {}) as Fields,
    caller: callerOf(routed, 'gate', 'live'),
    mayChange: may(routed.tenant.role, 'change'),
    mayDelete: may(routed.tenant.role, 'delete'),
  })
