import type { VNode } from 'preact'
import { TimeAxis } from '../../../../views/ui/charts/time-axis.tsx'
import { EmptyState } from '../../../../views/ui/empty-state.tsx'
import { LinkButton } from '../../../../views/ui/form/button.tsx'
import { PageHead, Section } from '../../../../views/ui/section.tsx'
import { sortingIn } from '../../../../views/ui/sorting.ts'
import { StatusBadge } from '../../../../views/ui/status.tsx'
import { type Column, DataTable } from '../../../../views/ui/table.tsx'
import { shorten, Text } from '../../../../views/ui/text.tsx'
import { Time } from '../../../../views/ui/time.tsx'
import { numeral } from '../../../../views/ui/words.ts'
import type { DelayedJob } from '../../../engines/clockwork/model.ts'
import type { DelayedCounts, DelayedJobSummary } from '../../../engines/clockwork/queries.ts'
import { isoTime } from '../../../platform/clock.ts'
import type { Page } from '../../../platform/cursor.ts'
import { DAY_MS, HOUR_MS } from '../../../platform/durations.ts'
import { bulk, useSelection } from '../../bulk.ts'
import { ExportMenu, exportOf, pagesOf } from '../../export.tsx'
import { ListChips, ListFilters, NoMatches, tagFilter, useList } from '../../list.tsx'
import { type PageContext, page, usePage } from '../../page.tsx'
import { type TimeFilter, timeFilterIn } from '../../time-filter.ts'
import { DELAYED_WORDS } from './execution.tsx'

/** Number of upcoming runs in the list; the axis shows all. */
const LISTED = 5
const ON_A_PAGE = 50
/** Most runs on the time axis. */
const UPCOMING_SHOWN = 40

const SORTS = { run_at: 'desc', created: 'desc' } as const

type Status = DelayedJob['status']
const STATUSES = [
  'pending',
  'running',
  'success',
  'failed',
  'cancelled',
] as const satisfies Status[]

interface DelayedList {
  found: Page<DelayedJobSummary>
  summary: ReturnType<typeof summaryOf>
  /** Jobs that match the search and the time, by status. */
  counts: DelayedCounts
  /** Tags of the newest jobs. */
  tags: readonly string[]
  time: TimeFilter
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

/** Delayed jobs of a tenant, latest first, with search and filters from the query string. */
export const delayedList = page({
  path: '/delayed',
  section: 'delayed',
  right: 'read',
  title: 'Delayed jobs',

  load: (context): DelayedList => ({
    found: foundBy(context, { cursor: context.position.cursor, limit: ON_A_PAGE }),
    summary: summaryOf(context),
    counts: context.clockwork.queries.delayedCounts(context.tenantId, filterOf(context)),
    tags: context.clockwork.queries.delayedTags(context.tenantId),
    time: timeIn(context),
  }),

  status: ({ time }) => (time.errors.length > 0 ? 422 : 200),

  view(list) {
    const { found, counts, time } = list
    const { href, may, query } = usePage()
    const { isFiltered, pagesTo, sortedBy } = useList()
    const isNone = counts.all === 0 && !isFiltered
    const action = may('change') && (
      <LinkButton weight="primary" href={href('/delayed/new')}>
        Create delayed job
      </LinkButton>
    )
    return (
      <>
        <PageHead
          title="Delayed jobs"
          state={isNone ? { sentence: 'No delayed jobs' } : stateOf(list)}
          action={!isNone && action}
          aside={!isNone && <ExportMenu />}
        />
        {!isNone && (
          <>
            <UpcomingRuns {...list} />
            <ListChips
              name="status"
              all={counts.all}
              chips={STATUSES.map((value) => ({
                value,
                label: DELAYED_WORDS[value].label,
                count: counts[value],
                tone: DELAYED_WORDS[value].tone,
              }))}
            />
            <ListFilters
              search={{ label: 'Search by name, URL or ID' }}
              filters={tagFilter(list.tags, query.tag)}
              time={time}
            />
          </>
        )}
        <DataTable
          caption="Delayed jobs"
          columns={COLUMNS}
          rows={found.data}
          hrefOf={({ id }) => href(`/delayed/${id}`)}
          idOf={({ id }) => id}
          empty={
            isNone ? <NoJobs action={action} /> : <NoMatches icon="delayed" noun="delayed jobs" />
          }
          pages={pagesTo(found.next_cursor)}
          sorting={sortedBy(SORTS)}
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
        created_at: ({ createdAt }) => isoTime(createdAt),
      },
      slices: (context: PageContext) => pagesOf((of) => foundBy(context, of)),
    }),
  },
})

const timeIn = (context: PageContext) => timeFilterIn(context, { label: 'Run at', hasFuture: true })

function filterOf(context: PageContext) {
  const { since, until } = timeIn(context)
  const { q, tag } = context.query
  return { q, tag, since, until }
}

/** Jobs that match the filter of the query string, in its order. */
function foundBy(context: PageContext, of: { cursor: string | undefined; limit: number }) {
  const { clockwork, tenantId, query } = context
  return clockwork.queries.delayed(tenantId, {
    ...of,
    ...filterOf(context),
    ...sortingIn(query.sort, SORTS),
    status: STATUSES.find((one) => one === query.status),
  })
}

/** Upcoming jobs, including those due in the last hour that have not started, and what ended in a day. */
function summaryOf({ clockwork: { queries }, tenantId, now }: PageContext) {
  const coming = { since: now - HOUR_MS }
  const { success, failed } = queries.delayedCounts(tenantId, { since: now - DAY_MS, until: now })
  return {
    pending: queries.delayedCounts(tenantId, coming).pending,
    ended: success + failed,
    failed,
    upcoming: queries.delayed(tenantId, {
      ...coming,
      status: 'pending',
      by: 'run_at',
      isDescending: false,
      limit: UPCOMING_SHOWN,
    }).data,
  }
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

function stateOf({ summary }: DelayedList) {
  const { pending, ended, failed, upcoming } = summary
  const [next] = upcoming
  return {
    tone: failed > 0 ? 'bad' : 'good',
    sentence: (
      <>
        {next ? (
          <>
            {numeral(pending)} pending, next run <Time at={next.runAt} />
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
  { label: 'Run at', align: 'right', sort: 'run_at', cell: ({ runAt }) => <Time at={runAt} /> },
  {
    label: 'Created',
    align: 'right',
    sort: 'created',
    cell: ({ createdAt }) => <Time at={createdAt} />,
  },
]
