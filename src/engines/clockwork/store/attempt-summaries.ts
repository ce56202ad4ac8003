import { and, asc, desc, eq, ne, sql } from 'drizzle-orm'
import type { Db } from '../../../db/open.ts'
import { createSeqFrom } from '../../../db/seq-from.ts'
import { END, type Window } from '../../../platform/scan.ts'
import { LISTED_EXECUTIONS } from '../limits.ts'
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

/** An attempt in the history of a job, with the reason if there was no response. */
export type PastAttempt = ExecutionSummary & Pick<ExecutionRow, 'seq' | 'errorMessage'>

export type AttemptCounts = Record<ExecutionRow['status'] | 'all', number>

/** Attempts are counted up to this number. */
export const MAX_COUNTED = 1000

/** Older attempts failed: others are deleted when they leave the list of the job's newest. */
const NEWEST = MAX_COUNTED + LISTED_EXECUTIONS

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
  const inWindow = and(
    ofJob,
    sql`${executions.seq} > ${$('after')}`,
    sql`${executions.seq} < ${$('before')}`,
  )
  const [oldest, newest] = [asc, desc].map((direction) =>
    orm
      .select({
        seq: executions.seq,
        id: executions.id,
        status: executions.status,
        trigger: executions.trigger,
        attempt: executions.attempt,
        slotAt: executions.slotAt,
        latenessMs: executions.latenessMs,
        startedAt: executions.startedAt,
        durationMs: executions.durationMs,
        responseStatus: executions.responseStatus,
        errorMessage: executions.errorMessage,
      })
      .from(executions)
      .where(and(inWindow, sql`(${$('status')} = '' or ${executions.status} = ${$('status')})`))
      .orderBy(direction(executions.seq))
      .limit($('limit'))
      .prepare(),
  )
  const beyondNewest = orm
    .select({ seq: executions.seq })
    .from(executions)
    .where(ofJob)
    .orderBy(desc(executions.seq))
    .limit(1)
    .offset(NEWEST)
    .prepare()
  const some = orm
    .select({ status: executions.status })
    .from(executions)
    .where(inWindow)
    .orderBy(desc(executions.seq))
    .limit(NEWEST)
    .as('some')
  const count = orm
    .select({
      all: sql<number>`count(*)`,
      success: sql<number>`count(*) filter (where status = 'success')`,
      failed: sql<number>`count(*) filter (where status = 'failed')`,
      running: sql<number>`count(*) filter (where status = 'running')`,
    })
    .from(some)
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
    .limit(MAX_OPEN)
    .prepare()

  return {
    /** Newest first. */
    attempts: (tenantId: string, jobId: string, limit: number): ExecutionSummary[] =>
      attempts.all({ tenantId, jobId, limit }),
    attempt: (tenantId: string, jobId: string, id: string): ExecutionRow | undefined =>
      attempt.get({ tenantId, jobId, id }),
    /** All kept attempts of a job in a window, which may have one status. */
    history(
      tenantId: string,
      jobId: string,
      of: Window & { status?: ExecutionRow['status'] | undefined },
    ): PastAttempt[] {
      const { after = 0, before = END, isAscending, limit, status = '' } = of
      const statement = isAscending ? oldest : newest
      const isOfAll = status === '' || status === 'failed'
      const from = isOfAll ? 0 : (beyondNewest.get({ tenantId, jobId })?.seq ?? 0)
      const window = { after: Math.max(after, from), before }
      return statement?.all({ tenantId, jobId, ...window, limit, status }) ?? []
    },
    count: (
      tenantId: string,
      jobId: string,
      { after = 0, before = END }: Pick<Window, 'after' | 'before'>,
    ): AttemptCounts => count.get({ tenantId, jobId, after, before }) as AttemptCounts,
    /** The number of the first attempt of all jobs that started from a time on. */
    seqFrom: createSeqFrom(client, 'executions', 'started_at'),
    /** Runs with an attempt to come. */
    open: (tenantId: string, jobId: string): OpenRun[] => open.all({ tenantId, jobId }),
  }
}
