import { isoTime } from '../clock.ts'
import { DAY_MS } from '../durations.ts'
import { invalid } from '../errors.ts'
import { momentIn, UTC } from '../time-zone.ts'
import { parseTimestamp } from '../timestamp.ts'
import type { Expiry } from './checked.ts'

const DATE = /^\d{4}-\d\d-\d\d$/

/** The expiry at the end of a day such as `2027-01-31` in a zone. Throws `invalid` for another text. */
export function endOfDay(date: string, zone = UTC): Expiry {
  if (!DATE.test(date))
    throw invalid('must be a date such as 2027-01-31', { field: 'expires', rule: 'format' })
  const nextDay = isoTime(parseTimestamp(`${date}T00:00:00Z`, 'expires') + DAY_MS)
  return { at: momentIn(nextDay.slice(0, 16), zone) }
}
