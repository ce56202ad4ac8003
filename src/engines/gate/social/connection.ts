import * as oauth from 'oauth4webapi'
import type { BoundedFetch } from '../../../platform/bounded-fetch.ts'
import type { RoundTripSecrets } from './authorization-url.ts'
import { CLOCK_TOLERANCE_S } from './id-token.ts'
import type { KeySets } from './key-sets.ts'
import type { Addresses, Person, Provider } from './provider.ts'

/** A provider as this instance knows it, at one moment. */
export interface Connection<P extends Provider = Provider> {
  provider: P
  addresses: Addresses
  clientId: string
  /** Made for the call where the provider wants it so. */
  clientSecret: string
  nowMs: number
  /** Our clock less the one that the library reads. */
  skewMs: number
  fetch: BoundedFetch
  keySets: KeySets
}

/** What the browser came back with, and what it was sent out with. */
export interface Return {
  redirectUri: string
  params: URLSearchParams
  state: string
  secrets: RoundTripSecrets
}

export interface Tokens {
  accessToken?: string
  refreshToken?: string
  idToken?: string
}

export interface Outcome {
  person: Person
  tokens: Tokens
}

/** Asymmetric ones alone: a client secret would sign for its owner as well as for the provider. */
const ALGORITHMS = ['RS256', 'RS384', 'RS512', 'PS256', 'ES256', 'ES384', 'ES512', 'EdDSA']

/** The provider in the words of the library. */
export const serverOf = (addresses: Addresses, issuer: string): oauth.AuthorizationServer => ({
  issuer,
  token_endpoint: addresses.token,
  userinfo_endpoint: addresses.userinfo,
  jwks_uri: addresses.jwks,
  id_token_signing_alg_values_supported: ALGORITHMS,
})

/** This instance in the words of the library. */
export const clientOf = ({ clientId, skewMs }: Connection): oauth.Client => ({
  client_id: clientId,
  [oauth.clockSkew]: Math.round(skewMs / 1000),
  [oauth.clockTolerance]: CLOCK_TOLERANCE_S,
})

/** GitHub turns away callers without a name. */
export const HEADERS = { 'user-agent': 'Gatehouse' }

/** Which addresses may be called without TLS has been settled before it comes to a call. */
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
