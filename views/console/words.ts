/** A count for people. */
export const numeral = (count: number): string => count.toLocaleString('en')

/** Some of what there is, with its noun. */
export const counted = (count: number, one: string, many = `${one}s`): string =>
  `${numeral(count)} ${count === 1 ? one : many}`

/** Of what is counted no further than `most`. */
export const countedTo = (count: number, most: number): string =>
  count >= most ? `${numeral(most)} or more` : numeral(count)

/** As people list things. */
export const listed = (parts: readonly string[]): string =>
  parts.length < 2 ? (parts[0] ?? '') : `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)}`

/** Of an address, the first thing that tells it from another. */
export const withoutScheme = (address: string): string => address.replace(/^https?:\/\//, '')
