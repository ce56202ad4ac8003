import { expect, test } from 'bun:test'
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Db, openDatabase } from '../../../src/db/open.ts'
import { createBackups } from '../../../src/platform/backup/index.ts'
import { createLog } from '../../../src/platform/log.ts'
import { createMetrics } from '../../../src/platform/metrics/index.ts'
import { createTestClock } from '../../support/clock.ts'
import { createHome, restore } from './fixture.ts'

/** An installation deletes what it has made itself, wherever its database comes from. */

const MINUTE = 60_000
const OF_BEFORE = [20, 21, 22].map((day) => `gatehouse-2026-11-${day}T05-12-38Z.tar.gz`)

/** Archives that the schedule of `home` has made, and one under way as whenever it makes one. */
function madeBefore(home: ReturnType<typeof createHome>, directory: string) {
  mkdirSync(directory, { recursive: true })
  const add = home.db.client.query("INSERT INTO backups VALUES (?, 'schedule', 'i', ?, ?, ?, ?, ?)")
  const [abandoned = '', ...good] = OF_BEFORE.map((name) => join(directory, name))
  good.forEach((file, at) => {
    add.run(`good-${at}`, at, at, file, 7, null)
  })
  add.run(
    'abandoned',
    5,
    5,
    abandoned,
    null,
    'interrupted: the process that made the backup stopped',
  )
  const underWay = join(directory, 'gatehouse-2026-11-22T05-13-38Z.tar.gz')
  add.run('open', 6, null, underWay, null, null)
  for (const name of OF_BEFORE) writeFileSync(join(directory, name), 'archive')
  return { underWay }
}

/** Lets the schedule of a database make two archives, of which it keeps one. */
async function makeTwo(db: Db, directory?: string) {
  const clock = createTestClock('2026-11-22T06:00:00.000Z')
  const backups = createBackups({
    db,
    clock,
    log: createLog({ level: 'error', format: 'json', now: clock.now, write: () => {} }),
    metrics: createMetrics(),
    instances: { self: 'me', alive: () => ['me'], onDeath: () => {} },
    settings: { enabled: true, everyMs: MINUTE, keep: 1, directory },
    makeArchive: async (_, file) => {
      writeFileSync(file, 'archive')
      return { bytes: 7 }
    },
  })
  clock.settled = backups.idle
  backups.start()
  await backups.idle()
  await clock.advance(MINUTE)
  await backups.stop(0)
  return backups.list(10)
}

const open = (dataDir: string) => openDatabase({ dataDir, synchronous: 'normal' })

test.each(['its own directory', 'the directory that they share'])(
  'a restored copy that backs up to %s leaves the archives of its origin alone',
  async (place) => {
    using home = createHome()
    const directory = join(home.path, 'archives')
    const { underWay } = madeBefore(home, directory)
    const { file } = await home.backUp('a.tar.gz')
    writeFileSync(underWay, 'archive')
    const drill = join(home.path, 'drill')
    await restore(drill, file)
    mkdirSync(join(drill, 'backups'))
    const own = place === 'its own directory' ? join(drill, 'backups') : directory
    const db = open(drill)

    const made = await makeTwo(db, own)
    db.close()

    for (const name of OF_BEFORE) expect(existsSync(join(directory, name))).toBe(true)
    expect(existsSync(underWay)).toBe(true)
    expect(made).toHaveLength(2)
    expect(made.map((row) => existsSync(row.file))).toEqual([true, false])
  },
)

test('after a restore in place the archives of before stay', async () => {
  using home = createHome()
  const directory = join(home.dataDir, 'backups')
  madeBefore(home, directory)
  const { file } = await home.backUp('a.tar.gz')
  await home.restore(file)
  const db = open(home.dataDir)

  await makeTwo(db)
  db.close()

  expect(readdirSync(directory).toSorted()).toEqual([
    ...OF_BEFORE,
    'gatehouse-2026-11-22T06-01-00Z.tar.gz',
  ])
})

test('nothing is deleted outside of the directory that is in force', async () => {
  using home = createHome()
  const directory = join(home.path, 'archives')
  madeBefore(home, directory)
  mkdirSync(join(home.dataDir, 'backups'))
  // As in a copy of a data directory that was made by other means than `restore`.
  const db = open(home.dataDir)

  await makeTwo(db)
  db.close()

  expect(readdirSync(directory).toSorted()).toEqual(OF_BEFORE)
})

test('in the directory that is in force, what it made before goes in its turn', async () => {
  using home = createHome()
  const directory = join(home.path, 'archives')
  madeBefore(home, directory)
  const db = open(home.dataDir)

  await makeTwo(db, directory)
  db.close()

  expect(readdirSync(directory)).toEqual(['gatehouse-2026-11-22T06-01-00Z.tar.gz'])
})
