import { expect, test } from 'bun:test'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { backupFindings, judgeBackups } from '../../../src/cli/doctor/backups.ts'
import { judgeClock, judgeSynchronisation } from '../../../src/cli/doctor/clock.ts'
import { exposure, providers } from '../../../src/cli/doctor/configuration.ts'
import { judgeLog } from '../../../src/cli/doctor/database.ts'
import { findUnreachable } from '../../../src/cli/doctor/directories.ts'
import * as disk from '../../../src/cli/doctor/disk.ts'
import { examined, within } from '../../../src/cli/doctor/finding.ts'
import { mountOf, objectionToPlace, parseMounts } from '../../../src/cli/doctor/mounts.ts'
import { account, owners, permissions } from '../../../src/cli/doctor/permissions.ts'
import { judgeLeases, judgeProcesses, processesIn } from '../../../src/cli/doctor/processes.ts'
import { report, summary } from '../../../src/cli/doctor/report.ts'
import { secretFiles } from '../../../src/cli/doctor/secret-files.ts'
import { loadConfig } from '../../../src/config/index.ts'
import type { BackupRow } from '../../../src/platform/backup/index.ts'
import { testIo } from '../../support/cli.ts'
import { testConfig } from '../../support/config.ts'
import { temporaryFolder } from '../../support/folder.ts'

const MB = 1024 * 1024
const NOW = Date.parse('2026-03-01T12:00:00Z')
const MINUTE = 60_000
const DAY = 24 * 60 * MINUTE

type Found = { result: 'ok' | 'warning' | 'problem'; message: string } | undefined

/** Expects one finding, or none for `undefined`, with these words in its message. */
function expectFound(found: Found | Found[], result: string | undefined, words = '') {
  const [first, ...others] = [found].flat()
  expect([words, first?.result, others]).toEqual([words, result as never, []])
  if (result !== undefined) expect(first?.message).toContain(words)
}

const backupMade = (of: Partial<BackupRow> = {}): BackupRow => ({
  ...{ id: 'b', origin: 'command', owner: null, startedAt: NOW - DAY, endedAt: NOW - DAY },
  ...{ file: '/backup/a.tar.gz', bytes: 5 * MB, error: null, ...of },
})

const MOUNTS = `22 27 0:21 / /proc rw,relatime - proc proc rw
27 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw,discard
30 27 0:40 / /mnt/nas rw,relatime shared:2 - nfs4 nas:/export rw,vers=4.2,addr=10.0.0.9
32 27 0:42 / /mnt/far rw,nosuid,nodev - fuse.sshfs me@far:/ rw,user_id=0,group_id=0
38 27 0:48 / /mnt/host rw,relatime - virtiofs mount0 rw
40 27 8:17 / /mnt/usb rw,nosuid - fuseblk /dev/sdb1 rw,blksize=4096
41 27 0:50 / /mnt/ram rw - tmpfs tmpfs rw,size=64m
42 30 8:1 / /mnt/nas/disk rw,relatime - xfs /dev/sda1 rw
43 27 8:1 /a\\040b /with\\040blank rw - nfs nas:/x rw
44 27 0:51 / /twice rw - nfs nas:/y rw
45 44 8:1 / /twice rw - btrfs /dev/sdc rw,subvol=/
`
const objection = (path: string, number = 0xef53) =>
  objectionToPlace(mountOf(parseMounts(MOUNTS), path), number)

test('The place of the data is a local disk, not a network file system, nor one without permissions', () => {
  for (const [path, result, words] of [
    ['/mnt/nas/gatehouse', 'problem', 'NFS'],
    ['/mnt/far/data', 'problem', 'FUSE (sshfs)'],
    ['/with blank/data', 'problem', 'NFS'],
    ['/mnt/host/data', 'warning', 'a host directory'],
    ['/mnt/usb', 'warning', 'does not store permissions'],
    ['/mnt/ram/data', 'warning', 'in memory'],
  ] as const)
    expectFound(objection(path), result, words)
  for (const path of ['/var/lib/gatehouse', '/mnt/nas/disk/data', '/mnt/nasty', '/twice/data'])
    expect(objection(path)).toBeUndefined()
  // Its number is that of FUSE.
  expectFound(objection('/mnt/host', 0x65735546), 'warning')
  // Without a list of mounts, the number decides.
  for (const number of [0x6969, 0x517b, 0xff534d42, 0xfe534d42, 0x65735546, 0x01021997])
    expectFound(objectionToPlace(undefined, number), 'problem')
  for (const number of [0x794c7630, 0x01021994])
    expectFound(objectionToPlace(undefined, number), 'warning')
  expectFound(objectionToPlace(undefined, 0xef53), undefined)
  for (const text of ['', 'nonsense\n1 2 3 - \n']) expect(parseMounts(text)).toEqual([])
})

test('The place of the data has to be a named volume in a container', () => {
  const at = (volume: string) => {
    const mount = `610 600 8:1 /var/lib/docker/volumes/${volume}/_data /data rw - ext4 /dev/sda1 rw`
    const text = `600 590 0:60 / / rw - overlay overlay rw,lowerdir=/x\n${volume && mount}`
    return objectionToPlace(mountOf(parseMounts(text), '/data'), volume ? 0xef53 : 0x794c7630)
  }
  expect(at('')?.message).toContain('data_dir is not on a volume')
  expect(at('0f'.repeat(32))?.message).toContain('an anonymous volume')
  expect(at('gatehouse_data')).toBeUndefined()
})

test('Data of another account is a problem, with the command', () => {
  const directory = { path: '/data', uid: 999, mode: 0o40700 }
  const entry = (name: string, uid: number) => ({ path: `/data/${name}`, uid, mode: 0o600 })
  expectFound(account(directory, 999), undefined)
  expectFound(account(directory, 1000), 'problem')
  expectFound(account(directory, 0), 'warning', "sudo -u '#999'")
  const mine = entry('gatehouse.db', 999)
  expectFound(owners(directory, [mine]), undefined)
  const found = owners(directory, [mine, ...['a', 'b', 'c', 'd'].map((name) => entry(name, 0))])
  for (const words of ['chown -R 999 /data', '/data/a, /data/b, /data/c and 1 more'])
    expectFound(found, 'problem', words)
})

/** An installation with a backup elsewhere that all accounts can read. */
function installed(folder: string) {
  const [dataDir, directory] = [join(folder, 'data'), join(folder, 'far')]
  for (const path of [dataDir, directory]) mkdirSync(path, { mode: 0o700 })
  writeFileSync(join(directory, 'a.tar.gz'), '', { mode: 0o644 })
  const config = testConfig({ 'data-dir': dataDir, 'backup-directory': directory })
  return { config, dataDir, far: directory }
}

test('A directory that does not respond is a problem, for data, backups and temporary files; a missing one is none', async () => {
  using folder = temporaryFolder()
  const { config, dataDir, far } = installed(folder.path)
  const unreachable = async (isDead: (path: string) => boolean) => {
    const read = (path: string) => (isDead(path) ? new Promise(() => {}) : Promise.resolve())
    const { paths, findings } = await findUnreachable(config, { read, longestMs: 5 })
    return { paths: [...paths], findings }
  }
  expect(await findUnreachable(config)).toEqual({ paths: new Set(), findings: [] })
  for (const dead of [dataDir, join(dataDir, 'backups'), far, tmpdir()]) {
    const { paths, findings } = await unreachable((path) => path === dead)
    expect(paths).toEqual([dead])
    expectFound(findings, 'problem', `${dead} does not respond: check its`)
  }
  // Backups below the data are not read either.
  expect((await unreachable((path) => path !== tmpdir())).paths).toEqual([dataDir])
  const stale = Object.assign(new Error('no'), { code: 'ESTALE' })
  const read = (path: string) => (path === far ? Promise.reject(stale) : Promise.resolve())
  const { paths, findings } = await findUnreachable(config, { read })
  expect([...paths]).toEqual([far])
  expectFound(findings, 'problem', 'cannot be read: no')
})

test('A directory that does not respond is not touched by any check', () => {
  using folder = temporaryFolder()
  const { config, far } = installed(folder.path)
  const message = `other accounts can read ${far}/a.tar.gz: run chmod -R go= ${far}`
  expect(permissions(config, new Set())).toMatchObject([{ message }])
  expect(permissions(config, new Set([far]))).toEqual([])
  const onlyFar = { ...config, dataDir: '/nowhere' }
  expect(disk.space(onlyFar, new Set([tmpdir()]))).toMatchObject([{ check: 'disk of backups' }])
  expect(disk.space(onlyFar, new Set([tmpdir(), far]))).toEqual([])
  const store = { list: () => [backupMade()], latest: () => backupMade() }
  const gone = { backup: { ...config.backup, directory: '/nowhere' } }
  const judged = (paths: string[]) => backupFindings(store, NOW, gone, new Set(paths), NOW)
  expect(judged([])[0]?.message).toContain('/nowhere does not exist')
  expectFound(judged(['/nowhere']), 'ok')
})

test('Files with secrets must not be open to all accounts; to a group they may be', () => {
  using folder = temporaryFolder()
  const found = (env: Record<string, string> = {}) => {
    const loaded = loadConfig({ flags: {}, env, cwd: folder.path })
    if (!loaded.ok) throw new Error(JSON.stringify(loaded.errors))
    return secretFiles({ loaded, io: testIo(folder.path, { env }) })
  }
  const write = (name: string, text: string, mode: number) => {
    writeFileSync(join(folder.path, name), text)
    chmodSync(join(folder.path, name), mode)
  }
  const mail = '[mail]\nfrom = "a@example.org"\n'
  const withSecret = `${mail}smtp_url = "smtp://u:p@mail"\n`
  write('gatehouse.toml', withSecret, 0o644)
  expectFound(found(), 'warning', 'chmod 640')
  write('gatehouse.toml', withSecret, 0o640)
  expectFound(found(), 'ok')
  write('gatehouse.toml', mail, 0o644)
  expectFound(found(), undefined)
  const env = { GATEHOUSE_MAIL_SMTP_URL_FILE: 'smtp' }
  write('smtp', 'smtp://u:p@mail', 0o604)
  expectFound(found(env), 'warning', '/smtp, which contains secrets: run chmod 600')
  write('smtp', 'smtp://u:p@mail', 0o640)
  expectFound(found(env), 'ok')
})

test('The disk has room, takes writes and syncs fast, and its log does not grow', () => {
  for (const [mb, freeInodes, result] of [
    [1000, 1_000_000, 'ok'],
    [999, 1_000_000, 'warning'],
    [200, 1_000_000, 'warning'],
    [199, 1_000_000, 'problem'],
    [5000, 10, 'problem'],
    [5000, null, 'ok'],
  ] as const) {
    const room = { freeBytes: mb * MB, freeInodes }
    expectFound(disk.judgeRoom('disk', '/data', room, 1000 * MB), result)
  }
  for (const [code, words] of [
    ['ENOSPC', 'the disk is full'],
    ['EROFS', 'read-only'],
    ['EIO', 'the disk is failing'],
    ['EWHAT', 'EWHAT: x'],
  ] as const)
    expectFound(disk.notWritten(Object.assign(new Error(`${code}: x`), { code })), 'problem', words)
  expectFound(disk.judgeSync(50), 'ok')
  expectFound(disk.judgeSync(51), 'warning', 'slow disk')
  expectFound(judgeLog(200 * MB, false), 'ok')
  expect(judgeLog(300 * MB, false).message).toContain('another program keeps the database open')
  expect(judgeLog(300 * MB, true).message).toContain('replicator')
})

test('The clock is not behind the data, agrees with the file system, and is synchronized', () => {
  for (const aheadMs of [-DAY, 30_000]) expectFound(judgeClock(NOW, NOW + aheadMs), 'ok')
  expectFound(judgeClock(NOW, NOW + DAY), 'problem', '2026-03-02T12:00:00.000Z')
  expectFound(disk.judgeFileTime(-2000), undefined)
  expect(disk.judgeFileTime(90_000)).toMatchObject([{ check: 'clock', result: 'warning' }])
  expectFound(judgeSynchronisation('yes'), 'ok')
  expectFound(judgeSynchronisation('no'), 'warning')
  for (const unknown of ['', undefined]) expectFound(judgeSynchronisation(unknown), 'ok', 'unknown')
})

test('Processes are alive by number here and heartbeat elsewhere; dead ones leave their leases', () => {
  const row = (id: string, host: string, pid: number, silentMs = 1000) => ({
    ...{ id, host, pid, version: '1.0.0', startedAt: NOW - DAY, heartbeatAt: NOW - silentMs },
    beat: 1,
  })
  const here = { host: 'here', isRunning: (pid: number) => pid === 7 }
  const nobody = processesIn([], here, NOW)
  const rows = [
    row('alive', 'here', 7),
    row('silent', 'here', 7, 4 * MINUTE),
    row('dead', 'here', 8),
    row('elsewhere', 'there', 8, 2 * MINUTE),
    row('gone', 'there', 7, 2 * MINUTE + 1),
  ]
  const found = processesIn(rows, here, NOW)
  const ids = (some: { id: string }[]) => some.map(({ id }) => id).join()
  const { alive, silent, dead } = found
  expect([alive, silent, dead].map(ids)).toEqual(['alive,elsewhere', 'silent', 'dead,gone'])
  const warnings = (version: string) =>
    judgeProcesses(found, version).filter(({ result }) => result === 'warning')
  expect([warnings('1.0.0').length, warnings('1.0.1').length]).toEqual([3, 5])
  expectFound(judgeProcesses(nobody, '1.0.0', 4), 'ok', 'not running')
  expect(judgeProcesses(found, '1.0.0', 2)).toEqual(judgeProcesses(found, '1.0.0'))
  expect(judgeProcesses(found, '1.0.0', 4)[1]?.message).toStartWith('2 of 4 processes run')

  const lease = (owner: string, count: number, until: number, of = 'run') => ({
    ...{ of, owner, count, until },
  })
  const long = NOW - 4 * MINUTE
  const lost = [lease('dead', 2, long), lease('x', 1, NOW), lease('x', 2, NOW, 'delivery')]
  for (const [leases, processes, result, words] of [
    [[lease('alive', 3, NOW + MINUTE)], found, 'ok', 'none held by dead processes'],
    [lost, nobody, 'warning', '3 runs, 2 deliveries held by dead'],
    [lost, found, 'warning', '2 runs held by dead processes, but not taken over'],
    [[lease('x', 1, NOW)], found, 'ok', ''],
  ] as const)
    expectFound(judgeLeases([...leases], processes, NOW), result, words)
})

test('Backups are made weekly, or as scheduled, and the last one has not failed', () => {
  const ago = (days: number) =>
    backupMade({ startedAt: NOW - days * DAY, endedAt: NOW - days * DAY })
  const failed = backupMade({ startedAt: NOW, bytes: null, error: 'the disk is full' })
  const open = backupMade({ startedAt: NOW - MINUTE, endedAt: null, bytes: null })
  const stuck = { ...open, startedAt: NOW - 2 * DAY }
  for (const [recent, isScheduled, result, words] of [
    [[ago(6)], false, 'ok', ''],
    [[ago(8)], false, 'warning', 'gatehouse backup'],
    [[], false, 'warning', ''],
    [[ago(1.9)], true, 'ok', ''],
    [[ago(2.1)], true, 'warning', ''],
    [[failed, ago(1)], false, 'problem', 'the disk is full'],
    [[open, ago(1)], false, 'ok', ''],
    [[stuck, ago(3)], false, 'problem', 'interrupted'],
  ] as const) {
    const good = recent.find(({ bytes, error }) => bytes !== null && !error)
    const about = { recent: [...recent], good, madeAt: NOW - 30 * DAY }
    const [found] = judgeBackups(about, { enabled: isScheduled, everyMs: DAY }, NOW)
    expectFound(found, result, words)
  }
})

test('base_url uses https unless it is private, and social login needs it', () => {
  const proxied = { 'server-trusted-proxies': '127.0.0.1' }
  for (const [url, result, more] of [
    ['http://auth.example.org', 'warning'],
    ['http://203.0.113.7', 'warning'],
    ['https://auth.example.org', 'ok'],
    ...['192.168.1.9:8420', 'nas.local', 'nas', '[fd00::7]', 'localhost:8420'].map(
      (host) => [`http://${host}`, 'ok'] as const,
    ),
    ['http://192.168.1.9:8420', 'warning', { 'server-host': '0.0.0.0' }],
  ] as const)
    expectFound(exposure(testConfig({ 'server-base-url': url, ...proxied, ...more })), result)
  const github = {
    GATEHOUSE_GATE_PROVIDERS_GITHUB_CLIENT_ID: 'a',
    GATEHOUSE_GATE_PROVIDERS_GITHUB_CLIENT_SECRET: 'b',
  }
  const configured = (more: object) => {
    const loaded = loadConfig({ flags: {}, env: { ...github, ...more }, cwd: '/' })
    return loaded.ok ? providers(loaded.config) : expect.unreachable()
  }
  expect(configured({})).toMatchObject([{ check: 'providers', result: 'warning' }])
  expect(configured({ GATEHOUSE_SERVER_BASE_URL: 'https://auth.example.org' })).toEqual([])
  expect(providers(testConfig())).toEqual([])
})

test('The report has a heading for each group with findings, and ends with their number', async () => {
  const [fine, warned, bad] = (['ok', 'warning', 'problem'] as const).map((result) => ({
    ...{ check: 'x', result, message: 'y' },
  })) as [never, never, never]
  expect(summary([fine])).toBe('no problems found')
  expect(summary([fine, warned])).toBe('1 warning')
  expect(summary([bad, bad, bad, warned, warned])).toBe('3 problems, 2 warnings')
  const groups = [
    { title: 'Disk', findings: [fine, bad] },
    { title: 'Work', findings: [] },
  ]
  expect(report(groups)).toBe('Disk\n  ok       x  y\n  problem  x  y\n\n1 problem')

  const failing = () => {
    throw new Error('no\nluck')
  }
  const problem = { check: 'luck', result: 'problem', message: 'no luck' }
  expect(await examined('luck', failing)).toEqual([problem] as never)
  expect(await within(5, new Promise<string>(() => {}), 'late')).toBe('late')
  expect(await within(5000, Promise.resolve('in time'), 'late')).toBe('in time')
})
