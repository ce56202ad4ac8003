import { and, eq, sql } from 'drizzle-orm'
import type { Db } from '../../../db/open.ts'
import { gateCodes as codes, gateFlows as flows } from '../schema.ts'

type FlowRow = typeof flows.$inferSelect
type CodeRow = typeof codes.$inferSelect

export function createFlowStore({ orm }: Db) {
  const $ = sql.placeholder
  const insertFlow = orm
    .insert(flows)
    .values({
      id: $('id'),
      tenantId: $('tenantId'),
      identityId: $('identityId'),
      kind: $('kind'),
      state: $('state'),
      issuedAt: $('issuedAt'),
      expiresAt: $('expiresAt'),
    })
    .prepare()
  const insertCode = orm
    .insert(codes)
    .values({
      id: $('id'),
      tenantId: $('tenantId'),
      identityId: $('identityId'),
      flowId: $('flowId'),
      address: $('address'),
      hash: $('hash'),
      issuedAt: $('issuedAt'),
      expiresAt: $('expiresAt'),
    })
    .prepare()
  const removeCodes = orm
    .delete(codes)
    .where(and(eq(codes.tenantId, $('tenantId')), eq(codes.identityId, $('identityId'))))
    .prepare()
  const removeExpired = orm
    .delete(flows)
    .where(
      sql`id in (select id from gate_flows where expires_at < ${$('before')}
        order by expires_at limit ${$('limit')})`,
    )
    .returning({ id: flows.id })
    .prepare()

  return {
    insert: (row: FlowRow) => void insertFlow.run({ ...row }),
    insertCode: (row: Omit<CodeRow, 'usedAt'>) => void insertCode.run({ ...row }),
    /** What went out before is good for nothing any more. */
    removeCodesOf: (tenantId: string, identityId: string) =>
      void removeCodes.run({ tenantId, identityId }),
    /** With their codes. */
    removeExpired: (before: number, limit: number): number =>
      removeExpired.all({ before, limit }).length,
  }
}
