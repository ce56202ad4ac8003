import { invalid } from './errors.ts'

/** RFC 3339 with a zone, because `Date.parse` treats a missing zone as local time. */
const RFC_3339 =
  /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.\d{1,9})?(?:[Zz]|[+-]\d\d:\d\d)$/

/** 9999-12-31T23:59:59.999Z, which an offset could exceed; later years have five digits. */
const LAST_MS = 253_402_300_799_999

/** In milliseconds since the epoch. Throws `invalid`, with the field, if it doesn't exist. */
export function parseTimestamp(text: string, field: string, code?: string): number {
  const ms = timestampIn(text)
  if (Number.isNaN(ms))
    throw invalid('must be a time with date and zone, such as 2026-01-31T12:00:00Z', {
      field,
      rule: 'format',
      code,
    })
  return ms
}

/** The same; NaN if it doesn't exist. */
export function timestampIn(text: string): number {
  const match = RFC_3339.exec(text)
  const ms = match && isRealTime(match.slice(1).map(Number)) ? Date.parse(text) : Number.NaN
  return ms <= LAST_MS ? ms : Number.NaN
}

/** `Date.parse` turns 30 February into a day in March and accepts hour 24. */
function isRealTime([year = 0, month = 0, day = 0, hour = 0]: number[]): boolean {
  const lastDay = new Date(Date.UTC(2000 + (year % 400), month, 0)).getUTCDate()
  return month >= 1 && month <= 12 && day >= 1 && day <= lastDay && hour <= 23
}
