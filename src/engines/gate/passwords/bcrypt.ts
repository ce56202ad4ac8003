import { type ImportedHash, refuse, within } from './imported-hash.ts'

/**
 * Salt and hash are 16 and 23 bytes in an alphabet of bcrypt's own. The last character of each
 * has bits to spare, which are zero in whatever verifies.
 */
const SHAPE = /^\$2[aby]\$(\d\d)\$[./A-Za-z\d]{21}[.Oeu][./A-Za-z\d]{30}[.CGKOSWaeimquy26]$/

/** Each step doubles the work: 16 takes some four seconds. */
const COSTS = [4, 16] as const
const HEAVY_COST = 13

/** bcrypt looks at so many bytes of a password and no further. */
const MOST_BYTES = 72

/** bcrypt as PHP, Python, Go, Node and htpasswd write it. */
export function readBcrypt(text: string): ImportedHash {
  const [, digits] = SHAPE.exec(text) ?? refuse(EXPECTED)
  const cost = within('the cost of bcrypt', (digits as string).replace(/^0/, ''), COSTS)
  return {
    isHeavy: cost > HEAVY_COST,
    // Bun would hash a longer password before it gets to bcrypt, which nobody else does.
    matches: (password) => Bun.password.verify(Buffer.from(password).subarray(0, MOST_BYTES), text),
  }
}

const EXPECTED = 'must be bcrypt as $2b$12$ and 53 characters, with $2a$ and $2y$ alike'
