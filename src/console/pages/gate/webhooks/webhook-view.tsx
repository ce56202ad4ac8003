import { HourBars } from '../../../../../views/console/charts/hour-bars.tsx'
import { Exchange } from '../../../../../views/console/exchange.tsx'
import { Facts } from '../../../../../views/console/facts.tsx'
import { ActionButton, Button } from '../../../../../views/console/form/button.tsx'
import { Form } from '../../../../../views/console/form/form.tsx'
import { Select } from '../../../../../views/console/form/select.tsx'
import { hourBarsOf, shareOf } from '../../../../../views/console/hours.ts'
import { Id } from '../../../../../views/console/id.tsx'
import { PageHead } from '../../../../../views/console/page-head.tsx'
import { Section } from '../../../../../views/console/section.tsx'
import { StatusBadge } from '../../../../../views/console/status-badge.tsx'
import { Text } from '../../../../../views/console/text.tsx'
import { duration } from '../../../../../views/console/time.tsx'
import { url } from '../../../../../views/console/url.ts'
import { withoutScheme } from '../../../../../views/console/words.ts'
import { EVENT_TYPES } from '../../../../engines/gate/webhooks/events.ts'
import type { Webhook } from '../../../../engines/gate/webhooks/model.ts'
import type { Delivery } from '../../../../http/delivery-log/model.ts'
import { WebhookDangerZone } from './danger-zone-view.tsx'
import { WebhookFields } from './form-view.tsx'
import { Log } from './log-view.tsx'
import { inWords, OUTCOMES, outcomeOf, StateBadge, TONES, time, WEBHOOKS } from './state-view.tsx'
import type { WebhookView } from './webhook-view-view.ts'

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
