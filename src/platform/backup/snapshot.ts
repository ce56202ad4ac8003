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
/** Whoever replaces the master key needs a moment between the database and the file. */
const BETWEEN_TRIES_MS = 1000

/**
 * Puts a copy of the database into `folder` and the key that opens it beside it. The key is read
 * last: one that was replaced meanwhile does not fit the copy, and both are taken again.
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
      throw new MasterKeyError(`${objection}, or back up the database alone with --without-key`)
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

/** Views and triggers that somebody has made for themselves: with them in it, no restore takes it. */
function leaveOutActors(copy: string) {
  using client = new Database(copy)
  for (const { type, name } of actorsIn(client))
    client.run(`DROP ${type} IF EXISTS "${name.replaceAll('"', '""')}"`)
}

/** Byte for byte, and judged by what was copied: the file may be another by now. */
export function takeKey(dataDir: string, folder: string): KeyFile | undefined {
  const copy = masterKeyFile(folder)
  rmSync(copy, { force: true })
  if (readMasterKey(dataDir) === undefined) return undefined
  writeFileSync(copy, readFileSync(masterKeyFile(dataDir)), { mode: 0o600, flag: 'wx' })
  return readMasterKey(folder)
}

/** What the manifest says of the key. */
export const describeKey = async (key: KeyFile | undefined, folder: string) =>
  key ? { id: key.id, sha256: (await measure(masterKeyFile(folder))).sha256 } : null
