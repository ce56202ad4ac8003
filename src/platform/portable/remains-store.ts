import { getTableName } from 'drizzle-orm'
import type { Db } from '../../db/open.ts'
import { late } from '../../db/statements.ts'
import { TENANT, tenantColumn } from './rows.ts'
import type { Portable, PortableTable } from './table.ts'

/** A table by its name, and the column with the id of the tenant. */
export interface Owned {
  name: string
  column: string
}

export const ownedOf = ({ table }: PortableTable): Owned => ({
  name: getTableName(table),
  column: tenantColumn(table).name,
})

/** SQL by table name, because nothing else is known here of tables that exports leave out. */
export function createRemainsStore({ client }: Db) {
  const parents = client.prepare<{ table: string; from: string }, [string]>(
    'SELECT "table", "from" FROM pragma_foreign_key_list(?)',
  )

  /** Whether a table refers to tenants, so that its rows belong to one. */
  const isOfTenants = (name: string): boolean =>
    parents.all(name).some(({ table, from }) => table === 'tenants' && from === TENANT)

  return {
    /**
     * The table of tenants, and all others with rows of a tenant, in the order in which to empty them: the
     * reverse of that of an import, so keys and jobs first. Rows found through others go with those.
     */
    tablesOf(portable: readonly Portable[]): { itself: Owned; others: Owned[] } {
      const [tenant, ...tables] = portable.flatMap(({ tables }) => tables)
      if (!tenant) throw new Error('a list without tenants')
      // Rows that refer to others first, so that fewer rows go with each.
      const leftOut = portable
        .flatMap(({ leftOut }) => Object.keys(leftOut))
        .filter(isOfTenants)
        .toSorted((one, other) => parents.all(other).length - parents.all(one).length)
      const others = [
        ...tables.toReversed().flatMap((one) => (one.through ? [] : [ownedOf(one)])),
        ...leftOut.map((name) => ({ name, column: TENANT })),
      ]
      return { itself: ownedOf(tenant), others }
    },
    count({ name, column }: Owned, tenantId: string): number {
      const text = `SELECT count(*) AS count FROM "${name}" WHERE "${column}" = ?`
      return client.prepare<{ count: number }, [string]>(text).get(tenantId)?.count ?? 0
    },
    /** Returns a function that deletes up to `limit` rows with all that refer to them. */
    remover({ name, column }: Owned) {
      const statement = late(() =>
        client.prepare<unknown, [string, number]>(
          `DELETE FROM "${name}" WHERE rowid IN
            (SELECT rowid FROM "${name}" WHERE "${column}" = ? LIMIT ?) RETURNING 1`,
        ),
      )
      return (tenantId: string, limit: number): number => statement().all(tenantId, limit).length
    },
  }
}
