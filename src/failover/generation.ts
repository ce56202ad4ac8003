import { chmodSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { databaseFile, openDatabase } from '../db/open.ts'
import { sync } from '../platform/files.ts'
import { progressFolder } from './data-directory.ts'
import { emptyFile, type LogBeginning, nameOfFile } from './empty-file.ts'

/**
 * Makes a copy the database of this server, whose path continues another one after the transaction
 * `txid`. Uploading all of it would take minutes, so Litestream gets a file that says where in the
 * log to go on. It has to be in object storage, too: returns its name and content.
 */
export function beginDatabase(parts: { dataDir: string; copy: string; txid: bigint; now: number }) {
  const { dataDir, copy, txid, now } = parts
  // SQLite gives its log the same mode.
  chmodSync(copy, 0o600)
  renameSync(copy, databaseFile(dataDir))
  sync(dataDir)
  const content = emptyFile(txid + 1n, now, beginLog(dataDir))
  const name = nameOfFile(txid + 1n)
  const folder = progressFolder(dataDir)
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  writeFileSync(join(folder, name), content, { mode: 0o600 })
  sync(join(folder, name))
  sync(folder)
  return { name, content }
}

/** Begins a write-ahead log with a transaction that changes nothing, and says where it begins. */
function beginLog(dataDir: string): LogBeginning {
  const file = databaseFile(dataDir)
  const { size } = statSync(file)
  const db = openDatabase({ dataDir, synchronous: 'full', externalCheckpoint: true })
  try {
    const numberOf = (pragma: string) =>
      Object.values(db.client.prepare(`PRAGMA ${pragma}`).get() as Record<string, number>)[0] ?? 0
    const pageSize = numberOf('page_size')
    db.client.run(`PRAGMA user_version = ${numberOf('user_version')}`)
    const log = readFileSync(`${file}-wal`)
    return { pageSize, pages: size / pageSize, salts: [log.readUInt32BE(16), log.readUInt32BE(20)] }
  } finally {
    db.close()
  }
}
