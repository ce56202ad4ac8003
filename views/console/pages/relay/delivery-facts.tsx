import type { Endpoint } from '../../../../src/engines/relay/model/endpoints.ts'
import type { DeliveryDetail } from '../../../../src/http/delivery-log/model.ts'
import { Facts } from '../../facts.tsx'
import { Id } from '../../id.tsx'
import { Section } from '../../section.tsx'
import { Text } from '../../text.tsx'
import { url } from '../../url.ts'
import { withoutScheme } from '../../words.ts'
import { Moment } from './state.tsx'

/** Properties of a delivery, with its message and endpoint. */
export const DeliveryFacts = (of: {
  base: string
  delivery: DeliveryDetail
  endpoint: Endpoint | undefined
  /** The operator has the right to retry it, but the endpoint is not active. */
  isRefused: boolean
  now: number
}) => {
  const { base, delivery, endpoint, now } = of
  return (
    <Section id="facts" title="Delivery" isCard>
      <Facts
        facts={[
          ['ID', <Id id={delivery.id} what="delivery ID" />],
          [
            'Message',
            <Id
              id={delivery.message_id}
              what="message ID"
              href={url(base, `/console/messages/${delivery.message_id}`)}
            />,
          ],
          [
            'Event type',
            <a href={url(base, '/console/messages', { event_type: delivery.event_type })}>
              <Text text={delivery.event_type} />
            </a>,
          ],
          [
            'Endpoint',
            endpoint ? (
              <a href={url(base, `/console/endpoints/${endpoint.id}`)}>
                <Text text={withoutScheme(endpoint.url)} />
              </a>
            ) : (
              'Deleted endpoint'
            ),
          ],
          [
            'Delivery log',
            <a href={url(base, '/console/deliveries', { endpoint: delivery.endpoint_id })}>
              <Text text="All deliveries to this endpoint" />
            </a>,
          ],
          ['Created', <Moment at={delivery.created_at} now={now} />],
          ['Attempts', delivery.attempts.toLocaleString('en')],
          ['Restarts', (delivery.run - 1).toLocaleString('en')],
          ...(of.isRefused
            ? [['Retry', 'Not possible while the endpoint is paused or disabled'] as const]
            : []),
        ]}
      />
    </Section>
  )
}
