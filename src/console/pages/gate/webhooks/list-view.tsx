import { HourBars } from '../../../../../views/console/charts/hour-bars.tsx'
import { type Column, DataTable } from '../../../../../views/console/data-table.tsx'
import { EmptyState } from '../../../../../views/console/empty-state.tsx'
import { LinkButton } from '../../../../../views/console/form/button.tsx'
import { type HourTally, hourBarsOf, shareOf } from '../../../../../views/console/hours.ts'
import { type ListPosition, pagerLinks } from '../../../../../views/console/list-position.ts'
import { PageHead } from '../../../../../views/console/page-head.tsx'
import { FilterChips } from '../../../../../views/console/tabs.tsx'
import { Text } from '../../../../../views/console/text.tsx'
import { url } from '../../../../../views/console/url.ts'
import { withoutScheme } from '../../../../../views/console/words.ts'
import { EVENT_TYPES } from '../../../../engines/gate/webhooks/events.ts'
import type { Webhook } from '../../../../engines/gate/webhooks/model.ts'
import type { Delivery } from '../../../../http/delivery-log/model.ts'
import { DeliveryBadge, hasIssue, inWords, StateBadge, time, WEBHOOKS } from './state-view.tsx'

export const FILTERS = ['active', 'paused'] as const
type Filter = (typeof FILTERS)[number]

interface WebhookRow {
  webhook: Webhook
  hours: readonly HourTally[]
  latest: Delivery | undefined
}

interface WebhooksView {
  base: string
  apiUrl: string
  now: number
  all: readonly Webhook[]
  rows: readonly WebhookRow[]
  state: Filter | undefined
  position: ListPosition
  /** Cursor of the next page. */
  next: string | undefined
  mayChange: boolean
}

/** Webhooks for events about users. */
export const WebhooksPage = (page: WebhooksView) => {
  const { base, now, all, rows, state, mayChange } = page
  const troubled = rows.filter(({ webhook, latest }) => webhook.active && hasIssue(latest))
  const href = (of: { state?: Filter | undefined } & ListPosition) => url(base, WEBHOOKS, { ...of })
  const create = mayChange && (
    <LinkButton weight="primary" href={url(base, `${WEBHOOKS}/new`)}>
      Create webhook
    </LinkButton>
  )
  return (
    <>
      <PageHead
        title="User webhooks"
        state={{
          ...(all.length > 0 && { tone: troubled.length > 0 ? 'bad' : 'good' }),
          sentence: sentenceOn(all, troubled.length),
        }}
        action={all.length > 0 && create}
      />
      {all.length > 0 && (
        <FilterChips
          label="Status"
          tabs={[
            { label: 'All', href: href({}), count: all.length, isCurrent: !state },
            ...FILTERS.map((one) => ({
              label: one === 'active' ? 'Active' : 'Paused',
              href: href({ state: one }),
              count: all.filter(({ active }) => active === (one === 'active')).length,
              isCurrent: one === state,
            })),
          ]}
        />
      )}
      <DataTable
        caption="Webhooks"
        columns={columns(now)}
        rows={rows}
        hrefOf={({ webhook }) => url(base, `${WEBHOOKS}/${webhook.id}`)}
        idOf={({ webhook }) => webhook.id}
        pages={pagerLinks(page.position, page.next, (position) => href({ state, ...position }))}
        empty={
          all.length > 0 ? (
            <EmptyState
              icon="webhooks"
              sentence="No matching webhooks"
              action={<LinkButton href={href({})}>View all webhooks</LinkButton>}
            />
          ) : (
            <EmptyState
              icon="webhooks"
              sentence="No webhooks yet"
              next="A webhook notifies your app when a user signs up, signs in or changes."
              action={create}
              curl={{
                url: `${page.apiUrl}/v1/gate/settings/webhooks`,
                headers: { Authorization: 'Bearer $KEY', 'Content-Type': 'application/json' },
                body: { url: 'https://example.com/hooks/gatehouse', events: ['identity.created'] },
              }}
            />
          )
        }
      />
    </>
  )
}

function sentenceOn(webhooks: readonly Webhook[], troubled: number): string {
  if (webhooks.length === 0) return 'Notify your app when users sign up, sign in or change'
  const paused = webhooks.filter(({ active }) => !active).length
  const parts = [
    `${webhooks.length - paused} active`,
    ...(paused > 0 ? [`${paused} paused`] : []),
    troubled > 0 ? `last delivery of ${troubled} failed` : 'no failures',
  ]
  return parts.join(', ')
}

const columns = (now: number): Column<WebhookRow>[] => [
  {
    label: 'URL',
    isMono: true,
    isWide: true,
    cell: ({ webhook }) => <Text text={withoutScheme(webhook.url)} limit={80} />,
  },
  { label: 'Status', narrow: 'corner', cell: ({ webhook }) => <StateBadge {...webhook} /> },
  {
    label: 'Events',
    align: 'right',
    cell: ({ webhook: { events } }) =>
      events.length === EVENT_TYPES.length ? 'All' : events.length,
  },
  {
    label: '24 h',
    narrow: 'bare',
    cell: ({ hours }) => <HourBars bars={hourBarsOf(hours, now)} label={inWords(hours)} />,
  },
  { label: 'Delivered', align: 'right', cell: ({ hours }) => shareOf(hours) },
  {
    label: 'Last delivery',
    cell: ({ latest }) => (latest ? <DeliveryBadge {...latest} /> : 'None'),
  },
  {
    label: 'Time',
    align: 'right',
    cell: ({ latest }) => (latest ? time(latest.created_at, now) : '–'),
  },
]
