import { describe, expect, test } from 'bun:test'
import { nextAttemptAt, retryAfterOf } from '../../src/delivery/retry.ts'

const SECOND = 1000
const DAY = 86_400 * SECOND
const ENDED = 5_000_000

describe('the next attempt', () => {
  const next = (change: Partial<Parameters<typeof nextAttemptAt>[0]> = {}) =>
    nextAttemptAt({
      attempt: 1,
      endedAt: ENDED,
      delaysMs: [5 * SECOND, 60 * SECOND],
      retryAfterMs: null,
      jitter: 0.2,
      random: () => 0,
      ...change,
    })

  test('comes one delay of the schedule after the end of the failed one', () => {
    expect(next()).toBe(ENDED + 5 * SECOND)
    expect(next({ attempt: 2 })).toBe(ENDED + 60 * SECOND)
  })

  test('does not come when the schedule is spent, whatever the receiver asks for', () => {
    expect(next({ attempt: 3 })).toBeUndefined()
    expect(next({ attempt: 3, retryAfterMs: SECOND })).toBeUndefined()
    expect(next({ delaysMs: [] })).toBeUndefined()
  })

  test('may follow at once when the schedule says so', () => {
    expect(next({ delaysMs: [0], random: () => 0.99 })).toBe(ENDED)
  })

  test('is put off by chance, up to its share of the delay, and never brought forward', () => {
    expect(next({ random: () => 0.5 })).toBe(ENDED + 5500)
    for (let at = 0; at < 1; at += 0.001) {
      for (const delay of [1, 7, 5 * SECOND, DAY]) {
        const wait = (next({ delaysMs: [delay], random: () => at }) as number) - ENDED
        expect(wait).toBeGreaterThanOrEqual(delay)
        expect(wait).toBeLessThanOrEqual(Math.ceil(delay * 1.2))
        expect(Number.isInteger(wait)).toBe(true)
      }
    }
  })

  test('comes to the millisecond where chance has no share', () => {
    expect(next({ jitter: 0, random: () => 0.999 })).toBe(ENDED + 5 * SECOND)
  })

  test('waits for what the receiver asks when that is longer, and no less when it is shorter', () => {
    expect(next({ retryAfterMs: 20 * SECOND })).toBe(ENDED + 20 * SECOND)
    expect(next({ retryAfterMs: SECOND })).toBe(ENDED + 5 * SECOND)
    expect(next({ retryAfterMs: 5500, random: () => 0.9 })).toBe(ENDED + 5900)
    expect(next({ retryAfterMs: 0 })).toBe(ENDED + 5 * SECOND)
  })

  test('waits 24 hours at most for the receiver, but longer when the schedule does', () => {
    expect(next({ retryAfterMs: 3 * DAY })).toBe(ENDED + DAY)
    expect(next({ retryAfterMs: 3 * DAY, delaysMs: [2 * DAY] })).toBe(ENDED + 2 * DAY)
  })
})

describe('Retry-After', () => {
  const NOW = Date.UTC(1994, 10, 6, 8, 49, 0)
  const wait = (...values: string[]) =>
    retryAfterOf(
      values.map((value) => ['Retry-After', value] as const),
      NOW,
    )

  test.each([
    ['0', 0],
    ['120', 120 * SECOND],
    [' 120\t', 120 * SECOND],
    ['007', 7 * SECOND],
    ['1.1', 1100],
    ['0.5', 500],
    ['86400', DAY],
    ['86401', DAY],
    ['9'.repeat(400), DAY],
  ])('%j counts in seconds, up to a day', (value, ms) => expect(wait(value)).toBe(ms))

  test.each([
    'Sun, 06 Nov 1994 08:49:37 GMT',
    'Sunday, 06-Nov-94 08:49:37 GMT',
    'Sun Nov  6 08:49:37 1994',
    'sun, 06 nov 1994 08:49:37 gmt',
  ])('%s is a date of HTTP', (value) => expect(wait(value)).toBe(37 * SECOND))

  test.each([
    ['Sun, 06 Nov 1994 08:49:00 GMT', 0],
    ['Sun, 06 Nov 1994 08:48:59 GMT', 0],
    ['Thu, 01 Jan 1970 00:00:00 GMT', 0],
    ['Mon, 07 Nov 1994 08:49:00 GMT', DAY],
    ['Mon, 07 Nov 1994 08:49:01 GMT', DAY],
    ['Fri, 31 Dec 9999 23:59:59 GMT', DAY],
    ['Sun, 06 Nov 1994 08:49:60 GMT', 60 * SECOND],
    ['Thursday, 01-Jan-70 00:00:00 GMT', 0],
    ['Sunday, 06-Nov-44 08:49:37 GMT', DAY],
    ['Monday, 06-Nov-45 08:49:37 GMT', 0],
  ])('%s: past is no wait, far is a day, two digits mean 50 years ahead at most', (value, ms) =>
    expect(wait(value)).toBe(ms),
  )

  test('two digits reach over the turn of a century', () => {
    const now = Date.UTC(2099, 11, 31, 23, 59, 59)
    const at = (date: string) => retryAfterOf([['Retry-After', date]], now)
    expect(at('Friday, 01-Jan-00 00:00:00 GMT')).toBe(SECOND)
    expect(at('Thursday, 31-Dec-99 23:59:59 GMT')).toBe(0)
  })

  test.each([
    ...[
      '',
      ' ',
      '-1',
      '+1',
      '1e3',
      '0x10',
      '5s',
      '.5',
      '5.',
      '1,5',
      '1 2',
      'soon',
      'NaN',
      'Infinity',
    ],
    '1994-11-06T08:49:37Z',
    'Sun, 06 Nov 1994 08:49:37',
    'Sun, 06 Nov 1994 08:49:37 +0100',
    'Sun, 6 Nov 1994 08:49:37 GMT',
    'Sun, 06 Nvm 1994 08:49:37 GMT',
    'Sun, 31 Nov 1994 08:49:37 GMT',
    'Sun, 00 Nov 1994 08:49:37 GMT',
    'Tue, 29 Feb 1994 08:49:37 GMT',
    'Sun, 06 Nov 1994 24:00:00 GMT',
    'Sun, 06 Nov 1994 08:60:00 GMT',
    'Sun, 06 Nov 1994 08:49:61 GMT',
  ])('%j is not understood', (value) => expect(wait(value)).toBeNull())

  test('29 February counts in a leap year', () => {
    const now = Date.UTC(1996, 1, 28, 23, 59, 59)
    expect(retryAfterOf([['Retry-After', 'Thu, 29 Feb 1996 00:00:00 GMT']], now)).toBe(SECOND)
  })

  test('of several the longest counts, and what is not understood does not', () => {
    expect(wait('5', '20', '10')).toBe(20 * SECOND)
    expect(wait('5', 'Sun, 06 Nov 1994 08:49:37 GMT')).toBe(37 * SECOND)
    expect(wait('soon', '3')).toBe(3 * SECOND)
    expect(wait('soon', 'later')).toBeNull()
  })

  test('is found in any case, and missing without it', () => {
    expect(retryAfterOf([['retry-AFTER', '1']], NOW)).toBe(SECOND)
    expect(retryAfterOf([['X-Retry-After', '1']], NOW)).toBeNull()
    expect(retryAfterOf([], NOW)).toBeNull()
  })
})
