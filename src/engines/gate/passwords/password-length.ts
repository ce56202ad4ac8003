import { invalid } from '../../../platform/errors.ts'

const MOST_CHARACTERS = 1024

/**
 * All that is asked of a password that a program sets for somebody: what people have chosen
 * elsewhere must get in. Characters are code points.
 */
export function checkPasswordLength(password: string, field: string): void {
  const isTooLong = password.length > MOST_CHARACTERS && [...password].length > MOST_CHARACTERS
  if (password === '' || isTooLong) {
    throw invalid(`must have 1 to ${MOST_CHARACTERS} characters`, {
      field,
      rule: password === '' ? 'required' : 'too_long',
    })
  }
}
