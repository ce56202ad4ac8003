import { isCommon } from './common-passwords.ts'
import { isLike } from './likeness.ts'

const MAX_CHARACTERS = 1024

/** The rule that a chosen password breaks. Lengths are in characters. */
export type PolicyFailure =
  | { rule: 'too_short'; minLength: number; actual: number }
  | { rule: 'too_long'; maxLength: number; actual: number }
  | { rule: 'like_identifier' }
  | { rule: 'common' }

/**
 * The first rule that a password breaks, if any. Characters are code points; `minLength` is at
 * least 8. No character classes (NIST SP 800-63B section 3.1.1.2): length and rarity matter.
 */
export function checkNewPassword(
  password: string,
  { identifier, minLength }: { identifier: string; minLength: number },
): PolicyFailure | undefined {
  const actual = [...password].length
  if (actual < minLength) return { rule: 'too_short', minLength, actual }
  if (actual > MAX_CHARACTERS) return { rule: 'too_long', maxLength: MAX_CHARACTERS, actual }

  const folded = fold(password)
  if (isLike(folded, fold(identifier))) return { rule: 'like_identifier' }
  return isCommon(folded) ? { rule: 'common' } : undefined
}

/** Ignores differences that people do not notice: case, and compatible forms of a letter. */
const fold = (text: string): string => text.normalize('NFKC').toLowerCase()
