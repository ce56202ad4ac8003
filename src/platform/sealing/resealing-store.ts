import type { SQLQueryBindings } from 'bun:sqlite'
import { getTableColumns, getTableName } from 'drizzle-orm'
import type { Db } from '../../db/open.ts'
import type { SealedColumn } from './column.ts'

export interface SealedRow {
  /** The `rowid`. */
  row: number
  sealed: string
  /** The values that its `boundTo` is built from, by name. */
  names: Record<string, string>
  /** Null in tables that don't belong to tenants. */
  tenantId: string | null
}

/** Row numbers identify a row only while it holds the same text; new rows get the highest. */
export function createResealingStore({ client }: Db, { column, property, named }: SealedColumn) {
  const table = quoted(getTableName(column.table))
  const whole = quoted(column.name)
  const path = `'$.${property}'`
  const text = property === undefined ? whole : `json_extract(${whole}, ${path})`
  const changed = property === undefined ? '$text' : `json_set(${whole}, ${path}, $text)`
  const names = Object.entries(named)
  const selected = names.map(([, { name }], index) => `${quoted(name)} AS name${index}`)

  const { tenantId } = getTableColumns(column.table)
  const tenant = tenantId ? quoted(tenantId.name) : 'NULL'

  const slice = client.prepare<
    Record<string, string> & { row: number; sealed: string; tenantId: string | null },
    SQLQueryBindings[]
  >(
    `SELECT rowid AS "row", ${text} AS sealed, ${tenant} AS tenantId,
        ${selected.join(', ')} FROM ${table}
      WHERE rowid > $after AND ${text} IS NOT NULL AND substr(${text}, 1, length($prefix)) <> $prefix
      ORDER BY rowid LIMIT $limit`,
  )
  const replace = client.prepare<unknown, SQLQueryBindings[]>(
    `UPDATE ${table} SET ${whole} = ${changed} WHERE rowid = $row AND ${text} = $before`,
  )

  return {
    /** The rows after row number `after` whose text doesn't begin with `prefix`. */
    slice: (prefix: string, after: number, limit: number): SealedRow[] =>
      slice
        .all({ prefix, after, limit })
        .map(({ row, sealed, tenantId, ...rest }) => ({
          row,
          sealed,
          tenantId,
          names: Object.fromEntries(
            names.map(([name], index) => [name, `${rest[`name${index}`]}`]),
          ),
        })),
    /** Replaces a text; false if it has changed in the meantime. */
    replace: (row: number, before: string, text: string): boolean =>
      replace.run({ row, before, text }).changes === 1,
  }
}

const quoted = (name: string) => `"${name}"`
