import { type Event, Events } from '../../../../views/ui/events.tsx'
import { wordsOf } from '../../../../views/ui/exchange.tsx'
import { ActionButton, LinkButton } from '../../../../views/ui/form/button.tsx'
import { Icon } from '../../../../views/ui/icons.tsx'
import { Section } from '../../../../views/ui/section.tsx'
import { Text } from '../../../../views/ui/text.tsx'
import { duration } from '../../../../views/ui/time.tsx'
import { bytes, counted, numeral, withoutScheme } from '../../../../views/ui/words.ts'
import type { Attempt, DeliveryDetail } from '../../../http/delivery-log/model.ts'
import { usePage } from '../../page.tsx'
import { outcomeOf } from './attempt-changes.tsx'
import { Moment, type Receiver } from './state.tsx'

interface FailureProps {
  delivery: DeliveryDetail
  /** Address of its page. */
  own: string
  receiver: Receiver | undefined
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
  const { own, receiver } = props
  const canResend = usePage().may('change') && receiver?.active === true
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
          {canResend && (
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

function sent({ last, delivery }: FailedStory): Event {
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
    aside: <Moment at={last.started_at} />,
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
  const { delivery, receiver } = props
  switch (delivery.status) {
    case 'pending':
    case 'retrying':
      return {
        tone: 'busy',
        title: `Next retry: attempt ${delivery.attempts + 1}`,
        text: healthOf(receiver),
        aside: <Moment at={delivery.next_attempt_at} />,
      }
    case 'delivering':
      return { tone: 'busy', title: 'Retrying now' }
    case 'held':
      return delivery.held_reason === 'breaker'
        ? {
            tone: 'warn',
            title: 'Held until the endpoint recovers',
            text: healthOf(receiver),
            aside: receiver?.health?.open_until != null && (
              <Moment at={receiver.health.open_until} />
            ),
          }
        : {
            tone: 'warn',
            title: `Held until the ${receiver?.noun ?? 'endpoint'} is resumed`,
            text: receiver && <a href={receiver.href}>View {receiver.noun}</a>,
          }
    case 'cancelled':
      return {
        tone: 'quiet',
        title: 'Cancelled. No further attempts.',
        aside: <Moment at={delivery.ended_at} />,
      }
    default:
      return {
        tone: 'bad',
        title: 'Failed. No further automatic retries.',
        text: `${counted(delivery.attempts, 'attempt')} in total`,
        aside: <Moment at={delivery.ended_at} />,
      }
  }
}

function healthOf({ health }: Partial<Receiver> = {}): string | undefined {
  const failures = health?.failures_in_a_row ?? 0
  return failures > 1 ? `The endpoint failed ${numeral(failures)} times in a row.` : undefined
}
