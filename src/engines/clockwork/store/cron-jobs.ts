import { and, asc, desc, eq, lte, ne, sql } from 'drizzle-orm'
import { compile } from '../../../db/compile.ts'
import type { Db } from '../../../db/open.ts'
import { changesOf, rowOf } from '../../../db/placeholders.ts'
import { cronJobs, executions } from '../schema.ts'
import { storedSize } from './size.ts'

export type CronJobRow = typeof cronJobs.$inferSelect

/** The columns needed to queue a due slot. */
export type DueCronJob = Pick<
  CronJobRow,
  'seq' | 'id' | 'tenantId' | 'schedule' | 'timeZone' | 'url' | 'overlap' | 'nextRunAt'
>

/** Booleans as SQLite stores them. */
const flagsOf = (row: Pick<CronJobRow, 'isActive' | 'isSigned' | 'reusesConnection'>) => ({
  isActive: row.isActive ? 1 : 0,
  isSigned: row.isSigned ? 1 : 0,
  reusesConnection: row.reusesConnection ? 1 : 0,
})

export function createCronJobStore({ orm, client }: Db) {
  const $ = sql.placeholder
  const mine = and(eq(cronJobs.tenantId, $('tenantId')), eq(cronJobs.id, $('id')))
  const isActive = sql`${cronJobs.isActive} = 1`

  const insert = compile(
    client,
    orm.insert(cronJobs).values(rowOf(cronJobs, 'lastRunAt', 'lastStatus')),
  )
  const save = orm
    .update(cronJobs)
    .set(
      changesOf(
        'name',
        'schedule',
        'timeZone',
        'url',
        'method',
        'headers',
        'body',
        'timeoutMs',
        'retry',
        'successStatuses',
        'tags',
        'notes',
        'secretHeaders',
        'isSigned',
        'reusesConnection',
        'overlap',
        'alertAfter',
        'isActive',
        'nextRunAt',
        'updatedAt',
      ),
    )
    .where(mine)
    .returning()
    .prepare()
  const find = orm.select().from(cronJobs).where(mine).prepare()
  const findDuplicate = orm
    .select()
    .from(cronJobs)
    .where(
      and(eq(cronJobs.tenantId, $('tenantId')), eq(cronJobs.deduplicationId, $('deduplicationId'))),
    )
    .prepare()
  const list = orm
    .select()
    .from(cronJobs)
    .where(eq(cronJobs.tenantId, $('tenantId')))
    .orderBy(desc(cronJobs.seq))
    .prepare()
  const remove = orm.delete(cronJobs).where(mine).returning({ bytes: storedSize }).prepare()
  const noteRun = orm
    .update(cronJobs)
    .set({ lastRunAt: sql`${$('at')}` })
    .where(mine)
    .prepare()
  const pause = orm.update(cronJobs).set({ isActive: false }).where(mine).prepare()
  const newestEnded = orm
    .select({ id: executions.id })
    .from(executions)
    .where(
      and(
        eq(executions.tenantId, $('tenantId')),
        eq(executions.jobId, $('id')),
        ne(executions.status, 'running'),
      ),
    )
    .orderBy(desc(executions.seq))
    .limit(1)
  // The comparison of the status comes first, because it is mostly the same.
  const noteStatus = orm
    .update(cronJobs)
    .set({ lastStatus: sql`${$('status')}` })
    .where(
      and(
        mine,
        sql`${cronJobs.lastStatus} is not ${$('status')}`,
        sql`${$('executionId')} = (${newestEnded})`,
      ),
    )
    .prepare()
  const countFailedRun = orm
    .update(cronJobs)
    .set({ failedRuns: sql`${cronJobs.failedRuns} + 1` })
    .where(mine)
    .returning()
    .prepare()
  // Each run that succeeds asks, so this one has to be cheap.
  const clearFailedRuns = compile(
    client,
    orm
      .update(cronJobs)
      .set({ failedRuns: 0 })
      .where(and(mine, sql`${cronJobs.failedRuns} > 0`)),
  )
  const firstDue = orm
    .select({ at: cronJobs.nextRunAt })
    .from(cronJobs)
    .where(isActive)
    .orderBy(asc(cronJobs.nextRunAt))
    .limit(1)
    .prepare()
  const due = orm
    .select({
      seq: cronJobs.seq,
      id: cronJobs.id,
      tenantId: cronJobs.tenantId,
      schedule: cronJobs.schedule,
      timeZone: cronJobs.timeZone,
      url: cronJobs.url,
      overlap: cronJobs.overlap,
      nextRunAt: cronJobs.nextRunAt,
    })
    .from(cronJobs)
    .where(and(isActive, lte(cronJobs.nextRunAt, $('cutoff'))))
    .orderBy(asc(cronJobs.nextRunAt))
    .limit($('limit'))
    .prepare()
  const advance = orm
    .update(cronJobs)
    .set({ nextRunAt: sql`${$('to')}` })
    .where(and(eq(cronJobs.seq, $('seq')), eq(cronJobs.nextRunAt, $('from')), isActive))
    .returning({ seq: cronJobs.seq })
    .prepare()

  return {
    insert: (row: Omit<CronJobRow, 'seq'>) => insert.run({ ...row, ...flagsOf(row) }),
    save: (row: CronJobRow): CronJobRow | undefined => save.get({ ...row, ...flagsOf(row) }),
    findDuplicate: (tenantId: string, deduplicationId: string): CronJobRow | undefined =>
      findDuplicate.get({ tenantId, deduplicationId }),
    find: (tenantId: string, id: string): CronJobRow | undefined => find.get({ tenantId, id }),
    /** Newest first. */
    list: (tenantId: string): CronJobRow[] => list.all({ tenantId }),
    /** Returns the size of the removed job; undefined if there was none. */
    remove: (tenantId: string, id: string): number | undefined =>
      (remove.get({ tenantId, id }) as { bytes: number } | undefined)?.bytes,
    noteRun: (tenantId: string, id: string, at: number) => noteRun.run({ tenantId, id, at }),
    pause: (tenantId: string, id: string) => pause.run({ tenantId, id }),
    /** Notes how an execution ended, unless a newer one has ended. */
    noteStatus: (of: {
      tenantId: string
      id: string
      executionId: string
      status: 'success' | 'failed'
    }) => noteStatus.run(of),
    /** Counts a run that failed for good; returns its job, if it still exists. */
    countFailedRun: (tenantId: string, id: string): CronJobRow | undefined =>
      countFailedRun.get({ tenantId, id }),
    clearFailedRuns: (tenantId: string, id: string) => clearFailedRuns.run({ tenantId, id }),
    /** Across all tenants, because the loop serves all of them. */
    firstDueAt: (): number | undefined => firstDue.get()?.at,
    due: (cutoff: number, limit: number): DueCronJob[] => due.all({ cutoff, limit }),
    /** Moves a job on from the slot `from`; false if another process has already done so. */
    advance: (seq: number, from: number, to: number): boolean =>
      advance.get({ seq, from, to }) !== undefined,
  }
}
