import { expect } from 'bun:test'
import type { Config, ProviderName } from '../../../../../src/config/index.ts'
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
import { type Arrival, type ProviderSettings, walk } from '../../../../support/social/index.ts'

export const START = '2026-03-01T12:00:00.000Z'

export const callbackOf = (provider: ProviderName) =>
  `https://gate.example/auth/self-service/methods/oidc/callback/${provider}`

export type Providers = Config['gate']['providers']

/** All providers, off but for these. */
export const providersWith = (
  some: Partial<Record<ProviderName, Partial<ProviderSettings>>>,
): Providers => {
  const { providers } = testConfig().gate
  const changed = Object.entries(some).map(([name, settings]) => [
    name,
    { ...providers[name as ProviderName], ...settings },
  ])
  return { ...providers, ...Object.fromEntries(changed) }
}

export const socialWith = (
  some: Partial<Record<ProviderName, Partial<ProviderSettings>>>,
  clock: TestClock = createTestClock(START),
): Social => {
  const fetch = createBoundedFetch({ clock, timeoutMs: 10_000, maxBodyBytes: 100_000 })
  return createSocial({ providers: providersWith(some), clock, fetch })
}

/** A round trip that has come back, so that a test can bend what it ends with. */
export interface Journey {
  provider: ProviderName
  redirectUri: string
  params: URLSearchParams
  state: string
  secrets: OAuthSecrets
  method: Arrival['method']
}

export async function travel(
  social: Social,
  provider: ProviderName,
  options: { press?: 'allow' | 'deny' } = {},
): Promise<Journey> {
  const redirectUri = callbackOf(provider)
  const state = `state-of-${crypto.randomUUID()}`
  const { url, secrets } = await social.begin(provider, { redirectUri, state })
  const { params, method } = await walk(url, { to: redirectUri, ...options })
  return { provider, redirectUri, params, state, secrets, method }
}

export const arrive = (social: Social, { provider, ...of }: Journey): Promise<SocialProfile> =>
  social.complete(provider, of)

/** The error of a sign-in that must not succeed; it tells nobody what must be kept. */
export async function refusalOf(social: Social, journey: Journey): Promise<SocialError> {
  const error = await arrive(social, journey).then(
    (profile) => expect.unreachable(`signed in as ${profile.subject}`),
    (reason: unknown) => reason,
  )
  expect(error).toBeInstanceOf(SocialError)
  const { message, cause, stack } = error as SocialError
  expect(message).toStartWith(`${journey.provider}: `)
  expect(cause).toBeUndefined()
  const kept = [journey.params.get('code'), ...Object.values(journey.secrets), 'secret']
  for (const secret of kept) if (secret) expect(`${message}${stack}`).not.toContain(secret)
  return error as SocialError
}

/** A journey whose `params` are changed. */
export function withParams(journey: Journey, changes: Record<string, string | null>): Journey {
  const params = new URLSearchParams(journey.params)
  for (const [name, value] of Object.entries(changes)) {
    if (value === null) params.delete(name)
    else params.set(name, value)
  }
  return { ...journey, params }
}
