import { and, count, desc, eq, ne, sql } from 'drizzle-orm'
import type { Db } from '../../../db/open.ts'
import { gateIdentities } from '../../../engines/gate/schema.ts'
import type { Grantee } from '../grantee.ts'
import { consoleAdmins } from '../schema.ts'

/** An operator of the console. */
type OperatorAccountRow = Pick<
  typeof gateIdentities.$inferSelect,
  'id' | 'email' | 'traits' | 'state' | 'createdAt' | 'lastSignInAt'
>

interface AdminScan {
  search?: string | undefined
  after?: string | undefined
  limit: number
}

/** Sorts after every character of an address. */
const LAST = '\u{10ffff}'
/** Sorts after every ID. IDs start with their creation time. */
const NEWEST = '~'

/** Admins of the installation. */
export function createAdminStore({ orm }: Db) {
  const $ = sql.placeholder
  const anyAdmin = orm
    .select({ id: consoleAdmins.operatorId })
    .from(consoleAdmins)
    .limit(1)
    .prepare()
  const admin = orm
    .select({ id: consoleAdmins.operatorId })
    .from(consoleAdmins)
    .where(eq(consoleAdmins.operatorId, $('operatorId')))
    .prepare()
  const admins = orm
    .select({
      id: gateIdentities.id,
      email: gateIdentities.email,
      traits: gateIdentities.traits,
      state: gateIdentities.state,
      createdAt: gateIdentities.createdAt,
      lastSignInAt: gateIdentities.lastSignInAt,
    })
    .from(consoleAdmins)
    .innerJoin(gateIdentities, eq(gateIdentities.id, consoleAdmins.operatorId))
    .where(
      and(
        sql`${consoleAdmins.operatorId} < ${$('before')}`,
        sql`${gateIdentities.email} >= ${$('from')}`,
        sql`${gateIdentities.email} < ${$('to')}`,
      ),
    )
    .orderBy(desc(consoleAdmins.operatorId))
    .limit($('limit'))
    .prepare()
  const someAdmins = orm
    .select({ id: consoleAdmins.operatorId })
    .from(consoleAdmins)
    .limit($('most'))
    .as('some')
  const adminsCounted = orm.select({ count: count() }).from(someAdmins).prepare()
  // A subquery instead of a join, which might scan all identities for a few admins.
  const otherAdmin = orm
    .select({ id: consoleAdmins.operatorId })
    .from(consoleAdmins)
    .where(
      and(
        ne(consoleAdmins.operatorId, $('operatorId')),
        sql`(select ${gateIdentities.state} from ${gateIdentities}
          where ${gateIdentities.id} = ${consoleAdmins.operatorId}) = 'active'`,
      ),
    )
    .limit(1)
    .prepare()

  return {
    hasAdmin: (): boolean => anyAdmin.get() !== undefined,
    isAdmin: (operatorId: string): boolean => admin.get({ operatorId }) !== undefined,
    addAdmin: (operatorId: Grantee, createdAt: number) =>
      void orm.insert(consoleAdmins).values({ operatorId, createdAt }).onConflictDoNothing().run(),
    removeAdmin: (operatorId: string) =>
      void orm.delete(consoleAdmins).where(eq(consoleAdmins.operatorId, operatorId)).run(),
    /** Newest first, after the ID `after`, with addresses that start with `search`. */
    admins: ({ search = '', after = NEWEST, limit }: AdminScan): OperatorAccountRow[] =>
      admins.all({ before: after, from: search, to: search + LAST, limit }),
    /** Counts up to `most`. */
    countAdmins: (most: number): number => adminsCounted.get({ most })?.count ?? 0,
    /** Whether there is another admin who can sign in. */
    hasOtherAdmin: (operatorId: string): boolean => otherAdmin.get({ operatorId }) !== undefined,
  }
}
