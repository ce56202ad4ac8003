import { EVENT_TYPES } from '../../../../../src/engines/gate/webhooks/events.ts'
import type { Webhook } from '../../../../../src/engines/gate/webhooks/model.ts'
import type { Delivery } from '../../../../../src/http/delivery-log/model.ts'
import { HourBars } from '../../../charts/hour-bars.tsx'
import { Exchange } from '../../../exchange.tsx'
import { Facts } from '../../../facts.tsx'
import { ActionButton, Button } from '../../../form/button.tsx'
import { Form } from '../../../form/form.tsx'
import { Select } from '../../../form/select.tsx'
import { hourBarsOf, shareOf } from '../../../hours.ts'
import { Id } from '../../../id.tsx'
import { PageHead } from '../../../page-head.tsx'
import { Section } from '../../../section.tsx'
import { StatusBadge } from '../../../status-badge.tsx'
import { Text } from '../../../text.tsx'
import { duration } from '../../../time.tsx'
import { url } from '../../../url.ts'
import { withoutScheme } from '../../../words.ts'
import { WebhookDangerZone } from './danger-zone.tsx'
import { WebhookFields } from './form.tsx'
import { Log } from './log.tsx'
import { inWords, OUTCOMES, outcomeOf, StateBadge, TONES, time, WEBHOOKS } from './state.tsx'
import type { WebhookView } from './webhook-view.ts'

/** One webhook: state, test, deliveries, form and actions. */
export const WebhookPage = (page: WebhookView) => {
  const { base, now, webhook, latest, mayChange } = page
  return (
    <>
      <PageHead
        title={<Text text={withoutScheme(webhook.url)} limit={80} />}
        state={stateOf(webhook, latest, now)}
        action={
          mayChange && (
            <ActionButton
              weight="primary"
              action={`${url(base, `${WEBHOOKS}/${webhook.id}/test`)}#test`}
            >
              Send test event
            </ActionButton>
          )
        }
      />
      <Section id="about" title="About" isCard>
        <Facts
          facts={[
            ['ID', <Id id={webhook.id} what="webhook ID" />],
            ['URL', <Text text={webhook.url} limit={300} />],
            ['Status', <StateBadge {...webhook} />],
            [
              'Events',
              webhook.events.length === EVENT_TYPES.length ? 'All' : webhook.events.join(', '),
            ],
            [
              'Last 24 h',
              <>
                {shareOf(page.hours)} delivered{' '}
                <HourBars bars={hourBarsOf(page.hours, now)} label={inWords(page.hours)} />
              </>,
            ],
            ['Created', time(webhook.created_at, now)],
          ]}
        />
      </Section>
      {mayChange && <TryIt {...page} />}
      <Log {...page} />
      {mayChange && (
        <Section id="change" title="Edit webhook">
          <Form
            action={url(base, `${WEBHOOKS}/${webhook.id}`)}
            errors={page.errors}
            buttons={<Button>Save webhook</Button>}
          >
            <WebhookFields {...page} url={webhook.url} events={webhook.events} />
          </Form>
        </Section>
      )}
      <WebhookDangerZone {...page} />
    </>
  )
}

function stateOf({ active }: Webhook, latest: Delivery | undefined, now: number) {
  if (!active)
    return { tone: 'quiet' as const, sentence: 'Paused. Events are held until you resume it.' }
  if (!latest) return { tone: 'good' as const, sentence: 'Active, no deliveries yet' }
  const { status, created_at: at } = latest
  return {
    tone: TONES[status],
    sentence: (
      <>
        Last delivery ({latest.event_type}, {time(at, now)}): {OUTCOMES[status]}
      </>
    ),
  }
}

/** Sends a test event and shows the result, which is not logged. */
const TryIt = ({ base, webhook, test, tested }: WebhookView) => (
  <Section
    id="test"
    title="Send a test event"
    note="A signed event with sample data. It is sent once and not logged."
  >
    <Form
      action={`${url(base, `${WEBHOOKS}/${webhook.id}/test`)}#test`}
      buttons={<Button>Send test event</Button>}
    >
      <Select
        name="event_type"
        label="Event"
        value={tested ?? webhook.events[0] ?? EVENT_TYPES[0]}
        options={EVENT_TYPES.map((type) => ({ value: type, label: type }))}
      />
    </Form>
    {test && (
      <>
        <p>
          <StatusBadge
            tone={test.succeeded ? 'good' : 'bad'}
            word={
              test.succeeded
                ? `Delivered in ${duration(test.duration_ms)}: ${outcomeOf(test)}`
                : `Not delivered: ${outcomeOf(test) || 'no response'}`
            }
          />
        </p>
        <Exchange {...test} requestBody={test.request?.body} />
      </>
    )}
  </Section>
)
