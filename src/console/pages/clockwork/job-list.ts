import {
  JOB_STATES,
  type JobState,
  JobsPage,
} from '../../../../views/console/pages/clockwork/jobs.tsx'
import { type ListPlace, pagesAlong, placeIn } from '../../../../views/console/trail.ts'
import type { CronJobLook } from '../../../engines/clockwork/queries.ts'
import { createCursor } from '../../../platform/cursor.ts'
import { may } from '../../operators/rights.ts'
import type { ClockworkPageParts, JobVisits, Visit } from './visit.ts'

const ROWS = 50
/** Most jobs that one page counts and searches. */
const LOOKED_AT = 1000
/** Hours of the chart above the list. */
const HOURS = 24
/** Attempts in the chart of a row. */
const RECENT = 20

/** Jobs of a tenant, with search and filters from the query string. */
export function createJobList(
  { frames, clockwork: { queries }, clock, baseUrl }: ClockworkPageParts,
  { searchOf, href, listPage }: JobVisits,
) {
  const cursor = createCursor('console jobs')

  /** Jobs after a position, as many as one page searches. */
  function lookedAt(tenantId: string, newest: CronJobLook[], before: number | undefined) {
    if (before === undefined) return newest
    const isWhole = newest.length < LOOKED_AT
    return isWhole
      ? newest.filter(({ seq }) => seq < before)
      : queries.jobs(tenantId, { before, limit: LOOKED_AT })
  }

  return (visit: Visit): Response => {
    const { tenantId, role } = visit.tenant
    const asked = searchOf(visit)
    const q = asked.get('q')?.trim() ?? ''
    const state = JOB_STATES.find((one) => one === asked.get('state'))
    const place = placeIn(asked)
    const before = cursor.positionOf(place.cursor)
    const now = clock.now()
    const newest = queries.jobs(tenantId, { limit: LOOKED_AT })
    const looked = lookedAt(tenantId, newest, before)
    const shown = looked.filter((job) => isAbout(job, q) && isIn(job, state))
    const rows = shown.slice(0, ROWS)
    const last = shown.length > ROWS ? rows.at(-1) : looked[LOOKED_AT - 1]
    const hrefOf = (to: ListPlace) => href('', { q, state, ...to })
    const children = JobsPage({
      base: frames.base(),
      apiUrl: baseUrl(),
      rows: rows.map((job) => ({ ...job, recent: queries.attempts(tenantId, job.id, RECENT) })),
      newest,
      hours: queries.hours(tenantId, { upTo: now, count: HOURS }),
      found: newest.filter((job) => isAbout(job, q)),
      hasMore: newest.length === LOOKED_AT,
      q,
      state,
      pages: pagesAlong(place, last && cursor.encode(last.seq), hrefOf),
      mayChange: may(role, 'change'),
      now,
    })
    return listPage(visit, 'Jobs', children)
  }
}

const isAbout = ({ id, name, url }: CronJobLook, q: string): boolean =>
  id === q || [name, url].some((text) => text.toLowerCase().includes(q.toLowerCase()))

const isIn = (job: CronJobLook, state: JobState | undefined): boolean =>
  state === undefined || (state === 'paused' ? !job.isActive : job.lastStatus === 'failed')
