import { expect, test } from 'bun:test'
import { nextAttemptAt, retryAfterOf } from '../../src/delivery/retry.ts'

const SECOND = 1000
const DAY = 86_400 * SECOND
const ENDED = 5_000_000

/** Milliseconds until then. */
function delay(change: Partial<Parameters<typeof nextAttemptAt>[0]> = {}) {
  const at = nextAttemptAt({
    attempt: 1,
    endedAt: ENDED,
    delaysMs: [5 * SECOND, 60 * SECOND],
    retryAfterMs: null,
    jitter: 0.2,
    random: () => 0,
    ...change,
  })
  return at && at - ENDED
}

test.each<[Parameters<typeof delay>[0], number | undefined]>([
  [{}, 5 * SECOND],
  [{ attempt: 2 }, 60 * SECOND],
  [{ attempt: 3 }, undefined],
  [{ attempt: 3, retryAfterMs: SECOND }, undefined],
  [{ delaysMs: [] }, undefined],
  [{ delaysMs: [0], random: () => 0.99 }, 0],
  [{ random: () => 0.5 }, 5500],
  [{ jitter: 0, random: () => 0.999 }, 5 * SECOND],
  [{ retryAfterMs: 20 * SECOND }, 20 * SECOND],
  [{ retryAfterMs: SECOND }, 5 * SECOND],
  [{ retryAfterMs: 5500, random: () => 0.9 }, 5900],
  [{ retryAfterMs: 0 }, 5 * SECOND],
  [{ retryAfterMs: 3 * DAY }, DAY],
  [{ retryAfterMs: 3 * DAY, delaysMs: [2 * DAY] }, 2 * DAY],
])('The next attempt with %j is made after %p ms', (change, ms) => expect(delay(change)).toBe(ms))

test('The next attempt is made at most a fifth later by chance, and never earlier', () => {
  for (let chance = 0; chance < 1; chance += 0.01)
    for (const ms of [1, 7, 5 * SECOND, DAY]) {
      const waited = delay({ delaysMs: [ms], random: () => chance }) as number
      expect(waited).toBeGreaterThanOrEqual(ms)
      expect(waited).toBeLessThanOrEqual(Math.ceil(ms * 1.2))
      expect(Number.isInteger(waited)).toBe(true)
    }
})

const NOW = Date.UTC(1994, 10, 6, 8, 49, 0)
const END = Date.UTC(2099, 11, 31, 23, 59, 59)
const wait = (value: string, now = NOW) => retryAfterOf([['Retry-After', value]], now)

test.each<[value: string, ms: number, now?: number]>([
  ['0', 0],
  [' 120\t', 120 * SECOND],
  ['007', 7 * SECOND],
  ['1.1', 1100],
  ['86401', DAY],
  ['9'.repeat(400), DAY],
  ['Sun, 06 Nov 1994 08:49:37 GMT', 37 * SECOND],
  ['Sunday, 06-Nov-94 08:49:37 GMT', 37 * SECOND],
  ['Sun Nov  6 08:49:37 1994', 37 * SECOND],
  ['sun, 06 nov 1994 08:49:37 gmt', 37 * SECOND],
  ['Thu, 01 Jan 1970 00:00:00 GMT', 0],
  ['Mon, 07 Nov 1994 08:49:00 GMT', DAY],
  ['Fri, 31 Dec 9999 23:59:59 GMT', DAY],
  ['Sun, 06 Nov 1994 08:49:60 GMT', 60 * SECOND],
  // Two digits of a year are at most 50 years ahead.
  ['Sunday, 06-Nov-44 08:49:37 GMT', DAY],
  ['Monday, 06-Nov-45 08:49:37 GMT', 0],
  ['Friday, 01-Jan-00 00:00:00 GMT', SECOND, END],
  ['Thursday, 31-Dec-99 23:59:59 GMT', 0, END],
  ['Thu, 29 Feb 1996 00:00:00 GMT', SECOND, Date.UTC(1996, 1, 28, 23, 59, 59)],
])('Retry-After of %j is %d ms', (value, ms, now = NOW) => expect(wait(value, now)).toBe(ms))

test('Retry-After that is no number or date is ignored', () => {
  for (const value of [
    ...['', ' ', '-1', '+1', '1e3', '0x10', '5s', '.5', '5.', '1,5', '1 2', 'soon', 'Infinity'],
    ...['1994-11-06T08:49:37Z', 'Sun, 06 Nov 1994 08:49:37', 'Sun, 06 Nov 1994 08:49:37 +0100'],
    ...['Sun, 6 Nov 1994 08:49:37 GMT', 'Sun, 06 Nvm 1994 08:49:37 GMT'],
    ...['Sun, 31 Nov 1994 08:49:37 GMT', 'Sun, 00 Nov 1994 08:49:37 GMT'],
    ...['Tue, 29 Feb 1994 08:49:37 GMT', 'Sun, 06 Nov 1994 24:00:00 GMT'],
    ...['Sun, 06 Nov 1994 08:60:00 GMT', 'Sun, 06 Nov 1994 08:49:61 GMT'],
  ])
    expect([value, wait(value)]).toEqual([value, null])
})

test('Retry-After counts by the longest valid one, whatever the case of its name', () => {
  const longest = (...values: string[]) =>
    retryAfterOf(
      values.map((value) => ['retry-AFTER', value]),
      NOW,
    )
  expect(longest('5', '20', '10')).toBe(20 * SECOND)
  expect(longest('soon', '3')).toBe(3 * SECOND)
  expect([longest('soon', 'later'), longest()]).toEqual([null, null])
  expect(retryAfterOf([['X-Retry-After', '1']], NOW)).toBeNull()
})
