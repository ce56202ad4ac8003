import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  hkdfSync,
  type KeyObject,
  randomBytes,
} from 'node:crypto'
import { fingerprintKey as keptKey } from './fingerprint-keys.ts'
import type { FingerprintPurpose } from './fingerprint-purposes.ts'
import type { MasterKey } from './key-file.ts'
import type { KeyRing } from './key-ring.ts'

/** A secret could not be sealed or opened. The message names the row and the reason, never the secret. */
export class SealError extends Error {
  override name = 'SealError'
}

export type Sealing = ReturnType<typeof createSealing>

const VERSION = 's1'
const CIPHER = 'aes-256-gcm'
const NONCE_BYTES = 12
const TAG_BYTES = 16
const OPTIONS = { authTagLength: TAG_BYTES }

/** The version, the id of the master key, and base64url of nonce, ciphertext and tag. */
const SEALED = /^s1\.([0-9a-f]{12})\.([\w-]+)$/

/**
 * Encrypts secrets that have to be read back, such as webhook signing secrets, with AES-256-GCM and
 * a different key for each purpose. A sealed text can be opened only with the `boundTo` it was sealed with, which names
 * table, row and column: an attacker who can write to the database can't move the secret of another
 * tenant into their own row.
 */
export function createSealing(ring: KeyRing) {
  const keys = new Map<string, KeyObject>()
  const fingerprintKeys = new Map<FingerprintPurpose, KeyObject>()

  function keyFor(master: MasterKey, purpose: string): KeyObject {
    const name = `${master.id} ${purpose}`
    const key = keys.get(name) ?? createSecretKey(derive(master, purpose))
    keys.set(name, key)
    return key
  }

  /** Encrypts a text with a random nonce, so that equal secrets have different ciphertexts. */
  function seal(purpose: string, boundTo: string, text: string): string {
    if (!text.isWellFormed())
      throw new SealError(`cannot seal ${boundTo}: the text is not valid Unicode`)
    const master = ring.primary()
    const nonce = randomBytes(NONCE_BYTES)
    const cipher = createCipheriv(CIPHER, keyFor(master, purpose), nonce, OPTIONS)
    cipher.setAAD(context(master, purpose, boundTo))
    const parts = [nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]
    return `${sealedBy(master.id)}${Buffer.concat(parts).toString('base64url')}`
  }

  function open(purpose: string, boundTo: string, sealed: string): string {
    const { keyId, bytes } = parse(sealed, boundTo)
    const master = ring.find(keyId)
    if (!master)
      throw new SealError(
        `${boundTo} was sealed with master key ${keyId}, but the current key is ${ring.primary().id}. ` +
          'Restore the master.key that it was sealed with',
      )
    const [nonce, ciphertext, tag] = split(bytes)
    const decipher = createDecipheriv(CIPHER, keyFor(master, purpose), nonce, OPTIONS)
    decipher.setAAD(context(master, purpose, boundTo))
    decipher.setAuthTag(tag)
    const text = decipher.update(ciphertext)
    try {
      return Buffer.concat([text, decipher.final()]).toString('utf8')
    } catch {
      throw new SealError(`${boundTo} was modified, or copied from another row or column`)
    }
  }

  /** A keyed hash (hexadecimal) for values too short for a plain one; rotations don't change it. */
  const fingerprint = (purpose: FingerprintPurpose, text: string): string =>
    createHmac('sha256', fingerprintKeyFor(purpose)).update(text).digest('hex')

  function fingerprintKeyFor(purpose: FingerprintPurpose): KeyObject {
    const known = fingerprintKeys.get(purpose)
    if (known) return known
    const key = createSecretKey(keptFingerprintKey(purpose))
    fingerprintKeys.set(purpose, key)
    return key
  }

  /** Reads the master key first: if it was rotated, the stored fingerprint keys already exist. */
  function keptFingerprintKey(purpose: FingerprintPurpose): Buffer {
    const master = ring.primary()
    const kept = ring.fingerprintKey(purpose)
    return kept === undefined
      ? deriveFingerprintKey(master, purpose)
      : Buffer.from(open(keptKey.purpose, keptKey.boundTo({ purpose }), kept), 'base64url')
  }

  return { seal, open, fingerprint }
}

/** The prefix of every text that was sealed with a master key. */
export const sealedBy = (keyId: string): string => `${VERSION}.${keyId}.`

/** The fingerprint key of a purpose unless an earlier one is stored. */
export const deriveFingerprintKey = (master: MasterKey, purpose: FingerprintPurpose): Buffer =>
  derive(master, `${purpose} fingerprint`)

const derive = ({ secret }: MasterKey, purpose: string): Buffer =>
  Buffer.from(hkdfSync('sha256', secret, '', encode('gatehouse', VERSION, purpose), 32))

const context = ({ id }: MasterKey, purpose: string, boundTo: string) =>
  encode(VERSION, id, purpose, boundTo)

/** Encodes the parts as JSON, so that they can't run into each other. */
const encode = (...parts: string[]): Buffer => Buffer.from(JSON.stringify(parts))

/** Accepts only what `seal` writes, because the base64 decoder ignores invalid characters. */
function parse(sealed: string, boundTo: string): { keyId: string; bytes: Buffer } {
  const [, keyId = '', body = ''] = SEALED.exec(sealed) ?? []
  const bytes = Buffer.from(body, 'base64url')
  if (bytes.length < NONCE_BYTES + TAG_BYTES || bytes.toString('base64url') !== body)
    throw new SealError(`${boundTo} does not contain a sealed secret`)
  return { keyId, bytes }
}

const split = (bytes: Buffer) =>
  [
    bytes.subarray(0, NONCE_BYTES),
    bytes.subarray(NONCE_BYTES, -TAG_BYTES),
    bytes.subarray(-TAG_BYTES),
  ] as const
