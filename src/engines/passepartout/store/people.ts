import { and, eq, sql } from 'drizzle-orm'
import { type Order, type Range, sortable } from '../../../db/keyset.ts'
import type { Db } from '../../../db/open.ts'
import { excludedOf, rowOf } from '../../../db/placeholders.ts'
import { passepartoutPeople as people } from '../schema.ts'

export type PersonRow = typeof people.$inferSelect

/** The tenant and platform of accounts. */
type Accounts = Pick<PersonRow, 'tenantId' | 'platform'>

export const SORT_KEYS = {
  created: { value: people.createdAt, type: 'number' },
  signed_in: { value: people.updatedAt, type: 'number' },
} as const

type Sorted = Order<keyof typeof SORT_KEYS> & Range

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
  const sorted = sortable({ keys: SORT_KEYS, seq: people.id }, (where, orderBy) =>
    orm
      .select()
      .from(people)
      .where(and(ofPlatform, where))
      .orderBy(...orderBy)
      .limit($('limit'))
      .prepare(),
  )
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
    /** In an order, from a position; a range limits the time that sorts. */
    sorted: (of: Accounts, { by, isDescending, ...range }: Sorted): PersonRow[] =>
      sorted({ by, isDescending }, of, range),
    byAccount: (of: Accounts, platformUserId: string): PersonRow | undefined =>
      byAccount.get({ ...of, platformUserId }),
    /** Usernames can be reassigned, so several users may have had the same one when last seen. */
    byUsername: (of: Accounts, username: string, limit: number): PersonRow[] =>
      byUsername.all({ ...of, username, limit }),
  }
}
