import { eq, inArray, lt, sql } from 'drizzle-orm'
import type { Db } from '../../../db/open.ts'
import { consoleLinks } from '../schema.ts'

export type LinkRow = typeof consoleLinks.$inferSelect

/** One-time links. */
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
    /** Removes all set-up links, once one was used. */
    removeSetUpLinks: () =>
      void orm.delete(consoleLinks).where(sql`${consoleLinks.operatorId} is null`).run(),
    /** Returns the number of removed rows, at most `limit`. */
    removeExpiredLinks: (now: number, limit: number): number =>
      removeExpired.all({ now, limit }).length,
  }
}
