import embedded from '../../../../../node_modules/@zxcvbn-ts/language-common/src/passwords.json' with {
  type: 'file',
}
import { readEmbedded } from '../../../../platform/embedded.ts'
import { isPattern } from './patterns.ts'

/** The types describe the content of the file, but the import is its path. */
const listPath = embedded as unknown as string

/** No shorter password is allowed, so shorter ones are not looked up. */
const MIN_LENGTH = 8

/** Suffixes such as `2024!`, which people append to satisfy rules on digits and signs. */
const MAX_SUFFIX_LENGTH = 5
const LETTER = /\p{L}/u

/** Digits and signs with the letters they replace. A one replaces two letters. */
const SIGNS: Record<string, string> = { '@': 'a', 4: 'a', 3: 'e', 0: 'o', $: 's', 5: 's', 7: 't' }
const ONES = ['i', 'l']

/**
 * Whether a lower-case password is among the first to be guessed: on the list of common passwords,
 * a simple pattern, or either with a few digits and signs appended, as long as at least eight
 * characters remain without them. Replacing letters with signs does not help. The list is read on
 * the first call and cached.
 */
export function isCommon(password: string): boolean {
  return beginnings(password).some(
    (beginning) => isPattern(beginning) || spellings(beginning).some((each) => list().has(each)),
  )
}

/** The password, and the password without suffixes of one to five characters. */
function beginnings(password: string): string[] {
  const characters = [...password]
  const found = [password]
  for (let suffix = 1; suffix <= MAX_SUFFIX_LENGTH; suffix++) {
    const length = characters.length - suffix
    if (length < MIN_LENGTH || LETTER.test(characters[length] as string)) break
    found.push(characters.slice(0, length).join(''))
  }
  return found
}

const spellings = (text: string): string[] => [
  text,
  ...ONES.map((one) => text.replace(/[@430$571]/g, (sign) => SIGNS[sign] ?? one)),
]

let known: Set<string> | undefined

/** About 18,000 of the most frequently leaked passwords, in lower case. */
function list(): Set<string> {
  known ??= new Set(
    (JSON.parse(new TextDecoder().decode(readEmbedded(listPath))) as string[]).filter(
      (password) => password.length >= MIN_LENGTH,
    ),
  )
  return known
}
