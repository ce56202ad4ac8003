import type { Endpoint } from '../../../../src/engines/relay/model/endpoints.ts'
import type { DeliveryDetail } from '../../../../src/http/delivery-log/model.ts'
import { Facts } from '../../facts.tsx'
import { Id } from '../../id.tsx'
import { Section } from '../../section.tsx'
import { Text } from '../../text.tsx'
import { url } from '../../url.ts'
import { withoutScheme } from '../../words.ts'
import { Moment } from './state.tsx'

/** What a delivery is, and where it comes from and goes to. */
export const DeliveryFacts = (of: {
  base: string
  delivery: DeliveryDetail
  endpoint: Endpoint | undefined
  /** Somebody may send it again, and cannot. */
  isRefused: boolean
  now: number
}) => {
  const { base, delivery, endpoint, now } = of
  return (
    <Section id="facts" title="Delivery" isCard>
      <Facts
        facts={[
          ['Id', <Id id={delivery.id} what="delivery id" />],
          [
            'Message',
            <Id
              id={delivery.message_id}
              what="message id"
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
              'deleted since'
            ),
          ],
          [
            'Log',
            <a href={url(base, '/console/deliveries', { endpoint: delivery.endpoint_id })}>
              <Text text="All deliveries there" />
            </a>,
          ],
          ['Created', <Moment at={delivery.created_at} now={now} />],
          ['Attempts', delivery.attempts.toLocaleString('en')],
          ['Runs', String(delivery.run)],
          ...(of.isRefused
            ? [['Send again', 'not while its endpoint takes nothing'] as const]
            : []),
        ]}
      />
    </Section>
  )
}
