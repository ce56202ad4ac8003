import { describe, expect, test } from 'bun:test'
import { PROVIDERS, type ProviderName } from '../../../../../src/config/index.ts'
import { NOTHING_SET, startOpenIdProvider } from '../../../../support/social/index.ts'
import { callbackOf, socialWith } from './client.ts'

await using there = await startOpenIdProvider()
const { privateKey } = there.providerConfig('apple')
const CLIENT = {
  ...NOTHING_SET,
  clientId: 'our-client',
  clientSecret: 'our-secret',
  teamId: 'T',
  keyId: 'K',
  privateKey,
}
const social = socialWith(Object.fromEntries(PROVIDERS.map((name) => [name, CLIENT])))

async function begin(provider: ProviderName, upstream?: Record<string, string>) {
  const redirectUri = callbackOf(provider)
  const { url, secrets } = await social.begin(provider, { redirectUri, state: 'a state', upstream })
  const { origin, pathname, searchParams } = new URL(url)
  return { at: origin + pathname, query: Object.fromEntries(searchParams), secrets }
}

const CODE = expect.stringMatching(/^[\w-]{43}$/)
const PKCE = { code_challenge: CODE, code_challenge_method: 'S256' }
const NONCE = { nonce: CODE }
const CLAIMS = { email: null, email_verified: null, preferred_username: null }

const expected: [ProviderName, string, Record<string, unknown>][] = [
  [
    'github',
    'https://github.com/login/oauth/authorize',
    { scope: 'read:user user:email', ...PKCE },
  ],
  [
    'google',
    'https://accounts.google.com/o/oauth2/v2/auth',
    { scope: 'openid email profile', ...NONCE, ...PKCE },
  ],
  [
    'gitlab',
    'https://gitlab.com/oauth/authorize',
    { scope: 'openid email profile', ...NONCE, ...PKCE },
  ],
  [
    'microsoft',
    'https://login.microsoftonline.com/common/oauth2/v2.0/authorize',
    { scope: 'openid email profile', ...NONCE, ...PKCE },
  ],
  ['discord', 'https://discord.com/oauth2/authorize', { scope: 'identify email', ...PKCE }],
  ['facebook', 'https://www.facebook.com/dialog/oauth', { scope: 'email public_profile', ...PKCE }],
  [
    'linkedin',
    'https://www.linkedin.com/oauth/v2/authorization',
    { scope: 'openid profile email' },
  ],
  [
    'apple',
    'https://appleid.apple.com/auth/authorize',
    { scope: 'openid name email', response_mode: 'form_post', ...NONCE, ...PKCE },
  ],
  [
    'slack',
    'https://slack.com/openid/connect/authorize',
    { scope: 'openid profile email', ...NONCE },
  ],
  [
    'twitch',
    'https://id.twitch.tv/oauth2/authorize',
    {
      scope: 'openid user:read:email',
      claims: JSON.stringify({ id_token: CLAIMS, userinfo: CLAIMS }),
      ...NONCE,
    },
  ],
  ['spotify', 'https://accounts.spotify.com/authorize', { scope: 'user-read-email', ...PKCE }],
]

test.each(expected)(
  'people who sign in with %s are sent to %s',
  async (provider, address, more) => {
    const { at, query } = await begin(provider)

    expect(at).toBe(address)
    expect(query).toEqual({
      response_type: 'code',
      client_id: 'our-client',
      redirect_uri: callbackOf(provider),
      state: 'a state',
      ...more,
    } as Record<string, string>)
  },
)

test('each round trip has secrets of its own', async () => {
  const [one, other] = [await begin('google'), await begin('google')]

  expect(one.secrets.nonce).toBe(one.query.nonce as string)
  expect(one.secrets.nonce).not.toBe(other.secrets.nonce)
  expect(one.secrets.verifier).not.toBe(other.secrets.verifier)
})

test('the challenge is that of RFC 7636, and the verifier stays here', async () => {
  const { secrets, query } = await begin('google')

  const hash = new Bun.CryptoHasher('sha256').update(secrets.verifier ?? '').digest('base64url')
  expect(query.code_challenge).toBe(hash)
  expect(Object.values(query)).not.toContain(secrets.verifier)
})

describe('what a caller passes on', () => {
  test('is a closed list', async () => {
    const upstream = {
      login_hint: 'me@example.com',
      hd: 'example.com',
      prompt: 'select_account',
      auth_type: 'reauthenticate',
      acr_values: 'urn:mace:incommon:iap:silver',
    }

    expect((await begin('google', upstream)).query).toMatchObject(upstream)
  })

  test('can neither change what is asked nor for whom', async () => {
    const upstream = {
      client_id: 'another',
      redirect_uri: 'https://evil.example',
      response_type: 'token',
      scope: 'everything',
      state: 'another',
      nonce: 'another',
      code_challenge: 'another',
      code_challenge_method: 'plain',
      response_mode: 'query',
      claims: '{}',
      request: 'x',
      request_uri: 'x',
    }

    const { query } = await begin('apple', upstream)

    for (const [name, value] of Object.entries(upstream)) expect(query[name]).not.toBe(value)
  })

  test.each([
    ['two lines', 'a\nb'],
    ['nothing', ''],
    ['more than a line', 'x'.repeat(321)],
    ['no text', 7 as unknown as string],
  ])('is left out when it is %s', async (_, login_hint) => {
    expect((await begin('google', { login_hint })).query).not.toHaveProperty('login_hint')
  })
})

test('a query that the operator put into the address stays', async () => {
  const authorizeUrl = 'https://login.example/authorize?p=policy'
  const client = socialWith({ gitlab: { ...CLIENT, authorizeUrl } })

  const { url } = await client.begin('gitlab', { redirectUri: callbackOf('gitlab'), state: 'x' })

  expect(url).toStartWith(`${authorizeUrl}&`)
})

test('a provider is on when it has a client', async () => {
  const none = socialWith({ github: { ...CLIENT, clientId: undefined } })
  const begun = { redirectUri: callbackOf('github'), state: 'x' }

  expect(PROVIDERS.filter((name) => social.isConfigured(name))).toEqual([...PROVIDERS])
  expect(PROVIDERS.filter((name) => none.isConfigured(name))).toEqual([])
  await expect(none.begin('github', begun)).rejects.toThrow('github: no client is configured')
})
