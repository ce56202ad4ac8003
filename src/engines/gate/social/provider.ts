import type { Claims } from './claims.ts'

/** Where a provider is. */
export interface Addresses {
  authorize: string
  token: string
  /** Without one, the ID token says all. */
  userinfo?: string
  /** Only OpenID providers sign something. */
  jwks?: string
  issuer: string
}

/** Who somebody is. */
export interface Person {
  subject: string
  email: string | undefined
  isEmailVerified: boolean
  name: string | undefined
  locale: string | undefined
}

interface Common {
  addresses: Addresses
  /** Where the same things are on an installation of one's own; `base` has no slash at its end. */
  under(base: string): Addresses
  scopes: string
  /** Whether a challenge is sent (RFC 7636, S256). */
  pkce: boolean
  /** How the client shows who it is at the token endpoint. */
  clientAuth: 'basic' | 'post' | 'signed'
  /** What is sent to the authorization endpoint besides. */
  parameters?: Readonly<Record<string, string>>
  /**
   * Within what a subject is unique: the installation. Two places with the same home share their
   * accounts, such as the directories of one cloud.
   */
  home(addresses: Addresses): string
}

/** One that says who somebody is in an ID token that it signs. */
export interface OpenIdProvider extends Common {
  kind: 'openid'
  /** Whether it repeats a nonce in the ID token. */
  nonce: boolean
  /** Whether `issuer` may speak for the provider at `addresses`. Says nothing of who signed. */
  acceptsIssuer(issuer: string, addresses: Addresses): boolean
  /**
   * `claims` are those of the checked ID token, and of the userinfo endpoint where there is one;
   * `posted` is what came back with the code, which nobody signed. Throws `SocialError`.
   */
  person(claims: Claims, posted: URLSearchParams): Person
}

/** One that says it to whoever has the access token. */
export interface OauthProvider extends Common {
  kind: 'oauth'
  addresses: Addresses & { userinfo: string }
  under(base: string): Addresses & { userinfo: string }
  /** Throws `SocialError`. */
  person(api: Api): Promise<Person>
}

export type Provider = OpenIdProvider | OauthProvider

/** Reads with an access token. */
export interface Api {
  userinfo: string
  /** Scopes that were granted, which may be fewer than were asked for; null where it is not said. */
  scopes: string[] | null
  accessToken: string
  clientSecret: string
  /** The JSON at `url`. Throws unless the answer is a 200 with JSON. */
  get(url: string): Promise<unknown>
}

/** What most OpenID providers do. */
export const issuedByItself = (issuer: string, addresses: Addresses): boolean =>
  issuer === addresses.issuer

export const homeOfIssuer = ({ issuer }: Addresses): string => issuer

/** Without an issuer it is the interface that knows people. */
export const homeOfApi = ({ userinfo = '' }: Addresses): string => URL.parse(userinfo)?.host ?? ''
