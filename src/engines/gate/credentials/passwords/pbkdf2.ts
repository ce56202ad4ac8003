import { pbkdf2, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'
import {
  type ImportedHash,
  readHash,
  readSalt,
  readTextSalt,
  refuse,
  within,
} from './imported-hash.ts'

/** The format of Kratos and PHC libraries; `l`, the length of the hash, is optional. */
const PHC = /^\$pbkdf2-(sha1|sha256|sha512)\$i=(\d+)(?:,l=(\d+))?\$([^$]+)\$([^$]+)$/

/** The format of passlib: base64 with a dot instead of the plus, and SHA-1 implied. */
const PASSLIB = /^\$pbkdf2(?:-(sha256|sha512))?\$(\d+)\$([^$]+)\$([^$]+)$/

/** The format of Django, with a text salt. */
const DJANGO = /^pbkdf2_(sha1|sha256|sha512)\$(\d+)\$([^$]+)\$([^$]+)$/

const DIGEST_BYTES = { sha1: 20, sha256: 32, sha512: 64 }
type Digest = keyof typeof DIGEST_BYTES

const MAX_ROUNDS = 10_000_000
const HEAVY_ROUNDS = 2_000_000

const derive = promisify(pbkdf2)

/** Reads PBKDF2 hashes with SHA-1, SHA-256 or SHA-512 in any of three formats. */
export const readPbkdf2 = (text: string): ImportedHash =>
  readPhc(text) ?? readPasslib(text) ?? readDjango(text) ?? refuse(EXPECTED)

function readPhc(text: string): ImportedHash | undefined {
  const [, digest, iterations, length, salt, hash] = PHC.exec(text) ?? []
  if (digest === undefined) return undefined
  const expected = readHash(hash as string)
  if (length !== undefined && Number(length) !== expected.length) {
    refuse(`must have the length of the hash as l of PBKDF2, ${expected.length} bytes`)
  }
  return checked(digest as Digest, iterations as string, readSalt(salt as string), expected)
}

function readPasslib(text: string): ImportedHash | undefined {
  const [, digest = 'sha1', iterations, salt, hash] = PASSLIB.exec(text) ?? []
  if (iterations === undefined) return undefined
  const plus = (part: string) => part.replaceAll('.', '+')
  const expected = readHash(plus(hash as string))
  return checked(digest as Digest, iterations, readSalt(plus(salt as string)), expected)
}

function readDjango(text: string): ImportedHash | undefined {
  const [, digest, iterations, salt, hash] = DJANGO.exec(text) ?? []
  if (digest === undefined) return undefined
  const expected = readHash(hash as string)
  return checked(digest as Digest, iterations as string, readTextSalt(salt as string), expected)
}

function checked(digest: Digest, text: string, salt: Buffer, expected: Buffer): ImportedHash {
  const iterations = within('the iterations of PBKDF2', text, [1, MAX_ROUNDS])
  const rounds = iterations * Math.ceil(expected.length / DIGEST_BYTES[digest])
  // All iterations are repeated for each digest length of the hash.
  if (rounds > MAX_ROUNDS) refuse('must have fewer PBKDF2 iterations for a hash of this length')
  return {
    isHeavy: rounds > HEAVY_ROUNDS,
    matches: async (password) =>
      timingSafeEqual(await derive(password, salt, iterations, expected.length, digest), expected),
  }
}

const EXPECTED =
  'must be PBKDF2 over sha1, sha256 or sha512 as $pbkdf2-sha256$i=…,l=…$salt$hash, ' +
  '$pbkdf2-sha256$…$salt$hash or pbkdf2_sha256$…$salt$hash'
