import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { Cron } from 'croner'
import { parseRule } from '../../../src/engines/clockwork/schedule/expression.ts'
import { describeSchedule, parseSchedule } from '../../../src/engines/clockwork/schedule/index.ts'
import { AppError } from '../../../src/platform/errors.ts'
import { seeded } from '../gate/identities/documents/support.ts'

const FIRST_START = Date.UTC(1990, 0, 1)
const LAST_START = Date.UTC(2239, 11, 31)

type Random = (below: number) => number

/** A number with a leading zero now and then. */
const digits = (random: Random, n: number) => (random(4) === 0 ? `${n}`.padStart(2, '0') : `${n}`)

function writeItem(random: Random, first: number, last: number): string {
  const from = first + random(last - first + 1)
  const to = from + random(last - from + 1)
  // The day of the week has eight numbers for seven days.
  const step = 1 + random(Math.min(last, 59) - first + (last === 7 ? 0 : 1))
  const item = [
    `${digits(random, from)}-${digits(random, to)}`,
    `${from}-${to}/${digits(random, step)}`,
    `*/${digits(random, step)}`,
  ]
  return item[random(5)] ?? digits(random, from)
}

function writeField(random: Random, first: number, last: number): string {
  const length = 1 + random(random(3) === 0 ? 6 : 1)
  return Array.from({ length }, () => writeItem(random, first, last)).join()
}

function writeExpression(random: Random): string {
  const field = (first: number, last: number) =>
    random(3) === 0 ? '*' : writeField(random, first, last)
  const byWeekday = random(2) === 0
  const [minute, hour] = [field(0, 59), field(0, 23)]
  const day = byWeekday ? '*' : field(1, 31)
  return [minute, hour, day, field(1, 12), byWeekday ? writeField(random, 0, 7) : '*'].join(' ')
}

/** What croner makes of an expression. */
const peerOf = (text: string) => new Cron(text, { timezone: 'UTC', mode: '5-part' })

function writeMany(seed: number, count: number) {
  const random = seeded(seed)
  const written = Array.from({ length: count }, () => writeExpression(random))
  const start = () => FIRST_START + Math.floor((random(1e9) / 1e9) * (LAST_START - FIRST_START))
  return { random, written, start }
}

const show = (time: number | undefined) =>
  time === undefined ? 'none' : new Date(time).toISOString()

function nextOrRefusal(expression: string, afterMs: number): number | undefined | 'refused' {
  try {
    return parseSchedule(expression).next(afterMs)
  } catch (error) {
    expect(error).toBeInstanceOf(AppError)
    expect((error as AppError).message).toStartWith('schedule: ')
    return 'refused'
  }
}

/** An offset and a change to summer time that no answer may depend on. */
describe('On a host in New York', () => {
  const hostZone = process.env.TZ

  beforeAll(() => {
    process.env.TZ = 'America/New_York'
  })

  afterAll(() => {
    process.env.TZ = hostZone ?? 'Etc/UTC'
  })

  test('random schedules agree with croner, also about those that never run', () => {
    expect(new Date('2026-01-01T00:00:00Z').getHours()).toBe(19)
    const { written, start } = writeMany(7, 1000)
    let never = 0
    for (const text of written) {
      const from = start()
      const expected = peerOf(text).nextRuns(3, new Date(from))
      if (expected.length === 0) {
        never++
        expect(() => parseSchedule(text)).toThrow('never runs')
        continue
      }
      const slots = parseSchedule(text).nextMany(from, 3)
      expect([text, ...slots.map(show)]).toEqual([text, ...expected.map((at) => at.toISOString())])
    }
    expect(never).toBeGreaterThan(0)
    expect(never).toBeLessThan(100)
  })

  test('a damaged schedule is refused or means what croner makes of it', () => {
    const { random, written } = writeMany(3, 2000)
    const signs = '0123456789*,-/ \t'
    let accepted = 0
    for (const text of written) {
      const at = random(text.length)
      const damaged = text.slice(0, at) + signs[random(signs.length)] + text.slice(at + random(3))
      const slot = nextOrRefusal(damaged, FIRST_START)
      if (slot === 'refused') continue
      accepted++
      const expected = peerOf(damaged).nextRun(new Date(FIRST_START))?.toISOString()
      expect(damaged + show(slot)).toBe(damaged + expected)
    }
    expect(accepted).toBeGreaterThan(300)
  })
})

test('Noise is refused with a message, never with a crash', () => {
  const random = seeded(4)
  const signs = '0123456789**,,--// \t    @LW#?JANmon\u00a0\n\u{1f600}+.'
  for (let round = 0; round < 3000; round++) {
    const length = random(24)
    nextOrRefusal(Array.from({ length }, () => signs[random(signs.length)]).join(''), 0)
  }
})

test('Different schedules never read alike, and one schedule reads alike however it is spelt', () => {
  const { written } = writeMany(6, 3000)
  const meaningOf = new Map<string, string>()
  for (const text of written.filter((one) => nextOrRefusal(one, 0) !== 'refused')) {
    const words = describeSchedule(text)
    const meaning = JSON.stringify(parseRule(text))
    expect(meaningOf.get(words) ?? meaning).toBe(meaning)
    meaningOf.set(words, meaning)
  }
  expect(new Set(meaningOf.values()).size).toBe(meaningOf.size)
  expect(meaningOf.size).toBeGreaterThan(1500)
})
