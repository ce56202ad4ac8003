import { randomBytes } from 'node:crypto'

/**
 * Crockford's base32: of letters and digits that look alike it has one each. Its 32 characters
 * divide the 256 values of a byte evenly, so none is likelier than another.
 */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'

/** What is read where another of them was meant. */
const LOOK_ALIKES: Record<string, string> = { o: '0', i: '1', l: '1', u: 'v' }

const HOW_MANY = 10

/**
 * Five bits each, 40 in all: beyond those who guess under a rate limit, but not beyond those who
 * have a fast hash of one and no key to it.
 */
const CHARACTERS = 8

const RECOVERY_CODE = new RegExp(`^[${ALPHABET}]{${CHARACTERS}}$`)

/** Enough for eight characters and all that people put between them. */
const LONGEST_TYPED = 64

/**
 * Ten codes that each stand in for an authenticator once, as eight characters: the form that is
 * hashed, with a key, and that `normaliseRecoveryCode` brings typed ones into.
 */
export const newRecoveryCodes = (): string[] => Array.from({ length: HOW_MANY }, newRecoveryCode)

const newRecoveryCode = (): string =>
  Array.from(randomBytes(CHARACTERS), (byte) => ALPHABET[byte % ALPHABET.length]).join('')

/** As it is easiest to copy by hand: `xxxx-xxxx`. */
export const shownRecoveryCode = (code: string): string => `${code.slice(0, 4)}-${code.slice(4)}`

/**
 * The eight characters of a recovery code, however it was typed: in capitals, with blanks or
 * dashes anywhere, with the letter for the digit. Undefined for what cannot be one.
 */
export function normaliseRecoveryCode(typed: string): string | undefined {
  if (typed.length > LONGEST_TYPED) return undefined
  const code = typed
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[\s\p{Pd}−_]/gu, '')
    .replace(/[oilu]/g, (letter) => LOOK_ALIKES[letter] as string)
  return RECOVERY_CODE.test(code) ? code : undefined
}
