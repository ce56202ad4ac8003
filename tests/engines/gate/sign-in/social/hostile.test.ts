import { afterAll, beforeEach, describe, expect, test } from 'bun:test'
import type { ProviderName } from '../../../../../src/config/index.ts'
import { createTestClock } from '../../../../support/clock.ts'
import { newSigningKey, published, signToken } from '../../../../support/social/index.ts'
import { startTarget } from '../../../../support/target.ts'
import { callbackFrom, complete, refusalOf, START, socialWith } from './fixture.ts'

type Answer = () => Response | Promise<Response>
type Json = Record<string, unknown>

/** What the provider answers at its paths, where it differs from `USUAL`. */
let answers: Record<string, Answer> = {}
let nonce = ''
const nothing = () => new Response('nothing here', { status: 404 })
const target = startTarget(({ path }) => {
  const name = path.slice(1).split('?')[0] ?? ''
  return (answers[name] ?? USUAL[name] ?? nothing)()
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
  settings: Json = SETTINGS,
) {
  const clock = createTestClock(START)
  const social = socialWith({ [provider]: settings }, clock)
  const callback = await callbackFrom(social, provider, async (url) => {
    const state = new URL(url).searchParams.get('state') as string
    return { params: new URLSearchParams({ state, ...params }) }
  })
  nonce = callback.secrets.nonce ?? ''
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
const idToken = (more: Json = {}) => {
  const iat = Date.parse(START) / 1000
  const claims = { iss: SETTINGS.issuer, aud: 'our-client', sub: '42', iat, exp: iat + 3600, nonce }
  const header = { alg: 'RS256', kid: key.kid }
  return signToken({ header, claims: { ...claims, ...more } }, key.privateKey, '')
}
const tokens = (more: Json = {}) => ({
  access_token: 'the-access-token-secret',
  token_type: 'Bearer',
  id_token: idToken(),
  ...more,
})

const json =
  (body: () => unknown, status = 200) =>
  () =>
    Response.json(body(), { status })
const text =
  (body: string, status = 200) =>
  () =>
    new Response(body, { status, headers: { 'content-type': 'application/json' } })

const USUAL: Record<string, Answer> = {
  token: json(() => tokens()),
  jwks: json(() => ({ keys: [published(key)] })),
  userinfo: json(() => ({ sub: '42', id: '42', email: 'me@example.com' })),
}

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
const CHALLENGE = { 'www-authenticate': 'Bearer realm="the-code"' }
const ANYWHERE: Record<string, Answer> = {
  nothing: text(''),
  'no JSON': text('<html>the-code the-client-secret</html>'),
  'half of it': text('{"access_token":"the-access-token-secret"'),
  'a list': text('["x"]'),
  'a text': text('"the-code"'),
  'a number': text('1'),
  null: text('null'),
  'an empty object': text('{}'),
  'too much': text(JSON.stringify({ padding: 'x'.repeat(150_000) })),
  'deep nesting': text(DEEP),
  'deep nesting, closed': text(`${DEEP}${']'.repeat(90_000)}`),
  'a failure': text('{"error":"server_error"}', 500),
  'a refusal': text('{"error":"invalid_grant"}', 400),
  'a refusal of its own form': text('{"error":{"message":"the-code"}}', 400),
  'too many requests': text('', 429),
  'no content': () => new Response(null, { status: 204 }),
  'a redirect': () => Response.redirect('https://evil.example/?the-code', 302),
  'broken gzip': () => new Response('x', { headers: { 'content-encoding': 'gzip' } }),
  'a challenge': () => new Response('', { status: 401, headers: CHALLENGE }),
}
const endless = () =>
  new Response(new ReadableStream({ pull: (stream) => stream.enqueue(new Uint8Array(10_000)) }))
const headOnly = () => new Response(new ReadableStream({ start: (stream) => stream.enqueue('{') }))
const never = () => new Promise<Response>(() => {})

test.each([
  ['google', 'token'],
  ['google', 'jwks'],
  ['google', 'userinfo'],
  ['discord', 'userinfo'],
  ['github', 'userinfo/emails'],
] as const)('%s is refused if its %s is wrong, endless or slow', async (provider, name) => {
  const others = { ...(provider === 'github' && { userinfo: json(() => ({ id: 42 })) }) }
  for (const [what, answer] of Object.entries(ANYWHERE)) {
    const { reason, message } = await refusalWith(provider, { ...others, [name]: answer })
    expect({ what, reason }).toEqual({ what, reason: 'failed' })
    expect(message).not.toContain('the-')
    expect(message.length).toBeLessThan(300)
  }
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

describe('Tokens are refused', () => {
  test.each<Json>([
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
    [undefined, 'the ID token is missing'],
    [[], 'the ID token is missing'],
    ['nonsense', 'cannot be read'],
    ['a.b.c.d.e', 'cannot be read'],
    [`e30.${btoa('[]')}.x`, 'not an object'],
  ])('with the ID token %j', async (id_token, why) => {
    const { message } = await refusalWith('google', { token: json(() => tokens({ id_token })) })
    expect(message).toContain(why)
  })

  test('without quoting them, except an error of one word', async () => {
    const noJson = await refusalWith('google', { token: text('the-code') })
    expect(noJson.message).toBe('google: a response is not JSON')
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

test('A callback with an error, another state or a token is refused without asking the provider', async () => {
  const denied = 'access_denied account_selection_required consent_required interaction_required'
  const more = 'login_required user_cancelled_authorize user_cancelled_login'
  const withError = (error: string) => ({ error, error_description: 'the-description' })
  const isDenied = `${denied} ${more}`.split(' ').map(withError)
  const others = ['server_error', 'invalid_scope', '<script>'].map(withError)
  const code = 'the-code'
  const tokens = [
    { code, id_token: 'x' },
    { code, token: 'x' },
    { code, response: 'x' },
  ]
  for (const params of [
    ...isDenied,
    ...others,
    { state: 'x', error: 'access_denied' },
    ...tokens,
  ]) {
    const { refusal, requests } = await callbackAt('google', params as Record<string, string>)
    const { reason, message } = await refusal()
    expect(reason, message).toBe(isDenied.includes(params as never) ? 'denied' : 'failed')
    expect(message).not.toMatch(/the-description|</)
    expect(requests()).toEqual([])
  }
})

test('A provider that is down is refused', async () => {
  const down = startTarget(nothing)
  const tokenUrl = new URL('/token', down.url).href
  await down.stop()
  const { refusal } = await callbackAt('google', undefined, { ...SETTINGS, tokenUrl })
  expect((await refusal()).message).toContain('cannot be reached')
})

test('An ID token verifies no address of the profile, and is dropped if not asked for', async () => {
  answers = { token: json(() => tokens({ id_token: idToken({ email_verified: true }) })) }
  const google = await (await callbackAt('google')).complete()
  expect(google).toMatchObject({ email: 'me@example.com', isEmailVerified: false })
  answers = { token: json(() => tokens({ id_token: 'nonsense' })) }
  const discord = await (await callbackAt('discord')).complete()
  expect(discord.tokens.idToken).toBeUndefined()
})
