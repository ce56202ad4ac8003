import type { SQL } from 'drizzle-orm'
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core'
import type { Db } from '../../db/open.ts'
import type { FingerprintPurpose } from '../sealing/fingerprint-purposes.ts'
import type { Sealing } from '../sealing/index.ts'

/** What a column can hold. */
export type Value = string | number | boolean | null

/** A row under the names that the schema has for its columns. */
export type Row = Record<string, Value>

/** How a column stands in the file, where that is not as it is. Null stands for itself. */
export interface Field<R = Row> {
  write(value: Value, row: R, sealing: Sealing): unknown
  /** `row` has what stands before. Throws `Mismatch` or `AppError` for what cannot be kept. */
  read(value: unknown, row: R, sealing: Sealing): Value
}

/** A column that is not in the file, and what it holds after the move; null unless given. */
export interface LeftOut<R = Row> {
  leftOut: string
  instead?(row: R, now: number): Value
}

/** For columns that hold nothing but what they say: their type tells how it is written. */
export const asItIs = 'as it is'

export type Column<R = Row> = typeof asItIs | Field<R> | LeftOut<R>

/**
 * A table whose rows move with their tenant. Each column is named, so that the compiler asks about
 * a new one: whether it is secret, or derived, nobody else can tell.
 */
export interface PortableTable<R = Row> {
  /** What a line of it is called. */
  kind: string
  table: SQLiteTable
  /** Read in this order, so that what a sealed column is bound to stands before it. */
  columns: { [K in keyof R]: Column<R> }
  /** In which order its rows stand in the file, and are made anew. */
  order: readonly (keyof R & string)[]
  /** For rows without an index on their tenant: they are found through those that they belong to. */
  through?: { table: SQLiteTable; tenant: SQLiteColumn; order: SQLiteColumn; on: SQL }
  /** Rows that stay behind although they are the tenant's. */
  only?: SQL
  /** Some of those, which the report counts under a name. */
  staying?: { name: string; rows: SQL }
  /** More of them would never have been taken, with the same value in a column if one is named. */
  most?: { rows: number; per?: keyof R & string }
  /** Each row of this other kind has one; that nobody has two is for the database to see. */
  oneEach?: string
  /** Rows that are worth something only where fingerprints of this purpose come out the same. */
  tied?: { purpose: FingerprintPurpose; name: string; holds(row: R): boolean }
  /** What columns alone do not tell. Throws `AppError`, naming the field. */
  check?(row: R): void
  /** What else has to be there once a row is, in the same commit. */
  arriving?(db: Db): Arriving<R>
}

interface Arriving<R> {
  /** Throws `conflict` where others leave no room for the row; asked before anything is written. */
  requireRoom?(row: R): void
  /** `tell` counts something under a name for the report. */
  add?(row: R, now: number, tell: (name: string) => void): void
}

/** Which of its tables a part of the program takes along, and why it leaves the others. */
export interface Portable {
  tables: readonly PortableTable[]
  /** Reasons by the names of tables. */
  leftOut: Readonly<Record<string, string>>
}

/** The reason for columns that number rows. */
export const numbered: LeftOut = { leftOut: 'given anew, in the order of the file' }

export const isLeftOut = <R>(column: Column<R>): column is LeftOut<R> =>
  typeof column === 'object' && 'leftOut' in column
