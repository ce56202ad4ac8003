import { getTableColumns, type Placeholder, type SQL, sql } from 'drizzle-orm'
import type { SQLiteTable } from 'drizzle-orm/sqlite-core'

type ColumnOf<T extends SQLiteTable> = keyof T['_']['columns'] & string

/** Placeholders by column name, except for `seq`, set by SQLite, and the columns in `without`. */
export const rowOf = <T extends SQLiteTable, K extends ColumnOf<T> = never>(
  table: T,
  ...without: K[]
) =>
  Object.fromEntries(
    Object.keys(getTableColumns(table))
      .filter((name) => name !== 'seq' && !without.includes(name as K))
      .map((name) => [name, sql.placeholder(name)]),
  ) as Record<Exclude<ColumnOf<T>, K | 'seq'>, Placeholder>

/** The assignments of an update: each column gets the value of the placeholder with its name. */
export const changesOf = <K extends string>(...names: K[]) =>
  Object.fromEntries(names.map((name) => [name, sql`${sql.placeholder(name)}`])) as Record<K, SQL>

/** Upsert assignments of the inserted values, except for columns in `without`, such as the key. */
export const excludedOf = <T extends SQLiteTable, K extends ColumnOf<T>>(
  table: T,
  ...without: K[]
) =>
  Object.fromEntries(
    Object.entries(getTableColumns(table))
      .filter(([name]) => !without.includes(name as K))
      .map(([name, column]) => [name, sql.raw(`excluded.${column.name}`)]),
  ) as Record<Exclude<ColumnOf<T>, K>, SQL>
