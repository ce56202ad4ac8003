import { createHash, createHmac } from 'node:crypto'
import type { ProviderName } from '../../../src/config/index.ts'

/** An account at a fake provider. */
export interface Account {
  /** Digits, because some providers number their users. */
  id: string
  /** Null if the provider has none, as for users who signed up by phone. */
  email: string | null
  isVerified: boolean
  name: string
  /** Claims that are added or replaced. */
  claims?: Record<string, unknown>
}

let made = 0

export function newAccount(fields: Partial<Account> = {}): Account {
  const id = String(583_231 + made++)
  const email = `person-${id}@example.com`
  return { id, email, isVerified: true, name: `Person ${id}`, ...fields }
}

/** The id of a directory's object; always the same for `text`. */
export const uuidOf = (text: string): string =>
  createHash('sha256')
    .update(text)
    .digest('hex')
    .replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*$/, '$1-$2-$3-$4-$5')

/** Directories of Microsoft: one of a company, and that of personal accounts. */
export const ORGANISATION = '8eaef023-2b34-4da1-9baa-8bc8c9d6a490'
export const CONSUMERS = '9188040d-6c67-4c5b-b112-36a304b66dad'

type Words = Record<string, unknown>

/** What a user agreed to. */
export interface Grant {
  account: Account
  scopes: string[]
  /** Whether the request named the claims of an address. */
  asksForEmail: boolean
}

type Call = Grant & { query: URLSearchParams; accessToken: string; clientSecret: string }

/** How a provider differs from the others. Paths are those of the real one. */
export interface Persona {
  authorize: string
  token: string
  /** What the settings call the base, if it is not the front of the paths. */
  base?: string
  jwks?: string
  api?: Record<string, (call: Call) => Response | Words | Words[]>
  /** Claims of the ID token; without them it is no OpenID provider. */
  claims?: (grant: Grant) => Words
  issuer?: (url: string, account: Account) => string
  /** Names the issuer in the redirect (RFC 9207). */
  namesIssuer?: boolean
  pkce?: 'demanded' | 'refused'
  ignoresNonce?: boolean
  responseMode?: 'form_post'
  authenticates?: 'basic'
  /** The response of the token endpoint, from that of the standard. */
  words?: (answer: Words, grant: Grant) => Words
  refusal?: (error: string) => Response
}

const addressOf = ({ email, isVerified }: Account) =>
  email === null ? {} : { email, email_verified: isVerified }

const standard = ({ account, scopes }: Grant) => ({
  sub: account.id,
  ...(scopes.includes('email') && addressOf(account)),
  ...(scopes.includes('profile') && { name: account.name, given_name: account.name.split(' ')[0] }),
  ...account.claims,
})

/** A provider of ID tokens, with the same claims at its userinfo endpoint. */
const openId = (
  [authorize, token, jwks, userinfo]: [string, string, string, string?],
  { claims = standard, ...more }: Partial<Persona> = {},
): Persona => ({
  authorize,
  token,
  jwks,
  claims,
  ...(userinfo && { api: { [userinfo]: claims } }),
  ...more,
})

/** The standard's refusal of a code or client. */
export const usualRefusal = (error: string, status = 400) =>
  Response.json({ error, error_description: `This is about ${error}.` }, { status })

export const graphError = (message: string) =>
  Response.json({ error: { message, type: 'OAuthException', code: 100 } }, { status: 400 })

const withRefreshToken = (answer: Words) => ({
  ...answer,
  refresh_token: `refresh-${answer.access_token}`,
})

export const personas: Record<ProviderName, Persona> = {
  /** As on GitHub Enterprise Server, whose API is under the same host. */
  github: {
    authorize: '/login/oauth/authorize',
    token: '/login/oauth/access_token',
    words: ({ access_token }, { scopes }) => ({
      access_token,
      scope: scopes.join(','),
      token_type: 'bearer',
    }),
    refusal: (error) => usualRefusal(error, 200),
    api: {
      '/api/v3/user': ({ account: { id, name, claims } }) => ({
        id: Number(id),
        login: `login-${id}`,
        name,
        email: 'shown-in-public@example.com',
        ...claims,
      }),
      '/api/v3/user/emails': ({ account: { email, isVerified }, scopes }) =>
        scopes.includes('user:email')
          ? [
              { email: 'another@example.com', primary: false, verified: true },
              ...(email ? [{ email, primary: true, verified: isVerified }] : []),
            ]
          : Response.json({ message: 'Not Found' }, { status: 404 }),
    },
  },
  google: openId(['/o/oauth2/v2/auth', '/token', '/oauth2/v3/certs', '/v1/userinfo'], {
    namesIssuer: true,
    pkce: 'demanded',
  }),
  gitlab: openId(['/oauth/authorize', '/oauth/token', '/oauth/discovery/keys'], {
    claims: (grant) => standard({ ...grant, scopes: ['email'] }),
    api: { '/oauth/userinfo': standard },
    namesIssuer: true,
    pkce: 'demanded',
  }),
  microsoft: openId(
    ['/common/oauth2/v2.0/authorize', '/common/oauth2/v2.0/token', '/common/discovery/v2.0/keys'],
    {
      base: '/common',
      issuer: (url, { claims }) => `${url}/${claims?.tid ?? ORGANISATION}/v2.0`,
      claims: ({ account: { id, email, isVerified, name, claims } }) => ({
        sub: id,
        tid: ORGANISATION,
        oid: uuidOf(id),
        ...(email && { email }),
        ...(isVerified && { xms_edov: true }),
        name,
        preferred_username: `${id}@tenant.example`,
        ...claims,
      }),
      pkce: 'demanded',
    },
  ),
  discord: {
    authorize: '/oauth2/authorize',
    token: '/api/oauth2/token',
    words: withRefreshToken,
    api: {
      '/api/users/@me': ({ account: { id, name, email, isVerified, claims }, scopes }) => ({
        id,
        global_name: name,
        locale: 'en-US',
        ...(scopes.includes('email') && { email, verified: isVerified }),
        ...claims,
      }),
    },
  },
  facebook: {
    authorize: '/dialog/oauth',
    token: '/oauth/access_token',
    words: ({ access_token }) => ({ access_token, token_type: 'bearer', expires_in: 5_183_944 }),
    refusal: graphError,
    api: {
      '/me': ({ query, account: { id, name, email, claims }, accessToken, clientSecret }) => {
        const proof = createHmac('sha256', clientSecret).update(accessToken).digest('hex')
        if (query.get('appsecret_proof') !== proof) return graphError('Invalid appsecret_proof')
        const fields = (query.get('fields') ?? 'id,name').split(',')
        const all = Object.entries({ id, name, ...(email && { email }), ...claims })
        return Object.fromEntries(all.filter(([field]) => fields.includes(field)))
      },
    },
  },
  linkedin: openId(
    ['/oauth/v2/authorization', '/oauth/v2/accessToken', '/oauth/openid/jwks', '/v2/userinfo'],
    {
      issuer: (url) => `${url}/oauth`,
      pkce: 'refused',
      ignoresNonce: true,
      words: ({ token_type: _, ...answer }) => answer,
    },
  ),
  apple: openId(['/auth/authorize', '/auth/token', '/auth/keys'], { responseMode: 'form_post' }),
  slack: openId(
    [
      '/openid/connect/authorize',
      '/api/openid.connect.token',
      '/openid/connect/keys',
      '/api/openid.connect.userInfo',
    ],
    {
      claims: (grant) => ({ 'https://slack.com/team_id': 'T0WORKSPACE', ...standard(grant) }),
      words: (answer) => ({ ok: true, ...answer }),
      refusal: (error) => Response.json({ ok: false, error }),
    },
  ),
  twitch: openId(['/oauth2/authorize', '/oauth2/token', '/oauth2/keys', '/oauth2/userinfo'], {
    issuer: (url) => `${url}/oauth2`,
    claims: ({ account, asksForEmail }) => ({
      sub: account.id,
      ...(asksForEmail && { ...addressOf(account), preferred_username: account.name }),
      ...account.claims,
    }),
    words: (answer, { scopes }) => ({ ...answer, scope: scopes }),
  }),
  spotify: {
    authorize: '/authorize',
    token: '/api/token',
    authenticates: 'basic',
    words: withRefreshToken,
    api: {
      '/v1/me': ({ account: { id, name, email, claims }, scopes }) => ({
        account_id: `A${id}`,
        display_name: name,
        ...(scopes.includes('user-read-email') && { email }),
        ...claims,
      }),
    },
  },
}
