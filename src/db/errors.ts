import { SQLiteError } from 'bun:sqlite'

/** A failed write, which may be retried. HTTP 503. */
export class StorageError extends Error {
  override name = 'StorageError'
  /** Whether the work is on disk all the same. It must not count as stored: it may still be lost. */
  readonly isStored: boolean

  constructor(
    message: string,
    { cause, isStored = false }: ErrorOptions & { isStored?: boolean } = {},
  ) {
    super(message, { cause })
    this.isStored = isStored
  }
}

/** Whether an error means that the work of a commit is stored, although it must not count as such. */
export const isStoredAnyway = (error: unknown): boolean =>
  error instanceof StorageError && error.isStored

/**
 * The database files are no longer where they were opened, so a restart would not find new writes.
 * Only the storage watch logs this, once.
 */
export class DatabaseLostError extends StorageError {
  override name = 'DatabaseLostError'
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

/** Whether the operating system reported the error, such as a port in use. */
export const isSystemError = (error: unknown): boolean =>
  error instanceof Error && /^E[A-Z]+$/.test((error as NodeJS.ErrnoException).code ?? '')

/** The message of any thrown value. */
export const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error)
