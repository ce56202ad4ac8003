import { HEAPS, UNSAFE_IN_NAME } from '../../src/platform/unsafe-characters.ts'

/** Maximum length of a name, in grapheme clusters. */
const MAX_LENGTH = 48
/** Longer grapheme clusters are truncated, because they are not used in real names. */
const MAX_CHARACTER_LENGTH = 16

/** A tenant's name, made safe for one line of a page: it cannot affect the text around it. */
export function shownName(name: string): string {
  const tidy = name
    .slice(0, MAX_LENGTH * MAX_CHARACTER_LENGTH)
    .replaceAll(UNSAFE_IN_NAME, ' ')
    .replaceAll(HEAPS, '$1')
    .replaceAll(/\s+/g, ' ')
    .trim()
  const characters = charactersOf(tidy)
  if (characters.length <= MAX_LENGTH && name.length <= MAX_LENGTH * MAX_CHARACTER_LENGTH)
    return characters.join('') || '…'
  return `${characters.slice(0, MAX_LENGTH).join('').trimEnd()}…`
}

/** The first letter or digit of a name, if it has one. */
export const initialOf = (name: string): string | undefined =>
  charactersOf(shownName(name))
    .find((character) => /^[\p{L}\p{N}]/u.test(character))
    ?.toUpperCase()

const charactersOf = (text: string): string[] =>
  [...new Intl.Segmenter().segment(text)].map(({ segment }) =>
    segment.slice(0, MAX_CHARACTER_LENGTH),
  )
