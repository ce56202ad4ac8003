import { Facts } from '../../../../views/console/facts.tsx'
import { Id } from '../../../../views/console/id.tsx'
import { Section } from '../../../../views/console/section.tsx'
import { Text } from '../../../../views/console/text.tsx'
import { numeral, withoutScheme } from '../../../../views/console/words.ts'
import type { Endpoint } from '../../../engines/relay/model/endpoints.ts'
import type { DeliveryDetail } from '../../../http/delivery-log/model.ts'
import { usePage } from '../../page.tsx'
import { Moment } from './state.tsx'

/** Properties of a delivery, with its message and endpoint. */
export const DeliveryFacts = (of: {
  delivery: DeliveryDetail
  endpoint: Endpoint | undefined
  /** The operator has the right to retry it, but the endpoint is not active. */
  isRefused: boolean
}) => {
  const { delivery, endpoint } = of
  const { href } = usePage()
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
              href={href(`/messages/${delivery.message_id}`)}
            />,
          ],
          [
            'Event type',
            <a href={href('/messages', { event_type: delivery.event_type })}>
              <Text text={delivery.event_type} />
            </a>,
          ],
          [
            'Endpoint',
            endpoint ? (
              <a href={href(`/endpoints/${endpoint.id}`)}>
                <Text text={withoutScheme(endpoint.url)} />
              </a>
            ) : (
              'Deleted endpoint'
            ),
          ],
          [
            'Delivery log',
            <a href={href('/deliveries', { endpoint: delivery.endpoint_id })}>
              <Text text="All deliveries to this endpoint" />
            </a>,
          ],
          ['Created', <Moment at={delivery.created_at} />],
          ['Attempts', numeral(delivery.attempts)],
          ['Restarts', numeral(delivery.run - 1)],
          ...(of.isRefused
            ? [['Retry', 'Not possible while the endpoint is paused or disabled'] as const]
            : []),
        ]}
      />
    </Section>
  )
}
