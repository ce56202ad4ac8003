import { constants, Database } from 'bun:sqlite'
import { existsSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { BUSY_TIMEOUT_MS } from './commit.ts'

/** A database that is open for reading alone. */
export interface Look {
  client: Database
  /** There is a log, and what is only in that is not seen. */
  isWithoutLog: boolean
}

interface LookOptions {
  /** How long a read waits for a lock. */
  waitMs?: number
  /** Whether the file does by itself once it could not be opened with its log; it never does else. */
  doesFileAlone?: (error: unknown) => boolean
}

/**
 * Opens a database and changes nothing: neither the file nor what is in its log, which belongs to
 * whoever runs on it. On a disk that is full or read-only SQLite cannot make the files by which
 * processes share one, and the file by itself is all that can be read.
 */
export function openForReading(
  file: string,
  { waitMs = BUSY_TIMEOUT_MS, doesFileAlone = () => false }: LookOptions = {},
): Look {
  try {
    const client = new Database(file, { readonly: true, strict: true })
    return { client: opened(client, waitMs), isWithoutLog: false }
  } catch (error) {
    if (!doesFileAlone(error)) throw error
    return { client: openUnchanging(file), isWithoutLog: existsSync(logOf(file)) }
  }
}

/** SQLite is told that the file does not change: it looks for no log, and makes none. */
export function openUnchanging(file: string): Database {
  const { SQLITE_OPEN_READONLY, SQLITE_OPEN_URI } = constants
  const url = `${pathToFileURL(file).href}?immutable=1`
  return opened(new Database(url, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI), 0)
}

/** What was written and is not in the database file itself yet. */
export const logOf = (file: string): string => `${file}-wal`

/** By which processes share the log; made anew from it where there is none. */
export const indexOf = (file: string): string => `${file}-shm`

/** Reads something: SQLite opens the file only then. */
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
