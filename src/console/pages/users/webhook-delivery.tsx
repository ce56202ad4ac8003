import { Id } from '../../../../views/ui/id.tsx'
import type { DeliveryDetail } from '../../../http/delivery-log/model.ts'
import { notFound } from '../../../platform/errors.ts'
import { type PageContext, page, usePage } from '../../page.tsx'
import { SignedCurl } from '../webhooks/delivery.tsx'
import { DELIVERY_FLASHES, DeliveryView, maskSignatures } from '../webhooks/delivery-view.tsx'
import { hostOf, webhookOf } from './webhook.tsx'

const PATH = '/webhooks/:id/deliveries/:delivery'

/** One delivery of an event about a user to a webhook. */
export const webhookDelivery = page({
  path: PATH,
  section: 'webhooks',
  right: 'read',

  load(context) {
    const { webhook, delivery } = deliveryOf(context)
    return { webhook, delivery: context.may('change') ? delivery : maskSignatures(delivery) }
  },

  title: ({ delivery }) => delivery.event_type,

  above: ({ webhook }, { href }) => [
    { label: hostOf(webhook), href: href(`/webhooks/${webhook.id}`) },
  ],

  view({ webhook, delivery }) {
    const { href, may, query } = usePage()
    const log = delivery.attempt_log
    const { request } = log.find(({ id }) => id === query.attempt) ?? log.at(-1) ?? {}
    return (
      <DeliveryView
        delivery={delivery}
        own={href(`/webhooks/${webhook.id}/deliveries/${delivery.id}`)}
        receiver={{ noun: 'webhook', href: href(`/webhooks/${webhook.id}`), ...webhook }}
        facts={[
          ['Event ID', <Id id={delivery.message_id} what="event ID" />],
          ['User', <Person {...delivery} />],
        ]}
        curl={
          request &&
          may('change') && (
            <SignedCurl
              request={{ ...request, body: delivery.request_body }}
              hint="With the signature of this attempt"
            />
          )
        }
      />
    )
  },

  actions: {
    resend: {
      right: 'change',
      flash: DELIVERY_FLASHES.resend,
      async run(context) {
        const { delivery } = deliveryOf(context)
        await context.gate.webhooks.log.resend(context.caller('gate', 'live'), delivery.id)
      },
    },
    cancel: {
      right: 'change',
      flash: DELIVERY_FLASHES.cancel,
      async run(context) {
        const { delivery } = deliveryOf(context)
        await context.gate.webhooks.log.cancel(context.caller('gate', 'live'), delivery.id)
      },
    },
  },
})

/** The delivery in the path, which has to be one of its webhook. Throws `not_found`. */
function deliveryOf(context: PageContext<typeof PATH>) {
  const webhook = webhookOf(context)
  const { gate, caller, params } = context
  const delivery = gate.webhooks.log.get(caller('gate', 'live'), params.delivery)
  if (delivery.endpoint_id !== webhook.id) throw notFound('delivery not found')
  return { webhook, delivery }
}

/** User of the event, who may have been deleted since. */
function Person({ request_body: body }: DeliveryDetail) {
  const [, id] = /"identity_id":"([\w-]+)"/.exec(body) ?? []
  return id === undefined ? (
    <>–</>
  ) : (
    <Id id={id} what="user ID" href={usePage().href(`/identities/${id}`)} />
  )
}
