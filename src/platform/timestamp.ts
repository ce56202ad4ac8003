import { invalid } from './errors.ts'

/** RFC 3339 with a zone. `Date.parse` alone takes a missing zone for local time. */
const RFC_3339 =
  /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.\d{1,9})?(?:[Zz]|[+-]\d\d:\d\d)$/

/** After 9999-12-31T23:59:59.999Z, to which an offset can lead, years have more than four digits. */
const LAST_MS = 253_402_300_799_999

/** Milliseconds since the epoch. Throws `invalid`, naming the field, for what is no real moment. */
export function parseTimestamp(text: string, field: string, code?: string): number {
  const match = RFC_3339.exec(text)
  const ms = match && isRealTime(match.slice(1).map(Number)) ? Date.parse(text) : Number.NaN
  if (!(ms <= LAST_MS))
    throw invalid('must be a time with date and zone, such as 2026-01-31T12:00:00Z', {
      field,
      rule: 'format',
      code,
    })
  return ms
}

/** Date.parse rolls 30 February over into March, and takes hour 24. */
function isRealTime([year = 0, month = 0, day = 0, hour = 0]: number[]): boolean {
  const lastDay = new Date(Date.UTC(2000 + (year % 400), month, 0)).getUTCDate()
  return month >= 1 && month <= 12 && day >= 1 && day <= lastDay && hour <= 23
}
