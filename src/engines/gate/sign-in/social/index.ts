import type { AnyProvider, Config } from '../../../../config/index.ts'
import { type BoundedFetch, createBoundedFetch } from '../../../../platform/bounded-fetch.ts'
import { type Clock, systemClock } from '../../../../platform/clock.ts'
import { addressesOf, checkTransport, type ProviderSettings, subjectAt } from './addresses.ts'
import { authorizationUrl, type OAuthSecrets } from './authorization-url.ts'
import { checkConnection, type ProviderCheck } from './check.ts'
import { checkSignIn, type SignInCheck } from './check-sign-in.ts'
import { checkedSubject } from './claims.ts'
import { signedSecret } from './client-secret.ts'
import type { Connection, Outcome, Return, SocialProfile } from './connection.ts'
import { asSocialError, failed, reasonIn } from './errors.ts'
import { createKeySets } from './key-sets.ts'
import { oauthExchange } from './oauth-exchange.ts'
import { openIdExchange } from './openid-exchange.ts'
import type { Addresses, Provider } from './provider.ts'
import { providers } from './providers/index.ts'

export type { OAuthSecrets } from './authorization-url.ts'
export type { ProviderCheck } from './check.ts'
export type { SignInCheck } from './check-sign-in.ts'
export type { SocialProfile } from './connection.ts'
export { SocialError } from './errors.ts'

/** Social login (OAuth 2, OpenID Connect) as a client. */
export interface Social {
  /** Whether a client is configured for the provider. */
  isConfigured(provider: AnyProvider): boolean
  /** Uses login_hint, hd, prompt, auth_type, acr_values of `upstream`. Throws `SocialError`. */
  begin(
    provider: AnyProvider,
    of: { redirectUri: string; state: string; upstream?: Readonly<Record<string, string>> },
  ): Promise<{ url: string; secrets: OAuthSecrets }>
  /** `params` is from the callback (GET or POST), the rest from `begin`. Throws `SocialError`. */
  complete(provider: AnyProvider, of: Return): Promise<SocialProfile>
  /** Asks a configured provider what it says without a user. Never rejects. */
  check(provider: AnyProvider, redirectUri: string): Promise<ProviderCheck[]>
  /** Completes a sign-in only to say how far it comes, and as which account. Never rejects. */
  checkSignIn(provider: AnyProvider, of: Return): Promise<SignInCheck>
}

/** For each of up to four successive calls: the waiting browser is disconnected after 30 s. */
const CALL_MS = 6000

export function createSocial(parts: {
  /** The clients in effect, which can change while the program runs. */
  providers: () => Config['gate']['providers']
  clock: Clock
  fetch?: BoundedFetch
  /** Additional trusted root certificates, PEM. */
  ca?: string | string[]
}): Social {
  const { clock, ca } = parts
  const fetch = parts.fetch ?? createBoundedFetch({ clock, ca, timeoutMs: CALL_MS })
  const keySets = createKeySets(clock, fetch)

  function connect(name: AnyProvider, reach: Connection['reach'] = () => {}): Connection {
    const settings = parts.providers()[name]
    const provider = providers[name]
    if (!hasClient(provider, settings)) failed('no client is configured')
    const addresses = addressesOf(provider, settings)
    checkTransport(addresses)
    const nowMs = clock.now()
    const clientId = settings.clientId ?? ''
    const clientSecret = secretOf(provider, settings, addresses, nowMs)
    const skewMs = nowMs - systemClock.now()
    return { provider, addresses, clientId, clientSecret, nowMs, skewMs, fetch, keySets, reach }
  }

  async function profileFrom(connection: Connection, back: Return): Promise<SocialProfile> {
    const { person, ...granted } = await exchange(connection, back)
    const { provider, addresses } = connection
    const subject = checkedSubject(subjectAt(provider, addresses, person.subject))
    // Some providers confirm the account rather than an address, so there may be no address.
    const isEmailVerified = person.isEmailVerified && person.email !== undefined
    return { ...person, ...granted, subject, isEmailVerified }
  }

  return {
    isConfigured: (name) => hasClient(providers[name], parts.providers()[name]),
    async check(name, redirectUri) {
      try {
        return await checkConnection(connect(name), redirectUri)
      } catch (error) {
        const message = `${reasonIn(error)}.`
        return [{ about: 'addresses', result: 'failed', message }]
      }
    },
    begin: (name, { upstream = {}, ...of }) =>
      named(name, async () => authorizationUrl({ ...connect(name), ...of, upstream })),
    complete: (name, of) => named(name, async () => profileFrom(connect(name), of)),
    checkSignIn: (name, of) =>
      checkSignIn(name, async (reach) => profileFrom(connect(name, reach), of)),
  }
}

function exchange(connection: Connection, back: Return): Promise<Outcome> {
  const { provider } = connection
  return provider.kind === 'openid'
    ? openIdExchange({ ...connection, provider }, back)
    : oauthExchange({ ...connection, provider }, back)
}

async function named<T>(provider: AnyProvider, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw asSocialError(provider, error)
  }
}

const hasClient = ({ clientAuth }: Provider, settings: ProviderSettings): boolean => {
  const { clientId, clientSecret, teamId, keyId, privateKey } = settings
  const secrets = clientAuth === 'signed' ? [teamId, keyId, privateKey] : [clientSecret]
  return [clientId, ...secrets].every((each) => each !== undefined)
}

function secretOf(
  provider: Provider,
  settings: ProviderSettings,
  { issuer }: Addresses,
  nowMs: number,
): string {
  const { clientId = '', clientSecret = '', teamId = '', keyId = '', privateKey = '' } = settings
  if (provider.clientAuth !== 'signed') return clientSecret
  return signedSecret({ clientId, teamId, keyId, privateKey, audience: issuer, nowMs })
}
