import { expect, test } from 'bun:test'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Litestream } from '../../src/failover/litestream.ts'
import { createWarmCopy } from '../../src/failover/warm-copy.ts'
import { createLog } from '../../src/platform/log.ts'
import type { Lease } from '../../src/platform/replication/lease.ts'
import { temporaryFolder } from '../support/folder.ts'

const log = createLog({ level: 'error', format: 'json', now: () => 0, write: () => {} })
const hex = (txid: number) => txid.toString(16).padStart(16, '0')
const at = (path: string, ...bases: [string, number][]) =>
  ({ path, bases: bases.map(([base, txid]) => ({ path: base, txid: hex(txid) })) }) as Lease

/** A copy whose Litestream only notes what it is to do. `reach` has it get to a transaction. */
function createFixture() {
  const folder = temporaryFolder()
  const runs: string[] = []
  const run = (text: string) => {
    runs.push(text)
    const ended = Promise.withResolvers<number>()
    const end = () => ended.resolve(0)
    return {
      ...{ exited: ended.promise, stop: end, kill: end, isRunning: () => true, lastLine: () => '' },
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
  return { copy, reach, follow, folder: folder.path, [Symbol.dispose]: folder[Symbol.dispose] }
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
