import { sql } from 'drizzle-orm'
import type { Db } from '../../../db/open.ts'
import { passepartoutUpdates as updates } from '../schema.ts'

export function createUpdateStore({ orm }: Db) {
  const $ = sql.placeholder
  const insert = orm
    .insert(updates)
    .values({ botId: $('botId'), updateId: $('updateId'), at: $('at') })
    .onConflictDoNothing()
    .returning({ at: updates.at })
    .prepare()
  const removeBefore = orm
    .delete(updates)
    .where(
      sql`rowid in (select rowid from passepartout_updates where at < ${$('before')}
        order by at limit ${$('limit')})`,
    )
    .returning({ at: updates.at })
    .prepare()

  return {
    /** Whether the update is handled for the first time. */
    isNew: (botId: string, updateId: number, at: number): boolean =>
      insert.get({ botId, updateId, at }) !== undefined,
    removeBefore: (before: number, limit: number): number =>
      removeBefore.all({ before, limit }).length,
  }
}
