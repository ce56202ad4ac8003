import { and, asc, eq, ne, sql } from 'drizzle-orm'
import type { Db } from '../../../db/open.ts'
import { executions, runs } from '../schema.ts'
import type { ExecutionRow } from './executions.ts'
import type { RunRow } from './runs.ts'

/** More runs are open only if a target is down for longer than its retries last. */
const MAX_OPEN = 20

/** An attempt without its response body. */
export type ExecutionSummary = Pick<
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

/** The attempts of a job, for pages. */
export function createAttemptSummaries({ orm, client }: Db) {
  const $ = sql.placeholder
  const ofJob = and(eq(executions.tenantId, $('tenantId')), eq(executions.jobId, $('jobId')))

  // Without Drizzle's mapping, because a page reads a thousand of them.
  const attempts = client.prepare<
    ExecutionSummary,
    { tenantId: string; jobId: string; limit: number }
  >(`
    select id, status, trigger, attempt, slot_at as slotAt, lateness_ms as latenessMs,
      started_at as startedAt, duration_ms as durationMs, response_status as responseStatus
    from executions
    where tenant_id = $tenantId and job_id = $jobId order by seq desc limit $limit`)
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
    .limit(MAX_OPEN)
    .prepare()

  return {
    /** Newest first. */
    attempts: (tenantId: string, jobId: string, limit: number): ExecutionSummary[] =>
      attempts.all({ tenantId, jobId, limit }),
    attempt: (tenantId: string, jobId: string, id: string): ExecutionRow | undefined =>
      attempt.get({ tenantId, jobId, id }),
    /** Runs with an attempt to come. */
    open: (tenantId: string, jobId: string): OpenRun[] => open.all({ tenantId, jobId }),
  }
}
