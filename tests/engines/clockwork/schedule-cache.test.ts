import { expect, test } from 'bun:test'
import { createScheduleCache } from '../../../src/engines/clockwork/schedule/cache.ts'
import { parseSchedule, scheduleOf } from '../../../src/engines/clockwork/schedule/index.ts'

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

test('a schedule in use is parsed once, and outlives those that are not', () => {
  const { cached, parsed } = watchedCache(2)
  const first = cached(daily(1))
  for (let hour = 2; hour < 20; hour++) {
    expect(cached(daily(1))).toBe(first)
    cached(daily(hour))
  }
  expect(parsed()).toBe(1)
})

test('at most two generations are kept', () => {
  const { cached, parsed } = watchedCache(2)
  for (const hour of [1, 2, 3, 4, 5, 1]) cached(daily(hour))
  expect(parsed()).toBe(2)
})

test('a refused expression is refused each time and takes no room', () => {
  const { cached, parsed } = watchedCache(1)
  cached(daily(1))
  for (let n = 0; n < 2; n++) expect(() => cached('60 * * * *')).toThrow('outside 0-59')
  cached(daily(1))
  expect(parsed()).toBe(1)
})

test('the shared cache answers as the parser does', () => {
  expect(scheduleOf('*/5 * * * *').nextMany(0, 3)).toEqual([300_000, 600_000, 900_000])
  expect(scheduleOf('*/5 * * * *')).toBe(scheduleOf('*/5 * * * *'))
  expect(() => scheduleOf('* * * *')).toThrow('must have 5 fields, not 4')
})
