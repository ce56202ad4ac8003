import { and, asc, eq, isNull, sql } from 'drizzle-orm'
import type { Db } from '../../../db/open.ts'
import { gateErasures as erasures } from '../schema.ts'

type ErasureRow = typeof erasures.$inferSelect

export function createErasureStore({ orm }: Db) {
  const $ = sql.placeholder
  const mine = and(eq(erasures.tenantId, $('tenantId')), eq(erasures.identityId, $('identityId')))

  const insert = orm
    .insert(erasures)
    .values({ identityId: $('identityId'), tenantId: $('tenantId'), requestedAt: $('requestedAt') })
    .onConflictDoUpdate({
      target: erasures.identityId,
      set: {
        tenantId: sql`excluded.tenant_id`,
        requestedAt: sql`excluded.requested_at`,
        completedAt: null,
      },
    })
    .prepare()
  const open = orm
    .select()
    .from(erasures)
    .where(isNull(erasures.completedAt))
    .orderBy(asc(erasures.identityId))
    .limit($('limit'))
    .prepare()
  const complete = orm
    .update(erasures)
    .set({ completedAt: sql`${$('now')}` })
    .where(mine)
    .prepare()
  const find = orm
    .select({ tenantId: erasures.tenantId })
    .from(erasures)
    .where(eq(erasures.identityId, $('identityId')))
    .prepare()
  const removeBefore = orm
    .delete(erasures)
    .where(
      sql`identity_id in (select identity_id from gate_erasures where requested_at < ${$('before')}
        and completed_at is not null order by requested_at limit ${$('limit')})`,
    )
    .returning({ identityId: erasures.identityId })
    .prepare()

  const ownerOf = (identityId: string): string | undefined => find.get({ identityId })?.tenantId

  return {
    /** Ignores an existing id: ids are unique, and an imported one must not prevent a deletion. */
    insert: (row: Omit<ErasureRow, 'completedAt'>) => void insert.run({ ...row }),
    /** For all tenants. */
    open: (limit: number): ErasureRow[] => open.all({ limit }),
    complete: (tenantId: string, identityId: string, now: number) =>
      void complete.run({ tenantId, identityId, now }),
    /** Whether an identity with this id was deleted, in any tenant. */
    has: (identityId: string): boolean => ownerOf(identityId) !== undefined,
    /** The tenant of a deleted identity. */
    ownerOf,
    removeBefore: (before: number, limit: number): number =>
      removeBefore.all({ before, limit }).length,
  }
}
