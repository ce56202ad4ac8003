import { HEAPS, NAME_TRICKS } from '../../src/platform/tricks.ts'

/** Maximum length of a name, in grapheme clusters. */
const LONGEST = 48
/** Longer grapheme clusters are truncated, because they are not used in real names. */
const LONGEST_CHARACTER = 16

/** A tenant's name, made safe for one line of a page: it cannot affect the text around it. */
export function shownName(name: string): string {
  const tidy = name
    .slice(0, LONGEST * LONGEST_CHARACTER)
    .replaceAll(NAME_TRICKS, ' ')
    .replaceAll(HEAPS, '$1')
    .replaceAll(/\s+/g, ' ')
    .trim()
  const characters = charactersOf(tidy)
  if (characters.length <= LONGEST && name.length <= LONGEST * LONGEST_CHARACTER)
    return characters.join('') || '…'
  return `${characters.slice(0, LONGEST).join('').trimEnd()}…`
}

/** The first letter or digit of a name, if it has one. */
export const initialOf = (name: string): string | undefined =>
  charactersOf(shownName(name))
    .find((character) => /^[\p{L}\p{N}]/u.test(character))
    ?.toUpperCase()

const charactersOf = (text: string): string[] =>
  [...new Intl.Segmenter().segment(text)].map(({ segment }) => segment.slice(0, LONGEST_CHARACTER))
