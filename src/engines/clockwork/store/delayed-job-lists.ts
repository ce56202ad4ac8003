import { and, eq, type SQL, sql } from 'drizzle-orm'
import { type Order, type Range, sortable } from '../../../db/keyset.ts'
import type { Db } from '../../../db/open.ts'
import { END } from '../../../platform/scan.ts'
import { JOBS_PER_TENANT } from '../limits.ts'
import { delayedJobs } from '../schema.ts'
import type { DelayedJobRow, DelayedStatus } from './delayed-jobs.ts'
import { createTags, isFound, isTagged, searchFor } from './job-search.ts'

/** The columns of a job that lists show, without its request, which may be large. */
const SUMMARY = {
  seq: delayedJobs.seq,
  id: delayedJobs.id,
  name: delayedJobs.name,
  runAt: delayedJobs.runAt,
  url: delayedJobs.url,
  method: delayedJobs.method,
  status: delayedJobs.status,
  createdAt: delayedJobs.createdAt,
}
export type DelayedJobSummary = Pick<DelayedJobRow, keyof typeof SUMMARY>

export const DELAYED_ORDERS = {
  keys: {
    run_at: { value: delayedJobs.runAt, type: 'number' },
    created: { value: delayedJobs.createdAt, type: 'number' },
  },
  keyOf: {
    run_at: ({ runAt }: DelayedJobSummary) => runAt,
    created: ({ createdAt }: DelayedJobSummary) => createdAt,
  },
} as const

export type DelayedSort = keyof typeof DELAYED_ORDERS.keys

export interface DelayedFilter {
  /** A text in the name or URL, or the id. */
  q?: string | undefined
  tag?: string | undefined
  /** Limit the time of the run. */
  since?: number | undefined
  until?: number | undefined
}

/** The number of jobs, the newest, whose tags a filter offers. */
const TAGGED = 2000

type DelayedQuery = DelayedFilter & { status?: DelayedStatus | undefined } & Order<DelayedSort> &
  Range

export type DelayedCounts = Record<DelayedStatus | 'all', number>

/** Lists of delayed jobs. A filter may read all of a tenant's jobs, whose number is limited. */
export function createDelayedJobLists({ orm, client }: Db) {
  const $ = sql.placeholder
  const isBetween = and(
    eq(delayedJobs.tenantId, $('tenantId')),
    sql`run_at >= ${$('since')} and run_at < ${$('until')}`,
  )
  const isAny = and(isBetween, isTagged, isFound(delayedJobs))

  const sorted = sortable({ keys: DELAYED_ORDERS.keys, seq: delayedJobs.seq }, (where, orderBy) =>
    orm
      .select(SUMMARY)
      .from(delayedJobs)
      .where(and(isAny, where, sql`(${$('status')} = '' or status = ${$('status')})`))
      .orderBy(...orderBy)
      .limit($('limit'))
      .prepare(),
  )
  const countOf = (status: DelayedStatus) =>
    sql<number>`count(*) filter (where status = ${sql.raw(`'${status}'`)})`
  const countIn = (where: SQL | undefined) => {
    const some = orm
      .select({ status: delayedJobs.status })
      .from(delayedJobs)
      .where(where)
      .limit(JOBS_PER_TENANT)
      .as('some')
    return orm
      .select({
        all: sql<number>`count(*)`,
        pending: countOf('pending'),
        running: countOf('running'),
        success: countOf('success'),
        failed: countOf('failed'),
        cancelled: countOf('cancelled'),
      })
      .from(some)
      .prepare()
  }
  const [countAll, countFound] = [countIn(isBetween), countIn(isAny)]

  const valuesOf = (tenantId: string, { q, tag = '', since = 0, until = END }: DelayedFilter) => ({
    tenantId,
    tag,
    since,
    until,
    ...searchFor(q),
  })

  return {
    list(tenantId: string, query: DelayedQuery): DelayedJobSummary[] {
      const { by, after, limit, status = '' } = query
      // With its range, a list by time begins where the range does.
      const range = by === 'run_at' ? query : { after, limit }
      return sorted(query, { ...valuesOf(tenantId, query), status }, range)
    },
    /** The jobs that a filter finds, by status. Without a search or tag, counts within an index. */
    count: (tenantId: string, filter: DelayedFilter): DelayedCounts =>
      (filter.q || filter.tag ? countFound : countAll).get(
        valuesOf(tenantId, filter),
      ) as DelayedCounts,
    tags: createTags(
      client,
      `select tags from delayed_jobs where tenant_id = $tenantId
        order by created_at desc limit ${TAGGED}`,
    ),
  }
}
