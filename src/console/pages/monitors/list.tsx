import type { CurlRequest } from '../../../../views/ui/code.tsx'
import { EmptyState } from '../../../../views/ui/empty-state.tsx'
import { LinkButton } from '../../../../views/ui/form/button.tsx'
import { PageHead } from '../../../../views/ui/section.tsx'
import { sortingIn } from '../../../../views/ui/sorting.ts'
import { StatusBadge } from '../../../../views/ui/status.tsx'
import { type Column, DataTable } from '../../../../views/ui/table.tsx'
import { Text } from '../../../../views/ui/text.tsx'
import { Time } from '../../../../views/ui/time.tsx'
import { capitalized, counted, numeral } from '../../../../views/ui/words.ts'
import type { MonitorSummary } from '../../../engines/clockwork/monitors/queries.ts'
import { isoOrNull } from '../../../platform/clock.ts'
import { createCursor } from '../../../platform/cursor.ts'
import { bulkControls, useSelection } from '../../bulk.ts'
import { ExportMenu, exportOf } from '../../export.tsx'
import { ListChips, ListFilters, NoMatches, tagFilter, useList } from '../../list.tsx'
import { type PageContext, page, usePage } from '../../page.tsx'
import { expectationWords, STATE_WORDS, STATES, secondsText } from './words.ts'

const ROWS = 50
const SORTS = { state: 'asc', name: 'asc', last_ping: 'desc', expected: 'asc' } as const
type Sort = keyof typeof SORTS

/** The cursor is the number of monitors before: a tenant has few enough to sort them all. */
const cursor = createCursor('console monitors')

interface MonitorList {
  rows: readonly MonitorSummary[]
  all: readonly MonitorSummary[]
  /** Those that match the search and the tag, in any state. */
  found: readonly MonitorSummary[]
  next: string | undefined
}

const BULK = bulkControls({
  noun: ['monitor', 'monitors'],
  setActive({ clockwork: { monitors }, caller }, id, isActive) {
    const by = caller('clockwork')
    return isActive ? monitors.resume(by, id) : monitors.pause(by, id)
  },
  remove: ({ clockwork, caller }, id) => clockwork.monitors.remove(caller('clockwork'), id),
  confirm: "Their URLs stop working, and their pings are deleted. This can't be undone.",
})

/** The monitors of a tenant: those that need attention first. */
export const monitorList = page({
  path: '/monitors',
  section: 'monitors',
  right: 'read',
  title: 'Monitors',

  load(context): MonitorList {
    const all = context.clockwork.queries.monitors.list(context.tenantId)
    const found = all.filter((monitor) => isAbout(monitor, context.query))
    const listed = sorted(found.filter(isIn(context.query.state)), context)
    const first = cursor.positionOf(context.position.cursor) ?? 0
    const end = first + ROWS
    return {
      rows: listed.slice(first, end),
      all,
      found,
      next: end < listed.length ? cursor.encode(end) : undefined,
    }
  },

  view(list) {
    const isNone = list.all.length === 0
    return (
      <>
        <div id="monitors-head">
          <Head {...list} />
        </div>
        {!isNone && (
          <>
            <div id="monitors-counts">
              <Counts {...list} />
            </div>
            <Filters {...list} />
          </>
        )}
        <div id="monitors-list">
          <Rows {...list} />
        </div>
      </>
    )
  },

  live: (list) =>
    list.all.length === 0
      ? undefined
      : {
          'monitors-head': { facts: list.all, view: <Head {...list} /> },
          'monitors-counts': { facts: list.found, view: <Counts {...list} /> },
          'monitors-list': { facts: list.rows, view: <Rows {...list} /> },
        },

  actions: BULK,

  files: {
    export: exportOf({
      name: 'monitors',
      columns: {
        id: ({ id }) => id,
        name: ({ name }) => name,
        tags: ({ tags }) => tags.join(' '),
        state: ({ state }) => state,
        period_seconds: ({ period_seconds }) => period_seconds,
        schedule: ({ schedule }) => schedule,
        grace_seconds: ({ grace_seconds }) => grace_seconds,
        last_ping_at: ({ lastPingAt }) => isoOrNull(lastPingAt),
        expected_at: ({ expectedAt }) => isoOrNull(expectedAt),
      },
      slices: (context: PageContext) => {
        const all = context.clockwork.queries.monitors.list(context.tenantId)
        const { query } = context
        return [all.filter((one) => isAbout(one, query)).filter(isIn(query.state))]
      },
    }),
  },
})

const isAbout = ({ id, name, tags }: MonitorSummary, { q = '', tag }: PageContext['query']) =>
  (id === q || name.toLowerCase().includes(q.toLowerCase())) && (!tag || tags.includes(tag))

const isIn = (wanted: string | undefined) => {
  const state = STATES.find((one) => one === wanted)
  return (monitor: MonitorSummary) => state === undefined || monitor.state === state
}

function sorted(monitors: readonly MonitorSummary[], { query }: PageContext) {
  const { by, isDescending } = sortingIn(query.sort, SORTS)
  const ordered = monitors.toSorted(
    (one, other) => ORDERS[by](one, other) || ORDERS.name(one, other),
  )
  return isDescending ? ordered.toReversed() : ordered
}

const ORDERS: Record<Sort, (one: MonitorSummary, other: MonitorSummary) => number> = {
  state: (one, other) => STATES.indexOf(one.state) - STATES.indexOf(other.state),
  name: (one, other) => one.name.localeCompare(other.name),
  last_ping: (one, other) => (one.lastPingAt ?? 0) - (other.lastPingAt ?? 0),
  expected: (one, other) => (one.expectedAt ?? Infinity) - (other.expectedAt ?? Infinity) || 0,
}

const useCreation = () => {
  const { href, may } = usePage()
  return (
    may('change') && (
      <LinkButton weight="primary" href={href('/monitors/new')}>
        Create monitor
      </LinkButton>
    )
  )
}

const Head = (list: MonitorList) => {
  const isNone = list.all.length === 0
  const action = useCreation()
  return (
    <PageHead
      title="Monitors"
      state={stateOf(list)}
      action={!isNone && action}
      aside={!isNone && <ExportMenu />}
    />
  )
}

const Rows = ({ all, rows, next }: MonitorList) => {
  const { href, now } = usePage()
  const { pagesTo, sortedBy } = useList()
  const action = useCreation()
  return (
    <DataTable
      caption="Monitors"
      columns={columns(now)}
      rows={rows}
      hrefOf={({ id }) => href(`/monitors/${id}`)}
      idOf={({ id }) => id}
      empty={
        all.length === 0 ? (
          <NoMonitors action={action} />
        ) : (
          <NoMatches icon="monitors" noun="monitors" />
        )
      }
      pages={pagesTo(next)}
      sorting={sortedBy(SORTS)}
      selection={useSelection(BULK)}
    />
  )
}

const Counts = ({ found }: MonitorList) => (
  <ListChips
    name="state"
    all={found.length}
    chips={STATES.map((state) => ({
      value: state,
      label: capitalized(STATE_WORDS[state].word),
      count: found.filter(isIn(state)).length,
      tone: STATE_WORDS[state].tone,
    }))}
  />
)

const Filters = ({ all }: MonitorList) => (
  <ListFilters
    search={{ label: 'Search by name or ID' }}
    filters={tagFilter(
      [...new Set(all.flatMap(({ tags }) => tags))].toSorted(),
      usePage().query.tag,
    )}
  />
)

const NoMonitors = ({ action }: { action: ReturnType<typeof LinkButton> | false }) => (
  <EmptyState
    icon="monitors"
    sentence="No monitors yet"
    next="A monitor has a URL that a job requests each time it runs. If a request doesn't arrive in time, you are notified."
    action={action}
    curl={firstMonitor(usePage().baseUrl())}
  />
)

const firstMonitor = (apiUrl: string): CurlRequest => ({
  url: `${apiUrl}/v1/clockwork/monitors`,
  headers: { Authorization: 'Bearer $GATEHOUSE_KEY', 'Content-Type': 'application/json' },
  body: { name: 'Nightly backup', period_seconds: 86_400 },
})

function stateOf({ all }: MonitorList) {
  if (all.length === 0) return { sentence: 'Notice when a job elsewhere stops running' }
  const [down, late] = [all.filter(isIn('down')).length, all.filter(isIn('late')).length]
  const of = counted(all.length, 'monitor')
  const parts = [
    ...(down > 0 ? [`${numeral(down)} down`] : []),
    ...(late > 0 ? [`${numeral(late)} late`] : []),
  ]
  const sentence = parts.length === 0 ? `None of ${of} down` : `${parts.join(', ')} of ${of}`
  return { tone: down > 0 ? 'bad' : late > 0 ? 'warn' : 'good', sentence } as const
}

const columns = (now: number): Column<MonitorSummary>[] => [
  {
    label: 'Name',
    isWide: true,
    sort: 'name',
    cell: ({ name, tags, ...monitor }) => (
      <>
        <Text text={name} limit={80} />
        <span class="rowhint">
          <Text
            text={[capitalized(expectationWords(monitor)), ...tags.map((tag) => `#${tag}`)].join(
              ' ',
            )}
            limit={100}
          />
        </span>
      </>
    ),
  },
  {
    label: 'Status',
    narrow: 'corner',
    sort: 'state',
    cell: ({ state, startedAt }) => (
      <>
        <StatusBadge {...STATE_WORDS[state]} />
        {startedAt !== null && <span class="rowhint">Running</span>}
      </>
    ),
  },
  {
    label: 'Last ping',
    align: 'right',
    sort: 'last_ping',
    cell: ({ lastPingAt }) => (lastPingAt === null ? 'Never' : <Time at={lastPingAt} now={now} />),
  },
  {
    label: 'Expected',
    align: 'right',
    sort: 'expected',
    cell: ({ expectedAt }) => (expectedAt === null ? '–' : <Time at={expectedAt} now={now} />),
  },
  {
    label: 'Grace time',
    align: 'right',
    narrow: 'hidden',
    cell: ({ grace_seconds }) => secondsText(grace_seconds),
  },
]
