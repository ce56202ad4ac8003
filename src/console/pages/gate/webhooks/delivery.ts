import { DeliveryPage } from '../../../../../views/console/pages/gate/webhooks/delivery.tsx'
import { notFound } from '../../../../platform/errors.ts'
import { crumbTo } from '../../../frame.ts'
import { withoutSignatures } from '../../without-signatures.ts'
import type { Visit } from '../asked.ts'
import type { GateParts } from '../parts.ts'
import { crumbOf, existing, FLASHES } from './existing.ts'

/** One delivery of a webhook. */
export function webhookDelivery({ frames, gate, clock }: GateParts) {
  const { log } = gate.webhooks

  /** A delivery of the webhook in the path. */
  function delivered(visit: Visit) {
    const webhook = existing(gate, visit)
    const delivery = log.get(visit.caller, visit.params.part)
    if (delivery.endpoint_id !== webhook.id) throw notFound('delivery not found')
    return { webhook, delivery }
  }

  function show(visit: Visit): Response {
    const { request, visitor, mayChange, query } = visit
    const { webhook, delivery } = delivered(visit)
    return frames.page({
      request,
      visitor,
      title: delivery.event_type,
      active: 'webhooks',
      above: [crumbTo(frames.base(), 'webhooks'), crumbOf(frames.base(), webhook)],
      flash: FLASHES.get(query.done ?? ''),
      children: DeliveryPage({
        base: frames.base(),
        now: clock.now(),
        webhook,
        delivery: mayChange ? delivery : withoutSignatures(delivery),
        attemptId: query.attempt,
        mayChange,
      }),
    })
  }

  async function resend(visit: Visit): Promise<Response> {
    const { webhook, delivery } = delivered(visit)
    await log.resend(visit.caller, delivery.id)
    return frames.go(`/console/webhooks/${webhook.id}/deliveries/${delivery.id}?done=resent`)
  }

  return { show, resend }
}
