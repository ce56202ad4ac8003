import { readArgon2 } from './argon2.ts'
import { readBcrypt } from './bcrypt.ts'
import { type ImportedHash, refuse } from './imported-hash.ts'
import { readPbkdf2 } from './pbkdf2.ts'
import { readScrypt } from './scrypt.ts'

export type { ImportedHash } from './imported-hash.ts'

/** Prefixes of hash formats, with the function that reads them. */
const FORMATS: readonly (readonly [RegExp, (text: string) => ImportedHash])[] = [
  [/^\$argon2id?\$/, (text) => readArgon2(text)],
  [/^\$2[aby]\$/, readBcrypt],
  [/^\$scrypt\$/, readScrypt],
  [/^(?:\$pbkdf2[-$]|pbkdf2_)/, readPbkdf2],
]

/** Maximum length of a hash, checked before any pattern is matched. */
const MAX_CHARACTERS = 512

/**
 * Reads a password hash of any supported format. Throws `invalid` for a hash that cannot be
 * verified or is too costly, naming the accepted formats without repeating the hash.
 */
export function parseHash(text: string): ImportedHash {
  if (text.length > MAX_CHARACTERS) refuse(`must have at most ${MAX_CHARACTERS} characters`)
  const [, read] = FORMATS.find(([start]) => start.test(text)) ?? refuse(EXPECTED)
  return read(text)
}

const EXPECTED =
  'must be a hash of argon2id, argon2i, bcrypt ($2a$, $2b$ or $2y$), scrypt, or PBKDF2 over ' +
  'sha1, sha256 or sha512'
