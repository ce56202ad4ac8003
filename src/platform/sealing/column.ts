import type { SQLiteColumn } from 'drizzle-orm/sqlite-core'

/**
 * A column with sealed texts: when the master key is replaced, they are sealed anew. Purpose and
 * place are those by which they are sealed and opened.
 */
export interface SealedColumn<Name extends string = string> {
  readonly column: SQLiteColumn
  /** Of a JSON object, the property that holds the sealed text; else it is all of the column. */
  readonly property?: string
  readonly purpose: string
  /** Columns of the row that its place is made of, by the names that `place` knows them by. */
  readonly named: Readonly<Record<Name, SQLiteColumn>>
  place(row: Readonly<Record<Name, string>>): string
}

/** Holds the names that `place` takes against those that are given. */
export const sealedColumn = <const Name extends string>(column: SealedColumn<Name>) => column
