import { createHmac } from 'node:crypto'
import type { ProviderName } from '../../../src/config/index.ts'
import { type Account, ORGANISATION, uuidOf } from './accounts.ts'

type Words = Record<string, unknown>

/** What a user agreed to. */
export interface Grant {
  account: Account
  scopes: string[]
  /** Whether the request named the claims of an address. */
  asksForEmail: boolean
}

/** A request to the API with an access token. */
export interface Call extends Grant {
  query: URLSearchParams
  accessToken: string
  clientSecret: string
}

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
  /** More parameters of the redirect when the user cancels. */
  denial?: Record<string, string>
}

const standard = ({ account, scopes }: Grant) => ({
  sub: account.id,
  ...(scopes.includes('email') && addressOf(account)),
  ...(scopes.includes('profile') && { name: account.name, given_name: account.name.split(' ')[0] }),
  ...account.claims,
})

const addressOf = ({ email, isVerified }: Account) =>
  email === null ? {} : { email, email_verified: isVerified }

const described = (error: string) => ({ error, error_description: `This is about ${error}.` })

const GITHUB_WORDS: Record<string, string> = {
  invalid_grant: 'bad_verification_code',
  invalid_client: 'incorrect_client_credentials',
}

const loginOf = ({ name }: Account) => name.toLowerCase().replaceAll(' ', '-')

const graphError = (message: string) => {
  const error = { message, type: 'OAuthException', code: 100, fbtrace_id: 'Abc123' }
  return Response.json({ error }, { status: 400 })
}

const slack = (grant: Grant) => ({ 'https://slack.com/team_id': 'T0WORKSPACE', ...standard(grant) })

const twitch = ({ account, asksForEmail }: Grant) => ({
  sub: account.id,
  ...(asksForEmail && { ...addressOf(account), preferred_username: account.name }),
  ...account.claims,
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
    refusal: (error) => Response.json(described(GITHUB_WORDS[error] ?? error)),
    api: {
      '/api/v3/user': ({ account }) => ({
        login: loginOf(account),
        id: Number(account.id),
        name: account.name,
        email: 'shown-in-public@example.com',
        ...account.claims,
      }),
      '/api/v3/user/emails': ({ account: { email, isVerified }, scopes }) =>
        scopes.includes('user:email')
          ? [
              { email: 'another@example.com', primary: false, verified: true, visibility: null },
              ...(email ? [{ email, primary: true, verified: isVerified }] : []),
            ]
          : Response.json({ message: 'Not Found' }, { status: 404 }),
    },
  },
  google: {
    authorize: '/o/oauth2/v2/auth',
    token: '/token',
    jwks: '/oauth2/v3/certs',
    api: { '/v1/userinfo': standard },
    claims: standard,
    namesIssuer: true,
    pkce: 'demanded',
  },
  gitlab: {
    authorize: '/oauth/authorize',
    token: '/oauth/token',
    jwks: '/oauth/discovery/keys',
    api: { '/oauth/userinfo': standard },
    claims: (grant) => standard({ ...grant, scopes: ['email'] }),
    namesIssuer: true,
    pkce: 'demanded',
  },
  microsoft: {
    authorize: '/common/oauth2/v2.0/authorize',
    token: '/common/oauth2/v2.0/token',
    jwks: '/common/discovery/v2.0/keys',
    base: '/common',
    issuer: (url, { claims }) => `${url}/${claims?.tid ?? ORGANISATION}/v2.0`,
    claims: ({ account }) => ({
      sub: account.id,
      tid: ORGANISATION,
      oid: uuidOf(account.id),
      ...(account.email && { email: account.email }),
      ...(account.isVerified && { xms_edov: true }),
      name: account.name,
      preferred_username: `${account.id}@tenant.example`,
      ...account.claims,
    }),
    pkce: 'demanded',
  },
  discord: {
    authorize: '/oauth2/authorize',
    token: '/api/oauth2/token',
    words: (answer) => ({ ...answer, refresh_token: `refresh-${answer.access_token}` }),
    api: {
      '/api/users/@me': ({ account, scopes }) => ({
        id: account.id,
        username: loginOf(account),
        global_name: account.name,
        locale: 'en-US',
        ...(scopes.includes('email') && { email: account.email, verified: account.isVerified }),
        ...account.claims,
      }),
    },
  },
  facebook: {
    authorize: '/dialog/oauth',
    token: '/oauth/access_token',
    words: ({ access_token }) => ({ access_token, token_type: 'bearer', expires_in: 5_183_944 }),
    refusal: graphError,
    denial: { error_code: '200', error_reason: 'user_denied' },
    api: {
      '/me': ({ query, account, accessToken, clientSecret }) => {
        const proof = createHmac('sha256', clientSecret).update(accessToken).digest('hex')
        if (query.get('appsecret_proof') !== proof) return graphError('Invalid appsecret_proof')
        const { id, name, email, claims } = account
        const fields = (query.get('fields') ?? 'id,name').split(',')
        const all = Object.entries({ id, name, ...(email && { email }), ...claims })
        return Object.fromEntries(all.filter(([field]) => fields.includes(field)))
      },
    },
  },
  linkedin: {
    authorize: '/oauth/v2/authorization',
    token: '/oauth/v2/accessToken',
    jwks: '/oauth/openid/jwks',
    issuer: (url) => `${url}/oauth`,
    api: { '/v2/userinfo': standard },
    claims: standard,
    pkce: 'refused',
    ignoresNonce: true,
    words: ({ token_type: _, ...answer }) => answer,
  },
  apple: {
    authorize: '/auth/authorize',
    token: '/auth/token',
    jwks: '/auth/keys',
    claims: standard,
    responseMode: 'form_post',
  },
  slack: {
    authorize: '/openid/connect/authorize',
    token: '/api/openid.connect.token',
    jwks: '/openid/connect/keys',
    api: { '/api/openid.connect.userInfo': slack },
    claims: slack,
    words: (answer) => ({ ok: true, ...answer }),
    refusal: (error) => Response.json({ ok: false, error }),
  },
  twitch: {
    authorize: '/oauth2/authorize',
    token: '/oauth2/token',
    jwks: '/oauth2/keys',
    issuer: (url) => `${url}/oauth2`,
    api: { '/oauth2/userinfo': twitch },
    claims: twitch,
    words: (answer, { scopes }) => ({ ...answer, scope: scopes }),
  },
  spotify: {
    authorize: '/authorize',
    token: '/api/token',
    authenticates: 'basic',
    words: (answer) => ({ ...answer, refresh_token: `refresh-${answer.access_token}` }),
    api: {
      '/v1/me': ({ account, scopes }) => ({
        account_id: `A${account.id}`,
        id: loginOf(account),
        display_name: account.name,
        ...(scopes.includes('user-read-email') && { email: account.email }),
        ...account.claims,
      }),
    },
  },
}

/** The standard's refusal of a code or client. */
export const usualRefusal = (error: string) => Response.json(described(error), { status: 400 })
