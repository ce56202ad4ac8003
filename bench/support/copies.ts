import type { Database } from 'bun:sqlite'
import { randomUUIDv7 } from 'bun'

const SLICE = 50_000

export interface Copies {
  table: string
  /** Value of the column `by` in the row that is copied. */
  of: string
  by?: string
  count: number
  /** SQL for columns that differ from copy to copy; `i` counts from 0. `seq` is left out. */
  columns: Record<string, string>
}

/**
 * Fills a table with copies of a row that the program itself has written, with all columns of
 * that row. Unsynced, because the measurement comes afterwards.
 */
export function addCopies(client: Database, { table, of, by = 'id', count, columns }: Copies) {
  const names = columnsOf(client, table)
  const values = names.map((name) => columns[name] ?? `row.${name}`)
  const insert = client.prepare(
    `WITH RECURSIVE n(i) AS (SELECT ?1 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < ?2)
     INSERT INTO ${table} (${names}) SELECT ${values} FROM n, (SELECT * FROM ${table} WHERE ${by} = ?3) row`,
  )
  client.run('PRAGMA synchronous = OFF')
  for (let from = 0; from < count; from += SLICE)
    insert.run(from, Math.min(from + SLICE, count), of)
  client.run('PRAGMA synchronous = FULL')
  client.run('PRAGMA wal_checkpoint(TRUNCATE)')
}

function columnsOf(client: Database, table: string): string[] {
  const columns = client.query<{ name: string }, [string]>('SELECT name FROM pragma_table_info(?)')
  return columns
    .all(table)
    .map(({ name }) => name)
    .filter((name) => name !== 'seq')
}

/** SQL for ids of copies, each called number `index`, that no other row has. */
export function copyIds(): (index?: string) => string {
  const family = randomUUIDv7().slice(0, 24)
  return (index = 'i') => `printf('${family}%012x', ${index})`
}
