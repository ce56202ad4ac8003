import { expect, test } from 'bun:test'
import { createScheduleCache } from '../../../src/engines/clockwork/schedule/cache.ts'
import { parseSchedule, scheduleOf } from '../../../src/engines/clockwork/schedule/index.ts'

/** A cache that notes what it had to parse. */
function watchedCache(generation: number) {
  const parsed: string[] = []
  const cached = createScheduleCache(generation, (expression) => {
    parsed.push(expression)
    return parseSchedule(expression)
  })
  return { cached, parsed }
}

const daily = (hour: number) => `0 ${hour} * * *`

test('an expression in use is parsed once', () => {
  const { cached, parsed } = watchedCache(2)

  const first = cached(daily(1))

  expect(cached(daily(1))).toBe(first)
  expect(parsed).toEqual([daily(1)])
})

test('an expression that is asked for again and again outlives those that are not', () => {
  const { cached, parsed } = watchedCache(2)

  for (let hour = 2; hour < 20; hour++) {
    cached(daily(1))
    cached(daily(hour))
  }

  expect(parsed.filter((expression) => expression === daily(1))).toHaveLength(1)
})

test('at most two generations are kept', () => {
  const { cached, parsed } = watchedCache(2)

  for (const hour of [1, 2, 3, 4, 5]) cached(daily(hour))
  cached(daily(1))

  expect(parsed.filter((expression) => expression === daily(1))).toHaveLength(2)
})

test('a refused expression is refused each time and takes no room', () => {
  const { cached, parsed } = watchedCache(1)

  cached(daily(1))
  expect(() => cached('60 * * * *')).toThrow('minute 60 is outside 0-59')
  expect(() => cached('60 * * * *')).toThrow('minute 60 is outside 0-59')
  cached(daily(1))

  expect(parsed).toEqual([daily(1), '60 * * * *', '60 * * * *'])
})

test('the shared cache answers as the parser does', () => {
  expect(scheduleOf('*/5 * * * *').nextMany(0, 3)).toEqual([300_000, 600_000, 900_000])
  expect(scheduleOf('*/5 * * * *')).toBe(scheduleOf('*/5 * * * *'))
  expect(() => scheduleOf('* * * *')).toThrow('must have 5 fields, not 4')
})
