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

/** One message to one endpoint: what was sent, what came back, and what comes next. */
export const DeliveryPage = (page: {
  base: string
  delivery: DeliveryDetail
  /** Undefined once it has been deleted. */
  endpoint: Endpoint | undefined
  selected: Attempt | undefined
  /** What a resend would send, for whoever may resend. */
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
            <Text text={endpoint ? withoutScheme(endpoint.url) : 'a deleted endpoint'} limit={60} />
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
              Send again
            </ActionButton>
          )
        }
      />
      {failure && (
        <FailureStory {...page} title="What went wrong" last={failure} canResend={canResend} />
      )}
      <Columns>
        <DeliveryFacts {...page} isRefused={page.mayChange && !canResend} />
        <Section id="attempts" title="Attempts" isCard>
          {delivery.attempt_log.length === 0 && delivery.next_attempt_at === null ? (
            <p class="hint">None so far.</p>
          ) : (
            <Attempts now={now} attempts={attemptsOf(own, delivery, selected)} />
          )}
        </Section>
      </Columns>
      {selected?.timings && (
        <Section
          id="timing"
          title={`Where the time of attempt ${selected.number} went`}
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
              title: 'Cancel it',
              text: 'It is not tried again. What is under way may still arrive.',
              control: (
                <Confirm
                  id="cancel"
                  verb="Cancel delivery"
                  question="Cancel this delivery?"
                  consequence="The endpoint does not get this message, unless it is sent again by hand."
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
          outcome: 'Planned',
          at: Date.parse(delivery.next_attempt_at),
          isPlanned: true,
        },
      ]),
]

/** In a line, how the one before went. */
const comparedWith = (before: Attempt): string =>
  `the attempt before: ${shorten(outcomeOf(before), 40)} after ${duration(before.duration_ms)}`
