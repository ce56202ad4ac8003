import { and, eq, getTableColumns, sql } from 'drizzle-orm'
import { compile, named } from '../../../db/compile.ts'
import type { Db } from '../../../db/open.ts'
import { excludedOf, rowOf } from '../../../db/placeholders.ts'
import { gateAddresses as addresses } from '../schema.ts'

export type AddressRow = typeof addresses.$inferSelect

/** The single address of each identity. */
export function createAddressStore({ orm, client }: Db) {
  const $ = sql.placeholder
  const put = orm
    .insert(addresses)
    .values(rowOf(addresses))
    .onConflictDoUpdate({
      target: addresses.identityId,
      set: excludedOf(addresses, 'tenantId', 'identityId'),
    })
    .prepare()
  const find = compile<AddressRow>(
    client,
    orm
      .select(named(getTableColumns(addresses)))
      .from(addresses)
      .where(and(eq(addresses.tenantId, $('tenantId')), eq(addresses.identityId, $('identityId')))),
  )

  return {
    /** Replaces the previous address, if any. */
    put: (row: AddressRow) => void put.run({ ...row }),
    of: (tenantId: string, identityId: string): AddressRow | undefined =>
      find.get({ tenantId, identityId }),
  }
}
