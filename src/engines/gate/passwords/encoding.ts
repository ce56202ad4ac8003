/** Base64 as PHC strings have it: the standard alphabet without padding. */
export const unpadded = (bytes: Uint8Array): string =>
  Buffer.from(bytes).toString('base64').replace(/=+$/, '')

/**
 * The bytes of base64 without padding, or with all of it. Undefined for everything else, spare
 * bits that are not zero included: those are typing mistakes and cut ends.
 */
export function decodeBase64(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64')
  const padded = bytes.toString('base64')
  return text === padded || text === unpadded(bytes) ? bytes : undefined
}
