import { afterAll, expect, test } from 'bun:test'
import { newAccount, startOpenIdProvider } from '../../../../support/social/index.ts'
import { arrive, callbackOf, refusalOf, socialWith, travel, withParams } from './client.ts'
import { bootOpenId, MINUTE } from './openid-fixture.ts'

const { clock, there, come, signIn, social, stop } = await bootOpenId()
afterAll(stop)

test('posts what it has to say, with a name at the first time alone', async () => {
  const account = newAccount({ name: 'Grace Hopper' })
  const journey = await come('apple', account)

  expect(journey.method).toBe('POST')
  expect((await arrive(social, journey)).name).toBe('Grace Hopper')
  expect((await signIn('apple', account)).name).toBeUndefined()
})

test.each([
  ['not JSON', 'nonsense'],
  ['a list', '[]'],
  ['null', 'null'],
  ['missing', '{}'],
  ['a text', '{"name":"Ada"}'],
  ['made of lists', '{"name":{"firstName":["Ada"]}}'],
  ['blank', '{"name":{"firstName":" ","lastName":""}}'],
  ['too much', JSON.stringify({ name: { firstName: 'x'.repeat(5000) } })],
])('keeps nobody out for a name that is %s', async (_, user) => {
  const journey = withParams(await come('apple'), { user })

  expect((await arrive(social, journey)).name).toBeUndefined()
})

test('is believed nothing else that was posted', async () => {
  const account = newAccount()
  const user = JSON.stringify({ name: { firstName: 'Eve' }, email: 'eve@evil.example', sub: 'x' })
  const journey = withParams(await come('apple', account), { user })

  expect(await arrive(social, journey)).toMatchObject({
    subject: `${there.url}/apple#${account.id}`,
    email: account.email as string,
    name: 'Eve',
  })
})

test('gets a client secret that is new each time', async () => {
  await signIn('apple', newAccount())
  await clock.advance(10 * MINUTE)

  await signIn('apple', newAccount())
})

const refused = 'apple: the provider rejected the code with the error invalid_client'

test('refuses one that another key has signed', async () => {
  await using another = await startOpenIdProvider()
  const { privateKey } = another.providerConfig('apple')
  const other = socialWith({ apple: { ...there.providerConfig('apple'), privateKey } }, clock)

  expect((await refusalOf(other, await travel(other, 'apple'))).message).toBe(refused)
})

test.each(['teamId', 'keyId'] as const)('refuses one with another %s', async (name) => {
  const settings = { ...there.providerConfig('apple'), [name]: 'OTHER12345' }
  const other = socialWith({ apple: settings }, clock)

  expect((await refusalOf(other, await travel(other, 'apple'))).message).toBe(refused)
})

test('is off until there is all that a client signs with', async () => {
  const settings = there.providerConfig('apple')
  const begun = { redirectUri: callbackOf('apple'), state: 'x' }

  expect(socialWith({ apple: settings }).isConfigured('apple')).toBe(true)
  for (const name of ['clientId', 'teamId', 'keyId', 'privateKey'] as const) {
    const half = socialWith({ apple: { ...settings, clientSecret: 'x', [name]: undefined } })
    expect(half.isConfigured('apple')).toBe(false)
    await expect(half.begin('apple', begun)).rejects.toThrow('apple: no client is configured')
  }
})

test('fails in words that do not quote a key that cannot be read', async () => {
  const privateKey = '-----BEGIN PRIVATE KEY-----\nbm9uc2Vuc2U=\n-----END PRIVATE KEY-----\n'
  const other = socialWith({ apple: { ...there.providerConfig('apple'), privateKey } })

  const error = await other
    .begin('apple', { redirectUri: callbackOf('apple'), state: 'x' })
    .catch((reason) => reason)

  expect(error.message).toBe('apple: private_key cannot be read')
})
