const MONTH_NAMES = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
] as const

/** 0 is January. */
export const monthName = (month: number) => MONTH_NAMES[month] as string

/** The longest length of each month; for February that of a leap year. */
export const MONTH_LENGTHS = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] as const

/** Days before each month of a year that begins in March, so that the leap day is its last. */
const DAYS_SINCE_MARCH = [0, 31, 61, 92, 122, 153, 184, 214, 245, 275, 306, 337] as const

/** Days from 1 March of year 0 to 1 January 1970. */
const EPOCH = 719_468

const EPOCH_MONTH = 1970 * 12

/** Mean length in days over the 400 years after which the Gregorian calendar repeats. */
const MEAN_MONTH = 146_097 / 4800

/** Day 0, 1 January 1970, was a Thursday. */
const EPOCH_WEEKDAY = 4

/**
 * In days since 1 January 1970. Months count from January of year 0; years from 1 on are supported.
 * Integers stay small enough for `| 0`, which is twice as fast here as `Math.floor`.
 */
export function firstDayOf(month: number): number {
  const sinceMarch = month - 2
  const year = (sinceMarch / 12) | 0
  const leapDays = (year >> 2) - ((year / 100) | 0) + ((year / 400) | 0)
  return year * 365 + leapDays + (DAYS_SINCE_MARCH[sinceMarch - year * 12] as number) - EPOCH
}

/** The month of a day, counted from January of year 0. Days are counted from 1 January 1970. */
export function monthOf(day: number): number {
  const guess = EPOCH_MONTH + Math.floor(day / MEAN_MONTH)
  if (firstDayOf(guess) > day) return guess - 1
  return firstDayOf(guess + 1) > day ? guess : guess + 1
}

/** 0 is Sunday. */
export const weekdayOf = (day: number) => (((day + EPOCH_WEEKDAY) % 7) + 7) % 7
