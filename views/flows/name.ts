import { HEAPS, NAME_TRICKS } from '../../src/platform/tricks.ts'

/** Where names end, in characters as people count them. */
const LONGEST = 48
/** More than one character is made of is somebody's trick, and not worth looking at. */
const LONGEST_CHARACTER = 16

/** A tenant's name for one line of a page: nothing in it reaches beyond its place. */
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

/** The letter or digit that stands for the tenant, if the name has one. */
export const initialOf = (name: string): string | undefined =>
  charactersOf(shownName(name))
    .find((character) => /^[\p{L}\p{N}]/u.test(character))
    ?.toUpperCase()

const charactersOf = (text: string): string[] =>
  [...new Intl.Segmenter().segment(text)].map(({ segment }) => segment.slice(0, LONGEST_CHARACTER))
