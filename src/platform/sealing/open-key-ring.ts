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
 * The keys of a data directory, held against the database in it. One that has known another key
 * takes no new one: what it holds would stay closed for good, and nobody would be told.
 */
export async function openKeyRing(parts: {
  db: Db
  clock: Clock
  dataDir: string
}): Promise<KeyRing> {
  const { db, clock, dataDir } = parts

  /** Unless another process has been quicker. */
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
    look: () => keysInUse(db, dataDir),
    fingerprintKey: store.fingerprintKey,
  })
}

/** What a key sealed that was given up for lost is as good as not there. */
const isOpenedBy = (file: KeyFile, sealed: string | undefined): boolean =>
  sealed === undefined || [file, ...file.previous].some(({ id }) => sealed.startsWith(sealedBy(id)))

/** Throws `MasterKeyError` where the file does not have every key that the database needs. */
export function requireFit(db: Db, dataDir: string) {
  const { key, known } = lookTogether(db, dataDir)
  const objection = misfit({ dataDir, key, known })
  if (objection) throw new MasterKeyError(objection)
}

function keysInUse(db: Db, dataDir: string): KeysInUse {
  const { key, known } = lookTogether(db, dataDir)
  return { held: key ? [key, ...key.previous] : [], known }
}

/**
 * A new key is in the file before it is in the table, and an old one leaves the table first: with
 * the same table before and after, the file in between has all that it names.
 */
function lookTogether(db: Db, dataDir: string) {
  for (;;) {
    const known = knownMasterKeys(db)
    const key = readMasterKey(dataDir)
    if (knownMasterKeys(db).join() === known.join()) return { key, known }
  }
}

/**
 * Why a database that knows some keys cannot do with this file, if it cannot: while a key is being
 * replaced, it takes both.
 */
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
      `master.key is missing in ${dataDir}, and what is in the database was sealed with it ` +
      `(${needed}); put back the one from the backup`
    )
  return missing.length === known.length
    ? `master.key in ${dataDir} is not the key that sealed what is in the database ` +
        `(it is ${key.id} and has to be ${needed}); put back the one from the backup`
    : `master.key in ${dataDir} lacks a key that some of what is in the database was sealed with ` +
        `(it is ${held.join(' and ')} and has to be ${needed}); put back the one from the backup`
}
