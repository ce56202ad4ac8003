import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { type Account, newAccount, personas } from './personas.ts'
import { consentPage } from './walk.ts'

// The library warns of Bun, and of defaults that are good enough for a test.
for (const method of ['info', 'warn'] as const) {
  const log = console[method]
  console[method] = (...words) => `${words}`.includes('oidc-provider') || log(...words)
}
const { interactionPolicy, Provider } = await import('oidc-provider')

const CLIENT = { clientId: 'gatehouse-at-certified', clientSecret: 'a-secret-of-the-client' }

/** A certified OpenID provider on loopback, at the paths of Google and at those of GitLab. */
export async function startCertifiedProvider() {
  const redirectUris = new Set<string>()
  const accounts = new Map<string, Account>()
  let account = newAccount()
  const server = http.createServer()
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const hosts = { google: hostOf('google'), gitlab: hostOf('gitlab') }

  function hostOf(name: 'google' | 'gitlab') {
    const provider = new Provider(`${url}/${name}`, configurationOf(name, accounts))
    provider.Client.prototype.redirectUriAllowed = (uri: string) => redirectUris.has(uri)
    return provider
  }

  server.on('request', async (request, response) => {
    const { url: path = '', headers } = request
    const [, name, ...rest] = path.split('/')
    const provider = hosts[name as keyof typeof hosts]
    // Asks each time, so that a browser can come back with another account.
    headers.cookie = headers.cookie?.replaceAll(/\b_session[^;]*(; )?/g, '')
    if (rest[0] !== 'interaction') {
      // The provider reads from this where it is mounted.
      Object.assign(request, { originalUrl: path, url: `/${rest.join('/')}` })
      return provider.callback()(request, response)
    }
    if (request.method === 'GET') return response.end(consentPage(name as string, path, account))
    const isAllowed = (await text(request)) === 'decision=allow'
    accounts.set(account.id, account)
    const result = isAllowed ? { login: { accountId: account.id } } : { error: 'access_denied' }
    return provider.interactionFinished(request, response, result)
  })

  return {
    providerConfig: (name: keyof typeof hosts) => ({ ...CLIENT, baseUrl: `${url}/${name}` }),
    allowRedirect: (uri: string) => void redirectUris.add(uri),
    signInAs: (next: Account) => {
      account = next
    },
    [Symbol.dispose]() {
      server.close()
      server.closeAllConnections()
    },
  }
}

/** One client, whose secret comes in the body; users consent by signing in. */
function configurationOf(name: 'google' | 'gitlab', accounts: Map<string, Account>) {
  const { authorize: authorization, token, jwks = '', api = {} } = personas[name]
  const policy = interactionPolicy.base()
  policy.remove('consent')
  const client = {
    client_id: CLIENT.clientId,
    client_secret: CLIENT.clientSecret,
    redirect_uris: ['https://never.example/used'],
    token_endpoint_auth_method: 'client_secret_post' as const,
  }
  return {
    clients: [client],
    routes: { authorization, token, jwks, userinfo: Object.keys(api)[0] },
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
    conformIdTokenClaims: false,
    pkce: { required: () => true },
    cookies: { keys: ['a-key-for-cookies'] },
    features: { devInteractions: { enabled: false } },
    interactions: {
      url: (_: unknown, { uid }: { uid: string }) => `/${name}/interaction/${uid}`,
      policy,
    },
    findAccount: (_: unknown, id: string) => {
      const { email, isVerified, name: fullName } = accounts.get(id) as Account
      const claims = { sub: id, email, email_verified: isVerified, name: fullName }
      return { accountId: id, claims: () => claims }
    },
    // biome-ignore lint/suspicious/noExplicitAny: the library's context
    loadExistingGrant: async ({ oidc: { client, session, params, provider } }: any) => {
      const grant = new provider.Grant({ clientId: client.clientId, accountId: session.accountId })
      grant.addOIDCScope(params.scope)
      await grant.save()
      return grant
    },
  }
}
