import {
  attemptsOf,
  deliveredIn,
  HourBars,
  type HourTally,
  hourBarsOf,
  shareOf,
} from '../../../../views/ui/charts/hour-bars.tsx'
import { EmptyState } from '../../../../views/ui/empty-state.tsx'
import { LinkButton } from '../../../../views/ui/form/button.tsx'
import { PageHead } from '../../../../views/ui/section.tsx'
import { sortingIn } from '../../../../views/ui/sorting.ts'
import { type Column, DataTable } from '../../../../views/ui/table.tsx'
import { Text } from '../../../../views/ui/text.tsx'
import { counted, withoutScheme } from '../../../../views/ui/words.ts'
import { EVENT_TYPES } from '../../../engines/gate/webhooks/events.ts'
import type { Latest } from '../../../engines/gate/webhooks/index.ts'
import type { Webhook } from '../../../engines/gate/webhooks/model.ts'
import type { Page } from '../../../platform/cursor.ts'
import { useSelection } from '../../bulk.ts'
import { ExportMenu, exportOf } from '../../export.tsx'
import { ListFilters, useList } from '../../list.tsx'
import { type PageContext, page, usePage } from '../../page.tsx'
import { pageOfRows, sortRows } from '../../short-list.ts'
import {
  endpointBulk,
  orderOfShare,
  orderOfState,
  StateChips,
  stateIn,
} from '../webhooks/endpoint-list.tsx'
import {
  countsOf,
  DeliveryBadge,
  EndpointBadge,
  type EndpointState,
  Moment,
} from '../webhooks/state.tsx'

const ON_A_PAGE = 25

const SORTS = { status: 'asc', url: 'asc', delivered: 'asc', latest: 'desc' } as const

/** A webhook with its state, its attempts of the last day in total, and its newest delivery. */
interface Listed extends Webhook {
  state: EndpointState
  day: readonly HourTally[]
  latest: Latest | undefined
}

type Row = Listed & { hours: readonly HourTally[] }

interface WebhookList {
  all: readonly Listed[]
  /** Webhooks that match the search. */
  meant: readonly Listed[]
  found: Page<Row>
}

const BULK = endpointBulk({
  noun: ['webhook', 'webhooks'],
  setActive: ({ gate, caller }, id, active) =>
    active
      ? gate.webhooks.resume(caller('gate', 'live'), id, 'drain')
      : gate.webhooks.update(caller('gate', 'live'), id, { active }),
  remove: ({ gate, caller }, id) => gate.webhooks.remove(caller('gate', 'live'), id),
})

/** Webhooks for events about users. Filters all of them, whose number is limited, and shows one page. */
export const webhookList = page({
  path: '/webhooks',
  section: 'webhooks',
  right: 'read',
  title: 'User webhooks',

  load(context): WebhookList {
    const { gate, caller, position } = context
    const { all, meant, found } = filtered(context)
    const shown = pageOfRows(found, position, ON_A_PAGE)
    const hoursOf = (id: string) => gate.webhooks.hours(caller('gate', 'live'), id)
    return {
      all,
      meant,
      found: { ...shown, data: shown.data.map((row) => ({ ...row, hours: hoursOf(row.id) })) },
    }
  },

  view({ all, meant, found }) {
    const { href, may } = usePage()
    const { allHref, pagesTo, sortedBy } = useList()
    const isNone = all.length === 0
    const create = may('change') && (
      <LinkButton weight="primary" href={href('/webhooks/new')}>
        Create webhook
      </LinkButton>
    )
    return (
      <>
        <PageHead
          title="User webhooks"
          state={headOf(all)}
          action={!isNone && create}
          aside={!isNone && <ExportMenu />}
        />
        {!isNone && (
          <>
            <StateChips states={meant.map(({ state }) => state)} />
            <ListFilters search={{ label: 'Search by URL or ID' }} />
          </>
        )}
        <DataTable
          caption="Webhooks"
          columns={COLUMNS}
          rows={found.data}
          hrefOf={({ id }) => href(`/webhooks/${id}`)}
          idOf={({ id }) => id}
          pages={pagesTo(found.next_cursor, { isByTime: false })}
          sorting={sortedBy(SORTS)}
          selection={useSelection(BULK)}
          empty={
            isNone ? (
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
            ) : (
              <EmptyState
                icon="webhooks"
                sentence="No matching webhooks"
                action={<LinkButton href={allHref}>View all webhooks</LinkButton>}
              />
            )
          }
        />
      </>
    )
  },

  actions: BULK,

  files: {
    export: exportOf({
      name: 'user-webhooks',
      columns: {
        id: ({ id }) => id,
        url: ({ url }) => url,
        events: ({ events }) => events.join(' '),
        state: ({ state }) => state,
        is_active: ({ active }) => active,
        created_at: (row) => row.created_at,
      },
      slices: (context: PageContext) => [filtered(context).found],
    }),
  },
})

/** All webhooks, and those that match the filters of the query string, in its order. */
function filtered(context: PageContext) {
  const { gate, caller, query } = context
  const by = caller('gate', 'live')
  const { days, latest } = gate.webhooks.recent(by)
  const all = gate.webhooks
    .list(by)
    .webhooks.toReversed()
    .map((webhook): Listed => {
      const day = days.get(webhook.id)
      const newest = latest.get(webhook.id)
      const state = webhookStateOf(webhook, newest)
      return { ...webhook, state, day: day ? [day] : [], latest: newest }
    })
  const words = query.q?.toLowerCase() ?? ''
  const meant = all.filter(({ id, url }) => id === words || url.toLowerCase().includes(words))
  const state = stateIn(context)
  const found = meant.filter((one) => state === undefined || one.state === state)
  return {
    all,
    meant,
    found: sortRows(found, sortingIn(query.sort, SORTS), {
      status: (one) => orderOfState(one.state),
      url: ({ url }) => withoutScheme(url),
      delivered: ({ day }) => orderOfShare(deliveredIn(day)),
      latest: (one) => (one.latest ? Date.parse(one.latest.created_at) : -1),
    }),
  }
}

/** A webhook fails if its newest delivery does. */
export function webhookStateOf(
  { active }: Pick<Webhook, 'active'>,
  latest: Latest | undefined,
): EndpointState {
  if (!active) return 'paused'
  return latest?.status === 'failed' || latest?.status === 'retrying' ? 'failing' : 'active'
}

function headOf(all: readonly Listed[]) {
  if (all.length === 0) return { sentence: 'Notify your app when users sign up, sign in or change' }
  const { active, failing, paused } = countsOf(all.map(({ state }) => state))
  const parts = [
    `${active} active`,
    failing > 0 ? `${failing} failing` : 'no failures',
    ...(paused > 0 ? [`${paused} paused`] : []),
  ]
  return { tone: failing > 0 ? 'bad' : 'good', sentence: parts.join(', ') } as const
}

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
    sort: 'url',
    cell: ({ url }) => <Text text={withoutScheme(url)} limit={80} />,
  },
  {
    label: 'Status',
    narrow: 'corner',
    sort: 'status',
    cell: (webhook) => <EndpointBadge {...webhook} />,
  },
  {
    label: 'Events',
    align: 'right',
    cell: ({ events }) => (events.length === EVENT_TYPES.length ? 'All' : events.length),
  },
  { label: '24 h', narrow: 'bare', cell: ({ hours }) => <WebhookDay hours={hours} /> },
  { label: 'Delivered', align: 'right', sort: 'delivered', cell: ({ hours }) => shareOf(hours) },
  {
    label: 'Last delivery',
    cell: ({ latest }) => (latest ? <DeliveryBadge status={latest.status} /> : 'None'),
  },
  {
    label: 'Time',
    align: 'right',
    sort: 'latest',
    cell: ({ latest }) => <Moment at={latest?.created_at ?? null} />,
  },
]
