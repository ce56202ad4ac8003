import { EVENT_TYPES, type EventType } from '../../../../../src/engines/gate/events.ts'
import type { Webhook } from '../../../../../src/engines/gate/model/webhooks.ts'
import type { Fields } from '../../../../../src/http/body.ts'
import type { Delivery, TestResult } from '../../../../../src/http/delivery-log/model.ts'
import type { Page } from '../../../../../src/platform/cursor.ts'
import { Pulse } from '../../../charts/pulse.tsx'
import { Exchange } from '../../../exchange.tsx'
import { Facts } from '../../../facts.tsx'
import { ActionButton, Button } from '../../../form/button.tsx'
import type { FormError } from '../../../form/error-summary.tsx'
import { Form } from '../../../form/form.tsx'
import { Select } from '../../../form/select.tsx'
import { beatsOf, type HourTally, shareOf } from '../../../hours.ts'
import { Id } from '../../../id.tsx'
import { PageHead } from '../../../page-head.tsx'
import { Section } from '../../../section.tsx'
import { StatusMark } from '../../../status-mark.tsx'
import { Text } from '../../../text.tsx'
import { duration } from '../../../time.tsx'
import type { ListPlace } from '../../../trail.ts'
import { url } from '../../../url.ts'
import { Endings } from './endings.tsx'
import { WebhookFields } from './form.tsx'
import { Log } from './log.tsx'
import { inWords, OUTCOMES, outcomeOf, StateMark, TONES, time, WEBHOOKS } from './state.tsx'

export interface WebhookView {
  base: string
  now: number
  webhook: Webhook
  latest: Delivery | undefined
  deliveries: Page<Delivery>
  hours: readonly HourTally[]
  asked: { status: 'failed' | undefined }
  place: ListPlace
  mayChange: boolean
  mayDelete: boolean
  /** What came of a test, and what kind of event was sent. */
  test?: TestResult
  tested?: EventType
  typed?: Fields
  errors?: readonly FormError[]
}

/** One webhook: whether it works, what it was sent, and what can be done about it. */
export const WebhookPage = (page: WebhookView) => {
  const { base, now, webhook, latest, mayChange } = page
  return (
    <>
      <PageHead
        title={<Text text={webhook.url} limit={80} />}
        state={stateOf(webhook, latest, now)}
        action={
          mayChange && (
            <ActionButton
              weight="primary"
              action={`${url(base, `${WEBHOOKS}/${webhook.id}/test`)}#test`}
            >
              Send test
            </ActionButton>
          )
        }
      />
      <Section id="about" title="About" isCard>
        <Facts
          facts={[
            ['Id', <Id id={webhook.id} what="webhook id" />],
            ['URL', <Text text={webhook.url} limit={300} />],
            ['State', <StateMark {...webhook} />],
            [
              'Events',
              webhook.events.length === EVENT_TYPES.length ? 'all' : webhook.events.join(', '),
            ],
            [
              'Last 24 h',
              <>
                {shareOf(page.hours)} taken{' '}
                <Pulse beats={beatsOf(page.hours, now)} label={inWords(page.hours)} />
              </>,
            ],
            ['Created', time(webhook.created_at, now)],
          ]}
        />
      </Section>
      {mayChange && <TryIt {...page} />}
      <Log {...page} />
      {mayChange && (
        <Section id="change" title="Change it">
          <Form
            action={url(base, `${WEBHOOKS}/${webhook.id}`)}
            errors={page.errors}
            buttons={<Button>Save webhook</Button>}
          >
            <WebhookFields {...page} url={webhook.url} events={webhook.events} />
          </Form>
        </Section>
      )}
      <Endings {...page} />
    </>
  )
}

function stateOf({ active }: Webhook, latest: Delivery | undefined, now: number) {
  if (!active)
    return { tone: 'quiet' as const, sentence: 'Paused. Events are held until you resume it.' }
  if (!latest) return { tone: 'good' as const, sentence: 'Active, and nothing has been sent yet.' }
  const { status, created_at: at } = latest
  return {
    tone: TONES[status],
    sentence: (
      <>
        The last delivery ({latest.event_type}, {time(at, now)}) {OUTCOMES[status]}.
      </>
    ),
  }
}

/** A test of each kind, answered here: no log has it. */
const TryIt = ({ base, webhook, test, tested }: WebhookView) => (
  <Section
    id="test"
    title="Try it"
    note="An event about nobody, signed like any other. It is tried once and is in no log."
  >
    <Form
      action={`${url(base, `${WEBHOOKS}/${webhook.id}/test`)}#test`}
      buttons={<Button>Send test</Button>}
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
          <StatusMark
            tone={test.succeeded ? 'good' : 'bad'}
            word={
              test.succeeded
                ? `Taken in ${duration(test.duration_ms)}: ${outcomeOf(test)}`
                : `Not taken: ${outcomeOf(test) || 'no answer'}`
            }
          />
        </p>
        <Exchange {...test} requestBody={test.request?.body} />
      </>
    )}
  </Section>
)
