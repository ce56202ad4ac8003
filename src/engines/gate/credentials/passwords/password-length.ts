import { invalid } from '../../../../platform/errors.ts'

const MAX_CHARACTERS = 1024

/**
 * The only rule for passwords set by a program, because passwords chosen in other systems have to be
 * accepted. Lengths are in code points.
 */
export function checkPasswordLength(password: string, field: string): void {
  const isTooLong = password.length > MAX_CHARACTERS && [...password].length > MAX_CHARACTERS
  if (password === '' || isTooLong) {
    throw invalid(`must have 1 to ${MAX_CHARACTERS} characters`, {
      field,
      rule: password === '' ? 'required' : 'too_long',
    })
  }
}
