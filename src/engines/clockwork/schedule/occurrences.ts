import { fullWord, lowestBit, NONE } from './bits.ts'
import { firstDayOf, monthOf, weekdayOf } from './calendar.ts'
import { EVERY_WEEKDAY, lowestMinute, type Rule } from './rule.ts'

const MINUTES_A_DAY = 1440

/** 29 February across a century without a leap day: from 2096, 2104 is the eighth February. */
const MONTHS_SEARCHED = 8

/** At or after `minute`, in minutes since 1 January 1970 UTC. Takes a few steps for any rule. */
export function firstMatch(rule: Rule, minute: number): number {
  const today = Math.floor(minute / MINUTES_A_DAY)
  const day = firstDay(rule, today)
  if (day > today) return day * MINUTES_A_DAY + rule.firstTime
  const time = timeFrom(rule, minute - today * MINUTES_A_DAY)
  if (time !== NONE) return today * MINUTES_A_DAY + time
  return firstDay(rule, today + 1) * MINUTES_A_DAY + rule.firstTime
}

/** The first chosen time of a day at or after `time`, or `NONE`, in minutes after midnight. */
function timeFrom(rule: Rule, time: number): number {
  const hour = Math.floor(time / 60)
  if ((rule.hours >>> hour) & 1) {
    const minute = lowestMinute(rule.minutes, time - hour * 60)
    if (minute !== NONE) return hour * 60 + minute
  }
  const later = lowestBit(rule.hours, hour + 1)
  return later === NONE ? NONE : later * 60 + lowestMinute(rule.minutes, 0)
}

/** The first chosen date at or after `day`, in days since 1 January 1970. */
function firstDay(rule: Rule, day: number): number {
  if (rule.everyDate) return day + lowestBit(weeksFrom(rule.weekdays, weekdayOf(day)), 0)
  let month = chosenMonth(rule.months, monthOf(day))
  for (let searched = 0; searched < MONTHS_SEARCHED; searched++) {
    const first = firstDayOf(month)
    const index = lowestBit(daysOf(rule, month, first), Math.max(0, day - first))
    if (index !== NONE) return first + index
    month = chosenMonth(rule.months, month + 1)
  }
  return Number.POSITIVE_INFINITY
}

/** The chosen days of the month that begins on day `first`; bit 0 is the first of the month. */
function daysOf({ days, weekdays }: Rule, month: number, first: number): number {
  const inMonth = days & fullWord(firstDayOf(month + 1) - first)
  return weekdays === EVERY_WEEKDAY ? inMonth : inMonth & weeksFrom(weekdays, weekdayOf(first))
}

/** The set of weekdays repeated over the days after `start`, where 0 is Sunday. */
function weeksFrom(weekdays: number, start: number): number {
  const week = ((weekdays | (weekdays << 7)) >>> start) & EVERY_WEEKDAY
  return week | (week << 7) | (week << 14) | (week << 21) | (week << 28)
}

/** The first chosen month at or after `month`, counted from January of year 0. */
function chosenMonth(months: number, month: number): number {
  const monthOfYear = month % 12
  const later = lowestBit(months, monthOfYear)
  return month - monthOfYear + (later === NONE ? 12 + lowestBit(months, 0) : later)
}
