import { eq, inArray, lt, sql } from 'drizzle-orm'
import type { Db } from '../../../db/open.ts'
import { consoleLinks } from '../../schema.ts'

export type LinkRow = typeof consoleLinks.$inferSelect

/** Links that lead in without a password. */
export function createLinkStore({ orm }: Db) {
  const $ = sql.placeholder
  const link = orm
    .select()
    .from(consoleLinks)
    .where(eq(consoleLinks.tokenHash, $('tokenHash')))
    .prepare()
  const removeExpired = orm
    .delete(consoleLinks)
    .where(
      inArray(
        consoleLinks.tokenHash,
        orm
          .select({ key: consoleLinks.tokenHash })
          .from(consoleLinks)
          .where(lt(consoleLinks.expiresAt, $('now')))
          .limit($('limit')),
      ),
    )
    .returning({ key: consoleLinks.tokenHash })
    .prepare()

  return {
    removeSignInLinks: (operatorId: string) =>
      void orm.delete(consoleLinks).where(eq(consoleLinks.operatorId, operatorId)).run(),
    link: (tokenHash: string): LinkRow | undefined => link.get({ tokenHash }),
    addLink: (row: LinkRow) => void orm.insert(consoleLinks).values(row).run(),
    removeLink: (tokenHash: string) =>
      void orm.delete(consoleLinks).where(eq(consoleLinks.tokenHash, tokenHash)).run(),
    /** Of set-up: none of them is needed once somebody has used one. */
    removeSetUpLinks: () =>
      void orm.delete(consoleLinks).where(sql`${consoleLinks.operatorId} is null`).run(),
    /** Returns how many were removed, `limit` at most. */
    removeExpiredLinks: (now: number, limit: number): number =>
      removeExpired.all({ now, limit }).length,
  }
}
