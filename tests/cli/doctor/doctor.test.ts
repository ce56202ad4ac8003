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
import { databaseFile, openDatabase, restoreMarker } from '../../../src/db/open.ts'
import { newId } from '../../../src/platform/ids.ts'
import { thisProcess } from '../../../src/platform/process.ts'
import { VERSION } from '../../../src/platform/version.ts'
import { cli } from '../../support/cli.ts'
import { temporaryFolder } from '../../support/folder.ts'
import { startMailServer } from '../../support/mail-server.ts'

const MINUTE = 60_000

/** A data directory with a tenant, and what doctor finds in it. */
async function newHome(env: Record<string, string> = {}) {
  const folder = temporaryFolder()
  const dataDir = join(folder.path, 'data')
  const gatehouse = cli(folder.path, { env })
  const { id } = (await gatehouse('tenant', 'create', '--name', 'A', '--json')).json()
  const file = databaseFile(dataDir)

  async function examine(...argv: string[]) {
    const { code, json } = await gatehouse('doctor', '--json', ...argv)
    const { findings }: { findings: Finding[] } = json()
    const of = (check: string) => findings.filter((finding) => finding.check === check)
    return { code, findings, of }
  }

  return {
    folder: folder.path,
    dataDir,
    file,
    tenant: id as string,
    cli: gatehouse,
    examine,
    /** The findings of one check. */
    found: async (check: string, ...argv: string[]) => (await examine(...argv)).of(check),
    open: () => new Database(file, { strict: true }),
    change(sql: string, ...values: (string | number | null)[]) {
      using client = new Database(file)
      client.run(sql, values)
    },
    /** Removes the log that this process leaves, as the end of a process would. */
    withoutLog: () => {
      for (const end of ['-wal', '-shm']) rmSync(file + end, { force: true })
    },
    [Symbol.dispose]: folder[Symbol.dispose],
  }
}

type Home = Awaited<ReturnType<typeof newHome>>

const finding = (result: Finding['result'], words = '') => ({
  result,
  message: expect.stringContaining(words),
})

/** Names, sizes, modes and times of the files in a directory. */
const shapeOf = (directory: string) =>
  readdirSync(directory)
    .toSorted()
    .map((name) => {
      const { size, mode, mtimeMs } = statSync(join(directory, name))
      return { name, size, mode, mtimeMs }
    })

test('doctor finds no problem in a good installation, under all headings', async () => {
  using home = await newHome()
  const { code, out } = await home.cli('doctor')
  const lines = out.trimEnd().split('\n')
  expect([code, lines.at(-1)]).toEqual([
    0,
    expect.stringMatching(/^(no problems found|\d+ warnings?)$/),
  ])
  const groups = ['Configuration', 'Disk', 'Database', 'Backups', 'Time', 'Work', 'Network']
  expect(lines).toEqual(expect.arrayContaining(groups))
})

describe('doctor changes nothing', () => {
  test('on a database that is closed, or in a directory that does not exist', async () => {
    using home = await newHome()
    home.withoutLog()
    const before = shapeOf(home.dataDir)
    expect(before).toHaveLength(1)
    await home.examine()
    expect(shapeOf(home.dataDir)).toEqual(before)

    using empty = temporaryFolder()
    const found = await home.found('data directory', '--data-dir', join(empty.path, 'none'))
    expect(found).toMatchObject([finding('warning')])
    expect(readdirSync(empty.path)).toEqual([])
  })

  test('on a database that is open, whose log it reads', async () => {
    using home = await newHome()
    const db = openDatabase({ dataDir: home.dataDir, synchronous: 'normal' })
    await db.commit(() => void db.client.run('UPDATE _migrations SET applied_at = 4102444800000'))
    const before = shapeOf(home.dataDir)
    const log = readFileSync(`${db.file}-wal`)
    expect(await home.found('clock')).toMatchObject([finding('problem')])
    expect(shapeOf(home.dataDir)).toEqual(before)
    expect(readFileSync(`${db.file}-wal`).equals(log)).toBe(true)
    await db.commit(() => void db.client.run('DELETE FROM audit_log'))
    db.close()
  })

  test('because its database is read-only, with and without a log', async () => {
    using home = await newHome()
    async function expectRefusal() {
      const { db, isWithoutLog } = readOnlyDatabase(home.dataDir)
      const erase = () => void db.client.run('DELETE FROM tenants')
      expect(isWithoutLog).toBe(false)
      expect(erase).toThrow('readonly')
      await expect(db.commit(erase)).rejects.toThrow('read-only')
      db.close()
    }
    home.withoutLog()
    await expectRefusal()
    using other = home.open()
    other.run('CREATE TABLE beside (x)')
    expect(existsSync(`${home.file}-wal`)).toBe(true)
    await expectRefusal()
  })

  test('but for the index that SQLite needs for a log', async () => {
    using home = await newHome()
    const copy = join(home.folder, 'copy')
    mkdirSync(copy, { mode: 0o700 })
    using writer = home.open()
    writer.run('CREATE TABLE beside (x)')
    for (const end of ['', '-wal']) copyFileSync(home.file + end, databaseFile(copy) + end)
    const before = shapeOf(copy)
    await home.examine('--data-dir', copy)
    const isIndex = ({ name }: { name: string }) => name.endsWith('-shm')
    expect(shapeOf(copy).filter((file) => !isIndex(file))).toEqual(before)
    expect(shapeOf(copy).filter(isIndex)).toHaveLength(1)
  })
})

describe('a database that nobody has open', () => {
  const isLateThere = async ({ db }: OpenedDatabase) =>
    db.client.query("SELECT count(*) AS n FROM sqlite_schema WHERE name = 'late'").get()

  /** Reads the database, and does `meanwhile` during the first read. */
  async function readWhile(home: Home, meanwhile: () => void) {
    home.withoutLog()
    let reads = 0
    const found = await readDatabase(home.dataDir, async (opened) => {
      if (reads++ === 0) meanwhile()
      return isLateThere(opened)
    })
    return { reads, found }
  }

  test('is read once, and an error of the reader is an error', async () => {
    using home = await newHome()
    expect(await readWhile(home, () => {})).toEqual({ reads: 1, found: { n: 0 } })
    const failing = readDatabase(home.dataDir, () => Promise.reject(new Error('no luck')))
    await expect(failing).rejects.toThrow('no luck')
  })

  test('is read again when a server starts meanwhile', async () => {
    using home = await newHome()
    using server = home.open()
    const late = () => void server.run('CREATE TABLE late (x)')
    expect(await readWhile(home, late)).toEqual({ reads: 2, found: { n: 1 } })
  })

  test('is read again when a command has run meanwhile, even if the first read failed', async () => {
    using home = await newHome()
    const late = () => {
      const command = home.open()
      command.run('CREATE TABLE late (x)')
      command.run('PRAGMA wal_checkpoint(TRUNCATE)')
      command.close(true)
      home.withoutLog()
      throw new Error('torn')
    }
    expect(await readWhile(home, late)).toEqual({ reads: 2, found: { n: 1 } })
  })
})

describe('the database', () => {
  test('without its log is read with a warning', async () => {
    using home = await newHome()
    const copy = join(home.folder, 'copy')
    mkdirSync(copy, { mode: 0o700 })
    copyFileSync(home.file, databaseFile(copy))
    writeFileSync(`${databaseFile(copy)}-wal`, 'x'.repeat(100))
    symlinkSync('/nowhere/at/all', `${databaseFile(copy)}-shm`)
    const { of } = await home.examine('--data-dir', copy)
    expect(of('database')).toMatchObject([finding('warning', 'the last writes are missing')])
    expect(of('integrity')).toMatchObject([finding('ok')])
  })

  test('that is damaged is a problem, with the way out', async () => {
    using home = await newHome()
    writeFileSync(home.file, readFileSync(home.file).fill(0xee, 8 * 4096, 40 * 4096))
    const { code, findings } = await home.examine()
    const [first] = findings.filter(({ result }) => result === 'problem')
    expect([code, first?.message]).toEqual([1, expect.stringContaining('gatehouse restore FILE')])
  })

  test('with a dangling reference, or an interrupted restore, is a problem', async () => {
    using home = await newHome()
    home.change(
      `INSERT INTO usage_months
         (tenant_id, month, requests, billed, cost_cents, allowance_told, spend_cap_told)
       VALUES ('nobody', '2026-01', 1, 0, 0, 0, 0)`,
    )
    const dangling = await home.examine()
    const words = 'usage_months refers to a missing row of tenants'
    expect([dangling.code, dangling.of('references')]).toMatchObject([
      1,
      [finding('problem', words)],
    ])
    writeFileSync(restoreMarker(home.dataDir), '{}')
    const { code, of } = await home.examine()
    expect([code, of('database')]).toMatchObject([1, [finding('problem', 'was interrupted')]])
  })
})

describe('sealed secrets', () => {
  const addMail = (home: Home, id: string, body: string | null) =>
    home.change(
      `INSERT INTO mails (id, kind, recipient_hash, body, state, tries, due_at, expires_at, created_at)
        VALUES (?, 'test', '', ?, 'kept', 0, 0, 0, 0)`,
      id,
      body,
    )

  test('of an unknown key are counted by table', async () => {
    using home = await newHome()
    await home.cli('export', '--tenant', home.tenant)
    const [key] = await home.found('master key')
    const id = /id ([0-9a-f]{12})/.exec(key?.message ?? '')?.[1]
    home.change(
      `WITH numbers AS (SELECT 1 AS value UNION ALL SELECT value + 1 FROM numbers LIMIT 2500)
        INSERT INTO mails (id, kind, recipient_hash, body, state, tries, due_at, expires_at, created_at)
        SELECT 'held' || value, 'test', '', ?, 'kept', 0, 0, 0, 0 FROM numbers`,
      `s1.${id}.abc`,
    )
    addMail(home, 'none', null)
    expect(await home.found('sealed secrets')).toMatchObject([finding('ok')])
    for (const name of ['a', 'b']) addMail(home, name, 's1.0123456789ab.abc')
    const { code, of } = await home.examine()
    expect(code).toBe(0)
    const words = 'unknown key: mails 2.'
    expect(of('sealed secrets')).toMatchObject([finding('warning', words)])
  })

  test('of a lost key are found once there is a new key', async () => {
    using home = await newHome()
    await home.cli('export', '--tenant', home.tenant)
    rmSync(join(home.dataDir, 'master.key'))
    addMail(home, 'm', 's1.0123456789ab.abc')
    home.change('DELETE FROM master_keys')
    expect(await home.found('sealed secrets')).toEqual([])
    await home.cli('export', '--tenant', home.tenant)
    const [found] = await home.found('sealed secrets')
    expect(found?.message).toContain('mails 1')
    expect(found?.message).not.toContain('fingerprint_keys')
  })
})

describe('files', () => {
  test('that other accounts can read are named, and stay as they are', async () => {
    using home = await newHome()
    const backups = join(home.dataDir, 'backups')
    mkdirSync(backups)
    for (const [name, mode] of [
      ['a.tar.gz', 0o644],
      ['b.tar.gz', 0o600],
    ] as const) {
      writeFileSync(join(backups, name), '')
      chmodSync(join(backups, name), mode)
    }
    chmodSync(home.file, 0o640)
    chmodSync(home.dataDir, 0o755)

    const { code, of } = await home.examine()
    expect(code).toBe(0)
    const words = '(mode 755): run chmod 700'
    expect(of('data directory')).toMatchObject([finding('warning', words)])
    expect(of('permissions').map(({ message }) => message)).toEqual([
      `other accounts can read ${home.file}: run chmod -R go= ${home.dataDir}`,
      `other accounts can read ${backups}/a.tar.gz: run chmod -R go= ${backups}`,
    ])
    expect(statSync(home.file).mode & 0o777).toBe(0o640)
  })

  test.skipIf(process.getuid?.() !== 0)('of another owner may only be backups', async () => {
    using home = await newHome()
    const [backups, far] = [join(home.dataDir, 'backups'), join(home.folder, 'far')]
    for (const directory of [backups, far]) {
      mkdirSync(directory)
      writeFileSync(join(directory, 'a.tar.gz'), '', { mode: 0o600 })
      chownSync(join(directory, 'a.tar.gz'), 1234, 1234)
    }
    const examine = () => home.examine('--backup-directory', far)
    const good = await examine()
    expect([good.code, good.of('permissions')]).toEqual([0, []])
    chownSync(home.file, 1234, 1234)
    const { code, of } = await examine()
    const words = `chown -R 0 ${home.dataDir}`
    expect([code, of('permissions')]).toMatchObject([1, [finding('problem', words)]])
  })
})

describe('work', () => {
  const addServer = (home: Home, id: string, pid: number) => {
    const { host } = thisProcess(VERSION)
    const values = [id, host, pid, VERSION, Date.now(), Date.now()]
    home.change('INSERT INTO instances VALUES (?, ?, ?, ?, ?, ?, 1)', ...values)
  }
  const addRun = (home: Home, owner: string | null, dueAt = Date.now()) =>
    home.change(
      `INSERT INTO runs (tenant_id, job_kind, job_id, trigger, slot_at, due_at, attempt, state, host,
         lease_owner, lease_until) VALUES (?, 'cron', ?, 'manual', 0, ?, 1, ?, 'x', ?, ?)`,
      ...[home.tenant, newId(), dueAt, owner === null ? 'ready' : 'leased', owner],
      owner === null ? null : dueAt + MINUTE,
    )

  test('of a killed server waits for the next one', async () => {
    using home = await newHome()
    const child = Bun.spawn(['true'])
    await child.exited
    addServer(home, 'dead', child.pid)
    for (const dueAt of [Date.now() - MINUTE, Date.now()]) addRun(home, 'dead', dueAt)
    const { code, of } = await home.examine()
    expect(code).toBe(0)
    const killed = finding('warning', `process ${child.pid}, last seen`)
    expect(of('server')).toMatchObject([finding('ok', 'not running'), killed])
    expect(of('leases')).toMatchObject([finding('warning', '2 runs held by dead processes')])
  })

  test('of a running server is overdue after 10 minutes', async () => {
    using home = await newHome()
    addRun(home, null, Date.now() - 11 * MINUTE)
    expect(await home.found('due work')).toEqual([])
    addServer(home, 'alive', process.pid)
    addRun(home, 'alive')
    addRun(home, null, Date.now() - 9 * MINUTE)
    const { of } = await home.examine()
    expect(of('leases')).toMatchObject([finding('ok')])
    expect(of('due work')).toMatchObject([finding('warning', '1 run overdue')])
  })
})

describe('emails', () => {
  const addMails = (home: Home, count: number, state: string, error: string | null) => {
    for (let n = 0; n < count; n++)
      home.change(
        `INSERT INTO mails (id, kind, recipient_hash, state, tries, due_at, expires_at, last_error,
           created_at) VALUES (?, 'verification', 'x', ?, 1, ?, ?, ?, 0)`,
        ...[newId(), state, Date.now() + MINUTE, Date.now() + 60 * MINUTE, error],
      )
  }

  test('that are held are a hint, and many of them a warning', async () => {
    using home = await newHome()
    expect(await home.found('mails')).toEqual([])
    addMails(home, 1, 'kept', null)
    expect(await home.found('mails')).toMatchObject([finding('ok')])
    addMails(home, 9, 'kept', null)
    expect(await home.found('mails')).toMatchObject([finding('warning', '10 emails held')])
  })

  test('that wait for a retry show the last error', async () => {
    await using smtp = await startMailServer()
    const from = 'gate@example.org'
    using home = await newHome({ GATEHOUSE_MAIL_SMTP_URL: smtp.url, GATEHOUSE_MAIL_FROM: from })
    addMails(home, 1, 'waiting', '451 greylisted')
    const { of } = await home.examine()
    expect(of('mail server')).toMatchObject([finding('ok')])
    expect(of('mails')).toMatchObject([finding('warning', '451 greylisted')])
  })
})

test('backups are found in the database', async () => {
  using home = await newHome()
  const none = 'none yet: run gatehouse backup'
  expect(await home.found('backups')).toMatchObject([finding('ok', none)])
  const values = [newId(), Date.now(), Date.now()]
  const sql = "INSERT INTO backups VALUES (?, 'command', NULL, ?, ?, '/b/x.tar.gz', 1000, NULL)"
  home.change(sql, ...values)
  expect(await home.found('backups')).toMatchObject([finding('ok', '/b/x.tar.gz')])
})
