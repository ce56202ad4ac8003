import { EVENT_TYPES, type EventType } from '../../../../src/engines/gate/events.ts'
import type { Webhook } from '../../../../src/engines/gate/model/webhooks.ts'
import type { Fields } from '../../../../src/http/body.ts'
import type {
  Attempt,
  Delivery,
  DeliveryDetail,
  Status,
  TestResult,
} from '../../../../src/http/delivery-log/model.ts'
import type { Page } from '../../../../src/platform/cursor.ts'
import { Attempts } from '../../charts/attempts.tsx'
import { TimingBar } from '../../charts/timing-bar.tsx'
import { Confirm, DangerZone } from '../../confirm.tsx'
import { type Column, DataTable } from '../../data-table.tsx'
import { EmptyState } from '../../empty-state.tsx'
import { Facts } from '../../facts.tsx'
import { ActionButton, Button, LinkButton } from '../../form/button.tsx'
import { Checkbox } from '../../form/choices.tsx'
import type { FormError } from '../../form/error-summary.tsx'
import { Field } from '../../form/field.tsx'
import { Form } from '../../form/form.tsx'
import { FieldError } from '../../form/labelled.tsx'
import { Select } from '../../form/select.tsx'
import { Id } from '../../id.tsx'
import { BodyView, JsonView } from '../../json-view.tsx'
import { PageHead } from '../../page-head.tsx'
import { SecretPanel } from '../../secret-panel.tsx'
import { Columns, Section } from '../../section.tsx'
import { StatusMark } from '../../status-mark.tsx'
import { FilterChips } from '../../tabs.tsx'
import { Text } from '../../text.tsx'
import { duration, Time } from '../../time.tsx'
import type { Tone } from '../../tone.ts'
import { url } from '../../url.ts'

const PATH = '/console/webhooks'

/** Of the box that is ticked for a type of event: a dot in a name would lead into an object. */
export const fieldOf = (type: EventType): string => `on_${type.replaceAll('.', '_')}`

const TONES: Record<Status, Tone> = {
  pending: 'busy',
  delivering: 'busy',
  retrying: 'warn',
  held: 'quiet',
  succeeded: 'good',
  failed: 'bad',
  cancelled: 'quiet',
}

const StateMark = ({ active }: Pick<Webhook, 'active'>) =>
  active ? <StatusMark tone="good" word="active" /> : <StatusMark tone="quiet" word="paused" />

const DeliveryMark = ({ status }: Pick<Delivery, 'status'>) => (
  <StatusMark tone={TONES[status]} word={status} />
)

const time = (at: string, now: number) => <Time at={Date.parse(at)} now={now} />

/** Who is told what happens to people. */
export const WebhooksPage = (page: {
  base: string
  now: number
  webhooks: readonly Webhook[]
  latest: readonly Delivery[]
  mayChange: boolean
}) => {
  const { base, now, webhooks, latest, mayChange } = page
  const last = new Map(latest.toReversed().map((one) => [one.endpoint_id, one]))
  const troubled = webhooks.filter(({ id }) => isTrouble(last.get(id)))
  const create = (
    <LinkButton weight="primary" href={url(base, `${PATH}/new`)}>
      New webhook
    </LinkButton>
  )
  return (
    <>
      <PageHead
        title="Webhooks"
        state={{
          ...(webhooks.length > 0 && { tone: troubled.length > 0 ? 'bad' : 'good' }),
          sentence: sentenceOn(webhooks, troubled.length),
        }}
        action={mayChange && create}
      />
      <DataTable
        caption="Webhooks"
        columns={columns(now, last)}
        rows={webhooks}
        hrefOf={({ id }) => url(base, `${PATH}/${id}`)}
        idOf={({ id }) => id}
        empty={
          <EmptyState
            icon="webhooks"
            sentence="Nobody is told yet."
            next="A webhook is an address of yours that is called when somebody signs up, signs in or changes."
            action={mayChange && create}
          />
        }
      />
    </>
  )
}

const isTrouble = (delivery: Delivery | undefined): boolean =>
  delivery?.status === 'failed' || delivery?.status === 'retrying'

function sentenceOn(webhooks: readonly Webhook[], troubled: number): string {
  if (webhooks.length === 0) return 'There is none: nobody is told what happens to people.'
  const paused = webhooks.filter(({ active }) => !active).length
  const parts = [
    `${webhooks.length - paused} active`,
    ...(paused > 0 ? [`${paused} paused`] : []),
    troubled > 0 ? `the last delivery of ${troubled} has failed` : 'no last delivery has failed',
  ]
  return `${parts.join(', ')}.`
}

const columns = (now: number, last: ReadonlyMap<string, Delivery>): Column<Webhook>[] => [
  { label: 'URL', isMono: true, isWide: true, cell: ({ url }) => <Text text={url} limit={80} /> },
  { label: 'State', narrow: 'corner', cell: (webhook) => <StateMark {...webhook} /> },
  {
    label: 'Events',
    align: 'right',
    cell: ({ events }) => (events.length === EVENT_TYPES.length ? 'all' : events.length),
  },
  {
    label: 'Last delivery',
    cell: ({ id }) => {
      const delivery = last.get(id)
      return delivery ? <DeliveryMark {...delivery} /> : 'none of late'
    },
  },
  {
    label: 'When',
    align: 'right',
    cell: ({ id }) => {
      const delivery = last.get(id)
      return delivery ? time(delivery.created_at, now) : '–'
    },
  },
]

/** What has been typed, or else what is so already. */
const WebhookFields = (fields: {
  typed?: Fields
  errors?: readonly FormError[]
  url?: string
  events: readonly EventType[]
}) => {
  const { typed, errors } = fields
  const messageAt = (name: string) => errors?.find((error) => error.name === name)?.message
  const typedUrl = typed?.url
  const isTicked = (type: EventType) =>
    typed ? typed[fieldOf(type)] !== undefined : fields.events.includes(type)
  return (
    <>
      <Field
        name="url"
        label="URL"
        type="url"
        isMono
        isRequired
        value={typeof typedUrl === 'string' ? typedUrl : fields.url}
        placeholder="https://example.com/hooks/gatehouse"
        error={messageAt('url')}
        help="Called by POST with JSON. Anything but a 2xx is tried again."
      />
      <fieldset class="field" id="field-events">
        <legend>Events</legend>
        <div class="choices">
          {EVENT_TYPES.map((type) => (
            <Checkbox name={fieldOf(type)} label={type} isChecked={isTicked(type)} />
          ))}
        </div>
        <FieldError name="events" error={messageAt('events')} />
      </fieldset>
    </>
  )
}

/** Somebody else who is to be told. */
export const NewWebhookPage = (page: {
  base: string
  typed?: Fields
  errors?: readonly FormError[]
}) => (
  <>
    <PageHead
      title="New webhook"
      state={{ sentence: 'Each call is signed. The secret for that is shown once.' }}
    />
    <Form
      action={url(page.base, PATH)}
      errors={page.errors}
      buttons={<Button weight="primary">Create webhook</Button>}
    >
      <WebhookFields {...page} events={EVENT_TYPES} />
    </Form>
  </>
)

/** The only time that a secret is shown. */
export const IssuedSecretPage = (page: {
  base: string
  id: string
  secret: string
  title: string
  intro: string
}) => (
  <>
    <PageHead title={page.title} state={{ tone: 'good', sentence: page.intro }} />
    <SecretPanel
      title="Signing secret"
      secret={page.secret}
      doneHref={url(page.base, `${PATH}/${page.id}`)}
    >
      Save it now, with the program that checks signatures: this is the only time that it is shown.
    </SecretPanel>
  </>
)

interface WebhookView {
  base: string
  now: number
  webhook: Webhook
  latest: Delivery | undefined
  deliveries: Page<Delivery>
  asked: { status: 'failed' | undefined; cursor: string | undefined }
  mayChange: boolean
  mayDelete: boolean
  test?: TestResult
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
        action={mayChange && <TestButton {...page} />}
      />
      {page.test && <Test test={page.test} />}
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
            ['Created', time(webhook.created_at, now)],
          ]}
        />
      </Section>
      <Log {...page} />
      {mayChange && (
        <Section id="change" title="Change it">
          <Form
            action={url(base, `${PATH}/${webhook.id}`)}
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
  if (!active) return { tone: 'quiet' as const, sentence: 'Paused: it is told nothing.' }
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

const OUTCOMES: Record<Status, string> = {
  pending: 'is about to be sent',
  delivering: 'is on its way',
  retrying: 'has failed so far and will be tried again',
  held: 'is held',
  succeeded: 'was taken',
  failed: 'has failed',
  cancelled: 'was cancelled',
}

const TestButton = ({ base, webhook }: WebhookView) => (
  <ActionButton weight="primary" action={url(base, `${PATH}/${webhook.id}/test`)}>
    Send test
  </ActionButton>
)

const Test = ({ test }: { test: TestResult }) => (
  <Section
    id="test"
    title="The test"
    note={
      test.succeeded
        ? `Taken in ${duration(test.duration_ms)}. A test is tried once and is in no log.`
        : 'Not taken. A test is tried once and is in no log.'
    }
  >
    <StatusMark tone={test.succeeded ? 'good' : 'bad'} word={outcomeOf(test) || 'no answer'} />
    <Exchange {...test} requestBody={test.request?.body} />
  </Section>
)

/** A status, or why there is none. */
const outcomeOf = ({ response, error }: Pick<Attempt, 'response' | 'error'>): string =>
  error?.message ?? (response ? `status ${response.status}` : '')

const Exchange = (
  exchange: Pick<Attempt, 'request' | 'response' | 'error' | 'timings'> & {
    requestBody: string | undefined
  },
) => {
  const { request, response, error, timings, requestBody } = exchange
  return (
    <>
      <Columns>
        <Section id="request" title="What was sent">
          {request ? (
            <>
              <p>
                <code>
                  {request.method} <Text text={request.url} limit={300} />
                </code>
              </p>
              <JsonView title="Headers" value={request.headers} />
            </>
          ) : (
            <p class="hint">Nothing left this machine.</p>
          )}
          {requestBody !== undefined && <BodyView title="Body" text={requestBody} />}
        </Section>
        <Section id="response" title="What came back">
          {error && <p>{error.message}</p>}
          {response ? (
            <>
              <p>Status {response.status}</p>
              <JsonView title="Headers" value={response.headers} />
              <BodyView title="Body" text={response.body} />
            </>
          ) : (
            <p class="hint">No answer.</p>
          )}
        </Section>
      </Columns>
      {timings && <TimingBar timings={timings} />}
    </>
  )
}

const Log = ({ base, now, webhook, deliveries, asked }: WebhookView) => {
  const path = `${PATH}/${webhook.id}`
  const { status, cursor } = asked
  return (
    <Section id="log" title="What it was sent">
      <FilterChips
        label="Deliveries"
        tabs={[
          { label: 'All', href: url(base, path), isCurrent: !status },
          { label: 'Failed', href: url(base, path, { status: 'failed' }), isCurrent: !!status },
        ]}
      />
      <DataTable
        caption="Deliveries"
        rows={deliveries.data}
        hrefOf={({ id }) => url(base, `${path}/deliveries/${id}`)}
        idOf={({ id }) => id}
        columns={[
          { label: 'Event', isWide: true, cell: ({ event_type: type }) => type },
          { label: 'State', narrow: 'corner', cell: (delivery) => <DeliveryMark {...delivery} /> },
          { label: 'Attempts', align: 'right', cell: ({ attempts }) => attempts },
          {
            label: 'Next attempt',
            align: 'right',
            cell: ({ next_attempt_at: at }) => (at === null ? '–' : time(at, now)),
          },
          { label: 'When', align: 'right', cell: ({ created_at: at }) => time(at, now) },
        ]}
        pages={{
          newerHref: cursor ? url(base, path, { status }) : undefined,
          olderHref:
            deliveries.next_cursor === null
              ? undefined
              : url(base, path, { status, cursor: deliveries.next_cursor }),
        }}
        empty={
          deliveries.next_cursor === null ? (
            <p class="hint">
              {status ? 'None has failed.' : 'Nothing yet. Send a test to try it.'}
            </p>
          ) : (
            <p class="hint">
              None among these.{' '}
              <a href={url(base, path, { status, cursor: deliveries.next_cursor })}>Look further</a>
            </p>
          )
        }
      />
    </Section>
  )
}

const Endings = ({ base, webhook, mayChange, mayDelete }: WebhookView) => {
  const action = (verb: string) => url(base, `${PATH}/${webhook.id}/${verb}`)
  const items = [
    ...(mayChange
      ? [
          {
            title: 'Replace its secret',
            text: 'A new one signs from now on; this one signs beside it for a while.',
            control: (
              <Confirm
                id="rotate"
                verb="Replace secret"
                question="Replace the signing secret?"
                consequence="The new one is shown once."
                action={action('rotate')}
                isHarmless
              >
                <Select
                  name="grace"
                  label="The old one signs as well for"
                  value="day"
                  options={[
                    { value: 'day', label: 'a day' },
                    { value: 'week', label: 'a week' },
                    { value: 'none', label: 'no time at all' },
                  ]}
                />
              </Confirm>
            ),
          },
          webhook.active
            ? {
                title: 'Pause it',
                text: 'What happens meanwhile it is never told.',
                control: (
                  <Confirm
                    id="pause"
                    verb="Pause webhook"
                    question="Pause this webhook?"
                    consequence="It misses what happens until it is resumed, and is not told later."
                    action={action('pause')}
                    isHarmless
                  />
                ),
              }
            : {
                title: 'Resume it',
                text: 'It is told of what happens from then on.',
                control: <ActionButton action={action('resume')}>Resume webhook</ActionButton>,
              },
        ]
      : []),
    ...(mayDelete
      ? [
          {
            title: 'Delete it',
            text: 'What was still to come for it is cancelled. This cannot be taken back.',
            control: (
              <Confirm
                id="delete"
                verb="Delete webhook"
                question="Delete this webhook?"
                consequence="Whoever is behind it is told nothing any more, from now on."
                action={action('delete')}
              />
            ),
          },
        ]
      : []),
  ]
  return items.length === 0 ? null : <DangerZone items={items} />
}

interface DeliveryView {
  base: string
  now: number
  webhook: Webhook
  delivery: DeliveryDetail
  /** The one to look at; the last one unless said. */
  attemptId: string | undefined
  mayChange: boolean
}

/** What became of one event: what was sent, what came back, what is next. */
export const DeliveryPage = (page: DeliveryView) => {
  const { base, now, webhook, delivery, mayChange } = page
  const { attempt_log: log } = delivery
  const path = `${PATH}/${webhook.id}/deliveries/${delivery.id}`
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
              This delivery {OUTCOMES[delivery.status]}
              {next !== null && Date.parse(next) > now && <>, {time(next, now)}</>}.
            </>
          ),
        }}
        action={
          mayChange &&
          webhook.active && (
            <ActionButton weight="primary" action={url(base, `${path}/resend`)}>
              Send again
            </ActionButton>
          )
        }
      />
      <Section id="about" title="About" isCard>
        <Facts
          facts={[
            ['Delivery', <Id id={delivery.id} what="delivery id" />],
            ['Event', <Id id={delivery.message_id} what="event id" />],
            ['Webhook', <a href={url(base, `${PATH}/${webhook.id}`)}>{webhook.url}</a>],
            ['Created', time(delivery.created_at, now)],
          ]}
        />
      </Section>
      {log.length > 0 && (
        <Section id="attempts" title="Attempts">
          <Attempts
            now={now}
            attempts={[
              ...log.map((attempt) => ({
                tone: attempt.status === 'succeeded' ? ('good' as const) : ('bad' as const),
                outcome: outcomeOf(attempt) || attempt.status,
                at: Date.parse(attempt.started_at),
                took: attempt.duration_ms,
                href: url(base, path, { attempt: attempt.id }),
                isSelected: attempt === shown,
              })),
              ...(next === null
                ? []
                : [
                    {
                      tone: 'quiet' as const,
                      outcome: 'next attempt',
                      at: Date.parse(next),
                      isPlanned: true,
                    },
                  ]),
            ]}
          />
        </Section>
      )}
      {shown ? (
        <Exchange {...shown} requestBody={delivery.request_body} />
      ) : (
        <BodyView title="What will be sent" text={delivery.request_body} />
      )}
    </>
  )
}
