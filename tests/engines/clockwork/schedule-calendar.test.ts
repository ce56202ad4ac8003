import { expect, test } from 'bun:test'
import { firstDayOf, monthOf, weekdayOf } from '../../../src/engines/clockwork/schedule/calendar.ts'

const DAY_MS = 86_400_000

/** `Date.UTC` takes the years 0 to 99 for 1900 to 1999. */
const firstDayByDate = (year: number, monthOfYear: number) =>
  new Date(0).setUTCFullYear(year, monthOfYear, 1) / DAY_MS

test('every month of the years 1 to 9999 begins and ends on the day that Date says', () => {
  const wrong: number[] = []

  for (let month = 12; month < 10_000 * 12; month++) {
    const first = firstDayByDate(Math.floor(month / 12), month % 12)
    const last = firstDayByDate(Math.floor(month / 12), (month % 12) + 1) - 1
    const agrees =
      firstDayOf(month) === first && monthOf(first) === month && monthOf(last) === month
    if (!agrees || weekdayOf(first) !== new Date(first * DAY_MS).getUTCDay()) wrong.push(month)
  }

  expect(wrong).toEqual([])
})
