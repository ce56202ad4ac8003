import { expect, test } from 'bun:test'
import { mkdirSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { AppError } from '../../../src/platform/errors.ts'
import type { Process } from '../../../src/platform/process.ts'
import {
  type MasterKey,
  MasterKeyError,
  masterKeyFile,
  newMasterKey,
  readMasterKey,
  replaceKeyFile,
} from '../../../src/platform/sealing/key-file.ts'
import { until } from '../../support/binary.ts'
import { createHome, databaseIn, hurried, modeOf, PROCESS, piecesOf, sha256 } from './fixture.ts'

test('a backup is one archive for its owner alone: manifest, database and key, in this order', async () => {
  using home = createHome()

  const made = await home.backUp('a.tar.gz')

  expect(modeOf(made.file)).toBe(0o600)
  const pieces = await piecesOf(made.file)
  expect(pieces.map(({ header }) => [header.name, header.mode])).toEqual([
    ['manifest.json', 0o600],
    ['gatehouse.db', 0o600],
    ['master.key', 0o600],
  ])
  const [manifest, database, key] = pieces.map(({ body }) => body)
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

test('the copy has every table, index and counter of the original, and is sound', async () => {
  using home = createHome()
  const { client } = home.db
  client.run('PRAGMA user_version = 7')
  home.addTenant('t')
  client.run(
    "INSERT INTO messages (seq, id, tenant_id, stream, type, payload, accepted_at) VALUES (9, 'm', 't', 'relay', 'x', '{}', 0)",
  )
  client.run('DELETE FROM messages')
  const schema = 'SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name'

  const { file } = await home.backUp('a.tar.gz')

  using copy = await databaseIn(file, home.path)
  expect(copy.query(schema).all()).toEqual(client.query(schema).all())
  expect(copy.query('PRAGMA user_version').get()).toEqual({ user_version: 7 })
  expect(copy.query('SELECT * FROM sqlite_sequence').all()).toEqual([{ name: 'messages', seq: 9 }])
  expect(copy.query('PRAGMA integrity_check').all()).toEqual([{ integrity_check: 'ok' }])
})

test('all that was stored before a backup began is in it, while another process goes on writing', async () => {
  using home = createHome()
  const script = join(import.meta.dir, 'writer.script.ts')
  const writer = Bun.spawn([process.execPath, script, home.dataDir], { stdout: 'pipe' })
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

test('what was deleted is not in the copy', async () => {
  using home = createHome()
  home.addTenant('forget-me-please')
  home.db.client.run('PRAGMA secure_delete = OFF')
  home.db.client.run("DELETE FROM tenants WHERE name = 'forget-me-please'")

  const [, database] = await piecesOf((await home.backUp('a.tar.gz')).file)

  expect(Buffer.from(database?.body ?? []).includes('forget-me-please')).toBe(false)
})

test('a backup goes to a stream too', async () => {
  using home = createHome()
  const chunks: Buffer[] = []
  const stream = new Writable({
    write(chunk, _, done) {
      chunks.push(chunk)
      done()
    },
  })

  const made = await home.backUp('-', { to: { stream, workIn: home.path } })

  expect(sha256(Buffer.concat(chunks))).toBe(made.sha256)
  expect(readdirSync(home.path)).toEqual(['data'])
})

test('a stream that takes no more ends the backup, and leaves nothing behind', async () => {
  using home = createHome()
  const stream = new Writable({ write: (_chunk, _, done) => done(new Error('no reader')) })

  await expect(home.backUp('-', { to: { stream, workIn: home.path } })).rejects.toThrow('no reader')
  await until(() => readdirSync(home.path).length === 1)
})

test('no file is replaced, and no directory made', async () => {
  using home = createHome()
  await home.backUp('a.tar.gz')
  const first = readFileSync(join(home.path, 'a.tar.gz'))

  await expect(home.backUp('a.tar.gz')).rejects.toThrow('already exists')
  await expect(home.backUp('none/a.tar.gz')).rejects.toThrow(AppError)
  expect(readFileSync(join(home.path, 'a.tar.gz'))).toEqual(first)
})

test('what killed backups have left is removed, and that of running ones is not', async () => {
  using home = createHome()
  const process = { ...PROCESS, pid: 77, isRunning: (pid: number) => pid === 99 }
  const leftBy = async (maker: Partial<Process>) => {
    const names = new Set<string>()
    const stream = new Writable({
      write(_chunk, _, done) {
        for (const name of works()) names.add(name)
        done()
      },
    })
    await home.backUp('-', { to: { stream, workIn: home.path }, process: { ...process, ...maker } })
    return [...names][0] ?? ''
  }
  const works = () => readdirSync(home.path).filter((name) => name.startsWith('.gatehouse'))
  const dead = await leftBy({ pid: 98 })
  const running = await leftBy({ pid: 99 })
  const elsewhere = await leftBy({ host: 'there' })
  for (const name of [dead, running, elsewhere]) mkdirSync(join(home.path, name))
  writeFileSync(join(home.path, dead, 'gatehouse.db'), 'half a copy')

  await home.backUp('a.tar.gz', { process })

  expect(works().toSorted()).toEqual([running, elsewhere].toSorted())

  // By now another program has the number.
  const twoDaysAgo = Date.now() / 1000 - 2 * 24 * 60 * 60
  for (const name of [running, elsewhere]) utimesSync(join(home.path, name), twoDaysAgo, twoDaysAgo)
  await home.backUp('b.tar.gz', { process })
  expect(works()).toEqual([])
})

test('a disk that takes not even the files by which processes share a database is no obstacle', async () => {
  using home = createHome()
  home.addTenant('there')
  home.db.close()
  for (const end of ['-wal', '-shm']) rmSync(`${home.db.file}${end}`, { force: true })
  mkdirSync(`${home.db.file}-shm`)

  const { file } = await home.backUp('a.tar.gz')

  using copy = await databaseIn(file, home.path)
  expect(copy.query('SELECT name FROM tenants').all()).toEqual([{ name: 'there' }])
})

test('without the key, or where there is none yet, the archive has none', async () => {
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

test('a key that does not open the database, or that is missing, is no backup', async () => {
  using home = createHome()

  replaceKeyFile(home.dataDir, [newMasterKey()])
  await expect(home.backUp('a.tar.gz')).rejects.toThrow(MasterKeyError)
  rmSync(masterKeyFile(home.dataDir))
  await expect(home.backUp('a.tar.gz')).rejects.toThrow('--without-key')
  expect(readdirSync(home.path)).toEqual(['data'])
})

test('a key that is replaced meanwhile makes no archive whose key does not fit', async () => {
  using home = createHome()
  const next = newMasterKey()
  const rename = (key: MasterKey) =>
    home.db.client.query('UPDATE master_keys SET id = ?').run(key.id)
  // The database has been copied, and knows the old one still, when the file has the new one only.
  replaceKeyFile(home.dataDir, [next])
  let waits = 0
  const clock = {
    ...hurried,
    after: (ms: number, fn: () => void) => {
      waits++
      rename(next)
      return hurried.after(ms, fn)
    },
  }

  const { file } = await home.backUp('a.tar.gz', { clock })

  expect(waits).toBe(1)
  const [manifest, , key] = await piecesOf(file)
  expect(JSON.parse(`${manifest?.body}`)).toMatchObject({ master_key: { id: next.id } })
  expect(`${key?.body}`).toBe(readFileSync(masterKeyFile(home.dataDir), 'utf8'))
})

test('while a key is being replaced, the archive has both', async () => {
  using home = createHome()
  const next = newMasterKey()
  const old = readMasterKey(home.dataDir)
  if (!old) throw new Error('there is a key')
  replaceKeyFile(home.dataDir, [next, old])
  home.db.client.query('INSERT INTO master_keys VALUES (?, 1)').run(next.id)

  const [, , key] = await piecesOf((await home.backUp('a.tar.gz')).file)

  expect(`${key?.body}`.trimEnd().split('\n')).toHaveLength(2)
})
