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

describe('a place for the data', () => {
  const MOUNTS = `22 27 0:21 / /proc rw,relatime - proc proc rw
27 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw,discard
30 27 0:40 / /mnt/nas rw,relatime shared:2 - nfs4 nas:/export rw,vers=4.2,addr=10.0.0.9
31 27 0:41 / /mnt/win rw,relatime - cifs //nas/share rw,vers=3.1.1,uid=0
32 27 0:42 / /mnt/far rw,nosuid,nodev - fuse.sshfs me@far:/ rw,user_id=0,group_id=0
33 27 0:43 / /mnt/bucket rw,nosuid - fuse.s3fs s3fs rw,user_id=0
34 27 0:44 / /mnt/cloud rw,nosuid - fuse.rclone remote: rw,user_id=0
35 27 0:45 / /mnt/pool rw,relatime - fuse.mergerfs a:b rw,user_id=0
36 27 0:46 / /run/user/1000/gvfs rw,nosuid - fuse.gvfsd-fuse gvfsd-fuse rw,user_id=1000
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
    ['/mnt/nas/gatehouse', 'NFS'],
    ['/mnt/win', 'SMB'],
    ['/mnt/far/data', 'FUSE (sshfs)'],
    ['/mnt/bucket', 'FUSE (s3fs)'],
    ['/mnt/cloud', 'FUSE (rclone)'],
    ['/mnt/pool', 'FUSE (mergerfs)'],
    ['/run/user/1000/gvfs/x', 'FUSE (gvfsd-fuse)'],
    ['/mnt/c/Users', '9p'],
    ['/mnt/user/appdata', 'Unraid'],
    ['/with blank/data', 'NFS'],
  ])('%s is on a network or in a program: a problem', (path, kind) => {
    expect(objection(path)).toMatchObject({
      result: 'problem',
      message: expect.stringContaining(kind),
    })
  })

  test.each([
    ['/mnt/host/data', 'a host directory'],
    ['/mnt/usb', 'does not store permissions'],
    ['/mnt/ram/data', 'in memory'],
  ])('%s is warned of', (path, words) => {
    expect(objection(path)).toMatchObject({
      result: 'warning',
      message: expect.stringContaining(words),
    })
  })

  test('a local disk is fine, also one below or on top of a network', () => {
    for (const path of ['/var/lib/gatehouse', '/mnt/nas/disk/data', '/mnt/nasty', '/twice/data'])
      expect(objection(path)).toBeUndefined()
  })

  test('a share that virtiofs names is not called FUSE for its number', () => {
    expect(objection('/mnt/host', 0x65735546)).toMatchObject({ result: 'warning' })
  })

  test('without a list of mounts the number says what it can', () => {
    for (const number of [0x6969, 0x517b, 0xff534d42, 0xfe534d42, 0x65735546, 0x01021997])
      expect(objectionToPlace(undefined, number)).toMatchObject({ result: 'problem' })
    for (const number of [0x794c7630, 0x01021994])
      expect(objectionToPlace(undefined, number)).toMatchObject({ result: 'warning' })
    expect(objectionToPlace(undefined, 0xef53)).toBeUndefined()
  })

  test('in a container, what is not on a volume goes with it, and so does a volume without a name', () => {
    const container = (extra: string) => `600 590 0:60 / / rw - overlay overlay rw,lowerdir=/x
${extra}`
    const at = (text: string) => objectionToPlace(mountOf(parseMounts(text), '/data'), 0x794c7630)
    const volume = (name: string) =>
      container(`610 600 8:1 /var/lib/docker/volumes/${name}/_data /data rw - ext4 /dev/sda1 rw`)
    const named = parseMounts(volume('gatehouse_data'))

    expect(at(container(''))?.message).toContain('data_dir is not on a volume')
    expect(at(volume('0f'.repeat(32)))?.message).toContain('an anonymous volume')
    expect(objectionToPlace(mountOf(named, '/data'), 0xef53)).toBeUndefined()
  })

  test('what is no list of mounts is no mount', () => {
    expect(parseMounts('')).toEqual([])
    expect(parseMounts('nonsense\n1 2 3 - \n')).toEqual([])
  })
})

describe('permissions', () => {
  const directory = { path: '/data', uid: 999, mode: 0o40700 }

  test('another account than the one that owns the data cannot do its work; root is warned', () => {
    expect(account(directory, 999)).toEqual([])
    expect(account(directory, 1000)).toMatchObject([{ result: 'problem' }])
    const [asRoot] = account(directory, 0)
    expect(asRoot).toMatchObject({ result: 'warning' })
    expect(asRoot?.message).toContain("sudo -u '#999'")
  })

  test('files of somebody else are named with the command that gives them back', () => {
    const entry = (name: string, uid: number) => ({ path: `/data/${name}`, uid, mode: 0o600 })
    const mine = entry('gatehouse.db', 999)
    expect(owners(directory, [mine])).toEqual([])
    const foreign = ['a', 'b', 'c', 'd'].map((name) => entry(name, 0))
    const [found] = owners(directory, [mine, ...foreign])
    expect(found).toMatchObject({ result: 'problem' })
    expect(found?.message).toContain('/data/a, /data/b, /data/c and 1 more')
    expect(found?.message).toContain('chown -R 999 /data')
  })

  test('what the group or everybody can read is one warning', () => {
    const entry = (mode: number) => ({ path: `/data/${mode.toString(8)}`, uid: 999, mode })
    expect(openToOthers('/data', [entry(0o600), entry(0o400)])).toEqual([])
    expect(openToOthers('/data', [entry(0o640), entry(0o604), entry(0o600)])).toMatchObject([
      {
        result: 'warning',
        message: 'other accounts can read /data/640, /data/604: run chmod -R go= /data',
      },
    ])
  })
})

describe('a place that does not answer', () => {
  /** Installed in a folder, with a backup elsewhere that everybody can read. */
  function installed(folder: string) {
    const [dataDir, directory] = [join(folder, 'data'), join(folder, 'far')]
    for (const path of [dataDir, directory]) mkdirSync(path, { mode: 0o700 })
    writeFileSync(join(directory, 'a.tar.gz'), '', { mode: 0o644 })
    return testConfig({ 'data-dir': dataDir, 'backup-directory': directory })
  }
  const without = (dead: string) => ({
    read: (path: string) => (path === dead ? new Promise(() => {}) : Promise.resolve()),
    longestMs: 50,
  })

  test('is told, be it for data, backups or temporary files; what is not there is no trouble', async () => {
    using folder = temporaryFolder()
    const config = installed(folder.path)
    expect(await findUnreachable(config)).toEqual({ paths: new Set(), findings: [] })
    const { dataDir, backup } = config
    for (const path of [dataDir, join(dataDir, 'backups'), backup.directory ?? '', tmpdir()]) {
      const { paths, findings } = await findUnreachable(config, without(path))
      expect([...paths]).toEqual([path])
      expect(findings).toMatchObject([
        { result: 'problem', message: `${path} does not respond: check its mount` },
      ])
    }
  })

  test('keeps nobody waiting for backups beside it where it has the data', async () => {
    using folder = temporaryFolder()
    const config = installed(folder.path)
    const { paths } = await findUnreachable(config, {
      read: (path) => (path === tmpdir() ? Promise.resolve() : new Promise(() => {})),
      longestMs: 50,
    })
    expect([...paths]).toEqual([config.dataDir])
  })

  test('is like one in which nobody may look', async () => {
    using folder = temporaryFolder()
    const config = installed(folder.path)
    const look = async (path: string) => {
      if (path === config.backup.directory) throw Object.assign(new Error('no'), { code: 'ESTALE' })
    }
    const { paths, findings } = await findUnreachable(config, { read: look })
    expect([...paths]).toEqual([config.backup.directory ?? ''])
    expect(findings).toMatchObject([{ message: expect.stringContaining('cannot be read: no') }])
  })

  test('is left alone by every check', async () => {
    using folder = temporaryFolder()
    const config = installed(folder.path)
    const far = config.backup.directory ?? ''
    const dead = new Set([far])
    const none: ReadonlySet<string> = new Set()

    expect(permissions(config, none)).toMatchObject([
      { message: `other accounts can read ${far}/a.tar.gz: run chmod -R go= ${far}` },
    ])
    expect(permissions(config, dead)).toEqual([])

    const onlyFar = { ...config, dataDir: '/nowhere' }
    expect(space(onlyFar, new Set([tmpdir()]))).toMatchObject([{ check: 'disk of backups' }])
    expect(space(onlyFar, new Set([tmpdir(), far]))).toEqual([])

    const store = { list: () => [backupMade()], latest: () => backupMade() }
    const gone = { backup: { ...config.backup, directory: '/nowhere' } }
    const judged = (paths: ReadonlySet<string>) => backupFindings(store, NOW, gone, paths, NOW)
    expect(judged(none)[0]?.message).toContain('/nowhere does not exist')
    expect(judged(new Set(['/nowhere']))).toMatchObject([{ result: 'ok' }])
  })
})

describe('files with secrets', () => {
  function secretsIn(cwd: string, env: Record<string, string> = {}) {
    const loaded = loadConfig({ flags: {}, env, cwd })
    if (!loaded.ok) throw new Error(JSON.stringify(loaded.errors))
    return secretFiles({ loaded, io: testIo(cwd, { env }) })
  }

  function write(folder: string, name: string, text: string, mode: number) {
    writeFileSync(join(folder, name), text)
    chmodSync(join(folder, name), mode)
  }

  const MAIL = '[mail]\nfrom = "a@example.org"\n'

  test('a configuration that holds one must not be open to everybody; for a group it may be', () => {
    using folder = temporaryFolder()
    write(folder.path, 'gatehouse.toml', `${MAIL}smtp_url = "smtp://u:p@mail"\n`, 0o644)
    expect(secretsIn(folder.path)).toMatchObject([
      { result: 'warning', message: expect.stringMatching(/gatehouse\.toml.*chmod 640/) },
    ])
    chmodSync(join(folder.path, 'gatehouse.toml'), 0o640)
    expect(secretsIn(folder.path)).toMatchObject([{ result: 'ok' }])
  })

  test('one without a secret may be read by everybody', () => {
    using folder = temporaryFolder()
    write(folder.path, 'gatehouse.toml', MAIL, 0o644)
    expect(secretsIn(folder.path)).toEqual([])
  })

  test('files that a variable or a setting names are looked at as well', () => {
    using folder = temporaryFolder()
    write(folder.path, 'smtp', 'smtp://u:p@mail', 0o644)
    write(folder.path, 'github', 'secret', 0o604)
    const github = '[gate.providers.github]\nclient_id = "a"\nclient_secret_file = "github"\n'
    write(folder.path, 'gatehouse.toml', `${MAIL}${github}`, 0o644)
    const env = { GATEHOUSE_MAIL_SMTP_URL_FILE: 'smtp' }

    expect(secretsIn(folder.path, env).map(({ message }) => message)).toEqual([
      expect.stringMatching(/\/smtp, which contains secrets: run chmod 600/),
      expect.stringMatching(/\/github, which contains secrets: run chmod 600/),
    ])
    for (const name of ['smtp', 'github']) chmodSync(join(folder.path, name), 0o640)
    expect(secretsIn(folder.path, env)).toMatchObject([{ result: 'ok' }])
  })
})

describe('a disk', () => {
  const room = (freeBytes: number, freeInodes: number | null = 1_000_000) =>
    judgeRoom('disk', '/data', { freeBytes, freeInodes }, 1000 * MB)[0]

  test('is full below 200 MB, and tight below twice the database', () => {
    expect(room(5000 * MB)).toMatchObject({ result: 'ok', message: '5000 MB free' })
    expect(room(900 * MB)).toMatchObject({ result: 'warning' })
    expect(room(199 * MB)).toMatchObject({ result: 'problem' })
  })

  test('has names to give, where the file system counts them', () => {
    expect(room(5000 * MB, 10)).toMatchObject({
      result: 'problem',
      message: expect.stringContaining('inodes'),
    })
    expect(room(5000 * MB, null)).toMatchObject({ result: 'ok' })
  })

  test('that is full, read-only or broken is told in words', () => {
    const failing = (code: string) => notWritten(Object.assign(new Error(`${code}: x`), { code }))
    expect(failing('ENOSPC').message).toContain('the disk is full')
    expect(failing('EROFS').message).toContain('read-only')
    expect(failing('EIO').message).toContain('the disk is failing')
    expect(failing('EWHAT')).toMatchObject({ result: 'problem', message: 'EWHAT: x' })
  })

  test('is slow when a sync takes more than 50 ms', () => {
    expect(judgeSync(4)).toMatchObject({ result: 'ok' })
    expect(judgeSync(51)).toMatchObject({
      result: 'warning',
      message: expect.stringContaining('slow disk'),
    })
  })
})

describe('the clock', () => {
  test('must not be behind what was written already', () => {
    expect(judgeClock(NOW, NOW - DAY)).toMatchObject({ result: 'ok' })
    expect(judgeClock(NOW, NOW + 30_000)).toMatchObject({ result: 'ok' })
    expect(judgeClock(NOW, NOW + DAY)).toMatchObject({
      result: 'problem',
      message: expect.stringContaining('2026-03-02T12:00:00.000Z'),
    })
  })

  test('must agree with the file system', () => {
    expect(judgeFileTime(-2000)).toEqual([])
    expect(judgeFileTime(90_000)).toMatchObject([{ check: 'clock', result: 'warning' }])
  })

  test('should be kept right by something; where nobody can tell, nothing is wrong', () => {
    expect(judgeSynchronisation('yes')).toMatchObject({ result: 'ok' })
    expect(judgeSynchronisation('no')).toMatchObject({ result: 'warning' })
    for (const answer of ['', undefined])
      expect(judgeSynchronisation(answer)).toMatchObject({ result: 'ok', message: 'unknown' })
  })
})

describe('processes and their leases', () => {
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
  const rows = [
    row('alive'),
    row('silent', { heartbeatAt: long }),
    row('dead', { pid: 8 }),
    row('elsewhere', { host: 'there', pid: 8, heartbeatAt: NOW - 2 * MINUTE }),
    row('gone', { host: 'there', heartbeatAt: NOW - 2 * MINUTE - 1 }),
  ]
  const found = processesIn(rows, here, NOW)
  const ids = (list: InstanceRow[]) => list.map(({ id }) => id)

  test('here a number that runs is proof, elsewhere a heartbeat of the last two minutes', () => {
    expect(ids(found.alive)).toEqual(['alive', 'elsewhere'])
    expect(ids(found.silent)).toEqual(['silent'])
    expect(ids(found.dead)).toEqual(['dead', 'gone'])
  })

  test('those that ended without a word, hang or run another version are warned of', () => {
    const warnings = (version: string) =>
      judgeProcesses(found, version).filter(({ result }) => result === 'warning')
    expect(warnings('1.0.0')).toHaveLength(3)
    expect(warnings('1.0.1')).toHaveLength(5)
    expect(judgeProcesses(processesIn([], here, NOW), '1.0.0')).toMatchObject([
      { result: 'ok', message: 'not running' },
    ])
  })

  test('leases of the dead wait for a server, and one that runs has to take them', () => {
    const lease = (owner: string, count: number, until: number, of = 'run') => ({
      of,
      owner,
      count,
      until,
    })
    const nobody = processesIn([], here, NOW)
    expect(judgeLeases([lease('alive', 3, NOW + MINUTE)], found, NOW)).toMatchObject([
      { result: 'ok', message: 'none held by dead processes' },
    ])
    const lost = [lease('dead', 2, long), lease('x', 1, NOW), lease('x', 2, NOW, 'delivery')]
    expect(judgeLeases(lost, nobody, NOW)).toMatchObject([
      { result: 'warning', message: expect.stringContaining('3 runs, 2 deliveries held by dead') },
    ])
    expect(judgeLeases(lost, found, NOW)).toMatchObject([
      {
        result: 'warning',
        message: expect.stringContaining('2 runs held by dead processes, but not taken over'),
      },
    ])
    expect(judgeLeases([lease('x', 1, NOW)], found, NOW)).toMatchObject([{ result: 'ok' }])
  })
})

describe('backups', () => {
  const ago = (days: number) =>
    backupMade({ startedAt: NOW - days * DAY, endedAt: NOW - days * DAY })
  const judge = (recent: BackupRow[], { enabled = false, madeAt = NOW - 30 * DAY } = {}) =>
    judgeBackups(
      { recent, good: recent.find(({ bytes, error }) => bytes !== null && !error), madeAt },
      { enabled, everyMs: DAY },
      NOW,
    )[0]

  test('there should be one a week, of whichever kind; a new installation has a week', () => {
    expect(judge([ago(6)])).toMatchObject({ result: 'ok' })
    expect(judge([ago(8)])).toMatchObject({
      result: 'warning',
      message: expect.stringContaining('gatehouse backup'),
    })
    expect(judge([])).toMatchObject({ result: 'warning' })
    expect(judge([], { madeAt: NOW - DAY })).toMatchObject({ result: 'ok' })
  })

  test('where they are made by themselves, twice the time between two is too long', () => {
    expect(judge([ago(1.9)], { enabled: true })).toMatchObject({ result: 'ok' })
    expect(judge([ago(2.1)], { enabled: true })).toMatchObject({ result: 'warning' })
  })

  test('that the last one failed or was cut short is a problem; one under way is not', () => {
    const failed = backupMade({
      startedAt: NOW,
      endedAt: NOW,
      bytes: null,
      error: 'the disk is full',
    })
    expect(judge([failed, ago(1)])).toMatchObject({
      result: 'problem',
      message: expect.stringContaining('the disk is full'),
    })
    const open = backupMade({ startedAt: NOW - MINUTE, endedAt: null, bytes: null })
    expect(judge([open, ago(1)])).toMatchObject({ result: 'ok' })
    expect(judge([{ ...open, startedAt: NOW - 2 * DAY }, ago(3)])).toMatchObject({
      result: 'problem',
      message: expect.stringContaining('interrupted'),
    })
  })
})

test('a log that only grows has a reader that hangs, or waits for its replicator', () => {
  expect(judgeLog(200 * MB, false)).toMatchObject({ result: 'ok' })
  expect(judgeLog(300 * MB, false).message).toContain('another program keeps the database open')
  expect(judgeLog(300 * MB, true).message).toContain('replicator')
})

describe('configuration', () => {
  const network = (baseUrl: string, more: Record<string, string> = {}) =>
    exposure(
      testConfig({ 'server-base-url': baseUrl, 'server-trusted-proxies': '127.0.0.1', ...more }),
    ).result

  test('plain http on the internet is warned of, at home it is not', () => {
    for (const url of ['http://auth.example.org', 'http://203.0.113.7'])
      expect(network(url)).toBe('warning')
    for (const url of [
      'https://auth.example.org',
      'http://192.168.1.9:8420',
      'http://nas.local',
      'http://nas',
      'http://[fd00::7]',
      'http://localhost:8420',
    ])
      expect(network(url)).toBe('ok')
  })

  test('on an open address it is warned of wherever it is', () => {
    expect(network('http://192.168.1.9:8420', { 'server-host': '0.0.0.0' })).toBe('warning')
  })

  test('providers send people back to an address that has to be set', () => {
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
  const finding = (result: 'ok' | 'warning' | 'problem') => ({ check: 'x', result, message: 'y' })

  test('ends in how many of what', () => {
    const [fine, warned, bad] = [finding('ok'), finding('warning'), finding('problem')]
    expect(summary([fine])).toBe('no problems found')
    expect(summary([fine, warned])).toBe('1 warning')
    expect(summary([bad, bad, bad, warned, warned])).toBe('3 problems, 2 warnings')
  })

  test('has a heading for each group that has something to say', () => {
    const findings = [finding('ok'), finding('problem')]
    expect(
      report([
        { title: 'Disk', findings },
        { title: 'Work', findings: [] },
      ]),
    ).toBe('Disk\n  ok       x  y\n  problem  x  y\n\n1 problem')
  })

  test('a check that throws is a finding', async () => {
    const failing = () => {
      throw new Error('no\nluck')
    }
    expect(await examined('luck', failing)).toEqual([
      { check: 'luck', result: 'problem', message: 'no luck' },
    ])
  })

  test('what never answers is waited for no longer than is bearable', async () => {
    const never = new Promise<string>(() => {})
    expect(await within(5, never, 'late')).toBe('late')
    expect(await within(5000, Promise.resolve('in time'), 'late')).toBe('in time')
  })
})
