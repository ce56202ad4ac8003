import { AppError } from '../../../platform/errors.ts'
import { UTC } from '../../../platform/time-zone.ts'
import { parseSchedule, type Schedule } from './schedule.ts'

/** Entries in each of two generations; about 6 MB if full of the longest expressions. */
const GENERATION = 4096

/**
 * Parses each expression once while it is in use, except invalid ones. Two generations approximate
 * LRU: a hit in the young one writes nothing, and when that is full the old one is dropped.
 */
export function createScheduleCache(
  generation = GENERATION,
  parse: (expression: string) => Schedule = parseSchedule,
) {
  let young = new Map<string, Schedule>()
  let old = new Map<string, Schedule>()

  function keep(expression: string, schedule: Schedule): Schedule {
    if (young.size >= generation) {
      old = young
      young = new Map()
    }
    young.set(expression, schedule)
    return schedule
  }

  return (expression: string): Schedule =>
    young.get(expression) ?? keep(expression, old.get(expression) ?? parse(expression))
}

const ofUtc = createScheduleCache()

/** By zone and expression, with a space between them. Zones have none. */
const ofZones = createScheduleCache(GENERATION, (key) => {
  const end = key.indexOf(' ')
  return parseSchedule(key.slice(end + 1), key.slice(0, end))
})

/** The schedule of an expression, parsed at most once while in use. Throws `invalid`. */
export const scheduleOf = (expression: string, timeZone = UTC): Schedule =>
  timeZone === UTC ? ofUtc(expression) : ofZones(`${timeZone} ${expression}`)

/** The same, but undefined for what only a later version that used the database can read. */
export function readableSchedule(expression: string, timeZone: string): Schedule | undefined {
  try {
    return scheduleOf(expression, timeZone)
  } catch (error) {
    if (error instanceof AppError) return undefined
    throw error
  }
}
