import { expect, test } from 'bun:test'
import fs from 'node:fs'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { actorsIn } from '../../../src/platform/backup/contents.ts'
import { openWorkFolder } from '../../../src/platform/backup/work-folder.ts'
import { AppError } from '../../../src/platform/errors.ts'
import { giveName } from '../../../src/platform/files.ts'
import type { Process } from '../../../src/platform/process.ts'
import {
  MasterKeyError,
  masterKeyFile,
  newMasterKey,
  readMasterKey,
  replaceKeyFile,
} from '../../../src/platform/sealing/key-file.ts'
import { until } from '../../support/binary.ts'
import { temporaryFolder } from '../../support/folder.ts'
import { databaseIn, piecesOf, sha256 } from './archive.ts'
import { createHome, hurried, modeOf, PROCESS } from './fixture.ts'

test('A backup is one archive of manifest, database and key that only its owner can read', async () => {
  using home = createHome()
  const made = await home.backUp('a.tar.gz')
  expect(modeOf(made.file)).toBe(0o600)
  const pieces = await piecesOf(made.file)
  expect(pieces.map(({ header }) => [header.name, header.mode])).toEqual([
    ['manifest.json', 0o600],
    ['gatehouse.db', 0o600],
    ['master.key', 0o600],
  ])
  const [manifest, database, key] = pieces.map(({ body }) => Buffer.from(body))
  expect(JSON.parse(`${manifest}`)).toEqual({
    format: 1,
    app_version: '1.2.3',
    created_at: new Date(made.createdAt).toISOString(),
    installation: 'inst-1',
    schema: home.db.client.query('SELECT id, hash FROM _migrations ORDER BY id').all(),
    database: { bytes: database?.length, sha256: sha256(database ?? Buffer.alloc(0)) },
    master_key: { id: home.key.id, sha256: sha256(key ?? Buffer.alloc(0)) },
  })
  expect(key).toEqual(fs.readFileSync(masterKeyFile(home.dataDir)))
  const bytes = fs.readFileSync(made.file)
  expect(made).toMatchObject({ bytes: bytes.length, sha256: sha256(bytes), hasKey: true })
  // It replaces no file and creates no directory.
  await expect(home.backUp('a.tar.gz')).rejects.toThrow('already exists')
  await expect(home.backUp('none/a.tar.gz')).rejects.toThrow(AppError)
  expect(fs.readFileSync(made.file)).toEqual(bytes)
  expect(fs.readdirSync(home.path).sort()).toEqual(['a.tar.gz', 'data'])
})

test('The copy has every table, index and counter, and nothing that was deleted', async () => {
  using home = createHome()
  const { client } = home.db
  const texts = (sql: string, from = client) => from.query(sql).values()
  const schema = 'SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name'
  const before = texts(schema)
  for (const sql of [
    'PRAGMA user_version = 7',
    'PRAGMA secure_delete = OFF',
    `INSERT INTO tenants (id, name, plan, status, created_at, updated_at)
        VALUES ('t', 'forget-me-please', 'free', 'active', 0, 0)`,
    "UPDATE tenants SET name = 't'",
    `INSERT INTO messages (seq, id, tenant_id, stream, type, payload, accepted_at)
      VALUES (9, 'm', 't', 'relay', 'x', '{}', 0)`,
    'DELETE FROM messages',
    // Views, triggers and virtual tables of the operator are left out of the copy alone.
    'CREATE VIEW "my ""things" AS SELECT * FROM tenants',
    'CREATE TRIGGER mine AFTER INSERT ON tenants BEGIN SELECT 1; END',
    'CREATE VIRTUAL TABLE found USING fts5(text)',
  ])
    client.run(sql)
  using copy = await databaseIn((await home.backUp('a.tar.gz')).file, home.path)
  expect(actorsIn(copy)).toEqual([])
  expect(actorsIn(client)).toHaveLength(3)
  expect(texts(schema, copy)).toEqual(before)
  expect(texts('PRAGMA user_version', copy)).toEqual([[7]])
  expect(texts('SELECT * FROM sqlite_sequence', copy)).toContainEqual(['messages', 9])
  expect(texts('PRAGMA integrity_check', copy)).toEqual([['ok']])
  expect(Buffer.from(copy.serialize()).includes('forget-me-please')).toBe(false)
})

test('A backup can be written to a stream, and a broken stream leaves nothing behind', async () => {
  using home = createHome()
  const chunks: Buffer[] = []
  const stream = new Writable({
    write: (chunk, _, done) => done(void chunks.push(chunk) as undefined),
  })
  const made = await home.backUp('-', { to: { stream, workIn: home.path } })
  expect(sha256(Buffer.concat(chunks))).toBe(made.sha256)
  expect(fs.readdirSync(home.path)).toEqual(['data'])
  const broken = new Writable({ write: (_chunk, _, done) => done(new Error('no reader')) })
  const refused = home.backUp('-', { to: { stream: broken, workIn: home.path } })
  await expect(refused).rejects.toThrow('no reader')
  await until(() => fs.readdirSync(home.path).length === 1)
})

test('A backup that is no longer wanted once it is written leaves nothing behind', async () => {
  using home = createHome()
  const refused = home.backUp('a.tar.gz', { isWanted: () => false })
  await expect(refused).rejects.toThrow('the process that asked for the backup has ended')
  expect(fs.readdirSync(home.path)).toEqual(['data'])
})

test('Work folders of dead processes are removed, those of running processes after two days', async () => {
  using home = createHome()
  const process = { ...PROCESS, isRunning: (pid: number) => pid === 99 }
  const now = Date.now()
  const leftBy = (maker: Partial<Process>) =>
    openWorkFolder({ parent: home.path, process: { ...process, ...maker }, now }).path
  const living = [leftBy({ pid: 99 }), leftBy({ host: 'there' })]
  const dead = leftBy({ pid: 98 })
  fs.writeFileSync(join(dead, 'gatehouse.db'), 'half a copy')
  await home.backUp('a.tar.gz', { process })
  expect([dead, ...living].map(fs.existsSync)).toEqual([false, true, true])
  const twoDaysAgo = now / 1000 - 2 * 24 * 60 * 60
  for (const path of living) fs.utimesSync(path, twoDaysAgo, twoDaysAgo)
  await home.backUp('b.tar.gz', { process })
  expect(living.map(fs.existsSync)).toEqual([false, false])
})

test('The archive has no key on request, or where there is none; without the needed one there is no backup', async () => {
  using home = createHome()
  const without = await home.backUp('a.tar.gz', { withKey: false })
  using other = createHome()
  replaceKeyFile(other.dataDir, [newMasterKey()])
  await expect(other.backUp('a.tar.gz')).rejects.toThrow(MasterKeyError)
  fs.rmSync(masterKeyFile(other.dataDir))
  await expect(other.backUp('a.tar.gz')).rejects.toThrow('--without-key')
  expect(fs.readdirSync(other.path)).toEqual(['data'])
  other.db.client.run('DELETE FROM master_keys')
  for (const { file, hasKey } of [without, await other.backUp('b.tar.gz')]) {
    expect(hasKey).toBe(false)
    const pieces = await piecesOf(file)
    expect(pieces.map(({ header }) => header.name)).toEqual(['manifest.json', 'gatehouse.db'])
    expect(JSON.parse(`${pieces[0]?.body}`)).toMatchObject({ master_key: null })
  }
})

test('A key that is replaced during the backup still fits the database; during a rotation, there are both', async () => {
  using home = createHome()
  const next = newMasterKey()
  const old = readMasterKey(home.dataDir) ?? expect.unreachable()
  // The copy of the database still names the old key, and the file has only the new one.
  replaceKeyFile(home.dataDir, [next])
  let waits = 0
  const after = (ms: number, fn: () => void) => {
    waits++
    home.db.client.query('UPDATE master_keys SET id = ?').run(next.id)
    return hurried.after(ms, fn)
  }
  const { file } = await home.backUp('a.tar.gz', { clock: { ...hurried, after } })
  expect(waits).toBe(1)
  const [manifest, , key] = await piecesOf(file)
  expect(JSON.parse(`${manifest?.body}`)).toMatchObject({ master_key: { id: next.id } })
  expect(`${key?.body}`).toBe(fs.readFileSync(masterKeyFile(home.dataDir), 'utf8'))
  replaceKeyFile(home.dataDir, [next, old])
  home.db.client.query('INSERT INTO master_keys VALUES (?, 1)').run(old.id)
  const [, , both] = await piecesOf((await home.backUp('b.tar.gz')).file)
  expect(`${both?.body}`.trimEnd().split('\n')).toHaveLength(2)
})

test('A draft takes a free name, and no taken one, not even of a broken link', () => {
  using folder = temporaryFolder()
  const at = (name: string) => join(folder.path, name)
  fs.writeFileSync(at('draft'), 'new')
  fs.writeFileSync(at('taken'), 'old')
  fs.symlinkSync(at('nowhere'), at('link'))
  for (const name of ['taken', 'link'])
    expect(() => giveName(at('draft'), at(name))).toThrow(`${at(name)} already exists`)
  giveName(at('draft'), at('free'))
  expect(fs.readdirSync(folder.path).toSorted()).toEqual(['free', 'link', 'taken'])
  const texts = ['free', 'taken'].map((name) => fs.readFileSync(at(name), 'utf8'))
  expect(texts).toEqual(['new', 'old'])
})
