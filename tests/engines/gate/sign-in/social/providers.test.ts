import { describe, expect, test } from 'bun:test'
import { ALL_PROVIDERS, PROVIDERS, type ProviderName } from '../../../../../src/config/index.ts'
import {
  addressesOf,
  checkTransport,
  subjectAt,
} from '../../../../../src/engines/gate/sign-in/social/addresses.ts'
import { providers } from '../../../../../src/engines/gate/sign-in/social/providers/index.ts'
import {
  CONSUMERS,
  NOTHING_SET,
  newAccount,
  newAppleClient,
  ORGANISATION,
  type ProviderSettings,
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

type Name = (typeof ALL_PROVIDERS)[number]

const at = (name: Name, settings: Partial<ProviderSettings> = {}) =>
  addressesOf(providers[name], { ...NOTHING_SET, ...settings })

// The tests of all providers use their base URLs.
test('A base URL of Microsoft may name a directory', () => {
  const cloud = 'https://login.microsoftonline.us'
  const common = at('microsoft', { baseUrl: `${cloud}/common` })
  expect(at('microsoft', { baseUrl: cloud })).toEqual(common)
  expect(at('microsoft', { baseUrl: `${cloud}/organizations` })).toMatchObject({
    authorize: `${cloud}/organizations/oauth2/v2.0/authorize`,
    token: `${cloud}/organizations/oauth2/v2.0/token`,
    jwks: `${cloud}/organizations/discovery/v2.0/keys`,
    issuer: cloud,
  })
})

test('Configured URLs replace all others', () => {
  const [authorize, token, userinfo, jwks, issuer] = ['a', 'b', 'c', 'd', 'e'].map(
    (host) => `https://${host}.example/1`,
  )
  const urls = { authorizeUrl: authorize, tokenUrl: token, userinfoUrl: userinfo, jwksUrl: jwks }
  for (const name of PROVIDERS) {
    const found: object = at(name, { baseUrl: 'https://base.example', ...urls, issuer })
    expect(found).toEqual({ authorize, token, userinfo, jwks, issuer })
  }
})

test('URLs have https, built-in ones too; plain http is allowed on this machine only', async () => {
  for (const name of ALL_PROVIDERS) expect(() => checkTransport(at(name))).not.toThrow()
  const check = (host: string) => checkTransport(at('gitlab', { baseUrl: `http://${host}` }))
  for (const host of ['127.0.0.1:81', '127.9.9.9', '[::1]:81', 'LOCALHOST', '2130706433'])
    expect(() => check(host)).not.toThrow()
  const names = ['git.example', '127.0.0.1.example', 'localhost.example', 'notlocalhost']
  for (const host of [...names, '128.0.0.1', '[::2]', '[::ffff:127.0.0.1]'])
    expect(() => check(host), host).toThrow('https')
  for (const name of ['authorizeUrl', 'tokenUrl', 'userinfoUrl', 'jwksUrl']) {
    const settings = { clientId: 'a', clientSecret: 'b', [name]: 'http://git.example/x' }
    const begun = { redirectUri: callbackOf('gitlab'), state: 'x' }
    await expect(socialWith({ gitlab: settings }).begin('gitlab', begun)).rejects.toThrow(
      'gitlab: git.example must use https; http is allowed on this machine only',
    )
  }
})

test('A subject begins with its installation, unless that is the usual one', () => {
  const subjectOf = (name: Name, settings: Partial<ProviderSettings> = {}) =>
    subjectAt(providers[name], at(name, settings), '42')
  for (const name of PROVIDERS) {
    expect(subjectOf(name)).toBe('42')
    const one = subjectOf(name, { baseUrl: 'https://one.example' })
    expect(one).toEndWith('#42')
    expect(one).not.toBe(subjectOf(name, { baseUrl: 'https://other.example' }))
  }
  const baseUrl = 'https://login.microsoftonline.com/organizations'
  const issuer = `https://login.microsoftonline.com/${ORGANISATION}/v2.0`
  for (const settings of [{ baseUrl }, { issuer }])
    expect(subjectOf('microsoft', settings)).toBe('42')
  expect(subjectOf('google', { tokenUrl: 'https://mirror.example/token' })).toBe('42')
})

describe('An issuer', () => {
  const isAccepted = (name: Name, issuer: string, settings: Partial<ProviderSettings> = {}) => {
    const provider = providers[name]
    return provider.kind === 'openid' && provider.acceptsIssuer(issuer, at(name, settings))
  }

  test.each<[Name, string, string]>([
    ['google', 'https://accounts.google.com accounts.google.com', 'http://accounts.google.com'],
    ['gitlab', 'https://gitlab.com', 'gitlab.com'],
    ['linkedin', 'https://www.linkedin.com/oauth https://www.linkedin.com', 'https://linkedin.com'],
    ['apple', 'https://appleid.apple.com', 'appleid.apple.com'],
    ['slack', 'https://slack.com', 'slack.com'],
    ['twitch', 'https://id.twitch.tv/oauth2', 'https://id.twitch.tv'],
    ['google-tenant', 'https://accounts.google.com', 'https://google.com'],
  ])('of %s may be %s, and not %s', (name, good, bad) => {
    for (const issuer of good.split(' ')) expect(isAccepted(name, issuer)).toBe(true)
    expect(isAccepted(name, bad)).toBe(false)
  })

  const OTHER = uuidOf('another organisation')

  test.each([
    ['common', [ORGANISATION, CONSUMERS], []],
    ['organizations', [ORGANISATION, OTHER], [CONSUMERS]],
    ['consumers', [CONSUMERS], [ORGANISATION]],
    [ORGANISATION, [ORGANISATION], [OTHER, CONSUMERS]],
  ])('of Microsoft at /%s may be that of the directories %j', (directory, good, bad) => {
    const cloud = 'https://login.microsoftonline.com'
    const settings = { baseUrl: `${cloud}/${directory}` }
    for (const tid of [...good, ...bad]) {
      const expected = good.includes(tid)
      expect(isAccepted('microsoft', `${cloud}/${tid}/v2.0`, settings)).toBe(expected)
      expect(isAccepted('microsoft', `https://evil.example/${tid}/v2.0`, settings)).toBe(false)
    }
  })

  test('of Microsoft that is configured is the only one', () => {
    const [issuer, other] = [ORGANISATION, OTHER].map((id) => `https://a.example/${id}/v2.0`)
    expect(isAccepted('microsoft', `${issuer}`, { issuer })).toBe(true)
    expect(isAccepted('microsoft', `${other}`, { issuer })).toBe(false)
  })
})

const { privateKey } = fakes.providerConfig('apple')
const APPLE = { teamId: 'T', keyId: 'K', privateKey }
const CLIENT = { clientId: 'our-client', clientSecret: 'our-secret', ...APPLE }
const real = socialWith(Object.fromEntries(PROVIDERS.map((name) => [name, CLIENT])))

async function begin(provider: ProviderName, upstream?: Record<string, string>) {
  const redirectUri = callbackOf(provider)
  const { url, secrets } = await real.begin(provider, { redirectUri, state: 'a state', upstream })
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

test('Each sign-in has its own nonce and verifier, which the URL does not have', async () => {
  const [one, other] = [await begin('google'), await begin('google')]
  expect(one.secrets.nonce).not.toBe(other.secrets.nonce)
  expect(one.secrets.verifier).not.toBe(other.secrets.verifier)
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
  const names = 'client_id redirect_uri response_type scope state nonce claims code_challenge'
  const more = 'code_challenge_method response_mode request request_uri'
  const evil = Object.fromEntries(`${names} ${more}`.split(' ').map((name) => [name, 'evil']))
  expect(Object.values((await begin('apple', evil)).query)).not.toContain('evil')
  const inherited = Object.create({ login_hint: 'me@example.com' })
  const wrong = ['a\nb', '', 'x'.repeat(321), 7 as unknown as string]
  for (const given of [inherited, ...wrong.map((login_hint) => ({ login_hint }))])
    expect((await begin('google', given)).query).not.toHaveProperty('login_hint')
})

test.each([
  ['github', ['clientId', 'clientSecret']],
  ['apple', ['clientId', 'teamId', 'keyId', 'privateKey']],
] as const)('%s is on if it has the settings %j', async (provider, settings) => {
  const begun = { redirectUri: callbackOf(provider), state: 'x' }
  expect(PROVIDERS.filter(real.isConfigured)).toEqual([...PROVIDERS])
  for (const missing of settings) {
    const none = socialWith({ [provider]: { ...CLIENT, [missing]: undefined } })
    expect(PROVIDERS.filter(none.isConfigured)).toEqual([])
    const error = `${provider}: no client is configured`
    await expect(none.begin(provider, begun)).rejects.toThrow(error)
  }
})

test('A query in a configured URL stays', async () => {
  const authorizeUrl = 'https://login.example/authorize?p=policy'
  const begun = { redirectUri: callbackOf('github'), state: 'x' }
  const { url } = await socialWith({ github: { ...CLIENT, authorizeUrl } }).begin('github', begun)
  expect(url).toStartWith(`${authorizeUrl}&`)
})

const NEVER_VERIFIED: ProviderName[] = ['slack', 'facebook', 'spotify']
const WITHOUT_PKCE: ProviderName[] = ['linkedin', 'slack', 'twitch']
const WITH_REFRESH_TOKEN: ProviderName[] = ['discord', 'spotify']
const PLAIN: ProviderName[] = ['github', 'discord', 'facebook', 'spotify']

/** The subject of an account, if it is not its id. */
const SUBJECTS: Partial<Record<ProviderName, (id: string) => string>> = {
  microsoft: (id) => `${ORGANISATION}:${uuidOf(id)}`,
  slack: (id) => `T0WORKSPACE:${id}`,
  spotify: (id) => `A${id}`,
}

test.each([...PROVIDERS])('%s tells who the user is, once for each code', async (provider) => {
  const rejected = 'rejected the code with'
  const account = newAccount({ name: 'Ada Lovelace' })
  const subject = SUBJECTS[provider]?.(account.id) ?? account.id
  const callback = await come(provider, account)
  const { tokens, scopes, ...profile } = await complete(social, callback)
  expect(profile).toEqual({
    subject: expect.stringMatching(new RegExp(`.#${subject}$`)),
    email: account.email as string,
    isEmailVerified: !NEVER_VERIFIED.includes(provider),
    name: 'Ada Lovelace',
    locale: provider === 'discord' ? 'en-US' : undefined,
  })
  expect(scopes === null).toBe(provider === 'facebook')
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

test.each<[string, string, (callback: Callback) => Callback]>([
  ['another state', '"state"', (callback) => ({ ...callback, state: 'another' })],
  ['no state', '"state" missing', (callback) => changed(callback, { state: null })],
  ['two states', '"state"', (callback) => doubled(callback, 'state')],
  ['no code', 'no authorization code', (callback) => changed(callback, { code: null })],
  ['two codes', '"code"', (callback) => doubled(callback, 'code')],
  ['another code', 'rejected the code', (callback) => changed(callback, { code: 'another' })],
  ['another issuer', 'a different issuer', (one) => changed(one, { iss: 'https://evil.test' })],
  ['another URL', 'rejected the code', (one) => ({ ...one, redirectUri: callbackOf('slack') })],
])('A callback with %s fails', async (_, why, bend) => {
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

test('Apple gets a client secret that is signed each time, with our key, team and key ID', async () => {
  const settings = fakes.providerConfig('apple')
  await clock.advance(10 * 60_000)
  await signIn('apple')
  const { privateKey } = newAppleClient()
  for (const change of [{ privateKey }, { teamId: 'OTHER12345' }, { keyId: 'OTHER12345' }]) {
    const client = socialWith({ apple: { ...settings, ...change } }, clock)
    const { message } = await refusalOf(client, await callbackFrom(client, 'apple'))
    expect(message).toBe('apple: the provider rejected the code with the error invalid_client')
  }
  const broken = '-----BEGIN PRIVATE KEY-----\nbm9uc2Vuc2U=\n-----END PRIVATE KEY-----\n'
  const begun = socialWith({ apple: { ...settings, privateKey: broken } }).begin('apple', {
    redirectUri: callbackOf('apple'),
    state: 'x',
  })
  await expect(begun).rejects.toThrow(/^apple: private_key cannot be read$/)
})
