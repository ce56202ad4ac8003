import {
  attemptsOf,
  deliveredIn,
  HourBars,
  hourBarsOf,
  shareOf,
} from '../../../../views/ui/charts/hour-bars.tsx'
import { EmptyState } from '../../../../views/ui/empty-state.tsx'
import { LinkButton } from '../../../../views/ui/form/button.tsx'
import { PageHead } from '../../../../views/ui/section.tsx'
import { sortingIn } from '../../../../views/ui/sorting.ts'
import { type Column, DataTable } from '../../../../views/ui/table.tsx'
import { Text } from '../../../../views/ui/text.tsx'
import { counted, numeral, withoutScheme } from '../../../../views/ui/words.ts'
import type { Stats } from '../../../engines/relay/model/endpoints.ts'
import {
  type EndpointStats,
  type HourSum,
  hears,
  type Waiting,
} from '../../../engines/relay/queries.ts'
import { useSelection } from '../../bulk.ts'
import { ExportMenu, exportOf } from '../../export.tsx'
import { ListFilters, optionsOf, useList } from '../../list.tsx'
import { type PageContext, page, usePage } from '../../page.tsx'
import { pageOfRows, sortRows } from '../../short-list.ts'
import { DayAttempts, p95In, p95Of } from './day-attempts.tsx'
import { WaitingWords } from './endpoint-controls.tsx'
import { endpointBulk, orderOfShare, orderOfState, StateChips, stateIn } from './endpoint-list.tsx'
import { firstEndpoint } from './messages.tsx'
import { Clock, countsOf, EndpointBadge, stateOf } from './state.tsx'

interface Row {
  endpoint: EndpointStats
  hours: Stats['data']
  /** Undefined for endpoints without retries and held deliveries. */
  waiting: Waiting | undefined
}

const ON_A_PAGE = 25
/** Most event types in the filter. */
const MAX_CHOICES = 200

const SORTS = { status: 'asc', url: 'asc', delivered: 'asc', p95: 'desc' } as const

interface EndpointList {
  all: readonly EndpointStats[]
  /** Endpoints that match all filters except the status. */
  meant: readonly EndpointStats[]
  /** Number of endpoints that match all filters. */
  count: number
  rows: readonly Row[]
  /** Cursor of the next page. */
  next: string | null
  /** Attempts of all endpoints in the last day. */
  day: readonly HourSum[]
  types: readonly string[]
  channels: readonly string[]
}

const BULK = endpointBulk({
  noun: ['endpoint', 'endpoints'],
  setActive: ({ relay, caller, environment }, id, active) =>
    relay.endpoints.update(
      caller('relay', environment),
      id,
      active ? { active, held: 'drain' } : { active },
    ),
  remove: ({ relay, caller, environment }, id) =>
    relay.endpoints.remove(caller('relay', environment), id),
})

/** The endpoints of a tenant. Filters all of them, whose number is limited, and shows one page. */
export const endpointList = page({
  path: '/endpoints',
  section: 'endpoints',
  hasEnvironments: true,
  right: 'read',
  title: 'Endpoints',

  load(context): EndpointList {
    const { relay, caller, environment, position } = context
    const { queries, eventTypes } = relay
    const by = caller('relay', environment)
    const { all, meant, found } = filtered(context)
    const { data, next_cursor: next } = pageOfRows(found, position, ON_A_PAGE)
    return {
      all,
      meant,
      count: found.length,
      rows: data.map((endpoint) => ({
        endpoint,
        hours: queries.dayOf(endpoint),
        waiting: hasNoBacklog(endpoint) ? undefined : queries.waitingFor(endpoint),
      })),
      next,
      day: queries.dayOfAll(by, all.length),
      types: eventTypes.names(by, MAX_CHOICES),
      channels: channelsOf(all),
    }
  },

  view(list) {
    const { all, meant, count, rows, next } = list
    const { href, may } = usePage()
    const { allHref, pagesTo, sortedBy } = useList()
    const newEndpoint = may('change') && (
      <LinkButton weight="primary" href={href('/endpoints/new')}>
        Create endpoint
      </LinkButton>
    )
    return (
      <>
        <PageHead
          title="Endpoints"
          state={{ tone: toneOf(all), sentence: sentenceOn(all) }}
          action={all.length > 0 && newEndpoint}
          aside={all.length > 0 && <ExportMenu />}
        />
        {all.length > 0 && (
          <>
            <DayAttempts hours={list.day} />
            <StateChips states={meant.map(stateOf)} />
            <Filters {...list} />
          </>
        )}
        <DataTable
          caption="Endpoints"
          columns={COLUMNS}
          rows={rows}
          hrefOf={({ endpoint }) => href(`/endpoints/${endpoint.id}`)}
          idOf={({ endpoint }) => endpoint.id}
          empty={
            all.length === 0 ? (
              <EmptyState
                icon="endpoints"
                sentence="No endpoints yet"
                next="An endpoint is a URL that receives messages of the event types that it subscribes to."
                action={newEndpoint}
                curl={firstEndpoint(usePage().baseUrl())}
              />
            ) : (
              <EmptyState
                icon="endpoints"
                sentence="No matching endpoints"
                action={<LinkButton href={allHref}>View all endpoints</LinkButton>}
              />
            )
          }
          pages={{
            extent: `${rows.length} of ${numeral(count)}`,
            ...pagesTo(next, { isByTime: false }),
          }}
          sorting={sortedBy(SORTS)}
          selection={useSelection(BULK)}
        />
      </>
    )
  },

  actions: BULK,

  files: {
    export: exportOf({
      name: 'endpoints',
      columns: {
        id: ({ id }) => id,
        url: ({ url }) => url,
        description: ({ description }) => description,
        event_types: (row) => row.event_types?.join(' ') ?? null,
        channels: ({ channels }) => channels.join(' '),
        state: stateOf,
        failing_since: ({ health }) => health.failing_since,
      },
      slices: (context: PageContext) => [filtered(context).found],
    }),
  },
})

/** All endpoints of the environment, and those that match the filters of the query string, in its order. */
function filtered(context: PageContext) {
  const { relay, caller, environment, query } = context
  const by = caller('relay', environment)
  const all = relay.queries.all(by)
  const state = stateIn(context)
  const message = { type: query.type || undefined, channel: query.channel || undefined }
  const meant = all.filter(
    (endpoint) => hears(endpoint, message) && matches(endpoint, query.q ?? ''),
  )
  const found = meant.filter((endpoint) => state === undefined || stateOf(endpoint) === state)
  const sorting = sortingIn(query.sort, SORTS)
  const isByDay = sorting.by === 'delivered' || sorting.by === 'p95'
  const days = isByDay ? relay.queries.dayOfEach(by, all.length) : undefined
  const dayOf = ({ id }: EndpointStats) => days?.get(id) ?? []
  return {
    all,
    meant,
    found: sortRows(found, sorting, {
      status: (endpoint) => orderOfState(stateOf(endpoint)),
      url: ({ url }) => withoutScheme(url),
      delivered: (endpoint) => orderOfShare(deliveredIn(dayOf(endpoint))),
      p95: (endpoint) => p95In(dayOf(endpoint)) ?? -1,
    }),
  }
}

function toneOf(all: readonly EndpointStats[]) {
  if (all.length === 0) return undefined
  const { failing, stopped, active } = countsOf(all.map(stateOf))
  if (failing + stopped > 0) return 'bad'
  return active === 0 ? 'quiet' : 'good'
}

function sentenceOn(all: readonly EndpointStats[]) {
  if (all.length === 0) return 'URLs that receive your webhooks'
  const { active, failing, paused, stopped } = countsOf(all.map(stateOf))
  const [since] = all.flatMap(({ health }) => health.failing_since ?? []).toSorted()
  return (
    <>
      {numeral(active)} active
      {failing > 0 && since && (
        <>
          , {failing} failing since <Clock at={since} />
        </>
      )}
      {paused > 0 && `, ${paused} paused`}
      {stopped > 0 && `, ${stopped} disabled`}
    </>
  )
}

const COLUMNS: Column<Row>[] = [
  {
    label: 'Endpoint',
    isWide: true,
    sort: 'url',
    cell: ({ endpoint }) => (
      <>
        <Text text={withoutScheme(endpoint.url)} />
        <span class="hint">
          <Text text={typesOf(endpoint)} limit={60} />
        </span>
      </>
    ),
  },
  {
    label: 'Status',
    narrow: 'corner',
    sort: 'status',
    cell: ({ endpoint }) => <EndpointBadge state={stateOf(endpoint)} />,
  },
  {
    label: '24 h',
    narrow: 'bare',
    cell: ({ hours }) => (
      <HourBars bars={hourBarsOf(hours, usePage().now)} label={hourBarsLabel(hours)} />
    ),
  },
  { label: 'Delivered', align: 'right', sort: 'delivered', cell: ({ hours }) => shareOf(hours) },
  { label: 'p95', align: 'right', sort: 'p95', cell: ({ hours }) => p95Of(hours) },
  {
    label: 'Queued',
    align: 'right',
    cell: ({ waiting }) => (waiting ? <WaitingWords waiting={waiting} /> : '–'),
  },
]

const hourBarsLabel = (hours: Stats['data']): string =>
  `${shareOf(hours)} of ${counted(attemptsOf(hours), 'attempt')} delivered in 24 hours`

/** Event types of an endpoint as text. */
export const typesOf = ({ event_types: types }: Pick<EndpointStats, 'event_types'>): string =>
  types?.join(', ') ?? 'All event types'

const matches = ({ id, url, description }: EndpointStats, search: string): boolean => {
  const words = search.toLowerCase()
  return [id, url, description].some((text) => text.toLowerCase().includes(words))
}

/** Active endpoints without problems have no retries or held deliveries. */
const hasNoBacklog = (endpoint: EndpointStats): boolean =>
  stateOf(endpoint) === 'active' && endpoint.health.breaker === 'closed'

/** Channels that endpoints listen on. */
const channelsOf = (all: readonly EndpointStats[]): string[] =>
  [...new Set(all.flatMap(({ channels }) => channels))].toSorted().slice(0, MAX_CHOICES)

/** Filters of the list besides the status: search, event type and channel. */
function Filters({ types, channels }: EndpointList) {
  const { type, channel } = usePage().query
  const filterOf = (name: string, label: string, names: readonly string[], value = '') => ({
    name,
    label,
    value,
    options: optionsOf(
      names.map((one) => ({ value: one, label: one })),
      value || undefined,
    ),
  })
  return (
    <ListFilters
      search={{ label: 'Search by URL, description or ID' }}
      filters={[
        filterOf('type', 'Event type', types, type),
        ...(channels.length > 0 || channel
          ? [filterOf('channel', 'Channel', channels, channel)]
          : []),
      ]}
    />
  )
}
