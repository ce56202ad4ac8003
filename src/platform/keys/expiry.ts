import { isoTime } from '../clock.ts'
import { DAY_MS } from '../durations.ts'
import { invalid } from '../errors.ts'
import { momentIn, UTC } from '../time-zone.ts'
import type { Expiry } from './checked.ts'

const DATE = /^\d{4}-\d\d-\d\d$/

/** The expiry at the end of a day such as `2027-01-31` in a zone. Throws `invalid` for another text. */
export function endOfDay(date: string, zone = UTC): Expiry {
  const start = DATE.test(date) ? Date.parse(`${date}T00:00:00Z`) : Number.NaN
  // `Date.parse` turns 30 February into a day in March.
  if (Number.isNaN(start) || !isoTime(start).startsWith(date))
    throw invalid('must be a date such as 2027-01-31', { field: 'expires', rule: 'format' })
  return { at: momentIn(isoTime(start + DAY_MS).slice(0, 16), zone) }
}
