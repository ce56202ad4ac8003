import { attemptsOf, type HourTally, shareOf } from '../../../../views/ui/charts/hour-bars.tsx'
import { ActionButton, Button } from '../../../../views/ui/form/button.tsx'
import { Select } from '../../../../views/ui/form/choices.tsx'
import { PageForm } from '../../../../views/ui/form/form.tsx'
import { Id } from '../../../../views/ui/id.tsx'
import { Facts, PageHead, Section } from '../../../../views/ui/section.tsx'
import { DataTable } from '../../../../views/ui/table.tsx'
import { LongText, Text } from '../../../../views/ui/text.tsx'
import { withoutScheme } from '../../../../views/ui/words.ts'
import type { Gate } from '../../../engines/gate/index.ts'
import { EVENT_TYPES } from '../../../engines/gate/webhooks/events.ts'
import type { Webhook } from '../../../engines/gate/webhooks/model.ts'
import type { Delivery, TestResult } from '../../../http/delivery-log/model.ts'
import type { Page } from '../../../platform/cursor.ts'
import { SECOND_MS } from '../../../platform/durations.ts'
import { fail, notFound } from '../../../platform/errors.ts'
import { useSelection } from '../../bulk.ts'
import { ExportMenu } from '../../export.tsx'
import { trimmedText } from '../../form.ts'
import { ListFilters, useList } from '../../list.tsx'
import { good, type PageContext, page, shown, usePage } from '../../page.tsx'
import { type TimeFilter, timeFilterIn } from '../../time-filter.ts'
import { gracePeriodIn } from '../grace-period.tsx'
import {
  DELIVERY_SORTS,
  DeliveryChips,
  deliveriesOf,
  deliveryColumns,
} from '../webhooks/delivery-list.tsx'
import {
  EndpointControls,
  heldIn,
  RotatedSecret,
  resumed,
  TestAnswer,
} from '../webhooks/endpoint-controls.tsx'
import { DELIVERY_TONES, EndpointBadge, Moment, WORDS } from '../webhooks/state.tsx'
import { WEBHOOK_FORM, WebhookFields, webhookIn } from './webhook-form.tsx'
import { WebhookDay, webhookStateOf } from './webhooks.tsx'

const PATH = '/webhooks/:id'
const ON_A_PAGE = 25

const { found, failedCount, bulk, file } = deliveriesOf<PageContext<typeof PATH>>({
  name: 'webhook-deliveries',
  logOf: ({ gate, caller }) => ({ log: gate.webhooks.log, by: caller('gate', 'live') }),
  endpointIdOf: (context) => webhookOf(context).id,
})

interface WebhookView {
  webhook: Webhook
  hours: readonly HourTally[]
  latest: Delivery | undefined
  deliveries: Page<Delivery>
  failed: number | undefined
  time: TimeFilter
  /** Result of a test event, which is not stored. */
  test: TestResult | undefined
}

/** One webhook for events about users: state, test, deliveries, form and actions. */
export const webhookPage = page({
  path: PATH,
  section: 'webhooks',
  right: 'read',

  load(context): WebhookView {
    const { gate, caller, position, result } = context
    const by = caller('gate', 'live')
    const webhook = webhookOf(context)
    return {
      webhook,
      hours: gate.webhooks.hours(by, webhook.id),
      latest: gate.webhooks.log.list(by, { limit: 1, endpoint_id: webhook.id }).data[0],
      deliveries: found(context, { cursor: position.cursor, limit: ON_A_PAGE }),
      failed: failedCount(context),
      time: timeFilterIn(context),
      test: result as TestResult | undefined,
    }
  },

  status: ({ time }) => (time.errors.length > 0 ? 422 : 200),

  title: ({ webhook }) => hostOf(webhook),

  view(view) {
    const { webhook, hours, test } = view
    const { may, actionHref } = usePage()
    return (
      <>
        <PageHead
          title={<Text text={withoutScheme(webhook.url)} limit={80} />}
          state={stateOf(view)}
          action={
            may('change') && (
              <ActionButton weight="primary" action={`${actionHref('test')}#answer`}>
                Send test event
              </ActionButton>
            )
          }
        />
        {test && <TestAnswer test={test} />}
        <Section id="about" title="About" isCard>
          <Facts
            facts={[
              ['ID', <Id id={webhook.id} what="webhook ID" />],
              ['URL', <LongText text={webhook.url} />],
              ['Status', <EndpointBadge state={webhookStateOf(webhook, view.latest)} />],
              [
                'Events',
                webhook.events.length === EVENT_TYPES.length ? 'All' : webhook.events.join(', '),
              ],
              [
                'Last 24 h',
                attemptsOf(hours) === 0 ? (
                  'No attempts'
                ) : (
                  <>
                    {shareOf(hours)} delivered <WebhookDay hours={hours} />
                  </>
                ),
              ],
              ['Created', <Moment at={webhook.created_at} />],
            ]}
          />
        </Section>
        <DeliveryLog {...view} />
        {may('change') && (
          <>
            <TestForm {...webhook} />
            <Section id="change" title="Edit webhook">
              <PageForm action="" anchor="change" buttons={<Button>Save webhook</Button>}>
                <WebhookFields {...webhook} />
              </PageForm>
            </Section>
            <EndpointControls noun="webhook" active={webhook.active} />
          </>
        )}
      </>
    )
  },

  files: { export: file },

  actions: {
    ...bulk,
    '': {
      right: 'change',
      form: WEBHOOK_FORM,
      flash: good('Saved.'),
      async run({ gate, caller, params, fields }) {
        await gate.webhooks.update(caller('gate', 'live'), params.id, webhookIn(fields))
      },
    },
    test: {
      right: 'change',
      async run(context) {
        const { gate, caller, fields } = context
        const { id, events } = webhookOf(context)
        const wanted = EVENT_TYPES.find((one) => one === trimmedText(fields, 'event_type'))
        const type = wanted ?? events[0] ?? EVENT_TYPES[0]
        const result = await gate.webhooks.test(caller('gate', 'live'), id, { event_type: type })
        return { again: true, result }
      },
    },
    rotate: {
      right: 'change',
      async run({ gate, caller, params, fields, href }) {
        const graceMs = gracePeriodIn(fields)
        const { secret, previous_expires_at: until } = await gate.webhooks.rotate(
          caller('gate', 'live'),
          params.id,
          { grace_seconds: graceMs / SECOND_MS },
        )
        const doneHref = href(`/webhooks/${params.id}`)
        return shown(
          'Secret rotated',
          <RotatedSecret secret={secret} until={until} doneHref={doneHref} />,
        )
      },
    },
    pause: {
      right: 'change',
      flash: { tone: 'quiet', text: 'Webhook paused. Deliveries are held.' },
      async run({ gate, caller, params }) {
        await gate.webhooks.update(caller('gate', 'live'), params.id, { active: false })
      },
    },
    resume: {
      right: 'change',
      flash: resumed('webhook'),
      async run({ gate, caller, params, fields }) {
        const held = heldIn(fields)
        await gate.webhooks.resume(caller('gate', 'live'), params.id, held)
        return { flash: held }
      },
    },
    delete: {
      right: 'delete',
      flash: { tone: 'quiet', text: 'Webhook deleted.' },
      async run({ gate, caller, params }) {
        await gate.webhooks.remove(caller('gate', 'live'), params.id)
        return { to: '/webhooks' }
      },
    },
  },
})

/** The webhook in the path. Throws `not_found`. */
export const webhookOf = ({
  gate,
  caller,
  params,
}: Pick<PageContext, 'caller'> & { gate: Gate; params: { id: string } }): Webhook =>
  gate.webhooks.list(caller('gate', 'live')).webhooks.find(({ id }) => id === params.id) ??
  fail(notFound('webhook not found'))

export const hostOf = ({ url }: Webhook): string => new URL(url).host

function stateOf({ webhook, latest }: WebhookView) {
  if (!webhook.active) return { tone: 'quiet' as const, sentence: 'Paused. Deliveries are held.' }
  if (!latest) return { tone: 'good' as const, sentence: 'Active, no deliveries yet' }
  return {
    tone: DELIVERY_TONES[latest.status],
    sentence: (
      <>
        Last delivery ({latest.event_type}, <Moment at={latest.created_at} />
        ): {WORDS[latest.status]}
      </>
    ),
  }
}

function DeliveryLog({ webhook, deliveries, failed, time }: WebhookView) {
  const { href } = usePage()
  const { isFiltered, hrefOf, allHref, pagesTo, sortedBy } = useList()
  const { data, next_cursor: next } = deliveries
  const isAny = data.length > 0
  return (
    <Section id="log" title="Deliveries" aside={isAny && <ExportMenu />}>
      {(isAny || isFiltered) && (
        <>
          <DeliveryChips failed={failed} />
          <ListFilters time={time} />
        </>
      )}
      <DataTable
        caption="Deliveries"
        rows={data}
        hrefOf={({ id }) => href(`/webhooks/${webhook.id}/deliveries/${id}`)}
        idOf={({ id }) => id}
        columns={deliveryColumns()}
        pages={pagesTo(next)}
        sorting={sortedBy(DELIVERY_SORTS)}
        selection={useSelection(bulk)}
        empty={
          <p class="hint">
            {next !== null ? (
              <>
                No matches on this page.{' '}
                <a href={hrefOf({ cursor: next })}>View older deliveries</a>
              </>
            ) : isFiltered ? (
              <>
                No matching deliveries. <a href={allHref}>View all deliveries</a>
              </>
            ) : (
              'No deliveries yet. Send a test event to try it.'
            )}
          </p>
        }
      />
    </Section>
  )
}

const TestForm = ({ events }: Webhook) => (
  <Section
    id="test"
    title="Send a test event"
    note="A signed event with sample data. It is sent once and not logged."
  >
    <PageForm action="test" anchor="answer" buttons={<Button>Send test event</Button>}>
      <Select
        name="event_type"
        label="Event"
        value={events[0] ?? EVENT_TYPES[0]}
        options={EVENT_TYPES.map((type) => ({ value: type, label: type }))}
      />
    </PageForm>
  </Section>
)
