import { describe, expect, test } from 'bun:test'
import { PROVIDERS, type ProviderName } from '../../../../../src/config/index.ts'
import {
  newAccount,
  ORGANISATION,
  startProviders,
  uuidOf,
} from '../../../../support/social/index.ts'
import {
  type Callback,
  callbackFrom,
  callbackOf,
  changed,
  claiming,
  complete,
  refusalOf,
  socialWith,
  useProviders,
} from './fixture.ts'

const { clock, fakes, social, come, signIn, refusal } = useProviders()

const HOST = new URL(fakes.url).host
const NEVER_VERIFIED: ProviderName[] = ['slack', 'facebook', 'spotify']
const WITHOUT_PKCE: ProviderName[] = ['linkedin', 'slack', 'twitch']
const WITH_REFRESH_TOKEN: ProviderName[] = ['discord', 'spotify']
const PLAIN: ProviderName[] = ['github', 'discord', 'facebook', 'spotify']

/** The installation of a provider, if it is not the front of its paths. */
const INSTALLATIONS: Partial<Record<ProviderName, string>> = {
  ...Object.fromEntries(PLAIN.map((name) => [name, HOST])),
  linkedin: `${fakes.url}/linkedin/oauth`,
  twitch: `${fakes.url}/twitch/oauth2`,
}
/** The subject of an account, if it is not its id. */
const SUBJECTS: Partial<Record<ProviderName, (id: string) => string>> = {
  microsoft: (id) => `${ORGANISATION}:${uuidOf(id)}`,
  slack: (id) => `T0WORKSPACE:${id}`,
  spotify: (id) => `A${id}`,
}

test.each([...PROVIDERS])('%s tells who the user is, once for each code', async (provider) => {
  // Facebook words its errors in its own way, so only their status is read.
  const rejected = provider === 'facebook' ? 'unexpected HTTP status' : 'rejected the code with'
  const account = newAccount({ name: 'Ada Lovelace' })
  const installation = INSTALLATIONS[provider] ?? `${fakes.url}/${provider}`
  const callback = await come(provider, account)
  const { tokens, ...profile } = await complete(social, callback)
  expect(profile).toEqual({
    subject: `${installation}#${SUBJECTS[provider]?.(account.id) ?? account.id}`,
    email: account.email as string,
    isEmailVerified: !NEVER_VERIFIED.includes(provider),
    name: 'Ada Lovelace',
    locale: provider === 'discord' ? 'en-US' : undefined,
  })
  expect(tokens.accessToken).toStartWith('access-')
  expect(tokens.refreshToken !== undefined).toBe(WITH_REFRESH_TOKEN.includes(provider))
  expect(tokens.idToken === undefined).toBe(PLAIN.includes(provider))
  const again = await refusalOf(social, callback)
  expect(again).toMatchObject({ reason: 'failed', message: expect.stringContaining(rejected) })

  const unverified = await signIn(provider, newAccount({ isVerified: false }))
  expect(unverified).toMatchObject({ email: expect.any(String), isEmailVerified: false })
  const without = await signIn(provider, newAccount({ email: null }))
  expect(without).toMatchObject({ email: undefined, isEmailVerified: false })

  // LinkedIn takes neither a challenge nor a nonce: there, only the state protects the code.
  const [own, other] = [await come(provider), await come(provider)]
  const swapped = changed(own, { code: other.params.get('code') })
  if (provider === 'linkedin') expect(own.secrets).toEqual({})
  else expect((await refusalOf(social, swapped)).reason).toBe('failed')
  const { nonce, verifier } = own.secrets
  expect(verifier === undefined).toBe(WITHOUT_PKCE.includes(provider))
  if (verifier === undefined) return
  const lost = await refusalOf(social, { ...own, secrets: { nonce } })
  expect(lost.message).toBe(`${provider}: the code verifier is missing`)
  const wrong = { ...own, secrets: { nonce, verifier: 'x'.repeat(43) } }
  expect((await refusalOf(social, wrong)).message).toContain(rejected)
})

const doubled = (callback: Callback, name: string) => ({
  ...callback,
  params: new URLSearchParams([...callback.params, [name, 'another']]),
})

const BENT: [string, string, (callback: Callback) => Callback][] = [
  ['another state', '"state"', (callback) => ({ ...callback, state: 'another' })],
  ['no state', '"state" missing', (callback) => changed(callback, { state: null })],
  ['two states', '"state"', (callback) => doubled(callback, 'state')],
  ['no code', 'no authorization code', (callback) => changed(callback, { code: null })],
  ['two codes', '"code"', (callback) => doubled(callback, 'code')],
  ['another code', 'rejected the code', (callback) => changed(callback, { code: 'another' })],
  ['another issuer', 'a different issuer', (one) => changed(one, { iss: 'https://evil.test' })],
  ['another URL', 'rejected the code', (one) => ({ ...one, redirectUri: callbackOf('slack') })],
]

test.each(BENT)('A callback with %s fails', async (_, why, bend) => {
  for (const provider of ['google', 'github'] as const) {
    const { reason, message } = await refusalOf(social, bend(await come(provider)))
    expect({ reason, message }).toEqual({ reason: 'failed', message: expect.stringContaining(why) })
  }
})

test('A wrong client secret is rejected, and a profile of another user than the ID token', async () => {
  expect((await refusal('gitlab', claiming({ sub: 'another' }))).message).toContain('"sub"')
  for (const provider of PLAIN) {
    const settings = { ...fakes.providerConfig(provider), clientSecret: 'not-that-one' }
    const other = socialWith({ [provider]: settings })
    expect((await refusalOf(other, await come(provider))).reason).toBe('failed')
  }
})

describe('Apple', () => {
  const settings = fakes.providerConfig('apple')
  const begun = { redirectUri: callbackOf('apple'), state: 'x' }

  test('gets a client secret that is signed each time, with our key, team and key ID', async () => {
    await clock.advance(10 * 60_000)
    await signIn('apple')
    await using another = startProviders()
    const { privateKey } = another.providerConfig('apple')
    for (const change of [{ privateKey }, { teamId: 'OTHER12345' }, { keyId: 'OTHER12345' }]) {
      const client = socialWith({ apple: { ...settings, ...change } }, clock)
      const { message } = await refusalOf(client, await callbackFrom(client, 'apple'))
      expect(message).toBe('apple: the provider rejected the code with the error invalid_client')
    }
  })

  test('fails without quoting a key that cannot be read', async () => {
    const privateKey = '-----BEGIN PRIVATE KEY-----\nbm9uc2Vuc2U=\n-----END PRIVATE KEY-----\n'
    const broken = socialWith({ apple: { ...settings, privateKey } })
    const error = await broken.begin('apple', begun).catch((reason) => reason)
    expect(error.message).toBe('apple: private_key cannot be read')
  })
})
