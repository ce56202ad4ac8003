import { EmptyState } from '../../../../views/ui/empty-state.tsx'
import { LinkButton } from '../../../../views/ui/form/button.tsx'
import { PageHead } from '../../../../views/ui/section.tsx'
import { sortingIn } from '../../../../views/ui/sorting.ts'
import { StatusBadge } from '../../../../views/ui/status.tsx'
import { type Column, DataTable } from '../../../../views/ui/table.tsx'
import { shorten, Text } from '../../../../views/ui/text.tsx'
import { duration, Time } from '../../../../views/ui/time.tsx'
import { capitalized, counted, countedTo } from '../../../../views/ui/words.ts'
import type { CronJob } from '../../../engines/clockwork/model.ts'
import {
  type AttemptCounts,
  MAX_COUNTED,
  type PastAttempt,
} from '../../../engines/clockwork/queries.ts'
import { isoTime } from '../../../platform/clock.ts'
import type { Page } from '../../../platform/cursor.ts'
import { ExportMenu, exportOf, pagesOf } from '../../export.tsx'
import { ListChips, ListFilters, useList } from '../../list.tsx'
import { type PageContext, page, usePage } from '../../page.tsx'
import { type TimeFilter, timeFilterIn } from '../../time-filter.ts'
import { OUTCOMES, outcomeOf } from './execution.tsx'
import { MAX_TITLE_LENGTH } from './job.tsx'

const PATH = '/jobs/:id/runs'
const ON_A_PAGE = 50
const SORTS = { started: 'desc' } as const
const STATUSES = ['success', 'failed', 'running'] as const

interface History {
  job: CronJob
  found: Page<PastAttempt>
  /** Attempts in the time range. */
  counts: AttemptCounts
  time: TimeFilter
}

/** All attempts of a job that are kept. */
export const jobHistory = page({
  path: PATH,
  section: 'jobs',
  right: 'read',
  title: 'Runs',

  load(context): History {
    const { clockwork, tenantId, params, position } = context
    const job = clockwork.jobs.get(tenantId, params.id)
    const time = timeFilterIn(context, { label: 'Started' })
    return {
      job,
      found: foundBy(context, { cursor: position.cursor, limit: ON_A_PAGE }),
      counts: clockwork.queries.historyCounts(tenantId, job.id, time),
      time,
    }
  },

  above: ({ job: { id, name } }, { href }) => [
    { label: shorten(name, MAX_TITLE_LENGTH), href: href(`/jobs/${id}`) },
  ],

  status: ({ time }) => (time.errors.length > 0 ? 422 : 200),

  view({ job, found, counts, time }) {
    const { href } = usePage()
    const { isFiltered, allHref, pagesTo, sortedBy } = useList()
    const hasAny = counts.all > 0 || isFiltered
    return (
      <>
        <PageHead
          title={
            <>
              Runs of <Text text={job.name} limit={80} />
            </>
          }
          state={{ sentence: sentenceOn(counts) }}
          aside={hasAny && <ExportMenu />}
        />
        {hasAny && (
          <>
            <ListChips
              name="status"
              all={counts.all}
              chips={STATUSES.map((value) => ({
                value,
                label: capitalized(OUTCOMES[value].word),
                count: counts[value],
                tone: OUTCOMES[value].tone,
              }))}
              most={MAX_COUNTED}
            />
            <ListFilters time={time} />
          </>
        )}
        <DataTable
          caption="Runs"
          columns={COLUMNS}
          rows={found.data}
          hrefOf={({ id }) => href(`/jobs/${job.id}`, { execution: id })}
          idOf={({ id }) => id}
          empty={
            isFiltered ? (
              <EmptyState
                icon="jobs"
                sentence="No matching runs"
                action={<LinkButton href={allHref}>View all runs</LinkButton>}
              />
            ) : (
              <EmptyState icon="jobs" sentence="No runs yet" />
            )
          }
          pages={pagesTo(found.next_cursor)}
          sorting={sortedBy(SORTS)}
        />
      </>
    )
  },

  files: {
    export: exportOf({
      name: 'runs',
      columns: {
        id: ({ id }) => id,
        started_at: ({ startedAt }) => isoTime(startedAt),
        status: ({ status }) => status,
        response_status: ({ responseStatus }) => responseStatus,
        error: ({ errorMessage }) => errorMessage,
        duration_ms: ({ durationMs }) => durationMs,
        attempt: ({ attempt }) => attempt,
        trigger: ({ trigger }) => trigger,
        scheduled_at: ({ slotAt }) => isoTime(slotAt),
        start_delay_ms: ({ latenessMs }) => latenessMs,
      },
      slices: (context: PageContext<typeof PATH>) => {
        const { clockwork, tenantId, params } = context
        clockwork.jobs.get(tenantId, params.id)
        return pagesOf((of) => foundBy(context, of))
      },
    }),
  },
})

/** Attempts that match the filter of the query string, in its order. */
function foundBy(
  context: PageContext<typeof PATH>,
  of: { cursor: string | undefined; limit: number },
) {
  const { clockwork, tenantId, params, query } = context
  const { since, until } = timeFilterIn(context)
  return clockwork.queries.history(tenantId, params.id, {
    ...{ ...of, since, until },
    status: STATUSES.find((one) => one === query.status),
    isAscending: !sortingIn(query.sort, SORTS).isDescending,
  })
}

function sentenceOn({ all, failed }: AttemptCounts): string {
  const attempts =
    all >= MAX_COUNTED ? `${countedTo(all, MAX_COUNTED)} attempts` : counted(all, 'attempt')
  return `${attempts}, ${countedTo(failed, MAX_COUNTED)} failed`
}

const COLUMNS: Column<PastAttempt>[] = [
  {
    label: 'Started',
    isWide: true,
    sort: 'started',
    cell: ({ startedAt }) => <Time at={startedAt} />,
  },
  {
    label: 'Status',
    narrow: 'corner',
    cell: ({ status }) => <StatusBadge {...OUTCOMES[status]} />,
  },
  {
    label: 'Response',
    cell: (attempt) => <Text text={attempt.errorMessage ?? outcomeOf(attempt)} limit={60} />,
  },
  { label: 'Attempt', align: 'right', cell: ({ attempt }) => attempt },
  {
    label: 'Trigger',
    narrow: 'hidden',
    cell: ({ trigger }) => (trigger === 'manual' ? 'Manual' : 'Schedule'),
  },
  {
    label: 'Start delay',
    align: 'right',
    narrow: 'hidden',
    cell: ({ latenessMs }) => duration(latenessMs),
  },
  {
    label: 'Duration',
    align: 'right',
    cell: ({ durationMs }) => (durationMs === null ? '–' : duration(durationMs)),
  },
]
