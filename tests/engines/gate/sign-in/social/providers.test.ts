import { describe, expect, test } from 'bun:test'
import { PROVIDERS, type ProviderName } from '../../../../../src/config/index.ts'
import {
  newAccount,
  ORGANISATION,
  PLAIN_NAMES,
  type ProviderSettings,
  startOpenIdProvider,
  uuidOf,
} from '../../../../support/social/index.ts'
import {
  type Callback,
  callbackFrom,
  callbackOf,
  claiming,
  complete,
  refusalOf,
  socialWith,
  useProviders,
  withParams,
} from './fixture.ts'

const { clock, openId, plain, social, come, signIn, refusal } = await useProviders()

const HOST = new URL(plain.url).host
const SUBJECTS: Record<ProviderName, (id: string) => string> = {
  github: (id) => `${HOST}#${id}`,
  google: (id) => `${openId.url}/google#${id}`,
  gitlab: (id) => `${openId.url}/gitlab#${id}`,
  microsoft: (id) => `${openId.url}/microsoft#${ORGANISATION}:${uuidOf(id)}`,
  discord: (id) => `${HOST}#${id}`,
  facebook: (id) => `${HOST}#${id}`,
  linkedin: (id) => `${openId.url}/linkedin/oauth#${id}`,
  apple: (id) => `${openId.url}/apple#${id}`,
  slack: (id) => `${openId.url}/slack#T0WORKSPACE:${id}`,
  twitch: (id) => `${openId.url}/twitch/oauth2#${id}`,
  spotify: (id) => `${HOST}#A${id}`,
}
const PLAIN: ProviderName[] = ['github', 'discord', 'facebook', 'spotify']
const NEVER_VERIFIED: ProviderName[] = ['slack', 'facebook', 'spotify']
const WITHOUT_PKCE: ProviderName[] = ['linkedin', 'slack', 'twitch']

describe.each([...PROVIDERS])('%s', (provider) => {
  /** Facebook words its errors in its own way, so only their status is read. */
  const rejected = provider === 'facebook' ? 'unexpected HTTP status' : 'rejected the code with'

  test('tells who the user is, and returns tokens', async () => {
    const account = newAccount({ name: 'Ada Lovelace' })
    const callback = await come(provider, account)
    const isPlain = PLAIN.includes(provider)
    expect(await complete(social, callback)).toEqual({
      subject: SUBJECTS[provider](account.id),
      email: account.email as string,
      isEmailVerified: !NEVER_VERIFIED.includes(provider),
      name: 'Ada Lovelace',
      locale: provider === 'discord' ? 'en-US' : undefined,
      tokens: {
        accessToken: expect.any(String),
        refreshToken: ['discord', 'spotify'].includes(provider)
          ? expect.stringMatching(/^refresh-/)
          : undefined,
        idToken: isPlain ? undefined : expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/),
      },
    })
    const again = await refusalOf(social, callback)
    expect(again.reason).toBe('failed')
    expect(again.message).toContain(rejected)
  })

  test('may have an unverified address, or none', async () => {
    const account = newAccount({ isVerified: false })
    const unverified = await signIn(provider, account)
    expect(unverified).toMatchObject({ email: account.email, isEmailVerified: false })
    const without = await signIn(provider, newAccount({ email: null }))
    expect(without).toMatchObject({ email: undefined, isEmailVerified: false })
  })

  // LinkedIn takes neither a challenge nor a nonce: there, only the state protects the code.
  test('accepts a code only for the sign-in that it was issued for', async () => {
    const [callback, other] = [await come(provider), await come(provider)]
    const swapped = withParams(callback, { code: other.params.get('code') })
    if (provider === 'linkedin') expect(callback.secrets).toEqual({})
    else expect((await refusalOf(social, swapped)).reason).toBe('failed')
    if (WITHOUT_PKCE.includes(provider)) {
      expect(callback.secrets).not.toHaveProperty('verifier')
      return
    }
    const { nonce } = callback.secrets
    const lost = await refusalOf(social, { ...callback, secrets: { nonce } })
    expect(lost.message).toBe(`${provider}: the code verifier is missing`)
    const secrets = { nonce, verifier: 'x'.repeat(43) }
    expect((await refusalOf(social, { ...callback, secrets })).message).toContain(rejected)
  })
})

describe.each(['google', 'github'] as const)('A callback of %s', (provider) => {
  const doubled = (callback: Callback, name: string) => ({
    ...callback,
    params: new URLSearchParams([...callback.params, [name, 'another']]),
  })

  test.each<[string, string, (callback: Callback) => Callback]>([
    ['another state', '"state"', (callback) => ({ ...callback, state: 'another' })],
    ['no state', '"state" missing', (callback) => withParams(callback, { state: null })],
    ['two states', '"state"', (callback) => doubled(callback, 'state')],
    ['no code', 'no authorization code', (callback) => withParams(callback, { code: null })],
    ['two codes', '"code"', (callback) => doubled(callback, 'code')],
    ['another code', 'rejected the code', (callback) => withParams(callback, { code: 'another' })],
    [
      'another issuer',
      'a different issuer',
      (one) => withParams(one, { iss: 'https://evil.example' }),
    ],
    ['another URL', 'rejected the code', (one) => ({ ...one, redirectUri: callbackOf('slack') })],
  ])('fails with %s', async (_, why, bend) => {
    const error = await refusalOf(social, bend(await come(provider)))
    expect(error.reason).toBe('failed')
    expect(error.message).toContain(why)
  })

  test('is denied if the user cancels', async () => {
    const { reason, message } = await refusalOf(
      social,
      await callbackFrom(social, provider, { press: 'deny' }),
    )
    expect({ reason, message }).toEqual({
      reason: 'denied',
      message: `${provider}: the callback has the error access_denied`,
    })
  })
})

test.each([...PLAIN_NAMES])('%s rejects another client secret', async (provider) => {
  const settings = { ...plain.providerConfig(provider), clientSecret: 'not-that-one' }
  const other = socialWith({ [provider]: settings })
  expect((await refusalOf(other, await come(provider))).reason).toBe('failed')
})

test('A profile of another user than that of the ID token is refused', async () => {
  const error = await refusal('gitlab', claiming({ sub: 'another' }))
  expect(error.message).toContain('"sub"')
})

test('GitHub is not asked for addresses that the user did not share', async () => {
  plain.grantScopes(['read:user'])
  const profile = await signIn('github', newAccount()).finally(() => plain.grantScopes())
  expect(profile).toMatchObject({ email: undefined, isEmailVerified: false })
  expect(plain.requests.at(-1)?.path).toBe('/github/api/v3/user')
})

test('A user of Microsoft is known by directory and object, not by subject or name', async () => {
  const oid = uuidOf('one user')
  const tid = uuidOf('another organisation')
  const one = newAccount({ claims: { oid } })
  const same = newAccount({ claims: { oid, preferred_username: one.email, upn: one.email } })
  const other = newAccount({ claims: { oid, tid } })
  const subjectOf = async (account: typeof one) => (await signIn('microsoft', account)).subject
  expect(await subjectOf(same)).toBe(await subjectOf(one))
  expect(await subjectOf(other)).not.toBe(await subjectOf(one))
})

test('A Microsoft issuer that is configured admits its directory', async () => {
  const issuer = `${openId.url}/microsoft/${ORGANISATION}/v2.0`
  const client = socialWith({ microsoft: { ...openId.providerConfig('microsoft'), issuer } }, clock)
  const comeFrom = async (tid: string) => {
    openId.tamper()
    openId.signInAs(newAccount({ claims: { tid } }))
    return complete(client, await callbackFrom(client, 'microsoft'))
  }
  expect((await comeFrom(ORGANISATION)).subject).toStartWith(`${openId.url}/microsoft#`)
  await expect(comeFrom(uuidOf('another organisation'))).rejects.toThrow('a different issuer')
})

describe('Apple', () => {
  const settings = openId.providerConfig('apple')
  const begun = { redirectUri: callbackOf('apple'), state: 'x' }

  test('posts its callback, with the name at the first time', async () => {
    const account = newAccount({ name: 'Grace Hopper' })
    const callback = await come('apple', account)
    expect(callback.method).toBe('POST')
    expect((await complete(social, callback)).name).toBe('Grace Hopper')
    expect((await signIn('apple', account)).name).toBeUndefined()
  })

  test('is trusted with nothing but the name of what it posts', async () => {
    const account = newAccount()
    const posted = { name: { firstName: 'Eve' }, email: 'eve@evil.example', sub: 'x' }
    const callback = withParams(await come('apple', account), { user: JSON.stringify(posted) })
    expect(await complete(social, callback)).toMatchObject({
      subject: SUBJECTS.apple(account.id),
      email: account.email as string,
      name: 'Eve',
    })
  })

  test('gets a client secret that is signed each time', async () => {
    await clock.advance(10 * 60_000)
    await signIn('apple', newAccount())
  })

  test('rejects a secret of another key, team or key ID', async () => {
    await using another = await startOpenIdProvider()
    const { privateKey } = another.providerConfig('apple')
    const wrong: Partial<ProviderSettings>[] = [
      { privateKey },
      { teamId: 'OTHER12345' },
      { keyId: 'OTHER12345' },
    ]
    for (const change of wrong) {
      const client = socialWith({ apple: { ...settings, ...change } }, clock)
      const { message } = await refusalOf(client, await callbackFrom(client, 'apple'))
      expect(message).toBe('apple: the provider rejected the code with the error invalid_client')
    }
  })

  test('is off unless everything is configured', async () => {
    expect(socialWith({ apple: settings }).isConfigured('apple')).toBe(true)
    for (const name of ['clientId', 'teamId', 'keyId', 'privateKey'] as const) {
      const half = socialWith({ apple: { ...settings, clientSecret: 'x', [name]: undefined } })
      expect(half.isConfigured('apple')).toBe(false)
      await expect(half.begin('apple', begun)).rejects.toThrow('apple: no client is configured')
    }
  })

  test('fails without quoting a key that cannot be read', async () => {
    const privateKey = '-----BEGIN PRIVATE KEY-----\nbm9uc2Vuc2U=\n-----END PRIVATE KEY-----\n'
    const broken = socialWith({ apple: { ...settings, privateKey } })
    const error = await broken.begin('apple', begun).catch((reason) => reason)
    expect(error.message).toBe('apple: private_key cannot be read')
  })
})
