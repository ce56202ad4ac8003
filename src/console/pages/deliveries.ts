import { Elysia } from 'elysia'
import { DeliveriesPage } from '../../../views/console/pages/relay/deliveries.tsx'
import { DeliveryPage } from '../../../views/console/pages/relay/delivery.tsx'
import type { Flash } from '../../../views/console/toast.tsx'
import type { Endpoint } from '../../engines/relay/model/endpoints.ts'
import { STATUSES } from '../../http/delivery-log/model.ts'
import type { Caller } from '../../platform/keys.ts'
import { crumbTo } from '../frame.ts'
import type { RelayParts } from './relay.ts'
import type { RelayVisit } from './relay-visit.ts'

const ON_A_PAGE = 50
/** As many endpoints as a tenant may have. */
const ALL = 1000

/** What became of messages, endpoint by endpoint, attempt by attempt. */
export function deliveryPages(parts: RelayParts) {
  const { kit, frames, clock, visited } = parts
  const { deliveries, endpoints } = parts.relay

  const endpointsOf = (caller: Caller): Endpoint[] => endpoints.list(caller, { limit: ALL }).data

  function list({ request, visitor, caller, query }: RelayVisit): Response {
    const { cursor } = query
    const status = STATUSES.find((one) => one === query.status)
    const endpointId = query.endpoint === '' ? undefined : query.endpoint
    const of = { status, endpoint_id: endpointId }
    return frames.page({
      request,
      visitor,
      title: 'Deliveries',
      active: 'deliveries',
      hasEnvironments: true,
      children: DeliveriesPage({
        base: frames.base(),
        page: deliveries.list(caller, { limit: ON_A_PAGE, cursor, ...of }),
        isFirst: cursor === undefined,
        endpoints: endpointsOf(caller),
        status,
        endpointId,
        now: clock.now(),
      }),
    })
  }

  function show({ request, visitor, caller, id, query, mayChange }: RelayVisit): Response {
    const delivery = deliveries.get(caller, id)
    const log = delivery.attempt_log
    return frames.page({
      request,
      visitor,
      title: delivery.event_type,
      active: 'deliveries',
      above: [crumbTo(frames.base(), 'deliveries')],
      flash: flashOf(query.done),
      hasEnvironments: true,
      children: DeliveryPage({
        base: frames.base(),
        delivery,
        endpoint: endpoints.ifAny(caller, delivery.endpoint_id),
        selected: log.find((attempt) => attempt.id === query.attempt) ?? log.at(-1),
        mayChange,
        now: clock.now(),
      }),
    })
  }

  async function resend({ caller, id }: RelayVisit): Promise<Response> {
    await deliveries.resend(caller, id)
    return frames.go(`/console/deliveries/${id}?done=resent`)
  }

  async function cancel({ caller, id }: RelayVisit): Promise<Response> {
    await deliveries.cancel(caller, id)
    return frames.go(`/console/deliveries/${id}?done=cancelled`)
  }

  return new Elysia({ prefix: '/console/deliveries', detail: { hide: true } })
    .use(kit)
    .get('', (visit) => list(visited(visit)), { right: 'read' })
    .get('/:id', (visit) => show(visited(visit)), { right: 'read' })
    .post('/:id/resend', (visit) => resend(visited(visit)), { right: 'change' })
    .post('/:id/cancel', (visit) => cancel(visited(visit)), { right: 'change' })
}

const FLASHES: Readonly<Record<string, Flash>> = {
  resent: { tone: 'busy', text: 'On its way again. Load this page again to see what comes of it.' },
  cancelled: { tone: 'quiet', text: 'Cancelled. It is not tried again.' },
}

const flashOf = (done = ''): Flash | undefined =>
  Object.hasOwn(FLASHES, done) ? FLASHES[done] : undefined
