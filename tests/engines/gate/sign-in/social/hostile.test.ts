import { describe, expect, test } from 'bun:test'
import {
  type Answers,
  newAccount,
  newSigningKey,
  type Tamper,
} from '../../../../support/social/index.ts'
import { HOUR, MINUTE } from '../../fixture.ts'
import { changed, claiming, refusalOf, useProviders } from './fixture.ts'

const { clock, fakes, social, come, signIn, refusal, refusalWith } = useProviders()

type Answer = Answers[string]

const GITLAB = '/gitlab/oauth/token'
const KEYS = '/gitlab/oauth/discovery/keys'
const DISCORD = '/discord/api/oauth2/token'

const nowS = () => clock.now() / 1000
const stranger = newSigningKey()

const headed =
  (changes: Record<string, unknown>): Tamper =>
  ({ header }) =>
    void Object.assign(header, changes)

const signedByAStranger: Tamper = (token) => {
  token.key = { ...stranger, kid: token.key.kid }
}

const forUsAnd =
  (azp: string | undefined): Tamper =>
  ({ claims }) =>
    void Object.assign(claims, { aud: [claims.aud, 'another-client'], azp })

/** Changes a claim to seconds from now. */
const dated =
  (name: string, seconds: number): Tamper =>
  ({ claims }) => {
    claims[name] = nowS() + seconds
  }

test.each<[string, string, Tamper]>([
  ['a stranger’s signature', 'signature verification failed', signedByAStranger],
  ['no signature', '"alg"', headed({ alg: 'none' })],
  ['a signature with the client secret', '"alg"', headed({ alg: 'HS256' })],
  ['an unknown key', 'no applicable keys', headed({ kid: 'unheard-of' })],
  ['a critical header', '"crit"', headed({ crit: ['exp'] })],
  ['another issuer', 'a different issuer', claiming({ iss: 'https://evil.example' })],
  ['no issuer', 'a different issuer', claiming({ iss: undefined })],
  ['a list as issuer', 'iss is not a string', claiming({ iss: ['https://evil.example'] })],
  ['another audience', '"aud"', claiming({ aud: 'another-client' })],
  ['several audiences, issued to another', '"azp"', forUsAnd('another-client')],
  ['several audiences, issued to none', '"aud"', forUsAnd(undefined)],
  ['our audience, issued to another', 'a different client', claiming({ azp: 'another-client' })],
  ['an end in the past', 'expiration is past', dated('exp', -61)],
  ['no end', '"exp"', claiming({ exp: undefined })],
  ['a date in the future', 'in the future', dated('iat', 61)],
  ['a start in the future', '"nbf"', dated('nbf', 120)],
  ['no date', '"iat"', claiming({ iat: undefined })],
  ['a number as subject', '"sub"', claiming({ sub: 42 })],
  ['another nonce', '"nonce"', claiming({ nonce: 'another' })],
  ['no nonce', '"nonce"', claiming({ nonce: undefined })],
])('An ID token with %s is refused', async (_, why, tamper) => {
  const { reason, message } = await refusal('google', tamper)
  expect({ reason, message }).toEqual({ reason: 'failed', message: expect.stringContaining(why) })
})

test('An ID token is refused if the nonce of its sign-in is lost', async () => {
  const callback = await come('google')
  const { verifier } = callback.secrets
  const lost = await refusalOf(social, { ...callback, secrets: { verifier } })
  expect(lost.message).toBe('google: the nonce is missing')
})

test('Clocks may differ by a minute; ours decides', async () => {
  for (const tamper of [dated('exp', -55), dated('iat', 60)])
    await signIn('google', newAccount(), tamper)
  const callback = await come('google', newAccount(), claiming({ exp: nowS() + 3600 }))
  clock.jump(2 * HOUR)
  expect((await refusalOf(social, callback)).message).toContain('expiration is past')
})

test('An ID token verifies no address of the profile, and is dropped if not asked for', async () => {
  const unconfirmed = newAccount({ isVerified: false })
  const gitlab = await signIn('gitlab', unconfirmed, claiming({ email_verified: true }))
  expect(gitlab).toMatchObject({ email: unconfirmed.email as string, isEmailVerified: false })
  fakes.answer({ [DISCORD]: withTokens({ id_token: 'nonsense' }) })
  const discord = await signIn('discord').finally(() => fakes.answer())
  expect(discord.tokens.idToken).toBeUndefined()
})

const json = (body: unknown, status?: number) => () => Response.json(body, { status })
const text = (body: string) => () =>
  new Response(body, { headers: { 'content-type': 'application/json' } })
const withTokens =
  (changes: Record<string, unknown>): Answer =>
  async (usual) =>
    Response.json({ ...((await usual.json()) as object), ...changes })

const SECRET = 'a secret of the provider'
const CHALLENGE = { 'www-authenticate': `Bearer realm="${SECRET}"` }
const ANYWHERE: Record<string, Answer> = {
  nothing: text(''),
  'no JSON': text(`<html>${SECRET}</html>`),
  'a list': text('["x"]'),
  null: text('null'),
  'an empty object': text('{}'),
  'deep nesting': text('['.repeat(90_000)),
  'a failure': json({ error: 'server_error' }, 500),
  'a refusal of its own form': json({ error: { message: SECRET } }, 400),
  'no content': () => new Response(null, { status: 204 }),
  'a redirect': () => Response.redirect(`https://evil.example/?${SECRET}`, 302),
  'a challenge': () => new Response('', { status: 401, headers: CHALLENGE }),
}
const endless = () =>
  new Response(new ReadableStream({ pull: (stream) => stream.enqueue(new Uint8Array(10_000)) }))

test.each([
  ['gitlab', GITLAB],
  ['gitlab', KEYS],
  ['gitlab', '/gitlab/oauth/userinfo'],
  ['discord', '/discord/api/users/@me'],
  ['github', '/github/api/v3/user/emails'],
] as const)(
  '%s is refused if the answer of %s is wrong, endless or slow',
  async (provider, path) => {
    for (const [what, answer] of Object.entries(ANYWHERE)) {
      const { reason } = await refusalWith(provider, { [path]: answer })
      expect({ what, reason }).toEqual({ what, reason: 'failed' })
    }
    expect((await refusalWith(provider, { [path]: endless })).message).toContain('too large')
    const asked = Promise.withResolvers<void>()
    const never = () => {
      asked.resolve()
      return new Promise<Response>(() => {})
    }
    const refused = refusalWith(provider, { [path]: never })
    await asked.promise
    await clock.advance(10_000)
    expect((await refused).message).toContain('did not respond completely in time')
  },
)

describe('Tokens are refused', () => {
  test.each<Record<string, unknown>>([
    { access_token: ['x'] },
    { access_token: 'a\r\nx: y' },
    { access_token: undefined },
    { token_type: 'mac' },
    { refresh_token: {} },
    { scope: {} },
    { expires_in: 'soon' },
  ])('with %j', async (changes) => {
    const answers = { [GITLAB]: withTokens(changes), [DISCORD]: withTokens(changes) }
    for (const provider of ['gitlab', 'discord'] as const)
      expect((await refusalWith(provider, answers)).reason).toBe('failed')
  })

  test.each([
    [undefined, 'the ID token is missing'],
    [[], 'the ID token is missing'],
    ['nonsense', 'cannot be read'],
    ['a.b.c.d.e', 'cannot be read'],
    [`e30.${btoa('[]')}.x`, 'not an object'],
  ])('with the ID token %j', async (id_token, why) => {
    const { message } = await refusalWith('gitlab', { [GITLAB]: withTokens({ id_token }) })
    expect(message).toContain(why)
  })

  test('without quoting them, except an error of one word', async () => {
    const noJson = await refusalWith('gitlab', { [GITLAB]: text(SECRET) })
    expect(noJson.message).toBe('gitlab: a response is not JSON')
    const odd = await refusalWith('gitlab', { [GITLAB]: json({ error: `x ${SECRET}` }, 400) })
    expect(odd.message).toBe('gitlab: the provider rejected the code with an unknown error')
    const good = { [DISCORD]: withTokens({ error: 'access_denied' }) }
    expect(await refusalWith('discord', good)).toMatchObject({
      reason: 'failed',
      message: 'discord: the provider rejected the code with the error access_denied',
    })
  })
})

test.each<[string, (key: object) => unknown]>([
  ['an object', () => ({})],
  ['no objects', () => ['x', null]],
  ['empty', () => []],
  ['symmetric', (key) => [{ ...key, kty: 'oct', k: 'AA' }]],
  ['broken', (key) => [{ ...key, n: '!' }]],
  ['too short', (key) => [{ ...key, n: 'AQAB' }]],
  ['for encryption', (key) => [{ ...key, use: 'enc' }]],
  ['two of one name', (key) => [key, key]],
])('Keys that are %s are refused', async (_, keysFrom) => {
  const answer: Answer = async (usual) => {
    const { keys } = (await usual.json()) as { keys: [object] }
    return Response.json({ keys: keysFrom(keys[0]) })
  }
  expect((await refusalWith('gitlab', { [KEYS]: answer })).reason).toBe('failed')
})

test('A callback with an error or a token is refused without asking the provider', async () => {
  const denied = 'access_denied account_selection_required consent_required interaction_required'
  const more = 'login_required user_cancelled_authorize user_cancelled_login'
  const callback = await come('google')
  const before = fakes.paths.length
  const reasonFor = async (changes: Record<string, string>) => {
    const { reason, message } = await refusalOf(social, changed(callback, changes))
    expect(message).not.toMatch(/the-description|</)
    return reason
  }
  const withError = (error: string) => ({ error, error_description: 'the-description' })
  for (const error of `${denied} ${more}`.split(' '))
    expect(await reasonFor(withError(error)), error).toBe('denied')
  for (const error of ['server_error', 'invalid_scope', '<script>'])
    expect(await reasonFor(withError(error)), error).toBe('failed')
  for (const name of ['id_token', 'token', 'response'])
    expect(await reasonFor({ [name]: 'x' }), name).toBe('failed')
  expect(await reasonFor({ state: 'x', error: 'access_denied' })).toBe('failed')
  expect(fakes.paths).toHaveLength(before)
})

// The last test, because it leaves another key.
test('Keys are read every five minutes, and for an unknown one at most once a minute', async () => {
  const reads = () => fakes.paths.filter((path) => path === '/google/oauth2/v3/certs').length
  await clock.advance(5 * MINUTE)
  let before = reads()
  for (const [ms, expected] of [
    [0, 1],
    [5 * MINUTE - 1, 1],
    [1, 2],
  ] as const) {
    await clock.advance(ms)
    await signIn('google')
    expect(reads()).toBe(before + expected)
  }

  before = reads()
  await clock.advance(MINUTE - 1)
  fakes.rotateKeys()
  const early = await come('google')
  expect((await refusalOf(social, early)).message).toContain('no applicable keys')
  expect(reads()).toBe(before)
  await clock.advance(1)
  await signIn('google')
  for (let n = 0; n < 3; n++) await refusal('google', headed({ kid: 'unheard-of' }))
  expect(reads()).toBe(before + 1)
  await clock.advance(MINUTE)
  await refusal('google', signedByAStranger)
  expect(reads()).toBe(before + 1)
  const unknown = await refusal('google', headed({ kid: 'unheard-of' }))
  expect(unknown.message).toContain('no applicable keys')
  expect(reads()).toBe(before + 2)
})
