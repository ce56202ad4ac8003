import type { ComponentChildren } from 'preact'
import { Attempts } from '../../../../views/ui/charts/attempts.tsx'
import { TimingBar } from '../../../../views/ui/charts/timing-bar.tsx'
import { DangerZone } from '../../../../views/ui/confirm.tsx'
import { Exchange } from '../../../../views/ui/exchange.tsx'
import { ActionButton } from '../../../../views/ui/form/button.tsx'
import { Icon } from '../../../../views/ui/icons.tsx'
import { Id } from '../../../../views/ui/id.tsx'
import { Columns, type Fact, Facts, PageHead, Section } from '../../../../views/ui/section.tsx'
import type { Tone } from '../../../../views/ui/status.tsx'
import { shorten, Text } from '../../../../views/ui/text.tsx'
import { duration } from '../../../../views/ui/time.tsx'
import { capitalized, counted, numeral, withoutScheme } from '../../../../views/ui/words.ts'
import type { Attempt, DeliveryDetail } from '../../../http/delivery-log/model.ts'
import { MASK } from '../../../platform/secret-headers.ts'
import { usePage } from '../../page.tsx'
import { ChangesSection, outcomeOf } from './attempt-changes.tsx'
import { FailureStory, lastFailureOf } from './failure-story.tsx'
import { DELIVERY_TONES, Moment, type Receiver } from './state.tsx'

interface DeliveryProps {
  delivery: DeliveryDetail
  /** Address of the page. */
  own: string
  /** Undefined if it was deleted. */
  receiver: Receiver | undefined
  /** What its engine knows of it. */
  facts: readonly Fact[]
  aside?: ComponentChildren
  /** The request of an attempt, for a terminal. */
  curl?: ComponentChildren
}

/** One delivery: state, attempts, request and response. Its actions are `resend` and `cancel`. */
export function DeliveryView(props: DeliveryProps) {
  const { delivery, receiver } = props
  const { may, actionHref, query } = usePage()
  const log = delivery.attempt_log
  const selected = log.find(({ id }) => id === query.attempt) ?? log.at(-1)
  const before = selected && log[log.indexOf(selected) - 1]
  const failure = lastFailureOf(delivery)
  return (
    <>
      <PageHead
        title={
          <>
            <Text text={delivery.event_type} limit={60} /> to{' '}
            <Text text={receiver ? withoutScheme(receiver.url) : 'deleted endpoint'} limit={60} />
          </>
        }
        state={{ tone: DELIVERY_TONES[delivery.status], sentence: sentenceOn(delivery) }}
        aside={props.aside}
        action={
          may('change') &&
          receiver?.active &&
          !failure && (
            <ActionButton weight="primary" action={actionHref('resend')}>
              <Icon name="again" />
              Retry
            </ActionButton>
          )
        }
      />
      {failure && <FailureStory {...props} title="Failure" last={failure} />}
      <Columns>
        <DeliveryFacts {...props} />
        <Section id="attempts" title="Attempts" isCard>
          {log.length === 0 && delivery.next_attempt_at === null ? (
            <p class="hint">No attempts yet</p>
          ) : (
            <Attempts attempts={attemptsOf(props.own, delivery, selected)} />
          )}
        </Section>
      </Columns>
      {selected?.timings && (
        <Section
          id="timing"
          title={`Timing of attempt ${selected.number}`}
          note={before && comparedWith(before)}
          isCard
        >
          <TimingBar timings={selected.timings} />
        </Section>
      )}
      <Exchange
        request={selected?.request ?? null}
        requestBody={delivery.request_body}
        response={selected?.response ?? null}
        error={selected?.error ?? null}
        isPlanned={selected === undefined}
      />
      {selected && before && <ChangesSection before={before} attempt={selected} />}
      {props.curl}
      {may('change') && delivery.ended_at === null && <Cancellation {...props} />}
    </>
  )
}

const DeliveryFacts = ({ delivery, receiver, facts }: DeliveryProps) => (
  <Section id="facts" title="Delivery" isCard>
    <Facts
      facts={[
        ['ID', <Id id={delivery.id} what="delivery ID" />],
        ...facts,
        [
          capitalized(receiver?.noun ?? 'endpoint'),
          receiver ? (
            <a href={receiver.href}>
              <Text text={withoutScheme(receiver.url)} />
            </a>
          ) : (
            'Deleted endpoint'
          ),
        ],
        ['Created', <Moment at={delivery.created_at} />],
        ['Attempts', numeral(delivery.attempts)],
        ['Restarts', numeral(delivery.run - 1)],
        ...(usePage().may('change') && !receiver?.active
          ? [['Retry', 'Not possible while the endpoint is paused or disabled'] as const]
          : []),
      ]}
    />
  </Section>
)

const Cancellation = ({ receiver }: DeliveryProps) => (
  <DangerZone
    items={[
      {
        text: 'Stops all retries. An attempt in progress may still arrive.',
        id: 'cancel',
        verb: 'Cancel delivery',
        question: 'Cancel this delivery?',
        consequence: `The ${receiver?.noun ?? 'endpoint'} won't receive it unless you retry the delivery.`,
        action: usePage().actionHref('cancel'),
      },
    ]}
  />
)

/** Messages of its actions. */
export const DELIVERY_FLASHES = {
  resend: { tone: 'busy', text: 'Retry started. Refresh the page to see the result.' },
  cancel: { tone: 'quiet', text: 'Delivery cancelled.' },
} as const

const TONES: Record<Attempt['status'], Tone> = {
  succeeded: 'good',
  failed: 'bad',
  interrupted: 'warn',
}

const attemptsOf = (own: string, delivery: DeliveryDetail, selected: Attempt | undefined) => [
  ...delivery.attempt_log.map((attempt) => ({
    tone: TONES[attempt.status],
    outcome: <Text text={outcomeOf(attempt)} limit={60} />,
    at: Date.parse(attempt.started_at),
    took: attempt.duration_ms,
    href: `${own}?attempt=${attempt.id}`,
    isSelected: attempt.id === selected?.id,
  })),
  ...(delivery.next_attempt_at === null
    ? []
    : [
        {
          tone: 'quiet' as const,
          outcome: 'Next attempt',
          at: Date.parse(delivery.next_attempt_at),
          isPlanned: true,
        },
      ]),
]

/** Outcome of the previous attempt in a line. */
const comparedWith = (before: Attempt): string =>
  `Previous attempt: ${shorten(outcomeOf(before), 40)} after ${duration(before.duration_ms)}`

/** Masks signatures, valid for minutes, also in responses, for operators who can't retry. */
export const maskSignatures = (delivery: DeliveryDetail): DeliveryDetail => ({
  ...delivery,
  attempt_log: delivery.attempt_log.map(maskAttempt),
})

function maskAttempt({ request, response, ...attempt }: Attempt): Attempt {
  if (!request) return { ...attempt, request, response }
  const headers = Object.entries(request.headers)
  const signed = headers.filter(([name]) => isSignature(name)).map(([, value]) => value)
  const digests = signed.flatMap((value) => value.match(DIGEST) ?? [])
  const hidden = (text: string): string =>
    digests.reduce((rest, digest) => rest.replaceAll(digest, MASK), text)
  return {
    ...attempt,
    request: {
      ...request,
      headers: Object.fromEntries(
        headers.map(([name, value]) => [name, isSignature(name) ? MASK : value]),
      ),
    },
    response: response && {
      ...response,
      headers: response.headers.map((pair) => pair.map(hidden)),
      body: hidden(response.body),
    },
  }
}

const isSignature = (name: string): boolean => /-signature$/i.test(name)

/** Digest within a signature header, in base64 or hexadecimal. */
const DIGEST = /[\w+/]{32,}=*/g

/** State of a delivery in a sentence. */
export function sentenceOn(delivery: DeliveryDetail) {
  const { status, attempts, ended_at: ended, next_attempt_at: next } = delivery
  const last = delivery.attempt_log.at(-1)
  const lastly = last && `${shorten(outcomeOf(last), 80)} after ${duration(last.duration_ms)}`
  const tried = counted(attempts, 'attempt')
  switch (status) {
    case 'pending':
      return (
        <>
          {attempts === 0 ? 'First' : 'Next'} attempt <Moment at={next} />
        </>
      )
    case 'delivering':
      return 'Delivering'
    case 'retrying':
      return (
        <>
          Attempt {attempts} failed{lastly && `: ${lastly}`}. Next attempt <Moment at={next} />
        </>
      )
    case 'held':
      return delivery.held_reason === 'breaker'
        ? 'Held until the failing endpoint recovers'
        : 'Held until the endpoint is resumed'
    case 'succeeded':
      return (
        <>
          Delivered <Moment at={ended} /> in {tried}
        </>
      )
    case 'failed':
      return (
        <>
          Failed <Moment at={ended} /> after {tried}
          {lastly && `. Last attempt: ${lastly}`}
        </>
      )
    case 'cancelled':
      return (
        <>
          Cancelled <Moment at={ended} /> after {tried}
        </>
      )
  }
}
