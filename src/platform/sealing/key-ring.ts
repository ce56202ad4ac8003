import type { Db } from '../../db/open.ts'
import { createReadCache } from '../read-cache.ts'
import type { FingerprintPurpose } from './fingerprint-purposes.ts'
import { type MasterKey, MasterKeyError } from './key-file.ts'

/** The master keys of a process: one to seal with, and all that it can open with. */
export interface KeyRing {
  /** The key with which new texts are sealed. */
  primary: () => MasterKey
  find: (id: string) => MasterKey | undefined
  /** Sealed; undefined while it is derived from the master key. */
  fingerprintKey: (purpose: FingerprintPurpose) => string | undefined
}

/** A key ring that never changes. */
export const ringOf = (primary: MasterKey, previous: readonly MasterKey[] = []): KeyRing => ({
  primary: () => primary,
  find: (id) => [primary, ...previous].find((key) => key.id === id),
  fingerprintKey: () => undefined,
})

/** The keys in the file (`held`) and the ids in the table (`known`), read together. */
export interface KeysInUse {
  held: readonly MasterKey[]
  known: readonly string[]
}

/**
 * The keys of a data directory where another process may rotate the master key at any time. Checks
 * the table at most once per turn of the event loop, and only after other processes have committed.
 * Reads the file if the table has changed or if a text was sealed with an unknown key.
 *
 * Keys are never removed, because texts that were read while a key was in use may still have to be
 * opened.
 */
export function createKeyRing(parts: {
  db: Db
  knownIds: () => string[]
  readKeys: () => KeysInUse
  fingerprintKey: KeyRing['fingerprintKey']
}): KeyRing {
  const { db, knownIds, readKeys, fingerprintKey } = parts
  const keys = new Map<string, MasterKey>()
  const cached = createReadCache<MasterKey>(db, 1)
  let latest = learn()

  function learn(): KeysInUse {
    const found = readKeys()
    for (const key of found.held) keys.set(key.id, key)
    return found
  }

  const primary = (): MasterKey => cached.get('primary') ?? cached.set('primary', current())

  const current = (): MasterKey =>
    primaryOf(isSame(latest.known, knownIds()) ? latest : learnAgain())

  /**
   * Reads the keys again. If the file can't be read, the known keys are used as long as the table
   * lists them: texts sealed with any other key would be lost at the next start.
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

/** The key to seal with: a key in the file that is also in the table, unless the table is empty. */
export function primaryOf({ held, known }: KeysInUse): MasterKey {
  const key = known.length === 0 ? held[0] : held.find(({ id }) => known.includes(id))
  if (!key)
    throw new MasterKeyError(
      'the master key was rotated, but the new one cannot be read: restore master.key',
    )
  return key
}

const isSame = (a: readonly string[], b: readonly string[]): boolean => a.join() === b.join()
