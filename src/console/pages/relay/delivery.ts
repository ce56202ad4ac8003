import { Elysia } from 'elysia'
import { DeliveryPage } from '../../../../views/console/pages/relay/delivery.tsx'
import type { Flash } from '../../../../views/console/toast.tsx'
import { flashOf } from '../../flash.ts'
import { crumbTo } from '../../layout.ts'
import { maskSignatures } from '../mask-signatures.ts'
import type { RelayContext } from './context.ts'
import type { RelayParts } from './parts.ts'

/** One delivery with its attempts. */
export function deliveryPage(parts: RelayParts) {
  const { middleware, layout, clock, contextOf } = parts
  const { deliveries, endpoints, signedRequestOf } = parts.relay

  function show({ request, operator, caller, id, query, mayChange }: RelayContext): Response {
    const found = deliveries.get(caller, id)
    const delivery = mayChange ? found : maskSignatures(found)
    const log = delivery.attempt_log
    return layout.page({
      request,
      operator,
      title: delivery.event_type,
      active: 'deliveries',
      above: [crumbTo(layout.base(), 'deliveries')],
      flash: flashOf(FLASHES, query.done),
      hasEnvironments: true,
      children: DeliveryPage({
        base: layout.base(),
        delivery,
        endpoint: endpoints.ifAny(caller, delivery.endpoint_id),
        selected: log.find((attempt) => attempt.id === query.attempt) ?? log.at(-1),
        signed: mayChange ? signedRequestOf(caller, id) : undefined,
        mayChange,
        now: clock.now(),
      }),
    })
  }

  async function resend({ caller, id }: RelayContext): Promise<Response> {
    await deliveries.resend(caller, id)
    return layout.go(`/console/deliveries/${id}?done=resent`)
  }

  async function cancel({ caller, id }: RelayContext): Promise<Response> {
    await deliveries.cancel(caller, id)
    return layout.go(`/console/deliveries/${id}?done=cancelled`)
  }

  return new Elysia({ prefix: '/console/deliveries', detail: { hide: true } })
    .use(middleware)
    .get('/:id', (context) => show(contextOf(context)), { right: 'read' })
    .post('/:id/resend', (context) => resend(contextOf(context)), { right: 'change' })
    .post('/:id/cancel', (context) => cancel(contextOf(context)), { right: 'change' })
}

const FLASHES: Readonly<Record<string, Flash>> = {
  resent: { tone: 'busy', text: 'Retry started. Refresh the page to see the result.' },
  cancelled: { tone: 'quiet', text: 'Delivery cancelled.' },
}
