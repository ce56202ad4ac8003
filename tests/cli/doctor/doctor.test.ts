import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import * as fs from 'node:fs'
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
  const { path: folder, [Symbol.dispose]: remove } = temporaryFolder()
  const dataDir = join(folder, 'data')
  const gatehouse = cli(folder, { env })
  const { id } = (await gatehouse('tenant', 'create', '--name', 'A', '--json')).json()
  const file = databaseFile(dataDir)

  /** What doctor finds; `of` gives the findings of a check as `result: message`. */
  async function examine(...argv: string[]) {
    const { code, json } = await gatehouse('doctor', '--json', ...argv)
    const { findings }: { findings: Finding[] } = json()
    const of = (check: string) =>
      findings.flatMap((one) => (one.check === check ? `${one.result}: ${one.message}` : []))
    return { code, findings, of }
  }

  function change(sql: string, ...values: (string | number | null)[]) {
    using client = new Database(file)
    client.run(sql, values)
  }

  return {
    ...{ folder, dataDir, file, tenant: id as string, cli: gatehouse, examine, change },
    found: async (check: string, ...argv: string[]) => (await examine(...argv)).of(check),
    /** An empty directory for a copy of the data. */
    copy: () => fs.mkdtempSync(join(folder, 'copy-')),
    open: () => new Database(file, { strict: true }),
    /** Removes the log that this process leaves, as the end of a process would. */
    withoutLog: () => {
      for (const end of ['-wal', '-shm']) fs.rmSync(file + end, { force: true })
    },
    [Symbol.dispose]: remove,
  }
}

type Home = Awaited<ReturnType<typeof newHome>>

const like = (result: Finding['result'], words = '') =>
  expect.stringMatching(new RegExp(`^${result}: .*${RegExp.escape(words)}`))

/** Names, sizes, modes and times of the files in a directory. */
const shapeOf = (directory: string) =>
  fs
    .readdirSync(directory)
    .toSorted()
    .map((name) => {
      const { size, mode, mtimeMs } = fs.statSync(join(directory, name))
      return { name, size, mode, mtimeMs }
    })

test('Doctor finds no problem in a good installation, under all headings', async () => {
  using home = await newHome()
  expect(await home.found('backups')).toEqual([like('ok', 'none yet: run gatehouse backup')])
  const sql = "INSERT INTO backups VALUES (?, 'command', NULL, ?, ?, '/b/x.tar.gz', 1000, NULL)"
  home.change(sql, newId(), Date.now(), Date.now())
  expect(await home.found('backups')).toEqual([like('ok', '/b/x.tar.gz')])
  const { code, out } = await home.cli('doctor')
  const lines = out.trimEnd().split('\n')
  const end = expect.stringMatching(/^(no problems found|\d+ warnings?)$/)
  expect([code, lines.at(-1)]).toEqual([0, end])
  const groups = ['Configuration', 'Disk', 'Database', 'Backups', 'Time', 'Work', 'Network']
  expect(lines).toEqual(expect.arrayContaining(groups))
})

test('Doctor changes nothing on a database that is closed, or in a directory that does not exist', async () => {
  using home = await newHome()
  home.withoutLog()
  const before = shapeOf(home.dataDir)
  expect(before).toHaveLength(1)
  await home.examine()
  expect(shapeOf(home.dataDir)).toEqual(before)
  using empty = temporaryFolder()
  const found = await home.found('data directory', '--data-dir', join(empty.path, 'none'))
  expect(found).toEqual([like('warning')])
  expect(fs.readdirSync(empty.path)).toEqual([])
})

test('Doctor changes nothing on a database that is open, whose log it reads, but for the index of a log', async () => {
  using home = await newHome()
  const db = openDatabase({ dataDir: home.dataDir, synchronous: 'normal' })
  await db.commit(() => void db.client.run('UPDATE _migrations SET applied_at = 4102444800000'))
  const before = shapeOf(home.dataDir)
  const log = fs.readFileSync(`${db.file}-wal`)
  expect(await home.found('clock')).toEqual([like('problem')])
  expect(shapeOf(home.dataDir)).toEqual(before)
  expect(fs.readFileSync(`${db.file}-wal`).equals(log)).toBe(true)
  const copy = home.copy()
  for (const end of ['', '-wal']) fs.copyFileSync(home.file + end, databaseFile(copy) + end)
  db.close()
  const copied = shapeOf(copy)
  await home.examine('--data-dir', copy)
  const isIndex = ({ name }: { name: string }) => name.endsWith('-shm')
  expect(shapeOf(copy).filter((file) => !isIndex(file))).toEqual(copied)
  expect(shapeOf(copy).filter(isIndex)).toHaveLength(1)
})

test('Doctor changes nothing because its database is read-only, with and without a log', async () => {
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
  expect(fs.existsSync(`${home.file}-wal`)).toBe(true)
  await expectRefusal()
})

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

test('A database that no process has open is read once, and again when a server or command has run meanwhile', async () => {
  using home = await newHome()
  expect(await readWhile(home, () => {})).toEqual({ reads: 1, found: { n: 0 } })
  const failing = readDatabase(home.dataDir, () => Promise.reject(new Error('no luck')))
  await expect(failing).rejects.toThrow('no luck')
  const torn = () => {
    const command = home.open()
    command.run('CREATE TABLE late (x)')
    command.run('PRAGMA wal_checkpoint(TRUNCATE)')
    command.close(true)
    home.withoutLog()
    throw new Error('torn')
  }
  expect(await readWhile(home, torn)).toEqual({ reads: 2, found: { n: 1 } })
  using server = home.open()
  const late = () => void server.run('DROP TABLE late')
  expect(await readWhile(home, late)).toEqual({ reads: 2, found: { n: 0 } })
})

test('A database without its log, with a dangling reference or damage has a finding with the way out', async () => {
  using home = await newHome()
  const copy = home.copy()
  fs.copyFileSync(home.file, databaseFile(copy))
  fs.writeFileSync(`${databaseFile(copy)}-wal`, 'x'.repeat(100))
  fs.symlinkSync('/nowhere/at/all', `${databaseFile(copy)}-shm`)
  const { of } = await home.examine('--data-dir', copy)
  expect(of('database')).toEqual([like('warning', 'the last writes are missing')])
  expect(of('integrity')).toEqual([like('ok')])
  home.change(
    `INSERT INTO usage_months
       (tenant_id, month, requests, billed, cost_cents, allowance_told, spend_cap_told)
     VALUES ('nobody', '2026-01', 1, 0, 0, 0, 0)`,
  )
  const dangling = await home.examine()
  const words = 'usage_months refers to a missing row of tenants'
  expect([dangling.code, dangling.of('references')]).toEqual([1, [like('problem', words)]])
  fs.writeFileSync(restoreMarker(home.dataDir), '{}')
  const interrupted = await home.examine()
  const restored = [like('problem', 'was interrupted')]
  expect([interrupted.code, interrupted.of('database')]).toEqual([1, restored])

  fs.rmSync(restoreMarker(home.dataDir))
  fs.writeFileSync(home.file, fs.readFileSync(home.file).fill(0xee, 8 * 4096, 40 * 4096))
  const { code, findings } = await home.examine()
  const [first] = findings.filter(({ result }) => result === 'problem')
  expect([code, first?.message]).toEqual([1, expect.stringContaining('gatehouse restore FILE')])
})

test('Sealed secrets of an unknown key are counted by table, once there is a new key for lost ones', async () => {
  using home = await newHome()
  const addMails = (count: number, body: string | null) =>
    home.change(
      `WITH numbers AS (SELECT 1 AS value UNION ALL SELECT value + 1 FROM numbers LIMIT ?)
        INSERT INTO mails (id, kind, recipient_hash, body, state, tries, due_at, expires_at, created_at)
        SELECT ? || value, 'test', '', ?, 'kept', 0, 0, 0, 0 FROM numbers`,
      ...[count, newId(), body],
    )
  await home.cli('export', '--tenant', home.tenant)
  const [key = ''] = await home.found('master key')
  addMails(2500, `s1.${/id ([0-9a-f]{12})/.exec(key)?.[1]}.abc`)
  addMails(1, null)
  expect(await home.found('sealed secrets')).toEqual([like('ok')])
  addMails(2, 's1.0123456789ab.abc')
  const { code, of } = await home.examine()
  expect([code, of('sealed secrets')]).toEqual([0, [like('warning', 'unknown key: mails 2.')]])
  fs.rmSync(join(home.dataDir, 'master.key'))
  home.change('DELETE FROM master_keys')
  expect(await home.found('sealed secrets')).toEqual([])
  await home.cli('export', '--tenant', home.tenant)
  const [found = ''] = await home.found('sealed secrets')
  expect(found).toContain('mails 2502')
  expect(found).not.toContain('fingerprint_keys')
})

test('Files that other accounts can read are named, and stay as they are', async () => {
  using home = await newHome()
  const backups = join(home.dataDir, 'backups')
  fs.mkdirSync(backups)
  for (const [name, mode] of Object.entries({ 'a.tar.gz': 0o644, 'b.tar.gz': 0o600 }))
    fs.writeFileSync(join(backups, name), '', { mode })
  fs.chmodSync(home.file, 0o640)
  fs.chmodSync(home.dataDir, 0o755)
  const { code, of } = await home.examine()
  expect(code).toBe(0)
  expect(of('data directory')).toEqual([like('warning', '(mode 755): run chmod 700')])
  expect(of('permissions')).toEqual([
    `warning: other accounts can read ${home.file}: run chmod -R go= ${home.dataDir}`,
    `warning: other accounts can read ${backups}/a.tar.gz: run chmod -R go= ${backups}`,
  ])
  expect(fs.statSync(home.file).mode & 0o777).toBe(0o640)
})

test.skipIf(process.getuid?.() !== 0)('Files of another owner may only be backups', async () => {
  using home = await newHome()
  const [backups, far] = [join(home.dataDir, 'backups'), join(home.folder, 'far')]
  for (const directory of [backups, far]) {
    fs.mkdirSync(directory)
    fs.writeFileSync(join(directory, 'a.tar.gz'), '', { mode: 0o600 })
    fs.chownSync(join(directory, 'a.tar.gz'), 1234, 1234)
  }
  const examine = () => home.examine('--backup-directory', far)
  const good = await examine()
  expect([good.code, good.of('permissions')]).toEqual([0, []])
  fs.chownSync(home.file, 1234, 1234)
  const { code, of } = await examine()
  expect([code, of('permissions')]).toEqual([1, [like('problem', `chown -R 0 ${home.dataDir}`)]])
})

test('Work of a killed server waits for the next one, and of a running one is overdue after 10 minutes', async () => {
  using home = await newHome()
  const now = Date.now()
  const addServer = (id: string, pid: number) => {
    const { host } = thisProcess(VERSION)
    const values = [id, host, pid, VERSION, now, now]
    home.change('INSERT INTO instances VALUES (?, ?, ?, ?, ?, ?, 1)', ...values)
  }
  const addRun = (owner: string | null, dueAt = now) =>
    home.change(
      `INSERT INTO runs (tenant_id, job_kind, job_id, trigger, slot_at, due_at, attempt, state, host,
         lease_owner, lease_until) VALUES (?, 'cron', ?, 'manual', 0, ?, 1, ?, 'x', ?, ?)`,
      ...[home.tenant, newId(), dueAt, owner === null ? 'ready' : 'leased', owner],
      owner === null ? null : dueAt + MINUTE,
    )
  const child = Bun.spawn(['true'])
  await child.exited
  addServer('dead', child.pid)
  for (const dueAt of [now - MINUTE, now]) addRun('dead', dueAt)
  addRun(null, now - 11 * MINUTE)
  const dead = await home.examine()
  const killed = like('warning', `process ${child.pid}, last seen`)
  expect([dead.code, dead.of('server')]).toEqual([0, [like('ok', 'not running'), killed]])
  expect(dead.of('leases')).toEqual([like('warning', '2 runs held by dead processes')])
  expect(dead.of('due work')).toEqual([])
  home.change('DELETE FROM instances')
  home.change("DELETE FROM runs WHERE state = 'leased'")
  addServer('alive', process.pid)
  addRun('alive')
  addRun(null, now - 9 * MINUTE)
  const { of } = await home.examine()
  expect(of('leases')).toEqual([like('ok')])
  expect(of('due work')).toEqual([like('warning', '1 run overdue')])
})

test('Emails that are held are a hint, many of them a warning, and retries show the last error', async () => {
  const addMails = (home: Home, count: number, state: string, error: string | null) => {
    const later = Date.now() + MINUTE
    for (let n = 0; n < count; n++)
      home.change(
        `INSERT INTO mails (id, kind, recipient_hash, state, tries, due_at, expires_at, last_error,
           created_at) VALUES (?, 'verification', 'x', ?, 1, ?, ?, ?, 0)`,
        ...[newId(), state, later, later, error],
      )
  }
  using home = await newHome()
  expect(await home.found('mails')).toEqual([])
  addMails(home, 1, 'kept', null)
  expect(await home.found('mails')).toEqual([like('ok')])
  addMails(home, 9, 'kept', null)
  expect(await home.found('mails')).toEqual([like('warning', '10 emails held')])
  await using smtp = await startMailServer()
  const from = 'gate@example.org'
  using other = await newHome({ GATEHOUSE_MAIL_SMTP_URL: smtp.url, GATEHOUSE_MAIL_FROM: from })
  addMails(other, 1, 'waiting', '451 greylisted')
  const { of } = await other.examine()
  expect(of('mail server')).toEqual([like('ok')])
  expect(of('mails')).toEqual([like('warning', '451 greylisted')])
})
