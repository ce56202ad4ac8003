import { createHmac } from 'node:crypto'
import type { Account } from './accounts.ts'

export const PLAIN_NAMES = ['github', 'discord', 'facebook', 'spotify'] as const
export type PlainName = (typeof PLAIN_NAMES)[number]

/** What somebody agreed to. */
export interface Granted {
  account: Account
  scopes: string[]
}

export interface PlainPersona {
  authorize: string
  token: string
  /** How the client shows who it is. */
  clientAuth: 'basic' | 'post'
  /** The answer of the token endpoint when all is well. */
  tokens(accessToken: string, scopes: string[]): Record<string, unknown>
  /** The answer of the token endpoint when it is not. */
  refusal(error: string): Response
  /** What a redirect back has besides, when the person said no. */
  denial?: Record<string, string>
  /** The answer of the interface to somebody with an access token; undefined where nothing is. */
  api(request: ApiRequest): Response | undefined
  /** The same for somebody without. */
  stranger(): Response
}

export interface ApiRequest extends Granted {
  path: string
  query: URLSearchParams
  headers: Headers
  accessToken: string
  clientSecret: string
}

const HOUR_S = 3600

const described = (error: string) => ({ error, error_description: `This is about ${error}.` })

const GITHUB_WORDS: Record<string, string> = {
  invalid_grant: 'bad_verification_code',
  invalid_client: 'incorrect_client_credentials',
}

export const plainPersonas: Record<PlainName, PlainPersona> = {
  /** As on GitHub Enterprise Server, whose interface is under the same host. */
  github: {
    authorize: '/login/oauth/authorize',
    token: '/login/oauth/access_token',
    clientAuth: 'post',
    tokens: (access_token, scopes) => ({
      access_token,
      scope: scopes.join(','),
      token_type: 'bearer',
    }),
    refusal: (error) => Response.json(described(GITHUB_WORDS[error] ?? error)),
    api({ path, headers, account, scopes }) {
      if (!headers.get('user-agent')) return new Response('no user agent', { status: 403 })
      if (path === '/api/v3/user') return Response.json(githubUser(account))
      if (path !== '/api/v3/user/emails') return undefined
      if (!scopes.includes('user:email')) return githubError(404, 'Not Found')
      return Response.json(account.claims?.emails ?? githubEmails(account))
    },
    stranger: () => githubError(401, 'Bad credentials'),
  },
  discord: {
    authorize: '/oauth2/authorize',
    token: '/api/oauth2/token',
    clientAuth: 'post',
    tokens: (access_token, scopes) => ({
      token_type: 'Bearer',
      access_token,
      expires_in: 168 * HOUR_S,
      refresh_token: `refresh-${access_token}`,
      scope: scopes.join(' '),
    }),
    refusal: (error) => Response.json(described(error), { status: 400 }),
    api: ({ path, account, scopes }) =>
      path === '/api/users/@me' ? Response.json(discordUser(account, scopes)) : undefined,
    stranger: () => Response.json({ message: '401: Unauthorized', code: 0 }, { status: 401 }),
  },
  facebook: {
    authorize: '/dialog/oauth',
    token: '/oauth/access_token',
    clientAuth: 'post',
    tokens: (access_token) => ({ access_token, token_type: 'bearer', expires_in: 5_183_944 }),
    refusal: (error) => graphError(error),
    denial: { error_code: '200', error_reason: 'user_denied' },
    api: (request) => (request.path === '/me' ? facebookUser(request) : undefined),
    stranger: () => graphError('An active access token must be used'),
  },
  spotify: {
    authorize: '/authorize',
    token: '/api/token',
    clientAuth: 'basic',
    tokens: (access_token, scopes) => ({
      access_token,
      token_type: 'Bearer',
      scope: scopes.join(' '),
      expires_in: HOUR_S,
      refresh_token: `refresh-${access_token}`,
    }),
    refusal: (error) => Response.json(described(error), { status: 400 }),
    api: ({ path, account, scopes }) =>
      path === '/v1/me' ? Response.json(spotifyUser(account, scopes)) : undefined,
    stranger: () =>
      Response.json({ error: { status: 401, message: 'No token provided' } }, { status: 401 }),
  },
}

const loginOf = ({ name }: Account) => name.toLowerCase().replaceAll(' ', '-')

const githubUser = (account: Account) => ({
  login: loginOf(account),
  id: Number(account.id),
  node_id: 'MDQ6VXNlcjE=',
  name: account.name,
  email: 'shown-in-public@example.com',
  ...account.claims,
})

const githubEmails = ({ email, isVerified }: Account) => [
  { email: 'another@example.com', primary: false, verified: true, visibility: null },
  ...(email ? [{ email, primary: true, verified: isVerified, visibility: 'private' }] : []),
]

const githubError = (status: number, message: string) =>
  Response.json({ message, documentation_url: 'https://docs.example/rest' }, { status })

const discordUser = (account: Account, scopes: string[]) => ({
  id: account.id,
  username: loginOf(account),
  global_name: account.name,
  locale: 'en-US',
  ...(scopes.includes('email') && { email: account.email, verified: account.isVerified }),
  ...account.claims,
})

function facebookUser({ query, account, accessToken, clientSecret }: ApiRequest): Response {
  const proof = createHmac('sha256', clientSecret).update(accessToken).digest('hex')
  if (query.get('appsecret_proof') !== proof) return graphError('Invalid appsecret_proof')
  const all: Record<string, unknown> = {
    id: account.id,
    name: account.name,
    ...(account.email && { email: account.email }),
    ...account.claims,
  }
  const fields = (query.get('fields') ?? 'id,name').split(',')
  return Response.json(Object.fromEntries(Object.entries(all).filter(([k]) => fields.includes(k))))
}

const graphError = (message: string) =>
  Response.json(
    { error: { message, type: 'OAuthException', code: 100, fbtrace_id: 'Abc123' } },
    { status: 400 },
  )

const spotifyUser = (account: Account, scopes: string[]) => ({
  account_id: `A${account.id}`,
  id: loginOf(account),
  display_name: account.name,
  ...(scopes.includes('user-read-email') && { email: account.email }),
  type: 'user',
  ...account.claims,
})
