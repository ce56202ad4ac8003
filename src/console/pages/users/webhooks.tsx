import {
  attemptsOf,
  HourBars,
  type HourTally,
  hourBarsOf,
  shareOf,
} from '../../../../views/ui/charts/hour-bars.tsx'
import { EmptyState } from '../../../../views/ui/empty-state.tsx'
import { Button, LinkButton } from '../../../../views/ui/form/button.tsx'
import { Checkboxes } from '../../../../views/ui/form/choices.tsx'
import { checkedValues, Field } from '../../../../views/ui/form/field.tsx'
import { PageForm } from '../../../../views/ui/form/form.tsx'
import { pagerLinks } from '../../../../views/ui/pager.tsx'
import { PageHead } from '../../../../views/ui/section.tsx'
import { StatusBadge } from '../../../../views/ui/status.tsx'
import { type Column, DataTable } from '../../../../views/ui/table.tsx'
import { FilterChips } from '../../../../views/ui/tabs.tsx'
import { Text } from '../../../../views/ui/text.tsx'
import { counted, withoutScheme } from '../../../../views/ui/words.ts'
import { EVENT_TYPES, type EventType } from '../../../engines/gate/webhooks/events.ts'
import type { Webhook } from '../../../engines/gate/webhooks/model.ts'
import type { Fields } from '../../../http/body.ts'
import type { Delivery } from '../../../http/delivery-log/model.ts'
import { invalid } from '../../../platform/errors.ts'
import { ExportMenu, exportOf } from '../../export.tsx'
import { trimmedText } from '../../form.ts'
import { type PageContext, page, shown, usePage } from '../../page.tsx'
import { CreatedSecret } from '../webhooks/endpoint-controls.tsx'
import { DeliveryBadge, Moment } from '../webhooks/state.tsx'

const ON_A_PAGE = 25
const FILTERS = ['active', 'paused'] as const
type Filter = (typeof FILTERS)[number]

interface Row {
  webhook: Webhook
  hours: readonly HourTally[]
  latest: Delivery | undefined
}

interface WebhookList {
  all: readonly Webhook[]
  rows: readonly Row[]
  state: Filter | undefined
  /** Cursor of the next page. */
  next: string | undefined
}

/** Webhooks for events about users. Their number is limited, so the last ID of a page is its cursor. */
export const webhookList = page({
  path: '/webhooks',
  section: 'webhooks',
  right: 'read',
  title: 'User webhooks',

  load(context): WebhookList {
    const { gate, caller, position } = context
    const by = caller('gate', 'live')
    const { webhooks } = gate
    const { all, state, found } = filtered(context)
    const from = found.findIndex(({ id }) => id === position.cursor) + 1
    const shown = found.slice(from, from + ON_A_PAGE)
    return {
      all,
      rows: shown.map((webhook) => ({
        webhook,
        hours: webhooks.hours(by, webhook.id),
        latest: webhooks.log.list(by, { limit: 1, endpoint_id: webhook.id }).data[0],
      })),
      state,
      next: from + shown.length < found.length ? shown.at(-1)?.id : undefined,
    }
  },

  view({ all, rows, state, next }) {
    const { href, may, position } = usePage()
    const failing = rows.filter(({ webhook, latest }) => webhook.active && hasIssue(latest)).length
    const create = may('change') && (
      <LinkButton weight="primary" href={href('/webhooks/new')}>
        Create webhook
      </LinkButton>
    )
    return (
      <>
        <PageHead
          title="User webhooks"
          state={{
            ...(all.length > 0 && { tone: failing > 0 ? 'bad' : 'good' }),
            sentence: sentenceOn(all, failing),
          }}
          action={all.length > 0 && create}
          aside={all.length > 0 && <ExportMenu />}
        />
        {all.length > 0 && (
          <FilterChips
            label="Status"
            tabs={[
              { label: 'All', href: href('/webhooks'), count: all.length, isCurrent: !state },
              ...FILTERS.map((one) => ({
                label: one === 'active' ? 'Active' : 'Paused',
                href: href('/webhooks', { state: one }),
                count: all.filter(({ active }) => active === (one === 'active')).length,
                isCurrent: one === state,
              })),
            ]}
          />
        )}
        <DataTable
          caption="Webhooks"
          columns={COLUMNS}
          rows={rows}
          hrefOf={({ webhook }) => href(`/webhooks/${webhook.id}`)}
          idOf={({ webhook }) => webhook.id}
          pages={pagerLinks(position, next, (to) => href('/webhooks', { state, ...to }))}
          empty={
            all.length > 0 ? (
              <EmptyState
                icon="webhooks"
                sentence="No matching webhooks"
                action={<LinkButton href={href('/webhooks')}>View all webhooks</LinkButton>}
              />
            ) : (
              <EmptyState
                icon="webhooks"
                sentence="No webhooks yet"
                next="A webhook notifies your app when a user signs up, signs in or changes."
                action={create}
                curl={{
                  url: `${usePage().baseUrl()}/v1/gate/settings/webhooks`,
                  headers: { Authorization: 'Bearer $KEY', 'Content-Type': 'application/json' },
                  body: { url: 'https://example.com/hook', events: ['identity.created'] },
                }}
              />
            )
          }
        />
      </>
    )
  },

  files: {
    export: exportOf({
      name: 'user-webhooks',
      columns: {
        id: ({ id }) => id,
        url: ({ url }) => url,
        events: ({ events }) => events.join(' '),
        is_active: ({ active }) => active,
      },
      slices: (context: PageContext) => [filtered(context).found],
    }),
  },
})

/** All webhooks, and those that match the filter of the query string. */
function filtered({ gate, caller, query }: PageContext) {
  const all = gate.webhooks.list(caller('gate', 'live')).webhooks.toReversed()
  const state = FILTERS.find((one) => one === query.state)
  const found = state ? all.filter(({ active }) => active === (state === 'active')) : all
  return { all, state, found }
}

const hasIssue = (delivery: Delivery | undefined): boolean =>
  delivery?.status === 'failed' || delivery?.status === 'retrying'

function sentenceOn(webhooks: readonly Webhook[], failing: number): string {
  if (webhooks.length === 0) return 'Notify your app when users sign up, sign in or change'
  const paused = webhooks.filter(({ active }) => !active).length
  const parts = [
    `${webhooks.length - paused} active`,
    ...(paused > 0 ? [`${paused} paused`] : []),
    failing > 0 ? `last delivery of ${failing} failed` : 'no failures',
  ]
  return parts.join(', ')
}

export const WebhookBadge = ({ active }: Pick<Webhook, 'active'>) =>
  active ? <StatusBadge tone="good" word="active" /> : <StatusBadge tone="quiet" word="paused" />

/** Attempts of the last day: one bar for each hour. */
export const WebhookDay = ({ hours }: { hours: readonly HourTally[] }) => (
  <HourBars
    bars={hourBarsOf(hours, usePage().now)}
    label={`${shareOf(hours)} of ${counted(attemptsOf(hours), 'attempt')} delivered in the last 24 hours`}
  />
)

const COLUMNS: Column<Row>[] = [
  {
    label: 'URL',
    isMono: true,
    isWide: true,
    cell: ({ webhook }) => <Text text={withoutScheme(webhook.url)} limit={80} />,
  },
  { label: 'Status', narrow: 'corner', cell: ({ webhook }) => <WebhookBadge {...webhook} /> },
  {
    label: 'Events',
    align: 'right',
    cell: ({ webhook: { events } }) =>
      events.length === EVENT_TYPES.length ? 'All' : events.length,
  },
  { label: '24 h', narrow: 'bare', cell: ({ hours }) => <WebhookDay hours={hours} /> },
  { label: 'Delivered', align: 'right', cell: ({ hours }) => shareOf(hours) },
  {
    label: 'Last delivery',
    cell: ({ latest }) => (latest ? <DeliveryBadge status={latest.status} /> : 'None'),
  },
  {
    label: 'Time',
    align: 'right',
    cell: ({ latest }) => <Moment at={latest?.created_at ?? null} />,
  },
]

export const WEBHOOK_FORM = { url: 'url', events: 'events' }

/** When each event is sent. */
const WHEN: Record<EventType, string> = {
  'identity.created': 'A user signed up or was created.',
  'identity.deleted': 'A user was deleted.',
  'identity.login': 'A user signed in.',
  'identity.password_changed': 'A password was set or changed.',
  'identity.email_verified': 'A user verified an email address.',
  'identity.state_changed': 'A user was deactivated or activated.',
}

/** The form of a new webhook. */
export const newWebhook = page({
  path: '/webhooks/new',
  section: 'webhooks',
  right: 'change',
  title: 'New webhook',
  load: () => ({}),

  view: () => (
    <>
      <PageHead
        title="New webhook"
        state={{ sentence: 'Each request is signed. The signing secret is shown once.' }}
      />
      <PageForm
        action=""
        buttons={<Button weight="primary">Create webhook</Button>}
        cancel="/webhooks"
      >
        <WebhookFields events={EVENT_TYPES} />
      </PageForm>
    </>
  ),

  actions: {
    '': {
      right: 'change',
      form: WEBHOOK_FORM,
      async run({ gate, caller, fields, href }) {
        const { id, secret } = await gate.webhooks.create(caller('gate', 'live'), webhookIn(fields))
        return shown(
          'Webhook created',
          <CreatedSecret
            title="Webhook created"
            sentence="The webhook receives new events from now on."
            secret={secret}
            doneHref={href(`/webhooks/${id}`)}
          />,
        )
      },
    },
  },
})

/** Reads a webhook from a form; throws `invalid` with the field's name. */
export function webhookIn(fields: Fields): { url: string; events: EventType[] } {
  const checked = checkedValues(fields, 'events')
  const events = EVENT_TYPES.filter((type) => checked.includes(type))
  if (events.length === 0)
    throw invalid('must name at least one event', { field: 'events', rule: 'required' })
  const url = trimmedText(fields, 'url')
  if (url === '') throw invalid('must be an http or https URL', { field: 'url', rule: 'format' })
  return { url, events }
}

export const WebhookFields = ({ url, events }: { url?: string; events: readonly EventType[] }) => (
  <>
    <Field
      name="url"
      label="URL"
      type="url"
      isMono
      isRequired
      value={url}
      placeholder="https://example.com/hook"
      help="Receives POST requests with JSON. Responses other than 2xx are retried."
    />
    <Checkboxes
      name="events"
      label="Events"
      values={events}
      options={EVENT_TYPES.map((type) => ({ value: type, label: type, text: WHEN[type] }))}
    />
  </>
)
