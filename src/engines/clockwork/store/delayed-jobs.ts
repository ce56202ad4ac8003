import { and, asc, eq, getTableColumns, inArray, isNotNull, sql } from 'drizzle-orm'
import { compile, named } from '../../../db/compile.ts'
import type { Db } from '../../../db/open.ts'
import { rowOf } from '../../../db/placeholders.ts'
import { delayedJobs } from '../schema.ts'
import { storedSize } from './size.ts'

export type DelayedJobRow = typeof delayedJobs.$inferSelect
export type NewDelayedJobRow = Omit<DelayedJobRow, 'seq' | 'expiresAt'>
/** A row as SQLite has it. */
type StoredRow = Omit<DelayedJobRow, 'isSigned' | 'reusesConnection'> &
  Record<'isSigned' | 'reusesConnection', number>
export type DelayedStatus = DelayedJobRow['status']

/** A change of a job's state, with `expiresAt` if it is the last one. */
export interface StatusChange {
  from: DelayedStatus
  to: DelayedStatus
  now: number
  /** The new time of the run; unchanged if absent. */
  runAt?: number
  expiresAt?: number
}

export function createDelayedJobStore({ orm, client }: Db) {
  const $ = sql.placeholder
  const mine = and(eq(delayedJobs.tenantId, $('tenantId')), eq(delayedJobs.id, $('id')))

  const insert = compile(client, orm.insert(delayedJobs).values(rowOf(delayedJobs, 'expiresAt')))
  const find = compile<StoredRow>(
    client,
    orm
      .select(named(getTableColumns(delayedJobs)))
      .from(delayedJobs)
      .where(mine),
  )
  const findDuplicate = orm
    .select()
    .from(delayedJobs)
    .where(
      and(
        eq(delayedJobs.tenantId, $('tenantId')),
        eq(delayedJobs.deduplicationId, $('deduplicationId')),
      ),
    )
    .prepare()
  const list = orm
    .select()
    .from(delayedJobs)
    .where(eq(delayedJobs.tenantId, $('tenantId')))
    .orderBy(asc(delayedJobs.runAt), asc(delayedJobs.seq))
    .prepare()
  const move = compile(
    client,
    orm
      .update(delayedJobs)
      .set({
        status: sql`${$('to')}`,
        runAt: sql`coalesce(${$('runAt')}, ${delayedJobs.runAt})`,
        updatedAt: sql`${$('now')}`,
        expiresAt: sql`${$('expiresAt')}`,
      })
      .where(and(mine, eq(delayedJobs.status, $('from')))),
  )
  const removeExpired = orm
    .delete(delayedJobs)
    .where(
      inArray(
        delayedJobs.seq,
        orm
          .select({ seq: delayedJobs.seq })
          .from(delayedJobs)
          .where(sql`${delayedJobs.expiresAt} <= ${$('now')}`)
          .orderBy(asc(delayedJobs.expiresAt))
          .limit($('limit')),
      ),
    )
    .returning({ tenantId: delayedJobs.tenantId, bytes: storedSize })
    .prepare()
  const removeOldestEnded = orm
    .delete(delayedJobs)
    .where(
      inArray(
        delayedJobs.seq,
        orm
          .select({ seq: delayedJobs.seq })
          .from(delayedJobs)
          .where(and(eq(delayedJobs.tenantId, $('tenantId')), isNotNull(delayedJobs.expiresAt)))
          .orderBy(asc(delayedJobs.expiresAt))
          .limit(1),
      ),
    )
    .returning({ id: delayedJobs.id, bytes: storedSize })
    .prepare()

  return {
    insert: (row: NewDelayedJobRow) =>
      insert.run({
        ...row,
        isSigned: row.isSigned ? 1 : 0,
        reusesConnection: row.reusesConnection ? 1 : 0,
      }),
    findDuplicate: (tenantId: string, deduplicationId: string): DelayedJobRow | undefined =>
      findDuplicate.get({ tenantId, deduplicationId }),
    find: (tenantId: string, id: string): DelayedJobRow | undefined => {
      const row = find.get({ tenantId, id })
      return (
        row && {
          ...row,
          isSigned: row.isSigned === 1,
          reusesConnection: row.reusesConnection === 1,
        }
      )
    },
    /** Ordered by run time. */
    list: (tenantId: string): DelayedJobRow[] => list.all({ tenantId }),
    /** Returns false if the job is not in the state `from`. */
    move: (tenantId: string, id: string, { runAt, expiresAt, ...change }: StatusChange): boolean =>
      move.run({ tenantId, id, ...change, runAt: runAt ?? null, expiresAt: expiresAt ?? null })
        .changes > 0,
    /** Returns the tenant and size of each removed job. */
    removeExpired: (now: number, limit: number): { tenantId: string; bytes: number }[] =>
      removeExpired.all({ now, limit }),
    /** Returns the id and size of the removed job; undefined if all jobs of the tenant are open. */
    removeOldestEnded: (tenantId: string): { id: string; bytes: number } | undefined =>
      removeOldestEnded.get({ tenantId }),
  }
}
