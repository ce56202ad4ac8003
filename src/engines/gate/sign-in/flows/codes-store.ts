import { and, eq, sql } from 'drizzle-orm'
import type { Db } from '../../../../db/open.ts'
import { rowOf } from '../../../../db/placeholders.ts'
import { gateCodes as codes } from '../../schema.ts'
import type { FlowRow } from './store.ts'

export type CodeRow = typeof codes.$inferSelect

/** Emailed codes. Used and replaced ones are deleted. */
export function createCodeStore({ orm }: Db) {
  const $ = sql.placeholder
  const ofFlow = and(eq(codes.tenantId, $('tenantId')), eq(codes.flowId, $('flowId')))
  const insert = orm.insert(codes).values(rowOf(codes)).prepare()
  const find = orm.select().from(codes).where(ofFlow).prepare()
  const removeOfFlow = orm.delete(codes).where(ofFlow).prepare()
  const removeOfIdentity = orm
    .delete(codes)
    .where(and(eq(codes.tenantId, $('tenantId')), eq(codes.identityId, $('identityId'))))
    .prepare()

  const removeOfKind = orm
    .delete(codes)
    .where(
      and(
        eq(codes.tenantId, $('tenantId')),
        eq(codes.identityId, $('identityId')),
        sql`exists (select 1 from gate_flows where gate_flows.id = ${codes.flowId}
          and gate_flows.kind = ${$('kind')})`,
        sql`(${$('address')} is null or ${codes.address} = ${$('address')})`,
      ),
    )
    .prepare()

  return {
    insert: (row: CodeRow) => void insert.run({ ...row }),
    /** The current code; a flow has at most one. */
    ofFlow: (tenantId: string, flowId: string): CodeRow | undefined =>
      find.get({ tenantId, flowId }),
    removeOfFlow: (tenantId: string, flowId: string) => void removeOfFlow.run({ tenantId, flowId }),
    /** Deletes codes sent in flows of one kind, optionally only those to one address. */
    removeOfKind: (
      tenantId: string,
      identityId: string,
      { kind, address }: { kind: FlowRow['kind']; address?: string },
    ) => void removeOfKind.run({ tenantId, identityId, kind, address: address ?? null }),
    removeOfIdentity: (tenantId: string, identityId: string) =>
      void removeOfIdentity.run({ tenantId, identityId }),
  }
}
