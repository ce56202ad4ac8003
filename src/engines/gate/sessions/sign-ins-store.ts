import { and, asc, desc, eq, sql } from 'drizzle-orm'
import type { Db } from '../../../db/open.ts'
import { rowOf } from '../../../db/placeholders.ts'
import { createSeqFrom } from '../../../db/seq-from.ts'
import { END, type Window } from '../../../platform/scan.ts'
import { gateSignIns as signIns } from '../schema.ts'

export type SignInRow = typeof signIns.$inferSelect

export function createSignInStore({ orm, client }: Db) {
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
  // Only a few rows of an identity have the other result.
  const [oldest, newest] = [asc, desc].map((direction) =>
    orm
      .select()
      .from(signIns)
      .where(
        and(
          ofIdentity,
          sql`${signIns.seq} between ${$('after')} + 1 and ${$('before')} - 1`,
          sql`${signIns.isSuccess} = coalesce(${$('isSuccess')}, ${signIns.isSuccess})`,
        ),
      )
      .orderBy(direction(signIns.seq))
      .limit($('limit'))
      .prepare(),
  )
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
    /** With either result unless one is given, newest first unless the window is ascending. */
    list: (
      { tenantId, id: identityId }: { tenantId: string; id: string },
      isSuccess: boolean | undefined,
      { before = END, after = 0, limit, isAscending }: Window,
    ): SignInRow[] => {
      const result = isSuccess === undefined ? null : Number(isSuccess)
      const values = { tenantId, identityId, isSuccess: result, before, after, limit }
      return (isAscending ? oldest : newest)?.all(values) ?? []
    },
    /** The number of the first attempt from a time on. */
    seqFrom: createSeqFrom(client, 'gate_sign_ins', 'at'),
    removeBefore: (before: number, limit: number): number =>
      removeBefore.all({ before, limit }).length,
  }
}
