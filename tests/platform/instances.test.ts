import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { migrations } from '../../drizzle/index.ts'
import { migrate } from '../../src/db/migrate.ts'
import { openDatabase } from '../../src/db/open.ts'
import { createInstances, LONELY_BEAT_MS } from '../../src/platform/instances.ts'
import { createTestClock } from '../support/clock.ts'
import { temporaryFolder } from '../support/folder.ts'

/** Several processes on one data directory, each with a clock of its own. */
function createFixture() {
  const folder = temporaryFolder()
  const open = () => openDatabase({ dataDir: folder.path, synchronous: 'full' })
  const db = open()
  migrate(db.client, { migrations, backupDir: join(folder.path, 'b'), appVersion: '1', now: 0 })

  function process_(options: { host?: string; pid?: number; running?: number[] } = {}) {
    const clock = createTestClock('2026-01-01T00:00:00Z')
    const own = open()
    const { host = 'host', pid = 1, running = [] } = options
    const process = { version: '1', host, pid, isRunning: (id: number) => running.includes(id) }
    const instances = createInstances({ db: own, clock, process })
    clock.settled = () => own.drain().then(() => new Promise((resolve) => setImmediate(resolve)))
    return { ...instances, clock }
  }
  const rows = () =>
    db.client.query<{ id: string; beat: number }, []>('SELECT id, beat FROM instances').all()

  return { process_, rows, [Symbol.dispose]: () => folder[Symbol.dispose]() }
}

/** Both clocks, a second at a time. */
async function together(
  seconds: number,
  ...processes: { clock: ReturnType<typeof createTestClock> }[]
) {
  for (let n = 0; n < seconds; n++) for (const { clock } of processes) await clock.advance(1000)
}

test('processes know each other from the start, and no more after a clean stop', async () => {
  using fixture = createFixture()
  const [a, b] = [fixture.process_({ host: 'a' }), fixture.process_({ host: 'b' })]
  await a.start()
  await b.start()

  expect(a.alive().toSorted()).toEqual([a.self, b.self].toSorted().concat(a.self).toSorted())
  await b.stop()
  expect(new Set(a.alive())).toEqual(new Set([a.self]))
})

test('a process that falls silent on another host is forgotten within ten seconds, and told of', async () => {
  using fixture = createFixture()
  const [a, b] = [fixture.process_({ host: 'a' }), fixture.process_({ host: 'b' })]
  let deaths = 0
  a.onDeath(() => {
    deaths++
  })
  await a.start()
  await b.start()
  await together(20, a, b)
  expect(a.alive()).toContain(b.self)

  await together(10, a)

  expect(a.alive()).not.toContain(b.self)
  expect(deaths).toBe(1)
})

test('setting the clock makes nobody look dead', async () => {
  using fixture = createFixture()
  const [a, b] = [fixture.process_({ host: 'a' }), fixture.process_({ host: 'b' })]
  await a.start()
  await b.start()

  a.clock.jump(86_400_000)
  await together(10, a, b)
  b.clock.jump(-86_400_000)
  await together(10, a, b)

  expect(new Set(a.alive())).toEqual(new Set([a.self, b.self]))
  expect(new Set(b.alive())).toEqual(new Set([a.self, b.self]))
})

test('on the same host a process that no longer runs is forgotten at once', async () => {
  using fixture = createFixture()
  const dead = fixture.process_({ pid: 10 })
  const living = fixture.process_({ pid: 11 })
  await dead.start()
  await living.start()

  const next = fixture.process_({ pid: 12, running: [11] })
  await next.start()

  expect(next.alive()).not.toContain(dead.self)
  expect(next.alive()).toContain(living.self)
})

test('a restart under the same number knows its former self for dead', async () => {
  using fixture = createFixture()
  const former = fixture.process_({ pid: 1, running: [1] })
  await former.start()
  const next = fixture.process_({ pid: 1, running: [1] })
  await next.start()

  expect(next.alive()).not.toContain(former.self)
})

test('the same number on another host, or in another container, is another process', async () => {
  using fixture = createFixture()
  const one = fixture.process_({ host: 'box pid:[1]', pid: 1 })
  const other = fixture.process_({ host: 'box pid:[2]', pid: 1 })
  await one.start()
  await other.start()

  expect(other.alive()).toContain(one.self)
})

test('whoever was taken for dead while suspended comes back', async () => {
  using fixture = createFixture()
  const [a, b] = [fixture.process_({ host: 'a' }), fixture.process_({ host: 'b' })]
  await a.start()
  await b.start()
  await together(15, a)
  expect(a.alive()).not.toContain(b.self)

  await together(5, b, a)

  expect(a.alive()).toContain(b.self)
})

test('a process alone spares the disk: one beat a minute', async () => {
  using fixture = createFixture()
  const alone = fixture.process_()
  await alone.start()

  await together((10 * LONELY_BEAT_MS) / 1000, alone)

  expect(fixture.rows()[0]?.beat).toBe(10)
})
