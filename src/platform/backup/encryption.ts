import { invalid } from '../errors.ts'
import type { Means } from './age.ts'

/** Ends the name of an encrypted archive. */
export const ENCRYPTED = '.age'

type Bytes = AsyncIterable<Uint8Array>

const age = () => import('./age.ts')

/** Makes a key pair of age: `recipient` (`age1…`) encrypts, and `identity` decrypts. */
export const newKeyPair = async () => (await age()).newKeyPair()

/** Encrypts to each of the recipients, which are public keys of age. */
export async function* encrypted(source: Bytes, recipients: readonly string[]): Bytes {
  yield* (await age()).encrypt(source, recipients)
}

/** What an archive contains, decrypted if it is encrypted. `identities` are private keys of age. */
export async function* decrypted(source: Bytes, identities: readonly string[]): Bytes {
  const chunks = source[Symbol.asyncIterator]()
  const beginning: Uint8Array[] = []
  for (let bytes = 0; bytes < MAGIC.length; ) {
    const { value, done } = await chunks.next()
    if (done) break
    beginning.push(value)
    bytes += value.length
  }
  const whole = rejoined(beginning, chunks)
  if (!isEncrypted(Buffer.concat(beginning))) yield* whole
  else if (identities.length > 0) yield* (await age()).decrypt(whole, identities)
  else
    throw invalid('the backup is encrypted. Name a file with the private key with --identity', {
      rule: 'required',
    })
}

/** Seals a short text, as base64. */
export const sealedText = async (text: string, means: Means): Promise<string> =>
  (await age()).sealText(text, means)

/** Opens what `sealedText` made. Throws `invalid` with other means. */
export const unsealedText = async (sealed: string, means: Means): Promise<string> =>
  (await age()).openText(sealed, means)

/** The first bytes of every file that age has encrypted. */
const MAGIC = Buffer.from('age-encryption.org/')

/** Whether a file that begins with these bytes is encrypted. */
export const isEncrypted = (beginning: Buffer): boolean =>
  beginning.subarray(0, MAGIC.length).equals(MAGIC)

async function* rejoined(beginning: Uint8Array[], rest: AsyncIterator<Uint8Array>): Bytes {
  yield* beginning
  yield* { [Symbol.asyncIterator]: () => rest }
}

/** The private keys in a file of `age-keygen`: one a line, among comments. Throws `invalid` if there are none. */
export function identitiesIn(text: string, file: string): string[] {
  const identities = text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => /^AGE-SECRET-KEY-\S+$/.test(line))
  if (identities.length > 0) return identities
  throw invalid(`${file} has no private key of age, which begins with AGE-SECRET-KEY-`, {
    rule: 'format',
  })
}
