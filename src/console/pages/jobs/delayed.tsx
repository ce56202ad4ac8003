import type { VNode } from 'preact'
import { TimeAxis } from '../../../../views/ui/charts/time-axis.tsx'
import { EmptyState } from '../../../../views/ui/empty-state.tsx'
import { FilterBar } from '../../../../views/ui/filter-bar.tsx'
import { LinkButton } from '../../../../views/ui/form/button.tsx'
import { type Pages, pagerLinks } from '../../../../views/ui/pager.tsx'
import { PageHead, Section } from '../../../../views/ui/section.tsx'
import { StatusBadge } from '../../../../views/ui/status.tsx'
import { type Column, DataTable } from '../../../../views/ui/table.tsx'
import { FilterChips } from '../../../../views/ui/tabs.tsx'
import { shorten, Text } from '../../../../views/ui/text.tsx'
import { Time } from '../../../../views/ui/time.tsx'
import { numeral } from '../../../../views/ui/words.ts'
import type { DelayedJob } from '../../../engines/clockwork/model.ts'
import type { DelayedJobSummary, DelayedPosition } from '../../../engines/clockwork/queries.ts'
import { isoTime } from '../../../platform/clock.ts'
import { createCursor } from '../../../platform/cursor.ts'
import { DAY_MS, HOUR_MS } from '../../../platform/durations.ts'
import { bulk, useSelection } from '../../bulk.ts'
import { ExportMenu, exportOf } from '../../export.tsx'
import { type PageContext, page, usePage } from '../../page.tsx'
import { DELAYED_WORDS } from './execution.tsx'

/** Number of upcoming runs in the list; the axis shows all. */
const LISTED = 5
const ROWS = 50
/** Pending and ended jobs are counted up to this number. */
const MAX_COUNTED = 1000
/** With more jobs, the filters show no counts. */
const MAX_IN_CHIPS = 500
/** Most runs on the time axis. */
const UPCOMING_SHOWN = 40

type Status = DelayedJob['status']
const STATUSES = [
  'pending',
  'running',
  'success',
  'failed',
  'cancelled',
] as const satisfies Status[]

interface DelayedList {
  rows: readonly DelayedJobSummary[]
  /** The tenant has no delayed jobs. */
  isNone: boolean
  summary: ReturnType<typeof summaryOf>
  /** Number of jobs by status; undefined if there are too many to count. */
  counts: Counts | undefined
  q: string
  status: Status | undefined
  pages: Pages
}

const BULK = {
  'selected/cancel': bulk({
    right: 'delete',
    verb: 'Cancel jobs',
    noun: ['delayed job', 'delayed jobs'],
    done: 'cancelled',
    confirm: "They won't run. This can't be undone.",
    each: ({ clockwork, caller }, id) => clockwork.delayed.cancel(caller('clockwork'), id),
  }),
}

const cursor = createCursor('console delayed jobs', ['number', 'number'])

/** Delayed jobs of a tenant, latest first, with search and filters from the query string. */
export const delayedList = page({
  path: '/delayed',
  section: 'delayed',
  right: 'read',
  title: 'Delayed jobs',

  load(context): DelayedList {
    const { clockwork, tenantId, query, position, href } = context
    const { q = '' } = query
    const status = STATUSES.find((one) => one === query.status)
    const at = cursor.positionOf(position.cursor)
    const before = at && { runAt: at[0], seq: at[1] }
    const { rows, next, counts } = pageOf(context, { q, status, before })
    return {
      rows,
      isNone: rows.length === 0 && clockwork.queries.delayed(tenantId, { limit: 1 }).length === 0,
      summary: summaryOf(context),
      counts,
      q,
      status,
      pages: pagerLinks(position, next && cursor.encode([next.runAt, next.seq]), (to) =>
        href('/delayed', { q, status, ...to }),
      ),
    }
  },

  view(list) {
    const { href, may } = usePage()
    const { isNone } = list
    const action = may('change') && (
      <LinkButton weight="primary" href={href('/delayed/new')}>
        Create delayed job
      </LinkButton>
    )
    return (
      <>
        <PageHead
          title="Delayed jobs"
          state={stateOf(list)}
          action={!isNone && action}
          aside={!isNone && <ExportMenu />}
        />
        {!isNone && <UpcomingRuns {...list} />}
        {!isNone && <Filters {...list} />}
        <DataTable
          caption="Delayed jobs"
          columns={COLUMNS}
          rows={list.rows}
          hrefOf={({ id }) => href(`/delayed/${id}`)}
          idOf={({ id }) => id}
          empty={isNone ? <NoJobs action={action} /> : <NoMatches {...list} />}
          pages={list.pages}
          selection={useSelection(BULK)}
        />
      </>
    )
  },

  actions: BULK,

  files: {
    export: exportOf({
      name: 'delayed-jobs',
      columns: {
        id: ({ id }) => id,
        name: ({ name }) => name,
        url: ({ url }) => url,
        status: ({ status }) => status,
        run_at: ({ runAt }) => isoTime(runAt),
      },
      slices: matching,
    }),
  },
})

/** All jobs that match the filter of the query string, in slices. */
function* matching({ clockwork: { queries }, tenantId, query }: PageContext) {
  const { q = '' } = query
  const status = STATUSES.find((one) => one === query.status)
  for (let before: DelayedPosition | undefined; ; ) {
    const rows = queries.delayed(tenantId, { q, status, before, limit: MAX_IN_CHIPS })
    yield rows
    const last = rows.length === MAX_IN_CHIPS ? rows.at(-1) : queries.lastSearched(tenantId, before)
    if (!last) return
    before = { runAt: last.runAt, seq: last.seq }
  }
}

/** One page of matching jobs, and the next cursor. A small result also provides the counts of the filters. */
function pageOf(
  { clockwork: { queries }, tenantId }: PageContext,
  { q, status, before }: DelayedFilters,
) {
  const found = queries.delayed(tenantId, { q, limit: MAX_IN_CHIPS + 1 })
  const isFew = found.length <= MAX_IN_CHIPS
  const fitting =
    isFew && !before
      ? found.filter((job) => status === undefined || job.status === status)
      : queries.delayed(tenantId, { q, status, before, limit: ROWS + 1 })
  const rows = fitting.slice(0, ROWS)
  const unseen = queries.lastSearched(tenantId, before)
  return {
    rows,
    next: fitting.length > ROWS ? rows.at(-1) : unseen,
    counts: isFew && !unseen ? countsOf(found) : undefined,
  }
}

/** Upcoming jobs, including those due in the last hour that have not started. */
function summaryOf({ clockwork: { queries }, tenantId, now }: PageContext) {
  const upcoming = queries
    .delayedBetween(tenantId, { from: now - HOUR_MS, limit: MAX_COUNTED })
    .filter(({ status }) => status === 'pending')
  const endedRecently = queries.delayedBetween(tenantId, {
    from: now - DAY_MS,
    to: now,
    limit: MAX_COUNTED,
  })
  return {
    waiting: upcoming.length,
    hasMoreWaiting: upcoming.length === MAX_COUNTED,
    ended: endedRecently.filter(({ status }) => status === 'success' || status === 'failed').length,
    failed: endedRecently.filter(({ status }) => status === 'failed').length,
    upcoming: upcoming.slice(0, UPCOMING_SHOWN),
  }
}

interface Counts {
  all: number
  byStatus: ReadonlyMap<Status, number>
}

interface DelayedFilters {
  q: string
  status: Status | undefined
  before: DelayedPosition | undefined
}

function countsOf(jobs: readonly DelayedJobSummary[]): Counts {
  const countOf = (of: Status) => jobs.filter(({ status }) => status === of).length
  const byStatus = STATUSES.map((status) => [status, countOf(status)] as const)
  return { all: jobs.length, byStatus: new Map(byStatus) }
}

function UpcomingRuns({ summary: { upcoming } }: DelayedList) {
  const { href, now } = usePage()
  if (upcoming.length === 0) return null
  return (
    <Section id="coming" title="Upcoming runs" isCard>
      <TimeAxis
        label="Upcoming runs"
        now={now}
        until={Math.max(now + HOUR_MS, upcoming.at(-1)?.runAt ?? now)}
        listed={LISTED}
        upcoming={upcoming.map(({ id, name, runAt }) => ({
          at: runAt,
          name: shorten(name, 60),
          href: href(`/delayed/${id}`),
        }))}
      />
    </Section>
  )
}

function Filters({ counts, q, status }: DelayedList) {
  const { href } = usePage()
  const hrefOf = (of?: Status) => href('/delayed', { q, status: of })
  return (
    <>
      <FilterChips
        label="Status"
        tabs={[
          { label: 'All', href: hrefOf(), count: counts?.all, isCurrent: !status },
          ...STATUSES.map((of) => {
            const count = counts?.byStatus.get(of)
            return {
              label: DELAYED_WORDS[of].label,
              href: hrefOf(of),
              count,
              isCurrent: of === status,
              ...(of === 'failed' && count && { tone: 'bad' as const }),
            }
          }),
        ]}
      />
      <FilterBar
        action={href('/delayed')}
        search={{ label: 'Search by name, URL or ID', value: q }}
        kept={{ status }}
        {...(q !== '' && { clearHref: href('/delayed', { status }) })}
      />
    </>
  )
}

const NoJobs = ({ action }: { action: VNode | false }) => {
  const { baseUrl, now } = usePage()
  return (
    <EmptyState
      icon="delayed"
      sentence="No delayed jobs yet"
      next="A delayed job sends an HTTP request once, at the time that you set, and retries failures."
      action={action}
      curl={{
        url: `${baseUrl()}/v1/clockwork/delayed`,
        headers: { Authorization: 'Bearer $GATEHOUSE_KEY', 'Content-Type': 'application/json' },
        body: {
          name: 'hello',
          run_at: new Date(now + HOUR_MS).toISOString(),
          url: 'https://example.com/hook',
        },
      }}
    />
  )
}

const NoMatches = ({ pages: { olderHref } }: DelayedList) => {
  const { href } = usePage()
  return olderHref ? (
    <EmptyState
      icon="delayed"
      sentence="No matches on this page. Older pages may have some."
      action={<LinkButton href={olderHref}>View older jobs</LinkButton>}
    />
  ) : (
    <EmptyState
      icon="delayed"
      sentence="No matching delayed jobs"
      action={<LinkButton href={href('/delayed')}>View all delayed jobs</LinkButton>}
    />
  )
}

function stateOf({ isNone, summary }: DelayedList) {
  if (isNone) return { sentence: 'No delayed jobs' }
  const { waiting, hasMoreWaiting, ended, failed, upcoming } = summary
  const [next] = upcoming
  return {
    tone: failed > 0 ? 'bad' : 'good',
    sentence: (
      <>
        {next ? (
          <>
            {hasMoreWaiting && 'More than '}
            {numeral(waiting)} pending, next run <Time at={next.runAt} />
          </>
        ) : (
          'None pending'
        )}
        {ended > 0 && `; ${numeral(failed)} of ${numeral(ended)} failed in the last 24 hours`}
      </>
    ),
  } as const
}

const COLUMNS: Column<DelayedJobSummary>[] = [
  { label: 'Name', isWide: true, cell: ({ name }) => <Text text={name} limit={80} /> },
  {
    label: 'Request',
    isMono: true,
    narrow: 'hidden',
    cell: ({ method, url: target }) => (
      <Text text={`${method} ${target.replace(/^https?:\/\//, '')}`} limit={80} />
    ),
  },
  {
    label: 'Status',
    narrow: 'corner',
    cell: ({ status }) => <StatusBadge {...DELAYED_WORDS[status]} />,
  },
  { label: 'Run at', align: 'right', cell: ({ runAt }) => <Time at={runAt} /> },
]
