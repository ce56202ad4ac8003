import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { Cron } from 'croner'
import { parseRule } from '../../../src/engines/clockwork/schedule/expression.ts'
import { describeSchedule, parseSchedule } from '../../../src/engines/clockwork/schedule/index.ts'
import { AppError } from '../../../src/platform/errors.ts'

const MINUTE = 60_000
const FIRST_START = Date.UTC(1990, 0, 1)
const LAST_START = Date.UTC(2239, 11, 31)

type Random = (below: number) => number

/** The same numbers on each run: a test that fails once fails always. */
function seeded(seed: number): Random {
  let state = seed
  return (below) => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below)
  }
}

/** A field as text, with the values it stands for noted while it is written. */
interface Written {
  text: string
  values: Set<number>
}

const ANY = { text: '*', values: undefined }

/** What may be written in a field. `*` ends before 7, the other name of Sunday. */
interface Limits {
  first: number
  last: number
  starLast: number
}

const limits = (first: number, last: number, starLast = last): Limits => ({ first, last, starLast })

function writeItem(random: Random, { first, last, starLast }: Limits): Written {
  const from = first + random(last - first + 1)
  const to = from + random(last - from + 1)
  const step = 1 + random(starLast - first + 1)
  switch (random(5)) {
    case 0:
      return { text: `${digits(random, from)}-${digits(random, to)}`, values: every(from, to, 1) }
    case 1:
      return { text: `${from}-${to}/${digits(random, step)}`, values: every(from, to, step) }
    case 2:
      return { text: `*/${digits(random, step)}`, values: every(first, starLast, step) }
    default:
      return { text: digits(random, from), values: new Set([from]) }
  }
}

/** With a leading zero now and then. */
const digits = (random: Random, n: number) => (random(4) === 0 ? `${n}`.padStart(2, '0') : `${n}`)

function every(first: number, last: number, step: number): Set<number> {
  const all = Array.from({ length: last - first + 1 }, (_, index) => first + index)
  return new Set(all.filter((value) => (value - first) % step === 0))
}

function writeField(random: Random, range: Limits): Written {
  const length = 1 + random(random(3) === 0 ? 6 : 1)
  const items = Array.from({ length }, () => writeItem(random, range))
  return {
    text: items.map((item) => item.text).join(','),
    values: new Set(items.flatMap((item) => [...item.values])),
  }
}

/** One expression and a slow but plain way to tell its dates and times. */
function writeExpression(random: Random) {
  const field = (range: Limits) => (random(3) === 0 ? ANY : writeField(random, range))
  const byWeekday = random(2) === 0
  const minute = field(limits(0, 59))
  const hour = field(limits(0, 23))
  const day = byWeekday ? ANY : field(limits(1, 31))
  const month = field(limits(1, 12))
  const weekday = byWeekday ? writeField(random, limits(0, 7, 6)) : ANY
  const has = ({ values }: { values: Set<number> | undefined }, n: number) => values?.has(n) ?? true
  return {
    text: [minute, hour, day, month, weekday].map(({ text }) => text).join(' '),
    onDate: (date: Date) =>
      has(day, date.getUTCDate()) &&
      has(month, date.getUTCMonth() + 1) &&
      (has(weekday, date.getUTCDay()) || (date.getUTCDay() === 0 && has(weekday, 7))),
    atTime: (date: Date) => has(minute, date.getUTCMinutes()) && has(hour, date.getUTCHours()),
  }
}

type Expression = ReturnType<typeof writeExpression>

/** Walks day by day, then minute by minute. */
function walkToNext({ onDate, atTime }: Expression, afterMs: number): number {
  const date = new Date(Math.floor(afterMs / MINUTE) * MINUTE + MINUTE)
  for (;;) {
    if (!onDate(date)) date.setUTCHours(24, 0, 0, 0)
    else if (!atTime(date)) date.setTime(date.getTime() + MINUTE)
    else return date.getTime()
  }
}

/** A leap year: it has every date of any year, and in each month every weekday. */
const YEAR_2000 = Array.from({ length: 366 }, (_, day) => new Date(Date.UTC(2000, 0, 1 + day)))
const comes = ({ onDate }: Expression) => YEAR_2000.some(onDate)

function writeMany(seed: number, count: number) {
  const random = seeded(seed)
  const written = Array.from({ length: count }, () => writeExpression(random))
  const start = () => FIRST_START + random(1e9) * ((LAST_START - FIRST_START) / 1e9)
  return {
    random,
    valid: written.filter(comes),
    never: written.filter((one) => !comes(one)),
    start,
  }
}

const show = (time: number | undefined) =>
  time === undefined ? 'none' : new Date(time).toISOString()

/** An offset and a change to summer time that no answer may depend on. */
describe('on a host in New York', () => {
  const hostZone = process.env.TZ

  beforeAll(() => {
    process.env.TZ = 'America/New_York'
  })

  afterAll(() => {
    process.env.TZ = hostZone ?? 'Etc/UTC'
  })

  test('local time is not UTC', () => {
    expect(new Date('2026-01-01T00:00:00Z').getHours()).toBe(19)
  })

  test('random schedules agree with a walk over days and minutes', () => {
    const { valid, start } = writeMany(1, 5000)
    expect(valid.length).toBeGreaterThan(4500)

    for (const expression of valid) {
      const { next } = parseSchedule(expression.text)
      for (let at = Math.floor(start()), steps = 0; steps < 4; steps++) {
        const expected = walkToNext(expression, at)
        const title = `${expression.text} after ${show(at)}: `
        expect(title + show(next(at))).toBe(title + show(expected))
        at = expected
      }
    }
  })

  test('random schedules agree with croner', () => {
    const { valid, start } = writeMany(2, 4000)

    for (const { text } of valid) {
      const from = Math.floor(start())
      const peer = new Cron(text, { timezone: 'UTC', mode: '5-part' })
      const expected = peer.nextRuns(3, new Date(from)).map((date) => date.toISOString())
      const slots = parseSchedule(text).nextMany(from, 3)
      expect([text, ...slots.map(show)]).toEqual([text, ...expected])
    }
  })

  test('whatever is left of a damaged schedule is refused or means what croner makes of it', () => {
    const { random, valid } = writeMany(3, 8000)
    const signs = '0123456789*,-/ \t'
    let accepted = 0

    for (const { text } of valid) {
      const at = random(text.length)
      const damaged = text.slice(0, at) + signs[random(signs.length)] + text.slice(at + random(3))
      const slot = nextOrRefusal(damaged, FIRST_START)
      if (slot === 'refused') continue
      accepted++
      const peer = new Cron(damaged, { timezone: 'UTC', mode: '5-part' })
      expect(damaged + show(slot)).toBe(
        damaged + peer.nextRun(new Date(FIRST_START))?.toISOString(),
      )
    }
    expect(accepted).toBeGreaterThan(1000)
  })
})

function nextOrRefusal(expression: string, afterMs: number): number | undefined | 'refused' {
  try {
    return parseSchedule(expression).next(afterMs)
  } catch (error) {
    expect(error).toBeInstanceOf(AppError)
    expect((error as AppError).message).toStartWith('schedule: ')
    return 'refused'
  }
}

test('noise is refused with a sentence, never with a crash', () => {
  const random = seeded(4)
  const signs = '0123456789**,,--// \t    @LW#?JANmon\u00a0\n\u{1f600}+.'

  for (let round = 0; round < 20_000; round++) {
    const length = random(24)
    nextOrRefusal(Array.from({ length }, () => signs[random(signs.length)]).join(''), 0)
  }
})

test('random schedules are refused exactly when no date ever matches', () => {
  const { valid, never } = writeMany(5, 20_000)

  expect(never.length).toBeGreaterThan(10)
  for (const { text } of never) expect(() => parseSchedule(text)).toThrow('never runs')
  for (const { text } of valid) expect(parseSchedule(text).next(0)).toBeNumber()
})

test('different schedules never read alike, and one schedule reads alike however it is spelt', () => {
  const { valid } = writeMany(6, 20_000)
  const meaningOf = new Map<string, string>()

  for (const { text } of valid) {
    const words = describeSchedule(text)
    const meaning = JSON.stringify(parseRule(text))
    expect(meaningOf.get(words) ?? meaning).toBe(meaning)
    meaningOf.set(words, meaning)
  }
  expect(new Set(meaningOf.values()).size).toBe(meaningOf.size)
})
