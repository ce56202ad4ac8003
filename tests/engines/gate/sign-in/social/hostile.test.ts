import { afterAll, beforeEach, describe, expect, test } from 'bun:test'
import type { ProviderName } from '../../../../../src/config/index.ts'
import { createTestClock } from '../../../../support/clock.ts'
import { newSigningKey, published, signToken } from '../../../../support/social/index.ts'
import { startTarget } from '../../../../support/target.ts'
import { type Callback, callbackOf, complete, refusalOf, START, socialWith } from './fixture.ts'

type Answer = () => Response | Promise<Response>

/** What the provider answers at its paths, where it differs from `usual`. */
let answers: Record<string, Answer> = {}
let nonce = ''
const target = startTarget(({ path }) => {
  const name = path.slice(1).split('?')[0] ?? ''
  return (answers[name] ?? usual[name] ?? nothing)()
})
afterAll(target.stop)
beforeEach(() => {
  answers = {}
})

const at = (name: string) => new URL(`/${name}`, target.url).href
const SETTINGS = {
  clientId: 'our-client',
  clientSecret: 'the-client-secret',
  authorizeUrl: at('authorize'),
  tokenUrl: at('token'),
  userinfoUrl: at('userinfo'),
  jwksUrl: at('jwks'),
  issuer: 'https://issuer.example',
}

/** A browser that is back from the provider; nothing is cached. */
async function callbackAt(
  provider: ProviderName,
  params: Record<string, string> = { code: 'the-code' },
) {
  const clock = createTestClock(START)
  const social = socialWith({ [provider]: SETTINGS }, clock)
  const redirectUri = callbackOf(provider)
  const { secrets } = await social.begin(provider, { redirectUri, state: 's' })
  nonce = secrets.nonce ?? ''
  const query = new URLSearchParams({ state: 's', ...params })
  const callback: Callback = {
    provider,
    redirectUri,
    params: query,
    state: 's',
    secrets,
    method: 'GET',
  }
  const before = target.requests.length
  return {
    clock,
    complete: () => complete(social, callback),
    refusal: () => refusalOf(social, callback),
    requests: () => target.requests.slice(before),
  }
}

const refusalWith = async (provider: ProviderName, given: Record<string, Answer>) => {
  answers = given
  return (await callbackAt(provider)).refusal()
}

const key = newSigningKey()
const idToken = (more: Record<string, unknown> = {}) => {
  const iat = Date.parse(START) / 1000
  const claims = { iss: SETTINGS.issuer, aud: 'our-client', sub: '42', iat, exp: iat + 3600, nonce }
  const header = { alg: 'RS256', kid: key.kid }
  return signToken({ header, claims: { ...claims, ...more } }, key.privateKey, '')
}

const tokens = (more: Record<string, unknown> = {}) => ({
  access_token: 'the-access-token-secret',
  token_type: 'Bearer',
  id_token: idToken(),
  ...more,
})

const json =
  (body: () => unknown, status = 200): Answer =>
  () =>
    Response.json(body(), { status })
const usual: Record<string, Answer> = {
  token: json(() => tokens()),
  jwks: json(() => ({ keys: [published(key)] })),
  userinfo: json(() => ({ sub: '42', id: '42', email: 'me@example.com' })),
}
const nothing = () => new Response('nothing here', { status: 404 })
const text =
  (body: string, status = 200): Answer =>
  () =>
    new Response(body, { status, headers: { 'content-type': 'application/json' } })

test.each(['google', 'discord'] as const)('%s works as usual', async (provider) => {
  const { complete, requests } = await callbackAt(provider)
  expect(await complete()).toMatchObject({ email: 'me@example.com', isEmailVerified: false })
  for (const { headers } of requests().filter(({ path }) => path !== '/jwks')) {
    expect(headers.get('user-agent')).toBe('Gatehouse')
    expect(headers.get('accept')).toStartWith('application/json')
    expect(headers.get('accept-encoding')).toBe('identity')
  }
})

const DEEP = '['.repeat(90_000)
const ANYWHERE: [string, Answer][] = [
  ['nothing', text('')],
  ['no JSON', text('<html>the-code the-client-secret</html>')],
  ['half of it', text('{"access_token":"the-access-token-secret"')],
  ['a list', text('["x"]')],
  ['a text', text('"the-code"')],
  ['a number', text('1')],
  ['null', text('null')],
  ['an empty object', text('{}')],
  ['too much', text(JSON.stringify({ padding: 'x'.repeat(150_000) }))],
  ['deep nesting', text(DEEP)],
  ['deep nesting, closed', text(`${DEEP}${']'.repeat(90_000)}`)],
  ['a failure', text('{"error":"server_error"}', 500)],
  ['a refusal', text('{"error":"invalid_grant"}', 400)],
  ['a refusal of its own form', text('{"error":{"message":"the-code"}}', 400)],
  ['too many requests', text('', 429)],
  ['no content', () => new Response(null, { status: 204 })],
  ['a redirect', () => Response.redirect('https://evil.example/?the-code', 302)],
  ['broken gzip', () => new Response('x', { headers: { 'content-encoding': 'gzip' } })],
  [
    'a challenge',
    () =>
      new Response('', { status: 401, headers: { 'www-authenticate': 'Bearer realm="the-code"' } }),
  ],
]
const endless = () =>
  new Response(new ReadableStream({ pull: (stream) => stream.enqueue(new Uint8Array(10_000)) }))
const headOnly = () => new Response(new ReadableStream({ start: (stream) => stream.enqueue('{') }))
const never = () => new Promise<Response>(() => {})

describe.each([
  ['google', 'token'],
  ['google', 'jwks'],
  ['google', 'userinfo'],
  ['discord', 'userinfo'],
  ['github', 'userinfo/emails'],
] as const)('%s is refused if its %s', (provider, name) => {
  const others: Record<string, Answer> =
    provider === 'github' ? { userinfo: json(() => ({ id: 42 })) } : {}

  test('is wrong in any way', async () => {
    for (const [what, answer] of ANYWHERE) {
      const { reason, message } = await refusalWith(provider, { ...others, [name]: answer })
      expect({ what, reason }).toEqual({ what, reason: 'failed' })
      expect(message).not.toContain('the-')
      expect(message.length).toBeLessThan(300)
    }
  })

  test('is endless, or takes longer than ten seconds', async () => {
    const { message } = await refusalWith(provider, { ...others, [name]: endless })
    expect(message).toContain('too large')
    for (const slow of [never, headOnly]) {
      const asked = Promise.withResolvers<void>()
      const answer = () => {
        asked.resolve()
        return slow()
      }
      answers = { ...others, [name]: answer }
      const { refusal, clock } = await callbackAt(provider)
      const refused = refusal()
      await asked.promise
      await clock.advance(10_000)
      expect((await refused).message).toContain('did not respond completely in time')
    }
  })
})

describe('Tokens are refused', () => {
  test.each<Record<string, unknown>>([
    { access_token: ['x'] },
    { access_token: 'a\r\nx: y' },
    { access_token: undefined },
    { token_type: 'mac' },
    { token_type: ['bearer'] },
    { refresh_token: {} },
    { scope: {} },
    { expires_in: 'soon' },
  ])('with %j', async (more) => {
    for (const provider of ['google', 'discord'] as const) {
      const refusal = await refusalWith(provider, { token: json(() => tokens(more)) })
      expect(refusal.reason).toBe('failed')
    }
  })

  test.each([
    ['no ID token', undefined, 'the ID token is missing'],
    ['an ID token that is a list', [], 'the ID token is missing'],
    ['an ID token in one part', 'nonsense', 'cannot be read'],
    ['an ID token of five parts', 'a.b.c.d.e', 'cannot be read'],
    ['an ID token that holds a list', `e30.${btoa('[]')}.x`, 'not an object'],
  ])('with %s', async (_, id_token, why) => {
    const { message } = await refusalWith('google', { token: json(() => tokens({ id_token })) })
    expect(message).toContain(why)
  })

  test('without quoting them if they are no JSON', async () => {
    const { message } = await refusalWith('google', { token: text('the-code') })
    expect(message).toBe('google: a response is not JSON')
  })

  test('with an error, which is shown if it is one word', async () => {
    const odd = json(() => ({ error: 'the-code <script>' }), 400)
    const { message } = await refusalWith('google', { token: odd })
    expect(message).toBe('google: the provider rejected the code with an unknown error')
    const good = json(() => tokens({ error: 'access_denied' }))
    expect(await refusalWith('discord', { token: good })).toMatchObject({
      reason: 'failed',
      message: 'discord: the provider rejected the code with the error access_denied',
    })
  })
})

test('An ID token that was not asked for is dropped', async () => {
  answers = { token: json(() => tokens({ id_token: 'nonsense' })) }
  const { complete } = await callbackAt('discord')
  expect((await complete()).tokens.idToken).toBeUndefined()
})

test.each<[string, unknown]>([
  ['an object', {}],
  ['no objects', ['x', null]],
  ['empty', []],
  ['symmetric', [{ ...published(key), kty: 'oct', k: 'AA' }]],
  ['broken', [{ ...published(key), n: '!' }]],
  ['too short', [{ ...published(key), n: 'AQAB' }]],
  ['for encryption', [{ ...published(key), use: 'enc' }]],
  ['two of one name', [published(key), published(key)]],
])('Keys that are %s are refused', async (_, keys) => {
  expect((await refusalWith('google', { jwks: json(() => ({ keys })) })).reason).toBe('failed')
})

describe('A callback is refused, and the provider not asked,', () => {
  test.each([
    ['access_denied', 'denied'],
    ['account_selection_required', 'denied'],
    ['consent_required', 'denied'],
    ['interaction_required', 'denied'],
    ['login_required', 'denied'],
    ['user_cancelled_authorize', 'denied'],
    ['user_cancelled_login', 'denied'],
    ['server_error', 'failed'],
    ['invalid_scope', 'failed'],
    ['<script>', 'failed'],
  ] as const)('with the error %s: %s', async (error, reason) => {
    const given = { error, error_description: 'the-description' }
    const { refusal, requests } = await callbackAt('google', given)
    const refused = await refusal()
    expect(refused.reason).toBe(reason)
    expect(refused.message).not.toMatch(/the-description|</)
    expect(requests()).toEqual([])
  })

  test('with the wrong state or a token', async () => {
    const callbacks: Record<string, string>[] = [{ state: 'other', error: 'access_denied' }]
    for (const name of ['id_token', 'token', 'response'])
      callbacks.push({ code: 'the-code', [name]: 'x' })
    for (const params of callbacks) {
      const { refusal, requests } = await callbackAt('google', params)
      expect((await refusal()).reason).toBe('failed')
      expect(requests()).toEqual([])
    }
  })
})

test('A provider that is down is refused', async () => {
  const down = startTarget(nothing)
  const tokenUrl = new URL('/token', down.url).href
  await down.stop()
  const social = socialWith({ google: { ...SETTINGS, tokenUrl } })
  const redirectUri = callbackOf('google')
  const { secrets } = await social.begin('google', { redirectUri, state: 's' })
  const params = new URLSearchParams({ state: 's', code: 'the-code' })
  const callback: Callback = {
    provider: 'google',
    redirectUri,
    params,
    state: 's',
    secrets,
    method: 'GET',
  }
  expect((await refusalOf(social, callback)).message).toContain('cannot be reached')
})

test('An address is verified by the response that has it', async () => {
  answers = { token: json(() => tokens({ id_token: idToken({ email_verified: true }) })) }
  const { complete } = await callbackAt('google')
  expect(await complete()).toMatchObject({ email: 'me@example.com', isEmailVerified: false })
})
