import { expect, test } from 'bun:test'
import { firstDayOf, monthOf, weekdayOf } from '../../../src/engines/clockwork/schedule/calendar.ts'
import { parseRule } from '../../../src/engines/clockwork/schedule/expression.ts'
import { countOccurrences, parseSchedule } from '../../../src/engines/clockwork/schedule/index.ts'
import { firstMatch } from '../../../src/engines/clockwork/schedule/occurrences.ts'
import type { Rule } from '../../../src/engines/clockwork/schedule/rule.ts'

const MINUTE = 60_000
const ms = (iso: string) => Date.parse(iso)
const iso = (time: number) => new Date(time).toISOString().replace(':00.000Z', 'Z')

/** The next slots as `2026-03-01T00:07Z`. */
const slots = (expression: string, after: string, count: number) =>
  parseSchedule(expression).nextMany(ms(after), count).map(iso)

test.each<[string, string[]]>([
  ['*/7 * * * *', ['2026-03-01T00:00Z', '2026-03-01T00:07Z', '2026-03-01T00:14Z']],
  ['59 23 31 12 *', ['2026-12-31T23:59Z', '2027-12-31T23:59Z', '2028-12-31T23:59Z']],
  ['0 0 29 2 *', ['2028-02-29T00:00Z', '2032-02-29T00:00Z', '2036-02-29T00:00Z']],
  ['0 0 31 * *', ['2026-03-31T00:00Z', '2026-05-31T00:00Z', '2026-07-31T00:00Z']],
  ['0 0 31 4,6,9,11,12 *', ['2026-12-31T00:00Z', '2027-12-31T00:00Z', '2028-12-31T00:00Z']],
  ['0 0 * * 7', ['2026-03-01T00:00Z', '2026-03-08T00:00Z', '2026-03-15T00:00Z']],
  ['0 0 * * 1-7', ['2026-03-01T00:00Z', '2026-03-02T00:00Z', '2026-03-03T00:00Z']],
  ['0 0 * * 5-7/2', ['2026-03-01T00:00Z', '2026-03-06T00:00Z', '2026-03-08T00:00Z']],
  ['0 12 * 2 1-5', ['2027-02-01T12:00Z', '2027-02-02T12:00Z', '2027-02-03T12:00Z']],
  ['*/59 */23 * * *', ['2026-03-01T00:00Z', '2026-03-01T00:59Z', '2026-03-01T23:00Z']],
  ['0 0 */31 * *', ['2026-03-01T00:00Z', '2026-04-01T00:00Z', '2026-05-01T00:00Z']],
])('%s has these slots after the end of February', (expression, expected) => {
  expect(slots(expression, '2026-02-28T23:59:30Z', 3)).toEqual(expected)
})

test.each([
  ['* * * * *', '2026-05-05T10:00:59.999Z', '2026-05-05T10:01Z'],
  ['0 10 * * *', '2026-05-05T09:59:59.999Z', '2026-05-05T10:00Z'],
  ['0 10 * * *', '2026-05-05T10:00:00.000Z', '2026-05-06T10:00Z'],
  ['59 23 31 12 *', '2026-12-31T23:59:00.000Z', '2027-12-31T23:59Z'],
  ['* * * * *', '2026-12-31T23:59:00.000Z', '2027-01-01T00:00Z'],
  ['30,31 10 * * *', '2026-05-05T10:30:00.000Z', '2026-05-05T10:31Z'],
  ['30 10 * * *', '2026-05-05T10:31:00.000Z', '2026-05-06T10:30Z'],
  ['* * * * *', '1969-12-31T23:58:59.999Z', '1969-12-31T23:59Z'],
  ['0 0 * * 3', '1969-12-30T00:00:00.000Z', '1969-12-31T00:00Z'],
  ['0 0 29 2 *', '1896-02-29T00:00:00Z', '1904-02-29T00:00Z'],
  ['0 0 29 2 *', '1996-02-29T00:00:00Z', '2000-02-29T00:00Z'],
  ['0 0 29 2 *', '2097-01-31T00:00:00Z', '2104-02-29T00:00Z'],
  ['0 0 29 2 *', '2396-03-01T00:00:00Z', '2400-02-29T00:00Z'],
])('The next slot of %s strictly after %s is %s', (expression, after, expected) => {
  expect(slots(expression, after, 1)).toEqual([expected])
  expect(parseSchedule(expression).next(ms(expected) - 0.5)).toBe(ms(expected))
  expect(parseSchedule(expression).next(ms(expected) + 0.5)).not.toBe(ms(expected))
})

test('Nothing comes after the year 9999', () => {
  expect(slots('* * * * *', '9999-12-31T23:58:00Z', 5)).toEqual(['9999-12-31T23:59Z'])
  const last = ['9992-02-29T00:00Z', '9996-02-29T00:00Z']
  expect(slots('0 0 29 2 *', '9990-01-01T00:00:00Z', 3)).toEqual(last)
  for (const expression of ['* * * * *', '0 0 1 1 *', '0 0 29 2 *', '0 0 * * 1']) {
    const { next, nextMany } = parseSchedule(expression)
    for (const after of [ms('9999-12-31T23:59:00Z'), 8.64e15, Number.POSITIVE_INFINITY, Number.NaN])
      expect(next(after)).toBeUndefined()
    expect(nextMany(ms('9999-12-31T23:59:00Z'), 3)).toEqual([])
  }
})

test('Many slots are the repeated next slot', () => {
  const { next, nextMany } = parseSchedule('*/25 8-9 * * 1-5')
  const walked: number[] = []
  while (walked.length < 50) walked.push(next(walked.at(-1) ?? 0) as number)
  expect(nextMany(0, 50)).toEqual(walked)
  for (const count of [0, -1]) expect(nextMany(0, count)).toEqual([])
})

test('Slots of an outage are counted without its start and with its end, up to 1000 or a given cap', () => {
  const everyMinute = parseSchedule('* * * * *')
  const hourly = parseSchedule('0 * * * *')
  const [from, to] = [ms('2026-01-01T00:00Z'), ms('2026-01-01T03:00Z')]
  expect(countOccurrences(hourly, from, to)).toBe(3)
  expect(countOccurrences(hourly, from - 1, to - 1)).toBe(3)
  for (const [until, cap, counted] of [
    [59_999, undefined, 0],
    [-MINUTE, undefined, 0],
    [999 * MINUTE, undefined, 999],
    [5000 * MINUTE, undefined, 1000],
    [5000 * MINUTE, 7, 7],
    [5000 * MINUTE, 0, 0],
  ] as const)
    expect(countOccurrences(everyMinute, 0, until, cap)).toBe(counted)
  expect(countOccurrences(everyMinute, ms('9999-12-31T23:50Z'), 1e15)).toBe(9)

  let asked = 0
  const next = (at: number) => {
    asked++
    return everyMinute.next(at)
  }
  countOccurrences({ ...everyMinute, next }, 0, 1e15, 10)
  expect(asked).toBeLessThanOrEqual(11)
})

test.each([
  ['0 0 29 2 *', '2096-02-29T00:00Z'],
  ['0 0 29-31 2 *', '2096-02-29T23:59Z'],
  ['59 23 31 12 *', '2026-12-31T23:59Z'],
  ['0 0 31 2,12 *', '2026-12-31T23:59Z'],
  ['0 0 * 1 1', '2026-01-31T00:00Z'],
  ['0 0 1 1 *', '9999-12-31T23:59Z'],
])('The search for %s after %s takes a handful of steps', (expression, after) => {
  // Each month that is searched costs at least one read of the rule.
  let reads = 0
  const count = (rule: Rule, key: string | symbol) => {
    reads++
    return Reflect.get(rule, key)
  }
  firstMatch(new Proxy(parseRule(expression), { get: count }), ms(after) / MINUTE + 1)
  expect(reads).toBeLessThan(60)
})

const DAY_MS = 86_400_000

/** `Date.UTC` takes the years 0 to 99 for 1900 to 1999. */
const firstDayByDate = (year: number, monthOfYear: number) =>
  new Date(0).setUTCFullYear(year, monthOfYear, 1) / DAY_MS

test('Every month of the years 1 to 9999 begins and ends on the day that Date says', () => {
  const wrong: number[] = []

  for (let month = 12; month < 10_000 * 12; month++) {
    const first = firstDayByDate(Math.floor(month / 12), month % 12)
    const last = firstDayByDate(Math.floor(month / 12), (month % 12) + 1) - 1
    const agrees =
      firstDayOf(month) === first && monthOf(first) === month && monthOf(last) === month
    if (!agrees || weekdayOf(first) !== new Date(first * DAY_MS).getUTCDay()) wrong.push(month)
  }

  expect(wrong).toEqual([])
})
