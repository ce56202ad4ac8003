import { listBits } from './bits.ts'
import { MONTH_LENGTHS, monthName } from './calendar.ts'
import { columnsOf, parseRule } from './expression.ts'
import { DAY, type Field, HOUR, MINUTE, MONTH, WEEKDAY } from './fields.ts'
import { joinWords } from './numbers.ts'
import type { Rule } from './rule.ts'

const FEBRUARY = 1

/** The last day that every month has. */
const SAFE_DAY = 28

/** Surprises in a valid schedule, one sentence each. Throws `invalid` like `parseSchedule`. */
export function scheduleWarnings(expression: string): string[] {
  const rule = parseRule(expression)
  const [minute, hour, day, month, weekday] = columnsOf(expression)
  const everyDay = wraps(rule.days, DAY) && wraps(rule.weekdays, WEEKDAY)
  return [
    ...stepWarning(MINUTE, minute, wraps(rule.hours, HOUR)),
    ...stepWarning(HOUR, hour, everyDay),
    ...dayStepWarning(day),
    ...shortMonthWarnings(day, rule),
    ...stepWarning(MONTH, month, true),
    ...stepWarning(WEEKDAY, weekday, true),
  ]
}

/** Whether two consecutive values are chosen, also last and first: a smaller field then runs on. */
function wraps(bits: number, field: Field): boolean {
  const chosen = listBits(bits)
  return chosen.some((value) => chosen.includes((value + 1) % field.size))
}

/** Warns of a step that doesn't divide its field (a shorter last interval) or matches only once. */
function stepWarning(field: Field, column: string, turns: boolean): string[] {
  const step = wholeStep(field, column)
  if (step === undefined) return []
  if (step >= field.size) return [`${field.name} ${column} matches only ${field.first}`]
  const rest = field.size % step
  if (rest === 0 || !turns) return []
  const last = field.first + field.size - rest
  const gap = `${rest} ${field.unit}${rest === 1 ? '' : 's'}`
  const turn = `from ${last} to the next ${field.first} it is ${gap}, not ${step}`
  return [`${field.name} ${column} is uneven: ${turn}`]
}

/** Warns about any step over days, because months differ in length. */
function dayStepWarning(column: string): string[] {
  const step = wholeStep(DAY, column)
  if (step === undefined) return []
  if (step >= DAY.size) return [`${DAY.name} ${column} matches only ${DAY.first}`]
  return [`${DAY.name} ${column} restarts on day 1, so the last gap of the month varies`]
}

/** The step of a field that is a single step over all values, unless it is 1. */
function wholeStep(field: Field, column: string): number | undefined {
  const [span, step] = column.split('/')
  const whole = span === '*' || span === `${field.first}-${field.first + field.size - 1}`
  return whole && Number(step) > 1 ? Number(step) : undefined
}

/** Warns about days that not every chosen month has. Steps have their own warning. */
function shortMonthWarnings(column: string, { days, months }: Rule): string[] {
  if (wholeStep(DAY, column) !== undefined) return []
  const chosen = listBits(days).map((index) => index + 1)
  const late = chosen.filter((day) => day > SAFE_DAY && !endsMonth(chosen, day))
  return late.flatMap((day) => missingDay(day, listBits(months), chosen[0] === day))
}

/** Whether a range such as `15-31` means "to the end of the month", whatever its length. */
function endsMonth(chosen: number[], day: number): boolean {
  const first = chosen.indexOf(SAFE_DAY)
  return first >= 0 && chosen[first + day - SAFE_DAY] === day
}

function missingDay(day: number, months: number[], earliest: boolean): string[] {
  const short = months.filter((month) => day > (MONTH_LENGTHS[month] as number))
  if (short.length > 0) return [`day ${day} does not exist in ${joinWords(short.map(monthName))}`]
  if (day !== 29 || !months.includes(FEBRUARY)) return []
  const rare = earliest && months.length === 1 ? ', which can be 8 years apart' : ''
  return [`29 February exists only in leap years${rare}`]
}
