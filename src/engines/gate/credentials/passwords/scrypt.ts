import { type BinaryLike, type ScryptOptions, scrypt, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'
import { type ImportedHash, readHash, readSalt, refuse, within } from './imported-hash.ts'

const SHAPE = /^\$scrypt\$ln=(\d+),r=(\d+),p=(\d+)\$([^$]+)\$([^$]+)$/

const MAX_LN = 17
const MAX_N = 2 ** MAX_LN

/** Greater than any logarithm of N, and smaller than any N in use. */
const MIN_N = 32

/** N times r times p; each unit stands for 128 bytes to write and to read again. */
const HEAVY_BLOCKS = 2 ** 20

const derive: (
  password: BinaryLike,
  salt: BinaryLike,
  length: number,
  options: ScryptOptions,
) => Promise<Buffer> = promisify(scrypt)

/** Reads scrypt hashes in PHC format, as written by passlib and by Kratos. */
export function readScrypt(text: string): ImportedHash {
  const [, ln, blocks, lanes, salt, hash] = SHAPE.exec(text) ?? refuse(EXPECTED)
  const N = readN(ln as string)
  const r = within('r of scrypt', blocks as string, [1, 8])
  const p = within('p of scrypt', lanes as string, [1, 10])
  const saltBytes = readSalt(salt as string)
  const expected = readHash(hash as string)
  const options = { N, r, p, maxmem: 256 * r * (N + p) }

  return {
    isHeavy: N * r * p > HEAVY_BLOCKS,
    matches: async (password) =>
      timingSafeEqual(await derive(password, saltBytes, expected.length, options), expected),
  }
}

/** Kratos writes N, not its logarithm: 2^32 would take terabytes, and N below 32 is too weak. */
function readN(text: string): number {
  if (Number(text) < MIN_N) return 2 ** within('ln of scrypt', text, [1, MAX_LN])
  const N = within('ln of scrypt, taken for N', text, [MIN_N, MAX_N])
  return Number.isInteger(Math.log2(N)) ? N : refuse('must have a power of two as N of scrypt')
}

const EXPECTED = 'must be scrypt as $scrypt$ln=…,r=…,p=…$salt$hash'
