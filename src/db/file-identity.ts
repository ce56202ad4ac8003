import { realpathSync, statSync } from 'node:fs'
import { basename, resolve } from 'node:path'
import { DatabaseLostError } from './errors.ts'
import { indexOf, logOf } from './read-only.ts'

/** One of the files of a database, and why a restart would not open the same one. */
export interface FileLoss {
  path: string
  reason: 'missing' | 'replaced' | 'unreachable'
}

/** What tells one file from another for as long as it is open: its number is not given away. */
interface Identity {
  path: string
  dev: bigint
  ino: bigint
}

export type FileIdentity = ReturnType<typeof createFileIdentity>

/**
 * Remembers which files an open database consists of. SQLite goes on with open files that have
 * lost their names: it reads and commits, and all of that is gone with the process. Called with
 * everything open, the write-ahead log and its index included.
 *
 * SQLite itself keeps all three for as long as a connection is open: a checkpoint, a `VACUUM` and
 * the closing of other connections shorten them and never make new ones.
 */
export function createFileIdentity(file: string) {
  const opened = pathsOf(file).map(identify)
  let known: FileLoss | undefined

  /** Looks at the names, some microseconds: the first that no longer leads to the open file. */
  function loss(): FileLoss | undefined {
    for (const one of opened) {
      known = lossOf(one)
      if (known) return known
    }
    return undefined
  }

  /** Throws `DatabaseLostError` while a restart would not find these files. */
  function requireInPlace(isStored = false) {
    const found = loss()
    if (found) throw new DatabaseLostError(sentenceOn(found), { isStored })
  }

  return {
    loss,
    requireInPlace,
    /** What the last look has found. */
    knownLoss: () => known,
  }
}

/** Links are followed: the name of the database is ours, those of the log are SQLite's. */
function pathsOf(file: string): string[] {
  const real = realpathSync(file)
  return [resolve(file), logOf(real), indexOf(real)]
}

function identify(path: string): Identity {
  const { dev, ino } = statSync(path, { bigint: true, throwIfNoEntry: false }) ?? NO_FILE
  return { path, dev, ino }
}

/** Already gone when it was opened: nothing that comes later is it. */
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

/** For those who ask over HTTP: what is wrong, and nothing of where things are. */
export function sentenceOn({ path, reason }: FileLoss): string {
  const name = basename(path)
  if (reason === 'missing') return `${name} was moved or deleted while the server is running`
  if (reason === 'replaced') return `${name} was replaced while the server is running`
  return `${name} cannot be reached`
}
