import { and, desc, eq, sql } from 'drizzle-orm'
import type { Db } from '../../db/open.ts'
import { rowOf } from '../../db/placeholders.ts'
import { testRequests } from './schema.ts'

export type TestRequestRow = typeof testRequests.$inferSelect

/** All SQL on the requests of test receivers. */
export function createTestRequestStore({ orm }: Db) {
  const $ = sql.placeholder
  const ofReceiver = and(
    eq(testRequests.tenantId, $('tenantId')),
    eq(testRequests.receiver, $('receiver')),
  )
  const insert = orm.insert(testRequests).values(rowOf(testRequests)).prepare()
  const newest = orm
    .select()
    .from(testRequests)
    .where(ofReceiver)
    .orderBy(desc(testRequests.seq))
    .limit($('limit'))
    .prepare()
  const trim = orm
    .delete(testRequests)
    .where(
      and(
        ofReceiver,
        sql`${testRequests.seq} not in (select seq from test_requests
          where tenant_id = ${$('tenantId')} and receiver = ${$('receiver')}
          order by seq desc limit ${$('keep')})`,
      ),
    )
    .prepare()
  const removeBefore = orm
    .delete(testRequests)
    .where(
      sql`seq in (select seq from test_requests where created_at < ${$('before')}
        order by created_at limit ${$('limit')})`,
    )
    .returning({ seq: testRequests.seq })
    .prepare()

  return {
    insert: (row: Omit<TestRequestRow, 'seq'>) => void insert.run(row),
    /** Newest first. */
    newest: (tenantId: string, receiver: string, limit: number): TestRequestRow[] =>
      newest.all({ tenantId, receiver, limit }),
    /** Removes all but the newest. */
    trim: (tenantId: string, receiver: string, keep: number) =>
      void trim.run({ tenantId, receiver, keep }),
    removeBefore: (before: number, limit: number): number =>
      removeBefore.all({ before, limit }).length,
  }
}
