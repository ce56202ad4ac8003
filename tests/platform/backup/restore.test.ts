import { describe, expect, test } from 'bun:test'
import fs from 'node:fs'
import { join } from 'node:path'
import { openDatabase, restoreMarker } from '../../../src/db/open.ts'
import { exchange, handOver } from '../../../src/platform/backup/exchange.ts'
import { ownLike } from '../../../src/platform/backup/files.ts'
import { makeBackup } from '../../../src/platform/backup/index.ts'
import { mark } from '../../../src/platform/backup/marker.ts'
import { type Clock, systemClock } from '../../../src/platform/clock.ts'
import {
  masterKeyFile,
  newMasterKey,
  replaceKeyFile,
} from '../../../src/platform/sealing/key-file.ts'
import { openKeyRing } from '../../../src/platform/sealing/open-key-ring.ts'
import { temporaryFolder } from '../../support/folder.ts'
import { ACTOR, createInstallation, rotationOn, UNWATCHED } from '../sealing/fixture.ts'
import { piecesOf } from './archive.ts'
import {
  createHome,
  fingerprint,
  hurried,
  keyIn,
  modeOf,
  PROCESS,
  restore,
  tenantsIn,
  twoStates,
} from './fixture.ts'

const NOW = Date.now()
const DAY_MS = 24 * 60 * 60 * 1000
const isRoot = process.getuid?.() === 0
const open = (dataDir: string) => openDatabase({ dataDir, synchronous: 'full' })

test('A restore puts database and key back and keeps the replaced ones beside them', async () => {
  using states = await twoStates()
  const { dataDir, file, createdAt, oldKey, newKey } = states
  fs.mkdirSync(join(dataDir, 'backups'))
  if (isRoot) fs.chownSync(dataDir, 1234, 1234)
  const { manifest, previous = '' } = await states.restore(file)
  expect(manifest.created_at).toBe(new Date(createdAt).toISOString())
  expect([keyIn(dataDir), tenantsIn(dataDir)]).toEqual([oldKey, ['before']])
  expect([keyIn(previous), tenantsIn(previous)]).toEqual([newKey, ['after', 'before']])
  expect(previous).toMatch(/data\/before-restore-[\dTZ-]+$/)
  const files = [masterKeyFile(dataDir), join(dataDir, 'gatehouse.db')]
  expect([...files, previous].map(modeOf)).toEqual([0o600, 0o600, 0o700])
  // Root restores for the owner of the directory.
  if (isRoot)
    for (const path of [previous, ...files])
      expect(fs.statSync(path)).toMatchObject({ uid: 1234, gid: 1234 })
  expect(fs.readdirSync(dataDir)).toContain('backups')
  expect(fs.readdirSync(dataDir).filter((name) => name.startsWith('.'))).toEqual([])
})

test('A new directory gets the database and the key, and no directory if the archive is refused', async () => {
  using home = createHome()
  home.addTenant('before')
  const { file } = await home.backUp('a.tar.gz')
  const dataDir = join(home.path, 'new', 'data')
  await expect(restore(dataDir, Buffer.from('hello'))).rejects.toThrow()
  expect(fs.existsSync(join(home.path, 'new'))).toBe(false)
  expect((await restore(dataDir, file)).previous).toBeUndefined()
  expect(fs.readdirSync(dataDir).toSorted()).toEqual(['gatehouse.db', 'master.key'])
  expect(modeOf(dataDir)).toBe(0o700)
  expect([keyIn(dataDir), tenantsIn(dataDir)]).toEqual([keyIn(home.dataDir), ['before']])
  // An equal key stays, and an unreadable database is moved away like any other.
  fs.writeFileSync(join(home.dataDir, 'gatehouse.db'), 'no database')
  const { previous = '' } = await home.restore(file)
  expect(tenantsIn(home.dataDir)).toEqual(['before'])
  expect(fs.readFileSync(join(previous, 'gatehouse.db'), 'utf8')).toBe('no database')
  expect([home.dataDir, previous].map(masterKeyFile).map(fs.existsSync)).toEqual([true, false])
})

test('A restore forgets the processes of the backup and counts what is overdue', async () => {
  using home = createHome()
  home.addTenant('t')
  const [past, future] = [NOW - DAY_MS, NOW + DAY_MS]
  home.db.client.run(
    `INSERT INTO runs (tenant_id, job_kind, job_id, trigger, slot_at, attempt, host, due_at, state)
       SELECT 't', 'delayed', 'j', 'manual', 0, 1, 'h', column1, column2 FROM (VALUES
         (${past}, 'waiting'), (${past}, 'ready'), (${future}, 'leased'), (${future}, 'waiting'));
     INSERT INTO cron_jobs (id, tenant_id, name, schedule, method, url, headers, created_at,
         updated_at, is_active, next_run_at)
       SELECT column1, 't', 'n', '* * * * *', 'GET', 'https://x', '{}', 0, 0, column2, column3
       FROM (VALUES ('late', 1, ${past}), ('paused', 0, ${past}), ('early', 1, ${future}));
     INSERT INTO messages (seq, id, tenant_id, stream, type, payload, accepted_at)
       VALUES (1, 'm', 't', 'relay', 'x', '{}', 0);
     INSERT INTO deliveries (id, tenant_id, stream, message_seq, endpoint_id, format, line, run,
         attempts, tries, trigger, created_at, state, due_at)
       SELECT column2, 't', 'relay', 1, column2, 'plain', 0, 0, 0, 0, 'event', 0, column1, column2
       FROM (VALUES ('waiting', ${past}), ('waiting', ${future}), ('held', ${past} + 1));
     INSERT INTO mails (id, tenant_id, kind, recipient_hash, tries, expires_at, created_at, due_at, state)
       SELECT column1, 't', 'k', 'h', 0, 0, 0, ${past}, column1
       FROM (VALUES ('ready'), ('kept'), ('sent'))`,
  )
  const { file } = await home.backUp('a.tar.gz')
  expect((await home.restore(file)).overdue).toEqual({ runs: 4, deliveries: 1, mails: 1 })
  const db = open(home.dataDir)
  expect(db.client.query('SELECT * FROM instances').all()).toEqual([])
  db.close()
})

describe('A restore is refused only while a server may be running', () => {
  const { host } = PROCESS
  const { pid } = process
  const runs = { isRunning: (other: number) => other === pid }
  const recent = { beatAt: NOW, startedAt: NOW - DAY_MS }
  const longAgo = { beatAt: NOW - 30 * DAY_MS, startedAt: NOW - 30 * DAY_MS }
  test.each([
    ['a process of this host that runs', host, { ...recent, beatAt: 0 }, runs, true],
    ['a process of this host that is gone', host, recent, {}, false],
    ['a former process with our process id', host, recent, { pid }, false],
    ['another program with an old process id', host, longAgo, runs, false],
    ['another host, last heard of', 'there', { ...recent, beatAt: NOW - 90_000 }, {}, true],
    ['another host, long silent', 'there', { ...recent, beatAt: NOW - 121_000 }, {}, false],
  ])('%s', async (_, host, { beatAt, startedAt }, process, isRefused) => {
    using home = createHome()
    const { file } = await home.backUp('a.tar.gz')
    home.addTenant('after')
    home.db.client
      .query("INSERT INTO instances VALUES ('x', ?, ?, '1.0.0', ?, ?, 7)")
      .run(host, pid, startedAt, beatAt)
    if (host === 'there' || !isRefused) home.db.close()
    const restored = restore(home.dataDir, file, { process: { ...PROCESS, ...process } })
    const since = new Date(startedAt).toISOString()
    const message = `process ${pid} on ${host.split(' ')[0]}, since ${since}`
    if (isRefused) await expect(restored).rejects.toThrow(message)
    else await restored
    expect(tenantsIn(home.dataDir)).toEqual(isRefused ? ['after'] : [])
  })

  test('or a rotation of the master key, which keeps every key that is needed', async () => {
    using installation = await createInstallation(3)
    const { dataDir } = installation
    const file = join(dataDir, 'a.tar.gz')
    await makeBackup({ dataDir, to: { file }, withKey: false, clock: hurried, process: PROCESS })
    let restored: Promise<unknown> | undefined
    // The rotation waits for the servers, and the restore begins in this time.
    const after: Clock['after'] = (_, fn) => {
      restored ??= restore(dataDir, file)
      const go = () => void setImmediate(fn)
      restored.then(go, go)
      return () => {}
    }
    const rotation = rotationOn(installation.connect(), { ...hurried, after }, dataDir)
    await rotation.rotate(ACTOR, UNWATCHED)
    const named = process.platform === 'linux' ? `(process ${pid})` : 'Stop it, or wait'
    await expect(restored).rejects.toThrow(named)
    // Opening fails where the file lacks a key that the database needs.
    await openKeyRing({ db: installation.db, clock: systemClock, dataDir })
  })

  test('or another restore, until its process is gone', async () => {
    using home = createHome()
    const { file } = await home.backUp('a.tar.gz')
    const staged = join(home.path, 'staged')
    fs.mkdirSync(staged)
    mark({ dataDir: home.dataDir, staged, process: { ...PROCESS, pid: 99 }, now: NOW })
    const process = { ...PROCESS, isRunning: (pid: number) => pid === 99 }
    await expect(home.restore(file, { process })).rejects.toThrow('another restore into')
    expect(() => open(home.dataDir)).toThrow('restore')
    await home.restore(file)
    expect(tenantsIn(home.dataDir)).toEqual([])
  })
})

test('An archive without a key takes the present one, and names the missing one otherwise', async () => {
  using home = createHome()
  const { file } = await home.backUp('a.tar.gz', { withKey: false })
  const key = keyIn(home.dataDir)
  home.addTenant('after')
  await home.restore(file)
  expect([keyIn(home.dataDir), tenantsIn(home.dataDir)]).toEqual([key, []])
  const elsewhere = join(home.path, 'elsewhere')
  const missing = `sealed with ${home.key.id}. Copy that key to ${elsewhere}/master.key`
  await expect(restore(elsewhere, file)).rejects.toThrow(missing)
  expect(fs.existsSync(elsewhere)).toBe(false)
  replaceKeyFile(home.dataDir, [newMasterKey()])
  const before = Object.keys(fingerprint(home.dataDir)).toSorted()
  await expect(home.restore(file)).rejects.toThrow('instead')
  expect(Object.keys(fingerprint(home.dataDir)).toSorted()).toEqual(before)
})

describe('An interrupted restore', () => {
  const STEPS = [
    'made room',
    'moved master.key away',
    'moved gatehouse.db away',
    'moved gatehouse.db-wal away',
    'moved gatehouse.db-shm away',
    'cleared',
    'moved master.key in',
    'moved gatehouse.db in',
  ]

  /** Unpacks an archive and begins to exchange its files for those of the directory, step by step. */
  async function begin(home: ReturnType<typeof createHome>, file: string) {
    const staged = join(home.path, 'staged')
    fs.mkdirSync(staged)
    const [, database, key] = await piecesOf(file)
    fs.writeFileSync(join(staged, 'gatehouse.db'), database?.body ?? '')
    fs.writeFileSync(join(staged, 'master.key'), key?.body ?? '')
    for (const end of ['-wal', '-shm']) fs.writeFileSync(`${home.db.file}${end}`, '')
    const { marker } = mark({ dataDir: home.dataDir, staged, process: PROCESS, now: NOW })
    return exchange({ dataDir: home.dataDir, staged, marker })
  }

  test.each([0, 2, 4, 7, 8])('after step %d is completed by the next', async (cut) => {
    using states = await twoStates()
    const { dataDir } = states
    const steps = await begin(states, states.file)
    expect(STEPS.slice(0, cut).map(() => steps.next().value)).toEqual(STEPS.slice(0, cut))
    expect(() => open(dataDir)).toThrow('run `restore` again with the same file')
    const { previous = '' } = await states.restore(states.file)
    expect([keyIn(dataDir), tenantsIn(dataDir)]).toEqual([states.oldKey, ['before']])
    expect([keyIn(previous), tenantsIn(previous)]).toEqual([states.newKey, ['after', 'before']])
    expect(fs.readdirSync(dataDir).filter((name) => name.startsWith('before-'))).toHaveLength(1)
  })

  test('has no other steps, and is completed by an archive without a key, with the one moved away', async () => {
    using home = createHome()
    const { file } = await home.backUp('a.tar.gz', { withKey: false })
    using other = createHome()
    const foreign = await other.backUp('b.tar.gz')
    const key = keyIn(home.dataDir)
    home.db.close()
    const steps = await begin(home, foreign.file)
    expect(STEPS.slice(0, 7).map(() => steps.next().value)).toEqual(STEPS.slice(0, 7))
    expect(keyIn(home.dataDir)).not.toBe(key)
    await home.restore(file)
    expect(keyIn(home.dataDir)).toBe(key)
    using states = await twoStates()
    expect([...(await begin(states, states.file))]).toEqual(STEPS)
  })
})

const BY = { host: PROCESS.host, pid: PROCESS.pid, at: 0 }
const PREVIOUS = 'before-restore-2026-11-22T06-40-02Z'
const GOOD = { previous: PREVIOUS, files: ['gatehouse.db'], by: BY }

test('A forged marker is refused and changes nothing; a valid one is completed', async () => {
  using home = createHome()
  const { dataDir } = home
  const { file } = await home.backUp('a.tar.gz')
  home.addTenant('after')
  const victim = join(home.path, 'victim')
  fs.mkdirSync(victim)
  if (isRoot) fs.chownSync(dataDir, 1234, 1234)
  const marker = restoreMarker(dataDir)
  for (const change of [
    ...[{ previous: '../victim' }, { previous: `${PREVIOUS}/../../victim` }],
    ...[{ previous: `${PREVIOUS}\n` }, { files: ['../victim'] }],
    // A title and a command for the terminal.
    ...[{ by: { ...BY, host: '\u001b]0;pwned\u0007' } }, { by: { ...BY, host: '\u009b2J' } }],
  ]) {
    const written = JSON.stringify({ ...GOOD, ...change })
    fs.writeFileSync(marker, written)
    await expect(home.restore(file), written).rejects.toThrow(`${marker} cannot be read`)
    expect(fs.readFileSync(marker, 'utf8')).toBe(written)
    expect(fs.statSync(victim).uid).toBe(process.getuid?.() ?? 0)
    fs.rmSync(marker)
    expect(tenantsIn(dataDir)).toEqual(['after'])
  }
  // As for the second restore of a second.
  const previous = `${PREVIOUS}-2`
  fs.writeFileSync(marker, JSON.stringify({ ...GOOD, previous }))
  expect((await home.restore(file)).previous).toBe(join(dataDir, previous))
  expect([tenantsIn(join(dataDir, previous)), tenantsIn(dataDir)]).toEqual([['after'], []])
})

test('An account that exchanges files while root works owns files of an archive alone, and root follows no link', () => {
  using folder = temporaryFolder()
  const [exchanged, victim] = [join(folder.path, 'exchanged'), join(folder.path, 'victim')]
  fs.mkdirSync(exchanged)
  fs.writeFileSync(victim, 'as it was')
  fs.symlinkSync(victim, join(exchanged, 'marker'))
  const begin = () => mark({ dataDir: folder.path, staged: exchanged, process: PROCESS, now: 0 })
  expect(begin).toThrow('EEXIST')
  expect(fs.readFileSync(victim, 'utf8')).toBe('as it was')
  if (!isRoot) return
  for (const name of ['gatehouse.db', 'shadow']) fs.writeFileSync(join(exchanged, name), '')
  fs.chownSync(folder.path, 1234, 1234)
  handOver(exchanged, folder.path)
  const owners = ['gatehouse.db', 'shadow'].map((name) => fs.statSync(join(exchanged, name)).uid)
  expect(owners).toEqual([1234, 0])
  for (const make of [fs.symlinkSync, fs.linkSync]) {
    const link = join(folder.path, make.name)
    make(victim, link)
    expect(() => ownLike(link, folder.path)).toThrow()
  }
  expect(fs.statSync(victim).uid).toBe(0)
})
