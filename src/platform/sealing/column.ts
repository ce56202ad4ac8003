import type { SQLiteColumn } from 'drizzle-orm/sqlite-core'

/** Sealed again when the master key is rotated, with the `purpose` and `boundTo` of `seal`. */
export interface SealedColumn<Name extends string = string> {
  readonly column: SQLiteColumn
  /** The sealed property if the column is a JSON object; otherwise the whole column is sealed. */
  readonly property?: string
  readonly purpose: string
  /** The columns that `boundTo` is built from, by the names that it uses. */
  readonly named: Readonly<Record<Name, SQLiteColumn>>
  boundTo(row: Readonly<Record<Name, string>>): string
}

/** Checks at compile time that the names match those that `boundTo` uses. */
export const sealedColumn = <const Name extends string>(column: SealedColumn<Name>) => column
