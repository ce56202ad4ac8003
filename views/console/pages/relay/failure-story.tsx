import type { Endpoint } from '../../../../src/engines/relay/model/endpoints.ts'
import type { Attempt, DeliveryDetail } from '../../../../src/http/delivery-log/model.ts'
import { type Event, Events } from '../../events.tsx'
import { wordsOf } from '../../exchange.tsx'
import { ActionButton, LinkButton } from '../../form/button.tsx'
import { Icon } from '../../icons.tsx'
import { Section } from '../../section.tsx'
import { Text } from '../../text.tsx'
import { duration } from '../../time.tsx'
import { url } from '../../url.ts'
import { bytes, counted, withoutScheme } from '../../words.ts'
import { outcomeOf } from './attempt-outcome.ts'
import { Moment } from './state.tsx'

interface FailureProps {
  base: string
  delivery: DeliveryDetail
  endpoint: Endpoint | undefined
  canResend: boolean
  now: number
}

/** Last attempt of a delivery that has not succeeded; undefined without a failure. */
export function lastFailureOf({ status, attempt_log: log }: DeliveryDetail): Attempt | undefined {
  const last = log.at(-1)
  return last && last.status !== 'succeeded' && status !== 'succeeded' ? last : undefined
}

/** A failed delivery: request, response and next step. */
export const FailureStory = (
  props: FailureProps & {
    last: Attempt
    title: string
    /** Links to the delivery, from another page. */
    isLinked?: boolean
  },
) => {
  const own = url(props.base, `/console/deliveries/${props.delivery.id}`)
  return (
    <Section
      id="story"
      title={props.title}
      isCard
      aside={
        <>
          {props.isLinked && (
            <LinkButton isSmall href={own}>
              View delivery
            </LinkButton>
          )}
          {props.canResend && (
            <ActionButton
              weight={props.isLinked ? 'plain' : 'primary'}
              isSmall={props.isLinked}
              action={`${own}/resend`}
            >
              <Icon name="again" />
              Retry
            </ActionButton>
          )}
        </>
      }
    >
      <Events label={props.title} events={[sent(props), cameBack(props), next(props)]} />
    </Section>
  )
}

type FailedStory = FailureProps & { last: Attempt }

function sent({ last, delivery, now }: FailedStory): Event {
  const size = new TextEncoder().encode(delivery.request_body).length
  return {
    tone: 'quiet',
    title: last.request ? (
      <>
        Sent POST to <Text text={withoutScheme(last.request.url)} limit={100} />
      </>
    ) : (
      'No request sent: the attempt failed first'
    ),
    text: `Attempt ${last.number}, ${TRIGGERS[last.trigger]}, ${bytes(size)}`,
    aside: <Moment at={last.started_at} now={now} />,
  }
}

const TRIGGERS: Record<Attempt['trigger'], string> = {
  schedule: 'automatic',
  resend: 'manual retry',
  replay: 'replay',
}

function cameBack({ last }: FailedStory): Event {
  const { response, error } = last
  return {
    tone: 'bad',
    title: (
      <>
        {response ? `Response: status ${response.status}` : 'No response: '}
        {!response && <Text text={outcomeOf(last)} limit={120} />} after{' '}
        {duration(last.duration_ms)}
      </>
    ),
    text: (
      <>
        {response && response.body !== '' ? (
          <Text text={response.body} limit={200} />
        ) : (
          response && 'Empty body'
        )}
        {response && error && error.message !== `status ${response.status}` && (
          <>
            {' '}
            <Text text={wordsOf(error)} limit={200} />
          </>
        )}
      </>
    ),
  }
}

function next(props: FailedStory): Event {
  const { delivery, endpoint, now } = props
  switch (delivery.status) {
    case 'pending':
    case 'retrying':
      return {
        tone: 'busy',
        title: `Next retry: attempt ${delivery.attempts + 1}`,
        text: endpoint && healthOf(endpoint),
        aside: <Moment at={delivery.next_attempt_at} now={now} />,
      }
    case 'delivering':
      return { tone: 'busy', title: 'Retrying now' }
    case 'held':
      return delivery.held_reason === 'breaker'
        ? {
            tone: 'warn',
            title: 'Held until the endpoint recovers',
            text: endpoint && healthOf(endpoint),
            aside: endpoint?.health.open_until != null && (
              <Moment at={endpoint.health.open_until} now={now} />
            ),
          }
        : {
            tone: 'warn',
            title: 'Held until the endpoint is resumed',
            text: endpoint && (
              <a href={url(props.base, `/console/endpoints/${endpoint.id}`)}>View endpoint</a>
            ),
          }
    case 'cancelled':
      return {
        tone: 'quiet',
        title: 'Cancelled. No further attempts.',
        aside: <Moment at={delivery.ended_at} now={now} />,
      }
    default:
      return {
        tone: 'bad',
        title: 'Failed. No further automatic retries.',
        text: `${counted(delivery.attempts, 'attempt')} in total`,
        aside: <Moment at={delivery.ended_at} now={now} />,
      }
  }
}

const healthOf = ({ health }: Endpoint): string | undefined =>
  health.failures_in_a_row > 1
    ? `The endpoint failed ${health.failures_in_a_row.toLocaleString('en')} times in a row.`
    : undefined
