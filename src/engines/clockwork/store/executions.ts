import { and, asc, desc, eq, inArray, sql } from 'drizzle-orm'
import { compile } from '../../../db/compile.ts'
import type { Db } from '../../../db/open.ts'
import { changesOf } from '../../../db/placeholders.ts'
import { executions } from '../schema.ts'

export type ExecutionRow = typeof executions.$inferSelect

export type StartedExecution = Pick<
  ExecutionRow,
  'id' | 'tenantId' | 'jobId' | 'trigger' | 'attempt' | 'slotAt' | 'latenessMs' | 'startedAt'
>

export type ExecutionResult = Pick<
  ExecutionRow,
  'durationMs' | 'responseStatus' | 'responseBody' | 'errorMessage' | 'address' | 'timings'
> & { status: 'success' | 'failed'; completedAt: number }

/** Kept of the response of an execution that has left the list: enough to diagnose a failure. */
const ARCHIVED_CHARACTERS = 2000

export function createExecutionStore({ orm, client }: Db) {
  const $ = sql.placeholder
  const ofJob = and(eq(executions.tenantId, $('tenantId')), eq(executions.jobId, $('jobId')))

  const insert = compile(
    client,
    orm
      .insert(executions)
      .values({
        id: $('id'),
        tenantId: $('tenantId'),
        jobId: $('jobId'),
        trigger: $('trigger'),
        attempt: $('attempt'),
        slotAt: $('slotAt'),
        latenessMs: $('latenessMs'),
        startedAt: $('startedAt'),
        status: 'running',
      }),
  )
  const complete = compile(
    client,
    orm
      .update(executions)
      .set(
        changesOf(
          'status',
          'completedAt',
          'durationMs',
          'responseStatus',
          'responseBody',
          'errorMessage',
          'address',
          'timings',
        ),
      )
      .where(eq(executions.id, $('id'))),
  )
  const start = orm
    .select({ at: executions.startedAt })
    .from(executions)
    .where(eq(executions.id, $('id')))
    .prepare()
  const newest = orm
    .select()
    .from(executions)
    .where(ofJob)
    .orderBy(desc(executions.seq))
    .limit($('limit'))
    .prepare()
  const nth = orm
    .select({ seq: executions.seq, status: executions.status })
    .from(executions)
    .where(ofJob)
    .orderBy(desc(executions.seq))
    .limit(1)
    .offset($('offset'))
    .prepare()
  const removeOne = orm
    .delete(executions)
    .where(eq(executions.seq, $('seq')))
    .prepare()
  const archive = orm
    .update(executions)
    .set({
      expiresAt: sql`${$('at')}`,
      responseBody: sql`substr(${executions.responseBody}, 1, ${$('kept')})`,
    })
    .where(eq(executions.seq, $('seq')))
    .prepare()
  const expireAll = compile(
    client,
    orm
      .update(executions)
      .set({ expiresAt: sql`${$('at')}` })
      .where(ofJob),
  )
  const dropOfJob = orm.delete(executions).where(ofJob).prepare()
  const removeExpired = orm
    .delete(executions)
    .where(
      inArray(
        executions.seq,
        orm
          .select({ seq: executions.seq })
          .from(executions)
          .where(sql`${executions.expiresAt} <= ${$('now')}`)
          .orderBy(asc(executions.expiresAt))
          .limit($('limit')),
      ),
    )
    .returning({ seq: executions.seq })
    .prepare()

  return {
    insert: (row: StartedExecution) => insert.run(row),
    complete: (id: string, result: ExecutionResult) => complete.run({ id, ...result }),
    startedAt: (id: string): number | undefined => start.get({ id })?.at,
    newest: (tenantId: string, jobId: string, limit: number): ExecutionRow[] =>
      newest.all({ tenantId, jobId, limit }),
    /** The execution with exactly `offset` newer ones. */
    nth: (tenantId: string, jobId: string, offset: number) =>
      nth.get({ tenantId, jobId, offset }) as
        | { seq: number; status: ExecutionRow['status'] }
        | undefined,
    remove: (seq: number) => removeOne.run({ seq }),
    /** Keeps the beginning of the response until `at`. */
    archive: (seq: number, at: number) => archive.run({ seq, at, kept: ARCHIVED_CHARACTERS }),
    expireAll: (tenantId: string, jobId: string, at: number) =>
      expireAll.run({ tenantId, jobId, at }),
    dropOfJob: (tenantId: string, jobId: string) => dropOfJob.run({ tenantId, jobId }),
    removeExpired: (now: number, limit: number): number => removeExpired.all({ now, limit }).length,
  }
}
