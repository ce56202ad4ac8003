import { afterAll, describe, expect, test } from 'bun:test'
import {
  type Account,
  newAccount,
  PLAIN_NAMES,
  type PlainName,
  startPlainProviders,
} from '../../../../support/social/index.ts'
import {
  arrive,
  callbackOf,
  type Journey,
  refusalOf,
  socialWith,
  travel,
  withParams,
} from './client.ts'

const there = startPlainProviders({ redirectUris: PLAIN_NAMES.map(callbackOf) })
afterAll(there.stop)

const settings = Object.fromEntries(PLAIN_NAMES.map((name) => [name, there.providerConfig(name)]))
const social = socialWith(settings)
const { host } = new URL(there.url)

async function come(provider: PlainName, account: Account = newAccount()) {
  there.signInAs(account)
  return travel(social, provider)
}

const signIn = async (provider: PlainName, account: Account) =>
  arrive(social, await come(provider, account))

const subjects: Record<PlainName, (account: Account) => string> = {
  github: ({ id }) => `${host}#${id}`,
  discord: ({ id }) => `${host}#${id}`,
  facebook: ({ id }) => `${host}#${id}`,
  spotify: ({ id }) => `${host}#A${id}`,
}

const VOUCHING: PlainName[] = ['github', 'discord']
const REFRESHING: PlainName[] = ['discord', 'spotify']

describe.each([...PLAIN_NAMES])('signing in with %s', (provider) => {
  test('tells who somebody is, and hands over the tokens', async () => {
    const account = newAccount({ name: 'Ada Lovelace' })

    const profile = await signIn(provider, account)

    expect(profile).toEqual({
      subject: subjects[provider](account),
      email: account.email as string,
      isEmailVerified: VOUCHING.includes(provider),
      name: 'Ada Lovelace',
      locale: provider === 'discord' ? 'en-US' : undefined,
      tokens: {
        accessToken: expect.stringMatching(/^access-/),
        refreshToken: REFRESHING.includes(provider)
          ? expect.stringMatching(/^refresh-/)
          : undefined,
        idToken: undefined,
      },
    })
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

    expect((await refusalOf(social, journey)).reason).toBe('denied')
  })

  /** Facebook's errors have a form of their own, of which the status alone is read. */
  const refused =
    provider === 'facebook' ? 'unexpected HTTP status' : 'the provider rejected the code with'

  const bent: [string, string, (journey: Journey) => Journey][] = [
    ['another state', '"state"', (journey) => ({ ...journey, state: 'another' })],
    ['no state', '"state" missing', (journey) => withParams(journey, { state: null })],
    ['no code', 'no authorization code', (journey) => withParams(journey, { code: null })],
    ['another code', refused, (journey) => withParams(journey, { code: 'another' })],
    [
      'another issuer in the redirect',
      'a different issuer',
      (journey) => withParams(journey, { iss: 'https://evil.example' }),
    ],
    ['another callback', refused, (journey) => ({ ...journey, redirectUri: callbackOf('google') })],
    [
      'another verifier',
      refused,
      (journey) => ({ ...journey, secrets: { verifier: 'x'.repeat(43) } }),
    ],
    ['a lost verifier', 'the code verifier is missing', (journey) => ({ ...journey, secrets: {} })],
  ]

  test.each(bent)('fails with %s', async (_, why, bend) => {
    const error = await refusalOf(social, bend(await come(provider)))

    expect(error.reason).toBe('failed')
    expect(error.message).toContain(why)
  })

  test('uses a code once', async () => {
    const journey = await come(provider)
    await arrive(social, journey)

    const error = await refusalOf(social, journey)

    expect(error.reason).toBe('failed')
    expect(error.message).toContain(refused)
  })

  test('fails with another client secret', async () => {
    const clientSecret = 'not-that-one'
    const other = socialWith({ [provider]: { ...there.providerConfig(provider), clientSecret } })

    const error = await refusalOf(other, await come(provider))

    expect(error.reason).toBe('failed')
    expect(error.message).toContain(refused)
  })
})

describe('github', () => {
  const withEmails = (emails: unknown) => newAccount({ claims: { emails } })
  const entry = (email: string, primary: boolean, verified: boolean) => ({
    email,
    primary,
    verified,
  })

  test('has errors with status 200, which are errors all the same', async () => {
    const journey = withParams(await come('github'), { code: 'another' })

    expect((await refusalOf(social, journey)).message).toBe(
      'github: the provider rejected the code with the error bad_verification_code',
    )
  })

  test.each([
    [
      'the primary one',
      [entry('a@x.example', false, true), entry('b@x.example', true, true)],
      'b@x.example',
      true,
    ],
    [
      'unverified if it is',
      [entry('a@x.example', false, true), entry('b@x.example', true, false)],
      'b@x.example',
      false,
    ],
    [
      'unverified if it is merely said so',
      [{ ...entry('b@x.example', true, true), verified: 'true' }],
      'b@x.example',
      false,
    ],
    ['none without a primary one', [entry('a@x.example', false, true)], undefined, false],
    ['none of none', [], undefined, false],
  ])('gives %s', async (_, emails, email, isEmailVerified) => {
    expect(await signIn('github', withEmails(emails))).toMatchObject({ email, isEmailVerified })
  })

  test('is not asked for addresses that somebody did not agree to', async () => {
    there.grantScopes(['read:user'])
    const profile = await signIn('github', newAccount())
    there.grantScopes()

    expect(profile).toMatchObject({ email: undefined, isEmailVerified: false })
    expect(there.requests.at(-1)?.path).toBe('/github/api/v3/user')
  })

  test('calls people by their login when they have no name', async () => {
    const account = newAccount({ name: 'Ada Lovelace', claims: { name: null } })

    expect((await signIn('github', account)).name).toBe('ada-lovelace')
  })

  test.each([['583231'], [1.5], [0], [-1], [null], [[1]], [2 ** 53]])(
    'numbers people, so that %p is nobody',
    async (id) => {
      const error = await refusalOf(social, await come('github', newAccount({ claims: { id } })))

      expect(error.message).toBe('github: id is not a valid numeric user ID')
    },
  )

  test.each([
    ['an object', {}],
    ['a list of texts', ['me@example.com']],
    ['a list of lists', [[]]],
  ])('has addresses that are no %s', async (_, emails) => {
    const error = await refusalOf(social, await come('github', withEmails(emails)))

    expect(error.reason).toBe('failed')
  })
})

describe('discord', () => {
  test('is trusted with true and nothing like it', async () => {
    const account = newAccount({ claims: { verified: 'true' } })

    expect(await signIn('discord', account)).toMatchObject({ isEmailVerified: false })
  })

  test('has ids that are texts', async () => {
    const account = newAccount({ claims: { id: 80351110224678912 } })

    expect((await refusalOf(social, await come('discord', account))).message).toBe(
      'discord: id is not a string',
    )
  })

  test('calls people by their user name when they have no other', async () => {
    const account = newAccount({ name: 'Ada Lovelace', claims: { global_name: null } })

    expect((await signIn('discord', account)).name).toBe('ada-lovelace')
  })
})

describe('spotify', () => {
  test('knows people by number, and by name where there is none', async () => {
    const named = newAccount({ name: 'Ada Lovelace', claims: { account_id: null } })

    expect((await signIn('spotify', named)).subject).toBe(`${host}#name:ada-lovelace`)
  })

  test('has nobody signed in by a name that is another one’s number', async () => {
    const one = newAccount({ claims: { account_id: 'abc' } })
    const other = newAccount({ claims: { account_id: '', id: 'abc' } })

    const subjectOf = async (account: Account) => (await signIn('spotify', account)).subject
    expect(await subjectOf(other)).not.toBe(await subjectOf(one))
  })
})
