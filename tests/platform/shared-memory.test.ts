import { expect, test } from 'bun:test'
import { createBuckets } from '../../src/platform/buckets.ts'
import { createSharedBuckets, SHARED_BYTES, seedShared } from '../../src/platform/shared-memory.ts'
import { ALONE } from '../../src/platform/siblings.ts'
import { createTestClock } from '../support/clock.ts'

/** The same limits in `count` processes, which have started at different times. */
function setUp(count: number, perMinute: number) {
  const clock = createTestClock('2026-01-01T00:00:00Z')
  const bytes = new ArrayBuffer(SHARED_BYTES)
  seedShared({ bytes })
  const bucketsOf = (startedMs: number, rate: number) => {
    const own = { ...clock, monotonic: () => clock.monotonic() - startedMs }
    const siblings = { ...ALONE, count, memory: { bytes, offsetMs: startedMs } }
    const shared = { siblings, limit: 'requests of a key' } as const
    return createBuckets({ clock: own, perMinute: rate, shared })
  }
  const processes = Array.from({ length: count }, (_, n) => bucketsOf(n * 1234, perMinute))
  return { clock, bytes, processes, bucketsOf }
}

test('Processes share each bucket, whichever of them takes or gives back a token', async () => {
  const { clock, processes } = setUp(3, 6)
  const take = (n: number, key = 'a') => processes[n % 3]?.take(key)
  expect([0, 1, 2, 3, 4, 5, 6, 7].map((n) => take(n))).toEqual([0, 0, 0, 0, 0, 0, 10_000, 10_000])
  expect([processes[0]?.peek('a'), processes[1]?.levelOf('a').left]).toEqual([10_000, 0])
  expect(take(0, 'b')).toBe(0)
  processes[2]?.give('a')
  expect([take(0), take(1)]).toEqual([0, 10_000])
  await clock.advance(20_000)
  expect([take(1), take(2), take(0)]).toEqual([0, 0, 10_000])
})

test('Keys never run out of room, and those that were emptied are forgotten last', () => {
  const { processes } = setUp(1, 10)
  const [{ take } = processes[0] as (typeof processes)[0]] = processes
  for (let n = 0; n < 10; n++) take('emptied')
  let refused = 0
  for (let n = 0; n < 200_000; n++) if (take(`${n}`) > 0) refused++
  expect(refused).toBe(0)
  expect(take('emptied')).toBeGreaterThan(0)
})

test('A lock of a killed process stops no other, and another rate after a reload locks no one out', async () => {
  const { clock, bytes, processes, bucketsOf } = setUp(2, 1000)
  for (let n = 0; n < 1000; n++) processes[0]?.take('a')
  // Every word of the table that is a lock is taken; the buckets stay as they are.
  new Int32Array(bytes, 8, 2 ** 14).fill(1)
  expect(processes[1]?.take('a')).toBeGreaterThan(0)
  const slower = bucketsOf(0, 2)
  await clock.advance(60_000)
  expect([slower.take('a'), slower.take('a')]).toEqual([0, 0])
})

test('A process that lost its lock forgets nothing that others have counted', () => {
  const { bytes } = setUp(0, 1)
  const memory = { bytes, offsetMs: 0 }
  const [slow, fast] = [1, 2].map(() => createSharedBuckets(memory, 'requests of a key', 1))
  slow?.open('a')
  fast?.open('a')
  fast?.close(5, 0)
  slow?.close(3, 0)
  expect(fast?.open('a')).toBe(5)
})
