import { type ImportedHash, refuse, within } from './imported-hash.ts'

/** Salt and hash: 16 and 23 bytes in bcrypt's base64, whose unused last bits are always zero. */
const SHAPE = /^\$2[aby]\$(\d\d)\$[./A-Za-z\d]{21}[.Oeu][./A-Za-z\d]{30}[.CGKOSWaeimquy26]$/

/** Each step doubles the work; a cost of 16 takes about four seconds. */
const COSTS = [4, 16] as const
const HEAVY_COST = 13

/** bcrypt ignores everything after this many bytes of a password. */
const MAX_BYTES = 72

/** Reads bcrypt hashes as written by PHP, Python, Go, Node and htpasswd. */
export function readBcrypt(text: string): ImportedHash {
  const [, digits] = SHAPE.exec(text) ?? refuse(EXPECTED)
  const cost = within('the cost of bcrypt', (digits as string).replace(/^0/, ''), COSTS)
  return {
    isHeavy: cost > HEAVY_COST,
    // Unlike other implementations, Bun would hash a longer password before it applies bcrypt.
    matches: (password) => Bun.password.verify(Buffer.from(password).subarray(0, MAX_BYTES), text),
  }
}

const EXPECTED = 'must be bcrypt as $2b$12$ (or $2a$, $2y$) and 53 characters'
