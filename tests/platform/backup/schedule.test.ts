import { describe, expect, test } from 'bun:test'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { migrations } from '../../../drizzle/index.ts'
import { migrate } from '../../../src/db/migrate.ts'
import { openDatabase } from '../../../src/db/open.ts'
import { archiveInChild, type MakeArchive } from '../../../src/platform/backup/child.ts'
import { createBackups } from '../../../src/platform/backup/schedule.ts'
import { createLog } from '../../../src/platform/log.ts'
import { createMetrics } from '../../../src/platform/metrics/index.ts'
import { until } from '../../support/binary.ts'
import { createTestClock } from '../../support/clock.ts'
import { temporaryFolder } from '../../support/folder.ts'
import { createHome, piecesOf, sha256 } from './fixture.ts'

const START = '2026-11-22T05:12:38.000Z'
const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

const SETTINGS = { enabled: true, everyMs: DAY, keep: 3 }

interface Running {
  stop: (graceMs: number) => Promise<void>
  atRest: () => Promise<void>
}

const never = new Promise<never>(() => {})

/** Processes on one data directory, with a clock that the test turns. */
function createFixture(settings: Partial<typeof SETTINGS> & { directory?: string } = {}) {
  const folder = temporaryFolder()
  const dataDir = folder.path
  const clock = createTestClock(START)
  const db = openDatabase({ dataDir, synchronous: 'normal' })
  migrate(db.client, { migrations, backupDir: join(dataDir, 'b'), appVersion: '1', now: 0 })
  const lines: string[] = []
  const write = (line: string) => void lines.push(line)
  const log = createLog({ level: 'debug', format: 'json', now: clock.now, write })
  const living = new Set<string>()
  const running = new Map<string, Running>()

  /** Writes the file that it is asked for, at once. */
  const quick: MakeArchive = async (dir, file) => {
    if (dirname(file) === join(dir, 'backups')) mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, 'archive')
    return { bytes: 7 }
  }

  /** `hung` comes true when a backup is under way that does not end by itself. */
  async function boot(name: string, makeArchive: MakeArchive = quick, hung: Promise<void> = never) {
    const metrics = createMetrics()
    const deaths: (() => void)[] = []
    const instances = {
      self: name,
      alive: () => [...living],
      onDeath: (listener: () => void) => void deaths.push(listener),
    }
    living.add(name)
    const backups = createBackups({
      db,
      clock,
      log,
      metrics,
      instances,
      settings: { ...SETTINGS, ...settings },
      makeArchive,
    })
    running.set(name, { stop: backups.stop, atRest: () => Promise.race([backups.idle(), hung]) })
    backups.start()
    await clock.settled()
    return {
      ...backups,
      metrics,
      /** Without a word: the others find out. */
      die: () => living.delete(name) && running.delete(name),
      hearOfDeath: async () => {
        for (const tell of deaths) tell()
        await clock.settled()
      },
    }
  }

  /** With a backup that does not end by itself: come to rest once it is under way. */
  function bootHanging(name: string, makeArchive: MakeArchive = () => never) {
    const { promise, resolve } = Promise.withResolvers<void>()
    const making: MakeArchive = (...args) => {
      resolve()
      return makeArchive(...args)
    }
    return boot(name, making, promise)
  }

  clock.settled = async () => {
    await Promise.all([...running.values()].map(({ atRest }) => atRest()))
  }

  const rows = () =>
    db.client
      .query<{ owner: string; file: string; error: string | null; ended_at: number | null }, []>(
        'SELECT owner, file, error, ended_at FROM backups ORDER BY started_at, id',
      )
      .all()

  return {
    dataDir,
    clock,
    db,
    lines,
    boot,
    bootHanging,
    rows,
    files: (directory = join(dataDir, 'backups')) =>
      existsSync(directory) ? readdirSync(directory).toSorted() : [],
    [Symbol.asyncDispose]: async () => {
      await Promise.all([...running.values()].map(({ stop }) => stop(0)))
      db.close()
      folder[Symbol.dispose]()
    },
  }
}

test('the first is made at once and the next when it is due, named after their times', async () => {
  await using fixture = createFixture()
  const process = await fixture.boot('a')
  await fixture.clock.settled()

  expect(fixture.files()).toEqual(['gatehouse-2026-11-22T05-12-38Z.tar.gz'])
  await fixture.clock.advance(DAY - 1)
  expect(fixture.files()).toHaveLength(1)
  await fixture.clock.advance(MINUTE)
  expect(fixture.files()).toEqual([
    'gatehouse-2026-11-22T05-12-38Z.tar.gz',
    'gatehouse-2026-11-23T05-12-38Z.tar.gz',
  ])
  expect(process.list(10)).toMatchObject([
    { origin: 'schedule', owner: 'a', bytes: 7, error: null },
    { bytes: 7 },
  ])
  expect(process.latest()).toMatchObject({ startedAt: Date.parse(START) + DAY })
})

test('one that somebody asks for is made at once, and the next a period later', async () => {
  await using fixture = createFixture()
  const { makeNow, idle } = await fixture.boot('a')
  await fixture.clock.settled()
  await fixture.clock.advance(HOUR)
  const noted: string[] = []
  await makeNow((file) => noted.push(basename(file)))
  await idle()
  expect(noted).toEqual(['gatehouse-2026-11-22T06-12-38Z.tar.gz'])
  expect(fixture.files()).toEqual(['gatehouse-2026-11-22T05-12-38Z.tar.gz', ...noted])
  await fixture.clock.advance(DAY - MINUTE)
  expect(fixture.files()).toHaveLength(2)
  await fixture.clock.advance(2 * MINUTE)
  expect(fixture.files()).toHaveLength(3)
})

test('one that somebody asks for is refused while one is being made, here or elsewhere', async () => {
  await using fixture = createFixture({ enabled: false })
  const untilCut: MakeArchive = (_dir, _file, signal) =>
    new Promise((_, reject) => {
      signal.addEventListener('abort', () => reject(new Error('cut short')))
    })
  const here = await fixture.bootHanging('a', untilCut)
  const elsewhere = await fixture.boot('b')
  await here.makeNow()
  for (const { makeNow } of [here, elsewhere])
    await expect(makeNow()).rejects.toMatchObject({ kind: 'conflict' })
  expect(fixture.rows()).toMatchObject([{ owner: 'a', ended_at: null }])
})

test('one that somebody asks for twice within a second is made once', async () => {
  await using fixture = createFixture({ enabled: false })
  const { makeNow, idle } = await fixture.boot('a')
  await makeNow()
  await idle()
  await expect(makeNow()).rejects.toMatchObject({ kind: 'conflict' })
  await fixture.clock.advance(SECOND)
  await makeNow()
  await idle()
  expect(fixture.rows()).toMatchObject([{ error: null }, { error: null }])
})

test('one that somebody asks for is not begun where that cannot be noted', async () => {
  await using fixture = createFixture({ enabled: false })
  const { makeNow, idle } = await fixture.boot('a')
  const refused = makeNow(() => {
    throw new Error('no room for the note')
  })
  await expect(refused).rejects.toThrow('no room for the note')
  await idle()
  expect([fixture.rows(), fixture.files()]).toEqual([[], []])
  await makeNow()
  await idle()
  expect(fixture.files()).toHaveLength(1)
})

test('none is made unless it is switched on', async () => {
  await using fixture = createFixture({ enabled: false })
  await fixture.boot('a')
  await fixture.clock.advance(2 * DAY)

  expect(fixture.files()).toEqual([])
})

test('a restart makes none before its time, and one alone after an outage', async () => {
  await using fixture = createFixture()
  const first = await fixture.boot('a')
  await fixture.clock.settled()
  await first.stop(0)

  await fixture.clock.advance(HOUR)
  const second = await fixture.boot('b')
  await fixture.clock.advance(HOUR)
  expect(fixture.files()).toHaveLength(1)
  await second.stop(0)

  await fixture.clock.advance(5 * DAY)
  await fixture.boot('c')
  await fixture.clock.advance(HOUR)
  expect(fixture.files()).toHaveLength(2)
})

test('after a clock was set back one is made, and the next when that is due', async () => {
  await using fixture = createFixture()
  await fixture.boot('a')
  fixture.clock.jump(-30 * DAY)

  await fixture.clock.advance(HOUR)
  expect(fixture.files()).toHaveLength(2)
  await fixture.clock.advance(DAY)
  expect(fixture.files()).toHaveLength(3)
})

test('of several processes one makes each', async () => {
  await using fixture = createFixture()
  await Promise.all(['a', 'b', 'c'].map((name) => fixture.boot(name)))
  await fixture.clock.advance(3 * DAY + HOUR)

  expect(fixture.rows()).toHaveLength(4)
  expect(new Set(fixture.rows().map(({ file }) => file)).size).toBe(4)
})

describe('what a process that died has left open', () => {
  test('is closed and made by another, as soon as the death is known', async () => {
    await using fixture = createFixture()
    const dying = await fixture.bootHanging('dying')
    const other = await fixture.boot('other')
    await fixture.clock.advance(MINUTE)
    expect(fixture.rows()).toMatchObject([{ owner: 'dying', ended_at: null }])

    dying.die()
    await other.hearOfDeath()

    expect(fixture.rows()).toMatchObject([
      { owner: 'dying', error: 'interrupted: the process that made the backup stopped' },
      { owner: 'other', error: null },
    ])
  })

  test('counts as good when its file is there', async () => {
    await using fixture = createFixture()
    const dying = await fixture.bootHanging('dying', (_, file) => {
      mkdirSync(dirname(file))
      writeFileSync(file, 'archive')
      return never
    })
    const other = await fixture.boot('other')
    dying.die()
    await other.hearOfDeath()

    expect(fixture.rows()).toMatchObject([{ owner: 'dying', error: null }])
    expect(other.latest()).toMatchObject({ owner: 'dying', bytes: 7 })
  })
})

describe('a backup that fails', () => {
  test('is told, and tried again after a quarter of an hour', async () => {
    await using fixture = createFixture()
    let tries = 0
    const process = await fixture.boot('a', async () => {
      tries++
      throw new Error('no room')
    })
    await fixture.clock.advance(14 * MINUTE)
    expect(tries).toBe(1)
    await fixture.clock.advance(2 * MINUTE)
    expect(tries).toBe(2)

    expect(fixture.rows()).toMatchObject([{ error: 'no room' }, { error: 'no room' }])
    expect(fixture.lines.filter((line) => line.includes('backup failed'))).toHaveLength(2)
    expect(process.latest()).toBeUndefined()
    const metrics = process.metrics.render()
    expect(metrics).toContain('gatehouse_backups_total{result="failure"} 2')
    expect(metrics).toContain('gatehouse_backup_last_success_timestamp_seconds 0')
  })

  test('is tried again when the next would be due, where that is sooner', async () => {
    await using fixture = createFixture({ everyMs: MINUTE })
    let tries = 0
    await fixture.boot('a', async () => {
      tries++
      throw new Error('no room')
    })
    await fixture.clock.advance(3 * MINUTE + SECOND)

    expect(tries).toBe(4)
  })

  test('leaves the process and its schedule as they were', async () => {
    await using fixture = createFixture({ directory: '/dev/null/nowhere' })
    const process = await fixture.boot('a')
    await fixture.clock.settled()
    expect(fixture.rows()).toMatchObject([{ error: expect.stringContaining('ENOTDIR') }])

    expect(process.metrics.render()).toContain('gatehouse_backups_total{result="failure"} 1')
  })
})

test('one that was made but could not be noted is no failure: the next look finds it good, and it counts once', async () => {
  await using fixture = createFixture()
  const { client } = fixture.db
  const process = await fixture.boot('a', async (_, file) => {
    mkdirSync(dirname(file))
    writeFileSync(file, 'archive')
    client.run(
      "CREATE TEMP TRIGGER full BEFORE UPDATE ON backups BEGIN SELECT RAISE(ABORT, 'no room'); END",
    )
    return { bytes: 7 }
  })
  expect(fixture.rows()).toMatchObject([{ ended_at: null, error: null }])
  expect(fixture.lines).toEqual([expect.stringContaining('backup schedule failed')])
  expect(process.metrics.render()).not.toContain('gatehouse_backups_total{result="success"} 1')

  client.run('DROP TRIGGER full')
  await fixture.clock.advance(MINUTE)

  expect(fixture.rows()).toMatchObject([{ ended_at: fixture.clock.now(), error: null }])
  expect(process.latest()).toMatchObject({ owner: 'a', bytes: 7 })
  await fixture.clock.advance(HOUR)
  expect(fixture.files()).toHaveLength(1)
  const metrics = process.metrics.render()
  expect(metrics).toContain('gatehouse_backups_total{result="success"} 1')
  expect(metrics).toContain('gatehouse_backups_total{result="failure"} 0')
})

test('the newest are kept, and nothing goes that the schedule did not make', async () => {
  await using fixture = createFixture()
  const directory = join(fixture.dataDir, 'backups')
  mkdirSync(directory)
  const others = [
    'before-0004_operations-2026-01-01T00-00-00-000Z-1.db',
    'gatehouse-2020-01-01T00-00-00Z.tar.gz',
    'notes.txt',
  ]
  for (const name of others) writeFileSync(join(directory, name), '')
  const process = await fixture.boot('a')
  await fixture.clock.advance(5 * DAY + HOUR)

  expect(fixture.files().filter((name) => !others.includes(name))).toEqual([
    'gatehouse-2026-11-25T05-12-38Z.tar.gz',
    'gatehouse-2026-11-26T05-12-38Z.tar.gz',
    'gatehouse-2026-11-27T05-12-38Z.tar.gz',
  ])
  expect(fixture.files()).toEqual(expect.arrayContaining(others))
  expect(process.metrics.render()).toContain('gatehouse_backups_total{result="success"} 6')
  expect(process.metrics.render()).toContain(
    `gatehouse_backup_last_success_timestamp_seconds ${Date.parse('2026-11-27T05:12:38Z') / SECOND}`,
  )
})

test('the one just made stays, though a clock that was ahead has dated others later', async () => {
  await using fixture = createFixture({ keep: 2 })
  await fixture.boot('a')
  await fixture.clock.advance(2 * DAY + HOUR)
  fixture.clock.jump(-300 * DAY)
  await fixture.clock.advance(HOUR)

  // By the old order the newest two would be those of the future.
  expect(fixture.files()).toEqual([
    'gatehouse-2026-01-28T06-13-38Z.tar.gz',
    'gatehouse-2026-11-24T05-12-38Z.tar.gz',
  ])
  await fixture.clock.advance(DAY)
  expect(fixture.files()).toEqual([
    'gatehouse-2026-01-28T06-13-38Z.tar.gz',
    'gatehouse-2026-01-29T06-13-38Z.tar.gz',
  ])
})

test('rows go after 90 days, but for the last success and those whose file is kept', async () => {
  await using fixture = createFixture({ keep: 2 })
  const { retention } = await fixture.boot('a')
  await fixture.clock.advance(4 * DAY + HOUR)
  const sweep = (ms: number) =>
    fixture.db.commit(() => retention.deleteSlice(fixture.clock.now() + ms, 500))

  expect(await sweep(80 * DAY)).toBe(0)
  expect(await sweep(200 * DAY)).toBe(3)
  expect(await sweep(200 * DAY)).toBe(0)
  expect(fixture.rows().map(({ file }) => basename(file))).toEqual(fixture.files())
})

test('a process that stops gives up the backup under way', async () => {
  await using fixture = createFixture()
  const stopping = await fixture.bootHanging(
    'a',
    (_, __, signal) =>
      new Promise((_, reject) => {
        signal.addEventListener('abort', () => reject(new Error('cut short')))
      }),
  )

  await stopping.stop(0)

  expect(fixture.rows()).toMatchObject([{ error: 'cut short' }])
})

test('a process of its own makes the archive, or says why it cannot', async () => {
  using home = createHome()
  const file = join(home.path, 'a.tar.gz')
  const { signal } = new AbortController()

  const { bytes } = await archiveInChild(home.dataDir, file, signal)

  expect(bytes).toBe(Bun.file(file).size)
  expect((await piecesOf(file)).map(({ header }) => header.name)).toContain('master.key')
  await expect(archiveInChild(home.dataDir, file, signal)).rejects.toThrow('already exists')
}, 30_000)

test('that process makes the directory among the data, and no other', async () => {
  using home = createHome()
  const { signal } = new AbortController()
  const missing = join(home.path, 'mnt', 'usb')

  await archiveInChild(home.dataDir, join(home.dataDir, 'backups', 'a.tar.gz'), signal)
  await expect(archiveInChild(home.dataDir, join(missing, 'a.tar.gz'), signal)).rejects.toThrow(
    `directory ${missing} does not exist. Mount or create it first`,
  )

  expect(existsSync(join(home.path, 'mnt'))).toBe(false)
}, 30_000)

test('that process leaves the log of a database to its server and its replicator', async () => {
  using home = createHome()
  const file = join(home.path, 'a.tar.gz')
  const { client } = home.db
  client.run('PRAGMA wal_autocheckpoint = 0')
  client
    .query("INSERT INTO backups VALUES ('b', 'schedule', 'i', 0, NULL, ?, NULL, NULL)")
    .run(file)
  const log = () => sha256(readFileSync(`${home.db.file}-wal`))
  const before = log()

  await archiveInChild(home.dataDir, file, new AbortController().signal)

  expect(log()).toBe(before)
}, 30_000)

test('a backup that is cut short leaves no copy behind', async () => {
  using home = createHome()
  home.db.client.run('CREATE TABLE large (x); INSERT INTO large VALUES (randomblob(4000000))')
  const controller = new AbortController()
  const made = archiveInChild(home.dataDir, join(home.path, 'a.tar.gz'), controller.signal)
  made.catch(() => {})
  await until(() => readdirSync(home.path).some((name) => name.startsWith('.gatehouse-work')))

  controller.abort()

  await expect(made).rejects.toThrow()
  expect(readdirSync(home.path).filter((name) => name.startsWith('.'))).toEqual([])
}, 30_000)

test('what a clock that was ahead has dated does not count as the last one', async () => {
  await using fixture = createFixture()
  const { latest, list, metrics } = await fixture.boot('a')
  expect(list(10)).toEqual([latest() ?? expect.unreachable()])
  fixture.clock.jump(-300 * DAY)

  expect(list(10)).toEqual([])
  expect(latest()).toBeUndefined()
  expect(metrics.render()).toContain('gatehouse_backup_last_success_timestamp_seconds 0')
})
