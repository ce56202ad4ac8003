const DOTS = '•••'

/**
 * An address with its name hidden but for the first character, such as `g•••@example.com`: its owner
 * knows it again, and whoever reads along does not learn it. A name of one is hidden whole.
 */
export function partlyHidden(address: string): string {
  const at = address.lastIndexOf('@')
  const [first, ...others] = charactersOf(address.slice(0, at))
  return `${others.length > 0 ? first : ''}${DOTS}${address.slice(at)}`
}

/** As people see them: several code points may make one. */
const charactersOf = (text: string): string[] =>
  [...new Intl.Segmenter().segment(text)].map(({ segment }) => segment)
