import type { Configuration } from 'oidc-provider'
import { type Account, uuidOf } from './accounts.ts'

export const OPENID_NAMES = [
  'google',
  'gitlab',
  'microsoft',
  'linkedin',
  'apple',
  'slack',
  'twitch',
] as const
export type OpenIdName = (typeof OPENID_NAMES)[number]

/** How one provider differs from the standard, and from the others. */
export interface Persona {
  /** Under its base, without a slash at the end. */
  routes: { authorization: string; token: string; userinfo: string; jwks: string }
  /** What the settings call the base; `url` is the front of the fake one. */
  baseUrl(url: string): string
  issuer(url: string, account: Account): string
  /** Says in the redirect who it is (RFC 9207). */
  namesIssuer: boolean
  scopes: string[]
  /** Claims by the scope that asks for them. */
  claims: NonNullable<Configuration['claims']>
  /** Claims of a scope are in the ID token, not at the userinfo endpoint alone. */
  fillsIdToken: boolean
  /** Refuses a challenge, demands one, or takes it as it comes. */
  pkce: 'refused' | 'demanded' | 'ignored'
  nonce: boolean
  responseMode?: 'form_post'
  /** What it says of somebody. */
  says(account: Account): Record<string, unknown>
  /** What is left out of an ID token although it is at the userinfo endpoint. */
  keepsBack?: string[]
  /** The answer of the token endpoint, as it words it. */
  words?(answer: Record<string, unknown>): Record<string, unknown>
  /** Errors come as success. */
  hidesErrors?: boolean
}

export const ORGANISATION = '8eaef023-2b34-4da1-9baa-8bc8c9d6a490'
export const CONSUMERS = '9188040d-6c67-4c5b-b112-36a304b66dad'

const standard = {
  openid: ['sub'],
  email: ['email', 'email_verified'],
  profile: ['name', 'given_name', 'locale', 'picture'],
}

const usual = {
  scopes: ['openid', 'email', 'profile'],
  claims: standard,
  fillsIdToken: true,
  namesIssuer: false,
  nonce: true,
  pkce: 'ignored',
  says: (account: Account) => ({
    sub: account.id,
    ...(account.email && { email: account.email, email_verified: account.isVerified }),
    name: account.name,
    given_name: account.name.split(' ')[0],
    picture: 'https://pictures.example/1.png',
    ...account.claims,
  }),
  baseUrl: (url: string) => url,
  issuer: (url: string) => url,
} satisfies Partial<Persona>

export const personas: Record<OpenIdName, Persona> = {
  google: {
    ...usual,
    routes: {
      authorization: '/o/oauth2/v2/auth',
      token: '/token',
      userinfo: '/v1/userinfo',
      jwks: '/oauth2/v3/certs',
    },
    namesIssuer: true,
    pkce: 'demanded',
    claims: { ...standard, openid: ['sub', 'hd'] },
  },
  gitlab: {
    ...usual,
    routes: {
      authorization: '/oauth/authorize',
      token: '/oauth/token',
      userinfo: '/oauth/userinfo',
      jwks: '/oauth/discovery/keys',
    },
    namesIssuer: true,
    pkce: 'demanded',
    keepsBack: ['name', 'given_name', 'locale', 'picture'],
  },
  microsoft: {
    ...usual,
    routes: {
      authorization: '/common/oauth2/v2.0/authorize',
      token: '/common/oauth2/v2.0/token',
      userinfo: '/oidc/userinfo',
      jwks: '/common/discovery/v2.0/keys',
    },
    baseUrl: (url) => `${url}/common`,
    issuer: (url, account) => `${url}/${account.claims?.tid ?? ORGANISATION}/v2.0`,
    pkce: 'demanded',
    claims: {
      openid: ['sub', 'tid', 'oid', 'xms_edov', 'verified_primary_email'],
      email: ['email'],
      profile: ['name', 'preferred_username'],
    },
    says: (account) => ({
      sub: account.id,
      tid: ORGANISATION,
      oid: uuidOf(account.id),
      ...(account.email && { email: account.email }),
      ...(account.isVerified && { xms_edov: true }),
      name: account.name,
      preferred_username: `${account.id}@tenant.example`,
      ...account.claims,
    }),
  },
  linkedin: {
    ...usual,
    routes: {
      authorization: '/oauth/v2/authorization',
      token: '/oauth/v2/accessToken',
      userinfo: '/v2/userinfo',
      jwks: '/oauth/openid/jwks',
    },
    issuer: (url) => `${url}/oauth`,
    pkce: 'refused',
    nonce: false,
    words: ({ token_type: _, ...answer }) => answer,
  },
  apple: {
    ...usual,
    routes: {
      authorization: '/auth/authorize',
      token: '/auth/token',
      userinfo: '/none',
      jwks: '/auth/keys',
    },
    scopes: ['openid', 'name', 'email'],
    claims: { openid: ['sub'], email: ['email', 'email_verified'], name: [] },
    responseMode: 'form_post',
  },
  slack: {
    ...usual,
    routes: {
      authorization: '/openid/connect/authorize',
      token: '/api/openid.connect.token',
      userinfo: '/api/openid.connect.userInfo',
      jwks: '/openid/connect/keys',
    },
    claims: { ...standard, openid: ['sub', 'https://slack.com/team_id'] },
    says: (account) => ({
      ...usual.says({ ...account, claims: {} }),
      'https://slack.com/team_id': 'T0WORKSPACE',
      ...account.claims,
    }),
    words: (answer) => ({ ok: true, ...answer }),
    hidesErrors: true,
  },
  twitch: {
    ...usual,
    routes: {
      authorization: '/oauth2/authorize',
      token: '/oauth2/token',
      userinfo: '/oauth2/userinfo',
      jwks: '/oauth2/keys',
    },
    issuer: (url) => `${url}/oauth2`,
    scopes: ['openid', 'user:read:email'],
    claims: {
      openid: ['sub'],
      'user:read:email': [],
      preferred_username: null,
      email: null,
      email_verified: null,
    },
    fillsIdToken: false,
    says: (account) => ({
      sub: account.id,
      ...(account.email && { email: account.email, email_verified: account.isVerified }),
      preferred_username: account.name,
      ...account.claims,
    }),
    words: ({ scope, ...answer }) => ({ ...answer, scope: String(scope).split(' ') }),
  },
}
