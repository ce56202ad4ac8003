import { constants, Database } from 'bun:sqlite'
import { existsSync, statSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { drizzle } from 'drizzle-orm/bun-sqlite'
import { createCommit } from '../../db/commit.ts'
import { asStorageError, isBusy, messageOf, StorageError } from '../../db/errors.ts'
import { type Db, databaseFile } from '../../db/open.ts'

/** A look must not wait long for a lock: whoever holds one has work to do. */
const BUSY_MS = 2000

/** A database that is looked at, and whether its log was, too. */
export interface Looked {
  db: Db
  isWithoutLog: boolean
}

/**
 * What `read` finds in the database of a data directory. It is asked again if somebody has begun to
 * write while it read a file of which SQLite was told that it does not change: what it found then
 * may never have been so.
 */
export async function readDatabase<T>(
  dataDir: string,
  read: (looked: Looked) => Promise<T>,
): Promise<T> {
  const file = databaseFile(dataDir)
  const before = stillness(file)
  const [first] = await Promise.allSettled([readOnce(dataDir, read)])
  if (before !== undefined && stillness(file) !== before) return readOnce(dataDir, read)
  if (first.status === 'rejected') throw first.reason
  return first.value
}

async function readOnce<T>(dataDir: string, read: (looked: Looked) => Promise<T>): Promise<T> {
  const looked = lookAtDatabase(dataDir)
  try {
    return await read(looked)
  } finally {
    looked.db.close()
  }
}

/** When the file was last written, while nobody has it open. */
const stillness = (file: string): number | undefined =>
  existsSync(`${file}-wal`) ? undefined : statSync(file).mtimeMs

/**
 * Opens the database of a data directory for reading alone: nothing is migrated or checkpointed,
 * modes stay as they are, and a server beside it does not notice. Every commit fails. Where a log
 * lies without its index, as after a copy, SQLite makes the index.
 *
 * Without a log nobody has it open, and SQLite is told that the file does not change, since it
 * would make a log for a mere look otherwise. The same where it cannot open the log, as on a disk
 * that is full or read-only; then what is only in the log is not seen.
 */
export function lookAtDatabase(dataDir: string): Looked {
  const file = databaseFile(dataDir)
  try {
    if (!existsSync(`${file}-wal`))
      return { db: dbOf(file, openUnchanging(file)), isWithoutLog: false }
    const client = openWithLog(file)
    return client
      ? { db: dbOf(file, client), isWithoutLog: false }
      : { db: dbOf(file, openUnchanging(file)), isWithoutLog: true }
  } catch (error) {
    throw new StorageError(`${file}: ${messageOf(asStorageError(error))}`)
  }
}

function openWithLog(file: string): Database | undefined {
  const client = new Database(file, { readonly: true, strict: true })
  try {
    client.run(`PRAGMA busy_timeout = ${BUSY_MS}`)
    client.query('SELECT 1 FROM sqlite_schema LIMIT 1').get()
    return client
  } catch (error) {
    client.close()
    if (isBusy(error)) throw error
    return undefined
  }
}

function openUnchanging(file: string): Database {
  const { SQLITE_OPEN_READONLY, SQLITE_OPEN_URI } = constants
  const url = `${pathToFileURL(file).href}?immutable=1`
  const client = new Database(url, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI)
  client.query('SELECT 1 FROM sqlite_schema LIMIT 1').get()
  return client
}

/** What reads stand on; the rest of it refuses, as SQLite does. */
function dbOf(file: string, client: Database): Db {
  return {
    ...createCommit(client),
    file,
    client,
    orm: drizzle(client),
    version: () => '',
    close: () => client.close(),
  }
}
