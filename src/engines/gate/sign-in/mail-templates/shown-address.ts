const DOTS = '•••'

/**
 * An address with its local part masked after the first character, such as `g•••@example.com`. The
 * owner recognizes it; other readers of the mail do not learn it. A local part of one character is
 * masked completely.
 */
export function partlyHidden(address: string): string {
  const at = address.lastIndexOf('@')
  const [first, ...others] = charactersOf(address.slice(0, at))
  return `${others.length > 0 ? first : ''}${DOTS}${address.slice(at)}`
}

/** Grapheme clusters: one visible character may consist of several code points. */
const charactersOf = (text: string): string[] =>
  [...new Intl.Segmenter().segment(text)].map(({ segment }) => segment)
