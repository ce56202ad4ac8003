import type { Database } from 'bun:sqlite'
import { existsSync, statSync } from 'node:fs'
import { drizzle } from 'drizzle-orm/bun-sqlite'
import { createCommit } from '../../db/commit.ts'
import { asStorageError, isBusy, messageOf, StorageError } from '../../db/errors.ts'
import { createFileIdentity } from '../../db/file-identity.ts'
import { type Db, databaseFile } from '../../db/open.ts'
import { logOf, openForReading, openUnchanging } from '../../db/read-only.ts'
import { createTogether } from '../../db/together.ts'

/** How long a read waits for a lock. */
const BUSY_MS = 2000

/** A database opened for reading, and whether its log could not be read. */
export interface OpenedDatabase {
  db: Db
  isWithoutLog: boolean
}

/** The result of `read`, run again if a writer appears while the file is read as unchanging. */
export async function readDatabase<T>(
  dataDir: string,
  read: (opened: OpenedDatabase) => Promise<T>,
): Promise<T> {
  const file = databaseFile(dataDir)
  const before = stillness(file)
  const [first] = await Promise.allSettled([readOnce(dataDir, read)])
  if (before !== undefined && stillness(file) !== before) return readOnce(dataDir, read)
  if (first.status === 'rejected') throw first.reason
  return first.value
}

async function readOnce<T>(
  dataDir: string,
  read: (opened: OpenedDatabase) => Promise<T>,
): Promise<T> {
  const opened = readOnlyDatabase(dataDir)
  try {
    return await read(opened)
  } finally {
    opened.db.close()
  }
}

/** When the file was last written; undefined while a process has it open. */
const stillness = (file: string): number | undefined =>
  existsSync(logOf(file)) ? undefined : statSync(file).mtimeMs

/**
 * Opens the database of a data directory for reading only: nothing is migrated or checkpointed, and file
 * modes stay. Every commit fails. If there is a log without its index, as after a copy, SQLite creates
 * the index.
 *
 * Without a log, no process has the database open, and SQLite reads the file as unchanging; otherwise it
 * would create a log. The same if the log can't be opened, as on a full or read-only disk; writes that
 * are only in the log are then missing.
 */
export function readOnlyDatabase(dataDir: string): OpenedDatabase {
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

/** A `Db` for reads; its commits fail. */
function dbOf(file: string, client: Database): Db {
  const commits = createCommit(client)
  return {
    ...commits,
    together: createTogether({ client, ...commits, dropCaches: () => {} }),
    file,
    files: createFileIdentity(file),
    client,
    orm: drizzle(client),
    version: () => '',
    dropCaches: () => {},
    onDropCaches: () => {},
    noteError: () => {},
    damages: () => 0,
    close: () => client.close(),
  }
}
