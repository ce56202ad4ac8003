import type { Db } from '../../../db/open.ts'
import { NEXT_RUN, NO_NEXT_RUN } from '../schema.ts'
import type { DelayedJobRow } from './delayed-jobs.ts'
import type { ExecutionRow } from './executions.ts'

/** The newest jobs that one query reads. */
const MAX_JOBS = 500

/** A job whose last run failed. */
export interface FailingJob {
  id: string
  name: string
  startedAt: number
  responseStatus: number | null
  errorMessage: string | null
}

/** A future run. */
export interface ComingRun {
  kind: 'cron' | 'delayed'
  id: string
  name: string
  at: number
  /** Both are null for a delayed job. */
  schedule: string | null
  timeZone: string | null
}

/** An attempt with the job it belongs to. */
export type LatestRun = Pick<
  ExecutionRow,
  'id' | 'status' | 'attempt' | 'startedAt' | 'durationMs' | 'responseStatus' | 'errorMessage'
> & { kind: 'cron' | 'delayed'; jobId: string; name: string }

/** Bounded queries for pages. `+` keeps SQLite from planning again: see db/statements.ts. */
export function createReadModel({ client }: Db) {
  const failing = client.prepare<FailingJob, { tenantId: string }>(`
    select j.id, j.name, e.started_at as startedAt, e.response_status as responseStatus,
      e.error_message as errorMessage
    from cron_jobs j join executions e on e.seq = (
      select seq from executions
      where job_id = j.id and tenant_id = j.tenant_id and status <> 'running'
      order by seq desc limit 1)
    where j.tenant_id = +$tenantId and j.last_status = 'failed' and j.is_active = 1
    order by j.seq desc limit ${MAX_JOBS}`)
  const comingOfCron = client.prepare<ComingRun, { tenantId: string; now: number; limit: number }>(`
    select 'cron' as kind, id, name, next_run_at as at, schedule, time_zone as timeZone
    from cron_jobs
    where tenant_id = +$tenantId and ${NEXT_RUN} >= +$now and ${NEXT_RUN} < ${NO_NEXT_RUN}
    order by ${NEXT_RUN} limit +$limit`)
  const comingOfDelayed = client.prepare<
    ComingRun & Pick<DelayedJobRow, 'status'>,
    { tenantId: string; now: number }
  >(`
    select 'delayed' as kind, id, name, run_at as at, null as schedule, null as timeZone, status
    from delayed_jobs where tenant_id = +$tenantId and run_at >= +$now order by run_at, seq limit ${MAX_JOBS}`)
  const latest = client.prepare<LatestRun, { tenantId: string; limit: number }>(`
    select e.id, e.status, e.attempt, e.started_at as startedAt, e.duration_ms as durationMs,
      e.response_status as responseStatus, e.error_message as errorMessage, e.job_id as jobId,
      iif(c.id is null, 'delayed', 'cron') as kind, coalesce(c.name, d.name) as name
    from executions e
    left join cron_jobs c on c.id = e.job_id and c.tenant_id = e.tenant_id
    left join delayed_jobs d on d.id = e.job_id and d.tenant_id = e.tenant_id
    where e.tenant_id = +$tenantId and coalesce(c.name, d.name) is not null
    order by e.seq desc limit +$limit`)

  return {
    /** Latest failure first. */
    failing: (tenantId: string): FailingJob[] =>
      failing.all({ tenantId }).toSorted((one, other) => other.startedAt - one.startedAt),
    /** Earliest first, of both kinds. */
    coming: (tenantId: string, now: number, limit: number): ComingRun[] =>
      [
        ...comingOfCron.all({ tenantId, now, limit }),
        ...comingOfDelayed
          .all({ tenantId, now })
          .filter(({ status }) => status === 'pending')
          .map(({ status: _, ...run }) => run),
      ]
        .toSorted((one, other) => one.at - other.at)
        .slice(0, limit),
    /** Newest first. */
    latest: (tenantId: string, limit: number): LatestRun[] => latest.all({ tenantId, limit }),
  }
}
