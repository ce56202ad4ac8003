import { afterAll, expect } from 'bun:test'
import { PROVIDERS, type ProviderName } from '../../../../../src/config/index.ts'
import {
  createSocial,
  type Social,
  SocialError,
} from '../../../../../src/engines/gate/sign-in/social/index.ts'
import { createBoundedFetch } from '../../../../../src/platform/bounded-fetch.ts'
import { createTestClock } from '../../../../support/clock.ts'
import { testConfig } from '../../../../support/config.ts'
import {
  type Answers,
  NOTHING_SET,
  newAccount,
  type ProviderSettings,
  startProviders,
  type Tamper,
  walk,
  withParams,
} from '../../../../support/social/index.ts'
import { MINUTE, START } from '../../fixture.ts'

export const callbackOf = (provider: ProviderName) =>
  `https://gate.example/auth/self-service/methods/oidc/callback/${provider}`

type Clients = Partial<Record<ProviderName, Partial<ProviderSettings>>>

/** Social login with clients at these providers only. */
export function socialWith(clients: Clients, clock = createTestClock(START)): Social {
  const changed = Object.entries(clients).map(([name, settings]) => [
    name,
    { ...NOTHING_SET, ...settings },
  ])
  const providers = { ...testConfig().gate.providers, ...Object.fromEntries(changed) }
  return createSocial({
    providers: () => providers,
    clock,
    fetch: createBoundedFetch({ clock, timeoutMs: 10_000, maxBodyBytes: 100_000 }),
  })
}

/** What a browser brings back from a provider, and what was stored when it left. */
export type Callback = Awaited<ReturnType<typeof callbackFrom>>

/** A browser that leaves for a provider and comes back. */
export async function callbackFrom(social: Social, provider: ProviderName) {
  const redirectUri = callbackOf(provider)
  const state = `state-of-${crypto.randomUUID()}`
  const { url, secrets } = await social.begin(provider, { redirectUri, state })
  const { params } = await walk(url, { to: redirectUri })
  return { provider, redirectUri, params, state, secrets }
}

export const complete = (social: Social, { provider, ...of }: Callback) =>
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

export const changed = (callback: Callback, changes: Record<string, string | null>): Callback => ({
  ...callback,
  params: withParams(callback.params, changes),
})

/** All providers on loopback, and a client of each. */
export function useProviders() {
  const clock = createTestClock(START)
  const fakes = startProviders({ redirectUris: PROVIDERS.map(callbackOf), clock })
  afterAll(() => fakes.stop())
  const clients = PROVIDERS.map((name) => [name, fakes.providerConfig(name)])
  const social = socialWith(Object.fromEntries(clients), clock)

  /** `account` comes back from the provider, whose ID token is changed by `tamper`. */
  async function come(provider: ProviderName, account = newAccount(), tamper?: Tamper) {
    fakes.signInAs(account)
    fakes.tamper(tamper)
    return callbackFrom(social, provider)
  }

  return {
    ...{ clock, fakes, social, come },
    signIn: async (...of: Parameters<typeof come>) => complete(social, await come(...of)),
    /** Why an ID token like this is refused. */
    refusal: async (provider: ProviderName, tamper: Tamper) =>
      refusalOf(social, await come(provider, undefined, tamper)),
    /** Why these answers are refused; no key is cached. */
    async refusalWith(provider: ProviderName, answers: Answers) {
      await clock.advance(5 * MINUTE)
      fakes.answer(answers)
      return refusalOf(social, await come(provider)).finally(() => fakes.answer())
    },
  }
}

/** Changes claims; undefined removes one. */
export const claiming =
  (changes: Record<string, unknown>): Tamper =>
  ({ claims }) =>
    void Object.assign(claims, changes)
