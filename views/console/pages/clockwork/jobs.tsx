import type {
  CronJobLook,
  ExecutionLook,
  HourOutcomes,
} from '../../../../src/engines/clockwork/looks.ts'
import { describeSchedule } from '../../../../src/engines/clockwork/schedule/index.ts'
import type { CurlRequest } from '../../curl-block.tsx'
import { type Column, DataTable } from '../../data-table.tsx'
import { EmptyState } from '../../empty-state.tsx'
import { FilterBar } from '../../filter-bar.tsx'
import { ActionButton, LinkButton } from '../../form/button.tsx'
import { PageHead } from '../../page-head.tsx'
import type { Pages } from '../../pager.tsx'
import { StatusMark } from '../../status-mark.tsx'
import { FilterChips } from '../../tabs.tsx'
import { shorten, Text } from '../../text.tsx'
import { Time } from '../../time.tsx'
import { url } from '../../url.ts'
import { Outcomes } from './outcomes.tsx'
import { Recent } from './recent.tsx'
import { amount, OUTCOMES } from './words.tsx'

const PATH = '/console/jobs'

export const JOB_STATES = ['failing', 'paused'] as const
export type JobState = (typeof JOB_STATES)[number]

/** A line of the list. */
type Row = CronJobLook & { recent: readonly ExecutionLook[] }

interface JobsPageProps {
  base: string
  apiUrl: string
  rows: readonly Row[]
  /** Those that the page counts, and those of them that the search finds. */
  newest: readonly CronJobLook[]
  found: readonly CronJobLook[]
  /** Of the last 24, how the attempts ended. */
  hours: readonly HourOutcomes[]
  /** There are more than are counted. */
  hasMore: boolean
  q: string
  state: JobState | undefined
  pages: Pages
  mayChange: boolean
  now: number
}

const isFailing = ({ lastStatus }: CronJobLook): boolean => lastStatus === 'failed'
const isPaused = ({ isActive }: CronJobLook): boolean => !isActive

/** All jobs of a tenant: whether they work, and when they run. */
export const JobsPage = (page: JobsPageProps) => {
  const { base, newest } = page
  const action = page.mayChange && (
    <LinkButton weight="primary" href={url(base, `${PATH}/new`)}>
      New job
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
              sentence="No job yet."
              next="A job calls a URL of yours by the clock, tries again when that fails, and keeps what came back."
              action={action}
              curl={firstJob(page.apiUrl)}
            />
          ) : (
            <NothingFits {...page} />
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
        label="States"
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
        search={{ label: 'Name, URL or id', value: q }}
        kept={{ state }}
        {...(q !== '' && { clearHref: url(base, PATH, { state }) })}
      />
    </>
  )
}

const NothingFits = ({ base, q, state, pages: { olderHref } }: JobsPageProps) => (
  <EmptyState
    icon="jobs"
    sentence={
      olderHref
        ? 'None of these fits. Older ones may.'
        : `No${state ? ` ${state}` : ''} job${q === '' ? '' : ' by that name or URL'}.`
    }
    action={
      olderHref ? (
        <LinkButton href={olderHref}>Look at older jobs</LinkButton>
      ) : (
        <LinkButton href={url(base, PATH)}>All jobs</LinkButton>
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
  if (newest.length === 0) return { sentence: 'Nothing runs by the clock yet.' }
  const failing = newest.filter(isFailing).length
  const failed = hours.reduce((sum, hour) => sum + hour.failed, 0)
  const all = amount(newest.length)
  const jobs = hasMore ? `the newest ${all} jobs` : newest.length === 1 ? '1 job' : `${all} jobs`
  const which = `${amount(failing)} of ${jobs} ${failing === 1 ? 'is' : 'are'} failing`
  const attempts = `${amount(failed)} ${failed === 1 ? 'attempt' : 'attempts'}`
  const tone = failing > 0 ? 'bad' : failed > 0 ? 'warn' : 'good'
  return { tone, sentence: `${which}; ${attempts} failed in the last 24 hours.` } as const
}

const columns = ({ base, mayChange, now }: JobsPageProps): Column<Row>[] => [
  {
    label: 'Name',
    isWide: true,
    cell: ({ name, schedule }) => (
      <>
        <Text text={name} limit={80} />
        <span class="rowhint">
          <Text text={describeSchedule(schedule)} limit={80} />
        </span>
      </>
    ),
  },
  {
    label: 'Last runs',
    cell: ({ recent }) => (recent.length === 0 ? '–' : <Recent attempts={recent} />),
  },
  { label: 'Outcome', narrow: 'corner', cell: (job) => <StatusMark {...markOf(job)} /> },
  {
    label: 'Last run',
    align: 'right',
    narrow: 'hidden',
    cell: ({ lastRunAt }) => (lastRunAt === null ? 'never' : <Time at={lastRunAt} now={now} />),
  },
  {
    label: 'Next run',
    align: 'right',
    cell: ({ isActive, nextRunAt }) => (isActive ? <Time at={nextRunAt} now={now} /> : 'paused'),
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

function markOf({ lastStatus, recent: [newest] }: Row) {
  if (newest?.status === 'running') return OUTCOMES.running
  return lastStatus === null ? ({ tone: 'quiet', word: 'not run' } as const) : OUTCOMES[lastStatus]
}
