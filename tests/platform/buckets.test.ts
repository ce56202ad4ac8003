import { expect, test } from 'bun:test'
import { createBuckets } from '../../src/platform/buckets.ts'
import { createTestClock } from '../support/clock.ts'

const SECOND = 1000
const MINUTE = 60 * SECOND

function setUp(options: ({ perMinute: number } | { perHour: number }) & { most?: number }) {
  const clock = createTestClock('2026-01-01T00:00:00Z')
  return { clock, ...createBuckets({ clock, ...options }) }
}

const times = <T>(count: number, once: () => T): T[] => Array.from({ length: count }, once)

test('a bucket has the tokens of a minute, and says when there will be another', () => {
  const { take } = setUp({ perMinute: 3 })

  expect(times(5, () => take('a'))).toEqual([0, 0, 0, 20 * SECOND, 20 * SECOND])
})

test('tokens flow in evenly, and asking too early costs nothing', async () => {
  const { clock, take } = setUp({ perMinute: 3 })
  times(3, () => take('a'))

  await clock.advance(20 * SECOND - 1)
  expect(take('a')).toBe(1)
  await clock.advance(1)
  expect(take('a')).toBe(0)
  expect(take('a')).toBe(20 * SECOND)
  await clock.advance(45 * SECOND)
  expect(times(3, () => take('a'))).toEqual([0, 0, 15 * SECOND])
})

test('where a token takes a part of a millisecond, nobody is told to come before it is there', async () => {
  const { clock, take } = setUp({ perMinute: 7 })
  times(7, () => take('a'))

  expect(take('a')).toBe(8572)
  await clock.advance(8571)
  expect(take('a')).toBe(1)
  await clock.advance(1)
  expect(take('a')).toBe(0)
})

test('tokens of an hour flow in evenly over it, and full buckets are forgotten', async () => {
  const { clock, take, size } = setUp({ perHour: 5 })
  expect(times(6, () => take('a'))).toEqual([0, 0, 0, 0, 0, 12 * MINUTE])

  await clock.advance(12 * MINUTE)
  expect([take('a'), take('a')]).toEqual([0, 12 * MINUTE])
  await clock.advance(61 * MINUTE)
  expect([take('b'), size()]).toEqual([0, 1])
})

test('no more tokens gather than there were at first', async () => {
  const { clock, take } = setUp({ perMinute: 2 })
  times(2, () => take('a'))

  await clock.advance(24 * 60 * MINUTE)

  expect(times(3, () => take('a'))).toEqual([0, 0, 30 * SECOND])
})

test.each([1, 3, 7, 60, 1009])(
  'whoever waits as long as told gets the next of %d a minute',
  async (perMinute) => {
    const { clock, take } = setUp({ perMinute })
    await clock.advance(0.7)
    expect(times(perMinute, () => take('a'))).toEqual(Array(perMinute).fill(0))

    for (let round = 0; round < 100; round++) {
      const wait = take('a')
      expect(wait).toBeGreaterThan(0)
      await clock.advance(wait)
      expect(take('a')).toBe(0)
    }
  },
)

test('over ten minutes nobody gets more than the first tokens and those of ten minutes', async () => {
  const { clock, take } = setUp({ perMinute: 7 })
  let taken = 0

  for (let ms = 0; ms <= 10 * MINUTE; ms += 50) {
    while (take('a') === 0) taken++
    await clock.advance(50)
  }

  expect(taken).toBe(7 + 70)
})

test('to look whether there is a token takes none', async () => {
  const { clock, take, peek, size } = setUp({ perMinute: 2 })
  expect(times(5, () => peek('a'))).toEqual([0, 0, 0, 0, 0])
  expect(size()).toBe(0)

  times(2, () => take('a'))
  expect(peek('a')).toBe(30 * SECOND)
  await clock.advance(30 * SECOND)
  expect(times(2, () => peek('a'))).toEqual([0, 0])
  expect(times(2, () => take('a'))).toEqual([0, 30 * SECOND])
})

test('a token that is given back can be taken again, and none beyond a full bucket', () => {
  const { take, give, size } = setUp({ perMinute: 2 })
  times(2, () => take('a'))

  give('a')
  expect(times(2, () => take('a'))).toEqual([0, 30 * SECOND])

  times(5, () => give('a'))
  expect(size()).toBe(0)
  expect(times(3, () => take('a'))).toEqual([0, 0, 30 * SECOND])
})

test('a token given back late does not add to those that have flowed in', async () => {
  const { clock, take, give, size } = setUp({ perMinute: 2 })
  take('a')
  await clock.advance(20 * SECOND)

  give('a')

  expect(size()).toBe(0)
  expect(times(3, () => take('a'))).toEqual([0, 0, 30 * SECOND])
})

test('each key has its own bucket, however long it is', () => {
  const { take } = setUp({ perMinute: 1 })
  const long = 'x'.repeat(100_000)

  expect(take('a')).toBe(0)
  expect(take('b')).toBe(0)
  expect(take('')).toBe(0)
  expect(take(`${long}1`)).toBe(0)
  expect(take(`${long}2`)).toBe(0)
  expect(take(`${long}1`)).toBe(MINUTE)
})

test('when the clock on the wall is set, no token comes or goes', () => {
  const { clock, take } = setUp({ perMinute: 1 })
  take('a')

  clock.jump(24 * 60 * MINUTE)
  expect(take('a')).toBe(MINUTE)
  clock.jump(-48 * 60 * MINUTE)
  expect(take('a')).toBe(MINUTE)
})

test('buckets that are full again are forgotten within a second', async () => {
  const { clock, take, size } = setUp({ perMinute: 2 })
  for (let key = 0; key < 100; key++) take(`once ${key}`)
  times(2, () => take('twice'))
  expect(size()).toBe(101)

  await clock.advance(31 * SECOND)
  take('new')
  expect(size()).toBe(2)

  await clock.advance(MINUTE + SECOND)
  take('newer')
  expect(size()).toBe(1)
})

test('a bucket is remembered until it is full, however often it was taken from', async () => {
  const { clock, take, size } = setUp({ perMinute: 2 })
  take('a')
  await clock.advance(20 * SECOND)
  take('a')

  await clock.advance(25 * SECOND)

  expect(times(2, () => take('a'))).toEqual([0, 15 * SECOND])
  expect(size()).toBe(1)
})

test('there are never more than the most, and no newcomer is refused', () => {
  const { take, size } = setUp({ perMinute: 5, most: 10 })

  for (let key = 0; key < 1000; key++) expect(take(`${key}`)).toBe(0)

  expect(size()).toBe(10)
})

test('an empty bucket outlasts any number of keys that are used less', () => {
  const { take, size } = setUp({ perMinute: 5, most: 10 })
  times(5, () => take('victim'))

  for (let key = 0; key < 1000; key++) times(4, () => take(`${key}`))

  expect(take('victim')).toBe(12 * SECOND)
  expect(size()).toBe(10)
})

test('the fullest is forgotten first', () => {
  const { take } = setUp({ perMinute: 3, most: 3 })
  times(3, () => take('empty'))
  times(2, () => take('one left'))
  times(1, () => take('two left'))

  take('new')

  expect(take('empty')).toBe(20 * SECOND)
  expect(times(2, () => take('one left'))).toEqual([0, 20 * SECOND])
  expect(times(4, () => take('two left'))).toEqual([0, 0, 0, 20 * SECOND])
})
