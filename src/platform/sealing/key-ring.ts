import type { Db } from '../../db/open.ts'
import { createReadCache } from '../read-cache.ts'
import type { FingerprintPurpose } from './fingerprint-purposes.ts'
import { type MasterKey, MasterKeyError } from './key-file.ts'

/** The master keys that a process has: one to seal with, and those that it can open with. */
export interface KeyRing {
  /** What is sealed from now on is sealed with this one. */
  primary: () => MasterKey
  find: (id: string) => MasterKey | undefined
  /** Sealed; undefined while the key of a purpose follows from the master key. */
  fingerprintKey: (purpose: FingerprintPurpose) => string | undefined
}

/** Keys that stay what they are. */
export const ringOf = (primary: MasterKey, previous: readonly MasterKey[] = []): KeyRing => ({
  primary: () => primary,
  find: (id) => [primary, ...previous].find((key) => key.id === id),
  fingerprintKey: () => undefined,
})

/** What the file and the table of keys say, at one moment. */
export interface KeysInUse {
  held: readonly MasterKey[]
  known: readonly string[]
}

/**
 * The keys of a data directory where another process may replace the master key at any time. The
 * table is asked once a turn of the event loop, and only after others have committed; the file is
 * read when the table has changed, and when something was sealed with a key that is not held yet.
 *
 * A key is never dropped: what was read while it was in use may still have to be opened.
 */
export function createKeyRing(parts: {
  db: Db
  knownIds: () => string[]
  look: () => KeysInUse
  fingerprintKey: KeyRing['fingerprintKey']
}): KeyRing {
  const { db, knownIds, look, fingerprintKey } = parts
  const keys = new Map<string, MasterKey>()
  const looked = createReadCache<MasterKey>(db, 1)
  let latest = learn()

  function learn(): KeysInUse {
    const found = look()
    for (const key of found.held) keys.set(key.id, key)
    return found
  }

  const primary = (): MasterKey => looked.get('primary') ?? looked.set('primary', current())

  const current = (): MasterKey =>
    primaryOf(isSame(latest.known, knownIds()) ? latest : learnAgain())

  /**
   * While the file cannot be read, the keys at hand will do, as long as the table names them: what
   * another one would seal is lost at the next start.
   */
  function learnAgain(): KeysInUse {
    try {
      latest = learn()
      return latest
    } catch (error) {
      if (!(error instanceof MasterKeyError)) throw error
      return { held: [...keys.values()], known: knownIds() }
    }
  }

  function find(id: string): MasterKey | undefined {
    if (!keys.has(id)) learnAgain()
    return keys.get(id)
  }

  return { primary, find, fingerprintKey }
}

/** A key that is in the file and not yet in the table is not to be sealed with yet. */
export function primaryOf({ held, known }: KeysInUse): MasterKey {
  const key = known.length === 0 ? held[0] : held.find(({ id }) => known.includes(id))
  if (!key)
    throw new MasterKeyError(
      'the master key was replaced, and the new one cannot be read here: put back master.key',
    )
  return key
}

const isSame = (a: readonly string[], b: readonly string[]): boolean => a.join() === b.join()
