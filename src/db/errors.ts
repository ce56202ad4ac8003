import { SQLiteError } from 'bun:sqlite'

/**
 * The disk or the database cannot take a write now. Nothing of the work was kept (but see
 * `DatabaseLostError`), so the caller may try again; callers over HTTP get a 503.
 */
export class StorageError extends Error {
  override name = 'StorageError'
}

/**
 * The files of the database are no longer where they were opened, so that a restart would not find
 * what is written now. Reported once by the storage watch: background work that meets it adds no
 * line of its own to the log.
 */
export class DatabaseLostError extends StorageError {
  override name = 'DatabaseLostError'
  /**
   * The files were lost while the transaction was committed: it is in them, and comes back if they
   * do. Nobody may be told that it was stored.
   */
  readonly isStored: boolean

  constructor(message: string, { isStored }: { isStored: boolean }) {
    super(message)
    this.isStored = isStored
  }
}

const SENTENCES: [prefix: string, sentence: string][] = [
  ['SQLITE_FULL', 'the disk is full'],
  ['SQLITE_IOERR', 'the disk reports an input or output error'],
  ['SQLITE_READONLY', 'the database is read-only'],
  ['SQLITE_CANTOPEN', 'the database file cannot be opened'],
  ['SQLITE_CORRUPT', 'the database file is damaged'],
  ['SQLITE_NOTADB', 'the database file is damaged'],
  ['SQLITE_BUSY', 'another process holds the database lock'],
]

/** Turns SQLite's code for trouble below us into a `StorageError`; other errors pass. */
export function asStorageError(error: unknown): unknown {
  if (!(error instanceof SQLiteError)) return error
  const known = SENTENCES.find(([prefix]) => error.code?.startsWith(prefix))
  return known ? new StorageError(known[1], { cause: error }) : error
}

/** Whether SQLite found the file of the database damaged, here or in what led to the error. */
export function isDamage(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const code = error instanceof SQLiteError ? (error.code ?? '') : ''
  return /^SQLITE_(?:CORRUPT|NOTADB)/.test(code) || isDamage(error.cause)
}

/** True while another connection holds the write lock. */
export const isBusy = (error: unknown): boolean =>
  error instanceof SQLiteError && (error.code?.startsWith('SQLITE_BUSY') ?? false)

/** A port in use, a folder that may not be written: the system names these E…. */
export const isSystemError = (error: unknown): boolean =>
  error instanceof Error && /^E[A-Z]+$/.test((error as NodeJS.ErrnoException).code ?? '')

/** What an error says, whatever was thrown. */
export const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error)
