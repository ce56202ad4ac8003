import { CodeBlock } from '../../../../views/ui/code.tsx'
import { LinkButton } from '../../../../views/ui/form/button.tsx'
import { Id } from '../../../../views/ui/id.tsx'
import { Text } from '../../../../views/ui/text.tsx'
import type { SignedRequest } from '../../../engines/relay/signed-requests.ts'
import type { DeliveryDetail } from '../../../http/delivery-log/model.ts'
import { MASK } from '../../../platform/secret-headers.ts'
import { page, usePage } from '../../page.tsx'
import { DELIVERY_FLASHES, DeliveryView, maskSignatures } from './delivery-view.tsx'
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

/** A signed request as a curl command, for operators who can retry. */
export const SignedCurl = ({ request, hint }: { request: SignedRequest; hint: string }) => (
  <details class="fold" id="curl">
    <summary>
      View as curl <span class="hint">{hint}</span>
    </summary>
    <div class="stack">
      {Object.values(request.headers).includes(MASK) && (
        <p class="hint">Replace {MASK} with your secret values.</p>
      )}
      <CodeBlock title="curl" what="command">
        {commandOf(request)}
      </CodeBlock>
    </div>
  </details>
)

/** A curl command. With `-g`, because curl expands brackets in addresses. */
export const commandOf = ({ url, headers, body }: SignedRequest): string =>
  [
    `curl -g ${quoted(url)}`,
    ...Object.entries(headers).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    `--data-raw ${quoted(body)}`,
  ].join(' \\\n  ')

/** Quotes untrusted text for a shell. */
const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`
