/** A number with thousands separators. Small counts need none, nor the locale data behind them. */
export const numeral = (count: number): string =>
  Number.isInteger(count) && count >= 0 && count < 1000 ? `${count}` : count.toLocaleString('en')

/** A count with its noun, such as "3 jobs". */
export const counted = (count: number, one: string, many = `${one}s`): string =>
  `${numeral(count)} ${count === 1 ? one : many}`

/** A count that is only known up to `most`. */
export const countedTo = (count: number, most: number): string =>
  count >= most ? `${numeral(most)} or more` : numeral(count)

/** The same, where there is little room: "1,000+". */
export const shortCount = (count: number, most: number): string =>
  count >= most ? `${numeral(most)}+` : numeral(count)

/** Text with a capital first letter. */
export const capitalized = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

/** Joins parts with commas and "and". */
export const listed = (parts: readonly string[]): string =>
  parts.length < 2 ? (parts[0] ?? '') : `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)}`

/** An address without `http://` or `https://`. */
export const withoutScheme = (address: string): string => address.replace(/^https?:\/\//, '')

const UNITS = ['B', 'KB', 'MB', 'GB', 'TB'] as const

/** A size in B, KB, MB, GB or TB. */
export function bytes(count: number): string {
  const power = Math.min(UNITS.length - 1, Math.floor(Math.log10(Math.max(count, 1)) / 3))
  const value = count / 1000 ** power
  return `${value.toFixed(power === 0 || value >= 100 ? 0 : 1)} ${UNITS[power]}`
}

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

export const percentOf = (used: number, limit: number): number =>
  limit === 0 ? 100 : Math.floor((used / limit) * 100)

export const requestsInWords = (requests: number): string =>
  `${numeral(requests)} ${requests === 1 ? 'request' : 'requests'}`
