import { expect, spyOn, test } from 'bun:test'
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Litestream } from '../../src/failover/litestream.ts'
import { createWarmCopy } from '../../src/failover/warm-copy.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { createLog } from '../../src/platform/log.ts'
import type { Lease } from '../../src/platform/replication/lease.ts'
import { until } from '../support/binary.ts'
import { temporaryFolder } from '../support/folder.ts'

const hex = (txid: number) => txid.toString(16).padStart(16, '0')
const at = (path: string, ...bases: [string, number][]) =>
  ({ path, bases: bases.map(([base, txid]) => ({ path: base, txid: hex(txid) })) }) as Lease

/**
 * A copy whose Litestream only notes what it is to do. `reach` has it get to a transaction, and `exit`
 * ends its last run.
 */
function createFixture() {
  const folder = temporaryFolder()
  const runs: string[] = []
  const lines: string[] = []
  const log = createLog({
    ...{ level: 'warn', format: 'text', now: () => 0 },
    write: (line) => void lines.push(line),
  })
  let end = (_code: number) => {}
  const run = (text: string) => {
    runs.push(text)
    const ended = Promise.withResolvers<number>()
    let isRunning = true
    const exit = (code: number) => {
      isRunning = false
      ended.resolve(code)
    }
    end = exit
    const stop = () => exit(0)
    return {
      ...{ exited: ended.promise, stop, kill: stop, isRunning: () => isRunning },
      lastLine: () => '',
    }
  }
  const litestream = {
    follow: (path: string) => run(`follow ${path}`),
    restore: (path: string, txid: string) => run(`restore ${path} ${Number.parseInt(txid, 16)}`),
  } as unknown as Litestream
  const copy = createWarmCopy({ litestream, folder: folder.path, log })
  function reach(txid: number) {
    writeFileSync(copy.file, 'database')
    writeFileSync(`${copy.file}-txid`, `${hex(txid)}\n`)
  }
  /** Looks often enough that everything is done that can be. */
  async function follow(lease: Lease) {
    for (let looks = 0; looks < 4; looks++) await copy.follow(lease)
    return runs.splice(0)
  }
  async function exit(code: number) {
    end(code)
    await settled()
  }
  return {
    ...{ copy, reach, follow, exit, runs, lines, folder: folder.path },
    [Symbol.dispose]: folder[Symbol.dispose],
  }
}

const settled = () => new Promise((resolve) => setImmediate(resolve))

/** Time that stands still until it is turned. Looks at a copy go on. */
function stopTime() {
  let ms = 1_000_000
  const spy = spyOn(systemClock, 'monotonic').mockImplementation(() => ms)
  const turn = (by: number) => {
    ms += by
  }
  return { turn, [Symbol.dispose]: () => spy.mockRestore() }
}

const behind = { ...at('one'), txid: hex(9) }

/** A copy that is behind, and whose last runs have failed while that did not matter. */
async function createFailedFixture(time: ReturnType<typeof stopTime>, failures: number) {
  const fixture = createFixture()
  await fixture.follow(at('one'))
  fixture.reach(8)
  for (let times = 0; times < failures; times++) {
    await fixture.exit(1)
    time.turn(40_000)
    expect(await fixture.follow(at('one'))).toEqual(['follow one'])
  }
  return fixture
}

test('A copy follows a path, and then the one that continues it, without being made again', async () => {
  using fixture = createFixture()
  const { copy, reach, follow } = fixture
  expect(await follow(at('one'))).toEqual(['follow one'])
  expect(copy.isReady(at('one'))).toBe(false)
  reach(5)
  expect(copy.isReady(at('one'))).toBe(true)
  // It lacks something of the first path.
  expect(await follow(at('two', ['one', 7]))).toEqual([])
  expect(copy.isReady(at('two', ['one', 7]))).toBe(false)
  reach(7)
  expect(await follow(at('two', ['one', 7]))).toEqual(['follow two'])
  expect(copy.isReady(at('two', ['one', 7]))).toBe(true)
  expect(copy.txid()).toBe(7n)
})

test('A copy is made again if it has what the next path does not continue, or follows another one', async () => {
  using fixture = createFixture()
  const { copy, reach, follow } = fixture
  await follow(at('one'))
  reach(9)
  expect(await follow(at('two', ['one', 7]))).toEqual(['restore one 7'])
  expect(existsSync(copy.file)).toBe(false)
  reach(7)
  expect(await follow(at('two', ['one', 7]))).toEqual(['follow two'])
  reach(8)
  expect(await follow(at('three'))).toEqual(['follow three'])
  expect(existsSync(join(fixture.folder, 'gatehouse.db'))).toBe(false)
})

test('A copy that was stopped while a file was applied is brought up to the end of that file', async () => {
  using fixture = createFixture()
  const { copy, reach, follow } = fixture
  await follow(at('one'))
  reach(3)
  await Bun.sleep(20)
  writeFileSync(copy.file, 'half of the next file')
  const completed = copy.complete(at('one'), 3n, () => true)
  await Bun.sleep(50)
  reach(4)
  expect(await completed).toBe(4n)
})

test('A copy that cannot be completed is given up, so that its server does not hold the lease in vain', async () => {
  using fixture = createFixture()
  const { copy, reach, follow } = fixture
  await follow(at('one'))
  reach(3)
  const completed = copy.complete(at('one'), 9n, () => true)
  copy.discard()
  expect(await completed).toBeUndefined()
})

test('A copy that is needed is tried at once and each second, however often its runs failed before', async () => {
  using time = stopTime()
  using fixture = await createFailedFixture(time, 6)
  const { copy, reach, exit, runs } = fixture
  await exit(1)
  const completed = copy.complete(behind, 9n, () => true)
  await until(() => runs.length === 1)
  for (let tries = 2; tries < 30; tries++) {
    await exit(1)
    time.turn(1000)
    await until(() => runs.length === tries)
  }
  reach(9)
  expect(await completed).toBe(9n)
})

test('A copy whose runs all fail is given up in the end', async () => {
  using time = stopTime()
  using fixture = await createFailedFixture(time, 0)
  const { copy, exit, runs } = fixture
  let isOver = false
  const completed = copy
    .complete(behind, 9n, () => true)
    .finally(() => {
      isOver = true
    })
  for (let tries = 1; !isOver && tries < 60; tries++) {
    await until(() => isOver || runs.length === tries)
    await exit(1)
    time.turn(1000)
  }
  expect(await completed).toBeUndefined()
})

test('A copy that is needed gets a new run if one hangs, and is given up if that hangs, too', async () => {
  using time = stopTime()
  using fixture = await createFailedFixture(time, 0)
  const { copy, runs, lines } = fixture
  // That it does not move is nothing new.
  await fixture.follow(behind)
  time.turn(50_000)
  await fixture.follow(behind)
  const completed = copy.complete(behind, 9n, () => true)
  await Bun.sleep(50)
  expect(runs.splice(0)).toEqual(['follow one'])
  expect(lines).toEqual([])
  time.turn(11_000)
  await until(() => runs.length === 1)
  expect(existsSync(copy.file)).toBe(true)
  time.turn(11_000)
  expect(await completed).toBeUndefined()
})

test('The time between two runs does not count as time in which a copy is stuck', async () => {
  using time = stopTime()
  using fixture = await createFailedFixture(time, 6)
  const { copy, exit, follow, lines } = fixture
  await follow(behind)
  await exit(1)
  lines.splice(0)
  for (let waits = 0; waits < 3; waits++) {
    time.turn(9000)
    expect(await follow(behind)).toEqual([])
  }
  time.turn(50_000)
  expect(await follow(behind)).toEqual(['follow one'])
  expect(lines).toEqual([])
  expect(existsSync(copy.file)).toBe(true)
})

test('Failures are forgotten after a run that lasted, also if another pace ended it', async () => {
  using time = stopTime()
  using fixture = await createFailedFixture(time, 6)
  const { copy, exit, runs } = fixture
  time.turn(61_000)
  // One look ends the run and begins another one.
  await copy.follow(at('one'), 'busy')
  expect(runs.splice(0)).toEqual(['follow one'])
  await exit(1)
  time.turn(1000)
  await copy.follow(at('one'), 'busy')
  expect(runs).toEqual(['follow one'])
})

test('A restored copy whose position cannot be written, such as with a full disk, is a failure', async () => {
  using time = stopTime()
  using fixture = createFixture()
  const { copy, exit, follow, lines } = fixture
  const lease = at('two', ['one', 7])
  expect(await follow(lease)).toEqual(['restore one 7'])
  const draft = `${copy.file}-txid.new`
  mkdirSync(draft)
  for (const pause of [400, 900, 1900]) {
    // That the restore takes long does not make it a success.
    time.turn(61_000)
    await exit(0)
    expect(lines.splice(0)).toEqual([expect.stringContaining('cannot be followed')])
    time.turn(pause)
    expect(await follow(lease)).toEqual([])
    time.turn(100)
    expect(await follow(lease)).toEqual(['restore one 7'])
  }
  rmSync(draft, { recursive: true })
  writeFileSync(copy.file, 'database')
  await exit(0)
  expect(copy.txid()).toBe(7n)
})
