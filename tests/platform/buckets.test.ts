import { expect, test } from 'bun:test'
import { createBuckets } from '../../src/platform/buckets.ts'
import { createTestClock } from '../support/clock.ts'

const SECOND = 1000
const MINUTE = 60 * SECOND

function setUp(options: ({ perMinute: number } | { perHour: number }) & { most?: number }) {
  const clock = createTestClock('2026-01-01T00:00:00Z')
  const buckets = createBuckets({ clock, ...options })
  /** Takes several tokens; returns the wait for each. */
  const takes = (count: number, key = 'a') => Array.from({ length: count }, () => buckets.take(key))
  return { clock, ...buckets, takes }
}

test('Tokens flow in evenly up to those of a minute, and a refused take costs nothing', async () => {
  const { clock, takes } = setUp({ perMinute: 3 })
  expect(takes(5)).toEqual([0, 0, 0, 20 * SECOND, 20 * SECOND])
  await clock.advance(20 * SECOND - 1)
  expect(takes(1)).toEqual([1])
  await clock.advance(1)
  expect(takes(2)).toEqual([0, 20 * SECOND])
  await clock.advance(45 * SECOND)
  expect(takes(3)).toEqual([0, 0, 15 * SECOND])
  await clock.advance(24 * 60 * MINUTE)
  expect(takes(4)).toEqual([0, 0, 0, 20 * SECOND])
})

test('A wait of a part of a millisecond is rounded up; tokens of an hour flow in over the hour', async () => {
  const minute = setUp({ perMinute: 7 })
  expect(minute.takes(8).at(-1)).toBe(8572)
  await minute.clock.advance(8571)
  expect(minute.takes(1)).toEqual([1])
  await minute.clock.advance(1)
  expect(minute.takes(1)).toEqual([0])
  const { clock, take, takes, size } = setUp({ perHour: 5 })
  expect(takes(6)).toEqual([0, 0, 0, 0, 0, 12 * MINUTE])
  await clock.advance(12 * MINUTE)
  expect(takes(2)).toEqual([0, 12 * MINUTE])
  await clock.advance(61 * MINUTE)
  expect([take('b'), size()]).toEqual([0, 1])
})

test.each([1, 7, 1009])('A wait is as long as it says, for %d', async (perMinute) => {
  const { clock, take, takes } = setUp({ perMinute })
  await clock.advance(0.7)
  expect(takes(perMinute)).toEqual(Array(perMinute).fill(0))
  for (let round = 0; round < 20; round++) {
    const wait = take('a')
    expect(wait).toBeGreaterThan(0)
    await clock.advance(wait)
    expect(take('a')).toBe(0)
  }
})

test('Ten minutes give the first tokens and those of ten minutes, however often they are asked for', async () => {
  const { clock, take } = setUp({ perMinute: 7 })
  let taken = 0
  for (let ms = 0; ms <= 10 * MINUTE; ms += 500) {
    while (take('a') === 0) taken++
    await clock.advance(500)
  }
  expect(taken).toBe(7 + 70)
})

test('A peek takes no token', async () => {
  const { clock, takes, peek, size } = setUp({ perMinute: 2 })
  expect([peek('a'), peek('a'), peek('a'), size()]).toEqual([0, 0, 0, 0])
  takes(2)
  expect(peek('a')).toBe(30 * SECOND)
  await clock.advance(30 * SECOND)
  expect([peek('a'), peek('a')]).toEqual([0, 0])
  expect(takes(2)).toEqual([0, 30 * SECOND])
})

test('A token can be given back, but never into a full bucket', async () => {
  const { clock, takes, give, size } = setUp({ perMinute: 2 })
  takes(2)
  give('a')
  expect(takes(2)).toEqual([0, 30 * SECOND])
  for (let n = 0; n < 5; n++) give('a')
  expect(size()).toBe(0)
  expect(takes(3)).toEqual([0, 0, 30 * SECOND])
  await clock.advance(50 * SECOND)
  give('a')
  expect(size()).toBe(0)
  expect(takes(3)).toEqual([0, 0, 30 * SECOND])
})

test('Each key has its own bucket, however long it is, and the wall clock changes nothing', () => {
  const { clock, take } = setUp({ perMinute: 1 })
  const long = 'x'.repeat(100_000)
  const keys = ['a', 'b', '', `${long}1`, `${long}2`]
  expect(keys.map(take)).toEqual([0, 0, 0, 0, 0])
  for (const ms of [0, 24 * 60 * MINUTE, -48 * 60 * MINUTE]) {
    clock.jump(ms)
    expect(take(`${long}1`)).toBe(MINUTE)
  }
})

test('A bucket is forgotten within a second after it is full again, and not before', async () => {
  const { clock, take, takes, size } = setUp({ perMinute: 2 })
  for (let key = 0; key < 100; key++) take(`once ${key}`)
  takes(2, 'twice')
  expect(size()).toBe(101)
  await clock.advance(31 * SECOND)
  take('new')
  expect(size()).toBe(2)
  await clock.advance(MINUTE + SECOND)
  take('a')
  expect(size()).toBe(1)
  await clock.advance(20 * SECOND)
  take('a')
  await clock.advance(25 * SECOND)
  expect(takes(2)).toEqual([0, 15 * SECOND])
  expect(size()).toBe(1)
})

test('Beyond the most buckets the fullest is forgotten, and no newcomer is refused', () => {
  const { take, takes, size } = setUp({ perMinute: 5, most: 10 })
  takes(5, 'victim')
  for (let key = 0; key < 100; key++) expect(takes(4, `${key}`)).toEqual([0, 0, 0, 0])
  expect([take('victim'), size()]).toEqual([12 * SECOND, 10])
  const few = setUp({ perMinute: 3, most: 3 })
  few.takes(3, 'empty')
  few.takes(2, 'one left')
  few.takes(1, 'two left')
  few.take('new')
  expect(few.take('empty')).toBe(20 * SECOND)
  expect(few.takes(2, 'one left')).toEqual([0, 20 * SECOND])
  expect(few.takes(4, 'two left')).toEqual([0, 0, 0, 20 * SECOND])
})
