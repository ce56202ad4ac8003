import type {
  CronJobSummary,
  ExecutionSummary,
  HourOutcomes,
} from '../../../../src/engines/clockwork/queries.ts'
import { describeSchedule } from '../../../../src/engines/clockwork/schedule/index.ts'
import type { CurlRequest } from '../../curl-block.tsx'
import { type Column, DataTable } from '../../data-table.tsx'
import { EmptyState } from '../../empty-state.tsx'
import { FilterBar } from '../../filter-bar.tsx'
import { ActionButton, LinkButton } from '../../form/button.tsx'
import { PageHead } from '../../page-head.tsx'
import type { Pages } from '../../pager.tsx'
import { StatusBadge } from '../../status-badge.tsx'
import { FilterChips } from '../../tabs.tsx'
import { shorten, Text } from '../../text.tsx'
import { Time } from '../../time.tsx'
import { url } from '../../url.ts'
import { capitalized, counted } from '../../words.ts'
import { Outcomes } from './outcomes.tsx'
import { Recent } from './recent.tsx'
import { amount, OUTCOMES } from './words.tsx'

const PATH = '/console/jobs'

export const JOB_STATES = ['failing', 'paused'] as const
export type JobState = (typeof JOB_STATES)[number]

/** A job with its latest attempts. */
type Row = CronJobSummary & { recent: readonly ExecutionSummary[] }

interface JobsPageProps {
  base: string
  apiUrl: string
  rows: readonly Row[]
  /** Jobs that the page counts, and those of them that match the search. */
  newest: readonly CronJobSummary[]
  found: readonly CronJobSummary[]
  /** Outcomes of the attempts of the last 24 hours. */
  hours: readonly HourOutcomes[]
  /** There are more jobs than are counted. */
  hasMore: boolean
  q: string
  state: JobState | undefined
  pages: Pages
  mayChange: boolean
  now: number
}

const isFailing = ({ lastStatus }: CronJobSummary): boolean => lastStatus === 'failed'
const isPaused = ({ isActive }: CronJobSummary): boolean => !isActive

/** The jobs of a tenant. */
export const JobsPage = (page: JobsPageProps) => {
  const { base, newest } = page
  const action = page.mayChange && (
    <LinkButton weight="primary" href={url(base, `${PATH}/new`)}>
      Create job
    </LinkButton>
  )
  return (
    <>
      <PageHead title="Jobs" state={stateOf(page)} action={newest.length > 0 && action} />
      {newest.length > 0 && (
        <>
          <Outcomes hours={page.hours} />
          <Filters {...page} />
        </>
      )}
      <DataTable
        caption="Jobs"
        columns={columns(page)}
        rows={page.rows}
        hrefOf={({ id }) => url(base, `${PATH}/${id}`)}
        idOf={({ id }) => id}
        empty={
          newest.length === 0 ? (
            <EmptyState
              icon="jobs"
              sentence="No jobs yet"
              next="A job sends an HTTP request on a schedule, retries failures, and keeps the responses."
              action={action}
              curl={firstJob(page.apiUrl)}
            />
          ) : (
            <NoMatches {...page} />
          )
        }
        pages={page.pages}
      />
    </>
  )
}

const Filters = ({ base, found, q, state }: JobsPageProps) => {
  const href = (of?: JobState) => url(base, PATH, { q, state: of })
  const failing = found.filter(isFailing).length
  return (
    <>
      <FilterChips
        label="Status"
        tabs={[
          { label: 'All', href: href(), count: found.length, isCurrent: !state },
          {
            label: 'Failing',
            href: href('failing'),
            count: failing,
            isCurrent: state === 'failing',
            ...(failing > 0 && { tone: 'bad' as const }),
          },
          {
            label: 'Paused',
            href: href('paused'),
            count: found.filter(isPaused).length,
            isCurrent: state === 'paused',
          },
        ]}
      />
      <FilterBar
        action={url(base, PATH)}
        search={{ label: 'Search by name, URL or ID', value: q }}
        kept={{ state }}
        {...(q !== '' && { clearHref: url(base, PATH, { state }) })}
      />
    </>
  )
}

const NoMatches = ({ base, q, state, pages: { olderHref } }: JobsPageProps) => (
  <EmptyState
    icon="jobs"
    sentence={
      olderHref
        ? 'No matches on this page. Older pages may have some.'
        : `No ${state ?? (q === '' ? '' : 'matching')} jobs`
    }
    action={
      olderHref ? (
        <LinkButton href={olderHref}>View older jobs</LinkButton>
      ) : (
        <LinkButton href={url(base, PATH)}>View all jobs</LinkButton>
      )
    }
  />
)

const firstJob = (apiUrl: string): CurlRequest => ({
  url: `${apiUrl}/v1/clockwork/jobs`,
  headers: { Authorization: 'Bearer $GATEHOUSE_KEY', 'Content-Type': 'application/json' },
  body: { name: 'hello', schedule: '*/15 * * * *', url: 'https://example.com/hook' },
})

function stateOf({ newest, hours, hasMore }: JobsPageProps) {
  if (newest.length === 0) return { sentence: 'Scheduled HTTP requests' }
  const failing = newest.filter(isFailing).length
  const failed = hours.reduce((sum, hour) => sum + hour.failed, 0)
  const jobs = `${hasMore ? 'the newest ' : ''}${counted(newest.length, 'job')}`
  const which =
    failing > 0
      ? `${amount(failing)} of ${jobs} failing`
      : `No failing jobs${hasMore ? ` among ${jobs}` : ''}`
  const attempts = failed > 0 ? `; ${counted(failed, 'attempt')} failed in the last 24 hours` : ''
  const tone = failing > 0 ? 'bad' : failed > 0 ? 'warn' : 'good'
  return { tone, sentence: which + attempts } as const
}

const columns = ({ base, mayChange, now }: JobsPageProps): Column<Row>[] => [
  {
    label: 'Name',
    isWide: true,
    cell: ({ name, schedule }) => (
      <>
        <Text text={name} limit={80} />
        <span class="rowhint">
          <Text text={capitalized(describeSchedule(schedule))} limit={80} />
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
  ...(mayChange ? [runNow(base)] : []),
]

const runNow = (base: string): Column<Row> => ({
  label: 'Action',
  align: 'right',
  narrow: 'hidden',
  cell: ({ id, name }) => (
    <ActionButton isSmall action={url(base, `${PATH}/${id}/run`)} of={shorten(name, 40)}>
      Run now
    </ActionButton>
  ),
})

function badgeOf({ lastStatus, recent: [newest] }: Row) {
  if (newest?.status === 'running') return OUTCOMES.running
  return lastStatus === null ? ({ tone: 'quiet', word: 'not run' } as const) : OUTCOMES[lastStatus]
}
