import { fail, invalid } from '../../../platform/errors.ts'

const utf8 = new TextDecoder()

/**
 * The beginning of a body as text, whatever its type; null if it is empty. The rest is read up to
 * `limit` bytes and dropped; a longer body is not read to its end, because it must not fail a ping.
 */
export async function beginningOf(
  { body }: Request,
  { kept, limit }: { kept: number; limit: number },
): Promise<string | null> {
  if (body === null) return null
  const pieces: Uint8Array[] = []
  let size = 0
  try {
    for await (const piece of body) {
      if (size < kept) pieces.push(piece)
      size += piece.byteLength
      if (size > limit) break
    }
  } catch {
    fail(invalid('ended before it was complete', { field: 'body', rule: 'damaged' }))
  }
  const bytes = Buffer.concat(pieces).subarray(0, kept)
  return bytes.byteLength === 0 ? null : wholeCharacters(utf8.decode(bytes), size > kept)
}

/** Drops what is left of a character that was cut in half. */
const wholeCharacters = (text: string, isCut: boolean): string =>
  isCut ? text.replace(/\ufffd$/, '') : text
