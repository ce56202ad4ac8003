import { and, desc, eq, type SQL, sql } from 'drizzle-orm'
import type { Db } from '../../../db/open.ts'
import { delayedJobs } from '../schema.ts'
import type { CronJobRow } from './cron-jobs.ts'
import type { DelayedJobRow } from './delayed-jobs.ts'

/** The columns of a job that lists show, without its request, which may be large. */
export type CronJobSummary = Pick<
  CronJobRow,
  'seq' | 'id' | 'name' | 'schedule' | 'timeZone' | 'url' | 'isActive' | 'nextRunAt' | 'lastRunAt'
> & { lastStatus: 'success' | 'failed' | null; tags: readonly string[] }

export type DelayedJobSummary = Pick<
  DelayedJobRow,
  'seq' | 'id' | 'name' | 'runAt' | 'url' | 'method' | 'status'
>

/** A position in the list of delayed jobs, which is ordered by time. */
export interface DelayedPosition {
  runAt: number
  seq: number
}

/** Selects delayed jobs in one state, with a text in their name or URL, or with an id. */
export interface DelayedFilter {
  status?: DelayedJobRow['status'] | undefined
  q?: string
}

/** The most jobs a filter searches per page: all a tenant may have. The next page continues. */
const MAX_SEARCHED = 10_000

/** Each statement reads a bounded number of jobs and only the newest attempt of each. */
export function createJobSummaries({ orm, client }: Db) {
  const $ = sql.placeholder

  // Without Drizzle's mapping, because a page counts a thousand of them.
  const jobsWhere = <Of extends Record<string, string | number>>(condition: string) =>
    client.prepare<StoredSummary, Of>(`
    select seq, id, name, schedule, time_zone as timeZone, url, tags, is_active as isActive,
      next_run_at as nextRunAt,
      last_run_at as lastRunAt, (
        select status from executions
        where job_id = cron_jobs.id and tenant_id = cron_jobs.tenant_id and status <> 'running'
        order by seq desc limit 1) as lastStatus
    from cron_jobs
    where tenant_id = $tenantId and ${condition} order by seq desc limit $limit`)
  const jobs = jobsWhere<{ tenantId: string; before: number; limit: number }>('seq < $before')
  const jobsAt = jobsWhere<{ tenantId: string; url: string; limit: number }>('url = $url')

  const delayedSummary = {
    seq: delayedJobs.seq,
    id: delayedJobs.id,
    name: delayedJobs.name,
    runAt: delayedJobs.runAt,
    url: delayedJobs.url,
    method: delayedJobs.method,
    status: delayedJobs.status,
  }
  const searched = orm
    .select(delayedSummary)
    .from(delayedJobs)
    .where(
      and(
        eq(delayedJobs.tenantId, $('tenantId')),
        sql`(run_at, seq) < (${$('runAt')}, ${$('seq')})`,
      ),
    )
    .orderBy(desc(delayedJobs.runAt), desc(delayedJobs.seq))
    .limit(MAX_SEARCHED)
    .as('some')
  const holds = (column: SQL): SQL => sql`${column} like ${$('pattern')} escape '\\'`
  const delayed = orm
    .select()
    .from(searched)
    .where(
      sql`(${$('anyStatus')} or status = ${$('status')}) and (${$('anyText')} or id = ${$('q')}
        or ${holds(sql`name`)} or ${holds(sql`url`)})`,
    )
    .limit($('limit'))
    .prepare()
  const lastSearched = orm
    .select({ runAt: delayedJobs.runAt, seq: delayedJobs.seq })
    .from(delayedJobs)
    .where(
      and(
        eq(delayedJobs.tenantId, $('tenantId')),
        sql`(run_at, seq) < (${$('runAt')}, ${$('seq')})`,
      ),
    )
    .orderBy(desc(delayedJobs.runAt), desc(delayedJobs.seq))
    .limit(1)
    .offset(MAX_SEARCHED - 1)
    .prepare()
  const between = orm
    .select({
      id: delayedJobs.id,
      name: delayedJobs.name,
      runAt: delayedJobs.runAt,
      status: delayedJobs.status,
    })
    .from(delayedJobs)
    .where(
      and(
        eq(delayedJobs.tenantId, $('tenantId')),
        sql`run_at >= ${$('from')} and run_at < ${$('to')}`,
      ),
    )
    .orderBy(delayedJobs.runAt, delayedJobs.seq)
    .limit($('limit'))
    .prepare()

  return {
    /** Newest first. */
    jobs: (tenantId: string, before: number, limit: number): CronJobSummary[] =>
      jobs.all({ tenantId, before, limit }).map(summaryOf),
    /** The newest job with exactly this URL. */
    jobAt: (tenantId: string, url: string): CronJobSummary | undefined =>
      jobsAt.all({ tenantId, url, limit: 1 }).map(summaryOf)[0],
    /** Latest first, searched among the 10,000 jobs after a position. */
    delayed(
      tenantId: string,
      { runAt, seq }: DelayedPosition,
      { status, q = '' }: DelayedFilter,
      limit: number,
    ): DelayedJobSummary[] {
      return delayed.all({
        tenantId,
        runAt,
        seq,
        limit,
        q,
        pattern: `%${q.replaceAll(/[\\%_]/g, '\\$&')}%`,
        status: status ?? '',
        anyStatus: status === undefined ? 1 : 0,
        anyText: q === '' ? 1 : 0,
      })
    },
    /** The last of the 10,000 jobs after a position; undefined if there are fewer. */
    lastSearched: (
      tenantId: string,
      { runAt, seq }: DelayedPosition,
    ): DelayedPosition | undefined => lastSearched.get({ tenantId, runAt, seq }),
    /** Ordered by run time, earliest first. */
    delayedBetween: (of: { tenantId: string; from: number; to: number; limit: number }) =>
      between.all(of),
  }
}

type StoredSummary = Omit<CronJobSummary, 'isActive' | 'tags'> & { isActive: number; tags: string }

const summaryOf = (job: StoredSummary): CronJobSummary => ({
  ...job,
  isActive: job.isActive === 1,
  tags: JSON.parse(job.tags),
})
