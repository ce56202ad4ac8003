/** Base64 as in PHC strings: the standard alphabet without padding. */
export const unpadded = (bytes: Uint8Array): string =>
  Buffer.from(bytes).toString('base64').replace(/=+$/, '')

/** Accepts full or no padding. Undefined otherwise and for set unused bits, a sign of typos. */
export function decodeBase64(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64')
  const padded = bytes.toString('base64')
  return text === padded || text === unpadded(bytes) ? bytes : undefined
}
