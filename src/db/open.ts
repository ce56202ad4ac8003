import { constants, Database } from 'bun:sqlite'
import { chmodSync, existsSync, lstatSync, mkdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { drizzle } from 'drizzle-orm/bun-sqlite'
import { BUSY_TIMEOUT_MS, createCommit } from './commit.ts'
import { isDamage, StorageError } from './errors.ts'
import { createFileIdentity } from './file-identity.ts'
import { DATA_NAMES } from './names.ts'
import { logOf } from './read-only.ts'
import { plannedOnce, prepareLate } from './statements.ts'
import { createTogether } from './together.ts'

prepareLate()

export interface DatabaseOptions {
  dataDir: string
  /** `full` syncs every commit to disk; `normal` may lose the last commits in a power failure. */
  synchronous: 'full' | 'normal'
  /** Leaves checkpoints to a replicator such as Litestream. */
  externalCheckpoint?: boolean
}

export type Db = ReturnType<typeof openDatabase>

/** The database file inside a data directory. */
export const databaseFile = (dataDir: string) => join(dataDir, DATA_NAMES.database)

/** Exists while a restore replaces the files, so that the data directory is incomplete. */
export const restoreMarker = (dataDir: string) => join(dataDir, 'restore.unfinished')

/** Prevents a new database in a directory whose database was just moved away by a restore. */
function refuseHalfRestored(dataDir: string) {
  const marker = restoreMarker(dataDir)
  if (existsSync(marker))
    throw new StorageError(
      `a restore into ${dataDir} was interrupted: run \`restore\` again with the same file ` +
        `(${marker} names the folder with the previous data)`,
    )
}

/** A database never starts empty, so an empty file next to a master key was truncated. */
function refuseEmptied(dataDir: string) {
  const file = databaseFile(dataDir)
  const sizeOf = (path: string) => statSync(path, { throwIfNoEntry: false })?.size
  const isEmpty = sizeOf(file) === 0 && !sizeOf(logOf(file))
  if (isEmpty && existsSync(join(dataDir, DATA_NAMES.key)))
    throw new StorageError(
      `${file} is empty, so its data is lost: restore a backup, or remove the file to start over`,
    )
}

/** Refuses a link of another account, which could make root create or change any file. */
function refuseForeignLink(file: string) {
  const entry = lstatSync(file, { throwIfNoEntry: false })
  if (!entry?.isSymbolicLink() || entry.uid === 0 || entry.uid === process.geteuid?.()) return
  throw new StorageError(
    `${file} is a link that belongs to uid ${entry.uid}, which other accounts do not follow: run ` +
      'this as that account, or replace the link with the database',
  )
}

/** Changes the mode by name: closing a descriptor would release SQLite's locks on the file. */
function keepFromOthers(file: string) {
  const entry = lstatSync(file)
  const isOurs = entry.isFile() && entry.uid === process.geteuid?.()
  if (isOurs && entry.mode & 0o077) chmodSync(file, 0o600)
}

/**
 * Whether the database exists. Throws the system's error if that can't be determined, as for a
 * folder of another account.
 */
export function databaseExists(dataDir: string): boolean {
  refuseHalfRestored(dataDir)
  try {
    refuseEmptied(dataDir)
    return statSync(databaseFile(dataDir)).isFile()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false
    throw error
  }
}

/**
 * Opens or creates a database. `orm` is Drizzle on the same connection, for prepared statements.
 * Every write goes through `commit`, or `commitFor` if it belongs to a tenant.
 */
export function openDatabase(options: DatabaseOptions) {
  refuseHalfRestored(options.dataDir)
  refuseEmptied(options.dataDir)
  mkdirSync(options.dataDir, { recursive: true, mode: 0o700 })
  const file = databaseFile(options.dataDir)
  refuseForeignLink(file)
  const client = plannedOnce(new Database(file, { create: true, strict: true }))
  for (const pragma of pragmas(options)) client.run(`PRAGMA ${pragma}`)
  keepFromOthers(file)
  // SQLite opens the log on the first read.
  client.run('SELECT 1 FROM sqlite_schema LIMIT 1')
  const files = createFileIdentity(file)
  refuseMoved(client, options.dataDir)
  const close = options.externalCheckpoint ? closeLeavingLog(client) : () => closeWithLog(client)
  const { commit, commitFor, drain, failed, observe, confirmBy, fenceBy, afterCommit } =
    createCommit(client, files.requireInPlace, noteError)
  let drops = 0
  const caches = new Set<() => void>()
  const dropCaches = () => {
    drops++
    for (const forget of caches) forget()
  }
  let damages = 0

  function noteError(error: unknown) {
    if (isDamage(error)) damages++
  }

  const dataVersion = client.prepare<{ data_version: number }, []>('PRAGMA data_version')
  return {
    file,
    /** Checks whether a restart would find the open files. */
    files,
    client,
    orm: drizzle(client),
    commit,
    commitFor,
    together: createTogether({ client, commitFor, dropCaches }),
    observe,
    confirmBy,
    fenceBy,
    afterCommit,
    drain,
    /** Changes whenever caches of data have to forget: another process commits, or a transaction fails. */
    version: (): string => `${dataVersion.get()?.data_version}.${failed()}.${drops}`,
    /** For a change that the owners of caches don't know about, such as a deleted tenant. */
    dropCaches,
    /** Calls `forget` immediately at each `dropCaches`, which `version` shows as well. */
    onDropCaches: (forget: () => void) => void caches.add(forget),
    /** Takes note of an error outside of commits. */
    noteError,
    /** How many errors have said that the file is damaged. */
    damages: () => damages,
    close,
  }
}

/** Whether the open file is no longer the one with its name. */
function hasMoved(client: Database): boolean {
  // SQLite writes one number, but Bun accepts no buffer smaller than eight bytes.
  const answer = new Int32Array(2)
  client.fileControl(constants.SQLITE_FCNTL_HAS_MOVED, answer)
  return answer[0] !== 0
}

/** A restore may have started between the check for its marker and the opening of the file. */
function refuseMoved(client: Database, dataDir: string) {
  refuseHalfRestored(dataDir)
  if (!hasMoved(client)) return
  client.close()
  throw new StorageError('a restore has just replaced the database: run this again')
}

/** `busy_timeout` comes first: switching to WAL takes a lock that another process may hold. */
function pragmas({ synchronous, externalCheckpoint }: DatabaseOptions): string[] {
  return [
    `busy_timeout = ${BUSY_TIMEOUT_MS}`,
    'journal_mode = WAL',
    `synchronous = ${synchronous}`,
    'foreign_keys = ON',
    'temp_store = MEMORY',
    'cache_size = -32000',
    'journal_size_limit = 67108864',
    'trusted_schema = OFF',
    // Overwrites deleted data, which may include personal data that a user asked to erase.
    'secure_delete = ON',
    ...(externalCheckpoint ? ['wal_autocheckpoint = 0'] : []),
  ]
}

/**
 * Closes the database after writing the log into it, if that is possible now; otherwise the next
 * process to open it does so. Closing alone would not, because prepared statements keep the
 * connection half open. There is no `PRAGMA optimize`, because with the statistics of a young
 * database the planner would scan tables that have grown since.
 */
function closeWithLog(client: Database) {
  settle(client, ['wal_checkpoint(TRUNCATE)'])
  client.close()
}

/**
 * Closes the database without resetting the log. A replicator tracks its progress by a position in
 * the log, so only the replicator may start a new one. The last connection to close would reset it:
 * the setting keeps the file, but SQLite would still truncate it to its size limit. A connection
 * kept half open by a statement is just as bad, because Bun empties the log for it when the process
 * ends, and so is a connection that is still open by then.
 */
function closeLeavingLog(client: Database): () => void {
  client.fileControl(constants.SQLITE_FCNTL_PERSIST_WAL, 1)
  const close = () => {
    process.off('exit', close)
    settle(client, ['journal_size_limit = -1'])
    client.close(true)
  }
  process.once('exit', close)
  return close
}

/** Runs the pragmas and ignores storage errors, which must not hide the caller's own error. */
function settle(client: Database, pragmas: readonly string[]) {
  try {
    for (const pragma of ['busy_timeout = 0', ...pragmas]) client.run(`PRAGMA ${pragma}`)
  } catch {
    // Nothing is lost: the log stays next to the database.
  }
}
