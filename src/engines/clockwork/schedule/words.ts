import { UTC } from '../../../platform/time-zone.ts'
import { listBits } from './bits.ts'
import { monthName } from './calendar.ts'
import { parseRule } from './expression.ts'
import { commonStep, joinWords, numberWords, ordinal } from './numbers.ts'
import { EVERY_DAY, EVERY_MONTH, EVERY_WEEKDAY, type Rule } from './rule.ts'

/** Up to this many runs per day are described as clock times. */
const FEW_TIMES = 4

/** A list of at least this many numbers is described by its step, a shorter one in full. */
const FEW_NUMBERS = 3

const WEEKDAYS = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday']

/**
 * Plain English, such as `every 15 minutes` or `at 07:00 UTC on Monday`: the same for all spellings
 * of a schedule, and different for any other. Throws `invalid` like `parseSchedule`.
 */
export function describeSchedule(expression: string, timeZone = UTC): string {
  const rule = parseRule(expression)
  const minutes = listBits(rule.minutes.low, rule.minutes.high)
  const hours = listBits(rule.hours)
  const dates = dateWords(rule)
  if (minutes.length * hours.length <= FEW_TIMES) {
    return `at ${clockTimes(minutes, hours)} ${timeZone}${runsDaily(rule) ? ' every day' : ''}${dates}`
  }
  const isSame = timeZone === UTC && dates === '' && hours.length === 24
  const zone = isSame ? '' : `, ${timeZone}`
  return `${patternWords(minutes, hours)}${dates}${zone}`
}

function clockTimes(minutes: number[], hours: number[]): string {
  const two = (n: number) => `${n}`.padStart(2, '0')
  return joinWords(hours.flatMap((hour) => minutes.map((minute) => `${two(hour)}:${two(minute)}`)))
}

function patternWords(minutes: number[], hours: number[]): string {
  const wholeDay = hours.length === 24
  const rhythm = rhythmOf(minutes)
  const isRhythmEnough = rhythm !== undefined && (wholeDay || minutes.length > FEW_NUMBERS)
  if (isRhythmEnough) return wholeDay ? rhythm : `${rhythm} during ${fieldWords('hour', hours)}`
  const past = wholeDay ? 'of every hour' : `past ${fieldWords('hour', hours)}`
  return `at ${fieldWords('minute', minutes)} ${past}`
}

/** `every 15 minutes`, if the interval is also the same across the hour. */
function rhythmOf(minutes: number[]): string | undefined {
  if (minutes.length === 60) return 'every minute'
  const step = commonStep(minutes)
  const even = minutes.length > 1 && minutes[0] === 0 && step !== undefined
  return even && step * minutes.length === 60 ? `every ${step} minutes` : undefined
}

/** `hour 9`, `minutes 0, 20 and 40`, `every 5th hour from 0 to 20`. */
function fieldWords(noun: string, values: number[]): string {
  if (values.length === 1) return `${noun} ${values[0]}`
  const step = commonStep(values) ?? 1
  if (step === 1 || values.length <= FEW_NUMBERS) {
    return `${noun}s ${numberWords(values, (n) => n)}`
  }
  return `every ${ordinal(step)} ${noun} from ${values[0]} to ${values.at(-1)}`
}

const runsDaily = ({ days, weekdays }: Rule) => days === EVERY_DAY && weekdays === EVERY_WEEKDAY

/** The dates, beginning with a space or a comma; empty if the schedule runs every day. */
function dateWords({ days, months, weekdays }: Rule): string {
  const inMonths = months === EVERY_MONTH ? '' : numberWords(listBits(months), monthName)
  if (days !== EVERY_DAY) return ` on ${dayWords(dayNumbers(days), inMonths)}`
  const tail = inMonths === '' ? '' : ` in ${inMonths}`
  return weekdays === EVERY_WEEKDAY ? tail : `${weekdayWords(weekdays)}${tail}`
}

const dayNumbers = (days: number) => listBits(days).map((index) => index + 1)

/** `29 February`, `day 31 of the month`, `days 1 and 15 of January to March`. */
function dayWords(days: number[], months: string): string {
  if (days.length === 1 && /^\w+$/.test(months)) return `${days[0]} ${months}`
  return `${fieldWords('day', days)} of ${months === '' ? 'the month' : months}`
}

/** Weeks start on Monday. */
function weekdayWords(weekdays: number): string {
  const fromMonday = listBits(((weekdays >>> 1) | (weekdays << 6)) & EVERY_WEEKDAY)
  const words = numberWords(fromMonday, (day) => WEEKDAYS[day] as string)
  return words.includes(' to ') ? `, ${words}` : ` on ${words}`
}
