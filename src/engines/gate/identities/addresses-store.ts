import { and, eq, sql } from 'drizzle-orm'
import type { Db } from '../../../db/open.ts'
import { excludedOf, rowOf } from '../../../db/placeholders.ts'
import { gateAddresses as addresses } from '../schema.ts'

export type AddressRow = typeof addresses.$inferSelect

/** The single address of each identity. */
export function createAddressStore({ orm }: Db) {
  const $ = sql.placeholder
  const put = orm
    .insert(addresses)
    .values(rowOf(addresses))
    .onConflictDoUpdate({
      target: addresses.identityId,
      set: excludedOf(addresses, 'tenantId', 'identityId'),
    })
    .prepare()
  const find = orm
    .select()
    .from(addresses)
    .where(and(eq(addresses.tenantId, $('tenantId')), eq(addresses.identityId, $('identityId'))))
    .prepare()

  return {
    /** Replaces the previous address, if any. */
    put: (row: AddressRow) => void put.run({ ...row }),
    of: (tenantId: string, identityId: string): AddressRow | undefined =>
      find.get({ tenantId, identityId }),
  }
}
