import { Attempts } from '../../../../views/console/charts/attempts.tsx'
import { TimingBar } from '../../../../views/console/charts/timing-bar.tsx'
import { Confirm, DangerZone } from '../../../../views/console/confirm.tsx'
import { Exchange } from '../../../../views/console/exchange.tsx'
import { ActionButton, LinkButton } from '../../../../views/console/form/button.tsx'
import { Icon } from '../../../../views/console/icons.tsx'
import { PageHead } from '../../../../views/console/page-head.tsx'
import { Columns, Section } from '../../../../views/console/section.tsx'
import { shorten, Text } from '../../../../views/console/text.tsx'
import { duration } from '../../../../views/console/time.tsx'
import type { Tone } from '../../../../views/console/tone.ts'
import { withoutScheme } from '../../../../views/console/words.ts'
import type { Attempt, DeliveryDetail } from '../../../http/delivery-log/model.ts'
import { page, usePage } from '../../page.tsx'
import { outcomeOf } from './attempt-outcome.ts'
import { ChangesSection } from './changes-section.tsx'
import { DeliveryFacts } from './delivery-facts.tsx'
import { sentenceOn } from './delivery-sentence.tsx'
import { FailureStory, lastFailureOf } from './failure-story.tsx'
import { maskSignatures } from './mask-signatures.ts'
import { SignedCurl } from './signed-curl.tsx'
import { DELIVERY_TONES } from './state.tsx'

/** One delivery: state, attempts, request and response. */
export const deliveryPage = page({
  path: '/deliveries/:id',
  section: 'deliveries',
  hasEnvironments: true,
  right: 'read',

  load({ relay, caller, environment, may, params, query }) {
    const by = caller('relay', environment)
    const found = relay.deliveries.get(by, params.id)
    const delivery = may('change') ? found : maskSignatures(found)
    const log = delivery.attempt_log
    return {
      delivery,
      /** Undefined if it was deleted. */
      endpoint: relay.endpoints.ifAny(by, delivery.endpoint_id),
      selected: log.find((attempt) => attempt.id === query.attempt) ?? log.at(-1),
      /** Request of a retry, for operators who can retry. */
      signed: may('change') ? relay.signedRequestOf(by, params.id) : undefined,
    }
  },

  title: ({ delivery }) => delivery.event_type,

  view({ delivery, endpoint, selected, signed }) {
    const { href, may, actionHref } = usePage()
    const own = href(`/deliveries/${delivery.id}`)
    const canResend = may('change') && endpoint?.active === true
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
          state={{ tone: DELIVERY_TONES[delivery.status], sentence: sentenceOn(delivery) }}
          aside={
            <>
              <LinkButton href={href(`/messages/${delivery.message_id}`)}>Message</LinkButton>
              {endpoint && (
                <LinkButton href={href(`/endpoints/${endpoint.id}`)}>Endpoint</LinkButton>
              )}
            </>
          }
          action={
            canResend &&
            !failure && (
              <ActionButton weight="primary" action={actionHref('resend')}>
                <Icon name="again" />
                Retry
              </ActionButton>
            )
          }
        />
        {failure && (
          <FailureStory
            delivery={delivery}
            endpoint={endpoint}
            title="Failure"
            last={failure}
            canResend={canResend}
          />
        )}
        <Columns>
          <DeliveryFacts
            delivery={delivery}
            endpoint={endpoint}
            isRefused={may('change') && !canResend}
          />
          <Section id="attempts" title="Attempts" isCard>
            {delivery.attempt_log.length === 0 && delivery.next_attempt_at === null ? (
              <p class="hint">No attempts yet</p>
            ) : (
              <Attempts attempts={attemptsOf(own, delivery, selected)} />
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
        {signed && <SignedCurl request={signed} />}
        {may('change') && delivery.ended_at === null && (
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
                    action={actionHref('cancel')}
                  />
                ),
              },
            ]}
          />
        )}
      </>
    )
  },

  actions: {
    resend: {
      right: 'change',
      flash: { tone: 'busy', text: 'Retry started. Refresh the page to see the result.' },
      async run({ relay, caller, environment, params }) {
        await relay.deliveries.resend(caller('relay', environment), params.id)
      },
    },
    cancel: {
      right: 'change',
      flash: { tone: 'quiet', text: 'Delivery cancelled.' },
      async run({ relay, caller, environment, params }) {
        await relay.deliveries.cancel(caller('relay', environment), params.id)
      },
    },
  },
})

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
