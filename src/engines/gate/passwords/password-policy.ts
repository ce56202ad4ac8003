import { isCommon } from './common-passwords.ts'
import { isLike } from './likeness.ts'

const MOST_CHARACTERS = 1024

/** What is wrong with a password that somebody chose. Lengths are in characters. */
export type PolicyFailure =
  | { rule: 'too_short'; minLength: number; actual: number }
  | { rule: 'too_long'; maxLength: number; actual: number }
  | { rule: 'like_identifier' }
  | { rule: 'common' }

/**
 * The first rule that a password breaks which somebody chose for themselves; undefined for a good
 * one. Characters are code points of what was typed. `minLength` is at least 8. Nothing is asked
 * about kinds of characters (NIST SP 800-63B section 3.1.1.2): length and rarity are what counts.
 */
export function checkNewPassword(
  password: string,
  { identifier, minLength }: { identifier: string; minLength: number },
): PolicyFailure | undefined {
  const actual = [...password].length
  if (actual < minLength) return { rule: 'too_short', minLength, actual }
  if (actual > MOST_CHARACTERS) return { rule: 'too_long', maxLength: MOST_CHARACTERS, actual }

  const folded = fold(password)
  if (isLike(folded, fold(identifier))) return { rule: 'like_identifier' }
  return isCommon(folded) ? { rule: 'common' } : undefined
}

/** Without what one would not call a difference: case, and other forms of the same letter. */
const fold = (text: string): string => text.normalize('NFKC').toLowerCase()
