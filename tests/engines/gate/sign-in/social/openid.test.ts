import { afterAll, describe, expect, test } from 'bun:test'
import {
  type Account,
  newAccount,
  OPENID_NAMES,
  type OpenIdName,
  ORGANISATION,
  uuidOf,
} from '../../../../support/social/index.ts'
import { arrive, callbackOf, type Journey, refusalOf, travel, withParams } from './client.ts'
import { bootOpenId, claiming } from './openid-fixture.ts'

const { there, social, come, signIn, refusal, stop } = await bootOpenId()
afterAll(stop)

/** What a subject looks like at an installation of one's own. */
const subjects: Record<OpenIdName, (account: Account) => string> = {
  google: ({ id }) => `${there.url}/google#${id}`,
  gitlab: ({ id }) => `${there.url}/gitlab#${id}`,
  microsoft: ({ id }) => `${there.url}/microsoft#${ORGANISATION}:${uuidOf(id)}`,
  linkedin: ({ id }) => `${there.url}/linkedin/oauth#${id}`,
  apple: ({ id }) => `${there.url}/apple#${id}`,
  slack: ({ id }) => `${there.url}/slack#T0WORKSPACE:${id}`,
  twitch: ({ id }) => `${there.url}/twitch/oauth2#${id}`,
}

describe.each([...OPENID_NAMES])('signing in with %s', (provider) => {
  test('tells who somebody is, and hands over the tokens', async () => {
    const account = newAccount({ name: 'Ada Lovelace' })

    const profile = await signIn(provider, account)

    expect(profile).toEqual({
      subject: subjects[provider](account),
      email: account.email as string,
      // Whoever runs a workspace there may give its members any address.
      isEmailVerified: provider !== 'slack',
      name: 'Ada Lovelace',
      locale: undefined,
      tokens: {
        accessToken: expect.any(String),
        refreshToken: undefined,
        idToken: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/),
      },
    })
  })

  test('tells the same subject of somebody who comes again', async () => {
    const account = newAccount()

    const [first, second] = [await signIn(provider, account), await signIn(provider, account)]

    expect(second.subject).toBe(first.subject)
  })

  test('does not trust an address that the provider has not checked', async () => {
    const profile = await signIn(provider, newAccount({ isVerified: false }))

    expect(profile).toMatchObject({ email: expect.any(String), isEmailVerified: false })
  })

  test('works for somebody without an address', async () => {
    const profile = await signIn(provider, newAccount({ email: null }))

    expect(profile).toMatchObject({ email: undefined, isEmailVerified: false })
  })

  test('is denied when somebody changes their mind', async () => {
    const journey = await travel(social, provider, { press: 'deny' })

    expect(await refusalOf(social, journey)).toMatchObject({
      reason: 'denied',
      message: `${provider}: the callback has the error access_denied`,
    })
  })

  const bent: [string, string, (journey: Journey) => Journey][] = [
    ['another state', '"state"', (journey) => ({ ...journey, state: 'another' })],
    ['no state', '"state" missing', (journey) => withParams(journey, { state: null })],
    ['two states', '"state"', (journey) => doubled(journey, 'state')],
    ['no code', 'no authorization code', (journey) => withParams(journey, { code: null })],
    ['two codes', '"code"', (journey) => doubled(journey, 'code')],
    ['another code', 'invalid_grant', (journey) => withParams(journey, { code: 'another' })],
    [
      'another issuer in the redirect',
      'a different issuer',
      (journey) => withParams(journey, { iss: 'https://evil.example' }),
    ],
    [
      'another callback',
      'invalid_grant',
      (journey) => ({ ...journey, redirectUri: callbackOf('github') }),
    ],
  ]

  test.each(bent)('fails with %s', async (_, why, bend) => {
    const error = await refusalOf(social, bend(await come(provider)))

    expect(error.reason).toBe('failed')
    expect(error.message).toContain(why)
  })

  test('uses a code once', async () => {
    const journey = await come(provider)
    await arrive(social, journey)

    expect(await refusalOf(social, journey)).toMatchObject({
      reason: 'failed',
      message: `${provider}: the provider rejected the code with the error invalid_grant`,
    })
  })
})

function doubled(journey: Journey, name: string): Journey {
  const params = new URLSearchParams([...journey.params, [name, 'another']])
  return { ...journey, params }
}

describe.each(['google', 'gitlab', 'microsoft', 'apple'] as const)('%s', (provider) => {
  test('refuses a code to somebody without the verifier', async () => {
    const journey = await come(provider)
    const secrets = { ...journey.secrets, verifier: 'x'.repeat(43) }

    const error = await refusalOf(social, { ...journey, secrets })

    expect(error.message).toBe(
      `${provider}: the provider rejected the code with the error invalid_grant`,
    )
  })

  test('is not asked at all when the verifier is lost', async () => {
    const journey = await come(provider)
    const before = there.requests.length

    const { nonce } = journey.secrets
    const error = await refusalOf(social, { ...journey, secrets: { nonce } })

    expect(error.message).toBe(`${provider}: the code verifier is missing`)
    expect(there.requests.length).toBe(before)
  })
})

describe('what google says of an address', () => {
  test.each([
    [true, true],
    ['true', true],
    [false, false],
    ['false', false],
    [1, false],
    [null, false],
    [[true], false],
  ])('is %p, which makes it %p', async (email_verified, isEmailVerified) => {
    const account = newAccount({ claims: { email_verified } })

    expect(await signIn('google', account)).toMatchObject({ isEmailVerified })
  })
})

describe('profiles', () => {
  test('of another person are not taken', async () => {
    const error = await refusal('gitlab', claiming({ sub: 'another' }))

    expect(error.message).toContain('"sub"')
  })

  test('are read in one language or another', async () => {
    const of = (locale: unknown) => newAccount({ claims: { locale } })

    expect((await signIn('google', of('pt_BR'))).locale).toBe('pt-BR')
    expect((await signIn('linkedin', of({ country: 'DE', language: 'de' }))).locale).toBe('de')
    expect((await signIn('slack', of('en-US'))).locale).toBe('en-US')
    expect((await signIn('slack', of('<script>'))).locale).toBeUndefined()
  })

  test('have names on one line, of a length that a page can bear', async () => {
    const name = `Ada\u0000\n\u202eLove${'x'.repeat(300)}\ud800`

    const profile = await signIn('google', newAccount({ name }))

    expect(profile.name).toMatch(/^Ada Lovex+$/)
    expect(profile.name).toHaveLength(200)
  })

  test.each([
    ['email', ['me@example.com']],
    ['email', { address: 'me@example.com' }],
    ['email', 'a\r\nb@example.com'],
    ['email', `${'x'.repeat(320)}@example.com`],
    ['name', ['Ada']],
    ['locale', 7],
  ])('whose %s is wrong are not taken (%#)', async (name, value) => {
    const error = await refusal('google', claiming({ [name]: value }))

    expect(error.reason).toBe('failed')
    expect(error.message).toContain(name)
  })
})
