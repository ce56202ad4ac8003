import type { SQL } from 'drizzle-orm'
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core'
import type { Db } from '../../db/open.ts'
import type { FingerprintPurpose } from '../sealing/fingerprint-purposes.ts'
import type { Sealing } from '../sealing/index.ts'

/** A value in a column. */
export type Value = string | number | boolean | null

/** A row with the property names of the schema. */
export type Row = Record<string, Value>

/** Converts values that aren't written to the file unchanged; never called with null. */
export interface Field<R = Row> {
  write(value: Value, row: R, sealing: Sealing): unknown
  /** `row` has the columns read before. Throws `Mismatch` or `AppError` for an invalid value. */
  read(value: unknown, row: R, sealing: Sealing): Value
}

/** A column that isn't exported, with the reason, and its value after the import (or null). */
export interface LeftOut<R = Row> {
  leftOut: string
  instead?(row: R, now: number): Value
}

/** Marks a column without special handling, which is converted by its type. */
export const asItIs = 'as it is'

export type Column<R = Row> = typeof asItIs | Field<R> | LeftOut<R>

/** Lists all columns, so that the author of a new one decides whether it is secret or derived. */
export interface PortableTable<R = Row> {
  /** The kind of its lines in the file. */
  kind: string
  table: SQLiteTable
  /** Read in this order, so that columns to which a sealed one is bound come before it. */
  columns: { [K in keyof R]: Column<R> }
  /** The order of its rows in the file and of their import. */
  order: readonly (keyof R & string)[]
  /** Finds rows of a table without an index on the tenant, through the rows they belong to. */
  through?: { table: SQLiteTable; tenant: SQLiteColumn; order: SQLiteColumn; on: SQL }
  /** The condition for rows to be exported; the tenant's other rows stay behind. */
  only?: SQL
  /** Rows that stay behind and are counted in the report, under a name. */
  staying?: { name: string; rows: SQL }
  /** The maximum number of rows, per value of a column if named; there can't normally be more. */
  most?: { rows: number; per?: keyof R & string }
  /** The kind whose rows each have exactly one row here; the database prevents a second. */
  oneEach?: string
  /** Rows that work only if the importing installation has the same fingerprint for `purpose`. */
  tied?: { purpose: FingerprintPurpose; name: string; holds(row: R): boolean }
  /** Checks that involve several columns. Throws `AppError`, with the field. */
  check?(row: R): void
  /** Stores what else has to exist with a row, in the same commit. */
  arriving?(db: Db): Arriving<R>
}

interface Arriving<R> {
  /** Called before writing. Throws `conflict` if existing data leaves no room for the row. */
  requireRoom?(row: R): void
  /** Runs after the row was inserted. `tell` increases a count in the report. */
  add?(row: R, now: number, tell: (name: string) => void): void
}

/** The tables that a part of the program exports, and its reasons for leaving out the others. */
export interface Portable {
  tables: readonly PortableTable[]
  /** The reasons, by table name. */
  leftOut: Readonly<Record<string, string>>
}

/** Columns that number rows. */
export const numbered: LeftOut = { leftOut: 'assigned again, in the order of the file' }

export const isLeftOut = <R>(column: Column<R>): column is LeftOut<R> =>
  typeof column === 'object' && 'leftOut' in column
