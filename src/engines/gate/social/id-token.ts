import * as oauth from 'oauth4webapi'
import { asClaims, type Claims, textIn } from './claims.ts'
import { failed } from './errors.ts'
import type { KeySets } from './key-sets.ts'
import type { Addresses, OpenIdProvider } from './provider.ts'

/** How far our clock and theirs may be apart. */
export const CLOCK_TOLERANCE_S = 60

/**
 * Who issued the ID token in an answer of the token endpoint, if they may. It is read before it
 * is checked because with some providers the issuer depends on the person; the check, against
 * this very issuer, follows.
 */
export async function issuerIn(
  answer: Response,
  provider: OpenIdProvider,
  addresses: Addresses,
): Promise<string> {
  // An error has no ID token, and the library puts it into words.
  if (answer.status !== 200) return addresses.issuer
  const { id_token } = asClaims(await answer.clone().json(), 'the answer of the token endpoint')
  if (typeof id_token !== 'string') failed('there is no ID token')
  const issuer = textIn(asClaims(payloadOf(id_token), 'the ID token'), 'iss') ?? ''
  if (!provider.acceptsIssuer(issuer, addresses)) failed('the ID token has another issuer')
  return issuer
}

function payloadOf(token: string): unknown {
  try {
    return JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())
  } catch {
    return failed('the ID token cannot be read')
  }
}

/** What the library leaves open. Throws for an ID token that is not for us, or not of now. */
export function checkClaims(claims: Claims, clientId: string, nowMs: number): void {
  if (claims.azp !== undefined && claims.azp !== clientId) {
    failed('the ID token was issued to another client')
  }
  if (Number(claims.iat) > nowMs / 1000 + CLOCK_TOLERANCE_S) {
    failed('the ID token was issued in the future')
  }
}

/**
 * Checks who signed. A key that is not in the set may be newer than our copy of it. The server
 * is copied each time because the library keeps sets of its own by that object, by the system's
 * clock.
 */
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
