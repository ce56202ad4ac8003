import { expect, test } from 'bun:test'
import { Cron } from 'croner'
import {
  clockChangeWarnings,
  countOccurrences,
  describeSchedule,
  parseSchedule,
  scheduleOf,
} from '../../../src/engines/clockwork/schedule/index.ts'
import { seeded } from '../gate/identities/documents/support.ts'
import { DAY, HOUR, MINUTE } from '../relay/support.ts'

const ZONES = [
  ...['Africa/Cairo', 'Africa/Casablanca', 'Africa/Johannesburg', 'America/Anchorage'],
  ...['America/Asuncion', 'America/Caracas', 'America/Havana', 'America/Mexico_City'],
  ...['America/New_York', 'America/Nuuk', 'America/Santiago', 'America/Sao_Paulo'],
  ...['America/St_Johns', 'Antarctica/Troll', 'Asia/Almaty', 'Asia/Amman', 'Asia/Beirut'],
  ...['Asia/Gaza', 'Asia/Jerusalem', 'Asia/Kathmandu', 'Asia/Kolkata', 'Asia/Tehran'],
  ...['Asia/Tokyo', 'Atlantic/Azores', 'Australia/Lord_Howe', 'Australia/Sydney'],
  ...['Europe/Berlin', 'Europe/Dublin', 'Europe/Volgograd', 'Pacific/Apia', 'Pacific/Auckland'],
  ...['Pacific/Chatham', 'Pacific/Easter', 'Pacific/Kiritimati'],
]
let changed = 0
const [FROM, TO] = [Date.UTC(2018, 0, 1), Date.UTC(2028, 0, 1)]

/** What clocks in a zone show at a moment, in milliseconds as if it was UTC. */
function clockOf(timeZone: string) {
  const format = new Intl.DateTimeFormat('sv-SE', {
    ...{ timeZone, dateStyle: 'short', timeStyle: 'medium' },
  })
  return (at: number) => Date.parse(`${format.format(at).replace(' ', 'T')}Z`)
}
type Clock = ReturnType<typeof clockOf>

/** The first minute after each clock change, found by looking every day, then every minute. */
function changesOf(clock: Clock): number[] {
  const changes: number[] = []
  const isSame = (at: number, step: number) => clock(at + step) - clock(at) === step
  for (let [day, wall] = [FROM, clock(FROM)]; day < TO; day += DAY) {
    const before = wall
    wall = clock(day + DAY)
    if (wall - before === DAY) continue
    const hour = from(day, HOUR, (at) => !isSame(at, HOUR))
    changes.push(from(hour, MINUTE, (at) => !isSame(at, MINUTE)) + MINUTE)
  }
  return changes
}

function from(start: number, step: number, holds: (at: number) => boolean): number {
  let at = start
  while (!holds(at)) at += step
  return at
}

/** Whether a time is in a schedule of numbers, lists and whole steps. */
function matcherOf(expression: string) {
  const fields = expression
    .split(' ')
    .map((field) =>
      Array.from({ length: 60 }, (_, value) =>
        field
          .split(',')
          .some((item) =>
            item[0] === '*' ? value % +(item.slice(2) || 1) === 0 : +item === value,
          ),
      ),
    )
  const [minutes = [], hours = [], , , weekdays = []] = fields
  return (wall: number): boolean => {
    const at = new Date(wall)
    const hasTime = minutes[at.getUTCMinutes()] && hours[at.getUTCHours()]
    return Boolean(hasTime && weekdays[at.getUTCDay()])
  }
}

/** The runs of a schedule, by looking at the clock every minute. */
function runsOf(expression: string, walls: readonly [at: number, wall: number][]): number[] {
  const isTime = matcherOf(expression)
  const isEveryHour = expression.split(' ')[1] === '*'
  let latest = (walls[0] as [number, number])[1] - MINUTE
  return walls.flatMap(([at, wall]) => {
    let isDue = isEveryHour && isTime(wall)
    for (; latest < wall; latest += MINUTE) isDue ||= !isEveryHour && isTime(latest + MINUTE)
    return isDue ? [at] : []
  })
}

/** Schedules for the times around a clock change. */
function expressionsNear(wall: number): string[] {
  const at = new Date(wall)
  const [hour, next, day] = [at.getUTCHours(), (at.getUTCHours() + 1) % 24, at.getUTCDay()]
  return [
    ...['* * * * *', '*/15 * * * *', '30 * * * *', '0 */2 * * *', '0 0 * * *'],
    ...[`30 ${hour} * * *`, `*/20 ${hour} * * *`, `0 ${next} * * *`, `15,45 ${hour},${next} * * *`],
    ...[`10 ${hour} * * ${day}`, `10 ${hour} * * ${(day + 3) % 7}`, `0,59 ${hour} * * *`],
  ]
}

const show = (times: readonly number[]) => times.map((time) => new Date(time).toISOString())

test.each(ZONES)(
  'In %s, a clock that is read every minute has the same runs around each change',
  (zone) => {
    const clock = clockOf(zone)
    for (const change of changesOf(clock)) {
      const [first, last] = [change - 150 * MINUTE, change + 150 * MINUTE]
      const walls: [number, number][] = []
      for (let at = first; at <= last; at += MINUTE) walls.push([at, clock(at)])
      for (const expression of expressionsNear(Math.min(clock(change), clock(change - MINUTE)))) {
        const schedule = scheduleOf(expression, zone)
        const expected = runsOf(expression, walls)
        const runs = schedule.nextMany(first - 1, countOccurrences(schedule, first - 1, last))
        if (runs.join() !== expected.join())
          expect([expression, ...show(runs)]).toEqual([expression, ...show(expected)])
      }
      changed++
    }
  },
)

test('The zones have hundreds of clock changes', () => {
  expect(changed).toBeGreaterThan(350)
})

test('On any day of ten years, one run a day, a week or an hour is when croner has it', () => {
  const random = seeded(8)
  for (const timezone of ZONES)
    for (let round = 0; round < 12; round++) {
      const [minute, hour, weekday] = [random(60), random(24), random(7)]
      const dates = [`${hour} * * *`, `${hour} * * ${weekday}`, '* * * *', `${hour} 1 * *`]
      const expression = `${minute} ${dates[round % dates.length]}`
      const start = FROM + Math.floor((random(1e9) / 1e9) * (TO - FROM))
      const expected = new Cron(expression, { timezone, mode: '5-part' }).nextRuns(
        2,
        new Date(start),
      )
      const runs = parseSchedule(expression, timezone).nextMany(start, 2)
      expect([timezone, expression, ...show(runs)]).toEqual([
        timezone,
        expression,
        ...expected.map((at) => at.toISOString()),
      ])
    }
})

test.each([
  // The day of 30 December 2011 is skipped.
  ['Pacific/Apia', '0 12 * * *', '2011-12-29T12:00Z', ['29T22:00', '30T10:00', '30T22:00']],
  ['Pacific/Apia', '0 * 30 12 *', '2011-12-28T00:00Z', ['29T10:00', '29T11:00', '29T12:00']],
  // Half an hour is skipped, and shown twice.
  ['Australia/Lord_Howe', '15 2 * * *', '2026-10-03T00:00Z', ['03T15:30', '04T15:15', '05T15:15']],
  ['Australia/Lord_Howe', '45 1 * * *', '2026-04-04T00:00Z', ['04T14:45', '05T15:15', '06T15:15']],
  ['Asia/Kathmandu', '0 0 * * *', '2026-01-01T00:00Z', ['01T18:15', '02T18:15', '03T18:15']],
  // The first or last hour of a day is skipped, or shown twice.
  ['Africa/Cairo', '0,30 0 * * *', '2026-04-23T20:00Z', ['23T22:00', '24T21:00', '24T21:30']],
  ['America/Santiago', '30 23 * * *', '2026-04-04T00:00Z', ['04T02:30', '05T02:30', '06T03:30']],
  ['Europe/Berlin', '0 3 * * 0', '2026-10-25T00:00Z', ['25T02:00', '01T02:00', '08T02:00']],
  ['Europe/Berlin', '*/30 * * * *', '2026-10-25T00:10Z', ['25T00:30', '25T01:00', '25T01:30']],
])('In %s, %s runs after %s at %j', (zone, expression, after, expected) => {
  const runs = show(parseSchedule(expression, zone).nextMany(Date.parse(after), 3))
  expect(runs.map((at) => at.slice(8, 16))).toEqual(expected)
})

test('A rare schedule is found far ahead, and the last one is in the year 9999', () => {
  const { next } = parseSchedule('0 * 29 2 *', 'Europe/Berlin')
  expect(show([next(Date.UTC(2096, 2, 1)) ?? 0])).toEqual(['2104-02-28T23:00:00.000Z'])
  for (const hour of ['*', '23'])
    expect(
      parseSchedule(`0 ${hour} 29 2 *`, 'Asia/Tokyo').next(Date.UTC(9999, 0, 1)),
    ).toBeUndefined()
})

test('A description names the zone, and each zone has its own cached schedule', () => {
  for (const [expression, words] of [
    ['30 2 * * *', 'at 02:30 Europe/Berlin every day'],
    ['*/5 9 * * *', 'every 5 minutes during hour 9, Europe/Berlin'],
    ['*/15 * * * *', 'every 15 minutes, Europe/Berlin'],
  ] as const)
    expect(describeSchedule(expression, 'Europe/Berlin')).toBe(words)
  expect(scheduleOf('0 9 * * *', 'Asia/Tokyo')).toBe(scheduleOf('0 9 * * *', 'Asia/Tokyo'))
  expect(() => scheduleOf('Asia/Tokyo 0 9 * * *')).toThrow('must have 5 fields, not 6')
})

const JANUARY = Date.parse('2026-01-10T00:00:00Z')
const skip = 'clocks in Europe/Berlin skip 02:00 to 03:00 on 2026-03-29; times in between run once'
const twice = 'clocks in Europe/Berlin show 02:00 to 03:00 on 2026-10-25 twice; times in between'

test.each<[string, string, ...string[]]>([
  ['30 2 * * *', 'Europe/Berlin', `${skip}, at 03:00`, `${twice} run only the first time`],
  ['30 2 29 3 *', 'Europe/Berlin', `${skip}, at 03:00`],
  ...['0 3 * * *', '59 1 * * *', '30 2 * * 1', '*/15 * * * *', '30 2 1 * *'].map(
    (expression): [string, string] => [expression, 'Europe/Berlin'],
  ),
  ['30 2 * * *', 'UTC'],
  ['30 2 * * *', 'Asia/Kathmandu'],
])('%s in %s has warnings of clock changes', (expression, zone, ...warnings) => {
  expect(clockChangeWarnings(expression, zone, JANUARY)).toEqual(warnings)
})
