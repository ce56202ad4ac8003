import { describe, expect, test } from 'bun:test'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { backupFindings, judgeBackups } from '../../../src/cli/doctor/backups.ts'
import { judgeClock, judgeSynchronisation } from '../../../src/cli/doctor/clock.ts'
import { exposure, providers } from '../../../src/cli/doctor/configuration.ts'
import { judgeLog } from '../../../src/cli/doctor/database.ts'
import { findUnreachable } from '../../../src/cli/doctor/directories.ts'
import {
  judgeFileTime,
  judgeRoom,
  judgeSync,
  notWritten,
  space,
} from '../../../src/cli/doctor/disk.ts'
import { examined, within } from '../../../src/cli/doctor/finding.ts'
import { mountOf, objectionToPlace, parseMounts } from '../../../src/cli/doctor/mounts.ts'
import { account, openToOthers, owners, permissions } from '../../../src/cli/doctor/permissions.ts'
import { judgeLeases, judgeProcesses, processesIn } from '../../../src/cli/doctor/processes.ts'
import { report, summary } from '../../../src/cli/doctor/report.ts'
import { secretFiles } from '../../../src/cli/doctor/secret-files.ts'
import type { InstanceRow } from '../../../src/cli/doctor/store.ts'
import { loadConfig } from '../../../src/config/index.ts'
import type { BackupRow } from '../../../src/platform/backup/index.ts'
import { testIo } from '../../support/cli.ts'
import { testConfig } from '../../support/config.ts'
import { temporaryFolder } from '../../support/folder.ts'

const MB = 1024 * 1024
const NOW = Date.parse('2026-03-01T12:00:00Z')
const MINUTE = 60_000
const DAY = 24 * 60 * MINUTE

const finding = (result: 'ok' | 'warning' | 'problem', words = '') => ({
  result,
  message: expect.stringContaining(words),
})

const backupMade = (of: Partial<BackupRow> = {}): BackupRow => ({
  id: 'b',
  origin: 'command',
  owner: null,
  startedAt: NOW - DAY,
  endedAt: NOW - DAY + 1000,
  file: '/backup/a.tar.gz',
  bytes: 5 * MB,
  error: null,
  ...of,
})

describe('the place of the data', () => {
  const MOUNTS = `22 27 0:21 / /proc rw,relatime - proc proc rw
27 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw,discard
30 27 0:40 / /mnt/nas rw,relatime shared:2 - nfs4 nas:/export rw,vers=4.2,addr=10.0.0.9
31 27 0:41 / /mnt/win rw,relatime - cifs //nas/share rw,vers=3.1.1,uid=0
32 27 0:42 / /mnt/far rw,nosuid,nodev - fuse.sshfs me@far:/ rw,user_id=0,group_id=0
37 27 0:47 / /mnt/c rw,noatime - 9p C:\\134 rw,dirsync,aname=drvfs;path=C:\\
38 27 0:48 / /mnt/host rw,relatime - virtiofs mount0 rw
39 27 0:49 / /mnt/user rw,nosuid - fuse.shfs shfs rw,user_id=0
40 27 8:17 / /mnt/usb rw,nosuid - fuseblk /dev/sdb1 rw,blksize=4096
41 27 0:50 / /mnt/ram rw - tmpfs tmpfs rw,size=64m
42 30 8:1 / /mnt/nas/disk rw,relatime - xfs /dev/sda1 rw
43 27 8:1 /a\\040b /with\\040blank rw - nfs nas:/x rw
44 27 0:51 / /twice rw - nfs nas:/y rw
45 44 8:1 / /twice rw - btrfs /dev/sdc rw,subvol=/
`
  const objection = (path: string, number = 0xef53) =>
    objectionToPlace(mountOf(parseMounts(MOUNTS), path), number)

  test.each([
    ['/mnt/nas/gatehouse', 'problem', 'NFS'],
    ['/mnt/win', 'problem', 'SMB'],
    ['/mnt/far/data', 'problem', 'FUSE (sshfs)'],
    ['/mnt/c/Users', 'problem', '9p'],
    ['/mnt/user/appdata', 'problem', 'Unraid'],
    ['/with blank/data', 'problem', 'NFS'],
    ['/mnt/host/data', 'warning', 'a host directory'],
    ['/mnt/usb', 'warning', 'does not store permissions'],
    ['/mnt/ram/data', 'warning', 'in memory'],
  ] as const)('%s is a %s: %s', (path, result, words) => {
    expect(objection(path)).toMatchObject(finding(result, words))
  })

  test('may be a local disk, also below or on top of a network file system', () => {
    for (const path of ['/var/lib/gatehouse', '/mnt/nas/disk/data', '/mnt/nasty', '/twice/data'])
      expect(objection(path)).toBeUndefined()
    // Its number is that of FUSE.
    expect(objection('/mnt/host', 0x65735546)).toMatchObject(finding('warning'))
  })

  test('is judged by its file system number when there is no list of mounts', () => {
    for (const [number, result] of [
      ...[0x6969, 0x517b, 0xff534d42, 0xfe534d42, 0x65735546, 0x01021997].map((n) => [
        n,
        'problem',
      ]),
      ...[0x794c7630, 0x01021994].map((n) => [n, 'warning']),
      [0xef53, undefined],
    ] as [number, string | undefined][])
      expect(objectionToPlace(undefined, number)?.result).toBe(result as never)
    for (const text of ['', 'nonsense\n1 2 3 - \n']) expect(parseMounts(text)).toEqual([])
  })

  test('has to be a named volume in a container', () => {
    const at = (volume: string) => {
      const mount = `610 600 8:1 /var/lib/docker/volumes/${volume}/_data /data rw - ext4 /dev/sda1 rw`
      const text = `600 590 0:60 / / rw - overlay overlay rw,lowerdir=/x\n${volume && mount}`
      return objectionToPlace(mountOf(parseMounts(text), '/data'), volume ? 0xef53 : 0x794c7630)
    }
    expect(at('')?.message).toContain('data_dir is not on a volume')
    expect(at('0f'.repeat(32))?.message).toContain('an anonymous volume')
    expect(at('gatehouse_data')).toBeUndefined()
  })
})

describe('permissions', () => {
  const directory = { path: '/data', uid: 999, mode: 0o40700 }
  const entry = (name: string, uid: number, mode = 0o600) => ({ path: `/data/${name}`, uid, mode })

  test('another account than the owner of the data is a problem, root a warning', () => {
    expect(account(directory, 999)).toEqual([])
    expect(account(directory, 1000)).toMatchObject([finding('problem')])
    expect(account(directory, 0)).toMatchObject([finding('warning', "sudo -u '#999'")])
  })

  test('files of another owner come with the command that gives them back', () => {
    const mine = entry('gatehouse.db', 999)
    expect(owners(directory, [mine])).toEqual([])
    const [found] = owners(directory, [mine, ...['a', 'b', 'c', 'd'].map((name) => entry(name, 0))])
    expect(found?.message).toContain('chown -R 999 /data')
    expect(found).toMatchObject(finding('problem', '/data/a, /data/b, /data/c and 1 more'))
  })

  test('files that a group or all accounts can read are one warning', () => {
    expect(openToOthers('/data', [entry('a', 999), entry('b', 999, 0o400)])).toEqual([])
    const open = [entry('a', 999, 0o640), entry('b', 999, 0o604), entry('c', 999)]
    const message = 'other accounts can read /data/a, /data/b: run chmod -R go= /data'
    expect(openToOthers('/data', open)).toMatchObject([finding('warning', message)])
  })
})

describe('a directory that does not respond', () => {
  /** An installation with a backup elsewhere that all accounts can read. */
  function installed(folder: string) {
    const [dataDir, directory] = [join(folder, 'data'), join(folder, 'far')]
    for (const path of [dataDir, directory]) mkdirSync(path, { mode: 0o700 })
    writeFileSync(join(directory, 'a.tar.gz'), '', { mode: 0o644 })
    return testConfig({ 'data-dir': dataDir, 'backup-directory': directory })
  }
  const never = () => new Promise(() => {})

  test('is a problem, for data, backups and temporary files; a missing one is none', async () => {
    using folder = temporaryFolder()
    const config = installed(folder.path)
    expect(await findUnreachable(config)).toEqual({ paths: new Set(), findings: [] })
    const { dataDir, backup } = config
    const far = backup.directory ?? ''
    for (const dead of [dataDir, join(dataDir, 'backups'), far, tmpdir()]) {
      const read = (path: string) => (path === dead ? never() : Promise.resolve())
      const { paths, findings } = await findUnreachable(config, { read, longestMs: 5 })
      expect([...paths]).toEqual([dead])
      expect(findings).toMatchObject([finding('problem', `${dead} does not respond: check its`)])
    }
    // Backups below the data are not read either.
    const read = (path: string) => (path === tmpdir() ? Promise.resolve() : never())
    const { paths } = await findUnreachable(config, { read, longestMs: 5 })
    expect([...paths]).toEqual([dataDir])

    const stale = await findUnreachable(config, {
      read: async (path) => {
        if (path === far) throw Object.assign(new Error('no'), { code: 'ESTALE' })
      },
    })
    expect([...stale.paths]).toEqual([far])
    expect(stale.findings).toMatchObject([finding('problem', 'cannot be read: no')])
  })

  test('is not touched by any check', async () => {
    using folder = temporaryFolder()
    const config = installed(folder.path)
    const far = config.backup.directory ?? ''
    const none: ReadonlySet<string> = new Set()
    const message = `other accounts can read ${far}/a.tar.gz: run chmod -R go= ${far}`
    expect(permissions(config, none)).toMatchObject([{ message }])
    expect(permissions(config, new Set([far]))).toEqual([])

    const onlyFar = { ...config, dataDir: '/nowhere' }
    expect(space(onlyFar, new Set([tmpdir()]))).toMatchObject([{ check: 'disk of backups' }])
    expect(space(onlyFar, new Set([tmpdir(), far]))).toEqual([])

    const store = { list: () => [backupMade()], latest: () => backupMade() }
    const gone = { backup: { ...config.backup, directory: '/nowhere' } }
    const judged = (paths: ReadonlySet<string>) => backupFindings(store, NOW, gone, paths, NOW)
    expect(judged(none)[0]?.message).toContain('/nowhere does not exist')
    expect(judged(new Set(['/nowhere']))).toMatchObject([finding('ok')])
  })
})

test('files with secrets must not be open to all accounts; to a group they may be', () => {
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
  write('gatehouse.toml', `${mail}smtp_url = "smtp://u:p@mail"\n`, 0o644)
  expect(found()).toMatchObject([finding('warning', 'chmod 640')])
  chmodSync(join(folder.path, 'gatehouse.toml'), 0o640)
  expect(found()).toMatchObject([finding('ok')])
  write('gatehouse.toml', mail, 0o644)
  expect(found()).toEqual([])

  write('smtp', 'smtp://u:p@mail', 0o644)
  write('github', 'secret', 0o604)
  const github = '[gate.providers.github]\nclient_id = "a"\nclient_secret_file = "github"\n'
  write('gatehouse.toml', `${mail}${github}`, 0o644)
  const env = { GATEHOUSE_MAIL_SMTP_URL_FILE: 'smtp' }
  const open = (name: string) =>
    finding('warning', `/${name}, which contains secrets: run chmod 600`)
  expect(found(env)).toMatchObject([open('smtp'), open('github')])
  for (const name of ['smtp', 'github']) chmodSync(join(folder.path, name), 0o640)
  expect(found(env)).toMatchObject([finding('ok')])
})

describe('the disk', () => {
  test.each([
    [5000, 1_000_000, 'ok', '5000 MB free'],
    [1000, 1_000_000, 'ok', ''],
    [999, 1_000_000, 'warning', ''],
    [200, 1_000_000, 'warning', ''],
    [199, 1_000_000, 'problem', ''],
    [5000, 10, 'problem', 'inodes'],
    [5000, null, 'ok', ''],
  ] as const)(
    'with %i MB and %p inodes free for a database of 1000 MB is: %s',
    (mb, freeInodes, result, words) => {
      const room = { freeBytes: mb * MB, freeInodes }
      expect(judgeRoom('disk', '/data', room, 1000 * MB)).toMatchObject([finding(result, words)])
    },
  )

  test.each([
    ['ENOSPC', 'the disk is full'],
    ['EROFS', 'read-only'],
    ['EIO', 'the disk is failing'],
    ['EWHAT', 'EWHAT: x'],
  ])('that fails with %s is a problem: %s', (code, words) => {
    const error = Object.assign(new Error(`${code}: x`), { code })
    expect(notWritten(error)).toMatchObject(finding('problem', words))
  })

  test('is slow when a sync takes more than 50 ms', () => {
    expect(judgeSync(50)).toMatchObject(finding('ok'))
    expect(judgeSync(51)).toMatchObject(finding('warning', 'slow disk'))
  })

  test('with a growing log has a reader that hangs, or waits for its replicator', () => {
    expect(judgeLog(200 * MB, false)).toMatchObject(finding('ok'))
    expect(judgeLog(300 * MB, false).message).toContain('another program keeps the database open')
    expect(judgeLog(300 * MB, true).message).toContain('replicator')
  })
})

test('the clock must not be behind the data, must agree with the file system, and be synchronized', () => {
  expect(judgeClock(NOW, NOW - DAY)).toMatchObject(finding('ok'))
  expect(judgeClock(NOW, NOW + 30_000)).toMatchObject(finding('ok'))
  expect(judgeClock(NOW, NOW + DAY)).toMatchObject(finding('problem', '2026-03-02T12:00:00.000Z'))
  expect(judgeFileTime(-2000)).toEqual([])
  expect(judgeFileTime(90_000)).toMatchObject([{ check: 'clock', result: 'warning' }])
  expect(judgeSynchronisation('yes')).toMatchObject(finding('ok'))
  expect(judgeSynchronisation('no')).toMatchObject(finding('warning'))
  for (const unknown of ['', undefined])
    expect(judgeSynchronisation(unknown)).toMatchObject(finding('ok', 'unknown'))
})

describe('processes', () => {
  const row = (id: string, of: Partial<InstanceRow> = {}): InstanceRow => ({
    id,
    host: 'here',
    pid: 7,
    version: '1.0.0',
    startedAt: NOW - DAY,
    heartbeatAt: NOW - 1000,
    beat: 1,
    ...of,
  })
  const here = { host: 'here', isRunning: (pid: number) => pid === 7 }
  const long = NOW - 4 * MINUTE
  const nobody = processesIn([], here, NOW)
  const found = processesIn(
    [
      row('alive'),
      row('silent', { heartbeatAt: long }),
      row('dead', { pid: 8 }),
      row('elsewhere', { host: 'there', pid: 8, heartbeatAt: NOW - 2 * MINUTE }),
      row('gone', { host: 'there', heartbeatAt: NOW - 2 * MINUTE - 1 }),
    ],
    here,
    NOW,
  )

  test('on this host are alive by their number, on others by a heartbeat of the last 2 minutes', () => {
    const ids = (rows: InstanceRow[]) => rows.map(({ id }) => id)
    expect(ids(found.alive)).toEqual(['alive', 'elsewhere'])
    expect(ids(found.silent)).toEqual(['silent'])
    expect(ids(found.dead)).toEqual(['dead', 'gone'])
  })

  test('that crashed, hang or run another version are warnings', () => {
    const warnings = (version: string) =>
      judgeProcesses(found, version).filter(({ result }) => result === 'warning')
    expect([warnings('1.0.0').length, warnings('1.0.1').length]).toEqual([3, 5])
    expect(judgeProcesses(nobody, '1.0.0')).toMatchObject([finding('ok', 'not running')])
  })

  test('that are dead leave their leases to a running server', () => {
    const lease = (owner: string, count: number, until: number, of = 'run') => ({
      ...{ of, owner, count, until },
    })
    const lost = [lease('dead', 2, long), lease('x', 1, NOW), lease('x', 2, NOW, 'delivery')]
    for (const [leases, processes, judged] of [
      [[lease('alive', 3, NOW + MINUTE)], found, finding('ok', 'none held by dead processes')],
      [lost, nobody, finding('warning', '3 runs, 2 deliveries held by dead')],
      [lost, found, finding('warning', '2 runs held by dead processes, but not taken over')],
      [[lease('x', 1, NOW)], found, finding('ok')],
    ] as const)
      expect(judgeLeases([...leases], processes, NOW)).toMatchObject([judged])
  })
})

test('backups are made weekly, or as scheduled, and the last one has not failed', () => {
  const ago = (days: number) =>
    backupMade({ startedAt: NOW - days * DAY, endedAt: NOW - days * DAY })
  const failed = backupMade({
    startedAt: NOW,
    endedAt: NOW,
    bytes: null,
    error: 'the disk is full',
  })
  const open = backupMade({ startedAt: NOW - MINUTE, endedAt: null, bytes: null })
  const scheduled = { enabled: true }
  const cases: [BackupRow[], { enabled?: boolean; madeAt?: number }, object][] = [
    [[ago(6)], {}, finding('ok')],
    [[ago(8)], {}, finding('warning', 'gatehouse backup')],
    [[], {}, finding('warning')],
    [[], { madeAt: NOW - DAY }, finding('ok')],
    [[ago(1.9)], scheduled, finding('ok')],
    [[ago(2.1)], scheduled, finding('warning')],
    [[failed, ago(1)], {}, finding('problem', 'the disk is full')],
    [[open, ago(1)], {}, finding('ok')],
    [[{ ...open, startedAt: NOW - 2 * DAY }, ago(3)], {}, finding('problem', 'interrupted')],
  ]
  for (const [recent, { enabled = false, madeAt = NOW - 30 * DAY }, judged] of cases) {
    const good = recent.find(({ bytes, error }) => bytes !== null && !error)
    const [found] = judgeBackups({ recent, good, madeAt }, { enabled, everyMs: DAY }, NOW)
    expect(found).toMatchObject(judged)
  }
})

describe('the configuration', () => {
  test.each<[string, string, Record<string, string>]>([
    ['http://auth.example.org', 'warning', {}],
    ['http://203.0.113.7', 'warning', {}],
    ['https://auth.example.org', 'ok', {}],
    ['http://192.168.1.9:8420', 'ok', {}],
    ['http://nas.local', 'ok', {}],
    ['http://nas', 'ok', {}],
    ['http://[fd00::7]', 'ok', {}],
    ['http://localhost:8420', 'ok', {}],
    ['http://192.168.1.9:8420', 'warning', { 'server-host': '0.0.0.0' }],
  ])('base_url %s is: %s %p', (url, result, more) => {
    const flags = { 'server-base-url': url, 'server-trusted-proxies': '127.0.0.1', ...more }
    expect(exposure(testConfig(flags)).result).toBe(result as never)
  })

  test('with social login needs a base_url', () => {
    const file = '[gate.providers.github]\nclient_id = "a"\nclient_secret = "b"\n'
    const configured = (flags: Record<string, string>) => {
      const readFile = () => file
      const loaded = loadConfig({ flags: { config: 'x', ...flags }, env: {}, cwd: '/', readFile })
      if (!loaded.ok) throw new Error(JSON.stringify(loaded.errors))
      return providers(loaded.config)
    }
    expect(configured({})).toMatchObject([{ check: 'providers', result: 'warning' }])
    expect(configured({ 'server-base-url': 'https://auth.example.org' })).toEqual([])
    expect(providers(testConfig())).toEqual([])
  })
})

describe('the report', () => {
  const found = (result: 'ok' | 'warning' | 'problem') => ({ check: 'x', result, message: 'y' })

  test('has a heading for each group with findings, and ends with their number', () => {
    const [fine, warned, bad] = [found('ok'), found('warning'), found('problem')]
    expect(summary([fine])).toBe('no problems found')
    expect(summary([fine, warned])).toBe('1 warning')
    expect(summary([bad, bad, bad, warned, warned])).toBe('3 problems, 2 warnings')
    const groups = [
      { title: 'Disk', findings: [fine, bad] },
      { title: 'Work', findings: [] },
    ]
    expect(report(groups)).toBe('Disk\n  ok       x  y\n  problem  x  y\n\n1 problem')
  })

  test('has a finding for a check that throws, and does not wait for one that hangs', async () => {
    const failing = () => {
      throw new Error('no\nluck')
    }
    const problem = { check: 'luck', result: 'problem', message: 'no luck' }
    expect(await examined('luck', failing)).toEqual([problem] as never)
    expect(await within(5, new Promise<string>(() => {}), 'late')).toBe('late')
    expect(await within(5000, Promise.resolve('in time'), 'late')).toBe('in time')
  })
})
