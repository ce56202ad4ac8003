import type { Endpoint, Stats } from '../../../../src/engines/relay/model/endpoints.ts'
import { Pulse } from '../../charts/pulse.tsx'
import { type Column, DataTable } from '../../data-table.tsx'
import { EmptyState } from '../../empty-state.tsx'
import { FilterBar } from '../../filter-bar.tsx'
import { LinkButton } from '../../form/button.tsx'
import { PageHead } from '../../page-head.tsx'
import { FilterChips } from '../../tabs.tsx'
import { Text } from '../../text.tsx'
import { url } from '../../url.ts'
import { firstEndpoint } from './first-message.ts'
import { beatsOf, shareOf } from './hours.ts'
import {
  Clock,
  counted,
  ENDPOINT_STATES,
  ENDPOINT_TONES,
  EndpointMark,
  type EndpointState,
  stateOf,
  withoutScheme,
} from './state.tsx'

interface Row {
  endpoint: Endpoint
  hours: Stats['data']
}

/** Where events go, and whether they arrive. */
export const EndpointsPage = (page: {
  base: string
  apiUrl: string
  all: readonly Endpoint[]
  rows: readonly Row[]
  /** How many the filters leave. */
  found: number
  isFirst: boolean
  /** The last one of this page, where there are more behind it. */
  last: string | undefined
  state: EndpointState | undefined
  search: string
  mayChange: boolean
  now: number
}) => {
  const { base, all, state, search, now } = page
  const href = (of: { state?: EndpointState; q?: string; after?: string }) =>
    url(base, '/console/endpoints', of)
  const counts = countsOf(all)
  const newEndpoint = page.mayChange && (
    <LinkButton weight="primary" href={url(base, '/console/endpoints/new')}>
      New endpoint
    </LinkButton>
  )
  return (
    <>
      <PageHead
        title="Endpoints"
        state={{ tone: toneOf(all, counts), sentence: sentenceOn(all, counts, now) }}
        action={newEndpoint}
      />
      {all.length > 0 && (
        <>
          <FilterChips
            label="State"
            tabs={[
              { label: 'All', href: href({ q: search }), count: all.length, isCurrent: !state },
              ...ENDPOINT_STATES.filter((one) => counts[one] > 0 || one === state).map((one) => ({
                label: one.charAt(0).toUpperCase() + one.slice(1),
                href: href({ state: one, q: search }),
                count: counts[one],
                isCurrent: one === state,
                ...(ENDPOINT_TONES[one] === 'bad' && { tone: 'bad' as const }),
              })),
            ]}
          />
          <FilterBar
            action={url(base, '/console/endpoints')}
            search={{ label: 'Address, description or id', value: search }}
            kept={{ state }}
            clearHref={search || state ? href({}) : undefined}
          />
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
              sentence="No endpoint yet."
              next="An endpoint is a URL that is called with each event it listens to."
              action={newEndpoint}
              curl={firstEndpoint(page.apiUrl)}
            />
          ) : (
            <EmptyState
              icon="endpoints"
              sentence="No endpoint is like that."
              action={<LinkButton href={href({})}>Show all</LinkButton>}
            />
          )
        }
        pages={{
          extent: `${page.rows.length} of ${page.found.toLocaleString('en')}`,
          newerHref: page.isFirst ? undefined : href({ state, q: search }),
          olderHref: page.last && href({ state, q: search, after: page.last }),
        }}
      />
    </>
  )
}

type Counts = Record<EndpointState, number>

function countsOf(endpoints: readonly Endpoint[]): Counts {
  const counts = { active: 0, failing: 0, paused: 0, stopped: 0 }
  for (const endpoint of endpoints) counts[stateOf(endpoint)]++
  return counts
}

function toneOf(all: readonly Endpoint[], { failing, stopped, active }: Counts) {
  if (all.length === 0) return undefined
  if (failing + stopped > 0) return 'bad'
  return active === 0 ? 'quiet' : 'good'
}

function sentenceOn(all: readonly Endpoint[], counts: Counts, now: number) {
  if (all.length === 0) return 'Nobody is told of events: there is no endpoint.'
  const { active, failing, paused, stopped } = counts
  const [since] = all.flatMap(({ health }) => health.failing_since ?? []).toSorted()
  return (
    <>
      {active} active
      {failing > 0 && since && (
        <>
          , {failing} failing since <Clock at={since} now={now} />
        </>
      )}
      {paused > 0 && `, ${paused} paused`}
      {stopped > 0 && `, ${stopped} stopped`}
    </>
  )
}

const columns = (now: number): Column<Row>[] => [
  {
    label: 'Endpoint',
    isWide: true,
    cell: ({ endpoint }) => <Text text={withoutScheme(endpoint.url)} />,
  },
  {
    label: 'State',
    narrow: 'corner',
    cell: ({ endpoint }) => <EndpointMark endpoint={endpoint} />,
  },
  {
    label: 'Events',
    isWide: true,
    cell: ({ endpoint }) => <Text text={typesOf(endpoint)} limit={40} />,
  },
  {
    label: '24 h',
    narrow: 'bare',
    cell: ({ hours }) => <Pulse beats={beatsOf(hours, now)} label={pulseLabel(hours)} />,
  },
  { label: 'Delivered', align: 'right', cell: ({ hours }) => shareOf(hours) },
]

const pulseLabel = (hours: Stats['data']): string =>
  `${shareOf(hours)} of ${counted(
    hours.reduce((sum, { succeeded, failed }) => sum + succeeded + failed, 0),
    'attempt',
  )} delivered in 24 hours`

/** What it listens to. */
export const typesOf = ({ event_types: types }: Endpoint): string =>
  types?.join(', ') ?? 'all events'
