import type { CurlRequest } from '../../../../views/ui/code.tsx'
import { EmptyState } from '../../../../views/ui/empty-state.tsx'
import { ActionButton, LinkButton } from '../../../../views/ui/form/button.tsx'
import { PageHead } from '../../../../views/ui/section.tsx'
import { sortingIn } from '../../../../views/ui/sorting.ts'
import { StatusBadge } from '../../../../views/ui/status.tsx'
import { type Column, DataTable } from '../../../../views/ui/table.tsx'
import { shorten, Text } from '../../../../views/ui/text.tsx'
import { Time } from '../../../../views/ui/time.tsx'
import { capitalized, counted, numeral } from '../../../../views/ui/words.ts'
import type {
  CronJobSummary,
  ExecutionSummary,
  HourOutcomes,
  JobCounts,
} from '../../../engines/clockwork/queries.ts'
import { describeSchedule } from '../../../engines/clockwork/schedule/index.ts'
import { isoOrNull, isoTime } from '../../../platform/clock.ts'
import type { Page } from '../../../platform/cursor.ts'
import { bulk, bulkControls, useSelection } from '../../bulk.ts'
import { ExportMenu, exportOf, pagesOf } from '../../export.tsx'
import { ListChips, ListFilters, tagFilter, useList } from '../../list.tsx'
import { type PageContext, page, usePage } from '../../page.tsx'
import { Outcomes, Recent } from './charts.tsx'
import { OUTCOMES } from './execution.tsx'
import { setActive } from './job.tsx'

const ON_A_PAGE = 50
/** Hours of the chart above the list. */
const HOURS = 24
/** Attempts in the chart of a row. */
const RECENT = 20

const STATES = ['failing', 'paused'] as const

const SORTS = { created: 'desc', name: 'asc', last_run: 'desc', next_run: 'asc' } as const

/** A job with its latest attempts. */
type Row = CronJobSummary & { recent: readonly ExecutionSummary[] }

interface JobList {
  found: Page<Row>
  /** All jobs by state, and those that the search finds. */
  all: JobCounts
  counts: JobCounts
  /** Tags of all jobs. */
  tags: readonly string[]
  /** Outcomes of the attempts of the last 24 hours. */
  hours: readonly HourOutcomes[]
}

const NOUN = ['job', 'jobs'] as const
const BULK = {
  'selected/run': bulk({
    right: 'change',
    verb: 'Run now',
    noun: NOUN,
    done: 'started',
    each: ({ clockwork, caller }, id) => clockwork.jobs.runNow(caller('clockwork'), id),
  }),
  ...bulkControls({
    noun: NOUN,
    setActive,
    remove: ({ clockwork, caller }, id) => clockwork.jobs.remove(caller('clockwork'), id),
    confirm: "Their run history is deleted, too. This can't be undone.",
  }),
}

/** The jobs of a tenant, with search and filters from the query string. */
export const jobList = page({
  path: '/jobs',
  section: 'jobs',
  right: 'read',
  title: 'Jobs',

  load(context): JobList {
    const { clockwork, tenantId, query, position, now } = context
    const { queries } = clockwork
    const found = foundBy(context, { cursor: position.cursor, limit: ON_A_PAGE })
    const all = queries.jobCounts(tenantId)
    return {
      found: {
        ...found,
        data: found.data.map((job) => ({
          ...job,
          recent: queries.attempts(tenantId, job.id, RECENT),
        })),
      },
      all,
      counts: query.q || query.tag ? queries.jobCounts(tenantId, query) : all,
      tags: queries.jobTags(tenantId),
      hours: queries.hours(tenantId, { upTo: now, count: HOURS }),
    }
  },

  view(list) {
    const { found, all, counts } = list
    const { href, may, now, query } = usePage()
    const { pagesTo, sortedBy } = useList()
    const isNone = all.all === 0
    const action = may('change') && (
      <LinkButton weight="primary" href={href('/jobs/new')}>
        Create job
      </LinkButton>
    )
    return (
      <>
        <PageHead
          title="Jobs"
          state={stateOf(list)}
          action={!isNone && action}
          aside={!isNone && <ExportMenu />}
        />
        {!isNone && (
          <>
            <Outcomes hours={list.hours} />
            <ListChips
              name="state"
              all={counts.all}
              chips={[
                { value: 'failing', label: 'Failing', count: counts.failing, tone: 'bad' },
                { value: 'paused', label: 'Paused', count: counts.paused },
              ]}
            />
            <ListFilters
              search={{ label: 'Search by name, URL or ID' }}
              filters={tagFilter(list.tags, query.tag)}
            />
          </>
        )}
        <DataTable
          caption="Jobs"
          columns={[...columns(now), ...(may('change') ? [runNow(href)] : [])]}
          rows={found.data}
          hrefOf={({ id }) => href(`/jobs/${id}`)}
          idOf={({ id }) => id}
          empty={isNone ? <NoJobs action={action} /> : <NoMatches />}
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
      name: 'jobs',
      columns: {
        id: ({ id }) => id,
        name: ({ name }) => name,
        schedule: ({ schedule }) => schedule,
        time_zone: ({ timeZone }) => timeZone,
        url: ({ url }) => url,
        is_active: ({ isActive }) => isActive,
        last_status: ({ lastStatus }) => lastStatus,
        last_run_at: ({ lastRunAt }) => isoOrNull(lastRunAt),
        tags: ({ tags }) => tags.join(' '),
        next_run_at: ({ isActive, nextRunAt }) => (isActive ? isoTime(nextRunAt) : null),
        created_at: ({ createdAt }) => isoTime(createdAt),
      },
      slices: (context: PageContext) => pagesOf((of) => foundBy(context, of)),
    }),
  },
})

/** Jobs that match the filter of the query string, in its order. */
function foundBy(
  { clockwork, tenantId, query }: PageContext,
  of: { cursor: string | undefined; limit: number },
) {
  const state = STATES.find((one) => one === query.state)
  return clockwork.queries.jobs(tenantId, {
    ...of,
    ...sortingIn(query.sort, SORTS),
    q: query.q,
    tag: query.tag,
    state,
  })
}

const NoJobs = ({ action }: { action: ReturnType<typeof LinkButton> | false }) => (
  <EmptyState
    icon="jobs"
    sentence="No jobs yet"
    next="A job sends an HTTP request on a schedule, retries failures, and keeps the responses."
    action={action}
    curl={firstJob(usePage().baseUrl())}
  />
)

function NoMatches() {
  const { state, q, tag } = usePage().query
  const which = STATES.find((one) => one === state && !q && !tag) ?? 'matching'
  return (
    <EmptyState
      icon="jobs"
      sentence={`No ${which} jobs`}
      action={<LinkButton href={useList().allHref}>View all jobs</LinkButton>}
    />
  )
}

const firstJob = (apiUrl: string): CurlRequest => ({
  url: `${apiUrl}/v1/clockwork/jobs`,
  headers: { Authorization: 'Bearer $GATEHOUSE_KEY', 'Content-Type': 'application/json' },
  body: { name: 'hello', schedule: '*/15 * * * *', url: 'https://example.com/hook' },
})

function stateOf({ all: { all, failing }, hours }: JobList) {
  if (all === 0) return { sentence: 'Scheduled HTTP requests' }
  const failed = hours.reduce((sum, hour) => sum + hour.failed, 0)
  const which =
    failing > 0 ? `${numeral(failing)} of ${counted(all, 'job')} failing` : 'No failing jobs'
  const attempts = failed > 0 ? `; ${counted(failed, 'attempt')} failed in the last 24 hours` : ''
  const tone = failing > 0 ? 'bad' : failed > 0 ? 'warn' : 'good'
  return { tone, sentence: which + attempts } as const
}

const columns = (now: number): Column<Row>[] => [
  {
    label: 'Name',
    isWide: true,
    sort: 'name',
    cell: ({ name, schedule, timeZone, tags }) => (
      <>
        <Text text={name} limit={80} />
        <span class="rowhint">
          <Text
            text={[capitalized(describeSchedule(schedule, timeZone)), ...tags].join(' · ')}
            limit={80}
          />
        </span>
      </>
    ),
  },
  {
    label: 'Last runs',
    cell: ({ recent }) => (recent.length === 0 ? '–' : <Recent attempts={recent} />),
  },
  { label: 'Status', narrow: 'corner', cell: (job) => <StatusBadge {...badgeOf(job)} /> },
  {
    label: 'Last run',
    align: 'right',
    narrow: 'hidden',
    sort: 'last_run',
    cell: ({ lastRunAt }) => (lastRunAt === null ? 'Never' : <Time at={lastRunAt} now={now} />),
  },
  {
    label: 'Next run',
    align: 'right',
    sort: 'next_run',
    cell: ({ isActive, nextRunAt }) => (isActive ? <Time at={nextRunAt} now={now} /> : 'Paused'),
  },
  {
    label: 'Created',
    align: 'right',
    narrow: 'hidden',
    sort: 'created',
    cell: ({ createdAt }) => <Time at={createdAt} now={now} />,
  },
]

const runNow = (href: (path: string) => string): Column<Row> => ({
  label: 'Action',
  align: 'right',
  narrow: 'hidden',
  cell: ({ id, name }) => (
    <ActionButton isSmall action={href(`/jobs/${id}/run`)} of={shorten(name, 40)}>
      Run now
    </ActionButton>
  ),
})

function badgeOf({ lastStatus, recent: [newest] }: Row) {
  if (newest?.status === 'running') return OUTCOMES.running
  return lastStatus === null ? ({ tone: 'quiet', word: 'not run' } as const) : OUTCOMES[lastStatus]
}
