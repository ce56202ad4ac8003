import type { Endpoint } from '../../../../src/engines/relay/model/endpoints.ts'
import type { Attempt, DeliveryDetail } from '../../../../src/http/delivery-log/model.ts'
import { Attempts } from '../../charts/attempts.tsx'
import { TimingBar } from '../../charts/timing-bar.tsx'
import { Confirm, DangerZone } from '../../confirm.tsx'
import { CurlBlock } from '../../curl-block.tsx'
import { Facts } from '../../facts.tsx'
import { ActionButton, LinkButton } from '../../form/button.tsx'
import { Icon } from '../../icons.tsx'
import { Id } from '../../id.tsx'
import { PageHead } from '../../page-head.tsx'
import { Columns, Section } from '../../section.tsx'
import { shorten, Text } from '../../text.tsx'
import { duration } from '../../time.tsx'
import type { Tone } from '../../tone.ts'
import { url } from '../../url.ts'
import { Exchange, wordsOf } from './exchange.tsx'
import { counted, DELIVERY_TONES, Moment, withoutScheme } from './state.tsx'

/** One message to one endpoint: what was sent, what came back, and what comes next. */
export const DeliveryPage = (page: {
  base: string
  delivery: DeliveryDetail
  /** Undefined once it has been deleted. */
  endpoint: Endpoint | undefined
  selected: Attempt | undefined
  mayChange: boolean
  now: number
}) => {
  const { base, delivery, endpoint, selected, now } = page
  const own = url(base, `/console/deliveries/${delivery.id}`)
  const canResend = page.mayChange && endpoint?.active === true
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
          endpoint && (
            <LinkButton href={url(base, `/console/endpoints/${endpoint.id}`)}>Endpoint</LinkButton>
          )
        }
        action={
          canResend && (
            <ActionButton weight="primary" action={`${own}/resend`}>
              <Icon name="again" />
              Send again
            </ActionButton>
          )
        }
      />
      <Columns>
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
                'Endpoint',
                endpoint ? (
                  <a href={url(base, `/console/endpoints/${endpoint.id}`)}>
                    <Text text={withoutScheme(endpoint.url)} />
                  </a>
                ) : (
                  'deleted since'
                ),
              ],
              ['Created', <Moment at={delivery.created_at} now={now} />],
              ['Attempts', delivery.attempts.toLocaleString('en')],
              ['Runs', String(delivery.run)],
              ...(page.mayChange && !canResend
                ? [['Send again', 'not while its endpoint takes nothing'] as const]
                : []),
            ]}
          />
        </Section>
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
          title="Where the time went"
          note={comparedWith(delivery.attempt_log, selected)}
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
      {selected?.request && (
        <details class="fold">
          <summary>
            As curl <span class="hint">with the signature of this attempt</span>
          </summary>
          <CurlBlock
            url={selected.request.url}
            headers={selected.request.headers}
            body={delivery.request_body}
          />
        </details>
      )}
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

function outcomeOf({ response, error, status }: Attempt): string {
  if (response) return `Status ${response.status}`
  return error ? wordsOf(error) : status
}

/** What is different from the attempt before, in a line. */
function comparedWith(log: readonly Attempt[], selected: Attempt): string | undefined {
  const before = log[log.indexOf(selected) - 1]
  return (
    before &&
    `the attempt before: ${shorten(outcomeOf(before), 40)} after ${duration(before.duration_ms)}`
  )
}

function sentenceOn(delivery: DeliveryDetail, now: number) {
  const { status, attempts, ended_at: ended, next_attempt_at: next } = delivery
  const last = delivery.attempt_log.at(-1)
  const lastly = last && `${shorten(outcomeOf(last), 80)} after ${duration(last.duration_ms)}`
  const tried = counted(attempts, 'attempt')
  switch (status) {
    case 'pending':
      return (
        <>
          {attempts === 0 ? 'Its first' : 'The next'} attempt is due <Moment at={next} now={now} />.
        </>
      )
    case 'delivering':
      return 'An attempt is under way.'
    case 'retrying':
      return (
        <>
          Attempt {attempts}: {lastly ?? 'failed'}. The next one is <Moment at={next} now={now} />.
        </>
      )
    case 'held':
      return delivery.held_reason === 'breaker'
        ? 'Kept until its endpoint, which keeps failing, answers again.'
        : 'Kept until its endpoint, which is paused, takes deliveries again.'
    case 'succeeded':
      return (
        <>
          Delivered <Moment at={ended} now={now} /> with {tried}.
        </>
      )
    case 'failed':
      return (
        <>
          Given up <Moment at={ended} now={now} /> after {tried}
          {lastly && `, the last one: ${lastly}`}.
        </>
      )
    case 'cancelled':
      return (
        <>
          Cancelled <Moment at={ended} now={now} /> after {tried}.
        </>
      )
  }
}
