import { Database } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import type { Finding } from '../../../src/cli/doctor/finding.ts'
import {
  type OpenedDatabase,
  readDatabase,
  readOnlyDatabase,
} from '../../../src/cli/doctor/read-database.ts'
import { doctor } from '../../../src/cli/doctor.ts'
import { databaseFile, openDatabase, restoreMarker } from '../../../src/db/open.ts'
import { newId } from '../../../src/platform/ids.ts'
import { thisProcess } from '../../../src/platform/process.ts'
import { VERSION } from '../../../src/platform/version.ts'
import { until } from '../../support/binary.ts'
import { cli } from '../../support/cli.ts'
import { temporaryFolder } from '../../support/folder.ts'
import { startMailServer } from '../../support/mail-server.ts'
import { freePort } from '../../support/port.ts'
import { ROOT, SOURCE } from '../../support/source.ts'

const MINUTE = 60_000

/** A data directory with a tenant in it, and what doctor says of it. */
async function startFixture(env: Record<string, string> = {}) {
  const folder = temporaryFolder()
  const dataDir = join(folder.path, 'data')
  const gatehouse = cli(folder.path, { env })

  async function examine(...argv: string[]) {
    const { code, out } = await gatehouse(doctor.name, '--json', ...argv)
    const { ok, findings }: { ok: boolean; findings: Finding[] } = JSON.parse(out)
    const of = (check: string) => findings.filter((finding) => finding.check === check)
    return { code, ok, findings, of }
  }

  const tenant: string = (await gatehouse('tenant', 'create', '--name', 'A', '--json')).json().id
  const database = () => new Database(databaseFile(dataDir), { strict: true })
  return {
    folder,
    dataDir,
    tenant,
    cli: gatehouse,
    examine,
    database,
    [Symbol.dispose]: folder[Symbol.dispose],
  }
}

type Fixture = Awaited<ReturnType<typeof startFixture>>

/** The number of a process that has just ended. */
async function deadPid(): Promise<number> {
  const child = Bun.spawn(['true'])
  await child.exited
  return child.pid
}

function addInstance({ database }: Fixture, of: { id: string; pid: number; heartbeatAt?: number }) {
  const { host } = thisProcess(VERSION)
  using client = database()
  client
    .query('INSERT INTO instances VALUES (?, ?, ?, ?, ?, ?, 1)')
    .run(of.id, host, of.pid, VERSION, Date.now(), of.heartbeatAt ?? Date.now())
}

function addRun({ database, tenant }: Fixture, owner: string | null, dueAt = Date.now()) {
  const state = owner === null ? 'ready' : 'leased'
  using client = database()
  client
    .query(
      `INSERT INTO runs (tenant_id, job_kind, job_id, trigger, slot_at, due_at, attempt, state, host,
         lease_owner, lease_until) VALUES (?, 'cron', ?, 'manual', 0, ?, 1, ?, 'x', ?, ?)`,
    )
    .run(tenant, newId(), dueAt, state, owner, owner === null ? null : dueAt + MINUTE)
}

/** As the end of a process leaves it: what this one has closed keeps its log open. */
function withoutLog({ dataDir }: Fixture) {
  for (const end of ['-wal', '-shm']) rmSync(`${databaseFile(dataDir)}${end}`, { force: true })
}

/** Names, sizes, modes and times of all that is in a directory. */
const shapeOf = (directory: string) =>
  readdirSync(directory)
    .toSorted()
    .map((name) => {
      const { size, mode, mtimeMs } = statSync(join(directory, name))
      return { name, size, mode, mtimeMs }
    })

describe('a look', () => {
  test('finds nothing wrong with what is well, and says so in its last line', async () => {
    using fixture = await startFixture()
    const { code, out } = await fixture.cli('doctor')
    expect(code).toBe(0)
    expect(out.trimEnd().split('\n').at(-1)).toMatch(/^(no problems found|\d+ warnings?)$/)
    for (const heading of [
      'Configuration',
      'Disk',
      'Database',
      'Backups',
      'Time',
      'Work',
      'Network',
    ])
      expect(out.split('\n')).toContain(heading)
  })

  test('leaves everything as it was, with nobody on the database', async () => {
    using fixture = await startFixture()
    withoutLog(fixture)
    const before = shapeOf(fixture.dataDir)
    expect(before).toHaveLength(1)
    await fixture.examine()
    expect(shapeOf(fixture.dataDir)).toEqual(before)
  })

  test('does not disturb whoever has the database open, and sees what is in its log alone', async () => {
    using fixture = await startFixture()
    const db = openDatabase({ dataDir: fixture.dataDir, synchronous: 'normal' })
    await db.commit(() => void db.client.run('UPDATE _migrations SET applied_at = 4102444800000'))
    const before = shapeOf(fixture.dataDir)
    const log = readFileSync(`${db.file}-wal`)

    const { of } = await fixture.examine()

    expect(of('clock')).toMatchObject([{ result: 'problem' }])
    expect(shapeOf(fixture.dataDir)).toEqual(before)
    expect(readFileSync(`${db.file}-wal`).equals(log)).toBe(true)
    await db.commit(() => void db.client.run('DELETE FROM audit_log'))
    db.close()
  })

  test('cannot write, whatever it tries', async () => {
    using fixture = await startFixture()
    withoutLog(fixture)
    const expectRefusal = async () => {
      const { db, isWithoutLog } = readOnlyDatabase(fixture.dataDir)
      const erase = () => void db.client.run('DELETE FROM tenants')
      expect(isWithoutLog).toBe(false)
      expect(erase).toThrow('readonly')
      await expect(db.commit(erase)).rejects.toThrow('read-only')
      db.close()
    }
    await expectRefusal()
    using other = fixture.database()
    other.run('CREATE TABLE beside (x)')
    expect(existsSync(`${databaseFile(fixture.dataDir)}-wal`)).toBe(true)
    await expectRefusal()
  })

  test('reads what it can where the log cannot be opened, and says what it does not see', async () => {
    using fixture = await startFixture()
    const copy = join(fixture.folder.path, 'copy')
    mkdirSync(copy, { mode: 0o700 })
    copyFileSync(databaseFile(fixture.dataDir), databaseFile(copy))
    writeFileSync(`${databaseFile(copy)}-wal`, 'x'.repeat(100))
    symlinkSync('/nowhere/at/all', `${databaseFile(copy)}-shm`)
    const { of } = await fixture.examine('--data-dir', copy)
    expect(of('database')).toMatchObject([
      { result: 'warning', message: expect.stringContaining('the last writes are missing') },
    ])
    expect(of('integrity')).toMatchObject([{ result: 'ok' }])
  })

  test('leaves nothing behind but the index that SQLite makes for a log', async () => {
    using fixture = await startFixture()
    const copy = join(fixture.folder.path, 'copy')
    mkdirSync(copy, { mode: 0o700 })
    using writer = fixture.database()
    writer.run('CREATE TABLE beside (x)')
    for (const end of ['', '-wal'])
      copyFileSync(`${databaseFile(fixture.dataDir)}${end}`, `${databaseFile(copy)}${end}`)
    const before = shapeOf(copy)
    await fixture.examine('--data-dir', copy)
    const isIndex = ({ name }: { name: string }) => name.endsWith('-shm')
    expect(shapeOf(copy).filter((file) => !isIndex(file))).toEqual(before)
    expect(shapeOf(copy).filter(isIndex)).toHaveLength(1)
  })

  describe('at a database that nobody has open', () => {
    const count = async ({ db }: OpenedDatabase) =>
      db.client.query("SELECT count(*) AS n FROM sqlite_schema WHERE name = 'late'").get()

    test('is taken once', async () => {
      using fixture = await startFixture()
      withoutLog(fixture)
      let looks = 0
      await readDatabase(fixture.dataDir, async () => looks++)
      expect(looks).toBe(1)
    })

    test('is taken again when a server starts meanwhile, and then sees what it wrote', async () => {
      using fixture = await startFixture()
      withoutLog(fixture)
      using server = fixture.database()
      let looks = 0
      const found = await readDatabase(fixture.dataDir, async (looked) => {
        if (looks++ === 0) server.run('CREATE TABLE late (x)')
        return count(looked)
      })
      expect(looks).toBe(2)
      expect(found).toEqual({ n: 1 })
    })

    test('is taken again when a command came and went, also if the first one failed by it', async () => {
      using fixture = await startFixture()
      withoutLog(fixture)
      let looks = 0
      const found = await readDatabase(fixture.dataDir, async (looked) => {
        if (looks++ > 0) return count(looked)
        const command = fixture.database()
        command.run('CREATE TABLE late (x)')
        command.run('PRAGMA wal_checkpoint(TRUNCATE)')
        command.close(true)
        withoutLog(fixture)
        throw new Error('torn')
      })
      expect(looks).toBe(2)
      expect(found).toEqual({ n: 1 })
    })

    test('that fails of itself is a failure', async () => {
      using fixture = await startFixture()
      withoutLog(fixture)
      const failing = readDatabase(fixture.dataDir, () => Promise.reject(new Error('no luck')))
      await expect(failing).rejects.toThrow('no luck')
    })
  })

  test('makes no data directory', async () => {
    using folder = temporaryFolder()
    using fixture = await startFixture()
    const { of } = await fixture.examine('--data-dir', join(folder.path, 'none'))
    expect(of('data directory')).toMatchObject([{ result: 'warning' }])
    expect(readdirSync(folder.path)).toEqual([])
  })
})

describe('the database', () => {
  test('that is damaged inside is a problem, and so is the way out of it', async () => {
    using fixture = await startFixture()
    const file = databaseFile(fixture.dataDir)
    const bytes = readFileSync(file)
    bytes.fill(0xee, 8 * 4096, 40 * 4096)
    writeFileSync(file, bytes)

    const { code, findings } = await fixture.examine()

    expect(code).toBe(1)
    const [first] = findings.filter(({ result }) => result === 'problem')
    expect(first?.message).toContain('gatehouse restore FILE')
  })

  test('with a reference to nothing is a problem', async () => {
    using fixture = await startFixture()
    {
      using client = fixture.database()
      client.run('PRAGMA foreign_keys = OFF')
      client.run(
        `INSERT INTO usage_months
           (tenant_id, month, requests, billed, cost_cents, allowance_told, spend_cap_told)
         VALUES ('nobody', '2026-01', 1, 0, 0, 0, 0)`,
      )
    }
    const { code, of } = await fixture.examine()
    expect(code).toBe(1)
    expect(of('references')).toMatchObject([
      { message: expect.stringContaining('usage_months refers to a missing row of tenants') },
    ])
  })

  test('of a restore that was cut short is a problem', async () => {
    using fixture = await startFixture()
    writeFileSync(restoreMarker(fixture.dataDir), '{}')
    const { code, of } = await fixture.examine()
    expect(code).toBe(1)
    expect(of('database')).toMatchObject([{ message: expect.stringContaining('was interrupted') }])
  })
})

describe('sealed secrets', () => {
  const putMail = (client: Database, id: string, body: string | null) =>
    client.run(
      `INSERT INTO mails (id, kind, recipient_hash, body, state, tries, due_at, expires_at, created_at)
        VALUES (?, 'test', '', ?, 'kept', 0, 0, 0, 0)`,
      [id, body],
    )

  test('that no key at hand has sealed are counted by table; others are not', async () => {
    using fixture = await startFixture()
    await fixture.cli('secrets', 'rotate')
    const id = /id ([0-9a-f]{12})/.exec(
      (await fixture.examine()).of('master key')[0]?.message ?? '',
    )
    {
      using client = fixture.database()
      for (let n = 0; n < 2500; n++) putMail(client, `held${n}`, `s1.${id?.[1]}.abc`)
      putMail(client, 'none', null)
    }
    expect((await fixture.examine()).of('sealed secrets')).toMatchObject([{ result: 'ok' }])
    {
      using client = fixture.database()
      for (const name of ['a', 'b']) putMail(client, name, 's1.0123456789ab.abc')
    }
    const { code, of } = await fixture.examine()
    expect(code).toBe(0)
    expect(of('sealed secrets')).toMatchObject([
      { result: 'warning', message: expect.stringContaining('unknown key: mails 2.') },
    ])
  }, 30_000)

  test('of a key that was lost and forgotten, as the guide has it, are told', async () => {
    using fixture = await startFixture()
    await fixture.cli('secrets', 'rotate')
    rmSync(join(fixture.dataDir, 'master.key'))
    {
      using client = fixture.database()
      putMail(client, 'm', 's1.0123456789ab.abc')
      client.run('DELETE FROM master_keys')
    }
    expect((await fixture.examine()).of('sealed secrets')).toEqual([])
    await fixture.cli('export', '--tenant', fixture.tenant)
    const [found] = (await fixture.examine()).of('sealed secrets')
    expect(found?.message).toContain('mails 1')
    expect(found?.message).not.toContain('fingerprint_keys')
  }, 30_000)
})

test('the directory, the database and every backup that others can read are named', async () => {
  using fixture = await startFixture()
  const backups = join(fixture.dataDir, 'backups')
  mkdirSync(backups)
  for (const name of ['a.tar.gz', 'b.tar.gz']) writeFileSync(join(backups, name), '')
  chmodSync(join(backups, 'a.tar.gz'), 0o644)
  chmodSync(join(backups, 'b.tar.gz'), 0o600)
  chmodSync(databaseFile(fixture.dataDir), 0o640)
  chmodSync(fixture.dataDir, 0o755)

  const { code, of } = await fixture.examine()

  expect(code).toBe(0)
  expect(of('data directory')).toMatchObject([
    { result: 'warning', message: expect.stringContaining('(mode 755): run chmod 700') },
  ])
  expect(of('permissions').map(({ message }) => message)).toEqual([
    `other accounts can read ${databaseFile(fixture.dataDir)}: run chmod -R go= ${fixture.dataDir}`,
    `other accounts can read ${backups}/a.tar.gz: run chmod -R go= ${backups}`,
  ])
  expect(statSync(databaseFile(fixture.dataDir)).mode & 0o777).toBe(0o640)
})

test.skipIf(process.getuid?.() !== 0)(
  'a backup may belong to anybody, what the server writes may not',
  async () => {
    using fixture = await startFixture()
    const [backups, far] = [join(fixture.dataDir, 'backups'), join(fixture.folder.path, 'far')]
    for (const directory of [backups, far]) {
      mkdirSync(directory)
      writeFileSync(join(directory, 'a.tar.gz'), '', { mode: 0o600 })
      chownSync(join(directory, 'a.tar.gz'), 1234, 1234)
    }
    const examine = () => fixture.examine('--backup-directory', far)
    expect(await examine()).toMatchObject({ code: 0 })
    expect((await examine()).of('permissions')).toEqual([])

    chownSync(databaseFile(fixture.dataDir), 1234, 1234)
    const { code, of } = await examine()
    expect(code).toBe(1)
    expect(of('permissions')).toMatchObject([
      { result: 'problem', message: expect.stringContaining(`chown -R 0 ${fixture.dataDir}`) },
    ])
  },
)

describe('work', () => {
  test('of a server that was killed waits for the next one', async () => {
    using fixture = await startFixture()
    const [pid, owner] = [await deadPid(), newId()]
    addInstance(fixture, { id: owner, pid })
    addRun(fixture, owner, Date.now() - MINUTE)
    addRun(fixture, owner, Date.now())

    const { code, of } = await fixture.examine()

    expect(code).toBe(0)
    expect(of('server')).toMatchObject([
      { result: 'ok', message: 'not running' },
      { result: 'warning', message: expect.stringContaining(`process ${pid}, last seen`) },
    ])
    expect(of('leases')).toMatchObject([
      { result: 'warning', message: expect.stringContaining('2 runs held by dead processes') },
    ])
  })

  test('of a server that runs is its own; what has been due for ten minutes is overdue', async () => {
    using fixture = await startFixture()
    const owner = newId()
    addRun(fixture, null, Date.now() - 11 * MINUTE)
    expect((await fixture.examine()).of('due work')).toEqual([])

    addInstance(fixture, { id: owner, pid: process.pid })
    addRun(fixture, owner)
    addRun(fixture, null, Date.now() - 9 * MINUTE)

    const { of } = await fixture.examine()
    expect(of('leases')).toMatchObject([{ result: 'ok' }])
    expect(of('due work')).toMatchObject([
      { result: 'warning', message: expect.stringMatching(/^1 run overdue/) },
    ])
  })

  test('a real server is seen while it runs, and after it was killed', async () => {
    using fixture = await startFixture()
    const port = ['--server-port', `${freePort()}`]
    const args = ['serve', ...port, '--data-dir', fixture.dataDir]
    const server = Bun.spawn([...SOURCE, ...args], {
      cwd: ROOT,
      stdin: 'ignore',
      stdout: 'ignore',
      stderr: 'ignore',
    })
    const served = async () => (await fixture.examine()).of('server')
    try {
      await until(async () => (await served())[0]?.message.includes(`${server.pid}`) === true)
      expect(await served()).toMatchObject([{ result: 'ok' }])
      const baseUrl = `http://127.0.0.1:${port[1]}`
      expect((await fixture.examine('--server-base-url', baseUrl)).of('base_url')).toMatchObject([
        { result: 'ok', message: `${baseUrl} reaches Gatehouse` },
      ])
      expect((await fixture.examine(...port)).of('base_url')).toMatchObject([{ result: 'ok' }])
      const elsewhere = ['--server-port', `${freePort()}`]
      expect((await fixture.examine(...elsewhere)).of('base_url')).toMatchObject([
        { result: 'warning', message: expect.stringContaining('a server is running, but not at') },
      ])
    } finally {
      server.kill('SIGKILL')
      await server.exited
    }
    expect(await served()).toMatchObject([
      { message: 'not running' },
      { result: 'warning', message: expect.stringContaining(`process ${server.pid}, last seen`) },
    ])
  })
})

describe('mails', () => {
  function addMails({ database }: Fixture, count: number, state: string, error: string | null) {
    using client = database()
    const now = Date.now()
    const insert = client.query(
      `INSERT INTO mails (id, kind, recipient_hash, state, tries, due_at, expires_at, last_error,
         created_at) VALUES (?, 'verification', 'x', ?, 1, ?, ?, ?, ?)`,
    )
    for (let n = 0; n < count; n++)
      insert.run(newId(), state, now + MINUTE, now + 60 * MINUTE, error, now)
  }

  test('that nobody sends are a hint, and many of them a warning', async () => {
    using fixture = await startFixture()
    expect((await fixture.examine()).of('mails')).toEqual([])
    addMails(fixture, 1, 'kept', null)
    expect((await fixture.examine()).of('mails')).toMatchObject([{ result: 'ok' }])
    addMails(fixture, 9, 'kept', null)
    expect((await fixture.examine()).of('mails')).toMatchObject([
      { result: 'warning', message: expect.stringContaining('10 emails held') },
    ])
  })

  test('that are to be tried again say why, beside a server for mail that is there', async () => {
    await using smtp = await startMailServer()
    using fixture = await startFixture({
      GATEHOUSE_MAIL_SMTP_URL: smtp.url,
      GATEHOUSE_MAIL_FROM: 'gate@example.org',
    })
    addMails(fixture, 1, 'waiting', '451 greylisted')
    const { of } = await fixture.examine()
    expect(of('mail server')).toMatchObject([{ result: 'ok' }])
    expect(of('mails')).toMatchObject([
      { result: 'warning', message: expect.stringContaining('451 greylisted') },
    ])
  })
})

test('backups are told by what is in the database', async () => {
  using fixture = await startFixture()
  const backup = (error: string | null) => {
    using client = fixture.database()
    client
      .query("INSERT INTO backups VALUES (?, 'command', NULL, ?, ?, '/b/x.tar.gz', 1000, ?)")
      .run(newId(), Date.now(), Date.now(), error)
  }
  expect((await fixture.examine()).of('backups')).toMatchObject([
    { result: 'ok', message: expect.stringContaining('none yet: run gatehouse backup') },
  ])
  backup(null)
  expect((await fixture.examine()).of('backups')).toMatchObject([
    { result: 'ok', message: expect.stringContaining('/b/x.tar.gz') },
  ])
})
