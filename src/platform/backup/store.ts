import { and, asc, desc, eq, inArray, isNotNull, isNull, sql } from 'drizzle-orm'
import type { Db } from '../../db/open.ts'
import { backups } from '../schema.ts'

export type BackupRow = typeof backups.$inferSelect

/** Why a backup has failed whose process can no longer say why. */
export const ABANDONED = 'the process that made it has ended'

/**
 * The only place with SQL on the table of backups. Rows dated ahead of `now`, of a clock that was
 * wrong, are not the newest: they would hide for as long that no backup is made.
 */
export function createBackupStore({ orm }: Db) {
  const $ = sql.placeholder
  const isGood = and(isNotNull(backups.endedAt), isNull(backups.error))
  const isScheduled = eq(backups.origin, 'schedule')
  const byId = eq(backups.id, $('id'))
  const newestFirst = [desc(backups.startedAt), desc(backups.id)]

  const insert = orm
    .insert(backups)
    .values({
      id: $('id'),
      origin: $('origin'),
      owner: $('owner'),
      startedAt: $('startedAt'),
      endedAt: $('endedAt'),
      file: $('file'),
      bytes: $('bytes'),
      error: $('error'),
    })
    .prepare()
  /** One that was closed by somebody else stays as it is. */
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
    /** Those of the schedule that have no end. */
    open: (): BackupRow[] => open.all(),
    /** The newest first, of every origin and with whatever end. */
    list: (now: number, limit: number): BackupRow[] => newest.all({ now, limit }),
    /** The last good one, of every origin. */
    latest: (now: number): BackupRow | undefined => newestGood.get({ now }),
    /** The last of the schedule that has ended, well or not. */
    lastScheduled: (now: number): BackupRow | undefined => newestScheduled.get({ now }),
    lastGoodScheduled: (now: number): BackupRow | undefined => newestGoodScheduled.get({ now }),
    /** The good ones of the schedule, the newest first. */
    scheduled: (): BackupRow[] => goodScheduled.all(),
    /** Files that may have come to be after all, when nobody waited for them any more. */
    abandoned: (): string[] => abandoned.all().map(({ file }) => file),
    before: (before: number, limit: number): string[] =>
      oldest.all({ before, limit }).map(({ id }) => id),
    remove: (ids: string[]) => void orm.delete(backups).where(inArray(backups.id, ids)).run(),
  }
}
