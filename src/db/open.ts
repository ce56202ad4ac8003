import { Database } from 'bun:sqlite'
import { chmodSync, mkdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { drizzle } from 'drizzle-orm/bun-sqlite'
import { BUSY_TIMEOUT_MS, createCommit } from './commit.ts'
import { StorageError } from './errors.ts'

export interface DatabaseOptions {
  dataDir: string
  /** `full` syncs every commit to disk; `normal` may lose the last ones at power loss. */
  synchronous: 'full' | 'normal'
  /** Leaves checkpoints to a replicator such as Litestream. */
  externalCheckpoint?: boolean
}

export type Db = ReturnType<typeof openDatabase>

/** The database file inside a data directory. */
export const databaseFile = (dataDir: string) => join(dataDir, 'gatehouse.db')

/** Throws `StorageError` when that cannot even be told, as for a folder of another account. */
export function databaseExists(dataDir: string): boolean {
  try {
    return statSync(databaseFile(dataDir)).isFile()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false
    throw new StorageError(error instanceof Error ? error.message : String(error))
  }
}

/**
 * Opens, or creates, the database of a data directory. `orm` is Drizzle on the same
 * connection, for prepared statements; every write goes through `commit`.
 */
export function openDatabase(options: DatabaseOptions) {
  mkdirSync(options.dataDir, { recursive: true, mode: 0o700 })
  const file = databaseFile(options.dataDir)
  const client = plannedOnce(new Database(file, { create: true, strict: true }))
  if (statSync(file).mode & 0o077) chmodSync(file, 0o600)
  for (const pragma of pragmas(options)) client.run(`PRAGMA ${pragma}`)
  const { commit, drain, failed } = createCommit(client)
  const dataVersion = client.prepare<{ data_version: number }, []>('PRAGMA data_version')
  return {
    file,
    client,
    orm: drizzle(client),
    commit,
    drain,
    /** Another text whenever another process has committed something, or we have failed to. */
    version: (): string => `${dataVersion.get()?.data_version}.${failed()}`,
    close: () => close(client, options),
  }
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
 * otherwise. Closing alone would not, since prepared statements keep the connection half open.
 * A disk in trouble must not hide what the caller has to say.
 */
function close(client: Database, { externalCheckpoint }: DatabaseOptions) {
  try {
    client.run('PRAGMA busy_timeout = 0')
    client.run('PRAGMA optimize')
    if (!externalCheckpoint) client.run('PRAGMA wal_checkpoint(TRUNCATE)')
  } catch {
    // Nothing is lost: the log stays beside the database.
  } finally {
    client.close()
  }
}

/**
 * SQLite looks at bound values while it plans a statement that has an order or a limit, and plans
 * it anew whenever they are bound again: that costs up to forty times the statement itself. It
 * does not look into an expression, and a plus sign changes neither a value nor its type.
 */
function plannedOnce(client: Database): Database {
  const prepare = client.prepare.bind(client)
  client.prepare = ((sql: string, ...rest: []) =>
    prepare(withoutBareParameters(sql), ...rest)) as Database['prepare']
  return client
}

const withoutBareParameters = (sql: string) =>
  sql.replace(/'[^']*'|"[^"]*"|\?/g, (part) => (part === '?' ? '+?' : part))
