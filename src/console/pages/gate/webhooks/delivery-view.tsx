import { Attempts } from '../../../../../views/console/charts/attempts.tsx'
import { CurlBlock } from '../../../../../views/console/curl-block.tsx'
import { Exchange } from '../../../../../views/console/exchange.tsx'
import { Facts } from '../../../../../views/console/facts.tsx'
import { ActionButton } from '../../../../../views/console/form/button.tsx'
import { Id } from '../../../../../views/console/id.tsx'
import { PageHead } from '../../../../../views/console/page-head.tsx'
import { Section } from '../../../../../views/console/section.tsx'
import { Text } from '../../../../../views/console/text.tsx'
import { url } from '../../../../../views/console/url.ts'
import { capitalized } from '../../../../../views/console/words.ts'
import type { Webhook } from '../../../../engines/gate/webhooks/model.ts'
import type { Attempt, DeliveryDetail } from '../../../../http/delivery-log/model.ts'
import { OUTCOMES, outcomeOf, TONES, time, WEBHOOKS } from './state-view.tsx'

interface DeliveryView {
  base: string
  now: number
  webhook: Webhook
  delivery: DeliveryDetail
  /** Selected attempt; the last one by default. */
  attemptId: string | undefined
  mayChange: boolean
}

/** One delivery of a webhook: attempts, request and response. */
export const DeliveryPage = (page: DeliveryView) => {
  const { base, now, webhook, delivery, mayChange } = page
  const { attempt_log: log } = delivery
  const path = `${WEBHOOKS}/${webhook.id}/deliveries/${delivery.id}`
  const shown = log.find(({ id }) => id === page.attemptId) ?? log.at(-1)
  const next = delivery.next_attempt_at
  return (
    <>
      <PageHead
        title={delivery.event_type}
        state={{
          tone: TONES[delivery.status],
          sentence: (
            <>
              {capitalized(OUTCOMES[delivery.status])}
              {next !== null && Date.parse(next) > now && <> {time(next, now)}</>}
            </>
          ),
        }}
        action={
          mayChange &&
          webhook.active && (
            <ActionButton weight="primary" action={url(base, `${path}/resend`)}>
              Retry
            </ActionButton>
          )
        }
      />
      <Section id="about" title="About" isCard>
        <Facts
          facts={[
            ['Delivery ID', <Id id={delivery.id} what="delivery ID" />],
            ['Event ID', <Id id={delivery.message_id} what="event ID" />],
            ['User', <Person base={base} delivery={delivery} />],
            [
              'Webhook',
              <a href={url(base, `${WEBHOOKS}/${webhook.id}`)}>
                <Text text={webhook.url} />
              </a>,
            ],
            ['Created', time(delivery.created_at, now)],
          ]}
        />
      </Section>
      {log.length > 0 && <AttemptList {...page} selected={shown} />}
      {shown ? (
        <>
          <Exchange {...shown} requestBody={delivery.request_body} />
          {shown.request && mayChange && (
            <details class="fold">
              <summary>
                View as curl <span class="hint">With the signature of this attempt</span>
              </summary>
              <CurlBlock
                url={shown.request.url}
                headers={shown.request.headers}
                body={delivery.request_body}
              />
            </details>
          )}
        </>
      ) : (
        <Exchange
          request={null}
          requestBody={delivery.request_body}
          response={null}
          error={null}
          isPlanned
        />
      )}
    </>
  )
}

const AttemptList = ({
  base,
  now,
  webhook,
  delivery,
  selected,
}: DeliveryView & { selected: Attempt | undefined }) => (
  <Section id="attempts" title="Attempts">
    <Attempts
      now={now}
      attempts={[
        ...delivery.attempt_log.map((attempt) => ({
          tone: attempt.status === 'succeeded' ? ('good' as const) : ('bad' as const),
          outcome: capitalized(outcomeOf(attempt) || attempt.status),
          at: Date.parse(attempt.started_at),
          took: attempt.duration_ms,
          href: url(base, `${WEBHOOKS}/${webhook.id}/deliveries/${delivery.id}`, {
            attempt: attempt.id,
          }),
          isSelected: attempt === selected,
        })),
        ...plannedIn(delivery),
      ]}
    />
  </Section>
)

const plannedIn = ({ next_attempt_at: next }: DeliveryDetail) =>
  next === null
    ? []
    : [{ tone: 'quiet' as const, outcome: 'Next attempt', at: Date.parse(next), isPlanned: true }]

/** User of the event, who may have been deleted since. */
const Person = ({ base, delivery }: Pick<DeliveryView, 'base' | 'delivery'>) => {
  const [, id] = /"identity_id":"([\w-]+)"/.exec(delivery.request_body) ?? []
  return id === undefined ? (
    <>–</>
  ) : (
    <Id id={id} what="user ID" href={url(base, `/console/identities/${id}`)} />
  )
}
