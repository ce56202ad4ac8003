import { invalid } from '../../../../platform/errors.ts'
import { decodeBase64 } from './encoding.ts'

/** A parsed hash that can be verified. */
export interface ImportedHash {
  /** Whether it takes far more time or memory than usual; such hashes are checked one at a time. */
  isHeavy: boolean
  /** Memory in KiB times passes; argon2 only. */
  argon2Cost?: number
  /** Whether the hash matches the password. Runs outside the event loop. */
  matches(password: string): Promise<boolean>
}

/** An inclusive range. */
export type Bounds = readonly [least: number, most: number]

/** Shorter hashes could be guessed; longer ones are not made in practice. */
const HASH_BYTES: Bounds = [16, 128]
const SALT_BYTES: Bounds = [4, 128]

/** Rejects a hash. `problem` says what it must be, and never quotes the hash. */
export function refuse(problem: string): never {
  throw invalid(problem, { field: 'credentials.password.config.hashed_password', rule: 'format' })
}

/** A number as all tools write it: without signs or leading zeros. */
export function within(what: string, text: string, [least, most]: Bounds): number {
  const value = /^(?:0|[1-9]\d{0,14})$/.test(text) ? Number(text) : Number.NaN
  if (!(value >= least && value <= most))
    refuse(`must have a number ${range(least, most)} as ${what}`)
  return value
}

export const readHash = (text: string): Buffer => readBytes('hash', text, HASH_BYTES)

export const readSalt = (text: string): Buffer => readBytes('salt', text, SALT_BYTES)

function readBytes(what: string, text: string, bounds: Bounds): Buffer {
  const bytes =
    decodeBase64(text) ?? refuse(`must have a ${what} in base64; it may have been cut off`)
  return ofLength(what, bytes, bounds)
}

/** The bytes of a salt that is text. */
export const readTextSalt = (text: string): Buffer =>
  ofLength('salt', Buffer.from(text), SALT_BYTES)

function ofLength(what: string, bytes: Buffer, [least, most]: Bounds): Buffer {
  if (bytes.length >= least && bytes.length <= most) return bytes
  return refuse(`must have a ${what} of ${least} to ${most} bytes, not ${bytes.length}`)
}

const range = (least: number, most: number) =>
  `from ${least.toLocaleString('en')} to ${most.toLocaleString('en')}`
