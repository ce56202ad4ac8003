import type { Database } from 'bun:sqlite'
import { existsSync, statSync, writeFileSync } from 'node:fs'
import { asStorageError, StorageError } from '../../db/errors.ts'
import { logOf, openForReading } from '../../db/read-only.ts'

/**
 * Looks into a database file and changes nothing: neither the file nor its log, which belongs
 * to whoever runs on it.
 */
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

/** Then nobody else has it open, and all that was written is in the file itself. */
function isAlone(file: string): boolean {
  const log = statSync(logOf(file), { throwIfNoEntry: false })
  return existsSync(file) && (log === undefined || log.size === 0)
}

/**
 * A copy of all that was committed until now, readable by its owner alone. Whoever writes to the
 * database goes on meanwhile; what was deleted from it is not in the copy.
 */
export function copyDatabase(file: string, copy: string) {
  writeFileSync(copy, '', { mode: 0o600, flag: 'wx' })
  reading(file, (client) => {
    try {
      // The copy is thrown away: to bring it to disk would hold up every commit of the server.
      client.run('PRAGMA synchronous = OFF')
      client.query('VACUUM INTO ?').run(copy)
    } catch (error) {
      throw named('the database cannot be copied', error)
    }
  })
}

/** What a query finds in a table, and nothing where the schema has none such yet. */
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
