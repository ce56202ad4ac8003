import { describe, expect, test } from 'bun:test'
import {
  chownSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { openDatabase } from '../../../src/db/open.ts'
import { exchange } from '../../../src/platform/backup/exchange.ts'
import { makeBackup } from '../../../src/platform/backup/index.ts'
import { mark } from '../../../src/platform/backup/marker.ts'
import { type Clock, systemClock } from '../../../src/platform/clock.ts'
import {
  masterKeyFile,
  newMasterKey,
  replaceKeyFile,
} from '../../../src/platform/sealing/key-file.ts'
import { openKeyRing } from '../../../src/platform/sealing/open-key-ring.ts'
import { ACTOR, createInstallation, rotationOn, UNWATCHED } from '../sealing/fixture.ts'
import {
  createHome,
  fingerprint,
  hurried,
  keyIn,
  modeOf,
  PROCESS,
  piecesOf,
  restore,
  startWriter,
  tenantsIn,
} from './fixture.ts'

const NOW = Date.now()
const DAY_MS = 24 * 60 * 60 * 1000
/** This process has the database open too, so that only the lock can tell. */
const SAME = { ...PROCESS, pid: process.pid }
const isRoot = process.getuid?.() === 0

/** A home with another key than its backup has, and one tenant more. */
async function twoStates() {
  const home = createHome()
  home.addTenant('before')
  const { file, createdAt } = await home.backUp('a.tar.gz')
  const key = keyIn(home.dataDir)
  const next = newMasterKey()
  replaceKeyFile(home.dataDir, [next])
  home.db.client.query('UPDATE master_keys SET id = ?').run(next.id)
  home.addTenant('after')
  home.db.close()
  return { home, file, createdAt, key, nextKey: keyIn(home.dataDir) }
}

test('A restore puts database and key back and keeps the replaced ones beside them', async () => {
  const { home, file, createdAt, key, nextKey } = await twoStates()
  using _ = home
  mkdirSync(join(home.dataDir, 'backups'))

  const { manifest, previous = '' } = await home.restore(file)

  expect(manifest.created_at).toBe(new Date(createdAt).toISOString())
  expect([keyIn(home.dataDir), tenantsIn(home.dataDir)]).toEqual([key, ['before']])
  expect(modeOf(masterKeyFile(home.dataDir))).toBe(0o600)
  expect(modeOf(join(home.dataDir, 'gatehouse.db'))).toBe(0o600)
  expect(previous).toMatch(/data\/before-restore-[\dTZ-]+$/)
  expect(modeOf(previous)).toBe(0o700)
  expect([keyIn(previous), tenantsIn(previous)]).toEqual([nextKey, ['after', 'before']])
  expect(readdirSync(home.dataDir)).toContain('backups')
  expect(readdirSync(home.dataDir).filter((name) => name.startsWith('.'))).toEqual([])
})

test('A new directory gets the database and the key, and no directory if the archive is refused', async () => {
  using home = createHome()
  home.addTenant('before')
  const { file } = await home.backUp('a.tar.gz')
  const dataDir = join(home.path, 'new', 'data')
  await expect(restore(dataDir, Buffer.from('hello'))).rejects.toThrow()
  expect(existsSync(join(home.path, 'new'))).toBe(false)

  expect((await restore(dataDir, file)).previous).toBeUndefined()

  expect(readdirSync(dataDir).toSorted()).toEqual(['gatehouse.db', 'master.key'])
  expect(modeOf(dataDir)).toBe(0o700)
  expect([keyIn(dataDir), tenantsIn(dataDir)]).toEqual([keyIn(home.dataDir), ['before']])
})

test('An equal key and an unreadable database are handled like any other', async () => {
  using home = createHome()
  home.addTenant('before')
  const { file } = await home.backUp('a.tar.gz')
  home.db.close()
  writeFileSync(join(home.dataDir, 'gatehouse.db'), 'no database')

  const { previous = '' } = await home.restore(file)

  expect(tenantsIn(home.dataDir)).toEqual(['before'])
  expect(readFileSync(join(previous, 'gatehouse.db'), 'utf8')).toBe('no database')
  expect(existsSync(masterKeyFile(home.dataDir))).toBe(true)
  expect(existsSync(masterKeyFile(previous))).toBe(false)
})

test('A restore forgets the processes of the backup and counts what is overdue', async () => {
  using home = createHome()
  home.addTenant('t')
  const [past, future] = [NOW - DAY_MS, NOW + DAY_MS]
  const insert = (sql: string, ...rows: (string | number)[][]) => {
    const statement = home.db.client.query(sql)
    for (const row of rows) statement.run(...row)
  }
  insert(
    `INSERT INTO runs (tenant_id, job_kind, job_id, trigger, slot_at, due_at, attempt, state, host)
     VALUES ('t', 'delayed', 'j', 'manual', 0, ?, 1, ?, 'h')`,
    ...[
      [past, 'waiting'],
      [past, 'ready'],
      [future, 'leased'],
      [future, 'waiting'],
    ],
  )
  insert(
    `INSERT INTO cron_jobs (id, tenant_id, name, schedule, method, url, headers, is_active, next_run_at,
       created_at, updated_at) VALUES (?, 't', 'n', '* * * * *', 'GET', 'https://x', '{}', ?, ?, 0, 0)`,
    ...[
      ['late', 1, past],
      ['paused', 0, past],
      ['early', 1, future],
    ],
  )
  insert(
    `INSERT INTO messages (seq, id, tenant_id, stream, type, payload, accepted_at)
     VALUES (1, 'm', 't', 'relay', 'x', '{}', 0)`,
    [],
  )
  insert(
    `INSERT INTO deliveries (id, tenant_id, stream, message_seq, endpoint_id, format, state, line, run,
       attempts, tries, trigger, due_at, created_at)
     VALUES (?1, 't', 'relay', 1, ?1, 'plain', ?2, 0, 0, 0, 0, 'event', ?3, 0)`,
    ...[
      ['late', 'waiting', past],
      ['early', 'waiting', future],
      ['held', 'held', past],
    ],
  )
  insert(
    `INSERT INTO mails (id, tenant_id, kind, recipient_hash, state, tries, due_at, expires_at, created_at)
     VALUES (?, 't', 'k', 'h', ?, 0, ?, 0, 0)`,
    ...[
      ['late', 'ready', past],
      ['kept', 'kept', past],
      ['sent', 'sent', past],
    ],
  )
  const { file } = await home.backUp('a.tar.gz')

  expect((await home.restore(file)).overdue).toEqual({ runs: 4, deliveries: 1, mails: 1 })

  const db = openDatabase({ dataDir: home.dataDir, synchronous: 'full' })
  expect(db.client.query('SELECT * FROM instances').all()).toEqual([])
  expect(db.client.query("SELECT 1 FROM runs WHERE state = 'leased'").all()).toHaveLength(1)
  db.close()
})

test.skipIf(!isRoot)('Root restores for the owner of the directory', async () => {
  const { home, file } = await twoStates()
  using _ = home
  chownSync(home.dataDir, 1234, 1234)

  const { previous = '' } = await home.restore(file)

  for (const path of [
    previous,
    ...['gatehouse.db', 'master.key'].map((it) => join(home.dataDir, it)),
  ])
    expect(statSync(path)).toMatchObject({ uid: 1234, gid: 1234 })
})

describe('A restore is refused only while a server may be running', () => {
  const { host } = PROCESS
  const runs = (pid: number) => ({ isRunning: (other: number) => other === pid })
  const recent = { beatAt: NOW, startedAt: NOW - DAY_MS }
  const longAgo = { beatAt: NOW - 30 * DAY_MS, startedAt: NOW - 30 * DAY_MS }
  test.each([
    ['a process of this host that runs', host, { ...recent, beatAt: 0 }, runs(SAME.pid), true],
    ['a process of this host that is gone', host, recent, {}, false],
    ['a former process with our process id', host, recent, { pid: SAME.pid }, false],
    ['another program with an old process id', host, longAgo, runs(SAME.pid), false],
    ['another host, last heard of', 'there', { ...recent, beatAt: NOW - 90_000 }, {}, true],
    ['another host, long silent', 'there', { ...recent, beatAt: NOW - 121_000 }, {}, false],
  ])('%s', async (_, host, { beatAt, startedAt }, process, isRefused) => {
    using home = createHome()
    const { file } = await home.backUp('a.tar.gz')
    home.addTenant('after')
    home.db.client
      .query("INSERT INTO instances VALUES ('x', ?, ?, '1.0.0', ?, ?, 7)")
      .run(host, SAME.pid, startedAt, beatAt)
    if (host === 'there' || !isRefused) home.db.close()

    const restored = restore(home.dataDir, file, { process: { ...PROCESS, ...process } })

    if (isRefused)
      await expect(restored).rejects.toThrow(
        `process ${SAME.pid} on ${host.split(' ')[0]}, since ${new Date(startedAt).toISOString()}`,
      )
    else await restored
    expect(tenantsIn(home.dataDir)).toEqual(isRefused ? ['after'] : [])
  })
})

describe('A restore is refused beside', () => {
  test('a command that has the database open, whose writes stay', async () => {
    using home = createHome()
    const { file } = await home.backUp('a.tar.gz')
    home.db.close()
    // Such as `import` or `tenant create`, which write no heartbeat.
    const command = openDatabase({ dataDir: home.dataDir, synchronous: 'full' })

    await expect(home.restore(file, { process: SAME })).rejects.toThrow('has the database in')
    command.client.run("INSERT INTO tenants VALUES ('t', 't', 'free', 'active', NULL, 0, 0)")
    command.close()

    expect(tenantsIn(home.dataDir)).toEqual(['t'])
    expect(readdirSync(home.dataDir).filter((name) => name.includes('restore'))).toEqual([])
  })

  test('a command of another process, which is named', async () => {
    using home = createHome()
    const { file } = await home.backUp('a.tar.gz')
    const writer = startWriter(home.dataDir)
    await writer.stdout.getReader().read()

    const named = process.platform === 'linux' ? `(process ${writer.pid})` : 'Stop it, or wait'
    await expect(home.restore(file)).rejects.toThrow(named)

    writer.kill()
    await writer.exited
    await home.restore(file)
  })

  test('a rotation of the master key, which keeps every key that is needed', async () => {
    using installation = await createInstallation(3)
    const { dataDir } = installation
    const file = join(dataDir, 'a.tar.gz')
    await makeBackup({ dataDir, to: { file }, withKey: false, clock: hurried, process: PROCESS })
    let restored: Promise<unknown> | undefined
    // The rotation waits for the servers, and the restore begins in this time.
    const after: Clock['after'] = (_, fn) => {
      restored ??= restore(dataDir, file, { process: SAME })
      const go = () => void setImmediate(fn)
      restored.then(go, go)
      return () => {}
    }

    const rotation = rotationOn(installation.connect(), { ...hurried, after }, dataDir)
    await rotation.rotate(ACTOR, UNWATCHED)

    await expect(restored).rejects.toThrow('has the database')
    // Opening fails where the file lacks a key that the database needs.
    await openKeyRing({ db: installation.db, clock: systemClock, dataDir })
  })

  test('another restore, until its process is gone', async () => {
    using home = createHome()
    const { file } = await home.backUp('a.tar.gz')
    const folder = join(home.path, 'staged')
    mkdirSync(folder)
    mark({ dataDir: home.dataDir, staged: folder, process: { ...PROCESS, pid: 99 }, now: NOW })

    const process = { ...PROCESS, isRunning: (pid: number) => pid === 99 }
    await expect(home.restore(file, { process })).rejects.toThrow('another restore into')
    expect(() => openDatabase({ dataDir: home.dataDir, synchronous: 'full' })).toThrow('restore')
    await home.restore(file)
    expect(tenantsIn(home.dataDir)).toEqual([])
  })
})

test('A rotation whose database is moved away removes no key from the file', async () => {
  using installation = await createInstallation(3)
  const { dataDir } = installation
  let held: string[] = []
  const after: Clock['after'] = (_, fn) => {
    if (held.length === 0) {
      renameSync(installation.db.file, join(dataDir, 'moved-away.db'))
      held = installation.held()
    }
    return hurried.after(0, fn)
  }

  const rotation = rotationOn(installation.connect(), { ...hurried, after }, dataDir)
  await expect(rotation.rotate(ACTOR, UNWATCHED)).rejects.toThrow('was moved or deleted')

  expect(installation.held()).toEqual(held)
  expect(held).toHaveLength(2)
})

const canMount =
  process.platform === 'linux' &&
  Bun.spawnSync(['unshare', '-m', 'mount', '--bind', '/tmp', '/tmp']).exitCode === 0

test.skipIf(!canMount)('A mounted key is reported before anything moves', async () => {
  const { home, file, key } = await twoStates()
  using _ = home
  const { dataDir } = home
  const [mounted, own] = [join(home.path, 'mounted'), join(home.path, 'own')]
  copyFileSync(masterKeyFile(dataDir), mounted)
  writeFileSync(own, key)
  const main = join(import.meta.dir, '../../../src/main.ts')
  const command = [process.execPath, main, 'restore', file, '--data-dir', dataDir]
  const restoreWith = (secret: string) => {
    const script = 'mount --bind "$1" "$2" && shift 2 && exec "$@"'
    const mount = ['unshare', '-m', 'sh', '-c', script, 'sh', secret, masterKeyFile(dataDir)]
    return Bun.spawnSync([...mount, ...command], { env: {}, stdout: 'pipe', stderr: 'pipe' })
  }

  expect(`${restoreWith(mounted).stderr}`).toContain('replace its source with the key')
  expect(tenantsIn(dataDir)).toEqual(['after', 'before'])
  expect(readdirSync(dataDir).filter((name) => name.includes('restore'))).toEqual([])
  expect(restoreWith(own)).toMatchObject({ exitCode: 0 })
  expect(tenantsIn(dataDir)).toEqual(['before'])
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
  expect(existsSync(elsewhere)).toBe(false)
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
    mkdirSync(staged)
    const [, database, key] = await piecesOf(file)
    writeFileSync(join(staged, 'gatehouse.db'), database?.body ?? '')
    writeFileSync(join(staged, 'master.key'), key?.body ?? '')
    for (const end of ['-wal', '-shm']) writeFileSync(`${home.db.file}${end}`, '')
    const { marker } = mark({ dataDir: home.dataDir, staged, process: PROCESS, now: NOW })
    return exchange({ dataDir: home.dataDir, staged, marker })
  }

  test('has been interrupted at each of its steps', async () => {
    const { home, file } = await twoStates()
    using _ = home
    expect([...(await begin(home, file))]).toEqual(STEPS)
  })

  test.each([0, 1, 2, 3, 4, 5, 6, 7, 8])(
    'keeps servers out after step %d, and the next restore completes it',
    async (cut) => {
      const { home, file, key, nextKey } = await twoStates()
      using _ = home
      const steps = await begin(home, file)
      expect(STEPS.slice(0, cut).map(() => steps.next().value)).toEqual(STEPS.slice(0, cut))

      expect(() => openDatabase({ dataDir: home.dataDir, synchronous: 'full' })).toThrow(
        'run `restore` again with the same file',
      )
      const { previous = '' } = await home.restore(file)

      expect([keyIn(home.dataDir), tenantsIn(home.dataDir)]).toEqual([key, ['before']])
      expect([keyIn(previous), tenantsIn(previous)]).toEqual([nextKey, ['after', 'before']])
      expect(readdirSync(home.dataDir).filter((name) => name.startsWith('before-'))).toHaveLength(1)
    },
  )

  test('is completed by an archive without a key, with the key that was moved away', async () => {
    using home = createHome()
    const { file } = await home.backUp('a.tar.gz', { withKey: false })
    using other = createHome()
    const foreign = await other.backUp('b.tar.gz')
    const key = keyIn(home.dataDir)
    home.db.close()
    const steps = await begin(home, foreign.file)
    for (let step = 0; step < 7; step++) steps.next()
    expect(keyIn(home.dataDir)).not.toBe(key)

    await home.restore(file)

    expect(keyIn(home.dataDir)).toBe(key)
  })
})
