import type { Db } from '../../db/open.ts'
import type { Clock } from '../clock.ts'
import { FINGERPRINT_PURPOSES } from './fingerprint-purposes.ts'
import { sealedBy } from './index.ts'
import {
  type KeyFile,
  loadMasterKey,
  type MasterKey,
  MasterKeyError,
  readMasterKey,
} from './key-file.ts'
import { createKeyRing, type KeyRing, type KeysInUse } from './key-ring.ts'
import { createMasterKeyStore, knownMasterKeys } from './key-store.ts'

/**
 * Opens the master keys of a data directory and checks them against the database. Throws
 * `MasterKeyError` if the database was used with another key, instead of creating a new one,
 * because its secrets would be lost without notice.
 */
export async function openKeyRing(parts: {
  db: Db
  clock: Clock
  dataDir: string
}): Promise<KeyRing> {
  const { db, clock, dataDir } = parts

  /** Records the key unless another process already has. */
  function remember(key: KeyFile) {
    if (knownMasterKeys(db).length > 0) return
    const store = createMasterKeyStore(db)
    store.add(key.id, clock.now())
    for (const purpose of FINGERPRINT_PURPOSES) {
      const isLost = !isOpenedBy(key, store.fingerprintKey(purpose))
      if (isLost) store.removeFingerprintKey(purpose)
    }
  }

  requireFit(db, dataDir)
  const key = loadMasterKey(dataDir)
  if (knownMasterKeys(db).length === 0) await db.commit(() => remember(key))
  requireFit(db, dataDir)
  const store = createMasterKeyStore(db)
  return createKeyRing({
    db,
    knownIds: store.ids,
    readKeys: () => keysInUse(db, dataDir),
    fingerprintKey: store.fingerprintKey,
  })
}

/**
 * Whether the file has the key that sealed a text, or there is no text. A text whose key was given
 * up for lost counts as missing.
 */
const isOpenedBy = (file: KeyFile, sealed: string | undefined): boolean =>
  sealed === undefined || [file, ...file.previous].some(({ id }) => sealed.startsWith(sealedBy(id)))

/** Throws `MasterKeyError` if the file lacks a key that the database needs. */
export function requireFit(db: Db, dataDir: string) {
  const { key, known } = readTogether(db, dataDir)
  const objection = misfit({ dataDir, key, known })
  if (objection) throw new MasterKeyError(objection)
}

function keysInUse(db: Db, dataDir: string): KeysInUse {
  const { key, known } = readTogether(db, dataDir)
  return { held: key ? [key, ...key.previous] : [], known }
}

/**
 * A new key is in the file before it is in the table, and an old one leaves the table first: if the
 * table hasn't changed, the file read in between has all its keys.
 */
function readTogether(db: Db, dataDir: string) {
  for (;;) {
    const known = knownMasterKeys(db)
    const key = readMasterKey(dataDir)
    if (knownMasterKeys(db).join() === known.join()) return { key, known }
  }
}

/** The objection to a key file, or undefined. During a rotation, the database needs both keys. */
export function misfit(parts: {
  dataDir: string
  key: (MasterKey & Partial<KeyFile>) | undefined
  known: readonly string[]
}): string | undefined {
  const { dataDir, key, known } = parts
  const held = key ? [key, ...(key.previous ?? [])].map(({ id }) => id) : []
  const missing = known.filter((id) => !held.includes(id))
  if (missing.length === 0) return undefined
  const needed = known.join(' and ')
  if (!key)
    return (
      `master.key is missing in ${dataDir}, but the database was sealed with it ` +
      `(${needed}): restore it from a backup`
    )
  return missing.length === known.length
    ? `master.key in ${dataDir} does not match the database ` +
        `(found ${key.id}, need ${needed}): restore it from a backup`
    : `master.key in ${dataDir} lacks a key that the database still needs ` +
        `(found ${held.join(' and ')}, need ${needed}): restore it from a backup`
}
