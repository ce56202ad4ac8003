import { type ListPosition, positionIn } from '../../../../views/console/list-position.ts'
import type { Fields } from '../../../http/body.ts'
import type { Caller } from '../../../platform/caller.ts'
import type { CallerOf } from '../../callers.ts'
import type { TenantContext } from '../../middleware.ts'
import { may } from '../../operators/rights.ts'
import { environmentOf } from '../../scope.ts'

/** Request to a relay page: operator, environment and parameters. */
export interface RelayContext extends TenantContext {
  request: Request
  caller: Caller
  id: string
  query: Record<string, string | undefined>
  /** Position in the list. */
  position: ListPosition
  body: Fields
  mayChange: boolean
  mayDelete: boolean
}

export type RelayContexts = ReturnType<typeof createRelayContexts>

/** Fills in empty parameters and body for routes without them. */
export const createRelayContexts =
  (callerOf: CallerOf) =>
  (context: TenantContext & { request: Request; params: object; body: unknown }): RelayContext => {
    const { request, operator, tenant, actor, params } = context
    const { searchParams } = new URL(request.url)
    return {
      request,
      operator,
      tenant,
      actor,
      caller: callerOf(context, 'relay', environmentOf(request)),
      id: '',
      ...params,
      query: Object.fromEntries(searchParams),
      position: positionIn(searchParams),
      body: (context.body ?? {}) as Fields,
      mayChange: may(tenant.role, 'change'),
      mayDelete: may(tenant.role, 'delete'),
    }
  }
