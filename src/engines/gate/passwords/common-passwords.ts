import { readFileSync } from 'node:fs'
import embedded from '../../../../node_modules/@zxcvbn-ts/language-common/src/passwords.json' with {
  type: 'file',
}
import { isPattern } from './patterns.ts'

/** The types see into the file, but imported as one it is a path. */
const listPath = embedded as unknown as string

/** No shorter password is allowed anywhere, so none is looked up. */
const SHORTEST = 8

/** What people hang on to a word when a digit and a sign are asked for, such as `2024!`. */
const LONGEST_ENDING = 5
const LETTER = /\p{L}/u

/** Signs and the letters that they are written for. A one is two of them. */
const SIGNS: Record<string, string> = { '@': 'a', 4: 'a', 3: 'e', 0: 'o', $: 's', 5: 's', 7: 't' }
const ONES = ['i', 'l']

/**
 * Whether a password, in small letters, is among those that are tried first: on the list of
 * common ones, or a plain pattern, or either with a few digits and signs at its end, as long as
 * eight characters are left without. Signs in place of letters do not help.
 *
 * The list is read at the first call and kept.
 */
export function isCommon(password: string): boolean {
  return beginnings(password).some(
    (beginning) => isPattern(beginning) || spellings(beginning).some((each) => list().has(each)),
  )
}

/** The whole, and what is left of it without endings of one to five characters. */
function beginnings(password: string): string[] {
  const characters = [...password]
  const found = [password]
  for (let ending = 1; ending <= LONGEST_ENDING; ending++) {
    const length = characters.length - ending
    if (length < SHORTEST || LETTER.test(characters[length] as string)) break
    found.push(characters.slice(0, length).join(''))
  }
  return found
}

const spellings = (text: string): string[] => [
  text,
  ...ONES.map((one) => text.replace(/[@430$571]/g, (sign) => SIGNS[sign] ?? one)),
]

let known: Set<string> | undefined

/** Some 18,000 passwords of those that leak most often, in small letters. */
function list(): Set<string> {
  known ??= new Set(
    (JSON.parse(readFileSync(listPath, 'utf8')) as string[]).filter(
      (password) => password.length >= SHORTEST,
    ),
  )
  return known
}
