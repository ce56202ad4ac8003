import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  hkdfSync,
  type KeyObject,
  randomBytes,
} from 'node:crypto'
import type { MasterKey } from './master-key.ts'

/** A secret cannot be sealed or opened. Says where and why, never what it is. */
export class SealError extends Error {
  override name = 'SealError'
}

export type Sealing = ReturnType<typeof createSealing>

const VERSION = 's1'
const CIPHER = 'aes-256-gcm'
const NONCE_BYTES = 12
const TAG_BYTES = 16
const OPTIONS = { authTagLength: TAG_BYTES }

/** Version, id of the master key, and base64url of nonce, ciphertext and tag. */
const SEALED = /^s1\.([0-9a-f]{12})\.([\w-]+)$/

/**
 * Keeps secrets that have to be read back, such as those that sign webhooks. Each purpose has a
 * key of its own. A sealed text opens only at its place, which names table, row and column: who
 * can write to the database cannot have the secret of another tenant used in a row of theirs.
 */
export function createSealing(masterKey: MasterKey) {
  const keys = new Map<string, KeyObject>()

  function keyFor(purpose: string): KeyObject {
    const key = keys.get(purpose) ?? derive(masterKey, purpose)
    keys.set(purpose, key)
    return key
  }

  const context = (purpose: string, place: string) => encode(VERSION, masterKey.id, purpose, place)

  /** Different each time, so that equal secrets do not look alike. */
  function seal(purpose: string, place: string, text: string): string {
    if (!text.isWellFormed())
      throw new SealError(`what is to be sealed for ${place} is not Unicode`)
    const nonce = randomBytes(NONCE_BYTES)
    const cipher = createCipheriv(CIPHER, keyFor(purpose), nonce, OPTIONS)
    cipher.setAAD(context(purpose, place))
    const parts = [nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]
    return `${VERSION}.${masterKey.id}.${Buffer.concat(parts).toString('base64url')}`
  }

  function open(purpose: string, place: string, sealed: string): string {
    const { keyId, bytes } = parse(sealed, place)
    if (keyId !== masterKey.id)
      throw new SealError(
        `${place} was sealed with master key ${keyId} and the one in use is ${masterKey.id}: ` +
          'put back the master.key it was sealed with',
      )
    const [nonce, ciphertext, tag] = split(bytes)
    const decipher = createDecipheriv(CIPHER, keyFor(purpose), nonce, OPTIONS)
    decipher.setAAD(context(purpose, place))
    decipher.setAuthTag(tag)
    const text = decipher.update(ciphertext)
    try {
      return Buffer.concat([text, decipher.final()]).toString('utf8')
    } catch {
      throw new SealError(`${place} holds what was sealed for another place, or was changed since`)
    }
  }

  /**
   * A fingerprint that only this key can make, hexadecimal: for what is too short for a plain hash
   * to hide, such as six digits.
   */
  const fingerprint = (purpose: string, text: string): string =>
    createHmac('sha256', keyFor(`${purpose} fingerprint`))
      .update(text)
      .digest('hex')

  return { seal, open, fingerprint }
}

const derive = ({ secret }: MasterKey, purpose: string): KeyObject =>
  createSecretKey(
    Buffer.from(hkdfSync('sha256', secret, '', encode('gatehouse', VERSION, purpose), 32)),
  )

/** JSON keeps the parts apart, whatever characters are in them. */
const encode = (...parts: string[]): Buffer => Buffer.from(JSON.stringify(parts))

/** The decoder overlooks what is not base64; only the one spelling that `seal` writes passes. */
function parse(sealed: string, place: string): { keyId: string; bytes: Buffer } {
  const [, keyId = '', body = ''] = SEALED.exec(sealed) ?? []
  const bytes = Buffer.from(body, 'base64url')
  if (bytes.length < NONCE_BYTES + TAG_BYTES || bytes.toString('base64url') !== body)
    throw new SealError(`${place} does not hold a sealed text`)
  return { keyId, bytes }
}

const split = (bytes: Buffer) =>
  [
    bytes.subarray(0, NONCE_BYTES),
    bytes.subarray(NONCE_BYTES, -TAG_BYTES),
    bytes.subarray(-TAG_BYTES),
  ] as const
