import { Database } from 'bun:sqlite'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { conflict } from '../platform/errors.ts'
import { pairFolder } from './data-directory.ts'

/**
 * Keeps a second server away from a data directory, until the process ends. Two would take each
 * other's Litestream for one that was left behind.
 */
export function lockDataDirectory(dataDir: string): Database {
  const folder = pairFolder(dataDir)
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const lock = new Database(join(folder, 'lock'))
  try {
    lock.run('BEGIN EXCLUSIVE')
    return lock
  } catch {
    throw conflict(
      `another server runs on ${dataDir}. Each server needs a data directory of its own`,
    )
  }
}
