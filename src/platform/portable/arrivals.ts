import { SQLiteError } from 'bun:sqlite'
import { and, eq, getTableColumns, type SQL, sql } from 'drizzle-orm'
import { getTableConfig, type SQLiteColumn } from 'drizzle-orm/sqlite-core'
import type { Db } from '../../db/open.ts'
import { conflict } from '../errors.ts'
import { keyOf, TENANT, tenantColumn } from './rows.ts'
import { asItIs, isLeftOut, type PortableTable, type Row } from './table.ts'

/** Inserts rows with everything that has to exist with them. All functions run inside a commit. */
export function createArrivals(db: Db, portable: PortableTable) {
  const { table, kind } = portable
  const columns = Object.entries(getTableColumns(table))
  const owner = tenantColumn(table)
  const placeholders = Object.fromEntries(columns.map(([key]) => [key, sql.placeholder(key)]))
  const insert = db.orm
    .insert(table)
    .values(placeholders)
    .onConflictDoNothing()
    .returning({ owner })
    .prepare()
  const others = uniquesOf(portable).map((unique) => createHolder(db, portable, unique))
  const incoming = portable.arriving?.(db)

  /**
   * Inserts a row; false if exactly this row already exists. Throws `conflict` if a different row
   * is in its place.
   */
  function add(row: Row, now: number, tell: (name: string) => void): boolean {
    if (!inserted(row)) {
      requireSame(row)
      return false
    }
    incoming?.requireRoom?.(row)
    incoming?.add?.(row, now, tell)
    return true
  }

  /** Throws `conflict` if a row can't be added. */
  function requireRoom(row: Row) {
    requireSame(row)
    incoming?.requireRoom?.(row)
  }

  function inserted(row: Row): boolean {
    try {
      return insert.get(row) !== undefined
    } catch (error) {
      if (!(error instanceof SQLiteError)) throw error
      if (error.code === 'SQLITE_CONSTRAINT_FOREIGNKEY')
        throw conflict('refers to a row that does not exist', { field: kind, rule: 'unknown' })
      if (error.code?.startsWith('SQLITE_CONSTRAINT'))
        throw conflict('cannot be stored', { field: kind, rule: 'format' })
      throw error
    }
  }

  /** Throws `conflict` if a different row, of any tenant, has a unique value of this one. */
  function requireSame(row: Row) {
    for (const { names, find, isSame } of others) {
      const holder = find(row)
      if (holder && !isSame(row, holder))
        throw conflict(`is already used by another ${kind}`, {
          field: `${kind}.${names}`,
          rule: 'taken',
        })
    }
  }

  return { add, requireRoom }
}

interface Unique {
  columns: SQLiteColumn[]
  /** The condition of a partial unique index. */
  where?: SQL | undefined
}

/** The sets of columns with unique values in a table; the first one identifies a row. */
function uniquesOf({ table, columns: how }: PortableTable): Unique[] {
  const { columns, primaryKeys, indexes } = getTableConfig(table)
  const isMoved = (column: SQLiteColumn) => !isLeftOut(how[keyOf(table, column)] ?? asItIs)
  return [
    ...columns
      .filter((one) => (one.primary || one.isUnique) && isMoved(one))
      .map((one) => ({ columns: [one] })),
    ...primaryKeys.map(({ columns }) => ({ columns })),
    ...indexes
      .filter(({ config }) => config.unique)
      .map(({ config: { columns, where } }) => ({ columns: columns as SQLiteColumn[], where })),
  ]
}

/** Finds the row that has the same values in unique columns. */
function createHolder({ orm }: Db, portable: PortableTable, { columns, where }: Unique) {
  const { table } = portable
  const identity = uniquesOf(portable)[0]?.columns ?? columns
  const keys = columns.map((column) => keyOf(table, column))
  const marks = [tenantColumn(table), ...identity].map((column) => [keyOf(table, column), column])
  const isAlike = columns.map((column, index) => eq(column, sql.placeholder(`v${index}`)))
  const query = orm
    .select(Object.fromEntries(marks))
    .from(table)
    .where(and(where, ...isAlike))
    .limit(1)
    .prepare()

  function find(row: Row): Row | undefined {
    // SQLite treats null as different from every value.
    if (keys.some((key) => row[key] === null)) return undefined
    const values = Object.fromEntries(keys.map((key, index) => [`v${index}`, row[key]]))
    return query.get(values) as Row | undefined
  }

  return {
    names: columns
      .map(({ name }) => name)
      .filter((name) => name !== TENANT)
      .join(', '),
    find,
    isSame: (row: Row, holder: Row): boolean =>
      Object.entries(holder).every(([key, value]) => row[key] === value),
  }
}
