import type {
  EndpointStats,
  HourSum,
  Waiting,
} from '../../../../src/engines/relay/endpoint-summaries.ts'
import type { Stats } from '../../../../src/engines/relay/model/endpoints.ts'
import { HourBars } from '../../charts/hour-bars.tsx'
import { type Column, DataTable } from '../../data-table.tsx'
import { EmptyState } from '../../empty-state.tsx'
import { LinkButton } from '../../form/button.tsx'
import { attemptsOf, hourBarsOf, shareOf } from '../../hours.ts'
import { type ListPosition, pagerLinks } from '../../list-position.ts'
import { PageHead } from '../../page-head.tsx'
import { Text } from '../../text.tsx'
import { url } from '../../url.ts'
import { counted, withoutScheme } from '../../words.ts'
import { DayAttempts } from './day-attempts.tsx'
import { type EndpointFilterProps, EndpointFilters, endpointsHref } from './endpoint-filters.tsx'
import { WaitingWords } from './endpoint-waiting.tsx'
import { firstEndpoint } from './first-message.ts'
import { p95Of } from './hours.ts'
import { Clock, countsOf, EndpointBadge } from './state.tsx'

interface Row {
  endpoint: EndpointStats
  hours: Stats['data']
  /** Undefined for endpoints without retries and held deliveries. */
  waiting: Waiting | undefined
}

interface EndpointList extends EndpointFilterProps {
  apiUrl: string
  all: readonly EndpointStats[]
  /** Attempts of all endpoints in the last day. */
  day: readonly HourSum[]
  /** Number of endpoints that match all filters. */
  found: number
  rows: readonly Row[]
  position: ListPosition
  /** Cursor of the next page. */
  next: string | undefined
  mayChange: boolean
  now: number
}

/** The endpoints of a tenant. */
export const EndpointsPage = (page: EndpointList) => {
  const { base, all, now } = page
  const newEndpoint = page.mayChange && (
    <LinkButton weight="primary" href={url(base, '/console/endpoints/new')}>
      Create endpoint
    </LinkButton>
  )
  return (
    <>
      <PageHead
        title="Endpoints"
        state={{ tone: toneOf(all), sentence: sentenceOn(all, now) }}
        action={all.length > 0 && newEndpoint}
      />
      {all.length > 0 && (
        <>
          <DayAttempts hours={page.day} now={now} />
          <EndpointFilters {...page} />
        </>
      )}
      <DataTable
        caption="Endpoints"
        columns={columns(now)}
        rows={page.rows}
        hrefOf={({ endpoint }) => url(base, `/console/endpoints/${endpoint.id}`)}
        idOf={({ endpoint }) => endpoint.id}
        empty={
          all.length === 0 ? (
            <EmptyState
              icon="endpoints"
              sentence="No endpoints yet"
              next="An endpoint is a URL that receives messages of the event types that it subscribes to."
              action={newEndpoint}
              curl={firstEndpoint(page.apiUrl)}
            />
          ) : (
            <EmptyState
              icon="endpoints"
              sentence="No matching endpoints"
              action={
                <LinkButton href={url(base, '/console/endpoints')}>View all endpoints</LinkButton>
              }
            />
          )
        }
        pages={{
          extent: `${page.rows.length} of ${page.found.toLocaleString('en')}`,
          ...pagerLinks(page.position, page.next, (position) => endpointsHref(page, position)),
        }}
      />
    </>
  )
}

function toneOf(all: readonly EndpointStats[]) {
  if (all.length === 0) return undefined
  const { failing, stopped, active } = countsOf(all)
  if (failing + stopped > 0) return 'bad'
  return active === 0 ? 'quiet' : 'good'
}

function sentenceOn(all: readonly EndpointStats[], now: number) {
  if (all.length === 0) return 'URLs that receive your webhooks'
  const { active, failing, paused, stopped } = countsOf(all)
  const [since] = all.flatMap(({ health }) => health.failing_since ?? []).toSorted()
  return (
    <>
      {active.toLocaleString('en')} active
      {failing > 0 && since && (
        <>
          , {failing} failing since <Clock at={since} now={now} />
        </>
      )}
      {paused > 0 && `, ${paused} paused`}
      {stopped > 0 && `, ${stopped} disabled`}
    </>
  )
}

const columns = (now: number): Column<Row>[] => [
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
    cell: ({ hours }) => <HourBars bars={hourBarsOf(hours, now)} label={hourBarsLabel(hours)} />,
  },
  { label: 'Delivered', align: 'right', cell: ({ hours }) => shareOf(hours) },
  { label: 'p95', align: 'right', cell: ({ hours }) => p95Of(hours) },
  {
    label: 'Queued',
    align: 'right',
    cell: ({ waiting }) => (waiting ? <WaitingWords waiting={waiting} now={now} /> : '–'),
  },
]

const hourBarsLabel = (hours: Stats['data']): string =>
  `${shareOf(hours)} of ${counted(attemptsOf(hours), 'attempt')} delivered in 24 hours`

/** Event types of an endpoint as text. */
export const typesOf = ({ event_types: types }: Pick<EndpointStats, 'event_types'>): string =>
  types?.join(', ') ?? 'All event types'
