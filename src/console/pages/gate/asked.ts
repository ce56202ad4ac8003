import type { Fields } from '../../../http/body.ts'
import type { Caller } from '../../../platform/caller.ts'
import type { CallerOf } from '../../callers.ts'
import type { TenantVisit } from '../../kit.ts'
import { may } from '../../operators/rights.ts'

/** What a handler finds: who asks, as people and as the engine know them, and for what. */
export interface Visit extends TenantVisit {
  request: Request
  /** Of the thing that the page is about, and of the part of it that is to be changed. */
  params: { id: string; part: string }
  query: Record<string, string | undefined>
  body: Fields
  caller: Caller
  mayChange: boolean
  mayDelete: boolean
}

type Routed = TenantVisit & { request: Request; params: object; query: object; body: unknown }

/** Routes without a parameter, a body or a query have none; the handlers need not care. */
export const visitsOf =
  (callerOf: CallerOf) =>
  (routed: Routed): Visit => ({
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
