import { Database } from 'bun:sqlite'
import fs from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { migrations } from '../../../drizzle/index.ts'
import { databaseExists, databaseFile } from '../../../src/db/open.ts'
import { makeBackup, restoreArchive } from '../../../src/platform/backup/index.ts'
import { type Clock, systemClock } from '../../../src/platform/clock.ts'
import type { Process } from '../../../src/platform/process.ts'
import {
  loadMasterKey,
  masterKeyFile,
  newMasterKey,
  replaceKeyFile,
} from '../../../src/platform/sealing/key-file.ts'
import { temporaryFolder } from '../../support/folder.ts'
import { addMigratedDatabase } from '../../support/template.ts'
import { sha256 } from './archive.ts'

export * from './archive.ts'

/** The process that backs up and restores. No other process of its host runs. */
export const PROCESS: Process = {
  version: '1.2.3',
  host: 'here ns',
  pid: 4242,
  isRunning: () => false,
}

export const hurried: Clock = {
  ...systemClock,
  after: (_, fn) => {
    const immediate = setImmediate(fn)
    return () => clearImmediate(immediate)
  },
}

export function createHome() {
  const folder = temporaryFolder()
  const dataDir = join(folder.path, 'data')
  fs.mkdirSync(dataDir, { mode: 0o700 })
  const file = databaseFile(dataDir)
  addMigratedDatabase(dataDir)
  const client = new Database(file, { strict: true })
  for (const pragma of ['journal_mode = WAL', 'foreign_keys = ON', 'secure_delete = ON'])
    client.run(`PRAGMA ${pragma}`)
  client.run("INSERT INTO installation VALUES ('inst-1', 0)")
  client.run("INSERT INTO instances VALUES ('i', 'elsewhere', 1, '1.0.0', 0, 0, 0)")
  const key = loadMasterKey(dataDir)
  client.query('INSERT INTO master_keys VALUES (?, 0)').run(key.id)
  const db = { client, file, close: () => client.close() }

  /** Tells one state of the database from another. */
  const addTenant = (name: string) =>
    db.client
      .query(`INSERT INTO tenants (id, name, plan, status, created_at, updated_at)
        VALUES (?, ?, 'free', 'active', 0, 0)`)
      .run(name, name)

  const backUp = async (file: string, more: Partial<Parameters<typeof makeBackup>[0]> = {}) => {
    const to = { file: join(folder.path, file) }
    const parts = { dataDir, to, withKey: true, clock: hurried, process: PROCESS, ...more }
    return { file: to.file, ...(await makeBackup(parts)) }
  }

  const restoreFrom = (source: string | Uint8Array, more: RestoreOptions = {}) => {
    db.close()
    return restore(dataDir, source, more)
  }

  const dispose = () => {
    db.close()
    folder[Symbol.dispose]()
  }
  const verbs = { addTenant, backUp, restore: restoreFrom }
  return { path: folder.path, dataDir, db, key, ...verbs, [Symbol.dispose]: dispose }
}

type RestoreOptions = Partial<Parameters<typeof restoreArchive>[0]>

export function restore(dataDir: string, source: string | Uint8Array, more: RestoreOptions = {}) {
  const open = () =>
    typeof source === 'string' ? fs.createReadStream(source) : Readable.from([source])
  const parts = { open, dataDir, migrations, clock: hurried, process: PROCESS }
  return restoreArchive({ ...parts, ...more })
}

export function tenantsIn(dataDir: string): string[] {
  if (!databaseExists(dataDir)) throw new Error(`there is no database in ${dataDir}`)
  using client = new Database(databaseFile(dataDir))
  const names = client.query<{ name: string }, []>('SELECT name FROM tenants ORDER BY name')
  return names.all().map(({ name }) => name)
}

/** Every file below a folder with its hash, except logs of databases. */
export const fingerprint = (folder: string): Record<string, string> =>
  Object.fromEntries(
    fs
      .readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && !/-(shm|wal)$/.test(entry.name))
      .map(({ parentPath, name }) => join(parentPath, name))
      .map((file) => [file, sha256(fs.readFileSync(file))]),
  )

export const modeOf = (path: string) => fs.statSync(path).mode & 0o777

export const keyIn = (dataDir: string) => fs.readFileSync(masterKeyFile(dataDir), 'utf8')

/** A home with another key than its backup has, and one tenant more. */
export async function twoStates() {
  const home = createHome()
  home.addTenant('before')
  const { file, createdAt } = await home.backUp('a.tar.gz')
  const oldKey = keyIn(home.dataDir)
  const next = newMasterKey()
  replaceKeyFile(home.dataDir, [next])
  home.db.client.query('UPDATE master_keys SET id = ?').run(next.id)
  home.addTenant('after')
  home.db.close()
  return { ...home, file, createdAt, oldKey, newKey: keyIn(home.dataDir) }
}
