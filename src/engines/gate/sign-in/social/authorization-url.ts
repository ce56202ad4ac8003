import * as oauth from 'oauth4webapi'
import type { Addresses, Provider } from './provider.ts'

/** What has to be stored until the provider responds; the caller keeps it sealed. */
export interface OAuthSecrets {
  verifier?: string
  nonce?: string
}

/** Parameters that a caller may pass on. Others could change the request itself. */
const UPSTREAM = ['login_hint', 'hd', 'prompt', 'auth_type', 'acr_values'] as const
const MAX_UPSTREAM_LENGTH = 320

/** The URL to send the browser to, and the secrets to check its return with. */
export async function authorizationUrl(of: {
  provider: Provider
  addresses: Addresses
  clientId: string
  redirectUri: string
  state: string
  upstream: Readonly<Record<string, string>>
}): Promise<{ url: string; secrets: OAuthSecrets }> {
  const { provider, addresses, clientId, redirectUri, state } = of
  const secrets = mintSecrets(provider)
  const url = new URL(addresses.authorize)
  const parameters = {
    ...passedOn(of.upstream),
    response_type: 'code',
    client_id: clientId,
    redirect_uri: redirectUri,
    scope: provider.scopes,
    state,
    ...(secrets.nonce && { nonce: secrets.nonce }),
    ...(secrets.verifier && {
      code_challenge: await oauth.calculatePKCECodeChallenge(secrets.verifier),
      code_challenge_method: 'S256',
    }),
    ...provider.parameters,
  }
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value)
  return { url: url.href, secrets }
}

const mintSecrets = (provider: Provider): OAuthSecrets => ({
  ...(provider.pkce && { verifier: oauth.generateRandomCodeVerifier() }),
  ...(provider.kind === 'openid' && provider.nonce && { nonce: oauth.generateRandomNonce() }),
})

const passedOn = (upstream: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(
    UPSTREAM.flatMap((name) => {
      const value = Object.hasOwn(upstream, name) ? upstream[name] : undefined
      return isPassable(value) ? [[name, value]] : []
    }),
  )

const isPassable = (value: unknown): value is string =>
  typeof value === 'string' && value.length <= MAX_UPSTREAM_LENGTH && /^[^\p{Cc}]+$/u.test(value)
