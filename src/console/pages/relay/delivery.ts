import { Elysia } from 'elysia'
import { DeliveryPage } from '../../../../views/console/pages/relay/delivery.tsx'
import type { Flash } from '../../../../views/console/toast.tsx'
import { flashOf } from '../../flash.ts'
import { crumbTo } from '../../frame.ts'
import { withoutSignatures } from '../without-signatures.ts'
import type { RelayParts } from './parts.ts'
import type { RelayVisit } from './visit.ts'

/** One delivery with its attempts. */
export function deliveryPage(parts: RelayParts) {
  const { kit, frames, clock, visited } = parts
  const { deliveries, endpoints, signedRequestOf } = parts.relay

  function show({ request, visitor, caller, id, query, mayChange }: RelayVisit): Response {
    const found = deliveries.get(caller, id)
    const delivery = mayChange ? found : withoutSignatures(found)
    const log = delivery.attempt_log
    return frames.page({
      request,
      visitor,
      title: delivery.event_type,
      active: 'deliveries',
      above: [crumbTo(frames.base(), 'deliveries')],
      flash: flashOf(FLASHES, query.done),
      hasEnvironments: true,
      children: DeliveryPage({
        base: frames.base(),
        delivery,
        endpoint: endpoints.ifAny(caller, delivery.endpoint_id),
        selected: log.find((attempt) => attempt.id === query.attempt) ?? log.at(-1),
        signed: mayChange ? signedRequestOf(caller, id) : undefined,
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
    .get('/:id', (visit) => show(visited(visit)), { right: 'read' })
    .post('/:id/resend', (visit) => resend(visited(visit)), { right: 'change' })
    .post('/:id/cancel', (visit) => cancel(visited(visit)), { right: 'change' })
}

const FLASHES: Readonly<Record<string, Flash>> = {
  resent: { tone: 'busy', text: 'Retry started. Refresh the page to see the result.' },
  cancelled: { tone: 'quiet', text: 'Delivery cancelled.' },
}
