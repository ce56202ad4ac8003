import { notFound } from '../../../../platform/errors.ts'
import { crumbTo } from '../../../layout.ts'
import { maskSignatures } from '../../webhooks/mask-signatures.ts'
import type { Context } from '../context.ts'
import type { GateParts } from '../parts.ts'
import { DeliveryPage } from './delivery-view.tsx'
import { crumbOf, existing, FLASHES } from './existing.ts'

/** One delivery of a webhook. */
export function webhookDelivery({ layout, gate, clock }: GateParts) {
  const { log } = gate.webhooks

  /** A delivery of the webhook in the path. */
  function delivered(context: Context) {
    const webhook = existing(gate, context)
    const delivery = log.get(context.caller, context.params.part)
    if (delivery.endpoint_id !== webhook.id) throw notFound('delivery not found')
    return { webhook, delivery }
  }

  function show(context: Context): Response {
    const { request, operator, mayChange, query } = context
    const { webhook, delivery } = delivered(context)
    return layout.page({
      request,
      operator,
      title: delivery.event_type,
      active: 'webhooks',
      above: [crumbTo(layout.base(), 'webhooks'), crumbOf(layout.base(), webhook)],
      flash: FLASHES.get(query.done ?? ''),
      children: DeliveryPage({
        base: layout.base(),
        now: clock.now(),
        webhook,
        delivery: mayChange ? delivery : maskSignatures(delivery),
        attemptId: query.attempt,
        mayChange,
      }),
    })
  }

  async function resend(context: Context): Promise<Response> {
    const { webhook, delivery } = delivered(context)
    await log.resend(context.caller, delivery.id)
    return layout.go(`/console/webhooks/${webhook.id}/deliveries/${delivery.id}?done=resent`)
  }

  return { show, resend }
}
