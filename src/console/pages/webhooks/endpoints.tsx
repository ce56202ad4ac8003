import {
  attemptsOf,
  HourBars,
  hourBarsOf,
  shareOf,
} from '../../../../views/ui/charts/hour-bars.tsx'
import { EmptyState } from '../../../../views/ui/empty-state.tsx'
import { FilterBar } from '../../../../views/ui/filter-bar.tsx'
import { LinkButton } from '../../../../views/ui/form/button.tsx'
import { type ListPosition, pagerLinks } from '../../../../views/ui/pager.tsx'
import { PageHead } from '../../../../views/ui/section.tsx'
import { type Column, DataTable } from '../../../../views/ui/table.tsx'
import { FilterChips } from '../../../../views/ui/tabs.tsx'
import { shorten, Text } from '../../../../views/ui/text.tsx'
import { capitalized, counted, numeral, withoutScheme } from '../../../../views/ui/words.ts'
import type { Stats } from '../../../engines/relay/model/endpoints.ts'
import {
  type EndpointStats,
  type HourSum,
  hears,
  type Waiting,
} from '../../../engines/relay/queries.ts'
import { bulk, useSelection } from '../../bulk.ts'
import { ExportMenu, exportOf } from '../../export.tsx'
import { type PageContext, page, usePage } from '../../page.tsx'
import { DayAttempts, p95Of } from './day-attempts.tsx'
import { WaitingWords } from './endpoint-controls.tsx'
import { firstEndpoint } from './messages.tsx'
import {
  Clock,
  countsOf,
  ENDPOINT_STATES,
  ENDPOINT_TONES,
  ENDPOINT_WORDS,
  EndpointBadge,
  type EndpointState,
  stateOf,
} from './state.tsx'

interface Row {
  endpoint: EndpointStats
  hours: Stats['data']
  /** Undefined for endpoints without retries and held deliveries. */
  waiting: Waiting | undefined
}

const ON_A_PAGE = 25
/** Most event types in the filter. */
const MAX_CHOICES = 200

interface EndpointList extends EndpointFilters {
  all: readonly EndpointStats[]
  /** Attempts of all endpoints in the last day. */
  day: readonly HourSum[]
  /** Number of endpoints that match all filters. */
  found: number
  rows: readonly Row[]
  /** Cursor of the next page. */
  next: string | undefined
}

const NOUN = ['endpoint', 'endpoints'] as const
const BULK = {
  'selected/pause': bulk({
    right: 'change',
    verb: 'Pause',
    noun: NOUN,
    done: 'paused',
    each: (context, id) => setActive(context, id, { active: false }),
  }),
  'selected/resume': bulk({
    right: 'change',
    verb: 'Resume',
    noun: NOUN,
    done: 'resumed. Held deliveries are being sent',
    each: (context, id) => setActive(context, id, { active: true, held: 'drain' }),
  }),
  'selected/delete': bulk({
    right: 'delete',
    verb: 'Delete',
    noun: NOUN,
    done: 'deleted',
    confirm: 'Their URLs receive nothing more. Queued and held deliveries are cancelled.',
    each: ({ relay, caller, environment }, id) =>
      relay.endpoints.remove(caller('relay', environment), id),
  }),
}

const setActive = (
  { relay, caller, environment }: PageContext,
  id: string,
  change: { active: false } | { active: true; held: 'drain' },
) => relay.endpoints.update(caller('relay', environment), id, change)

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
    const { all, state, filters, meant, found } = filtered(context)
    const from = found.findIndex(({ id }) => id === position.cursor) + 1
    const rows = found.slice(from, from + ON_A_PAGE)
    return {
      all,
      day: queries.dayOfAll(by, all.length),
      meant,
      found: found.length,
      rows: rows.map((endpoint) => ({
        endpoint,
        hours: queries.dayOf(endpoint),
        waiting: hasNoBacklog(endpoint) ? undefined : queries.waitingFor(endpoint),
      })),
      next: from + rows.length < found.length ? rows.at(-1)?.id : undefined,
      state,
      ...filters,
      types: eventTypes.names(by, MAX_CHOICES),
      channels: channelsOf(all),
    }
  },

  view(list) {
    const { all } = list
    const { href, may, position } = usePage()
    const hrefOf = useEndpointsHref(list)
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
            <Filters {...list} />
          </>
        )}
        <DataTable
          caption="Endpoints"
          columns={COLUMNS}
          rows={list.rows}
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
                action={<LinkButton href={href('/endpoints')}>View all endpoints</LinkButton>}
              />
            )
          }
          pages={{
            extent: `${list.rows.length} of ${numeral(list.found)}`,
            ...pagerLinks(position, list.next, hrefOf),
          }}
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
      slices: (context: PageContext) => {
        const { found } = filtered(context)
        return [found]
      },
    }),
  },
})

/** All endpoints of the environment, and those that match the filters of the query string. */
function filtered({ relay: { queries }, caller, environment, query }: PageContext) {
  const all = queries.all(caller('relay', environment))
  const state = ENDPOINT_STATES.find((one) => one === query.state)
  const filters = {
    search: query.q ?? '',
    type: query.type || undefined,
    channel: query.channel || undefined,
  }
  const meant = all.filter(
    (endpoint) => hears(endpoint, filters) && matches(endpoint, filters.search),
  )
  const found = state ? meant.filter((endpoint) => stateOf(endpoint) === state) : issuesFirst(meant)
  return { all, state, filters, meant, found }
}

function toneOf(all: readonly EndpointStats[]) {
  if (all.length === 0) return undefined
  const { failing, stopped, active } = countsOf(all)
  if (failing + stopped > 0) return 'bad'
  return active === 0 ? 'quiet' : 'good'
}

function sentenceOn(all: readonly EndpointStats[]) {
  if (all.length === 0) return 'URLs that receive your webhooks'
  const { active, failing, paused, stopped } = countsOf(all)
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
    cell: ({ endpoint }) => <EndpointBadge endpoint={endpoint} />,
  },
  {
    label: '24 h',
    narrow: 'bare',
    cell: ({ hours }) => (
      <HourBars bars={hourBarsOf(hours, usePage().now)} label={hourBarsLabel(hours)} />
    ),
  },
  { label: 'Delivered', align: 'right', cell: ({ hours }) => shareOf(hours) },
  { label: 'p95', align: 'right', cell: ({ hours }) => p95Of(hours) },
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

/** Endpoints with problems come first. */
const issuesFirst = (endpoints: readonly EndpointStats[]): EndpointStats[] => {
  const hasIssue = (endpoint: EndpointStats) => ENDPOINT_TONES[stateOf(endpoint)] === 'bad'
  return [...endpoints.filter(hasIssue), ...endpoints.filter((endpoint) => !hasIssue(endpoint))]
}

/** Active endpoints without problems have no retries or held deliveries. */
const hasNoBacklog = (endpoint: EndpointStats): boolean =>
  stateOf(endpoint) === 'active' && endpoint.health.breaker === 'closed'

/** Channels that endpoints listen on. */
const channelsOf = (all: readonly EndpointStats[]): string[] =>
  [...new Set(all.flatMap(({ channels }) => channels))].toSorted().slice(0, MAX_CHOICES)

interface EndpointFilters {
  state: EndpointState | undefined
  search: string
  type: string | undefined
  channel: string | undefined
  /** Endpoints that match all filters except the status. */
  meant: readonly EndpointStats[]
  types: readonly string[]
  channels: readonly string[]
}

/** Addresses of the list with its filters. */
function useEndpointsHref({ search, type, channel, ...list }: EndpointFilters) {
  const { href } = usePage()
  return (of: ListPosition & { state?: EndpointState | undefined } = {}) =>
    href('/endpoints', { state: list.state, q: search, type, channel, ...of })
}

/** Filters of the list: status, search, event type and channel. */
function Filters(list: EndpointFilters) {
  const { state, search, type, channel } = list
  const { href } = usePage()
  const hrefOf = useEndpointsHref(list)
  const counts = countsOf(list.meant)
  return (
    <>
      <FilterChips
        label="Status"
        tabs={[
          {
            label: 'All',
            href: hrefOf({ state: undefined }),
            count: list.meant.length,
            isCurrent: !state,
          },
          ...ENDPOINT_STATES.filter((one) => counts[one] > 0 || one === state).map((one) => ({
            label: capitalized(ENDPOINT_WORDS[one]),
            href: hrefOf({ state: one }),
            count: counts[one],
            isCurrent: one === state,
            ...(ENDPOINT_TONES[one] === 'bad' && { tone: 'bad' as const }),
          })),
        ]}
      />
      <FilterBar
        action={href('/endpoints')}
        search={{ label: 'Search by URL, description or ID', value: search }}
        filters={[
          { name: 'type', label: 'Event type', value: type, options: optionsOf(list.types, type) },
          ...(list.channels.length > 0 || channel
            ? [
                {
                  name: 'channel',
                  label: 'Channel',
                  value: channel,
                  options: optionsOf(list.channels, channel),
                },
              ]
            : []),
        ]}
        kept={{ state }}
        clearHref={search || state || type || channel ? href('/endpoints') : undefined}
      />
    </>
  )
}

/** Most characters in an option. */
const MAX_OPTION_LENGTH = 60

/** Options, including a selected name that is not in the list. */
const optionsOf = (names: readonly string[], chosen: string | undefined) =>
  (chosen === undefined || names.includes(chosen) ? names : [chosen, ...names]).map((name) => ({
    value: name,
    label: shorten(name, MAX_OPTION_LENGTH),
  }))
