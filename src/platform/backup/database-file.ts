import type { Database } from 'bun:sqlite'
import { existsSync, statSync, writeFileSync } from 'node:fs'
import { asStorageError, StorageError } from '../../db/errors.ts'
import { logOf, openForReading } from '../../db/read-only.ts'

/** Reads a database file without changing it or the write-ahead log of the running server. */
export function reading<T>(file: string, work: (client: Database) => T): T {
  let client: Database | undefined
  try {
    client = openForReading(file, { doesFileAlone: () => isAlone(file) }).client
    return work(client)
  } catch (error) {
    throw named(file, error)
  } finally {
    client?.close()
  }
}

/** Whether the file contains all committed data because its write-ahead log is missing or empty. */
function isAlone(file: string): boolean {
  const log = statSync(logOf(file), { throwIfNoEntry: false })
  return existsSync(file) && (log === undefined || log.size === 0)
}

/**
 * Copies everything committed so far to a new file that only its owner can read. Other processes
 * can write to the database at the same time. The copy contains no deleted data.
 */
export function copyDatabase(file: string, copy: string) {
  writeFileSync(copy, '', { mode: 0o600, flag: 'wx' })
  reading(file, (client) => {
    try {
      // The copy is temporary, and syncing it to disk would delay every commit of the server.
      client.run('PRAGMA synchronous = OFF')
      client.query('VACUUM INTO ?').run(copy)
    } catch (error) {
      throw named('the database cannot be copied', error)
    }
  })
}

/** The rows that a query finds in a table; empty if the schema doesn't have the table yet. */
export function rowsOf<Row>(
  client: Database,
  table: string,
  sql: string,
  ...values: (number | string)[]
): Row[] {
  const isMade = client
    .query("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?")
    .get(table)
  return isMade ? client.query<Row, (number | string)[]>(sql).all(...values) : []
}

function named(what: string, error: unknown): unknown {
  const known = asStorageError(error)
  if (known === error || !(known instanceof StorageError)) return error
  return new StorageError(`${what}: ${known.message}`, { cause: error })
}
