import type { Db } from '../../db/open.ts'
import { TENANT } from './rows.ts'

/** A table by its name, and the column that says whose its rows are. */
export interface Owned {
  name: string
  column: string
}

/**
 * Rows of a tenant in tables by their names: of those that are not taken along, the lists have no
 * more than that.
 */
export function createRemainsStore({ client }: Db) {
  const parents = client.prepare<{ table: string; from: string }, [string]>(
    'SELECT "table", "from" FROM pragma_foreign_key_list(?)',
  )

  return {
    /** Whether rows of a table say whose they are, and go with their tenant. */
    isOfTenants: (name: string): boolean =>
      parents.all(name).some(({ table, from }) => table === 'tenants' && from === TENANT),
    count({ name, column }: Owned, tenantId: string): number {
      const text = `SELECT count(*) AS count FROM "${name}" WHERE "${column}" = ?`
      return client.prepare<{ count: number }, [string]>(text).get(tenantId)?.count ?? 0
    },
    /** Deletes up to `limit` rows at each call and says how many; what belongs to them goes along. */
    remover({ name, column }: Owned) {
      const statement = client.prepare<unknown, [string, number]>(
        `DELETE FROM "${name}" WHERE rowid IN
          (SELECT rowid FROM "${name}" WHERE "${column}" = ? LIMIT ?) RETURNING 1`,
      )
      return (tenantId: string, limit: number): number => statement.all(tenantId, limit).length
    },
  }
}
