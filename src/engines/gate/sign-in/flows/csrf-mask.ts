import { randomBytes } from 'node:crypto'

/** Bytes of a CSRF token. */
const LENGTH = 32

/**
 * A CSRF token for one response: a random mask, and the token combined with it. Pages are compressed,
 * and from many sizes of pages with the same token, a listener could learn the token (BREACH).
 */
export function masked(token: string): string {
  const mask = randomBytes(LENGTH)
  return mask.toString('hex') + combined(mask, Buffer.from(token, 'hex'))
}

/** The token in a masked one. A token without a mask is returned as it is. */
export function unmasked(given: string): string {
  if (!MASKED.test(given)) return given
  const bytes = Buffer.from(given, 'hex')
  return combined(bytes.subarray(0, LENGTH), bytes.subarray(LENGTH))
}

const MASKED = new RegExp(`^[0-9a-f]{${4 * LENGTH}}$`)

const combined = (one: Buffer, other: Buffer): string =>
  Buffer.from(one.map((byte, at) => byte ^ (other[at] ?? 0))).toString('hex')
