import type { Db } from '../../db/open.ts'
import { TENANT } from './rows.ts'

/** A table by its name, and the column with the id of the tenant. */
export interface Owned {
  name: string
  column: string
}

/** SQL by table name, because nothing else is known here of tables that exports leave out. */
export function createRemainsStore({ client }: Db) {
  const parents = client.prepare<{ table: string; from: string }, [string]>(
    'SELECT "table", "from" FROM pragma_foreign_key_list(?)',
  )

  return {
    /** Whether a table refers to tenants, so that its rows belong to one. */
    isOfTenants: (name: string): boolean =>
      parents.all(name).some(({ table, from }) => table === 'tenants' && from === TENANT),
    count({ name, column }: Owned, tenantId: string): number {
      const text = `SELECT count(*) AS count FROM "${name}" WHERE "${column}" = ?`
      return client.prepare<{ count: number }, [string]>(text).get(tenantId)?.count ?? 0
    },
    /** Returns a function that deletes up to `limit` rows with all that refer to them. */
    remover({ name, column }: Owned) {
      const statement = client.prepare<unknown, [string, number]>(
        `DELETE FROM "${name}" WHERE rowid IN
          (SELECT rowid FROM "${name}" WHERE "${column}" = ? LIMIT ?) RETURNING 1`,
      )
      return (tenantId: string, limit: number): number => statement.all(tenantId, limit).length
    },
  }
}
