import * as oauth from 'oauth4webapi'
import type { BoundedFetch } from '../../../../platform/bounded-fetch.ts'
import type { OAuthSecrets } from './authorization-url.ts'
import { CLOCK_TOLERANCE_S } from './id-token.ts'
import type { KeySets } from './key-sets.ts'
import type { Addresses, Person, Provider } from './provider.ts'

/** A provider as configured for this installation, at the time of the request. */
export interface Connection<P extends Provider = Provider> {
  provider: P
  addresses: Addresses
  clientId: string
  /** Made for the request, if the provider requires a signed one. */
  clientSecret: string
  nowMs: number
  /** Our clock minus the clock that the library reads, in milliseconds. */
  skewMs: number
  fetch: BoundedFetch
  keySets: KeySets
  /** Called before each step after the first. */
  reach: (step: Step) => void
}

/** The steps of a browser's return, in order; `id_token` only for OpenID providers. */
export const STEPS = ['authorization', 'credentials', 'id_token', 'profile'] as const
export type Step = (typeof STEPS)[number]

/** The parameters of the browser's return, and the secrets of its departure. */
export interface Return {
  redirectUri: string
  params: URLSearchParams
  state: string
  secrets: OAuthSecrets
}

export interface Tokens {
  accessToken?: string
  refreshToken?: string
  idToken?: string
}

export interface Outcome {
  person: Person
  tokens: Tokens
  /** The granted scopes, which may be fewer than requested; null if the provider does not say. */
  scopes: string[] | null
}

/**
 * `subject`: stable and unique at the provider, prefixed by directory or installation if needed, at
 * most 255 characters. `email`: as spelled there. `isEmailVerified`: if the claim can be trusted.
 */
export interface SocialProfile extends Person, Pick<Outcome, 'tokens' | 'scopes'> {}

/** Asymmetric algorithms only: with a symmetric one, anyone with the client secret could sign. */
const ALGORITHMS = ['RS256', 'RS384', 'RS512', 'PS256', 'ES256', 'ES384', 'ES512', 'EdDSA']

/** The provider as an authorization server of the library. */
export const serverOf = (addresses: Addresses, issuer: string): oauth.AuthorizationServer => ({
  issuer,
  token_endpoint: addresses.token,
  userinfo_endpoint: addresses.userinfo,
  jwks_uri: addresses.jwks,
  id_token_signing_alg_values_supported: ALGORITHMS,
})

/** This installation as a client of the library. */
export const clientOf = ({ clientId, skewMs }: Connection): oauth.Client => ({
  client_id: clientId,
  [oauth.clockSkew]: Math.round(skewMs / 1000),
  [oauth.clockTolerance]: CLOCK_TOLERANCE_S,
})

/** GitHub rejects requests without a user agent. */
export const HEADERS = { 'user-agent': 'Gatehouse' }

/** TLS was already enforced by `checkTransport`, so the library may call http URLs. */
export const through = (fetch: BoundedFetch) => ({
  headers: HEADERS,
  [oauth.customFetch]: fetch as typeof globalThis.fetch,
  [oauth.allowInsecureRequests]: true,
})

export const tokensOf = (answer: oauth.TokenEndpointResponse): Tokens => ({
  accessToken: answer.access_token,
  refreshToken: answer.refresh_token,
  idToken: answer.id_token,
})

export const scopesIn = ({ scope }: oauth.TokenEndpointResponse): Outcome['scopes'] =>
  scope === undefined ? null : scope.split(/[\s,]+/)
