import { DAY_MS } from '../durations.ts'

let knownNumber = Number.NaN
let knownDay = ''

/** The UTC day, such as `2026-01-31`; its first seven characters are the month. */
export function dayOf(now: number): string {
  const number = Math.floor(now / DAY_MS)
  // Cached, because every request asks for the day.
  if (number !== knownNumber) {
    knownNumber = number
    knownDay = new Date(number * DAY_MS).toISOString().slice(0, 10)
  }
  return knownDay
}

export const monthOf = (day: string): string => day.slice(0, 7)

let knownMonth = ''
let knownStart = Number.NaN
let knownEnd = Number.NaN

/** Caches the bounds of a month, because every request asks for the same one. */
function parse(month: string) {
  if (month === knownMonth) return
  const [year = 0, number = 0] = month.split('-').map(Number)
  knownMonth = month
  knownStart = Date.UTC(year, number - 1, 1)
  knownEnd = Date.UTC(year, number, 1)
}

/** The start of the next month, in milliseconds since the epoch. */
export const endOfMonth = (month: string): number => {
  parse(month)
  return knownEnd
}

export const startOfMonth = (month: string): number => {
  parse(month)
  return knownStart
}

export const isMonth = (text: string): boolean => /^\d{4}-(0[1-9]|1[0-2])$/.test(text)
