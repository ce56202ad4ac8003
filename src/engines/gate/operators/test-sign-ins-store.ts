import { and, eq, sql } from 'drizzle-orm'
import type { AnyProvider } from '../../../config/index.ts'
import type { Db } from '../../../db/open.ts'
import { excludedOf, rowOf } from '../../../db/placeholders.ts'
import { gateTestSignIns as tests } from '../schema.ts'

export type TestSignInRow = typeof tests.$inferSelect & { provider: AnyProvider }

/** Test sign-ins of admins, one per session and provider. */
export function createTestSignInStore({ orm }: Db) {
  const $ = sql.placeholder
  const ofState = eq(tests.stateHash, $('stateHash'))
  const ofSession = and(eq(tests.sessionId, $('sessionId')), eq(tests.provider, $('provider')))
  const put = orm
    .insert(tests)
    .values(rowOf(tests))
    .onConflictDoUpdate({
      target: [tests.sessionId, tests.provider],
      set: excludedOf(tests, 'sessionId', 'provider'),
    })
    .prepare()
  const byState = orm.select().from(tests).where(ofState).prepare()
  const take = orm.delete(tests).where(ofState).returning().prepare()
  const find = orm.select().from(tests).where(ofSession).prepare()
  const remove = orm.delete(tests).where(ofSession).prepare()
  const removeBefore = orm
    .delete(tests)
    .where(
      sql`rowid in (select rowid from gate_test_sign_ins where at < ${$('before')} order by at limit ${$('limit')})`,
    )
    .returning({ at: tests.at })
    .prepare()

  return {
    put: (row: TestSignInRow) => void put.run({ ...row }),
    byState: (stateHash: string) => byState.get({ stateHash }) as TestSignInRow | undefined,
    /** Each works once: of two concurrent returns, only one succeeds. */
    take: (stateHash: string) => take.get({ stateHash }) as TestSignInRow | undefined,
    find: (sessionId: string, provider: AnyProvider) =>
      find.get({ sessionId, provider }) as TestSignInRow | undefined,
    remove: (sessionId: string, provider: AnyProvider) => void remove.run({ sessionId, provider }),
    removeBefore: (before: number, limit: number): number =>
      removeBefore.all({ before, limit }).length,
  }
}
