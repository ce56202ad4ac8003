import type { CurlRequest } from '../../../../views/ui/code.tsx'
import { EmptyState } from '../../../../views/ui/empty-state.tsx'
import { FilterBar } from '../../../../views/ui/filter-bar.tsx'
import { ActionButton, LinkButton } from '../../../../views/ui/form/button.tsx'
import { type Pages, pagerLinks } from '../../../../views/ui/pager.tsx'
import { PageHead } from '../../../../views/ui/section.tsx'
import { StatusBadge } from '../../../../views/ui/status.tsx'
import { type Column, DataTable } from '../../../../views/ui/table.tsx'
import { FilterChips } from '../../../../views/ui/tabs.tsx'
import { shorten, Text } from '../../../../views/ui/text.tsx'
import { Time } from '../../../../views/ui/time.tsx'
import { capitalized, counted, numeral } from '../../../../views/ui/words.ts'
import type {
  CronJobSummary,
  ExecutionSummary,
  HourOutcomes,
} from '../../../engines/clockwork/queries.ts'
import { describeSchedule } from '../../../engines/clockwork/schedule/index.ts'
import { isoOrNull, isoTime } from '../../../platform/clock.ts'
import { createCursor } from '../../../platform/cursor.ts'
import { bulk, useSelection } from '../../bulk.ts'
import { ExportMenu, exportOf } from '../../export.tsx'
import { type PageContext, page, usePage } from '../../page.tsx'
import { Outcomes, Recent } from './charts.tsx'
import { OUTCOMES } from './execution.tsx'
import { setActive } from './job.tsx'

const ROWS = 50
/** Most jobs that one page counts and searches. */
const MAX_SCANNED = 1000
/** Hours of the chart above the list. */
const HOURS = 24
/** Attempts in the chart of a row. */
const RECENT = 20

const STATES = ['failing', 'paused'] as const
type State = (typeof STATES)[number]

/** A job with its latest attempts. */
type Row = CronJobSummary & { recent: readonly ExecutionSummary[] }

interface JobList {
  rows: readonly Row[]
  /** Jobs that the page counts, and those of them that match the search. */
  newest: readonly CronJobSummary[]
  found: readonly CronJobSummary[]
  /** Outcomes of the attempts of the last 24 hours. */
  hours: readonly HourOutcomes[]
  /** There are more jobs than are counted. */
  hasMore: boolean
  q: string
  tag: string
  state: State | undefined
  pages: Pages
}

const cursor = createCursor('console jobs')

const NOUN = ['job', 'jobs'] as const
const BULK = {
  'selected/run': bulk({
    right: 'change',
    verb: 'Run now',
    noun: NOUN,
    done: 'started',
    each: ({ clockwork, caller }, id) => clockwork.jobs.runNow(caller('clockwork'), id),
  }),
  'selected/pause': bulk({
    right: 'change',
    verb: 'Pause',
    noun: NOUN,
    done: 'paused',
    each: (context, id) => setActive(context, id, false),
  }),
  'selected/resume': bulk({
    right: 'change',
    verb: 'Resume',
    noun: NOUN,
    done: 'resumed',
    each: (context, id) => setActive(context, id, true),
  }),
  'selected/delete': bulk({
    right: 'delete',
    verb: 'Delete',
    noun: NOUN,
    done: 'deleted',
    confirm: "Their run history is deleted, too. This can't be undone.",
    each: ({ clockwork, caller }, id) => clockwork.jobs.remove(caller('clockwork'), id),
  }),
}

/** The jobs of a tenant, with search and filters from the query string. */
export const jobList = page({
  path: '/jobs',
  section: 'jobs',
  right: 'read',
  title: 'Jobs',

  load({ clockwork: { queries }, tenantId, query, position, now, href }): JobList {
    const { q = '', tag = '' } = query
    const state = STATES.find((one) => one === query.state)
    const before = cursor.positionOf(position.cursor)
    const newest = queries.jobs(tenantId, { limit: MAX_SCANNED })
    const hasMore = newest.length === MAX_SCANNED
    const scanned =
      before === undefined || !hasMore
        ? newest.filter(({ seq }) => before === undefined || seq < before)
        : queries.jobs(tenantId, { before, limit: MAX_SCANNED })
    const shown = scanned.filter((job) => isAbout(job, q) && isIn(job, state) && hasTag(job, tag))
    const rows = shown.slice(0, ROWS)
    const last = shown.length > ROWS ? rows.at(-1) : scanned[MAX_SCANNED - 1]
    return {
      rows: rows.map((job) => ({ ...job, recent: queries.attempts(tenantId, job.id, RECENT) })),
      newest,
      found: newest.filter((job) => isAbout(job, q) && hasTag(job, tag)),
      hours: queries.hours(tenantId, { upTo: now, count: HOURS }),
      hasMore,
      q,
      tag,
      state,
      pages: pagerLinks(position, last && cursor.encode(last.seq), (to) =>
        href('/jobs', { q, tag, state, ...to }),
      ),
    }
  },

  view(list) {
    const { href, may, now } = usePage()
    const isNone = list.newest.length === 0
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
        {!isNone && <Outcomes hours={list.hours} />}
        {!isNone && <Filters {...list} />}
        <DataTable
          caption="Jobs"
          columns={[...columns(now), ...(may('change') ? [runNow(href)] : [])]}
          rows={list.rows}
          hrefOf={({ id }) => href(`/jobs/${id}`)}
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
      },
      slices: matching,
    }),
  },
})

/** All jobs that match the filter of the query string, in slices of those that a page scans. */
function* matching({ clockwork: { queries }, tenantId, query }: PageContext) {
  const state = STATES.find((one) => one === query.state)
  for (let before: number | undefined; ; ) {
    const jobs = queries.jobs(tenantId, { before, limit: MAX_SCANNED })
    yield jobs.filter(
      (job) => isAbout(job, query.q ?? '') && isIn(job, state) && hasTag(job, query.tag ?? ''),
    )
    if (jobs.length < MAX_SCANNED) return
    before = jobs.at(-1)?.seq
  }
}

const isFailing = ({ lastStatus }: CronJobSummary): boolean => lastStatus === 'failed'
const isPaused = ({ isActive }: CronJobSummary): boolean => !isActive

const isAbout = ({ id, name, url }: CronJobSummary, q: string): boolean =>
  id === q || [name, url].some((text) => text.toLowerCase().includes(q.toLowerCase()))

const hasTag = ({ tags }: CronJobSummary, tag: string): boolean => tag === '' || tags.includes(tag)

const isIn = (job: CronJobSummary, state: State | undefined): boolean =>
  state === undefined || (state === 'paused' ? isPaused(job) : isFailing(job))

const Filters = ({ newest, found, q, tag, state }: JobList) => {
  const { href } = usePage()
  const hrefOf = (of?: State) => href('/jobs', { q, tag, state: of })
  const tags = [...new Set(newest.flatMap((job) => job.tags))].toSorted()
  const options = tags.map((value) => ({ value, label: value }))
  const failing = found.filter(isFailing).length
  const failingTab = {
    label: 'Failing',
    href: hrefOf('failing'),
    count: failing,
    isCurrent: state === 'failing',
    ...(failing > 0 && { tone: 'bad' as const }),
  }
  return (
    <>
      <FilterChips
        label="Status"
        tabs={[
          ...(failing > 0 ? [failingTab] : []),
          { label: 'All', href: hrefOf(), count: found.length, isCurrent: !state },
          ...(failing > 0 ? [] : [failingTab]),
          {
            label: 'Paused',
            href: hrefOf('paused'),
            count: found.filter(isPaused).length,
            isCurrent: state === 'paused',
          },
        ]}
      />
      <FilterBar
        action={href('/jobs')}
        search={{ label: 'Search by name, URL or ID', value: q }}
        kept={{ state }}
        {...(tags.length > 0 && { filters: [{ name: 'tag', label: 'Tag', value: tag, options }] })}
        {...(`${q}${tag}` !== '' && { clearHref: href('/jobs', { state }) })}
      />
    </>
  )
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

const NoMatches = ({ q, tag, state, pages: { olderHref } }: JobList) => {
  const { href } = usePage()
  const which = state ?? (`${q}${tag}` === '' ? '' : 'matching')
  return olderHref ? (
    <EmptyState
      icon="jobs"
      sentence="No matches on this page. Older pages may have some."
      action={<LinkButton href={olderHref}>View older jobs</LinkButton>}
    />
  ) : (
    <EmptyState
      icon="jobs"
      sentence={`No ${which} jobs`}
      action={<LinkButton href={href('/jobs')}>View all jobs</LinkButton>}
    />
  )
}

const firstJob = (apiUrl: string): CurlRequest => ({
  url: `${apiUrl}/v1/clockwork/jobs`,
  headers: { Authorization: 'Bearer $GATEHOUSE_KEY', 'Content-Type': 'application/json' },
  body: { name: 'hello', schedule: '*/15 * * * *', url: 'https://example.com/hook' },
})

function stateOf({ newest, hours, hasMore }: JobList) {
  if (newest.length === 0) return { sentence: 'Scheduled HTTP requests' }
  const failing = newest.filter(isFailing).length
  const failed = hours.reduce((sum, hour) => sum + hour.failed, 0)
  const jobs = `${hasMore ? 'the newest ' : ''}${counted(newest.length, 'job')}`
  const which =
    failing > 0
      ? `${numeral(failing)} of ${jobs} failing`
      : `No failing jobs${hasMore ? ` among ${jobs}` : ''}`
  const attempts = failed > 0 ? `; ${counted(failed, 'attempt')} failed in the last 24 hours` : ''
  const tone = failing > 0 ? 'bad' : failed > 0 ? 'warn' : 'good'
  return { tone, sentence: which + attempts } as const
}

const columns = (now: number): Column<Row>[] => [
  {
    label: 'Name',
    isWide: true,
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
    cell: ({ lastRunAt }) => (lastRunAt === null ? 'Never' : <Time at={lastRunAt} now={now} />),
  },
  {
    label: 'Next run',
    align: 'right',
    cell: ({ isActive, nextRunAt }) => (isActive ? <Time at={nextRunAt} now={now} /> : 'Paused'),
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
