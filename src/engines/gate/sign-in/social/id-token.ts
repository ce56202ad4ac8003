import * as oauth from 'oauth4webapi'
import { asClaims, type Claims, textIn } from './claims.ts'
import { failed } from './errors.ts'
import type { KeySets } from './key-sets.ts'
import type { Addresses, OpenIdProvider } from './provider.ts'

/** Tolerated difference of the clocks, in seconds. */
export const CLOCK_TOLERANCE_S = 60

/** Read before the signature check, which uses it: some providers' issuer depends on the user. */
export async function issuerIn(
  answer: Response,
  provider: OpenIdProvider,
  addresses: Addresses,
): Promise<string> {
  const { id_token } = asClaims(await answer.clone().json(), 'the response of the token endpoint')
  if (typeof id_token !== 'string') failed('the ID token is missing')
  const issuer = textIn(asClaims(payloadOf(id_token), 'the ID token'), 'iss') ?? ''
  if (!provider.acceptsIssuer(issuer, addresses)) failed('the ID token is from a different issuer')
  return issuer
}

function payloadOf(token: string): unknown {
  try {
    return JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())
  } catch {
    return failed('the ID token cannot be read')
  }
}

/**
 * Checks what the library does not. Throws for an ID token issued for another client or at another
 * time.
 */
export function checkClaims(claims: Claims, clientId: string, nowMs: number): void {
  if (claims.azp !== undefined && claims.azp !== clientId) {
    failed('the ID token was issued to a different client')
  }
  if (Number(claims.iat) > nowMs / 1000 + CLOCK_TOLERANCE_S) {
    failed('the ID token was issued in the future')
  }
}

/** Copies `server` for each call, because the library caches key sets by object and clock. */
export async function checkSignature(
  server: oauth.AuthorizationServer,
  answer: Response,
  keySets: KeySets,
): Promise<void> {
  const check = () =>
    oauth.validateApplicationLevelSignature({ ...server }, answer, {
      [oauth.customFetch]: keySets.fetch as typeof fetch,
      [oauth.allowInsecureRequests]: true,
    })
  try {
    await check()
  } catch (error) {
    const isUnknown =
      error instanceof oauth.OperationProcessingError && error.code === oauth.KEY_SELECTION
    if (!isUnknown || !keySets.renew(server.jwks_uri ?? '')) throw error
    await check()
  }
}
