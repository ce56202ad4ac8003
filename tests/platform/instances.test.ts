import { expect, mock, test } from 'bun:test'
import { openDatabase } from '../../src/db/open.ts'
import { createInstances, LONELY_BEAT_MS } from '../../src/platform/instances.ts'
import { createTestClock, type TestClock } from '../support/clock.ts'
import { temporaryFolder } from '../support/folder.ts'
import { addMigratedDatabase } from '../support/template.ts'

/** Several processes on one data directory, each with a clock of its own. */
function createFixture() {
  const folder = temporaryFolder()
  addMigratedDatabase(folder.path)
  const open = () => openDatabase({ dataDir: folder.path, synchronous: 'full' })
  const db = open()

  async function start({ host = 'host', pid = 1, running = [] as number[] } = {}) {
    const clock = createTestClock('2026-01-01T00:00:00Z')
    const own = open()
    const process = { version: '1', host, pid, isRunning: (id: number) => running.includes(id) }
    const disk = { isFull: false, isStuck: false, commits: 0 }
    const commit: typeof own.commit = (work) => {
      disk.commits++
      if (disk.isStuck) return new Promise(() => {})
      return disk.isFull ? Promise.reject(new Error('the disk is full')) : own.commit(work)
    }
    const instances = createInstances({ db: { ...own, commit }, clock, process })
    clock.settled = () => own.drain().then(() => new Promise((resolve) => setImmediate(resolve)))
    await instances.start()
    return { ...instances, clock, disk, sees: () => instances.alive().toSorted() }
  }
  const beats = () => db.client.query('SELECT beat FROM instances').values().flat()
  return { start, beats, [Symbol.dispose]: () => folder[Symbol.dispose]() }
}

async function pass(seconds: number, ...some: { clock: TestClock }[]) {
  for (let n = 0; n < seconds; n++) for (const { clock } of some) await clock.advance(1000)
}

test('Processes see each other from the start until a clean stop, or ten seconds of silence', async () => {
  using fixture = createFixture()
  const [a, b] = [await fixture.start({ host: 'a' }), await fixture.start({ host: 'b' })]
  expect(a.sees()).toEqual([a.self, b.self].toSorted())
  const onDeath = mock()
  a.onDeath(onDeath)
  await pass(20, a, b)
  expect(a.sees()).toContain(b.self)
  await pass(10, a)
  expect(a.sees()).not.toContain(b.self)
  expect(onDeath).toHaveBeenCalledTimes(1)
  await pass(5, b, a)
  expect(a.sees()).toContain(b.self)
  // Setting the clock makes no process look dead.
  a.clock.jump(86_400_000)
  await pass(10, a, b)
  b.clock.jump(-86_400_000)
  await pass(10, a, b)
  for (const one of [a, b]) expect(one.sees()).toEqual([a.self, b.self].toSorted())
  await b.stop()
  expect(a.sees()).toEqual([a.self])
})

test.each([
  ['gone from this host', { pid: 10 }, { pid: 12, running: [11] }, false],
  ['running on this host', { pid: 11 }, { pid: 12, running: [11] }, true],
  ['with our own process id', { pid: 1 }, { pid: 1, running: [1] }, false],
  ['with our id in another container', { host: 'box pid:[1]' }, { host: 'box pid:[2]' }, true],
])('A new process knows at once if one lives: %s', async (_, first, second, isAlive) => {
  using fixture = createFixture()
  const former = await fixture.start(first)
  const next = await fixture.start(second)
  expect(next.sees().includes(former.self)).toBe(isAlive)
})

test('A beat that cannot be stored is tried again, one at a time', async () => {
  using fixture = createFixture()
  const [a, b] = [await fixture.start({ host: 'a' }), await fixture.start({ host: 'b' })]
  b.disk.isFull = true
  await pass(15, a, b)
  expect(a.sees()).not.toContain(b.self)
  b.disk.isFull = false
  await pass(5, a, b)
  expect(a.sees()).toContain(b.self)
  b.disk.isStuck = true
  const { commits } = b.disk
  await pass(15, b)
  expect(b.disk.commits).toBe(commits + 1)
})

test('A single process beats once a minute', async () => {
  using fixture = createFixture()
  const alone = await fixture.start()
  await pass((10 * LONELY_BEAT_MS) / 1000, alone)
  expect(fixture.beats()).toEqual([10])
})
