import { expect, test } from 'bun:test'
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { openDatabase } from '../../../src/db/open.ts'
import type { MakeArchive } from '../../../src/platform/backup/child.ts'
import { createReach } from '../../../src/platform/backup/reach.ts'
import { createBackups } from '../../../src/platform/backup/schedule.ts'
import { createLog } from '../../../src/platform/log.ts'
import { createMetrics } from '../../../src/platform/metrics/index.ts'
import { createTestClock } from '../../support/clock.ts'
import { temporaryFolder } from '../../support/folder.ts'
import { startS3Server } from '../../support/s3-server.ts'
import { addMigratedDatabase } from '../../support/template.ts'
import { createHome, restore } from './fixture.ts'

const START = '2026-11-22T05:12:38.000Z'
const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

const named = (time: string) => `gatehouse-2026-${time}Z.tar.gz`
/** The name of an archive that is made a number of hours after the start. */
const after = (hours: number) => named(`11-22T${`${5 + hours}`.padStart(2, '0')}-12-38`)

const quick: MakeArchive = async (dataDir, file) => {
  if (dirname(file) === join(dataDir, 'backups')) mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, 'archive')
  return { bytes: 7 }
}

const failing: MakeArchive = () => Promise.reject(new Error('no room'))

const hanging: MakeArchive = (_dataDir, _file, signal) =>
  new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(new Error('cut short')))
  })

const INTERRUPTED = 'interrupted: the process that made the backup stopped'

type Settings = {
  enabled?: boolean
  everyMs?: number
  keep?: number
  directory?: string
  to?: string
  encryptTo?: string[]
}

/** Processes that make a backup every hour of one data directory, which is new unless given. */
function createFixture(
  settings: Settings = {},
  given?: string,
  s3?: ReturnType<typeof startS3Server>,
) {
  const folder = temporaryFolder()
  const dataDir = given ?? folder.path
  const clock = createTestClock(START)
  if (!given) addMigratedDatabase(dataDir)
  const db = openDatabase({ dataDir, synchronous: 'normal' })
  const lines: string[] = []
  const write = (line: string) => void lines.push(line)
  const log = createLog({ level: 'debug', format: 'json', now: clock.now, write })
  const running = new Map<string, { stop: () => Promise<void>; atRest: () => Promise<void> }>()

  /** `hangs` says that a backup never ends by itself: the clock goes on once it has begun. */
  async function boot(name: string, makeArchive: MakeArchive = quick, { hangs = false } = {}) {
    const metrics = createMetrics()
    const begun = Promise.withResolvers<void>()
    const listeners: (() => void)[] = []
    const backups = createBackups({
      ...{ db, clock, log, metrics },
      instances: {
        self: name,
        alive: () => [...running.keys()],
        onDeath: (listener: () => void) => void listeners.push(listener),
      },
      settings: { enabled: true, everyMs: HOUR, keep: 3, encryptTo: [], ...settings },
      objectStorage: s3?.settings ?? { region: 'none' },
      makeArchive: (...args) => {
        if (hangs) begun.resolve()
        return makeArchive(...args)
      },
    })
    running.set(name, {
      stop: () => backups.stop(0),
      atRest: () => Promise.race([backups.idle(), begun.promise]),
    })
    backups.start()
    await clock.settled()
    const hearOfDeath = async (dead: string) => {
      running.delete(dead)
      for (const listener of listeners) listener()
      await clock.settled()
    }
    return { ...backups, metrics: () => metrics.render(), hearOfDeath }
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
  const directory = settings.directory ?? join(dataDir, 'backups')
  const files = () => (existsSync(directory) ? readdirSync(directory).toSorted() : [])

  async function close() {
    await Promise.all([...running.values()].map(({ stop }) => stop()))
    db.close()
    folder[Symbol.dispose]()
  }
  return { dataDir, clock, db, lines, boot, rows, files, [Symbol.asyncDispose]: close }
}

test('The schedule makes the first backup at once and the next a period after the last, also over restarts', async () => {
  await using fixture = createFixture()
  const { clock, files } = fixture
  const { idle, list, latest, makeNow, stop } = await fixture.boot('a')
  expect(files()).toEqual([after(0)])
  await clock.advance(HOUR - 1)
  expect(files()).toHaveLength(1)
  await clock.advance(1)
  expect(files()).toEqual([after(0), after(1)])
  const row = { origin: 'schedule', owner: 'a', bytes: 7, error: null }
  expect(list(10)).toMatchObject([row, row])
  expect(latest()).toMatchObject({ startedAt: Date.parse(START) + HOUR })
  await clock.advance(30 * MINUTE)
  const noted: string[] = []
  await makeNow((file) => noted.push(basename(file)))
  await idle()
  expect(files()).toEqual([after(0), after(1), ...noted])
  await stop(0)
  await clock.advance(30 * MINUTE)
  const second = await fixture.boot('b')
  await clock.advance(29 * MINUTE)
  expect(files()).toHaveLength(3)
  // After an outage there is one.
  await second.stop(0)
  await clock.advance(5 * HOUR)
  await fixture.boot('c')
  await clock.advance(30 * MINUTE)
  expect(fixture.rows()).toHaveLength(4)
})

test('The schedule makes each backup once with several processes', async () => {
  await using fixture = createFixture()
  await Promise.all(['a', 'b', 'c'].map((name) => fixture.boot(name)))
  await fixture.clock.advance(3 * HOUR + MINUTE)
  const files = fixture.rows().map(({ file }) => basename(file))
  expect(files).toEqual([0, 1, 2, 3].map(after))
})

test('A manual backup needs its note, and is a conflict during another one and within its second', async () => {
  await using fixture = createFixture({ enabled: false })
  const quickly = await fixture.boot('a')
  const refused = quickly.makeNow(() => {
    throw new Error('no room for the note')
  })
  await expect(refused).rejects.toThrow('no room for the note')
  await fixture.clock.advance(2 * HOUR)
  expect([fixture.rows(), fixture.files()]).toEqual([[], []])
  await quickly.makeNow()
  await quickly.idle()
  await expect(quickly.makeNow()).rejects.toMatchObject({ kind: 'conflict' })
  await fixture.clock.advance(SECOND)
  const slowly = await fixture.boot('b', hanging, { hangs: true })
  await slowly.makeNow()
  for (const { makeNow } of [quickly, slowly])
    await expect(makeNow()).rejects.toMatchObject({ kind: 'conflict' })
  expect(fixture.rows()).toMatchObject([{ error: null }, { owner: 'b', ended_at: null }])
  await slowly.stop(0)
  expect(fixture.rows()).toMatchObject([{ error: null }, { error: 'cut short' }])
})

test('The backup of a dead process is made again by another process', async () => {
  await using fixture = createFixture()
  await fixture.boot('dying', hanging, { hangs: true })
  const other = await fixture.boot('other')
  await fixture.clock.advance(MINUTE)
  expect(fixture.rows()).toMatchObject([{ owner: 'dying', ended_at: null }])
  await other.hearOfDeath('dying')
  expect(fixture.rows()).toMatchObject([
    { owner: 'dying', error: INTERRUPTED },
    { owner: 'other', error: null },
  ])
})

test('A process that dies during the check of another one is noticed after that check', async () => {
  await using fixture = createFixture()
  await fixture.boot('dying', hanging, { hangs: true })
  const other = await fixture.boot('other')
  const checked = fixture.clock.advance(MINUTE)
  await other.hearOfDeath('dying')
  expect(fixture.rows()).toMatchObject([{ error: INTERRUPTED }, { owner: 'other', error: null }])
  await checked
})

test('A backup that a dead process completed is good, and takes the place of older ones', async () => {
  await using fixture = createFixture({ keep: 1 })
  const first = await fixture.boot('first')
  await first.stop(0)
  await fixture.clock.advance(HOUR)
  const hangAtEnd: MakeArchive = (...args) => quick(...args).then(() => hanging(...args))
  await fixture.boot('dying', hangAtEnd, { hangs: true })
  const next = await fixture.boot('other')
  expect(fixture.files()).toEqual([after(0), after(1)])
  await next.hearOfDeath('dying')
  expect(fixture.rows()).toMatchObject([{ owner: 'first' }, { owner: 'dying', error: null }])
  expect(next.latest()).toMatchObject({ owner: 'dying', bytes: 7 })
  expect(fixture.files()).toEqual([after(1)])
})

test('A backup that fails is logged, counted and tried again after 15 minutes', async () => {
  await using fixture = createFixture()
  const { latest, metrics } = await fixture.boot('a', failing)
  await fixture.clock.advance(14 * MINUTE)
  expect(fixture.rows()).toHaveLength(1)
  await fixture.clock.advance(2 * MINUTE)
  expect(fixture.rows()).toMatchObject([{ error: 'no room' }, { error: 'no room' }])
  expect(fixture.lines.filter((line) => line.includes('backup failed'))).toHaveLength(2)
  expect(latest()).toBeUndefined()
  expect(metrics()).toContain('gatehouse_backups_total{result="failure"} 2')
  expect(metrics()).toContain('gatehouse_backup_last_success_timestamp_seconds 0')
})

test('A backup that was made but not stored is found good at the next check and counts once', async () => {
  await using fixture = createFixture()
  const { client } = fixture.db
  const trigger = "BEFORE UPDATE ON backups BEGIN SELECT RAISE(ABORT, 'no room'); END"
  const process = await fixture.boot('a', (...args) => {
    client.run(`CREATE TEMP TRIGGER full ${trigger}`)
    return quick(...args)
  })
  expect(fixture.lines).toEqual([expect.stringContaining('backup schedule failed')])
  client.run('DROP TRIGGER full')
  await fixture.clock.advance(31 * MINUTE)
  const endedAt = Date.parse(START) + MINUTE
  expect(fixture.rows()).toMatchObject([{ ended_at: endedAt, error: null }])
  expect(process.latest()).toMatchObject({ owner: 'a', bytes: 7 })
  expect(process.metrics()).toContain('gatehouse_backups_total{result="success"} 1')
  expect(process.metrics()).toContain('gatehouse_backups_total{result="failure"} 0')
})

test('The newest archives of the schedule and the rows of kept files stay, and foreign files do', async () => {
  await using fixture = createFixture()
  const directory = join(fixture.dataDir, 'backups')
  mkdirSync(directory)
  const copy = 'before-0004_x-2026-01-01T00-00-00-000Z-1.db'
  const others = [copy, named('01-01T00-00-00'), 'notes.txt']
  for (const name of others) writeFileSync(join(directory, name), '')
  const { metrics, retention } = await fixture.boot('a')
  await fixture.clock.advance(5 * HOUR + MINUTE)
  const kept = [3, 4, 5].map(after)
  expect(fixture.files()).toEqual([...others, ...kept].toSorted())
  expect(metrics()).toContain('gatehouse_backups_total{result="success"} 6')
  const last = (Date.parse(START) + 5 * HOUR) / SECOND
  expect(metrics()).toContain(`gatehouse_backup_last_success_timestamp_seconds ${last}`)
  const sweep = (ms: number) =>
    fixture.db.commit(() => retention.deleteSlice(fixture.clock.now() + ms, 500))
  expect([await sweep(89 * DAY), await sweep(200 * DAY), await sweep(200 * DAY)]).toEqual([0, 3, 0])
  expect(fixture.rows().map(({ file }) => basename(file))).toEqual(kept)
})

test('When the clock was set back, a backup is made and stays, and none of the future is the latest', async () => {
  await using fixture = createFixture({ keep: 2 })
  const { list, latest, metrics } = await fixture.boot('a')
  await fixture.clock.advance(2 * HOUR)
  expect(list(10)[0]).toEqual(latest() ?? expect.unreachable())
  fixture.clock.jump(-300 * DAY)
  expect([list(10), latest()]).toEqual([[], undefined])
  expect(metrics()).toContain('gatehouse_backup_last_success_timestamp_seconds 0')
  await fixture.clock.advance(MINUTE)
  expect(fixture.files()).toEqual([named('01-26T07-13-38'), after(2)])
  await fixture.clock.advance(HOUR)
  expect(fixture.files()).toEqual([named('01-26T07-13-38'), named('01-26T08-13-38')])
})

test('An installation deletes no archive of its original or in a directory that it used before', async () => {
  using home = createHome()
  const directory = join(home.path, 'archives')
  mkdirSync(directory)
  const names = [20, 21, 22].map((day) => named(`11-${day}T05-12-30`))
  const insert = home.db.client.query(
    "INSERT INTO backups VALUES (?1, 'schedule', 'i', ?2, ?3, ?1, ?4, ?5)",
  )
  for (const [n, name] of names.entries()) {
    const file = join(directory, name)
    writeFileSync(file, 'archive')
    // An abandoned one, a good one and one under way.
    if (n === 0) insert.run(file, 0, 0, null, INTERRUPTED)
    else insert.run(file, n, n === 1 ? 1 : null, n === 1 ? 7 : null, null)
  }
  /** Lets the schedule make two archives, of which it keeps one; returns those of the directory. */
  async function makeTwo(dataDir: string, settings: Settings) {
    await using fixture = createFixture({ everyMs: MINUTE, keep: 1, ...settings }, dataDir)
    const { list } = await fixture.boot('me')
    await fixture.clock.advance(MINUTE)
    expect(list(2).map((row) => existsSync(row.file))).toEqual([true, false])
    fixture.db.client.run("DELETE FROM backups WHERE owner = 'me'")
    return readdirSync(directory).toSorted()
  }
  const copy = join(home.path, 'copy')
  await restore(copy, (await home.backUp('a.tar.gz')).file)
  const made = named('11-22T05-13-38')
  expect(await makeTwo(copy, {})).toEqual(names)
  expect(await makeTwo(copy, { directory })).toEqual([...names, made])
  expect(await makeTwo(home.dataDir, {})).toEqual([...names, made])
  expect(await makeTwo(home.dataDir, { directory })).toEqual([made])
})

test('A call to a mount has its result or error; a hung one takes 5 seconds, and others fail meanwhile', async () => {
  const clock = createTestClock(START)
  const reach = createReach(clock)
  const failing = reach('f', () => Promise.reject(new Error('no such file')))
  await expect(failing).rejects.toThrow('no such file')
  expect(await reach('f', async () => 8)).toBe(8)
  const answer = Promise.withResolvers<number>()
  const first = reach('/mnt/f', () => answer.promise)
  first.catch(() => {})
  await clock.advance(5000)
  await expect(first).rejects.toThrow('/mnt/f does not respond')
  const second = reach('/mnt/g', async () => expect.unreachable())
  await expect(second).rejects.toThrow('does not respond')
  answer.resolve(1)
  await answer.promise
  expect(await reach('/mnt/g', async () => 2)).toBe(2)
})

test('Backups in object storage rotate there, each deleted once, and nothing else is touched', async () => {
  const deleted: string[] = []
  using s3 = startS3Server({
    intercept: ({ method, url }) => {
      if (method === 'DELETE') deleted.push(url.replace(/.*\/bucket\//, ''))
      return undefined
    },
  })
  const put = (key: string) =>
    s3.objects.set(key, { body: Buffer.from('x'), modifiedAt: new Date() })
  for (const key of [`gatehouse/${after(0)}.txt`, after(0), `other/${after(0)}.age`]) put(key)
  const others = [...s3.objects.keys()]
  const upload: MakeArchive = async (_dataDir, file) => {
    put(file.replace('s3://bucket/', ''))
    return { bytes: 1 }
  }
  const settings = { to: 's3://bucket/gatehouse', encryptTo: ['age1'], keep: 2 }
  await using fixture = createFixture(settings, undefined, s3)
  const { idle, archives, list } = await fixture.boot('a', upload)
  const kept = () => [...s3.objects.keys()].filter((key) => !others.includes(key))
  for (let n = 0; n < 3; n++) {
    await fixture.clock.advance(HOUR)
    await idle()
  }
  expect(kept()).toEqual([2, 3].map((hours) => `gatehouse/${after(hours)}.age`))
  expect(deleted).toEqual([0, 1].map((hours) => `gatehouse/${after(hours)}.age`))
  const found = await archives.list(10)
  expect(found.map(({ isThere, isEncrypted }) => [isThere, isEncrypted])).toEqual(
    [true, true, false, false].map((isThere) => [isThere, true]),
  )
  const [newest] = list(1)
  await archives.remove(newest?.id ?? '', () => {})
  expect(kept()).toEqual([`gatehouse/${after(2)}.age`])
})
