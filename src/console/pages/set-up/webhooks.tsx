import { ActionButton, Button, LinkButton } from '../../../../views/ui/form/button.tsx'
import { Field } from '../../../../views/ui/form/field.tsx'
import { PageForm } from '../../../../views/ui/form/form.tsx'
import { GuideStep, GuideSteps, Waiting } from '../../../../views/ui/guide.tsx'
import { StatusShape } from '../../../../views/ui/status.tsx'
import { Text } from '../../../../views/ui/text.tsx'
import { withoutScheme } from '../../../../views/ui/words.ts'
import { sign } from '../../../delivery/signing.ts'
import type { Endpoint } from '../../../engines/relay/model/endpoints.ts'
import { hears } from '../../../engines/relay/queries.ts'
import type { Delivery } from '../../../http/delivery-log/model.ts'
import { isTestReceiver, type ReceivedRequest } from '../../../platform/test-receiver/index.ts'
import { trimmedText } from '../../form.ts'
import { type PageContext, page, usePage } from '../../page.tsx'
import { DELIVERY_TONES, WORDS } from '../webhooks/state.tsx'
import {
  aboveGuides,
  createsKey,
  Guide,
  GuideCode,
  type GuideData,
  guideData,
  jsonWith,
  PROGRESS,
  Result,
} from './guide.tsx'
import { Received } from './jobs.tsx'

/** The event type of the guide, to which no other endpoint subscribes by name. */
const TYPE = 'hello.world'
const PAYLOAD = { message: 'Hello from Gatehouse' }
/** Most endpoints that are searched for the one of the guide. */
const MAX_ENDPOINTS = 100
const MAX_URL_LENGTH = 64

interface WebhooksGuide extends GuideData {
  receiverUrl: string
  endpoint: Endpoint | undefined
  /** Number of other endpoints that get the event as well. */
  others: number
  delivery: Delivery | undefined
  received: (ReceivedRequest & { isSigned: boolean }) | undefined
}

/** Guide to a first event, delivered to the built-in test receiver or to a URL of the tenant. */
export const webhooksGuide = page({
  path: '/get-started/webhooks',
  section: 'overview',
  right: 'read',
  title: 'Deliver your first event',
  above: aboveGuides,

  load(context): WebhooksGuide {
    const { relay, testReceivers, tenantId, caller } = context
    const live = caller('relay', 'live')
    const subscribed = relay.endpoints
      .list(live, { limit: MAX_ENDPOINTS })
      .data.filter((endpoint) => hears(endpoint, { type: TYPE }))
    const endpoint = subscribed.find(({ event_types: types }) => types?.includes(TYPE))
    const [delivery] = endpoint
      ? relay.deliveries.list(live, { limit: 1, endpoint_id: endpoint.id }).data
      : []
    const [received] =
      endpoint && isTestReceiver(endpoint.url)
        ? testReceivers.requests(tenantId, 'webhooks', 1)
        : []
    return {
      ...guideData(context, 'webhooks'),
      receiverUrl: testReceivers.urlOf(tenantId, 'webhooks'),
      endpoint,
      others: subscribed.length - (endpoint ? 1 : 0),
      delivery,
      received: endpoint &&
        received && { ...received, isSigned: isSigned(context, endpoint.id, received) },
    }
  },

  view: (guide) => (
    <Guide
      goal="webhooks"
      sentence="Your app sends an event once. Gatehouse signs it, and delivers it to every endpoint that subscribes to its type."
      code={<Code newKey={guide.newKey} />}
    >
      <Steps {...guide} />
    </Guide>
  ),

  live: ({ newKey: _, ...guide }) =>
    // A form that is being filled in must not be replaced.
    guide.endpoint && { [PROGRESS]: { facts: guide, view: <Steps {...guide} /> } },

  actions: {
    endpoint: {
      right: 'change',
      form: { url: 'url' },
      async run({ relay, caller, fields }) {
        await relay.endpoints.create(caller('relay', 'live'), {
          url: trimmedText(fields, 'url'),
          description: 'First endpoint',
          event_types: [TYPE],
        })
      },
    },
    send: {
      right: 'change',
      async run({ relay, db, audit, tenantId, actor, caller }) {
        const live = caller('relay', 'live')
        const input = { event_type: TYPE, payload: PAYLOAD }
        const { message } = await relay.messages.send(live, input, JSON.stringify(PAYLOAD))
        const object = `message:${message.id}`
        await db.commitFor(tenantId, () =>
          audit.record({ tenantId, actor, action: 'message.sent', object }),
        )
      },
    },
    key: createsKey({ engines: ['relay'], environment: 'live', scopes: ['relay:send'] }),
  },
})

/** Verifies a received request as a receiver does. */
function isSigned(
  { delivery, tenantId }: PageContext,
  endpointId: string,
  { headers, body }: ReceivedRequest,
): boolean {
  const { secrets } = delivery.endpoints.get({ tenantId, name: 'relay.live' }, endpointId)
  const { standard } = sign({
    id: headers['webhook-id'] ?? '',
    timestamp: Number(headers['webhook-timestamp']),
    body,
    secrets: secrets.map(({ secret }) => secret),
  })
  return standard === headers['webhook-signature']
}

function Steps(guide: Omit<WebhooksGuide, 'newKey'>) {
  const { endpoint, delivery, next } = guide
  const { may, hrefIn } = usePage()
  const isDone = delivery?.status === 'succeeded'
  return (
    <>
      <GuideSteps>
        <GuideStep title="Create an endpoint" isDone={endpoint !== undefined}>
          {endpoint ? <EndpointSummary endpoint={endpoint} /> : <NewEndpoint {...guide} />}
        </GuideStep>
        <GuideStep title="Send an event" isDone={delivery !== undefined}>
          {endpoint && <SendEvent {...guide} />}
        </GuideStep>
        <GuideStep title="See it arrive" isDone={isDone}>
          {delivery && <Arrival {...guide} delivery={delivery} />}
        </GuideStep>
      </GuideSteps>
      {isDone && endpoint && (
        <Result
          next={next}
          more={
            may('change') && (
              <LinkButton
                href={hrefIn(
                  'live',
                  isTestReceiver(endpoint.url) ? '/endpoints/new' : `/endpoints/${endpoint.id}`,
                )}
              >
                {isTestReceiver(endpoint.url) ? 'Use your own URL' : 'View endpoint'}
              </LinkButton>
            )
          }
        >
          Failed deliveries are retried for days, and you can replay them. Receivers check the
          signature with the endpoint's secret, which is on its page.
        </Result>
      )}
    </>
  )
}

function EndpointSummary({ endpoint: { id, url } }: { endpoint: Endpoint }) {
  const { hrefIn } = usePage()
  return (
    <p>
      <a href={hrefIn('live', `/endpoints/${id}`)}>
        {isTestReceiver(url) ? (
          'The test receiver'
        ) : (
          <Text text={withoutScheme(url)} limit={MAX_URL_LENGTH} />
        )}
      </a>{' '}
      subscribes to <code>{TYPE}</code>.
    </p>
  )
}

const NewEndpoint = ({ receiverUrl }: Pick<WebhooksGuide, 'receiverUrl'>) =>
  usePage().may('change') && (
    <PageForm action="endpoint" buttons={<Button weight="primary">Create endpoint</Button>}>
      <Field
        name="url"
        label="URL"
        isMono
        isRequired
        value={receiverUrl}
        help="A test receiver inside Gatehouse, which shows what it gets. Or enter a URL of your own."
      />
    </PageForm>
  )

function SendEvent({ delivery, others }: Pick<WebhooksGuide, 'delivery' | 'others'>) {
  const { may, actionHref } = usePage()
  return (
    <>
      <p class="hint">
        The event <code>{TYPE}</code> with a short JSON payload, in the live environment.
        {others > 0 &&
          ` ${others === 1 ? 'Another endpoint subscribes to all events and gets' : `${others} other endpoints subscribe to all events and get`} it, too.`}
      </p>
      {may('change') && (
        <ActionButton
          weight={delivery ? 'plain' : 'primary'}
          isSmall={delivery !== undefined}
          action={actionHref('send')}
        >
          {delivery ? 'Send again' : 'Send event'}
        </ActionButton>
      )}
    </>
  )
}

function Arrival({ delivery, received }: Pick<WebhooksGuide, 'received'> & { delivery: Delivery }) {
  const { hrefIn } = usePage()
  if (delivery.status === 'pending' && delivery.attempts === 0) return <Waiting>Delivering</Waiting>
  return (
    <>
      <p class="quietrow">
        <StatusShape tone={DELIVERY_TONES[delivery.status]} />
        <span>
          <code>{delivery.event_type}</code> {WORDS[delivery.status]}
          {' · '}
          <a href={hrefIn('live', `/deliveries/${delivery.id}`)}>View delivery</a>
        </span>
      </p>
      {received && (
        <>
          <p class="quietrow">
            <StatusShape tone={received.isSigned ? 'good' : 'bad'} />
            <span>{received.isSigned ? 'Signature verified' : 'Signature invalid'}</span>
          </p>
          <Received request={received} />
        </>
      )}
    </>
  )
}

function Code({ newKey }: Pick<GuideData, 'newKey'>) {
  const url = `${usePage().baseUrl()}/v1/relay/messages`
  const body = { event_type: 'order.paid', payload: { order: 42 } }
  return (
    <GuideCode
      goal="webhooks"
      newKey={newKey}
      note="The key only sends events. WEBHOOK_SECRET is the secret of the endpoint."
      requests={(key) => [{ title: 'curl', url, headers: jsonWith(key), body }]}
    />
  )
}
