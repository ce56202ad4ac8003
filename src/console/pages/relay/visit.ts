import { type ListPlace, placeIn } from '../../../../views/console/trail.ts'
import type { Fields } from '../../../http/body.ts'
import type { Caller } from '../../../platform/caller.ts'
import type { CallerOf } from '../../callers.ts'
import type { TenantVisit } from '../../kit.ts'
import { may } from '../../operators/rights.ts'
import { environmentOf } from '../../scope.ts'

/** Request to a relay page: operator, environment and parameters. */
export interface RelayVisit extends TenantVisit {
  request: Request
  caller: Caller
  id: string
  query: Record<string, string | undefined>
  /** Position in the list. */
  place: ListPlace
  body: Fields
  mayChange: boolean
  mayDelete: boolean
}

export type RelayVisits = ReturnType<typeof createRelayVisits>

/** Fills in empty parameters and body for routes without them. */
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
