import { randomBytes } from 'node:crypto'
import { conflict, invalid } from '../platform/errors.ts'

/** A secret as an endpoint holds it. */
export interface SigningSecret {
  secret: string
  /** Milliseconds since the epoch from which on it no longer signs; null is the current one. */
  expiresAt: number | null
}

const PREFIX = 'whsec_'
const NEW_BYTES = 32

/**
 * Standard Webhooks asks for 24 to 64 bytes. Svix lets its customers set up to 75, and whoever
 * moves here from there keeps the secret that the receivers already know.
 */
const MIN_BYTES = 24
const MAX_BYTES = 75

/** Each one adds a signature to both headers of every request. */
const MAX_SECRETS = 5

/**
 * Padded base64 in the standard alphabet: receivers decode it with the library of their own
 * language, and some of these refuse `-`, `_` or missing padding.
 */
export const newSecret = (): string => PREFIX + randomBytes(NEW_BYTES).toString('base64')

/** The bytes that a checked secret stands for. */
export const secretBytes = (secret: string): Buffer =>
  Buffer.from(secret.slice(PREFIX.length), 'base64')

/** Throws `invalid` for what receivers could not decode. Never repeats the text, which is secret. */
export function checkSecret(text: string): void {
  const bytes = secretBytes(text)
  // Encoded again it differs by every laxness of the decoder: alphabet, padding, spare bits.
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
 * Makes `next` the current secret. The one before goes on signing for `graceMs`, so that
 * receivers can change over; older ones end then at the latest, so that without any grace only
 * the new one signs. A secret that comes back is held once. Throws `conflict` when more would be in use than a request should be signed with.
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
      {
        field: 'secret',
        rule: 'limit',
      },
    )
  }
  return [{ secret: next, expiresAt: null }, ...retiring]
}

/** Those to sign with, the current one first: receivers try signatures in their order. */
export function liveSecrets(secrets: readonly SigningSecret[], now: number): string[] {
  const current = secrets.filter(({ expiresAt }) => expiresAt === null)
  const old = secrets.filter(({ expiresAt }) => expiresAt !== null && expiresAt > now)
  return [...current, ...old].map(({ secret }) => secret)
}
