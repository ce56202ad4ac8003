import { getTableColumns, sql } from 'drizzle-orm'
import type { SQLiteInsertValue, SQLiteTable } from 'drizzle-orm/sqlite-core'

/** The values of an inserted row: a placeholder per column, except for `seq`, set by SQLite. */
export const rowValues = <T extends SQLiteTable>(table: T) =>
  Object.fromEntries(
    Object.keys(getTableColumns(table))
      .filter((name) => name !== 'seq')
      .map((name) => [name, sql.placeholder(name)]),
  ) as SQLiteInsertValue<T>
