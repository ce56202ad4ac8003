import { hash, randomBytes } from 'node:crypto'

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** SHA-256 as hexadecimal: for secrets that only ever need to be compared. */
export const sha256 = (text: string): string => hash('sha256', text, 'hex')

/** `length` random base62 characters, about 5.95 bits each. */
export function randomBase62(length: number): string {
  let text = ''
  while (text.length < length) text += unbiased(randomBytes(length)).slice(0, length - text.length)
  return text
}

/** Bytes from 248 up would make the first characters likelier than the rest. */
const unbiased = (bytes: Uint8Array): string =>
  Array.from(
    bytes.filter((byte) => byte < 248),
    (byte) => BASE62[byte % 62],
  ).join('')

/** CRC-32 in six base62 characters: tells a mistyped secret from an unknown one. */
export function checkDigits(text: string): string {
  let rest = Bun.hash.crc32(text)
  let digits = ''
  for (let place = 0; place < 6; place++) {
    digits = BASE62[rest % 62] + digits
    rest = Math.floor(rest / 62)
  }
  return digits
}
