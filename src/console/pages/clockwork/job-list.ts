import {
  type ListPosition,
  pagerLinks,
  positionIn,
} from '../../../../views/console/list-position.ts'
import {
  JOB_STATES,
  type JobState,
  JobsPage,
} from '../../../../views/console/pages/clockwork/jobs.tsx'
import type { CronJobSummary } from '../../../engines/clockwork/queries.ts'
import { createCursor } from '../../../platform/cursor.ts'
import { may } from '../../operators/rights.ts'
import type { ClockworkPageParts, Context, JobContexts } from './context.ts'

const ROWS = 50
/** Most jobs that one page counts and searches. */
const MAX_SCANNED = 1000
/** Hours of the chart above the list. */
const HOURS = 24
/** Attempts in the chart of a row. */
const RECENT = 20

/** Jobs of a tenant, with search and filters from the query string. */
export function createJobList(
  { layout, clockwork: { queries }, clock, baseUrl }: ClockworkPageParts,
  { searchOf, href, listPage }: JobContexts,
) {
  const cursor = createCursor('console jobs')

  /** Jobs after a position, as many as one page searches. */
  function scannedJobs(tenantId: string, newest: CronJobSummary[], before: number | undefined) {
    if (before === undefined) return newest
    const isWhole = newest.length < MAX_SCANNED
    return isWhole
      ? newest.filter(({ seq }) => seq < before)
      : queries.jobs(tenantId, { before, limit: MAX_SCANNED })
  }

  return (context: Context): Response => {
    const { tenantId, role } = context.tenant
    const params = searchOf(context)
    const q = params.get('q')?.trim() ?? ''
    const state = JOB_STATES.find((one) => one === params.get('state'))
    const position = positionIn(params)
    const before = cursor.positionOf(position.cursor)
    const now = clock.now()
    const newest = queries.jobs(tenantId, { limit: MAX_SCANNED })
    const scanned = scannedJobs(tenantId, newest, before)
    const shown = scanned.filter((job) => isAbout(job, q) && isIn(job, state))
    const rows = shown.slice(0, ROWS)
    const last = shown.length > ROWS ? rows.at(-1) : scanned[MAX_SCANNED - 1]
    const hrefOf = (to: ListPosition) => href('', { q, state, ...to })
    const children = JobsPage({
      base: layout.base(),
      apiUrl: baseUrl(),
      rows: rows.map((job) => ({ ...job, recent: queries.attempts(tenantId, job.id, RECENT) })),
      newest,
      hours: queries.hours(tenantId, { upTo: now, count: HOURS }),
      found: newest.filter((job) => isAbout(job, q)),
      hasMore: newest.length === MAX_SCANNED,
      q,
      state,
      pages: pagerLinks(position, last && cursor.encode(last.seq), hrefOf),
      mayChange: may(role, 'change'),
      now,
    })
    return listPage(context, 'Jobs', children)
  }
}

const isAbout = ({ id, name, url }: CronJobSummary, q: string): boolean =>
  id === q || [name, url].some((text) => text.toLowerCase().includes(q.toLowerCase()))

const isIn = (job: CronJobSummary, state: JobState | undefined): boolean =>
  state === undefined || (state === 'paused' ? !job.isActive : job.lastStatus === 'failed')
