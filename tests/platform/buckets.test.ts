import { expect, test } from 'bun:test'
import { addressKey } from '../../src/platform/address-key.ts'
import { createBuckets } from '../../src/platform/buckets.ts'
import { createTestClock } from '../support/clock.ts'

const SECOND = 1000
const MINUTE = 60 * SECOND

function setUp(options: ({ perMinute: number } | { perHour: number }) & { most?: number }) {
  const clock = createTestClock('2026-01-01T00:00:00Z')
  const buckets = createBuckets({ clock, ...options })
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

test('A peek takes no token', async () => {
  const { clock, takes, peek, size } = setUp({ perMinute: 2 })
  expect([peek('a'), peek('a'), peek('a'), size()]).toEqual([0, 0, 0, 0])
  takes(2)
  expect(peek('a')).toBe(30 * SECOND)
  await clock.advance(30 * SECOND)
  expect([peek('a'), peek('a')]).toEqual([0, 0])
  expect(takes(2)).toEqual([0, 30 * SECOND])
})

test('A token can be given back, but never into a full bucket', () => {
  const { takes, give, size } = setUp({ perMinute: 2 })
  takes(2)
  give('a')
  expect(takes(2)).toEqual([0, 30 * SECOND])
  for (let n = 0; n < 5; n++) give('a')
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
  await clock.advance(31 * SECOND)
  take('new')
  expect(size()).toBe(2)
  await clock.advance(MINUTE + SECOND)
  takes(2)
  expect(size()).toBe(1)
  await clock.advance(45 * SECOND)
  expect([...takes(2), size()]).toEqual([0, 15 * SECOND, 1])
})

test('Beyond the most buckets the fullest is forgotten, and no newcomer is refused', () => {
  const { take, takes, size } = setUp({ perMinute: 3, most: 3 })
  takes(3, 'empty')
  takes(2, 'one left')
  takes(1, 'two left')
  for (let key = 0; key < 10; key++) expect(take(`new ${key}`)).toBe(0)
  expect([size(), take('empty')]).toEqual([3, 20 * SECOND])
  expect(takes(2, 'one left')).toEqual([0, 20 * SECOND])
  expect(takes(4, 'two left')).toEqual([0, 0, 0, 20 * SECOND])
})

/** Each key, and the addresses that are counted as it. */
const KEYS = {
  '203.0.113.7': `203.0.113.7:49152 ::ffff:203.0.113.7 ::FFFF:cb00:7107 0:0:0:0:0:ffff:cb00:7107
    [::ffff:203.0.113.7]:443`,
  '2001:db8:1:2::/64': `2001:0db8:0001:0002:0003:0004:0005:0006 2001:DB8:1:2:FFFF:FFFF:FFFF:FFFF
    2001:db8:1:2::203.0.113.7 [2001:db8:1:2::9]`,
  '2001:db8:0:0::/64': '2001:db8::6',
  '2001:0:0:2::/64': '2001::2:3:4:5:6',
  '1:2:3:4::/64': '1:2:3:4:5:6:203.0.113.7 1:2:3:4:5:6:7::',
  '0:2:3:4::/64': '::2:3:4:5:6:7:8',
  // The last one only looks like a wrapped IPv4 address.
  '0:0:0:0::/64': ':: ::1:ffff:cb00:7107',
  'fe80:0:0:0::/64': 'fe80::1%eth0',
}
test.each(Object.entries(KEYS))('%s is the key of %s', (key, addresses) => {
  for (const address of addresses.split(/\s+/)) expect(addressKey(address), address).toBe(key)
})

test('Everything that is no address is counted together', () => {
  const texts =
    '203.0.113 203.0.113.256 203.0.113.7: 2001:db8:::1 [2001:db8::1 12345:: ::1/64 unknown'
  const hostile = [undefined, '', '_hidden', 'x'.repeat(100_000), '['.repeat(100_000)]
  for (const address of [...texts.split(' '), ...hostile])
    expect(addressKey(address), address?.slice(0, 50)).toBe('unknown')
})
