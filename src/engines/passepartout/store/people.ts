import { and, eq, sql } from 'drizzle-orm'
import type { Db } from '../../../db/open.ts'
import { passepartoutPeople as people } from '../schema.ts'

export type PersonRow = typeof people.$inferSelect

export function createPersonStore({ orm }: Db) {
  const $ = sql.placeholder
  const put = orm
    .insert(people)
    .values({
      id: $('id'),
      tenantId: $('tenantId'),
      platform: $('platform'),
      platformUserId: $('platformUserId'),
      username: $('username'),
      firstName: $('firstName'),
      lastName: $('lastName'),
      languageCode: $('languageCode'),
      createdAt: $('createdAt'),
      updatedAt: $('updatedAt'),
    })
    .onConflictDoUpdate({
      target: [people.tenantId, people.platform, people.platformUserId],
      set: {
        username: sql`excluded.username`,
        firstName: sql`excluded.first_name`,
        lastName: sql`excluded.last_name`,
        languageCode: sql`excluded.language_code`,
        updatedAt: sql`excluded.updated_at`,
      },
    })
    .returning()
    .prepare()
  const find = orm
    .select()
    .from(people)
    .where(and(eq(people.tenantId, $('tenantId')), eq(people.id, $('id'))))
    .prepare()

  const remove = orm
    .delete(people)
    .where(and(eq(people.tenantId, $('tenantId')), eq(people.id, $('id'))))
    .prepare()

  return {
    /** The row of an account: a new one under `id`, or the one that it has, up to date. */
    put: (row: PersonRow): PersonRow => put.get(row) as PersonRow,
    remove: (tenantId: string, id: string) => void remove.run({ tenantId, id }),
    find: (tenantId: string, id: string): PersonRow | undefined => find.get({ tenantId, id }),
  }
}
