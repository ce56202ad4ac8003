import { SQLiteError } from 'bun:sqlite'

/**
 * The disk or the database can't take a write now. No part of the work was stored (but see
 * `DatabaseLostError`), so the caller may try again. HTTP clients get a 503.
 */
export class StorageError extends Error {
  override name = 'StorageError'
}

/**
 * The files of the database are no longer where they were opened, so a restart would not find what
 * is written now. The storage watch reports this once; background work that runs into it logs
 * nothing more.
 */
export class DatabaseLostError extends StorageError {
  override name = 'DatabaseLostError'
  /**
   * True if the files were lost during the commit: the transaction is in those files and reappears
   * if they are put back. It must not be reported as stored.
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

/**
 * Converts SQLite's error codes for storage problems to a `StorageError`. Returns other errors
 * unchanged.
 */
export function asStorageError(error: unknown): unknown {
  if (!(error instanceof SQLiteError)) return error
  const known = SENTENCES.find(([prefix]) => error.code?.startsWith(prefix))
  return known ? new StorageError(known[1], { cause: error }) : error
}

/** Whether SQLite reports the database file as damaged, in the error or in one of its causes. */
export function isDamage(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const code = error instanceof SQLiteError ? (error.code ?? '') : ''
  return /^SQLITE_(?:CORRUPT|NOTADB)/.test(code) || isDamage(error.cause)
}

/** Whether another connection holds the write lock. */
export const isBusy = (error: unknown): boolean =>
  error instanceof SQLiteError && (error.code?.startsWith('SQLITE_BUSY') ?? false)

/**
 * Whether the operating system reported the error, such as a port in use or a read-only folder.
 * Their codes begin with E.
 */
export const isSystemError = (error: unknown): boolean =>
  error instanceof Error && /^E[A-Z]+$/.test((error as NodeJS.ErrnoException).code ?? '')

/** The message of any thrown value. */
export const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error)
