import { afterAll, expect } from 'bun:test'
import { type Config, PROVIDERS, type ProviderName } from '../../../../../src/config/index.ts'
import {
  createSocial,
  type OAuthSecrets,
  type Social,
  SocialError,
  type SocialProfile,
} from '../../../../../src/engines/gate/sign-in/social/index.ts'
import { createBoundedFetch } from '../../../../../src/platform/bounded-fetch.ts'
import { createTestClock, type TestClock } from '../../../../support/clock.ts'
import { testConfig } from '../../../../support/config.ts'
import {
  type Account,
  type Arrival,
  newAccount,
  OPENID_NAMES,
  type OpenIdName,
  PLAIN_NAMES,
  type ProviderSettings,
  startOpenIdProvider,
  startPlainProviders,
  type Tamper,
  walk,
} from '../../../../support/social/index.ts'

export const START = '2026-03-01T12:00:00.000Z'

export const callbackOf = (provider: ProviderName) =>
  `https://gate.example/auth/self-service/methods/oidc/callback/${provider}`

type Some = Partial<Record<ProviderName, Partial<ProviderSettings>>>

/** Social login with clients at these providers only. */
export function socialWith(some: Some, clock: TestClock = createTestClock(START)): Social {
  const { providers } = testConfig().gate
  const entries = Object.entries(some) as [ProviderName, Partial<ProviderSettings>][]
  const changed = entries.map(([name, settings]) => [name, { ...providers[name], ...settings }])
  return createSocial({
    providers: { ...providers, ...Object.fromEntries(changed) } as Config['gate']['providers'],
    clock,
    fetch: createBoundedFetch({ clock, timeoutMs: 10_000, maxBodyBytes: 100_000 }),
  })
}

/** What a browser brings back from a provider, and what was stored when it left. */
export interface Callback {
  provider: ProviderName
  redirectUri: string
  params: URLSearchParams
  state: string
  secrets: OAuthSecrets
  method: Arrival['method']
}

export async function callbackFrom(
  social: Social,
  provider: ProviderName,
  options: { press?: 'allow' | 'deny' } = {},
): Promise<Callback> {
  const redirectUri = callbackOf(provider)
  const state = `state-of-${crypto.randomUUID()}`
  const { url, secrets } = await social.begin(provider, { redirectUri, state })
  const { params, method } = await walk(url, { to: redirectUri, ...options })
  return { provider, redirectUri, params, state, secrets, method }
}

export const complete = (social: Social, { provider, ...of }: Callback): Promise<SocialProfile> =>
  social.complete(provider, of)

/** The error of a callback that must fail; it must contain no secret. */
export async function refusalOf(social: Social, callback: Callback): Promise<SocialError> {
  const error = await complete(social, callback).then(
    ({ subject }) => expect.unreachable(`signed in as ${subject}`),
    (reason: unknown) => reason,
  )
  expect(error).toBeInstanceOf(SocialError)
  const { message, cause, stack } = error as SocialError
  expect(message).toStartWith(`${callback.provider}: `)
  expect(cause).toBeUndefined()
  const secrets = [callback.params.get('code'), ...Object.values(callback.secrets), 'secret']
  for (const secret of secrets) if (secret) expect(`${message}${stack}`).not.toContain(secret)
  return error as SocialError
}

export function withParams(callback: Callback, changes: Record<string, string | null>): Callback {
  const params = new URLSearchParams(callback.params)
  for (const [name, value] of Object.entries(changes)) {
    if (value === null) params.delete(name)
    else params.set(name, value)
  }
  return { ...callback, params }
}

/** All providers on loopback, and a client of each. */
export async function useProviders() {
  const clock = createTestClock(START)
  const redirectUris = PROVIDERS.map(callbackOf)
  const openId = await startOpenIdProvider({ redirectUris, clock })
  const plain = startPlainProviders({ redirectUris })
  afterAll(() => Promise.all([openId.stop(), plain.stop()]))

  const settings = [
    ...OPENID_NAMES.map((name) => [name, openId.providerConfig(name)]),
    ...PLAIN_NAMES.map((name) => [name, plain.providerConfig(name)]),
  ]
  const social = socialWith(Object.fromEntries(settings), clock)

  /** `account` comes back from the provider, whose ID token is changed by `tamper`. */
  async function come(provider: ProviderName, account: Account = newAccount(), tamper?: Tamper) {
    openId.signInAs(account)
    plain.signInAs(account)
    openId.tamper(tamper)
    return callbackFrom(social, provider)
  }

  return {
    clock,
    openId,
    plain,
    social,
    come,
    signIn: async (provider: ProviderName, account: Account, tamper?: Tamper) =>
      complete(social, await come(provider, account, tamper)),
    /** Why an ID token like this is refused. */
    refusal: async (provider: OpenIdName, tamper: Tamper) =>
      refusalOf(social, await come(provider, undefined, tamper)),
  }
}

/** Changes claims; undefined removes one. */
export const claiming =
  (changes: Record<string, unknown> | (() => Record<string, unknown>)): Tamper =>
  ({ claims }) => {
    Object.assign(claims, typeof changes === 'function' ? changes() : changes)
  }
