import { Database } from 'bun:sqlite'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { databaseFile } from '../../db/open.ts'
import { type Clock, sleep } from '../clock.ts'
import { type KeyFile, MasterKeyError, masterKeyFile, readMasterKey } from '../sealing/key-file.ts'
import { misfit } from '../sealing/open-key-ring.ts'
import { actorsIn, masterKeysOf } from './contents.ts'
import { copyDatabase, reading } from './database-file.ts'
import { measure } from './files.ts'
import { ENTRIES } from './names.ts'

const MAX_ATTEMPTS = 3
/** Replacing a master key changes the database and the file at slightly different times. */
const BETWEEN_TRIES_MS = 1000

/**
 * Copies the database and its master key into `folder`. The key is read last: if it was replaced
 * meanwhile and doesn't fit the copy, both are copied again. Returns undefined without a key.
 */
export async function takeSnapshot(parts: {
  dataDir: string
  folder: string
  withKey: boolean
  clock: Clock
}): Promise<KeyFile | undefined> {
  const { dataDir, folder, withKey, clock } = parts
  for (let tries = 1; ; tries++) {
    const copy = takeDatabase(dataDir, folder)
    if (!withKey) return undefined
    const key = takeKey(dataDir, folder)
    const objection = misfit({ dataDir, key, known: reading(copy, masterKeysOf) })
    if (!objection) return key
    if (tries === MAX_ATTEMPTS)
      throw new MasterKeyError(`${objection}, or back up only the database with --without-key`)
    await sleep(clock, BETWEEN_TRIES_MS)
  }
}

function takeDatabase(dataDir: string, folder: string): string {
  const copy = join(folder, ENTRIES.database)
  rmSync(copy, { force: true })
  copyDatabase(databaseFile(dataDir), copy)
  if (reading(copy, actorsIn).length > 0) leaveOutActors(copy)
  return copy
}

/**
 * Removes the search index, and views and triggers that were added to the database, because a restore
 * refuses them. A server makes the index again.
 */
function leaveOutActors(copy: string) {
  using client = new Database(copy)
  client.run('PRAGMA secure_delete = ON')
  for (const { type, name } of actorsIn(client))
    client.run(`DROP ${type} IF EXISTS "${name.replaceAll('"', '""')}"`)
}

/** Returns the key in the copy, because the original can change meanwhile. */
export function takeKey(dataDir: string, folder: string): KeyFile | undefined {
  const copy = masterKeyFile(folder)
  rmSync(copy, { force: true })
  if (readMasterKey(dataDir) === undefined) return undefined
  writeFileSync(copy, readFileSync(masterKeyFile(dataDir)), { mode: 0o600, flag: 'wx' })
  return readMasterKey(folder)
}

/** The manifest's description of the key. */
export const describeKey = async (key: KeyFile | undefined, folder: string) =>
  key ? { id: key.id, sha256: (await measure(masterKeyFile(folder))).sha256 } : null
