import { realpathSync, statSync } from 'node:fs'
import { basename, resolve } from 'node:path'
import { DatabaseLostError } from './errors.ts'
import { indexOf, logOf } from './read-only.ts'

/** A database file that a restart would not open again, and why. */
export interface FileLoss {
  path: string
  reason: 'missing' | 'replaced' | 'unreachable'
}

/** Identifies an open file, because its inode number is not reused until it is closed. */
interface Identity {
  path: string
  dev: bigint
  ino: bigint
}

export type FileIdentity = ReturnType<typeof createFileIdentity>

/**
 * Records which files an open database consists of. SQLite keeps using open files that were deleted
 * or renamed: it reads and commits, and all of that is lost when the process ends. Call it when all
 * files are open, including the write-ahead log and its index.
 *
 * SQLite keeps all three for as long as a connection is open: checkpoints, `VACUUM` and the closing
 * of other connections shorten the files but never replace them.
 */
export function createFileIdentity(file: string) {
  const opened = pathsOf(file).map(identify)
  let known: FileLoss | undefined

  /** The first name that no longer leads to its open file. Takes a few microseconds in all. */
  function loss(): FileLoss | undefined {
    for (const one of opened) {
      known = lossOf(one)
      if (known) return known
    }
    return undefined
  }

  /** Throws `DatabaseLostError` if a restart would not find these files. */
  function requireInPlace(isStored = false) {
    const found = loss()
    if (found) throw new DatabaseLostError(sentenceOn(found), { isStored })
  }

  return {
    loss,
    requireInPlace,
    /** The result of the last check. */
    knownLoss: () => known,
  }
}

/** The database by its opened name; its logs by the resolved name, as SQLite names them. */
function pathsOf(file: string): string[] {
  const real = realpathSync(file)
  return [resolve(file), logOf(real), indexOf(real)]
}

function identify(path: string): Identity {
  const { dev, ino } = statSync(path, { bigint: true, throwIfNoEntry: false }) ?? NO_FILE
  return { path, dev, ino }
}

/** Stands for a file that was missing when it was recorded. It equals no other file. */
const NO_FILE = { dev: -1n, ino: -1n }

function lossOf({ path, dev, ino }: Identity): FileLoss | undefined {
  try {
    const now = statSync(path, { bigint: true, throwIfNoEntry: false })
    if (!now) return { path, reason: 'missing' }
    return now.ino === ino && now.dev === dev ? undefined : { path, reason: 'replaced' }
  } catch {
    return { path, reason: 'unreachable' }
  }
}

/** The problem in one sentence for HTTP clients, without any path. */
export function sentenceOn({ path, reason }: FileLoss): string {
  const name = basename(path)
  if (reason === 'missing') return `${name} was moved or deleted while the server is running`
  if (reason === 'replaced') return `${name} was replaced while the server is running`
  return `${name} cannot be reached`
}
