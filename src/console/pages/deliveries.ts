import { Elysia } from 'elysia'
import { type ListPosition, pagerLinks } from '../../../views/console/list-position.ts'
import {
  DELIVERY_PARTS,
  DeliveriesPage,
  type DeliveryListing,
} from '../../../views/console/pages/relay/deliveries.tsx'
import { url } from '../../../views/console/url.ts'
import { STATUSES, type Status } from '../../http/delivery-log/model.ts'
import type { Caller } from '../../platform/caller.ts'
import { type Part, stateIdOf } from '../live/part.ts'
import type { RelayContext } from './relay/context.ts'
import type { RelayParts } from './relay/parts.ts'

const PATH = '/console/deliveries'
const LIVE = '/console/live/deliveries'
const ON_A_PAGE = 50

/** Filters and position of the list. */
interface DeliveryFilters {
  status: Status | undefined
  endpointId: string | undefined
  position: ListPosition
}

/** Deliveries of a tenant, with live updates. */
export function deliveryPages(parts: RelayParts) {
  const { middleware, layout, clock, contextOf, delivery, liveAnswers } = parts
  const { deliveries } = parts.relay

  function listing(
    caller: Caller,
    { status, endpointId, position }: DeliveryFilters,
  ): DeliveryListing {
    const base = layout.base()
    const of = { status, endpoint_id: endpointId, cursor: position.cursor }
    const page = deliveries.list(caller, { limit: ON_A_PAGE, ...of })
    const { tenantId, environment } = caller
    return {
      base,
      page,
      pages: pagerLinks(position, page.next_cursor, (to) =>
        url(base, PATH, { status, endpoint: endpointId, ...to }),
      ),
      isFirst: position.cursor === undefined,
      endpoints: delivery.readModel.addresses({ tenantId, name: `relay.${environment ?? 'live'}` }),
      status,
      endpointId,
      now: clock.now(),
    }
  }

  function partsOf(shown: DeliveryListing): Part[] {
    const { data } = shown.page
    const facts = {
      'deliveries-head': data,
      'deliveries-list': [data, shown.endpoints],
      'deliveries-pages': shown.pages,
    } satisfies Record<keyof typeof DELIVERY_PARTS, unknown>
    return Object.entries(DELIVERY_PARTS).map(([target, draw]) => ({
      target,
      facts: facts[target as keyof typeof DELIVERY_PARTS],
      draw: () => draw(shown),
    }))
  }

  function list(context: RelayContext): Response {
    const { request, operator, caller } = context
    const filters = filtersIn(context)
    const shown = listing(caller, filters)
    return layout.page({
      request,
      operator,
      title: 'Deliveries',
      active: 'deliveries',
      hasEnvironments: true,
      children: DeliveriesPage({
        listing: shown,
        live: isLive(filters) ? sourceOf(shown) : undefined,
      }),
    })
  }

  function sourceOf(shown: DeliveryListing) {
    const shownId = stateIdOf(partsOf(shown))
    return { href: url(shown.base, LIVE, { endpoint: shown.endpointId, shown: shownId }), shownId }
  }

  function live(context: RelayContext): Response {
    const { caller } = context
    const filters = { ...filtersIn(context), status: undefined, position: {} }
    const name = `deliveries ${caller.environment} ${filters.endpointId ?? ''}`
    return liveAnswers(context, { name, render: () => partsOf(listing(caller, filters)) })
  }

  return new Elysia({ name: 'delivery pages', detail: { hide: true } })
    .use(middleware)
    .get(PATH, (context) => list(contextOf(context)), { right: 'read' })
    .get(LIVE, (context) => live(contextOf(context)), { right: 'read' })
}

/** Only the first page without a status filter updates live. */
const isLive = ({ status, position }: DeliveryFilters): boolean =>
  status === undefined && position.cursor === undefined

const filtersIn = ({ query, position }: RelayContext): DeliveryFilters => ({
  status: STATUSES.find((one) => one === query.status),
  endpointId: query.endpoint || undefined,
  position,
})
