import { and, eq, sql } from 'drizzle-orm'
import type { Db } from '../../../../db/open.ts'
import { rowOf } from '../../../../db/placeholders.ts'
import { gateFlows as flows } from '../../schema.ts'

export type FlowRow = typeof flows.$inferSelect

/** The columns that change after a flow has started. */
const CHANGING = [
  'state',
  'active',
  'address',
  'tries',
  'language',
  'nextFlowId',
  'replacedBy',
  'browserHash',
  'notices',
  'internal',
  'exchangeHash',
  'exchangeSessionId',
  'exchangeExpiresAt',
  'completedAt',
  'updatedAt',
] as const satisfies (keyof FlowRow)[]

export function createFlowStore({ orm }: Db) {
  const $ = sql.placeholder
  const insert = orm.insert(flows).values(rowOf(flows)).prepare()
  const update = orm
    .update(flows)
    .set(Object.fromEntries(CHANGING.map((name) => [name, sql`${$(name)}`])))
    .where(eq(flows.id, $('id')))
    .prepare()
  const find = orm
    .select()
    .from(flows)
    .where(eq(flows.id, $('id')))
    .prepare()
  const removeExpired = orm
    .delete(flows)
    .where(
      sql`id in (select id from gate_flows where expires_at < ${$('before')}
        order by expires_at limit ${$('limit')})`,
    )
    .returning({ id: flows.id })
    .prepare()

  const removeOfAddress = orm
    .delete(flows)
    .where(
      and(
        eq(flows.tenantId, $('tenantId')),
        eq(flows.address, $('address')),
        sql`${flows.address} is not null`,
      ),
    )
    .prepare()

  const removeOfKind = orm
    .delete(flows)
    .where(
      and(
        eq(flows.tenantId, $('tenantId')),
        eq(flows.identityId, $('identityId')),
        eq(flows.kind, $('kind')),
      ),
    )
    .prepare()

  return {
    insert: (row: FlowRow) => void insert.run({ ...row, isRefresh: row.isRefresh ? 1 : 0 }),
    update: (row: FlowRow) => void update.run({ ...row }),
    /** Of any tenant: the row names it, and knowing the id is enough to continue the flow. */
    find: (id: string): FlowRow | undefined => find.get({ id }),
    /** Flows of one kind about an identity, with their codes. */
    removeOfKind: (tenantId: string, identityId: string, kind: FlowRow['kind']) =>
      void removeOfKind.run({ tenantId, identityId, kind }),
    /** Flows in which a code was sent to an address. */
    removeOfAddress: (tenantId: string, address: string) =>
      void removeOfAddress.run({ tenantId, address }),
    /** Deletes expired flows, with their codes and OAuth states. */
    removeExpired: (before: number, limit: number): number =>
      removeExpired.all({ before, limit }).length,
  }
}
