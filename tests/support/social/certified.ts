import http, { type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { interactionPolicy, Provider } from 'oidc-provider'
import { type Account, newAccount } from './accounts.ts'
import { consentPage } from './pages.ts'
import { personas } from './personas.ts'
import { newSigningKey } from './signing.ts'

type Name = 'google' | 'gitlab'

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

  function hostOf(name: Name) {
    const provider = new Provider(`${url}/${name}`, configurationOf(name, accounts))
    provider.Client.prototype.redirectUriAllowed = (uri: string) => redirectUris.has(uri)
    return provider
  }

  server.on('request', async (request, response) => {
    const [, name, ...rest] = (request.url ?? '').split('/')
    const provider = hosts[name as Name]
    forgetSession(request)
    if (rest[0] !== 'interaction') {
      // The provider reads from this where it is mounted.
      Object.assign(request, { originalUrl: request.url, url: `/${rest.join('/')}` })
      return provider.callback()(request, response)
    }
    if (request.method === 'GET') {
      response.setHeader('content-type', 'text/html')
      return response.end(consentPage(name as Name, request.url ?? '', account))
    }
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const isAllowed = `${Buffer.concat(chunks)}` === 'decision=allow'
    accounts.set(account.id, account)
    const result = isAllowed ? { login: { accountId: account.id } } : { error: 'access_denied' }
    return provider.interactionFinished(request, response, result)
  })

  const stop = () => {
    server.close()
    server.closeAllConnections()
  }
  return {
    providerConfig: (name: Name) => ({ ...CLIENT, baseUrl: `${url}/${name}` }),
    allowRedirect: (uri: string) => void redirectUris.add(uri),
    signInAs: (next: Account) => {
      account = next
    },
    [Symbol.dispose]: stop,
  }
}

function configurationOf(name: Name, accounts: Map<string, Account>) {
  const { authorize, token, jwks = '', api = {} } = personas[name]
  const key = newSigningKey().privateKey.export({ format: 'jwk' })
  const policy = interactionPolicy.base()
  policy.remove('consent')
  return {
    clients: [
      {
        client_id: CLIENT.clientId,
        client_secret: CLIENT.clientSecret,
        redirect_uris: ['https://never.example/used'],
        token_endpoint_auth_method: 'client_secret_post' as const,
      },
    ],
    routes: { authorization: authorize, token, jwks, userinfo: Object.keys(api)[0] },
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
    conformIdTokenClaims: false,
    pkce: { required: () => true },
    cookies: { keys: ['a-key-for-cookies'] },
    jwks: { keys: [{ ...key, use: 'sig' }] },
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
      const { clientId } = client
      const grant = new provider.Grant({ clientId, accountId: session.accountId })
      grant.addOIDCScope(params.scope)
      await grant.save()
      return grant
    },
  }
}

/** Asks each time, so that a browser can come back with another account. */
function forgetSession({ headers }: IncomingMessage) {
  const cookies = (headers.cookie ?? '').split('; ')
  headers.cookie = cookies.filter((cookie) => !cookie.startsWith('_session')).join('; ')
}
