import type { IncomingMessage, ServerResponse } from 'node:http'
import type { KoaContextWithOIDC } from 'oidc-provider'
import { Provider } from './library.ts'
import { configurationOf } from './openid-configuration.ts'
import { withQuirks } from './openid-quirks.ts'
import { CLIENT_ID, type State } from './openid-state.ts'
import { consentPage } from './pages.ts'
import { type OpenIdName, personas } from './personas.ts'
import { isAppleSecret } from './signing.ts'

/** A provider that answers everything under `url`, whose path is its name. */
export function openIdHost(name: OpenIdName, url: string, state: State) {
  const persona = personas[name]
  const clientId = name === 'apple' ? state.apple.clientId : CLIENT_ID
  const provider = new Provider(url, configurationOf(persona, name, clientId, state))
  provider.Client.prototype.redirectUriAllowed = (uri: string) => state.redirectUris.has(uri)
  if (name === 'apple') {
    provider.Client.prototype.compareClientSecret = (secret: string) =>
      isAppleSecret(secret, state.apple, url, state.now())
  }
  provider.use((ctx, next) => withQuirks(ctx as KoaContextWithOIDC, next, { persona, url, state }))
  const answer = provider.callback()

  function ask(response: ServerResponse, path: string) {
    const page = consentPage({ title: name, action: `/${name}${path}`, who: state.account.name })
    response.writeHead(200, { 'content-type': 'text/html' }).end(page)
  }

  async function decide(request: IncomingMessage, response: ServerResponse) {
    const decision = new URLSearchParams(await bodyOf(request)).get('decision')
    const { account } = state
    state.accounts.set(account.id, account)
    const result = decision === 'allow' ? { login: { accountId: account.id } } : REFUSAL
    await provider.interactionFinished(request, response, result)
  }

  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const path = (request.url ?? '').slice(`/${name}`.length)
    forgetSession(request)
    if (path.startsWith('/interaction/')) {
      return request.method === 'POST' ? decide(request, response) : ask(response, path)
    }
    // By this it tells where it is mounted, as behind Express.
    Object.assign(request, { originalUrl: request.url, url: path })
    await answer(request, response)
  }
}

const REFUSAL = { error: 'access_denied', error_description: 'the person said no' }

/** Everybody is asked each time, so that a browser can come back as somebody else. */
function forgetSession({ headers }: IncomingMessage) {
  headers.cookie = (headers.cookie ?? '')
    .split('; ')
    .filter((cookie) => !cookie.startsWith('_session'))
    .join('; ')
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}
