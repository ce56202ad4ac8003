import { afterAll, expect, test } from 'bun:test'
import { PROVIDERS, type ProviderName } from '../../../../../src/config/index.ts'
import { providers as kinds } from '../../../../../src/engines/gate/sign-in/social/providers/index.ts'
import { createTestClock } from '../../../../support/clock.ts'
import { graphError, usualRefusal } from '../../../../support/social/personas.ts'
import { startProviders } from '../../../../support/social/providers.ts'
import { START } from '../../fixture.ts'
import { callbackOf, socialWith } from './fixture.ts'

const clock = createTestClock(START)
const providers = startProviders({ clock })
afterAll(providers.stop)

const check = (name: ProviderName, settings = {}) =>
  socialWith({ [name]: { ...providers.providerConfig(name), ...settings } }, clock).check(
    name,
    callbackOf(name),
  )

test.each([...PROVIDERS])(
  '%s is checked without a user: its keys, and its answer to an invented code',
  async (name) => {
    const about = kinds[name].kind === 'openid' ? ['keys', 'credentials'] : ['credentials']
    const good = await check(name)
    expect(good.map((one) => `${one.about} ${one.result}`)).toEqual(about.map((one) => `${one} ok`))
    const wrong = await check(name, { clientId: 'another', clientSecret: 's3cret-of-another' })
    expect(wrong.at(-1)).toMatchObject({ about: 'credentials', result: 'failed' })
    expect(JSON.stringify(wrong)).not.toContain('s3cret')
  },
)

const TOKEN = '/google/token'
test.each([
  [() => graphError('Error validating client secret.'), 'failed', 'Error validating client secret'],
  [() => graphError('Invalid verification code format.'), 'ok', ''],
  [
    () => Response.json({ status: 403, message: 'invalid client secret' }, { status: 403 }),
    'failed',
    'invalid client secret',
  ],
  [
    () => Response.json({ status: 400, message: 'Invalid authorization code' }, { status: 400 }),
    'ok',
    '',
  ],
  [() => usualRefusal('redirect_uri_mismatch'), 'failed', 'redirect URL is not registered'],
  [() => usualRefusal('server_error', 500), 'unknown', 'server_error'],
  [() => new Response('<h1>', { status: 502 }), 'unknown', 'status 502'],
  [
    () => usualRefusal(`x ${providers.providerConfig('google').clientSecret}`),
    'unknown',
    '[hidden]',
  ],
] as const)('The answer %s is %s', async (answer, result, words) => {
  providers.answer({ [TOKEN]: answer })
  const [, credentials] = await check('google')
  providers.answer()
  expect(credentials?.result).toBe(result)
  expect(credentials?.message).toContain(words)
})

test('A provider that cannot be reached, has no keys or has an unsafe address fails', async () => {
  const down = await check('google', { baseUrl: 'http://127.0.0.1:1' })
  expect(down.map(({ result }) => result)).toEqual(['failed', 'failed'])
  providers.answer({ '/google/oauth2/v3/certs': () => Response.json({ keys: [] }) })
  expect((await check('google'))[0]).toMatchObject({ about: 'keys', result: 'failed' })
  providers.answer()
  const [unsafe] = await check('google', { baseUrl: 'http://provider.example' })
  expect(unsafe).toMatchObject({ about: 'addresses', result: 'failed' })
  expect(unsafe?.message).toContain('must use https')
})
