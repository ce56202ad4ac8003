import {
  type ListPosition,
  pagerLinks,
  positionIn,
} from '../../../../views/console/list-position.ts'
import { DelayedPage } from '../../../../views/console/pages/clockwork/delayed.tsx'
import {
  DELAYED_STATUSES,
  type DelayedCounts,
  type DelayedStatus,
} from '../../../../views/console/pages/clockwork/delayed-words.ts'
import type { DelayedJobSummary, DelayedPosition } from '../../../engines/clockwork/queries.ts'
import { createCursor } from '../../../platform/cursor.ts'
import { DAY_MS, HOUR_MS } from '../../../platform/durations.ts'
import { may } from '../../operators/rights.ts'
import type { ClockworkPageParts, Context, JobContexts } from './context.ts'

const ROWS = 50
/** Pending and ended jobs are counted up to this number. */
const MAX_COUNTED = 1000
/** With more jobs, the filters show no counts. */
const MAX_IN_CHIPS = 500
/** Most runs on the time axis. */
const UPCOMING_SHOWN = 40

/** Delayed jobs of a tenant, latest first, with search and filters from the query string. */
export function createDelayedList(
  { layout, clockwork: { queries }, clock, baseUrl }: ClockworkPageParts,
  { searchOf, href, listPage }: JobContexts,
) {
  const cursor = createCursor('console delayed jobs', ['number', 'number'])

  /** One page of matching jobs, and the next cursor. A small result also provides the counts of the filters. */
  function pageOf(tenantId: string, { q, status, before }: DelayedFilters) {
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
  function summary(tenantId: string, now: number) {
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
      ended: endedRecently.filter(({ status }) => status === 'success' || status === 'failed')
        .length,
      failed: endedRecently.filter(({ status }) => status === 'failed').length,
      upcoming: upcoming.slice(0, UPCOMING_SHOWN),
    }
  }

  return (context: Context): Response => {
    const { tenantId, role } = context.tenant
    const params = searchOf(context)
    const q = params.get('q')?.trim() ?? ''
    const status = DELAYED_STATUSES.find((one) => one === params.get('status'))
    const position = positionIn(params)
    const at = cursor.positionOf(position.cursor)
    const before = at && { runAt: at[0], seq: at[1] }
    const now = clock.now()
    const { rows, next, counts } = pageOf(tenantId, { q, status, before })
    const hrefOf = (to: ListPosition) => href('', { q, status, ...to })
    const children = DelayedPage({
      base: layout.base(),
      apiUrl: baseUrl(),
      rows,
      isNone: rows.length === 0 && queries.delayed(tenantId, { limit: 1 }).length === 0,
      summary: summary(tenantId, now),
      counts,
      q,
      status,
      pages: pagerLinks(position, next && cursor.encode([next.runAt, next.seq]), hrefOf),
      mayChange: may(role, 'change'),
      now,
    })
    return listPage(context, 'Delayed jobs', children)
  }
}

interface DelayedFilters {
  q: string
  status: DelayedStatus | undefined
  before: DelayedPosition | undefined
}

function countsOf(jobs: readonly DelayedJobSummary[]): DelayedCounts {
  const countOf = (of: DelayedStatus) => jobs.filter(({ status }) => status === of).length
  const byStatus = DELAYED_STATUSES.map((status) => [status, countOf(status)] as const)
  return { all: jobs.length, byStatus: new Map(byStatus) }
}
