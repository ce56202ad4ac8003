import { constants, Database } from 'bun:sqlite'
import { existsSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { BUSY_TIMEOUT_MS } from './commit.ts'

/** A database opened for reading only. */
export interface ReadOnlyDatabase {
  client: Database
  /** True if a log exists but was not read, so its data is missing. */
  isWithoutLog: boolean
}

interface ReadOnlyOptions {
  /** How long a read waits for a lock, in milliseconds. */
  waitMs?: number
  /** Whether to read the database file alone if its log failed with this error. Default: never. */
  doesFileAlone?: (error: unknown) => boolean
}

/**
 * Opens a database without changing its file or log, which belong to the server. On a full or
 * read-only disk, SQLite can't create the log's index, and only the database file can be read.
 */
export function openForReading(
  file: string,
  { waitMs = BUSY_TIMEOUT_MS, doesFileAlone = () => false }: ReadOnlyOptions = {},
): ReadOnlyDatabase {
  try {
    const client = new Database(file, { readonly: true, strict: true })
    return { client: opened(client, waitMs), isWithoutLog: false }
  } catch (error) {
    if (!doesFileAlone(error)) throw error
    return { client: openUnchanging(file), isWithoutLog: existsSync(logOf(file)) }
  }
}

/** Opens a file that SQLite may assume never changes: no log is looked for or created. */
export function openUnchanging(file: string): Database {
  const { SQLITE_OPEN_READONLY, SQLITE_OPEN_URI } = constants
  const url = `${pathToFileURL(file).href}?immutable=1`
  return opened(new Database(url, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI), 0)
}

/** The write-ahead log: data not yet in the database file. */
export const logOf = (file: string): string => `${file}-wal`

/** The index through which processes share the log. SQLite rebuilds it if it is missing. */
export const indexOf = (file: string): string => `${file}-shm`

/** Reads something, because SQLite opens the file only on the first read. */
function opened(client: Database, waitMs: number): Database {
  try {
    client.run(`PRAGMA busy_timeout = ${waitMs}`)
    client.query('SELECT 1 FROM sqlite_schema LIMIT 1').get()
    return client
  } catch (error) {
    client.close()
    throw error
  }
}
