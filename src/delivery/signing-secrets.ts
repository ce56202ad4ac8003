import { randomBytes } from 'node:crypto'
import { conflict, invalid } from '../platform/errors.ts'

/** A signing secret of an endpoint. */
export interface SigningSecret {
  secret: string
  /** When it stops signing, in milliseconds since the epoch; null for the current secret. */
  expiresAt: number | null
}

const PREFIX = 'whsec_'
const NEW_BYTES = 32

/** Standard Webhooks requires 24 to 64 bytes. Svix allows 75, and its secrets can be kept. */
const MIN_BYTES = 24
const MAX_BYTES = 75

/** Each secret adds a signature to both headers of every request. */
const MAX_SECRETS = 5

/** Padded base64 in the standard alphabet: some decoders reject `-`, `_` or missing padding. */
export const newSecret = (): string => PREFIX + randomBytes(NEW_BYTES).toString('base64')

/** The bytes of a valid secret. */
export const secretBytes = (secret: string): Buffer =>
  Buffer.from(secret.slice(PREFIX.length), 'base64')

/** Throws `invalid`, without repeating the secret, for one that receivers couldn't decode. */
export function checkSecret(text: string): void {
  const bytes = secretBytes(text)
  // Encoding again reveals what the decoder tolerates: alphabet, padding, spare bits.
  if (text !== PREFIX + bytes.toString('base64')) {
    throw invalid(`must be ${PREFIX} followed by standard base64 with padding`, {
      field: 'secret',
      rule: 'format',
    })
  }
  if (bytes.length < MIN_BYTES || bytes.length > MAX_BYTES) {
    throw invalid(`must encode ${MIN_BYTES} to ${MAX_BYTES} bytes; this one has ${bytes.length}`, {
      field: 'secret',
      rule: 'range',
    })
  }
}

/**
 * Makes `next` the current secret. The previous one keeps signing for `graceMs`, so that receivers
 * can change over, and older ones expire no later than that; with no grace period, only the new one
 * signs. A secret that is used again is stored once. Throws `conflict` if more secrets would be in
 * use than a request may be signed with.
 */
export function rotate(
  secrets: readonly SigningSecret[],
  next: string,
  { now, graceMs }: { now: number; graceMs: number },
): SigningSecret[] {
  const retiring = secrets
    .filter(({ secret }) => secret !== next)
    .map(({ secret, expiresAt }) => ({
      secret,
      expiresAt: Math.min(expiresAt ?? Number.POSITIVE_INFINITY, now + graceMs),
    }))
    .filter(({ expiresAt }) => expiresAt > now)
  if (retiring.length >= MAX_SECRETS) {
    throw conflict(
      `cannot be added: ${MAX_SECRETS} secrets are in use. Wait until an old one expires`,
      { field: 'secret', rule: 'limit' },
    )
  }
  return [{ secret: next, expiresAt: null }, ...retiring]
}

/** The secrets to sign with, current one first, because receivers try signatures in order. */
export function liveSecrets(secrets: readonly SigningSecret[], now: number): string[] {
  const current = secrets.filter(({ expiresAt }) => expiresAt === null)
  const old = secrets.filter(({ expiresAt }) => expiresAt !== null && expiresAt > now)
  return [...current, ...old].map(({ secret }) => secret)
}
