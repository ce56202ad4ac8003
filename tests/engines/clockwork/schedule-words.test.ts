import { expect, test } from 'bun:test'
import { createScheduleCache } from '../../../src/engines/clockwork/schedule/cache.ts'
import {
  describeSchedule,
  parseSchedule,
  scheduleOf,
  scheduleWarnings,
} from '../../../src/engines/clockwork/schedule/index.ts'

test.each([
  ['* * * * *', 'every minute'],
  ['*/15 * * * *', 'every 15 minutes'],
  ['*/60 * * * *', 'at minute 0 of every hour'],
  ['5 * * * *', 'at minute 5 of every hour'],
  ['*/7 * * * *', 'at every 7th minute from 0 to 56 of every hour'],
  ['*/5 9 * * *', 'every 5 minutes during hour 9, UTC'],
  ['0 */5 * * *', 'at minute 0 past every 5th hour from 0 to 20, UTC'],
  ['30 1-23/2 * * 0', 'at minute 30 past every 2nd hour from 1 to 23 on Sunday, UTC'],
  ['*/20 9-17 * * 1-5', 'at minutes 0, 20 and 40 past hours 9 to 17, Monday to Friday, UTC'],
  ['0 7 * * *', 'at 07:00 UTC every day'],
  ['0 7 * * 1', 'at 07:00 UTC on Monday'],
  ['0 7 * * 0-3', 'at 07:00 UTC, Monday to Wednesday and Sunday'],
  ['0 7 * * 5-7/2', 'at 07:00 UTC on Friday and Sunday'],
  ['0,30 9,18 * * *', 'at 09:00, 09:30, 18:00 and 18:30 UTC every day'],
  ['0 0 31 * *', 'at 00:00 UTC on day 31 of the month'],
  ['0 0 1,15 * *', 'at 00:00 UTC on days 1 and 15 of the month'],
  ['0 0 */2 * *', 'at 00:00 UTC on every 2nd day from 1 to 31 of the month'],
  ['0 0 29 2 *', 'at 00:00 UTC on 29 February'],
  ['0 0 1 */3 *', 'at 00:00 UTC on day 1 of January, April, July and October'],
  ['0 12 15-31 6 *', 'at 12:00 UTC on days 15 to 31 of June'],
  ['* * * 5 *', 'every minute in May, UTC'],
  ['0 0 * 1-3 1,3,5', 'at 00:00 UTC on Monday, Wednesday and Friday in January to March'],
])('%s is described in plain words', (expression, words) => {
  expect(describeSchedule(expression)).toBe(words)
})

const months31 = 'day 31 does not exist in February, April, June, September and November'
const startsOver = 'restarts on day 1, so the last gap of the month varies'

test.each<[string, ...string[]]>([
  ['*/7 * * * *', 'minute */7 is uneven: from 56 to the next 0 it is 4 minutes, not 7'],
  ['*/59 * * * *', 'minute */59 is uneven: from 59 to the next 0 it is 1 minute, not 59'],
  ['*/40 23,0 * * *', 'minute */40 is uneven: from 40 to the next 0 it is 20 minutes, not 40'],
  ['*/60 * * * *', 'minute */60 matches only 0'],
  ['0 */5 * * *', 'hour */5 is uneven: from 20 to the next 0 it is 4 hours, not 5'],
  ['0 */24 * * *', 'hour */24 matches only 0'],
  ['0 0 1 */5 *', 'month */5 is uneven: from 11 to the next 1 it is 2 months, not 5'],
  ['0 0 * * */2', 'day of week */2 is uneven: from 6 to the next 0 it is 1 day, not 2'],
  ['0 0 */2 * *', `day of month */2 ${startsOver}`],
  ['0 0 */31 * *', 'day of month */31 matches only 1'],
  ['0 0 31 * *', months31],
  ['0 0 30 * *', 'day 30 does not exist in February'],
  ['0 0 29 * *', '29 February exists only in leap years'],
  ['0 0 29 2 *', '29 February exists only in leap years, which can be 8 years apart'],
  ['0 0 1,29 2 *', '29 February exists only in leap years'],
  ['0 0 29,30 * *', '29 February exists only in leap years', 'day 30 does not exist in February'],
  ['0 0 31 1,4 *', 'day 31 does not exist in April'],
])('%s has warnings that name what may surprise', (expression, ...warnings) => {
  expect(scheduleWarnings(expression)).toEqual(warnings)
})

test('A schedule without surprises needs no warning, and a refused one has neither', () => {
  for (const expression of [
    ...['* * * * *', '*/1 */1 */1 */1 *', '*/15 */6 * */3 *', '*/7 9 * * *', '*/7 9,11 * * *'],
    ...['10-50/7 * * * *', '0 */5 * * 1', '0 */5 1,15 * *', '0 0 28 * *', '0 0 28-31 * *'],
    ...['0 0 15-31 * *', '0 0 1-31 * *', '0 0 31 1,3 *', '0 0 29 3 *', '0 0 * * 1-5'],
  ])
    expect([expression, scheduleWarnings(expression)]).toEqual([expression, []])
  expect(() => describeSchedule('0 0 31 2 *')).toThrow('never runs: 31 February does not exist')
  expect(() => scheduleWarnings('*/61 * * * *')).toThrow('minute step 61 is outside 1-60')
})

const daily = (hour: number) => `0 ${hour} * * *`

/** A cache that counts how often it parses the schedule of 1:00. */
function watchedCache(generation: number) {
  let parsed = 0
  const cached = createScheduleCache(generation, (expression) => {
    if (expression === daily(1)) parsed++
    return parseSchedule(expression)
  })
  return { cached, parsed: () => parsed }
}

test('The cache of schedules keeps a schedule that is in use, and two generations of others', () => {
  const { cached, parsed } = watchedCache(2)
  const first = cached(daily(1))
  for (let hour = 2; hour < 20; hour++) {
    expect(cached(daily(1))).toBe(first)
    cached(daily(hour))
  }
  expect(parsed()).toBe(1)
  for (const hour of [2, 3, 4, 5, 1]) cached(daily(hour))
  expect(parsed()).toBe(2)
})

test('The cache of schedules refuses a wrong expression each time, which takes no room', () => {
  const { cached, parsed } = watchedCache(1)
  cached(daily(1))
  for (let n = 0; n < 2; n++) expect(() => cached('60 * * * *')).toThrow('outside 0-59')
  cached(daily(1))
  expect(parsed()).toBe(1)
  expect(scheduleOf('*/5 * * * *').nextMany(0, 3)).toEqual([300_000, 600_000, 900_000])
  expect(scheduleOf('*/5 * * * *')).toBe(scheduleOf('*/5 * * * *'))
})
