/** How the page of usage writes numbers, amounts and days. */
export const count = (amount: number): string => amount.toLocaleString('en')

/** `1,234.05`: exact, for as many cents as there may be. */
export const money = (cents: number): string =>
  `${count(Math.floor(cents / 100))}.${`${cents % 100}`.padStart(2, '0')}`

/** The same as people type it. */
export const amountOf = (cents: number | null): string =>
  cents === null ? '' : money(cents).replaceAll(',', '')

export const inUtc = (at: string, options: Intl.DateTimeFormatOptions): string =>
  new Date(at).toLocaleDateString('en-GB', { ...options, timeZone: 'UTC' })

export const monthName = (month: string): string =>
  inUtc(`${month}-01`, { month: 'long', year: 'numeric' })

export const dateOf = (at: string): string =>
  inUtc(at, { day: 'numeric', month: 'short', year: 'numeric' })

export const percentOf = (used: number, limit: number): number =>
  limit === 0 ? 100 : Math.floor((used / limit) * 100)

export const requestsInWords = (requests: number): string =>
  `${count(requests)} ${requests === 1 ? 'request' : 'requests'}`
