import type { Endpoint } from '../../../../src/engines/relay/model/endpoints.ts'
import type { SignedRequest } from '../../../../src/engines/relay/signed-requests.ts'
import type { Attempt, DeliveryDetail } from '../../../../src/http/delivery-log/model.ts'
import { Attempts } from '../../charts/attempts.tsx'
import { TimingBar } from '../../charts/timing-bar.tsx'
import { Confirm, DangerZone } from '../../confirm.tsx'
import { Exchange } from '../../exchange.tsx'
import { ActionButton, LinkButton } from '../../form/button.tsx'
import { Icon } from '../../icons.tsx'
import { PageHead } from '../../page-head.tsx'
import { Columns, Section } from '../../section.tsx'
import { shorten, Text } from '../../text.tsx'
import { duration } from '../../time.tsx'
import type { Tone } from '../../tone.ts'
import { url } from '../../url.ts'
import { withoutScheme } from '../../words.ts'
import { outcomeOf } from './attempt-outcome.ts'
import { ChangesSection } from './changes-section.tsx'
import { DeliveryFacts } from './delivery-facts.tsx'
import { sentenceOn } from './delivery-sentence.tsx'
import { FailureStory, lastFailureOf } from './failure-story.tsx'
import { SignedCurl } from './signed-curl.tsx'
import { DELIVERY_TONES } from './state.tsx'

/** One delivery: state, attempts, request and response. */
export const DeliveryPage = (page: {
  base: string
  delivery: DeliveryDetail
  /** Undefined if it was deleted. */
  endpoint: Endpoint | undefined
  selected: Attempt | undefined
  /** Request of a retry, for operators who can retry. */
  signed: SignedRequest | undefined
  mayChange: boolean
  now: number
}) => {
  const { base, delivery, endpoint, selected, now } = page
  const own = url(base, `/console/deliveries/${delivery.id}`)
  const canResend = page.mayChange && endpoint?.active === true
  const failure = lastFailureOf(delivery)
  const before = selected && delivery.attempt_log[delivery.attempt_log.indexOf(selected) - 1]
  return (
    <>
      <PageHead
        title={
          <>
            <Text text={delivery.event_type} limit={60} /> to{' '}
            <Text text={endpoint ? withoutScheme(endpoint.url) : 'deleted endpoint'} limit={60} />
          </>
        }
        state={{ tone: DELIVERY_TONES[delivery.status], sentence: sentenceOn(delivery, now) }}
        aside={
          <>
            <LinkButton href={url(base, `/console/messages/${delivery.message_id}`)}>
              Message
            </LinkButton>
            {endpoint && (
              <LinkButton href={url(base, `/console/endpoints/${endpoint.id}`)}>
                Endpoint
              </LinkButton>
            )}
          </>
        }
        action={
          canResend &&
          !failure && (
            <ActionButton weight="primary" action={`${own}/resend`}>
              <Icon name="again" />
              Retry
            </ActionButton>
          )
        }
      />
      {failure && <FailureStory {...page} title="Failure" last={failure} canResend={canResend} />}
      <Columns>
        <DeliveryFacts {...page} isRefused={page.mayChange && !canResend} />
        <Section id="attempts" title="Attempts" isCard>
          {delivery.attempt_log.length === 0 && delivery.next_attempt_at === null ? (
            <p class="hint">No attempts yet</p>
          ) : (
            <Attempts now={now} attempts={attemptsOf(own, delivery, selected)} />
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
      {page.signed && <SignedCurl request={page.signed} />}
      {page.mayChange && delivery.ended_at === null && (
        <DangerZone
          items={[
            {
              title: 'Cancel delivery',
              text: 'Stops all retries. An attempt in progress may still arrive.',
              control: (
                <Confirm
                  id="cancel"
                  verb="Cancel delivery"
                  question="Cancel this delivery?"
                  consequence="The endpoint won't receive this message unless you retry the delivery."
                  action={`${own}/cancel`}
                />
              ),
            },
          ]}
        />
      )}
    </>
  )
}

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
