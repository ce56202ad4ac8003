import { and, desc, eq, sql } from 'drizzle-orm'
import type { Db } from '../../../db/open.ts'
import { rowOf } from '../../../db/placeholders.ts'
import { gateSignIns as signIns } from '../schema.ts'

export type SignInRow = typeof signIns.$inferSelect

export function createSignInStore({ orm }: Db) {
  const $ = sql.placeholder
  const ofIdentity = and(
    eq(signIns.tenantId, $('tenantId')),
    eq(signIns.identityId, $('identityId')),
  )
  const insert = orm.insert(signIns).values(rowOf(signIns)).prepare()
  const trim = orm
    .delete(signIns)
    .where(
      sql`seq in (select seq from gate_sign_ins where tenant_id = ${$('tenantId')}
        and identity_id = ${$('identityId')} and is_success = ${$('isSuccess')}
        order by seq desc limit -1 offset ${$('kept')})`,
    )
    .prepare()
  const list = orm
    .select()
    .from(signIns)
    .where(and(ofIdentity, sql`${signIns.seq} < ${$('before')}`))
    .orderBy(desc(signIns.seq))
    .limit($('limit'))
    .prepare()
  const removeBefore = orm
    .delete(signIns)
    .where(
      sql`seq in (select seq from gate_sign_ins where at < ${$('before')} order by at limit ${$('limit')})`,
    )
    .returning({ seq: signIns.seq })
    .prepare()

  return {
    insert: (row: Omit<SignInRow, 'seq'>) => void insert.run({ ...row }),
    /** Deletes all but the newest attempts of an identity with the same result. */
    trim: (
      tenantId: string,
      identityId: string,
      { isSuccess, kept }: { isSuccess: boolean; kept: number },
    ) => void trim.run({ tenantId, identityId, isSuccess: isSuccess ? 1 : 0, kept }),
    /** Newest first. */
    list: (
      tenantId: string,
      identityId: string,
      { before, limit }: { before: number; limit: number },
    ): SignInRow[] => list.all({ tenantId, identityId, before, limit }),
    removeBefore: (before: number, limit: number): number =>
      removeBefore.all({ before, limit }).length,
  }
}
