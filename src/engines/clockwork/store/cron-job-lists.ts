import { and, desc, eq, type SQL, sql } from 'drizzle-orm'
import { type Order, type Range, sortable } from '../../../db/keyset.ts'
import type { Db } from '../../../db/open.ts'
import { JOBS_PER_TENANT } from '../limits.ts'
import { cronJobs, LAST_RUN, NAME, NEXT_RUN, NO_NEXT_RUN } from '../schema.ts'
import type { CronJobRow } from './cron-jobs.ts'
import { createTags, isFound, isTagged, searchFor } from './job-search.ts'

/** The columns of a job that lists show, without its request, which may be large. */
const SUMMARY = {
  seq: cronJobs.seq,
  id: cronJobs.id,
  name: cronJobs.name,
  schedule: cronJobs.schedule,
  timeZone: cronJobs.timeZone,
  url: cronJobs.url,
  tags: cronJobs.tags,
  isActive: cronJobs.isActive,
  lastRunAt: cronJobs.lastRunAt,
  lastStatus: cronJobs.lastStatus,
  nextRunAt: cronJobs.nextRunAt,
  createdAt: cronJobs.createdAt,
}
type StoredSummary = Pick<CronJobRow, keyof typeof SUMMARY>
export type CronJobSummary = Omit<StoredSummary, 'tags'> & { tags: readonly string[] }

export const JOB_ORDERS = {
  keys: {
    created: { value: cronJobs.seq, type: 'number' },
    name: { value: sql.raw(NAME), type: 'string' },
    last_run: { value: sql.raw(LAST_RUN), type: 'number' },
    next_run: { value: sql.raw(NEXT_RUN), type: 'number' },
  },
  keyOf: {
    created: ({ seq }: CronJobSummary) => seq,
    name: ({ name }: CronJobSummary) => name,
    last_run: ({ lastRunAt }: CronJobSummary) => lastRunAt ?? 0,
    next_run: ({ isActive, nextRunAt }: CronJobSummary) => (isActive ? nextRunAt : NO_NEXT_RUN),
  },
} as const

export type JobSort = keyof typeof JOB_ORDERS.keys

export interface JobFilter {
  /** A text in the name or URL, or the id. */
  q?: string | undefined
  tag?: string | undefined
  /** Failing jobs are those whose last run failed. */
  state?: 'failing' | 'paused' | undefined
}

type JobQuery = JobFilter & Order<JobSort> & Range

export interface JobCounts {
  all: number
  failing: number
  paused: number
}

/** Lists of cron jobs. A search may read all of a tenant's jobs, whose number is limited. */
export function createCronJobLists({ orm, client }: Db) {
  const $ = sql.placeholder
  const ofTenant = eq(cronJobs.tenantId, $('tenantId'))
  const isInState = sql`(${$('state')} = ''
    or case ${$('state')} when 'paused' then is_active = 0 else last_status = 'failed' end)`

  const sorted = sortable({ keys: JOB_ORDERS.keys, seq: cronJobs.seq }, (where, orderBy) =>
    orm
      .select(SUMMARY)
      .from(cronJobs)
      .where(and(ofTenant, where, isInState, isTagged, isFound(cronJobs)))
      .orderBy(...orderBy)
      .limit($('limit'))
      .prepare(),
  )
  const newestAt = orm
    .select(SUMMARY)
    .from(cronJobs)
    .where(and(ofTenant, eq(cronJobs.url, $('url'))))
    .orderBy(desc(cronJobs.seq))
    .limit(1)
    .prepare()
  const countOf = (where: SQL | undefined) => {
    const some = orm
      .select({ lastStatus: cronJobs.lastStatus, isActive: cronJobs.isActive })
      .from(cronJobs)
      .where(where)
      .limit(JOBS_PER_TENANT)
      .as('some')
    return orm
      .select({
        all: sql<number>`count(*)`,
        failing: sql<number>`count(*) filter (where last_status = 'failed')`,
        paused: sql<number>`count(*) filter (where is_active = 0)`,
      })
      .from(some)
      .prepare()
  }
  const countAll = countOf(ofTenant)
  const countFound = countOf(and(ofTenant, isTagged, isFound(cronJobs)))

  return {
    list: (tenantId: string, query: JobQuery): CronJobSummary[] =>
      sorted(
        query,
        { tenantId, state: query.state ?? '', tag: query.tag ?? '', ...searchFor(query.q) },
        query,
      ).map(summaryOf),
    /** The newest job with exactly this URL. */
    newestAt: (tenantId: string, url: string): CronJobSummary | undefined =>
      [newestAt.get({ tenantId, url })].flatMap((row) => (row ? [summaryOf(row)] : []))[0],
    /** The jobs that a search and a tag find, by state. Without them, counts within an index. */
    count: (tenantId: string, { q = '', tag = '' }: JobFilter = {}): JobCounts =>
      (q + tag === '' ? countAll : countFound).get({ tenantId, tag, ...searchFor(q) }) as JobCounts,
    tags: createTags(
      client,
      `select tags from cron_jobs where tenant_id = +$tenantId and tags <> '[]'
        limit ${JOBS_PER_TENANT}`,
    ),
  }
}

const summaryOf = ({ tags, ...job }: StoredSummary): CronJobSummary => ({
  ...job,
  tags: JSON.parse(tags),
})
