import { describe, expect, test } from 'bun:test'
import type { ProviderName } from '../../../../../src/config/index.ts'
import { createTestClock } from '../../../../support/clock.ts'
import {
  NOTHING_SET,
  newSigningKey,
  type ProviderSettings,
  published,
  signToken,
} from '../../../../support/social/index.ts'
import { startTarget } from '../../../../support/target.ts'
import { callbackOf, refusalOf, START, socialWith } from './client.ts'

type Answer = () => Response | Promise<Response>

/** A provider that answers whatever a test wants at each of its addresses. */
async function startHostile(provider: ProviderName, answers: Partial<Record<string, Answer>>) {
  const clock = createTestClock(START)
  const target = startTarget(({ path }) => {
    const [name = ''] = path.slice(1).split('?')
    return (answers[name] ?? usual[name] ?? nothing)()
  })
  const at = (name: string) => new URL(`/${name}`, target.url).href
  const settings: ProviderSettings = {
    ...NOTHING_SET,
    clientId: 'our-client',
    clientSecret: 'the-client-secret',
    authorizeUrl: at('authorize'),
    tokenUrl: at('token'),
    userinfoUrl: at('userinfo'),
    jwksUrl: at('jwks'),
    issuer: 'https://issuer.example',
  }
  const social = socialWith({ [provider]: settings }, clock)
  const redirectUri = callbackOf(provider)
  const { secrets } = await social.begin(provider, { redirectUri, state: 's' })
  nonce = secrets.nonce ?? ''
  const params = new URLSearchParams({ state: 's', code: 'the-code' })
  const journey = { provider, redirectUri, params, state: 's', secrets, method: 'GET' } as const
  return {
    clock,
    target,
    social,
    journey,
    refusal: () => refusalOf(social, journey),
    [Symbol.asyncDispose]: () => target.stop(),
  }
}

const key = newSigningKey()
let nonce = ''

const claims = () => ({
  iss: 'https://issuer.example',
  aud: 'our-client',
  sub: '42',
  iat: Date.parse(START) / 1000,
  exp: Date.parse(START) / 1000 + 3600,
  nonce,
})

const idToken = () =>
  signToken({ header: { alg: 'RS256', kid: key.kid }, claims: claims() }, key.privateKey, '')

const tokens = (more: Record<string, unknown> = {}) => ({
  access_token: 'the-access-token-secret',
  token_type: 'Bearer',
  id_token: idToken(),
  ...more,
})

const usual: Record<string, Answer> = {
  token: () => Response.json(tokens()),
  jwks: () => Response.json({ keys: [published(key)] }),
  userinfo: () => Response.json({ sub: '42', id: '42', email: 'me@example.com' }),
}

const nothing = () => new Response('nothing here', { status: 404 })
const text =
  (body: string, status = 200) =>
  () =>
    new Response(body, { status, headers: { 'content-type': 'application/json' } })
const json =
  (body: unknown, status = 200): Answer =>
  () =>
    Response.json(body, { status })

test.each(['google', 'discord'] as const)('%s is sound when it is left alone', async (provider) => {
  await using hostile = await startHostile(provider, {})

  const profile = await hostile.social.complete(provider, hostile.journey)

  expect(profile).toMatchObject({ email: 'me@example.com', isEmailVerified: false })
})

const TOO_MUCH = 'x'.repeat(150_000)
const DEEP = '['.repeat(90_000)

const everywhere: [string, Answer][] = [
  ['nothing', text('')],
  ['no JSON', text('<html>the-code the-client-secret</html>')],
  ['half of it', text('{"access_token":"the-access-token-secret"')],
  ['a list', text('["x"]')],
  ['a text', text('"the-code"')],
  ['a number', text('1')],
  ['null', text('null')],
  ['an empty object', text('{}')],
  ['too much', text(JSON.stringify({ padding: TOO_MUCH }))],
  ['what is very deep', text(DEEP)],
  ['what is very deep and whole', text(`${DEEP}${']'.repeat(90_000)}`)],
  ['a failure', text('{"error":"server_error"}', 500)],
  ['a refusal', text('{"error":"invalid_grant"}', 400)],
  ['a refusal in a form of its own', text('{"error":{"message":"the-code"}}', 400)],
  [
    'a challenge',
    () =>
      new Response('', { status: 401, headers: { 'www-authenticate': 'Bearer realm="the-code"' } }),
  ],
  ['too many requests', text('', 429)],
  ['no content', () => new Response(null, { status: 204 })],
  ['a redirect', () => Response.redirect('https://evil.example/?the-code', 302)],
  [
    'broken compression',
    () => new Response('nonsense', { headers: { 'content-encoding': 'gzip' } }),
  ],
]

describe.each([
  ['google', 'token'],
  ['google', 'jwks'],
  ['google', 'userinfo'],
  ['discord', 'token'],
  ['discord', 'userinfo'],
  ['github', 'userinfo/emails'],
] as const)('%s is refused when its %s', (provider, name) => {
  test.each(everywhere)('answers with %s', async (_, answer) => {
    const more = name === 'userinfo/emails' ? { userinfo: json({ id: 42 }) } : {}
    await using hostile = await startHostile(provider, { ...more, [name]: answer })

    const { reason, message } = await hostile.refusal()

    expect(reason).toBe('failed')
    expect(message).not.toContain('the-')
    expect(message.length).toBeLessThan(300)
  })

  test('answers without end', async () => {
    const endless = () =>
      new Response(new ReadableStream({ pull: (stream) => stream.enqueue(new Uint8Array(10_000)) }))
    await using hostile = await startHostile(provider, {
      ...(name === 'userinfo/emails' && { userinfo: json({ id: 42 }) }),
      [name]: endless,
    })

    expect((await hostile.refusal()).message).toContain('too large')
  })

  test.each([
    ['not at all', () => new Promise<Response>(() => {})],
    [
      'with a head alone',
      () => new Response(new ReadableStream({ start: (stream) => stream.enqueue('{') })),
    ],
  ] as [string, Answer][])('answers %s within ten seconds', async (_, answer) => {
    const asked = Promise.withResolvers<void>()
    await using hostile = await startHostile(provider, {
      ...(name === 'userinfo/emails' && { userinfo: json({ id: 42 }) }),
      [name]: () => {
        asked.resolve()
        return answer()
      },
    })

    const refusal = hostile.refusal()
    await asked.promise
    await hostile.clock.advance(10_000)

    expect((await refusal).message).toContain('did not respond completely in time')
  })
})

describe('a token answer is refused', () => {
  test.each([
    ['an access token that is a list', { access_token: ['x'] }],
    ['an access token that would end a header', { access_token: 'a\r\nx: y' }],
    ['no access token', { access_token: undefined }],
    ['a type that nobody knows', { token_type: 'mac' }],
    ['a type that is a list', { token_type: ['bearer'] }],
    ['a refresh token that is an object', { refresh_token: {} }],
    ['a scope that is an object', { scope: {} }],
    ['an end that is a word', { expires_in: 'soon' }],
  ])('with %s', async (_, more) => {
    for (const provider of ['google', 'discord'] as const) {
      await using hostile = await startHostile(provider, {
        token: () => Response.json(tokens(more)),
      })

      expect(await hostile.refusal()).toMatchObject({ reason: 'failed' })
    }
  })

  test.each([
    ['no ID token', undefined, 'the ID token is missing'],
    ['an ID token that is a list', [], 'the ID token is missing'],
    ['an ID token in one part', 'nonsense', 'cannot be read'],
    ['an ID token of five parts', 'a.b.c.d.e', 'cannot be read'],
    [
      'an ID token that holds a list',
      `e30.${Buffer.from('[]').toString('base64url')}.x`,
      'not an object',
    ],
  ])('with %s', async (_, id_token, why) => {
    await using hostile = await startHostile('google', {
      token: () => Response.json(tokens({ id_token })),
    })

    expect((await hostile.refusal()).message).toContain(why)
  })

  test('with an error that is not one word, which is not repeated', async () => {
    const error = 'the-code <script>'
    await using hostile = await startHostile('google', { token: json({ error }, 400) })

    expect((await hostile.refusal()).message).toBe(
      'google: the provider rejected the code with an unknown error',
    )
  })

  test('with status 200 and an error beside the tokens', async () => {
    await using hostile = await startHostile('discord', {
      token: () => Response.json(tokens({ error: 'access_denied' })),
    })

    expect(await hostile.refusal()).toMatchObject({
      reason: 'failed',
      message: 'discord: the provider rejected the code with the error access_denied',
    })
  })
})

test('an ID token that nobody asked for is not looked at', async () => {
  await using hostile = await startHostile('discord', {
    token: () => Response.json(tokens({ id_token: 'nonsense' })),
  })

  const { tokens: kept } = await hostile.social.complete('discord', hostile.journey)

  expect(kept.idToken).toBeUndefined()
})

describe('a key set is refused', () => {
  test.each([
    ['keys that are no list', { keys: {} }],
    ['keys that are no objects', { keys: ['x', null] }],
    ['no keys', { keys: [] }],
    ['a key of a kind that nobody knows', { keys: [{ ...published(key), kty: 'oct', k: 'AA' }] }],
    ['a key that is broken', { keys: [{ ...published(key), n: '!' }] }],
    ['a key that is too short', { keys: [{ ...published(key), n: 'AQAB' }] }],
    ['a key that is for secrets', { keys: [{ ...published(key), use: 'enc' }] }],
    ['two keys of one name', { keys: [published(key), published(key)] }],
  ])('with %s', async (_, set) => {
    await using hostile = await startHostile('google', { jwks: json(set) })

    expect(await hostile.refusal()).toMatchObject({ reason: 'failed' })
  })
})

describe('coming back is refused', () => {
  test.each([
    ['access_denied', 'denied'],
    ['user_cancelled_login', 'denied'],
    ['user_cancelled_authorize', 'denied'],
    ['consent_required', 'denied'],
    ['login_required', 'denied'],
    ['interaction_required', 'denied'],
    ['server_error', 'failed'],
    ['temporarily_unavailable', 'failed'],
    ['invalid_scope', 'failed'],
    ['<script>', 'failed'],
  ])('with the error %s: %s', async (error, reason) => {
    await using hostile = await startHostile('google', {})
    const params = new URLSearchParams({ state: 's', error, error_description: 'the-description' })

    const refusal = await refusalOf(hostile.social, { ...hostile.journey, params })

    expect(refusal.reason).toBe(reason as typeof refusal.reason)
    expect(refusal.message).not.toContain('the-description')
    expect(refusal.message).not.toContain('<')
    expect(hostile.target.requests).toEqual([])
  })

  test('with an error and the wrong state, whatever the error', async () => {
    await using hostile = await startHostile('google', {})
    const params = new URLSearchParams({ state: 'other', error: 'access_denied' })

    const refusal = await refusalOf(hostile.social, { ...hostile.journey, params })

    expect(refusal.reason).toBe('failed')
  })

  test.each(['id_token', 'token', 'response'])('with %s, which nobody asked for', async (name) => {
    await using hostile = await startHostile('google', {})
    const params = new URLSearchParams({ state: 's', code: 'the-code', [name]: 'x' })

    expect(await refusalOf(hostile.social, { ...hostile.journey, params })).toMatchObject({
      reason: 'failed',
    })
    expect(hostile.target.requests).toEqual([])
  })
})

test('a provider that is not there is refused', async () => {
  const hostile = await startHostile('google', {})
  await hostile.target.stop()

  expect((await hostile.refusal()).message).toContain('cannot be reached')
})

test('the address of a profile counts with what its source says of it', async () => {
  const vouching = () =>
    signToken(
      { header: { alg: 'RS256', kid: key.kid }, claims: { ...claims(), email_verified: true } },
      key.privateKey,
      '',
    )
  await using hostile = await startHostile('google', {
    token: () => Response.json(tokens({ id_token: vouching() })),
  })

  const profile = await hostile.social.complete('google', hostile.journey)

  expect(profile).toMatchObject({ email: 'me@example.com', isEmailVerified: false })
})

test('providers are called by name, and asked for nothing compressed', async () => {
  await using hostile = await startHostile('discord', {})
  await hostile.social.complete('discord', hostile.journey)

  const heads = hostile.target.requests.map(({ path, headers }) => [
    path,
    headers.get('user-agent'),
    headers.get('accept'),
    headers.get('accept-encoding'),
  ])
  expect(heads).toEqual([
    ['/token', 'Gatehouse', 'application/json', 'identity'],
    ['/userinfo', 'Gatehouse', 'application/json', 'identity'],
  ])
})
