import { getTableColumns, type SQL, sql } from 'drizzle-orm'
import type { SQLiteInsertValue, SQLiteTable, SQLiteUpdateSetSource } from 'drizzle-orm/sqlite-core'

/** The values of an inserted row: a placeholder per column, except for `seq`, set by SQLite. */
export const rowValues = <T extends SQLiteTable>(table: T) =>
  Object.fromEntries(
    Object.keys(getTableColumns(table))
      .filter((name) => name !== 'seq')
      .map((name) => [name, sql.placeholder(name)]),
  ) as SQLiteInsertValue<T>

/** The new values of a row that exists already, for the columns that an upsert replaces. */
export const replacedValues = <T extends SQLiteTable>(
  table: T,
  ...kept: (keyof T['_']['columns'])[]
) =>
  Object.fromEntries(
    Object.entries(getTableColumns(table))
      .filter(([name]) => !kept.includes(name))
      .map(([name, column]) => [name, sql.raw(`excluded.${column.name}`)]),
  ) as Record<string, SQL> as SQLiteUpdateSetSource<T>
