import { expect, test } from 'bun:test'
import { PROVIDERS, type ProviderName } from '../../../../../src/config/index.ts'
import { newAppleClient } from '../../../../support/social/signing.ts'
import { callbackOf, socialWith } from './fixture.ts'

const { privateKey } = newAppleClient()
const APPLE = { teamId: 'T', keyId: 'K', privateKey }
const CLIENT = { clientId: 'our-client', clientSecret: 'our-secret', ...APPLE }
const social = socialWith(Object.fromEntries(PROVIDERS.map((name) => [name, CLIENT])))

async function begin(provider: ProviderName, upstream?: Record<string, string>) {
  const redirectUri = callbackOf(provider)
  const { url, secrets } = await social.begin(provider, { redirectUri, state: 'a state', upstream })
  const { origin, pathname, searchParams } = new URL(url)
  return { address: origin + pathname, query: Object.fromEntries(searchParams), secrets }
}

const CODE = expect.stringMatching(/^[\w-]{43}$/)
const PKCE = { code_challenge: CODE, code_challenge_method: 'S256' }
const NONCE = { nonce: CODE }
const BOTH = { ...NONCE, ...PKCE }
const POSTED = { response_mode: 'form_post', ...BOTH }
const CLAIMS = { email: null, email_verified: null, preferred_username: null }
const TWITCH = { claims: JSON.stringify({ id_token: CLAIMS, userinfo: CLAIMS }), ...NONCE }
const MICROSOFT = 'https://login.microsoftonline.com/common/oauth2/v2.0/authorize'

test.each<[ProviderName, string, string, Record<string, unknown>]>([
  ['github', 'https://github.com/login/oauth/authorize', 'read:user user:email', PKCE],
  ['google', 'https://accounts.google.com/o/oauth2/v2/auth', 'openid email profile', BOTH],
  ['gitlab', 'https://gitlab.com/oauth/authorize', 'openid email profile', BOTH],
  ['microsoft', MICROSOFT, 'openid email profile', BOTH],
  ['discord', 'https://discord.com/oauth2/authorize', 'identify email', PKCE],
  ['facebook', 'https://www.facebook.com/dialog/oauth', 'email public_profile', PKCE],
  ['linkedin', 'https://www.linkedin.com/oauth/v2/authorization', 'openid profile email', {}],
  ['apple', 'https://appleid.apple.com/auth/authorize', 'openid name email', POSTED],
  ['slack', 'https://slack.com/openid/connect/authorize', 'openid profile email', NONCE],
  ['twitch', 'https://id.twitch.tv/oauth2/authorize', 'openid user:read:email', TWITCH],
  ['spotify', 'https://accounts.spotify.com/authorize', 'user-read-email', PKCE],
])('Users of %s are sent to %s for %s', async (provider, expected, scope, more) => {
  const { address, query } = await begin(provider)
  expect(address).toBe(expected)
  expect(query).toEqual({
    response_type: 'code',
    client_id: 'our-client',
    redirect_uri: callbackOf(provider),
    scope,
    state: 'a state',
    ...more,
  } as Record<string, string>)
})

test('Each sign-in has its own nonce and verifier; the URL has only the verifier’s hash', async () => {
  const [one, other] = [await begin('google'), await begin('google')]
  expect(one.secrets.nonce).toBe(one.query.nonce as string)
  expect(one.secrets.nonce).not.toBe(other.secrets.nonce)
  expect(one.secrets.verifier).not.toBe(other.secrets.verifier)
  const hash = new Bun.CryptoHasher('sha256').update(one.secrets.verifier ?? '').digest('base64url')
  expect(one.query.code_challenge).toBe(hash)
  expect(Object.values(one.query)).not.toContain(one.secrets.verifier)
})

test('Upstream parameters are these five, of up to 320 characters, and change nothing else', async () => {
  const upstream = {
    login_hint: 'x'.repeat(320),
    hd: 'example.com',
    prompt: 'select_account',
    auth_type: 'reauthenticate',
    acr_values: 'urn:mace:incommon:iap:silver',
  }
  expect((await begin('google', upstream)).query).toMatchObject(upstream)
  const names = ['client_id', 'redirect_uri', 'response_type', 'scope', 'state', 'nonce', 'claims']
  const more = [
    'code_challenge',
    'code_challenge_method',
    'response_mode',
    'request',
    'request_uri',
  ]
  const evil = Object.fromEntries([...names, ...more].map((name) => [name, 'evil']))
  expect(Object.values((await begin('apple', evil)).query)).not.toContain('evil')
  const inherited = Object.create({ login_hint: 'me@example.com' })
  const wrong = ['a\nb', '', 'x'.repeat(321), 7 as unknown as string]
  for (const given of [inherited, ...wrong.map((login_hint) => ({ login_hint }))])
    expect((await begin('google', given)).query).not.toHaveProperty('login_hint')
})

test('A query in the configured URL stays', async () => {
  const authorizeUrl = 'https://login.example/authorize?p=policy'
  const client = socialWith({ gitlab: { ...CLIENT, authorizeUrl } })
  const { url } = await client.begin('gitlab', { redirectUri: callbackOf('gitlab'), state: 'x' })
  expect(url).toStartWith(`${authorizeUrl}&`)
})

test('A provider is on if it has a client', async () => {
  expect(PROVIDERS.filter(social.isConfigured)).toEqual([...PROVIDERS])
  for (const missing of ['clientId', 'clientSecret']) {
    const none = socialWith({ github: { ...CLIENT, [missing]: undefined } })
    expect(PROVIDERS.filter(none.isConfigured)).toEqual([])
    const begun = none.begin('github', { redirectUri: callbackOf('github'), state: 'x' })
    await expect(begun).rejects.toThrow('github: no client is configured')
  }
})
