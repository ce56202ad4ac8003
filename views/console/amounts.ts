import { utcMinute } from './time.tsx'
import { numeral } from './words.ts'

/** An amount in currency units, such as `1,234.05`. Exact for any number of cents. */
export const money = (cents: number): string =>
  `${numeral(Math.floor(cents / 100))}.${`${cents % 100}`.padStart(2, '0')}`

/** An amount as typed in a form, without separators. */
export const amountOf = (cents: number | null): string =>
  cents === null ? '' : money(cents).replaceAll(',', '')

export const inUtc = (at: string, options: Intl.DateTimeFormatOptions): string =>
  new Date(at).toLocaleDateString('en-GB', { ...options, timeZone: 'UTC' })

export const monthName = (month: string): string =>
  inUtc(`${month}-01`, { month: 'long', year: 'numeric' })

export const momentOf = (at: string): string => utcMinute(Date.parse(at))

export const percentOf = (used: number, limit: number): number =>
  limit === 0 ? 100 : Math.floor((used / limit) * 100)

export const requestsInWords = (requests: number): string =>
  `${numeral(requests)} ${requests === 1 ? 'request' : 'requests'}`
