const DOTS = '•••'

/** Such as `g•••@example.com`, which only the owner recognizes. Masks a lone character as well. */
export function partlyHidden(address: string): string {
  const at = address.lastIndexOf('@')
  const [first, ...others] = charactersOf(address.slice(0, at))
  return `${others.length > 0 ? first : ''}${DOTS}${address.slice(at)}`
}

/** Grapheme clusters: one visible character may consist of several code points. */
const charactersOf = (text: string): string[] =>
  [...new Intl.Segmenter().segment(text)].map(({ segment }) => segment)
