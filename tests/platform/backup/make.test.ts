import { expect, test } from 'bun:test'
import { mkdirSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { actorsIn } from '../../../src/platform/backup/contents.ts'
import { AppError } from '../../../src/platform/errors.ts'
import type { Process } from '../../../src/platform/process.ts'
import {
  MasterKeyError,
  masterKeyFile,
  newMasterKey,
  readMasterKey,
  replaceKeyFile,
} from '../../../src/platform/sealing/key-file.ts'
import { until } from '../../support/binary.ts'
import {
  createHome,
  databaseIn,
  hurried,
  modeOf,
  PROCESS,
  piecesOf,
  sha256,
  startWriter,
} from './fixture.ts'

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
  expect(key).toEqual(readFileSync(masterKeyFile(home.dataDir)))
  const bytes = readFileSync(made.file)
  expect(made).toMatchObject({ bytes: bytes.length, sha256: sha256(bytes), hasKey: true })
  expect(readdirSync(home.path).sort()).toEqual(['a.tar.gz', 'data'])
})

test('The copy has every table, index and counter, and nothing that was deleted', async () => {
  using home = createHome()
  const { client } = home.db
  for (const sql of [
    'PRAGMA user_version = 7',
    'PRAGMA secure_delete = OFF',
    "INSERT INTO tenants VALUES ('t', 'forget-me-please', 'free', 'active', NULL, 0, 0)",
    "UPDATE tenants SET name = 't'",
    `INSERT INTO messages (seq, id, tenant_id, stream, type, payload, accepted_at)
      VALUES (9, 'm', 't', 'relay', 'x', '{}', 0)`,
    'DELETE FROM messages',
  ])
    client.run(sql)
  const schema = 'SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name'

  const { file } = await home.backUp('a.tar.gz')

  using copy = await databaseIn(file, home.path)
  expect(copy.query(schema).all()).toEqual(client.query(schema).all())
  expect(copy.query('PRAGMA user_version').get()).toEqual({ user_version: 7 })
  expect(copy.query('SELECT * FROM sqlite_sequence').all()).toEqual([{ name: 'messages', seq: 9 }])
  expect(copy.query('PRAGMA integrity_check').all()).toEqual([{ integrity_check: 'ok' }])
  expect(Buffer.from(copy.serialize()).includes('forget-me-please')).toBe(false)
})

test('Views, triggers and virtual tables of the operator are left out of the copy alone', async () => {
  using home = createHome()
  const { client } = home.db
  client.run('CREATE VIEW "my ""things" AS SELECT * FROM tenants')
  client.run('CREATE TRIGGER mine AFTER INSERT ON tenants BEGIN SELECT 1; END')
  client.run('CREATE VIRTUAL TABLE found USING fts5(text)')

  using copy = await databaseIn((await home.backUp('a.tar.gz')).file, home.path)

  expect(actorsIn(copy)).toEqual([])
  expect(actorsIn(client)).toHaveLength(3)
})

test('A backup has everything stored before it began while another process keeps writing', async () => {
  using home = createHome()
  const writer = startWriter(home.dataDir)
  let stored = 0
  const heard = (async () => {
    const decoder = new TextDecoder()
    for await (const chunk of writer.stdout)
      stored = Number(decoder.decode(chunk).trimEnd().split('\n').at(-1))
  })()
  await until(() => stored > 20)

  for (const name of ['a', 'b', 'c']) {
    const before = stored
    const { file } = await home.backUp(`${name}.tar.gz`)
    await until(() => stored > before)
    using copy = await databaseIn(file, home.path)
    const rows = copy.query<{ n: number; last: number }, []>(
      'SELECT count(*) - 1 AS n, max(created_at) AS last FROM installation',
    )
    const { n, last } = rows.get() ?? { n: 0, last: 0 }
    expect(last).toBeGreaterThanOrEqual(before)
    expect(n).toBe(last)
  }
  writer.kill()
  await heard
})

test('A backup can be written to a stream, and a broken stream leaves nothing behind', async () => {
  using home = createHome()
  const chunks: Buffer[] = []
  const stream = new Writable({
    write: (chunk, _, done) => done(void chunks.push(chunk) as undefined),
  })
  const made = await home.backUp('-', { to: { stream, workIn: home.path } })
  expect(sha256(Buffer.concat(chunks))).toBe(made.sha256)
  expect(readdirSync(home.path)).toEqual(['data'])

  const broken = new Writable({ write: (_chunk, _, done) => done(new Error('no reader')) })
  const refused = home.backUp('-', { to: { stream: broken, workIn: home.path } })
  await expect(refused).rejects.toThrow('no reader')
  await until(() => readdirSync(home.path).length === 1)
})

test('A backup replaces no file and creates no directory', async () => {
  using home = createHome()
  const { file } = await home.backUp('a.tar.gz')
  const first = readFileSync(file)

  await expect(home.backUp('a.tar.gz')).rejects.toThrow('already exists')
  await expect(home.backUp('none/a.tar.gz')).rejects.toThrow(AppError)
  expect(readFileSync(file)).toEqual(first)
})

test('Work folders of dead processes are removed, those of running processes after two days', async () => {
  using home = createHome()
  const process = { ...PROCESS, pid: 77, isRunning: (pid: number) => pid === 99 }
  const works = () => readdirSync(home.path).filter((name) => name.startsWith('.gatehouse'))
  /** Makes the work folder that a killed backup would leave. */
  const leftBy = async (maker: Partial<Process>) => {
    let [name = ''] = ['']
    const write = (_: unknown, __: string, done: () => void) => {
      name ||= works().at(-1) ?? ''
      done()
    }
    const to = { stream: new Writable({ write }), workIn: home.path }
    await home.backUp('-', { to, process: { ...process, ...maker } })
    return name
  }
  const dead = await leftBy({ pid: 98 })
  const living = [await leftBy({ pid: 99 }), await leftBy({ host: 'there' })]
  for (const name of [dead, ...living]) mkdirSync(join(home.path, name))
  writeFileSync(join(home.path, dead, 'gatehouse.db'), 'half a copy')

  await home.backUp('a.tar.gz', { process })
  expect(works().toSorted()).toEqual(living.toSorted())

  const twoDaysAgo = Date.now() / 1000 - 2 * 24 * 60 * 60
  for (const name of living) utimesSync(join(home.path, name), twoDaysAgo, twoDaysAgo)
  await home.backUp('b.tar.gz', { process })
  expect(works()).toEqual([])
})

test('A disk without room for the shared-memory file of the log can be backed up', async () => {
  using home = createHome()
  home.addTenant('there')
  home.db.close()
  for (const end of ['-wal', '-shm']) rmSync(`${home.db.file}${end}`, { force: true })
  mkdirSync(`${home.db.file}-shm`)

  using copy = await databaseIn((await home.backUp('a.tar.gz')).file, home.path)

  expect(copy.query('SELECT name FROM tenants').all()).toEqual([{ name: 'there' }])
})

test('The archive has no key on request, or where there is none yet', async () => {
  using home = createHome()
  const without = await home.backUp('a.tar.gz', { withKey: false })
  home.db.client.run('DELETE FROM master_keys')
  rmSync(masterKeyFile(home.dataDir))
  const unmade = await home.backUp('b.tar.gz')

  for (const { file, hasKey } of [without, unmade]) {
    expect(hasKey).toBe(false)
    const pieces = await piecesOf(file)
    expect(pieces.map(({ header }) => header.name)).toEqual(['manifest.json', 'gatehouse.db'])
    expect(JSON.parse(`${pieces[0]?.body}`)).toMatchObject({ master_key: null })
  }
})

test('Without the key that opens the database there is no backup', async () => {
  using home = createHome()
  replaceKeyFile(home.dataDir, [newMasterKey()])
  await expect(home.backUp('a.tar.gz')).rejects.toThrow(MasterKeyError)
  rmSync(masterKeyFile(home.dataDir))
  await expect(home.backUp('a.tar.gz')).rejects.toThrow('--without-key')
  expect(readdirSync(home.path)).toEqual(['data'])
})

test('A key that is replaced during the backup still fits the archived database', async () => {
  using home = createHome()
  const next = newMasterKey()
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
  expect(`${key?.body}`).toBe(readFileSync(masterKeyFile(home.dataDir), 'utf8'))
})

test('During a rotation the archive has both keys', async () => {
  using home = createHome()
  const next = newMasterKey()
  const old = readMasterKey(home.dataDir) ?? expect.unreachable()
  replaceKeyFile(home.dataDir, [next, old])
  home.db.client.query('INSERT INTO master_keys VALUES (?, 1)').run(next.id)

  const [, , key] = await piecesOf((await home.backUp('a.tar.gz')).file)

  expect(`${key?.body}`.trimEnd().split('\n')).toHaveLength(2)
})
