import { type ListPlace, placeIn } from '../../../../views/console/trail.ts'
import type { Fields } from '../../../http/body.ts'
import type { Caller } from '../../../platform/caller.ts'
import type { CallerOf } from '../../callers.ts'
import type { TenantVisit } from '../../kit.ts'
import { may } from '../../operators/rights.ts'
import { environmentOf } from '../../scope.ts'

/** What a page of the relay finds: who asks, for which data, and what they may do with it. */
export interface RelayVisit extends TenantVisit {
  request: Request
  caller: Caller
  id: string
  query: Record<string, string | undefined>
  /** Where in the list of the page. */
  place: ListPlace
  body: Fields
  mayChange: boolean
  mayDelete: boolean
}

export type RelayVisits = ReturnType<typeof createRelayVisits>

/** Routes without a parameter or a body have none; the handlers need not care. */
export const createRelayVisits =
  (callerOf: CallerOf) =>
  (visit: TenantVisit & { request: Request; params: object; body: unknown }): RelayVisit => {
    const { request, visitor, tenant, actor, params } = visit
    const { searchParams } = new URL(request.url)
    return {
      request,
      visitor,
      tenant,
      actor,
      caller: callerOf(visit, 'relay', environmentOf(request)),
      id: '',
      ...params,
      query: Object.fromEntries(searchParams),
      place: placeIn(searchParams),
      body: (visit.body ?? {}) as Fields,
      mayChange: may(tenant.role, 'change'),
      mayDelete: may(tenant.role, 'delete'),
    }
  }
