import { type Account, newAccount } from './accounts.ts'
import { consentPage } from './pages.ts'
import { type Granted, PLAIN_NAMES, type PlainName, plainPersonas } from './plain-personas.ts'
import { NOTHING_SET, type ProviderSettings } from './settings.ts'

export type PlainProviders = ReturnType<typeof startPlainProviders>

const CLIENT_ID = 'gatehouse-at-plain'
const CLIENT_SECRET = 'a+secret/of the plain:client'

/** What a code is good for, once. */
interface Code extends Granted {
  provider: PlainName
  redirectUri: string
  challenge: string | null
}

/**
 * GitHub (Enterprise), Discord, Facebook and Spotify on loopback: each with its paths, its way to
 * check a client, its spelling of answers and errors. A code is good once, for the client, the
 * redirect and the verifier that it was given for.
 */
export function startPlainProviders(options: { redirectUris?: string[]; port?: number } = {}) {
  const codes = new Map<string, Code>()
  const tokens = new Map<string, Granted & { provider: PlainName }>()
  const requests: { method: string; path: string }[] = []
  const redirectUris = new Set(options.redirectUris)
  const state = { account: newAccount(), scopes: undefined as string[] | undefined }

  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: options.port ?? 0,
    async fetch(request) {
      const url = new URL(request.url)
      requests.push({ method: request.method, path: url.pathname + url.search })
      const [, first = '', ...rest] = url.pathname.split('/')
      const provider = PLAIN_NAMES.find((name) => name === first)
      if (!provider) return new Response('nothing here', { status: 404 })
      const path = `/${rest.join('/')}`
      const { authorize, token } = plainPersonas[provider]
      if (path === authorize) return authorization(provider, url, request)
      if (path === token) return exchange(provider, request)
      return api(provider, path, url.searchParams, request)
    },
  })

  async function authorization(provider: PlainName, url: URL, request: Request) {
    const problem = whatIsWrong(url.searchParams)
    if (problem) return new Response(problem, { status: 400 })
    if (request.method === 'GET') {
      const action = url.pathname + url.search
      return html(consentPage({ title: provider, action, who: state.account.name }))
    }
    const isAllowed = new URLSearchParams(await request.text()).get('decision') === 'allow'
    return back(url.searchParams, isAllowed ? { code: newCode(provider, url) } : denial(provider))
  }

  function whatIsWrong(query: URLSearchParams) {
    if (query.get('client_id') !== CLIENT_ID) return 'unknown client'
    if (!redirectUris.has(query.get('redirect_uri') ?? '')) return 'unknown redirect_uri'
    if (query.get('response_type') !== 'code') return 'response_type must be code'
    const method = query.get('code_challenge_method')
    return method === null || method === 'S256' ? undefined : 'unknown challenge method'
  }

  function newCode(provider: PlainName, { searchParams }: URL): string {
    const code = `code-${crypto.randomUUID()}`
    codes.set(code, {
      provider,
      account: state.account,
      scopes: state.scopes ?? (searchParams.get('scope') ?? '').split(' '),
      redirectUri: searchParams.get('redirect_uri') ?? '',
      challenge: searchParams.get('code_challenge'),
    })
    return code
  }

  async function exchange(provider: PlainName, request: Request): Promise<Response> {
    const persona = plainPersonas[provider]
    const form = new URLSearchParams(await request.text())
    if (!isClient(persona.clientAuth, request.headers, form))
      return persona.refusal('invalid_client')
    const code = codes.get(form.get('code') ?? '')
    codes.delete(form.get('code') ?? '')
    if (code?.provider !== provider || !isFor(code, form)) return persona.refusal('invalid_grant')
    const accessToken = `access-${crypto.randomUUID()}`
    tokens.set(accessToken, code)
    return spelt(persona.tokens(accessToken, code.scopes), provider, request)
  }

  function api(provider: PlainName, path: string, query: URLSearchParams, request: Request) {
    const persona = plainPersonas[provider]
    const accessToken = /^Bearer (.+)$/.exec(request.headers.get('authorization') ?? '')?.[1] ?? ''
    const granted = tokens.get(accessToken)
    if (granted?.provider !== provider) return persona.stranger()
    const { headers } = request
    const call = { ...granted, path, query, headers, accessToken, clientSecret: CLIENT_SECRET }
    return persona.api(call) ?? new Response('nothing here', { status: 404 })
  }

  return {
    url: server.url.origin,
    /** Everything that was asked, in order. */
    requests,
    /** Part of `gate.providers`: this server in the place of `name`. */
    providerConfig: (name: PlainName): ProviderSettings => ({
      ...NOTHING_SET,
      clientId: CLIENT_ID,
      clientSecret: CLIENT_SECRET,
      baseUrl: `${server.url.origin}/${name}`,
    }),
    allowRedirect: (uri: string) => void redirectUris.add(uri),
    /** Who presses the button from now on. */
    signInAs: (account: Account) => {
      state.account = account
    },
    /** From now on people agree to these alone; without an argument to what they are asked for. */
    grantScopes: (scopes?: string[]) => {
      state.scopes = scopes
    },
    stop: () => server.stop(true),
    [Symbol.asyncDispose]: () => server.stop(true),
  }
}

const denial = (provider: PlainName) => ({
  error: 'access_denied',
  error_description: 'The user said no',
  ...plainPersonas[provider].denial,
})

function back(query: URLSearchParams, answer: Record<string, string>): Response {
  const url = new URL(query.get('redirect_uri') ?? '')
  for (const [name, value] of Object.entries(answer)) url.searchParams.set(name, value)
  const state = query.get('state')
  if (state !== null) url.searchParams.set('state', state)
  return new Response(null, { status: 302, headers: { location: url.href } })
}

const html = (page: string) => new Response(page, { headers: { 'content-type': 'text/html' } })

/** GitHub answers with a form unless it is asked for JSON. */
function spelt(answer: Record<string, unknown>, provider: PlainName, { headers }: Request) {
  const isJson = headers.get('accept')?.includes('application/json') ?? false
  if (provider !== 'github' || isJson) return Response.json(answer)
  return new Response(new URLSearchParams(answer as Record<string, string>).toString(), {
    headers: { 'content-type': 'application/x-www-form-urlencoded; charset=utf-8' },
  })
}

/** RFC 6749, 2.3.1: in a header both halves are form-encoded before they are put together. */
function isClient(way: 'basic' | 'post', headers: Headers, form: URLSearchParams): boolean {
  if (way === 'post') {
    return form.get('client_id') === CLIENT_ID && form.get('client_secret') === CLIENT_SECRET
  }
  const encoded = /^Basic (.+)$/.exec(headers.get('authorization') ?? '')?.[1] ?? ''
  const [id = '', secret = ''] = atob(encoded).split(':').map(formDecoded)
  return id === CLIENT_ID && secret === CLIENT_SECRET
}

const formDecoded = (text: string) => decodeURIComponent(text.replaceAll('+', ' '))

function isFor(code: Code, form: URLSearchParams): boolean {
  const verifier = form.get('code_verifier')
  const challenge = verifier && new Bun.CryptoHasher('sha256').update(verifier).digest('base64url')
  return (
    form.get('grant_type') === 'authorization_code' &&
    form.get('redirect_uri') === code.redirectUri &&
    (challenge ?? null) === code.challenge
  )
}
