import { and, desc, eq, sql } from 'drizzle-orm'
import type { Db } from '../../../db/open.ts'
import { excludedOf, rowOf } from '../../../db/placeholders.ts'
import { passepartoutPeople as people } from '../schema.ts'

export type PersonRow = typeof people.$inferSelect

/** The tenant and platform of accounts. */
type Accounts = Pick<PersonRow, 'tenantId' | 'platform'>

/** Sorts after every id. */
const LAST_ID = '~'

export function createPersonStore({ orm }: Db) {
  const $ = sql.placeholder
  const put = orm
    .insert(people)
    .values(rowOf(people))
    .onConflictDoUpdate({
      target: [people.tenantId, people.platform, people.platformUserId],
      set: excludedOf(people, 'id', 'tenantId', 'platform', 'platformUserId', 'createdAt'),
    })
    .returning()
    .prepare()
  const find = orm
    .select()
    .from(people)
    .where(and(eq(people.tenantId, $('tenantId')), eq(people.id, $('id'))))
    .prepare()
  const ofPlatform = and(eq(people.tenantId, $('tenantId')), eq(people.platform, $('platform')))
  const newest = orm
    .select()
    .from(people)
    .where(and(ofPlatform, sql`${people.id} < ${$('before')}`))
    .orderBy(desc(people.id))
    .limit($('limit'))
    .prepare()
  const byAccount = orm
    .select()
    .from(people)
    .where(and(ofPlatform, eq(people.platformUserId, $('platformUserId'))))
    .prepare()
  const byUsername = orm
    .select()
    .from(people)
    .where(and(ofPlatform, eq(people.username, $('username'))))
    .limit($('limit'))
    .prepare()
  const remove = orm
    .delete(people)
    .where(and(eq(people.tenantId, $('tenantId')), eq(people.id, $('id'))))
    .prepare()

  return {
    /** Inserts the row of an account under `id`, or updates its existing row. */
    put: (row: PersonRow): PersonRow => put.get(row) as PersonRow,
    remove: (tenantId: string, id: string) => void remove.run({ tenantId, id }),
    find: (tenantId: string, id: string): PersonRow | undefined => find.get({ tenantId, id }),
    /** Newest first. */
    newest: (
      of: Accounts,
      { before = LAST_ID, limit }: { before?: string | undefined; limit: number },
    ): PersonRow[] => newest.all({ ...of, before, limit }),
    byAccount: (of: Accounts, platformUserId: string): PersonRow | undefined =>
      byAccount.get({ ...of, platformUserId }),
    /** Usernames can be reassigned, so several users may have had the same one when last seen. */
    byUsername: (of: Accounts, username: string, limit: number): PersonRow[] =>
      byUsername.all({ ...of, username, limit }),
  }
}
