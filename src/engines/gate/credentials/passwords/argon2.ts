import { unpadded } from './encoding.ts'
import {
  type Bounds,
  type ImportedHash,
  readHash,
  readSalt,
  refuse,
  within,
} from './imported-hash.ts'

const SHAPE = /^\$(argon2id?)\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([^$]+)\$([^$]+)$/

const MAX_KIB = 1024 ** 2
const PASSES: Bounds = [1, 10]
const MAX_LANES = 16

/** Argon2 requires eight blocks of 1 KiB per lane, and a minimum salt length. */
const MIN_BLOCKS = 8
const MIN_SALT_BYTES = 8

/** Memory times passes; about ten times the default cost. */
const HEAVY_KIB = 384 * 1024

/** argon2id and argon2i of version 19. Hashes made here may have more passes than imported ones. */
export function readArgon2(text: string, bounds = PASSES): ImportedHash {
  const [, name, memory, passes, lanes, salt, hash] = SHAPE.exec(text) ?? refuse(EXPECTED)
  const p = within('p of argon2', lanes as string, [1, MAX_LANES])
  const t = within('t of argon2', passes as string, bounds)
  const m = within('m of argon2 (KiB)', memory as string, [MIN_BLOCKS * p, MAX_KIB])
  const saltBytes = readSalt(salt as string)
  if (saltBytes.length < MIN_SALT_BYTES) refuse('must have a salt of at least 8 bytes for argon2')

  // Bun does not accept padding, which other tools write.
  const parts = [
    name,
    'v=19',
    `m=${m},t=${t},p=${p}`,
    ...[saltBytes, readHash(hash as string)].map(unpadded),
  ]
  const plain = `$${parts.join('$')}`
  const argon2Cost = m * t
  return {
    isHeavy: argon2Cost > HEAVY_KIB,
    argon2Cost,
    matches: (password) => Bun.password.verify(password, plain),
  }
}

const EXPECTED = 'must be argon2 of version 19 as $argon2id$v=19$m=…,t=…,p=…$salt$hash'
