import { type Bits, fullWord, lowestBit, NONE, WORD } from './bits.ts'
import { DAY, HOUR, MONTH, WEEKDAY } from './fields.ts'

/** The chosen values of each field: bit n stands for the nth value of the field, counted from 0. */
interface Choice {
  readonly minutes: Readonly<Bits>
  readonly hours: number
  /** Bit 0 is the first of the month. */
  readonly days: number
  /** Bit 0 is January. */
  readonly months: number
  /** Bit 0 is Sunday. */
  readonly weekdays: number
}

/** A schedule in the form that occurrences are computed from. */
export interface Rule extends Choice {
  /** True if only weekdays are restricted, if anything, so that the calendar isn't needed. */
  readonly everyDate: boolean
  /** The first run of a day, in minutes after midnight. */
  readonly firstTime: number
}

export const EVERY_HOUR = fullWord(HOUR.size)
export const EVERY_DAY = fullWord(DAY.size)
export const EVERY_MONTH = fullWord(MONTH.size)
export const EVERY_WEEKDAY = fullWord(WEEKDAY.size)

export function ruleOf(choice: Choice): Rule {
  const { minutes, hours, days, months } = choice
  const everyDate = days === EVERY_DAY && months === EVERY_MONTH
  const firstTime = lowestBit(hours, 0) * 60 + lowestMinute(minutes, 0)
  return { ...choice, everyDate, firstTime }
}

/** The first chosen minute of an hour at or after `from`, or `NONE`. */
export function lowestMinute({ low, high }: Readonly<Bits>, from: number): number {
  const early = from < WORD ? lowestBit(low, from) : NONE
  if (early !== NONE) return early
  const late = lowestBit(high, Math.max(0, from - WORD))
  return late === NONE ? NONE : late + WORD
}
