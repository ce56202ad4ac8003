import { Readable } from 'node:stream'
import { Decrypter, Encrypter, generateX25519Identity, identityToRecipient } from 'age-encryption'
import { invalid } from '../errors.ts'

/** The format of age, https://age-encryption.org/v1. Loaded only when something is encrypted. */

/** What seals a short text: a passphrase, or the first of some private keys of age. */
export type Means = { passphrase: string } | { identities: readonly string[] }

type Bytes = AsyncIterable<Uint8Array>

/** A new key pair: `recipient` (`age1…`) encrypts, and `identity` decrypts. */
export async function newKeyPair(): Promise<{ identity: string; recipient: string }> {
  const identity = await generateX25519Identity()
  return { identity, recipient: await identityToRecipient(identity) }
}

/** Encrypts to each of the recipients. */
export async function* encrypt(source: Bytes, recipients: readonly string[]): Bytes {
  const encrypter = new Encrypter()
  for (const recipient of recipients) addRecipient(encrypter, recipient)
  yield* read(await encrypter.encrypt(webStream(source)))
}

function addRecipient(encrypter: Encrypter, recipient: string) {
  try {
    encrypter.addRecipient(recipient)
  } catch {
    throw invalid(`${recipient} is not a public key of age. Check [backup] encrypt_to`, {
      rule: 'format',
    })
  }
}

/** Decrypts with the first of the identities that fits. Throws `invalid` if none does. */
export async function* decrypt(source: Bytes, identities: readonly string[]): Bytes {
  const decrypter = new Decrypter()
  for (const identity of identities) addIdentity(decrypter, identity)
  const plain = await decrypter.decrypt(webStream(source)).catch(() => {
    throw invalid('the backup was encrypted to another key', { rule: 'mismatch' })
  })
  yield* read(plain)
}

/** The error of the library contains the private key. */
function addIdentity(decrypter: Decrypter, identity: string) {
  try {
    decrypter.addIdentity(identity)
  } catch {
    throw invalid('a private key in the file of --identity is incomplete or was changed', {
      rule: 'format',
    })
  }
}

/** Seals a short text, as base64. */
export async function sealText(text: string, means: Means): Promise<string> {
  const encrypter = new Encrypter()
  if ('passphrase' in means) encrypter.setPassphrase(means.passphrase)
  else encrypter.addRecipient(await identityToRecipient(means.identities[0] ?? ''))
  return Buffer.from(await encrypter.encrypt(text)).toString('base64')
}

/** Opens what `sealText` made. Throws `invalid` with other means. */
export async function openText(sealed: string, means: Means): Promise<string> {
  const decrypter = new Decrypter()
  if ('passphrase' in means) decrypter.addPassphrase(means.passphrase)
  else for (const identity of means.identities) addIdentity(decrypter, identity)
  return decrypter.decrypt(Buffer.from(sealed, 'base64'), 'text').catch(() => {
    throw invalid('it was sealed with another passphrase or key', { rule: 'mismatch' })
  })
}

const webStream = (source: Bytes) =>
  Readable.toWeb(Readable.from(source)) as unknown as ReadableStream<Uint8Array<ArrayBuffer>>

const read = (stream: ReadableStream<Uint8Array>) => stream as unknown as Bytes
