import { and, asc, desc, eq, inArray, isNotNull, isNull, sql } from 'drizzle-orm'
import type { Db } from '../../db/open.ts'
import { rowOf } from '../../db/placeholders.ts'
import { backups } from '../schema.ts'

export type BackupRow = typeof backups.$inferSelect

/** The error of a backup whose process has died. */
export const ABANDONED = 'interrupted: the process that made the backup stopped'

/**
 * The only file with SQL on backups. Rows dated after `now`, by a clock that was wrong, never
 * count as the newest, because no backup would be made until that time.
 */
export function createBackupStore({ orm }: Db) {
  const $ = sql.placeholder
  const isGood = and(isNotNull(backups.endedAt), isNull(backups.error))
  const isScheduled = eq(backups.origin, 'schedule')
  const byId = eq(backups.id, $('id'))
  const newestFirst = [desc(backups.startedAt), desc(backups.id)]

  const insert = orm.insert(backups).values(rowOf(backups)).prepare()
  /** Closes an open record; a record that another process has closed stays unchanged. */
  const end = orm
    .update(backups)
    .set({ endedAt: sql`${$('endedAt')}`, bytes: sql`${$('bytes')}`, error: sql`${$('error')}` })
    .where(and(byId, isNull(backups.endedAt)))
    .prepare()
  const open = orm
    .select()
    .from(backups)
    .where(and(isScheduled, isNull(backups.endedAt)))
    .prepare()
  const hasBegun = sql`${backups.startedAt} <= ${$('now')}`
  const byIdRow = orm.select().from(backups).where(byId).prepare()
  const newest = orm
    .select()
    .from(backups)
    .where(hasBegun)
    .orderBy(...newestFirst)
    .limit($('limit'))
    .prepare()
  const newestGood = orm
    .select()
    .from(backups)
    .where(and(isGood, hasBegun))
    .orderBy(...newestFirst)
    .limit(1)
    .prepare()
  const newestScheduled = orm
    .select()
    .from(backups)
    .where(and(isScheduled, isNotNull(backups.endedAt), hasBegun))
    .orderBy(...newestFirst)
    .limit(1)
    .prepare()
  const newestGoodScheduled = orm
    .select()
    .from(backups)
    .where(and(isScheduled, isGood, hasBegun))
    .orderBy(...newestFirst)
    .limit(1)
    .prepare()
  const goodScheduled = orm
    .select()
    .from(backups)
    .where(and(isScheduled, isGood))
    .orderBy(...newestFirst)
    .prepare()
  const abandoned = orm
    .select({ file: backups.file })
    .from(backups)
    .where(and(isScheduled, eq(backups.error, ABANDONED)))
    .prepare()
  const oldest = orm
    .select({ id: backups.id })
    .from(backups)
    .where(sql`${backups.startedAt} < ${$('before')}`)
    .orderBy(asc(backups.startedAt))
    .limit($('limit'))
    .prepare()

  return {
    add: (row: BackupRow) => void insert.run(row),
    end: (id: string, ended: Pick<BackupRow, 'endedAt' | 'bytes' | 'error'>) =>
      void end.run({ id, ...ended }),
    /** Scheduled backups without an end. */
    open: (): BackupRow[] => open.all(),
    find: (id: string): BackupRow | undefined => byIdRow.get({ id }),
    /** The newest backups first, with any origin and result. */
    list: (now: number, limit: number): BackupRow[] => newest.all({ now, limit }),
    /** The newest successful backup of any origin. */
    latest: (now: number): BackupRow | undefined => newestGood.get({ now }),
    /** The newest finished backup of the schedule, successful or not. */
    lastScheduled: (now: number): BackupRow | undefined => newestScheduled.get({ now }),
    lastGoodScheduled: (now: number): BackupRow | undefined => newestGoodScheduled.get({ now }),
    /** The successful backups of the schedule, newest first. */
    scheduled: (): BackupRow[] => goodScheduled.all(),
    /** The files of abandoned backups, which may have been completed after all. */
    abandoned: (): string[] => abandoned.all().map(({ file }) => file),
    before: (before: number, limit: number): string[] =>
      oldest.all({ before, limit }).map(({ id }) => id),
    remove: (ids: string[]) => void orm.delete(backups).where(inArray(backups.id, ids)).run(),
  }
}
