import { randomBytes } from 'node:crypto'

/** Crockford's base32, without look-alikes. As 32 divides 256, all are equally likely. */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'

/** Maps characters to the ones they are often mistaken for. */
const LOOK_ALIKES: Record<string, string> = { o: '0', i: '1', l: '1', u: 'v' }

const HOW_MANY = 10

/** 40 bits: safe from guessing under a rate limit, but not in an unkeyed, fast hash. */
const CHARACTERS = 8

const RECOVERY_CODE = new RegExp(`^[${ALPHABET}]{${CHARACTERS}}$`)

/** Allows for eight characters plus separators. */
const MAX_TYPED_LENGTH = 64

/** Each is valid once. This form, which `normaliseRecoveryCode` yields, is hashed with a key. */
export const newRecoveryCodes = (): string[] => Array.from({ length: HOW_MANY }, newRecoveryCode)

const newRecoveryCode = (): string =>
  Array.from(randomBytes(CHARACTERS), (byte) => ALPHABET[byte % ALPHABET.length]).join('')

/** The display format, easier to type: `xxxx-xxxx`. */
export const shownRecoveryCode = (code: string): string => `${code.slice(0, 4)}-${code.slice(4)}`

/** Ignores case, spaces, dashes and look-alikes. Undefined if it is not a valid code. */
export function normaliseRecoveryCode(typed: string): string | undefined {
  if (typed.length > MAX_TYPED_LENGTH) return undefined
  const code = typed
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[\s\p{Pd}−_]/gu, '')
    .replace(/[oilu]/g, (letter) => LOOK_ALIKES[letter] as string)
  return RECOVERY_CODE.test(code) ? code : undefined
}
