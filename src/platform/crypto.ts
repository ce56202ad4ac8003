import { hash, randomBytes, randomInt, timingSafeEqual } from 'node:crypto'

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** SHA-256 as hexadecimal, for secrets that are only compared. */
export const sha256 = (text: string): string => hash('sha256', text, 'hex')

/** `length` random base62 characters, about 5.95 bits each. */
export function randomBase62(length: number): string {
  let text = ''
  while (text.length < length) text += unbiased(randomBytes(length)).slice(0, length - text.length)
  return text
}

/** Skips bytes from 248, which would make the first characters more likely than others. */
const unbiased = (bytes: Uint8Array): string =>
  Array.from(
    bytes.filter((byte) => byte < 248),
    (byte) => BASE62[byte % 62],
  ).join('')

/** `length` random digits, including leading zeros, for codes that users type. */
export const randomDigits = (length: number): string =>
  randomInt(10 ** length)
    .toString()
    .padStart(length, '0')

/** CRC-32 as six base62 characters, which distinguishes a mistyped secret from an unknown one. */
export function checkDigits(text: string): string {
  let rest = Bun.hash.crc32(text)
  let digits = ''
  for (let index = 0; index < 6; index++) {
    digits = BASE62[rest % 62] + digits
    rest = Math.floor(rest / 62)
  }
  return digits
}

const RANDOM_LENGTH = 37
const SECRET = /^[0-9A-Za-z]{43}$/

/** A secret for keys and tokens: 220 random bits and check digits. */
export function mintSecret(): string {
  const random = randomBase62(RANDOM_LENGTH)
  return random + checkDigits(random)
}

/** Whether a text has the form of such a secret; detects typing errors without a database query. */
export const isMinted = (text: string): boolean =>
  SECRET.test(text) && checkDigits(text.slice(0, RANDOM_LENGTH)) === text.slice(RANDOM_LENGTH)

/** Compares two texts in constant time. */
export const isSame = (a: string, b: string): boolean =>
  timingSafeEqual(hash('sha256', a, 'buffer'), hash('sha256', b, 'buffer'))
