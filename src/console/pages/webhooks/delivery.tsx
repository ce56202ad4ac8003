import { LinkButton } from '../../../../views/ui/form/button.tsx'
import { Id } from '../../../../views/ui/id.tsx'
import { Text } from '../../../../views/ui/text.tsx'
import type { DeliveryDetail } from '../../../http/delivery-log/model.ts'
import { page, usePage } from '../../page.tsx'
import { DELIVERY_FLASHES, DeliveryView } from './delivery-view.tsx'
import { maskSignatures } from './mask-signatures.ts'
import { SignedCurl } from './signed-curl.tsx'
import { receiverOf } from './state.tsx'

/** One delivery of a message to an endpoint. */
export const deliveryPage = page({
  path: '/deliveries/:id',
  section: 'deliveries',
  hasEnvironments: true,
  right: 'read',

  load({ relay, caller, environment, may, params }) {
    const by = caller('relay', environment)
    const delivery = relay.deliveries.get(by, params.id)
    return {
      delivery: may('change') ? delivery : maskSignatures(delivery),
      /** Undefined if it was deleted. */
      endpoint: relay.endpoints.ifAny(by, delivery.endpoint_id),
      /** Request of a retry, for operators who can retry. */
      signed: may('change') ? relay.signedRequestOf(by, params.id) : undefined,
    }
  },

  title: ({ delivery }) => delivery.event_type,

  view({ delivery, endpoint, signed }) {
    const { href } = usePage()
    const receiver = endpoint && receiverOf(endpoint)
    return (
      <DeliveryView
        delivery={delivery}
        own={href(`/deliveries/${delivery.id}`)}
        receiver={receiver}
        facts={factsOf(delivery)}
        aside={
          <>
            <LinkButton href={href(`/messages/${delivery.message_id}`)}>Message</LinkButton>
            {receiver && <LinkButton href={receiver.href}>Endpoint</LinkButton>}
          </>
        }
        curl={signed && <SignedCurl request={signed} hint="Signed now, valid for 5 minutes" />}
      />
    )
  },

  actions: {
    resend: {
      right: 'change',
      flash: DELIVERY_FLASHES.resend,
      async run({ relay, caller, environment, params }) {
        await relay.deliveries.resend(caller('relay', environment), params.id)
      },
    },
    cancel: {
      right: 'change',
      flash: DELIVERY_FLASHES.cancel,
      async run({ relay, caller, environment, params }) {
        await relay.deliveries.cancel(caller('relay', environment), params.id)
      },
    },
  },
})

function factsOf({ message_id: id, event_type: type, endpoint_id: endpoint }: DeliveryDetail) {
  const { href } = usePage()
  return [
    ['Message', <Id id={id} what="message ID" href={href(`/messages/${id}`)} />],
    [
      'Event type',
      <a href={href('/messages', { event_type: type })}>
        <Text text={type} />
      </a>,
    ],
    [
      'Delivery log',
      <a href={href('/deliveries', { endpoint })}>All deliveries to this endpoint</a>,
    ],
  ] as const
}
