import { readArgon2 } from './argon2.ts'
import { readBcrypt } from './bcrypt.ts'
import { type ImportedHash, refuse } from './imported-hash.ts'
import { readPbkdf2 } from './pbkdf2.ts'
import { readScrypt } from './scrypt.ts'

export type { ImportedHash } from './imported-hash.ts'

/** How a hash begins, and who reads it on from there. */
const FORMATS: readonly (readonly [RegExp, (text: string) => ImportedHash])[] = [
  [/^\$argon2id?\$/, (text) => readArgon2(text)],
  [/^\$2[aby]\$/, readBcrypt],
  [/^\$scrypt\$/, readScrypt],
  [/^(?:\$pbkdf2[-$]|pbkdf2_)/, readPbkdf2],
]

/** No accepted hash is longer; looked at first, so that nothing is searched for in a megabyte. */
const MOST_CHARACTERS = 512

/**
 * Reads a password hash, wherever it was made. Throws `invalid` for what could never be verified
 * or would cost too much to, and says what is accepted without repeating any of it.
 */
export function parseHash(text: string): ImportedHash {
  if (text.length > MOST_CHARACTERS) refuse(`must have at most ${MOST_CHARACTERS} characters`)
  const [, read] = FORMATS.find(([start]) => start.test(text)) ?? refuse(EXPECTED)
  return read(text)
}

const EXPECTED =
  'must be a hash of argon2id, argon2i, bcrypt ($2a$, $2b$ or $2y$), scrypt, or PBKDF2 over ' +
  'sha1, sha256 or sha512'
