import type { Database } from 'bun:sqlite'
import { existsSync, statSync } from 'node:fs'
import { drizzle } from 'drizzle-orm/bun-sqlite'
import { createCommit } from '../../db/commit.ts'
import { asStorageError, isBusy, messageOf, StorageError } from '../../db/errors.ts'
import { createFileIdentity } from '../../db/file-identity.ts'
import { logOf, openForReading, openUnchanging } from '../../db/look.ts'
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
  existsSync(logOf(file)) ? undefined : statSync(file).mtimeMs

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
    const { client, isWithoutLog } = existsSync(logOf(file))
      ? openForReading(file, { waitMs: BUSY_MS, doesFileAlone: (error) => !isBusy(error) })
      : { client: openUnchanging(file), isWithoutLog: false }
    return { db: dbOf(file, client), isWithoutLog }
  } catch (error) {
    throw new StorageError(`${file}: ${messageOf(asStorageError(error))}`, { cause: error })
  }
}

/** What reads stand on; the rest of it refuses, as SQLite does. */
function dbOf(file: string, client: Database): Db {
  return {
    ...createCommit(client),
    file,
    files: createFileIdentity(file),
    client,
    orm: drizzle(client),
    version: () => '',
    close: () => client.close(),
  }
}
