import { constants, Database } from 'bun:sqlite'
import { chmodSync, existsSync, lstatSync, mkdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { drizzle } from 'drizzle-orm/bun-sqlite'
import { BUSY_TIMEOUT_MS, createCommit } from './commit.ts'
import { StorageError } from './errors.ts'
import { createFileIdentity } from './file-identity.ts'
import { DATA_NAMES } from './names.ts'
import { logOf } from './read-only.ts'
import { plannedOnce, prepareLate } from './statements.ts'

prepareLate()

export interface DatabaseOptions {
  dataDir: string
  /** `full` syncs every commit to disk; `normal` may lose the last ones at power loss. */
  synchronous: 'full' | 'normal'
  /** Leaves checkpoints to a replicator such as Litestream. */
  externalCheckpoint?: boolean
}

export type Db = ReturnType<typeof openDatabase>

/** The database file inside a data directory. */
export const databaseFile = (dataDir: string) => join(dataDir, DATA_NAMES.database)

/** There while a restore puts other files into a data directory: what is in it is not whole. */
export const restoreMarker = (dataDir: string) => join(dataDir, 'restore.unfinished')

/** Else a directory whose database was just moved away would get a fresh one. */
function refuseHalfRestored(dataDir: string) {
  const marker = restoreMarker(dataDir)
  if (existsSync(marker))
    throw new StorageError(
      `a restore into ${dataDir} was cut short: run \`restore\` again with the same file ` +
        `(${marker} names the folder that holds the previous data)`,
    )
}

/** Made by us, a database has a page at once; beside a master key, one without a byte was cut off. */
function refuseEmptied(dataDir: string) {
  const file = databaseFile(dataDir)
  const isEmpty = statSync(file, { throwIfNoEntry: false })?.size === 0
  if (isEmpty && existsSync(join(dataDir, DATA_NAMES.key)) && !existsSync(logOf(file)))
    throw new StorageError(
      `${file} has lost all that was in it: restore a backup, or remove the file to begin anew`,
    )
}

/**
 * Root may be led by whoever owns the directory: to a file that it would make or change for them.
 * Links of its own, or of root, lead nobody astray.
 */
function refuseForeignLink(file: string) {
  const entry = lstatSync(file, { throwIfNoEntry: false })
  if (!entry?.isSymbolicLink() || entry.uid === 0 || entry.uid === process.geteuid?.()) return
  throw new StorageError(
    `${file} is a link of uid ${entry.uid}, and is not followed for another account: run this as ` +
      'that one, or put the database itself there',
  )
}

/**
 * What is ours is for us alone. By name and not by a descriptor: to close one lets go of the locks
 * that SQLite has on the file.
 */
function keepFromOthers(file: string) {
  const entry = lstatSync(file)
  const isOurs = entry.isFile() && entry.uid === process.geteuid?.()
  if (isOurs && entry.mode & 0o077) chmodSync(file, 0o600)
}

/** Throws what the system says when that cannot even be told, as for a folder of another account. */
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
 * Opens, or creates, the database of a data directory. `orm` is Drizzle on the same
 * connection, for prepared statements; every write goes through `commit`, or
 * `commitFor` where it is done for a tenant.
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
  // SQLite opens the log with the first read.
  client.run('SELECT 1 FROM sqlite_schema LIMIT 1')
  const files = createFileIdentity(file)
  refuseMoved(client, options.dataDir)
  const close = options.externalCheckpoint ? closeLeavingLog(client) : () => closeWithLog(client)
  const { commit, commitFor, drain, failed, observe, afterCommit } = createCommit(
    client,
    files.requireInPlace,
  )
  const dataVersion = client.prepare<{ data_version: number }, []>('PRAGMA data_version')
  return {
    file,
    /** Whether a restart would find the files that are open. */
    files,
    client,
    orm: drizzle(client),
    commit,
    commitFor,
    observe,
    afterCommit,
    drain,
    /** Another text whenever another process has committed something, or we have failed to. */
    version: (): string => `${dataVersion.get()?.data_version}.${failed()}`,
    close,
  }
}

/** Whether the open file is no longer the one by its name. */
function hasMoved(client: Database): boolean {
  // SQLite writes one number; Bun takes no buffer below eight bytes.
  const answer = new Int32Array(2)
  client.fileControl(constants.SQLITE_FCNTL_HAS_MOVED, answer)
  return answer[0] !== 0
}

/** A restore may have come between the look for its marker and the opening of the file. */
function refuseMoved(client: Database, dataDir: string) {
  refuseHalfRestored(dataDir)
  if (!hasMoved(client)) return
  client.close()
  throw new StorageError('the database was just replaced by a restore: start again')
}

/** `busy_timeout` first: switching to WAL takes a lock that another process may hold. */
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
    // What is deleted is overwritten: it may be about somebody who asked to be forgotten.
    'secure_delete = ON',
    ...(externalCheckpoint ? ['wal_autocheckpoint = 0'] : []),
  ]
}

/**
 * Brings the log into the database where that can be done now; whoever opens it next does it
 * otherwise. Closing alone would not, since prepared statements keep the connection half open. No
 * `PRAGMA optimize`: by the statistics of a young database its planner would scan what has grown since.
 */
function closeWithLog(client: Database) {
  settle(client, ['wal_checkpoint(TRUNCATE)'])
  client.close()
}

/**
 * A replicator knows how far it has come by a place in the log, so that nobody else may begin a new
 * one. The last connection to close would: it is told to keep the file, which SQLite would cut to
 * its limit all the same. A connection that a statement keeps half open is as bad, since Bun empties
 * the log for it when the process ends, and so is one that nobody has closed by then.
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

/** A disk in trouble must not hide what the caller has to say. */
function settle(client: Database, pragmas: readonly string[]) {
  try {
    for (const pragma of ['busy_timeout = 0', ...pragmas]) client.run(`PRAGMA ${pragma}`)
  } catch {
    // Nothing is lost: the log stays beside the database.
  }
}
