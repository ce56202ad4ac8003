import type { DelayedJobSummary } from '../../../../src/engines/clockwork/queries.ts'
import { HOUR_MS } from '../../../../src/platform/durations.ts'
import { TimeAxis } from '../../charts/time-axis.tsx'
import type { CurlRequest } from '../../curl-block.tsx'
import { type Column, DataTable } from '../../data-table.tsx'
import { EmptyState } from '../../empty-state.tsx'
import { FilterBar } from '../../filter-bar.tsx'
import { LinkButton } from '../../form/button.tsx'
import { PageHead } from '../../page-head.tsx'
import type { Pages } from '../../pager.tsx'
import { Section } from '../../section.tsx'
import { StatusBadge } from '../../status-badge.tsx'
import { FilterChips } from '../../tabs.tsx'
import { shorten, Text } from '../../text.tsx'
import { Time } from '../../time.tsx'
import { url } from '../../url.ts'
import {
  DELAYED_STATUSES,
  DELAYED_WORDS,
  type DelayedCounts,
  type DelayedStatus,
} from './delayed-words.ts'
import { amount } from './words.tsx'

const PATH = '/console/delayed'
/** Number of upcoming runs in the list; the axis shows all. */
const LISTED = 5

interface DelayedPageProps {
  base: string
  apiUrl: string
  rows: readonly DelayedJobSummary[]
  /** The tenant has no delayed jobs. */
  isNone: boolean
  /** Pending jobs, and those that ended in the last 24 hours. `coming` are the next to run. */
  summary: {
    waiting: number
    hasMoreWaiting: boolean
    ended: number
    failed: number
    upcoming: readonly Pick<DelayedJobSummary, 'id' | 'name' | 'runAt'>[]
  }
  counts: DelayedCounts | undefined
  q: string
  status: DelayedStatus | undefined
  pages: Pages
  mayChange: boolean
  now: number
}

/** The delayed jobs of a tenant. */
export const DelayedPage = (page: DelayedPageProps) => {
  const { base, isNone } = page
  const action = page.mayChange && (
    <LinkButton weight="primary" href={url(base, `${PATH}/new`)}>
      Create delayed job
    </LinkButton>
  )
  return (
    <>
      <PageHead title="Delayed jobs" state={stateOf(page)} action={!isNone && action} />
      {!isNone && (
        <>
          <UpcomingRuns {...page} />
          <Filters {...page} />
        </>
      )}
      <DataTable
        caption="Delayed jobs"
        columns={columns(page.now)}
        rows={page.rows}
        hrefOf={({ id }) => url(base, `${PATH}/${id}`)}
        idOf={({ id }) => id}
        empty={
          isNone ? (
            <EmptyState
              icon="delayed"
              sentence="No delayed jobs yet"
              next="A delayed job sends an HTTP request once, at the time that you set, and retries failures."
              action={action}
              curl={firstJob(page)}
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

const UpcomingRuns = ({ base, summary: { upcoming }, now }: DelayedPageProps) =>
  upcoming.length === 0 ? null : (
    <Section id="coming" title="Upcoming runs" isCard>
      <TimeAxis
        label="Upcoming runs"
        now={now}
        until={Math.max(now + HOUR_MS, upcoming.at(-1)?.runAt ?? now)}
        listed={LISTED}
        upcoming={upcoming.map(({ id, name, runAt }) => ({
          at: runAt,
          name: shorten(name, 60),
          href: url(base, `${PATH}/${id}`),
        }))}
      />
    </Section>
  )

const Filters = ({ base, counts, q, status }: DelayedPageProps) => {
  const href = (of?: DelayedStatus) => url(base, PATH, { q, status: of })
  return (
    <>
      <FilterChips
        label="Status"
        tabs={[
          { label: 'All', href: href(), count: counts?.all, isCurrent: !status },
          ...DELAYED_STATUSES.map((of) => {
            const count = counts?.byStatus.get(of)
            return {
              label: DELAYED_WORDS[of].label,
              href: href(of),
              count,
              isCurrent: of === status,
              ...(of === 'failed' && count && { tone: 'bad' as const }),
            }
          }),
        ]}
      />
      <FilterBar
        action={url(base, PATH)}
        search={{ label: 'Search by name, URL or ID', value: q }}
        kept={{ status }}
        {...(q !== '' && { clearHref: url(base, PATH, { status }) })}
      />
    </>
  )
}

const NoMatches = ({ base, pages: { olderHref } }: DelayedPageProps) => (
  <EmptyState
    icon="delayed"
    sentence={
      olderHref ? 'No matches on this page. Older pages may have some.' : 'No matching delayed jobs'
    }
    action={
      olderHref ? (
        <LinkButton href={olderHref}>View older jobs</LinkButton>
      ) : (
        <LinkButton href={url(base, PATH)}>View all delayed jobs</LinkButton>
      )
    }
  />
)

const firstJob = ({ apiUrl, now }: DelayedPageProps): CurlRequest => ({
  url: `${apiUrl}/v1/clockwork/delayed`,
  headers: { Authorization: 'Bearer $GATEHOUSE_KEY', 'Content-Type': 'application/json' },
  body: {
    name: 'hello',
    run_at: new Date(now + HOUR_MS).toISOString(),
    url: 'https://example.com/hook',
  },
})

function stateOf({ isNone, summary, now }: DelayedPageProps) {
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
            {amount(waiting)} pending, next run <Time at={next.runAt} now={now} />
          </>
        ) : (
          'None pending'
        )}
        {ended > 0 && `; ${amount(failed)} of ${amount(ended)} failed in the last 24 hours`}
      </>
    ),
  } as const
}

const columns = (now: number): Column<DelayedJobSummary>[] => [
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
  { label: 'Run at', align: 'right', cell: ({ runAt }) => <Time at={runAt} now={now} /> },
]
