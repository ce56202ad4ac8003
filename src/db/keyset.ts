import { asc, desc, type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core'

/** A value of the last row that was read. */
export type Key = string | number

/**
 * Reads a list in the order of two columns, such as a time and the row number, after the placeholders
 * `value` and `seq`. An index needs to have both, after the columns of the other conditions: then a
 * page costs the same wherever it begins.
 */
export function keyset(value: SQLiteColumn, seq: SQLiteColumn, isDescending: boolean) {
  const after = sql`(${sql.placeholder('value')}, ${sql.placeholder('seq')})`
  const row: SQLWrapper = sql`(${value}, ${seq})`
  const direction = isDescending ? desc : asc
  return {
    where: isDescending ? sql`${row} < ${after}` : sql`${row} > ${after}`,
    orderBy: [direction(value), direction(seq)] as SQL[],
  }
}

/** Values before all rows, for the first page. */
export const startOf = (isText: boolean, isDescending: boolean): { value: Key; seq: number } => ({
  value: isText ? (isDescending ? '\u{10ffff}' : '') : isDescending ? Number.MAX_SAFE_INTEGER : -1,
  seq: isDescending ? Number.MAX_SAFE_INTEGER : -1,
})
