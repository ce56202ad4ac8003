import { invalid } from '../../../platform/errors.ts'
import { decodeBase64 } from './encoding.ts'

/** A hash that was read and can be verified. */
export interface ImportedHash {
  /** It takes far more time or memory than usual: such are worked on one at a time. */
  isHeavy: boolean
  /** Memory in KiB times passes, of argon2 alone. */
  argon2Cost?: number
  /** Whether it is the hash of this password. Works beside the event loop. */
  matches(password: string): Promise<boolean>
}

/** The numbers between which something may be, both included. */
export type Bounds = readonly [least: number, most: number]

/** Shorter ones would be guessed without any password; longer ones nobody makes. */
const HASH_BYTES: Bounds = [16, 128]
const SALT_BYTES: Bounds = [4, 128]

/** Throws `invalid` for the hash. `problem` must not quote it: it would get into an answer. */
export function refuse(problem: string): never {
  throw invalid(problem, { field: 'credentials.password.config.hashed_password', rule: 'format' })
}

/** A number spelled as all tools do, without signs and leading zeros. */
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

/** The bytes themselves, for where text is used as a salt. */
export const readTextSalt = (text: string): Buffer =>
  ofLength('salt', Buffer.from(text), SALT_BYTES)

function ofLength(what: string, bytes: Buffer, [least, most]: Bounds): Buffer {
  if (bytes.length >= least && bytes.length <= most) return bytes
  return refuse(`must have a ${what} of ${least} to ${most} bytes, not ${bytes.length}`)
}

const range = (least: number, most: number) =>
  `from ${least.toLocaleString('en')} to ${most.toLocaleString('en')}`
