import { type Config, PROVIDERS, type ProviderName } from '../../../src/config/index.ts'
import { testConfig } from '../config.ts'
import { type Account, type Grant, newAccount, personas, usualRefusal } from './personas.ts'
import {
  isAppleSecret,
  newAppleClient,
  newSigningKey,
  published,
  type SigningKey,
  signToken,
  type Token,
} from './signing.ts'
import { backPage, consentPage } from './walk.ts'

/** The configuration of one provider. */
export type ProviderSettings = Config['gate']['providers']['google']

/** Changes an ID token before it is signed, `key` included. */
export type Tamper = (token: Token & { key: SigningKey }) => void

/** Responses in the place of the usual ones, by path. */
export type Answers = Record<string, (usual: Response) => Response | Promise<Response>>

export type Providers = ReturnType<typeof startProviders>

const CLIENT_ID = 'gatehouse-at-providers'
const CLIENT_SECRET = 'a+secret/of the:client'
const HOUR_S = 3600

export const NOTHING_SET: ProviderSettings = testConfig().gate.providers.google

/** A key takes time to make, so all share it until one is told to change. */
const FIRST_KEY = newSigningKey('RS256')

/** What a code is good for, once. */
interface Code extends Grant {
  provider: ProviderName
  redirectUri: string
  challenge: string | null
  nonce: string | null
}

/**
 * All providers on loopback, each with the paths, claims and oddities of the real one, so that
 * `base_url` is all that a configuration changes. A code works once, for the client, the redirect and
 * the verifier that it was issued for.
 */
export function startProviders({
  redirectUris: allowed = [] as string[],
  clock = Date as { now(): number },
} = {}) {
  const codes = new Map<string, Code>()
  const tokens = new Map<string, Code>()
  const paths: string[] = []
  const redirectUris = new Set(allowed)
  const apple = newAppleClient()
  const state: {
    account: Account
    key: SigningKey
    scopes?: string[] | undefined
    tamper?: Tamper | undefined
    answers: Answers
  } = { account: newAccount(), key: FIRST_KEY, answers: {} }
  const clientIdAt = (provider: ProviderName) => (provider === 'apple' ? apple.clientId : CLIENT_ID)

  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      const url = new URL(request.url)
      paths.push(url.pathname + url.search)
      const usual = await respond(url, request)
      return state.answers[url.pathname]?.(usual) ?? usual
    },
  })

  function respond(url: URL, request: Request): Response | Promise<Response> {
    const [, first, ...rest] = url.pathname.split('/')
    const provider = PROVIDERS.find((name) => name === first)
    if (!provider) return NOT_FOUND()
    const path = `/${rest.join('/')}`
    const { authorize, token, jwks } = personas[provider]
    if (path === authorize) return authorization(provider, url, request)
    if (path === token) return exchange(provider, request)
    if (path === jwks) return Response.json({ keys: [published(state.key)] })
    return api(provider, path, url.searchParams, request.headers)
  }

  const urlOf = (provider: ProviderName) => `${server.url.origin}/${provider}`

  async function authorization(provider: ProviderName, url: URL, request: Request) {
    const problem = problemOf(provider, url.searchParams)
    if (problem) return new Response(problem, { status: 400 })
    const here = url.pathname + url.search
    if (request.method === 'GET') return html(consentPage(provider, here, state.account))
    const isAllowed = new URLSearchParams(await request.text()).get('decision') === 'allow'
    const { namesIssuer, responseMode } = personas[provider]
    const answer: Record<string, string> = isAllowed
      ? { code: newCode(provider, url.searchParams), ...(responseMode && greeting()) }
      : { error: 'access_denied', error_description: 'The user said no' }
    if (namesIssuer) answer.iss = urlOf(provider)
    return back(url.searchParams, answer)
  }

  function problemOf(provider: ProviderName, query: URLSearchParams) {
    const { pkce, responseMode = null } = personas[provider]
    if (query.get('client_id') !== clientIdAt(provider)) return 'unknown client'
    if (!redirectUris.has(query.get('redirect_uri') ?? '')) return 'unknown redirect_uri'
    if (query.get('response_type') !== 'code') return 'response_type must be code'
    if (query.get('response_mode') !== responseMode) return 'another response_mode is needed'
    const method = query.get('code_challenge_method')
    if (pkce === 'demanded' && method === null) return 'a challenge is needed'
    if (pkce === 'refused' && query.has('code_challenge')) return 'no challenges here'
    return method === null || method === 'S256' ? undefined : 'unknown challenge method'
  }

  /** What Apple posts about a user who signs in for the first time. */
  function greeting(): Record<string, string> {
    const { name, email } = state.account
    const [firstName, ...rest] = name.split(' ')
    return { user: JSON.stringify({ name: { firstName, lastName: rest.join(' ') }, email }) }
  }

  function newCode(provider: ProviderName, query: URLSearchParams): string {
    const code = `code-${crypto.randomUUID()}`
    codes.set(code, {
      provider,
      account: state.account,
      scopes: state.scopes ?? (query.get('scope') ?? '').split(' '),
      asksForEmail: query.get('claims')?.includes('"email"') ?? false,
      redirectUri: query.get('redirect_uri') ?? '',
      challenge: query.get('code_challenge'),
      nonce: query.get('nonce'),
    })
    return code
  }

  async function exchange(provider: ProviderName, request: Request): Promise<Response> {
    const { refusal = usualRefusal, words = (usual) => usual, claims } = personas[provider]
    const form = new URLSearchParams(await request.text())
    if (!isClient(provider, request.headers, form)) return refusal('invalid_client')
    const code = codes.get(form.get('code') ?? '')
    codes.delete(form.get('code') ?? '')
    if (code?.provider !== provider || !isFor(code, form)) return refusal('invalid_grant')
    const access_token = `access-${crypto.randomUUID()}`
    tokens.set(access_token, code)
    const answer = {
      access_token,
      token_type: 'Bearer',
      expires_in: HOUR_S,
      scope: code.scopes.join(' '),
      ...(claims && { id_token: idToken(code, claims(code)) }),
    }
    return spelt(words(answer, code), provider, request.headers)
  }

  function isClient(provider: ProviderName, headers: Headers, form: URLSearchParams): boolean {
    let [id, secret] = [form.get('client_id'), form.get('client_secret')]
    if (personas[provider].authenticates === 'basic')
      [id = null, secret = null] = basicIn(headers.get('authorization') ?? '')
    if (id !== clientIdAt(provider)) return false
    if (provider !== 'apple') return secret === CLIENT_SECRET
    return isAppleSecret(secret ?? '', apple, urlOf('apple'), clock.now())
  }

  function idToken({ provider, account, nonce }: Code, claims: Record<string, unknown>): string {
    const { issuer = (url: string) => url, ignoresNonce } = personas[provider]
    const iat = Math.floor(clock.now() / 1000)
    const token = {
      header: { alg: state.key.alg, kid: state.key.kid },
      claims: {
        ...claims,
        iss: issuer(urlOf(provider), account),
        aud: clientIdAt(provider),
        iat,
        exp: iat + HOUR_S,
        ...(nonce && !ignoresNonce && { nonce }),
      },
      key: state.key,
    }
    state.tamper?.(token)
    return signToken(token, token.key.privateKey, CLIENT_SECRET)
  }

  function api(provider: ProviderName, path: string, query: URLSearchParams, headers: Headers) {
    const accessToken = /^Bearer (.+)$/.exec(headers.get('authorization') ?? '')?.[1] ?? ''
    const grant = tokens.get(accessToken)
    if (grant?.provider !== provider) return Response.json({ error: 'who?' }, { status: 401 })
    if (!headers.get('user-agent')) return new Response('no user agent', { status: 403 })
    const call = { ...grant, query, accessToken, clientSecret: CLIENT_SECRET }
    const answer = personas[provider].api?.[path]?.(call) ?? NOT_FOUND()
    return answer instanceof Response ? answer : Response.json(answer)
  }

  return {
    url: server.url.origin,
    /** Paths and queries of all requests, in order. */
    paths,
    /** Part of `gate.providers`: this server in the place of `provider`. */
    providerConfig: (provider: ProviderName): ProviderSettings => ({
      ...NOTHING_SET,
      ...(provider === 'apple' ? apple : { clientId: CLIENT_ID, clientSecret: CLIENT_SECRET }),
      baseUrl: urlOf(provider) + (personas[provider].base ?? ''),
    }),
    allowRedirect: (uri: string) => void redirectUris.add(uri),
    /** The account that presses the button from now on. */
    signInAs: (account: Account) => {
      state.account = account
    },
    /** From now on changes every ID token; without an argument no more. */
    tamper: (change?: Tamper) => {
      state.tamper = change
    },
    /** From now on gives these answers; without an argument the usual ones. */
    answer: (answers: Answers = {}) => {
      state.answers = answers
    },
    /** From now on users agree to these alone; without an argument to what they are asked for. */
    grantScopes: (scopes?: string[]) => {
      state.scopes = scopes
    },
    /** Signs with another key from now on, the only one that is published. */
    rotateKeys: () => {
      state.key = newSigningKey()
    },
    stop: () => server.stop(true),
    [Symbol.asyncDispose]: () => server.stop(true),
  }
}

const NOT_FOUND = () => new Response('nothing here', { status: 404 })

const html = (page: string) => new Response(page, { headers: { 'content-type': 'text/html' } })

function back(query: URLSearchParams, answer: Record<string, string>): Response {
  const url = new URL(query.get('redirect_uri') ?? '')
  const fields = { ...answer, state: query.get('state') ?? '' }
  if (query.get('response_mode') === 'form_post') return html(backPage(url.href, fields))
  for (const [name, value] of Object.entries(fields)) url.searchParams.set(name, value)
  return new Response(null, { status: 302, headers: { location: url.href } })
}

/** GitHub answers with a form unless it is asked for JSON. */
function spelt(answer: Record<string, unknown>, provider: ProviderName, headers: Headers) {
  const isJson = headers.get('accept')?.includes('application/json') ?? false
  if (provider !== 'github' || isJson) return Response.json(answer)
  return new Response(new URLSearchParams(answer as Record<string, string>))
}

/** RFC 6749, 2.3.1: in a header both halves are form-encoded before they are put together. */
const basicIn = (header: string): string[] =>
  atob(/^Basic (.+)$/.exec(header)?.[1] ?? '')
    .split(':')
    .map((text) => decodeURIComponent(text.replaceAll('+', ' ')))

function isFor(code: Code, form: URLSearchParams): boolean {
  const verifier = form.get('code_verifier')
  const challenge = verifier && new Bun.CryptoHasher('sha256').update(verifier).digest('base64url')
  return (
    form.get('grant_type') === 'authorization_code' &&
    form.get('redirect_uri') === code.redirectUri &&
    (challenge ?? null) === code.challenge
  )
}
