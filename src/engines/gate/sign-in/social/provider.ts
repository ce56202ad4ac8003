import type { Claims } from './claims.ts'

/** The URLs of a provider. */
export interface Addresses {
  authorize: string
  token: string
  /** Absent if the ID token contains everything. */
  userinfo?: string
  /** Only for OpenID providers. */
  jwks?: string
  issuer: string
}

/** The user at a provider. */
export interface Person {
  subject: string
  email: string | undefined
  isEmailVerified: boolean
  name: string | undefined
  locale: string | undefined
}

interface Common {
  addresses: Addresses
  /** The same URLs for another installation; `base` has no trailing slash. */
  under(base: string): Addresses
  scopes: string
  /** Whether to send a PKCE challenge (RFC 7636, S256). */
  pkce: boolean
  /** How the client authenticates at the token endpoint. */
  clientAuth: 'basic' | 'post' | 'signed'
  /** Additional parameters of the authorization request. */
  parameters?: Readonly<Record<string, string>>
  /** The installation, in which subjects are unique: the same for all directories of a cloud. */
  home(addresses: Addresses): string
}

/** A provider that identifies users by a signed ID token. */
export interface OpenIdProvider extends Common {
  kind: 'openid'
  /** Whether the ID token repeats the nonce. */
  nonce: boolean
  /** Whether `issuer` is valid for the provider at `addresses`. Does not check the signature. */
  acceptsIssuer(issuer: string, addresses: Addresses): boolean
  /** `claims` are validated; `posted` came with the code and is unsigned. Throws `SocialError`. */
  person(claims: Claims, posted: URLSearchParams): Person
}

/** A provider that identifies users by an API call with the access token. */
export interface OauthProvider extends Common {
  kind: 'oauth'
  addresses: Addresses & { userinfo: string }
  under(base: string): Addresses & { userinfo: string }
  /** Throws `SocialError`. */
  person(api: Api): Promise<Person>
}

export type Provider = OpenIdProvider | OauthProvider

/** API calls with an access token. */
export interface Api {
  userinfo: string
  /** The granted scopes, which may be fewer than requested; null if unknown. */
  scopes: string[] | null
  accessToken: string
  clientSecret: string
  /** The JSON at `url`. Throws unless the response is a 200 with JSON. */
  get(url: string): Promise<unknown>
}

/** Accepts only the provider's own issuer, as for most OpenID providers. */
export const issuedByItself = (issuer: string, addresses: Addresses): boolean =>
  issuer === addresses.issuer

export const homeOfIssuer = ({ issuer }: Addresses): string => issuer

/** For providers without an issuer: the origin of the API. */
export const homeOfApi = ({ userinfo = '' }: Addresses): string => URL.parse(userinfo)?.host ?? ''
