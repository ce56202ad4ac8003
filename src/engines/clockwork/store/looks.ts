import { and, asc, desc, eq, lt, ne, type SQL, sql } from 'drizzle-orm'
import type { Db } from '../../../db/open.ts'
import { cronJobs, delayedJobs, executions, runs } from '../schema.ts'
import type { CronJobRow } from './cron-jobs.ts'
import type { DelayedJobRow } from './delayed-jobs.ts'
import type { ExecutionRow } from './executions.ts'
import type { RunRow } from './runs.ts'

/** Attempts that a line of a list tells of, newest first. */
const RECENT = 20
/** More are open only where a target is down for longer than its retries last. */
const MOST_OPEN = 20

/** A job as lists show it: without what it sends, which may be large. */
export type CronJobLook = Pick<
  CronJobRow,
  'seq' | 'id' | 'name' | 'schedule' | 'isActive' | 'nextRunAt'
> & {
  lastStatus: 'success' | 'failed' | null
  lastStartedAt: number | null
  failedLately: boolean
}

export type DelayedJobLook = Pick<
  DelayedJobRow,
  'seq' | 'id' | 'name' | 'runAt' | 'url' | 'method' | 'status'
>

/** An attempt without its answer. */
export type ExecutionLook = Pick<
  ExecutionRow,
  | 'id'
  | 'status'
  | 'trigger'
  | 'attempt'
  | 'slotAt'
  | 'latenessMs'
  | 'startedAt'
  | 'durationMs'
  | 'responseStatus'
>

export type OpenRun = Pick<RunRow, 'trigger' | 'slotAt' | 'dueAt' | 'attempt' | 'state'>

/** A place in the list of delayed jobs, which is by time. */
export interface DelayedPlace {
  runAt: number
  seq: number
}

/**
 * What pages for people read. Each statement looks at a bounded number of jobs, and of each job at
 * its newest attempts, so that none of them costs more the more is stored.
 */
export function createLookStore({ orm }: Db) {
  const $ = sql.placeholder
  /** By name: within a statement over one table, columns are written without theirs. */
  const newestEnded = (column: string): SQL => sql`(
    select ${sql.raw(column)} from executions
    where job_id = cron_jobs.id and tenant_id = cron_jobs.tenant_id and status <> 'running'
    order by seq desc limit 1)`

  const jobs = orm
    .select({
      seq: cronJobs.seq,
      id: cronJobs.id,
      name: cronJobs.name,
      schedule: cronJobs.schedule,
      isActive: cronJobs.isActive,
      nextRunAt: cronJobs.nextRunAt,
      lastStatus: sql<CronJobLook['lastStatus']>`${newestEnded('status')}`,
      lastStartedAt: sql<number | null>`${newestEnded('started_at')}`,
      failedLately: sql`exists (
        select 1 from (
          select status, started_at from executions
          where job_id = cron_jobs.id and tenant_id = cron_jobs.tenant_id
          order by seq desc limit ${sql.raw(`${RECENT}`)}) as some
        where status = 'failed' and started_at >= ${$('since')})`.mapWith(Boolean),
    })
    .from(cronJobs)
    .where(and(eq(cronJobs.tenantId, $('tenantId')), lt(cronJobs.seq, $('before'))))
    .orderBy(desc(cronJobs.seq))
    .limit($('limit'))
    .prepare()
  const delayed = orm
    .select({
      seq: delayedJobs.seq,
      id: delayedJobs.id,
      name: delayedJobs.name,
      runAt: delayedJobs.runAt,
      url: delayedJobs.url,
      method: delayedJobs.method,
      status: delayedJobs.status,
    })
    .from(delayedJobs)
    .where(
      and(
        eq(delayedJobs.tenantId, $('tenantId')),
        sql`(run_at, seq) < (${$('runAt')}, ${$('seq')})`,
      ),
    )
    .orderBy(desc(delayedJobs.runAt), desc(delayedJobs.seq))
    .limit($('limit'))
    .prepare()
  const ofJob = and(eq(executions.tenantId, $('tenantId')), eq(executions.jobId, $('jobId')))
  const attempts = orm
    .select({
      id: executions.id,
      status: executions.status,
      trigger: executions.trigger,
      attempt: executions.attempt,
      slotAt: executions.slotAt,
      latenessMs: executions.latenessMs,
      startedAt: executions.startedAt,
      durationMs: executions.durationMs,
      responseStatus: executions.responseStatus,
    })
    .from(executions)
    .where(ofJob)
    .orderBy(desc(executions.seq))
    .limit($('limit'))
    .prepare()
  const attempt = orm
    .select()
    .from(executions)
    .where(and(ofJob, eq(executions.id, $('id'))))
    .prepare()
  const open = orm
    .select({
      trigger: runs.trigger,
      slotAt: runs.slotAt,
      dueAt: runs.dueAt,
      attempt: runs.attempt,
      state: runs.state,
    })
    .from(runs)
    .where(
      and(eq(runs.tenantId, $('tenantId')), eq(runs.jobId, $('jobId')), ne(runs.state, 'leased')),
    )
    .orderBy(asc(runs.seq))
    .limit(MOST_OPEN)
    .prepare()

  return {
    /** Newest first; `failedLately` is of the newest attempts since then. */
    jobs: (of: { tenantId: string; before: number; since: number; limit: number }) =>
      jobs.all(of) as CronJobLook[],
    /** The latest first. */
    delayed: (tenantId: string, { runAt, seq }: DelayedPlace, limit: number): DelayedJobLook[] =>
      delayed.all({ tenantId, runAt, seq, limit }),
    /** Newest first. */
    attempts: (tenantId: string, jobId: string, limit: number = RECENT): ExecutionLook[] =>
      attempts.all({ tenantId, jobId, limit }),
    attempt: (tenantId: string, jobId: string, id: string): ExecutionRow | undefined =>
      attempt.get({ tenantId, jobId, id }),
    /** Runs with an attempt to come. */
    open: (tenantId: string, jobId: string): OpenRun[] => open.all({ tenantId, jobId }),
  }
}
