import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { checkDigits } from '../../../../src/platform/crypto.ts'
import type { TestApp } from '../../../support/app.ts'
import {
  ACTOR,
  AUTHORIZE,
  askForToken,
  bootGate,
  bootParty,
  coded,
  count,
  DAY,
  IDENTITIES,
  type Json,
  mintToken,
  SESSIONS,
  SETTINGS,
  TOKENS,
  UNKNOWN_ID,
} from '../fixture.ts'

const INTROSPECT = `${TOKENS}/introspect`
const ALL_SCOPES = [
  'identities:read',
  'identities:write',
  'sessions:write',
  'flows',
  'settings:read',
  'settings:write',
  'tokens:write',
  'authorize',
]

/** What a token may do, by the word of introspection. */
async function scopesOf(api: { post: Json }, token: Json): Promise<string[]> {
  const { body } = await api.post(INTROSPECT, { access_token: token.access_token })
  return body.scopes
}

describe('a key is exchanged for a token', () => {
  test('that lives for an hour', async () => {
    await using fixture = await bootGate({ start: '2026-03-01T12:00:30.500Z' })
    const { app, acme, key } = fixture

    const answer = await askForToken(app, { api_key: key, subject: 'svc-1' })

    expect(answer.status).toBe(200)
    expect(answer.body).toEqual({
      access_token: expect.stringMatching(/^gat_live_at_[0-9A-Za-z]{43}$/),
      expires_at: '2026-03-01T13:00:30.500Z',
      subject: 'svc-1',
      tenant_id: acme.id,
    })
  })

  test.each(['live', 'test'] as const)('of its own environment, %s', async (environment) => {
    await using fixture = await bootGate()
    const { key } = await fixture.acme.key('gate', environment)

    const { access_token: token } = await mintToken(fixture.app, key)

    expect(token).toStartWith(`gat_${environment}_at_`)
  })

  test('whose last six characters are check digits over the others', async () => {
    await using fixture = await bootGate()
    const { access_token: token } = await mintToken(fixture.app, fixture.key)

    const secret = token.slice('gat_live_at_'.length)
    expect(secret.slice(-6)).toBe(checkDigits(secret.slice(0, -6)))
  })

  test('that is another one each time', async () => {
    await using fixture = await bootGate()
    const tokens = await Promise.all(
      Array.from({ length: 20 }, () => mintToken(fixture.app, fixture.key)),
    )

    expect(new Set(tokens.map(({ access_token: token }) => token)).size).toBe(20)
  })

  test('by a key that has tokens:write and nothing else', async () => {
    await using fixture = await bootGate()
    const { key } = await fixture.acme.key('gate', 'live', ['tokens:write'])

    const token = await mintToken(fixture.app, key)

    expect(await scopesOf(fixture.api, token)).toEqual(['tokens:write'])
  })

  test('also with members that nobody knows', async () => {
    await using fixture = await bootGate()
    expect(await mintToken(fixture.app, fixture.key, { audience: 'x' })).toMatchObject({
      subject: 'svc-1',
    })
  })
})

describe('ttl_seconds', () => {
  test.each([1, 60, 86_399, 86_400])('may be %d', async (ttl) => {
    await using fixture = await bootGate()
    const { expires_at: end } = await mintToken(fixture.app, fixture.key, { ttl_seconds: ttl })
    expect(Date.parse(end)).toBe(fixture.clock.now() + ttl * 1000)
  })

  test('may be spelled with a fraction of nothing', async () => {
    await using fixture = await bootGate()
    const answer = await fixture.app.raw(TOKENS, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: `{"api_key":"${fixture.key}","subject":"s","ttl_seconds":6e1}`,
    })
    expect(Date.parse(answer.body.expires_at)).toBe(fixture.clock.now() + 60_000)
  })

  test('outside 1 to 86400, or no whole number, is refused', async () => {
    await using fixture = await bootGate()
    for (const ttl of [0, -1, 1.5, 86_401, 86_400.5, 1e21, '60', '', null, true, [60], {}]) {
      const answer = await askForToken(fixture.app, {
        api_key: fixture.key,
        subject: 'svc-1',
        ttl_seconds: ttl,
      })
      expect(answer, `${JSON.stringify(ttl)}`).toMatchObject(
        coded(400, 'invalid_payload', 'ttl_seconds: must be a whole number'),
      )
    }
    expect(count(fixture.app, 'gate_access_tokens')).toBe(0)
  })
})

describe('the scopes of a token', () => {
  test('are all of its key unless fewer are asked for', async () => {
    await using fixture = await bootGate()
    const token = await mintToken(fixture.app, fixture.key)
    expect(await scopesOf(fixture.api, token)).toEqual(ALL_SCOPES)
  })

  test.each([
    ['some', ['authorize', 'identities:read'], ['authorize', 'identities:read']],
    ['none', [], []],
    ['some twice', ['authorize', 'authorize', 'flows', 'authorize'], ['authorize', 'flows']],
    ['all', ALL_SCOPES, ALL_SCOPES],
  ])('can be narrowed to %s', async (_, asked, given) => {
    await using fixture = await bootGate()
    const token = await mintToken(fixture.app, fixture.key, { scopes: asked })
    expect(await scopesOf(fixture.api, token)).toEqual(given)
  })

  test('include names of the own making that its key carries', async () => {
    await using fixture = await bootGate()
    const own = ['tokens:write', 'reports:read', 'reports:write']
    const { key } = await fixture.acme.key('gate', 'live', own)

    expect(await scopesOf(fixture.api, await mintToken(fixture.app, key))).toEqual(own)
    const narrowed = await mintToken(fixture.app, key, { scopes: ['reports:read'] })
    expect(await scopesOf(fixture.api, narrowed)).toEqual(['reports:read'])
  })

  test.each([
    'reports:read',
    'relay:send',
    'Authorize',
    'authorize ',
    '',
    '*',
    '__proto__',
    'x'.repeat(90),
  ])('never go beyond those of the key: %j', async (scope) => {
    await using fixture = await bootGate()
    const answer = await askForToken(fixture.app, {
      api_key: fixture.key,
      subject: 'svc-1',
      scopes: ['authorize', scope],
    })

    expect(answer).toMatchObject(coded(403, 'forbidden', `the key lacks the scope ${scope}`))
    expect(count(fixture.app, 'gate_access_tokens')).toBe(0)
  })

  test('of a key with few are refused beyond these few', async () => {
    await using fixture = await bootGate()
    const { key } = await fixture.acme.key('gate', 'live', ['tokens:write', 'authorize'])
    const answer = await askForToken(fixture.app, { api_key: key, subject: 's', scopes: ['flows'] })
    expect(answer).toMatchObject(coded(403, 'forbidden', 'the key lacks the scope flows'))
  })

  test.each([
    ['null', null, 'scopes: must be a list'],
    ['a text', 'authorize', 'scopes: must be a list'],
    ['an object', { 0: 'authorize' }, 'scopes: must be a list'],
    ['a list with a number', ['authorize', 5], 'scopes.1: must be a scope name'],
    ['a list with a list', [['authorize']], 'scopes.0: must be a scope name'],
    ['101 of them', Array(101).fill('authorize'), 'scopes: must be a list of at most 100'],
  ])('that are %s are refused', async (_, scopes, words) => {
    await using fixture = await bootGate()
    const answer = await askForToken(fixture.app, { api_key: fixture.key, subject: 's', scopes })
    expect(answer).toMatchObject(coded(400, 'invalid_payload', words))
  })
})

describe('the subject of a token', () => {
  test.each(['s', 'x'.repeat(256), 'service account 7', 'ü/😀', UNKNOWN_ID])(
    'may be a name of the own making: %j',
    async (subject) => {
      await using fixture = await bootGate()
      expect(await mintToken(fixture.app, fixture.key, { subject })).toMatchObject({ subject })
    },
  )

  test('may be one of the people', async () => {
    await using fixture = await bootGate()
    const { id } = await fixture.createIdentity()
    expect(await mintToken(fixture.app, fixture.key, { subject: id })).toMatchObject({
      subject: id,
    })
  })

  test.each(['active', 'inactive'])('that is somebody %s elsewhere is refused', async (state) => {
    await using fixture = await bootGate()
    const other = await bootParty(fixture.app)
    const { id: subject } = await other.createIdentity({ state })
    expect(await askForToken(fixture.app, { api_key: fixture.key, subject })).toMatchObject(
      coded(403, 'forbidden', 'the subject is unknown'),
    )
  })

  test('that was deleted is refused, before and after all of the person is gone', async () => {
    await using fixture = await bootGate()
    const { id: subject } = await fixture.createIdentity()
    expect(await fixture.api.delete(`${IDENTITIES}/${subject}`)).toMatchObject({ status: 204 })
    for (const days of [0, 300]) {
      fixture.clock.jump(days * DAY)
      await fixture.app.platform.retention.sweep()
      expect(await askForToken(fixture.app, { api_key: fixture.key, subject })).toMatchObject(
        coded(403, 'forbidden', 'the subject is unknown'),
      )
    }
  })

  test.each([
    ['missing', undefined, 'subject: is required and must be a string of 1 to 256 characters'],
    ['empty', '', 'subject: must be a string of 1 to 256 characters'],
    ['too long', 'x'.repeat(257), 'subject: must be a string of 1 to 256 characters'],
    ['a number', 5, 'subject: must be a string'],
    ['null', null, 'subject: must be a string'],
    ['a list', ['svc-1'], 'subject: must be a string'],
  ])('that is %s is refused', async (_, subject, words) => {
    await using fixture = await bootGate()
    const answer = await askForToken(fixture.app, { api_key: fixture.key, subject })
    expect(answer).toMatchObject(coded(400, 'invalid_payload', words))
  })

  test('that is an inactive identity is refused until it is active again', async () => {
    await using fixture = await bootGate()
    const person = await fixture.createIdentity()
    const ask = () => askForToken(fixture.app, { api_key: fixture.key, subject: person.id })
    await fixture.setState(person, 'inactive')
    expect(await ask()).toMatchObject(coded(403, 'forbidden', 'inactive'))
    expect(count(fixture.app, 'gate_access_tokens')).toBe(0)

    await fixture.setState(person, 'active')

    expect(await ask()).toMatchObject({ status: 200 })
  })
})

describe('the key of the body', () => {
  const rest = { subject: 'svc-1' }

  test('has to be there', async () => {
    await using fixture = await bootGate()
    const headers = { authorization: `Bearer ${fixture.key}` }
    for (const body of [rest, {}, { ...rest, API_KEY: fixture.key }])
      expect(await askForToken(fixture.app, body, headers)).toMatchObject(
        coded(400, 'invalid_payload', 'api_key: is required and must be the API key'),
      )
  })

  test.each([
    ['5', 5],
    ['null', null],
    ['true', true],
    ['a list', ['svc_gate_live_sk_x']],
    ['an object', { key: 'x' }],
  ])('that is %s is refused as a body', async (_, key) => {
    await using fixture = await bootGate()
    expect(await askForToken(fixture.app, { ...rest, api_key: key })).toMatchObject(
      coded(400, 'invalid_payload', 'api_key: must be the API key'),
    )
  })

  test('is not found behind a prototype', async () => {
    await using fixture = await bootGate()
    const answer = await fixture.app.raw(TOKENS, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: `{"subject":"s","__proto__":{"api_key":"${fixture.key}"}}`,
    })
    expect(answer).toMatchObject(coded(400, 'invalid_payload', 'api_key: is required'))
  })

  test.each([
    ['empty', () => ''],
    ['garbage', () => 'garbage'],
    ['with its scheme', (key: string) => `Bearer ${key}`],
    ['with a blank', (key: string) => `${key} `],
    ['cut', (key: string) => key.slice(0, -1)],
    ['mistyped', (key: string) => key.slice(0, -1) + (key.endsWith('0') ? '1' : '0')],
    ['of the other environment', (key: string) => key.replace('_live_', '_test_')],
    ['an access token', () => `gat_live_at_${'0'.repeat(37)}${checkDigits('0'.repeat(37))}`],
    ['unknown', () => `svc_gate_live_sk_${'0'.repeat(37)}${checkDigits('0'.repeat(37))}`],
  ])('that is %s answers 401', async (_, made) => {
    await using fixture = await bootGate()
    const answer = await askForToken(fixture.app, { ...rest, api_key: made(fixture.key) })
    expect(answer).toMatchObject(coded(401, 'unauthenticated', 'invalid or revoked API key'))
    expect(answer.headers.get('www-authenticate')).toBe('Bearer')
  })

  test('answers 401 once it is revoked', async () => {
    await using fixture = await bootGate()
    const { id, key } = await fixture.acme.key('gate', 'live')
    await mintToken(fixture.app, key)
    await fixture.app.platform.keys.revoke(ACTOR, id)
    expect(await askForToken(fixture.app, { ...rest, api_key: key })).toMatchObject(
      coded(401, 'unauthenticated', 'invalid or revoked API key'),
    )
  })

  test('answers 401 once it was rotated and its grace is over', async () => {
    await using fixture = await bootGate()
    const { id, key } = await fixture.acme.key('gate', 'live')
    await fixture.app.platform.keys.rotate(ACTOR, id, 1000)
    fixture.clock.jump(999)
    await mintToken(fixture.app, key)
    fixture.clock.jump(1)
    expect(await askForToken(fixture.app, { ...rest, api_key: key })).toMatchObject({ status: 401 })
  })

  test.each(['clockwork', 'relay', 'passepartout'] as const)(
    'of %s answers 403',
    async (engine) => {
      await using fixture = await bootGate()
      const { key } = await fixture.acme.key(engine)
      expect(await askForToken(fixture.app, { ...rest, api_key: key })).toMatchObject(
        coded(403, 'forbidden', `this is a ${engine} key; the route needs a gate key`),
      )
    },
  )

  test('without tokens:write answers 403, whatever else is wrong', async () => {
    await using fixture = await bootGate()
    const { key } = await fixture.acme.key('gate', 'live', ['authorize', 'tokens:read'])
    for (const others of [rest, {}, { subject: 5, ttl_seconds: 'x' }, { ...rest, scopes: ['no'] }])
      expect(await askForToken(fixture.app, { ...others, api_key: key })).toMatchObject(
        coded(403, 'forbidden', 'the key lacks the scope tokens:write'),
      )
  })

  test('is the only one that counts: one in the header opens nothing', async () => {
    await using fixture = await bootGate()
    const weak = await fixture.acme.key('gate', 'live', ['authorize'])
    const answer = await askForToken(
      fixture.app,
      { ...rest, api_key: weak.key },
      { authorization: `Bearer ${fixture.key}` },
    )
    expect(answer).toMatchObject({ status: 403 })
    const strong = await askForToken(
      fixture.app,
      { ...rest, api_key: fixture.key },
      { authorization: `Bearer ${weak.key}` },
    )
    expect(strong).toMatchObject({ status: 200 })
  })
})

describe('of several faults the first of this order is answered', () => {
  const submit = (app: TestApp, body: string, type = 'application/json') =>
    app.raw(TOKENS, { method: 'POST', headers: { 'content-type': type }, body })

  test('too large, of another type, malformed, no key, wrong key, wrong rights, wrong fields', async () => {
    await using fixture = await bootGate()
    const { app, acme, key } = fixture
    const weak = await acme.key('gate', 'live', ['authorize'])
    await app.platform.tenants.suspend(ACTOR, acme.id, 'billing')
    const wrong = { ttl_seconds: 0, scopes: ['no'] }
    const spelled = (fields: Json) => JSON.stringify({ subject: 's', ...wrong, ...fields })

    expect(await submit(app, `{${'x'.repeat(2_000_000)}`, 'text/plain')).toMatchObject(
      coded(413, 'payload_too_large', 'body: must be at most'),
    )
    expect(await submit(app, '{', 'text/plain')).toMatchObject(
      coded(415, 'unsupported_media_type', 'application/json'),
    )
    expect(await submit(app, '{')).toMatchObject(
      coded(400, 'invalid_payload', 'body: must be JSON'),
    )
    expect(await submit(app, spelled({}))).toMatchObject(
      coded(400, 'invalid_payload', 'api_key: is required'),
    )
    expect(await submit(app, spelled({ api_key: 'x' }))).toMatchObject({ status: 401 })
    expect(await submit(app, spelled({ api_key: weak.key }))).toMatchObject(
      coded(403, 'forbidden', 'tokens:write'),
    )
    expect(await submit(app, spelled({ api_key: key }))).toMatchObject(
      coded(400, 'invalid_payload', 'ttl_seconds'),
    )
    expect(await submit(app, spelled({ api_key: key, ttl_seconds: 1 }))).toMatchObject(
      coded(403, 'forbidden', 'the key lacks the scope no'),
    )
    expect(await submit(app, spelled({ api_key: key, ttl_seconds: 1, scopes: [] }))).toMatchObject(
      coded(402, 'account_suspended', 'suspended'),
    )
  })

  test.each([
    ['nothing', '', 'body: must be a JSON object'],
    ['null', 'null', 'body: must be a JSON object'],
    ['a list', '[]', 'body: must be a JSON object'],
    ['a text', '"svc_gate_live_sk_x"', 'body: must be a JSON object'],
    ['half of it', '{"api_key":', 'body: must be JSON'],
    ['a form', 'api_key=x', 'body: must be JSON'],
  ])('a body that is %s is no JSON object: 400', async (_, body, words) => {
    await using fixture = await bootGate()
    expect(await submit(fixture.app, body)).toMatchObject(coded(400, 'invalid_payload', words))
  })
})

describe('a tenant in arrears', () => {
  test.each([
    ['billing', 'account_suspended', 'the account is suspended'],
    ['renewal', 'renewal_unpaid', 'the renewal is unpaid'],
  ] as const)('suspended for %s gets no token, and keeps what it has', async (why, code, words) => {
    await using fixture = await bootGate()
    const { app, api, acme, key } = fixture
    const { access_token: before } = await mintToken(app, key)
    await app.platform.tenants.suspend(ACTOR, acme.id, why)

    expect(await askForToken(app, { api_key: key, subject: 's' })).toMatchObject(
      coded(402, code, words),
    )

    const question = { access_token: before }
    expect((await api.post(INTROSPECT, question)).body).toMatchObject({ active: true })
    expect(await api.post(`${TOKENS}/revoke`, question)).toMatchObject({ status: 204 })
    await app.platform.tenants.resume(ACTOR, acme.id)
    await mintToken(app, key)
  })
})

describe('a token is no key', () => {
  test('on no route that takes one', async () => {
    await using fixture = await bootGate()
    const { access_token: token } = await mintToken(fixture.app, fixture.key)
    const api = fixture.app.client(token)
    const person = await fixture.createIdentity()

    for (const answer of [
      await api.get(IDENTITIES),
      await api.get(`${IDENTITIES}/${person.id}`),
      await api.delete(`${IDENTITIES}/${person.id}`),
      await api.delete(`${SESSIONS}/${UNKNOWN_ID}`),
      await api.get(`${SETTINGS}/security`),
      await api.post(INTROSPECT, { access_token: token }),
      await api.post(`${TOKENS}/revoke`, { access_token: token }),
      await api.post(AUTHORIZE, { subject: 's', action: 'a.read', resource: 'document:1' }),
      await api.get('/v1/relay/messages'),
      await api.get('/v1/clockwork/jobs'),
    ])
      expect(answer.status).toBe(401)
    expect(await askForToken(fixture.app, { api_key: token, subject: 's' })).toMatchObject({
      status: 401,
    })
  })

  test('of a person is no session', async () => {
    await using fixture = await bootGate()
    const { id } = await fixture.createIdentity()
    const { access_token: token } = await mintToken(fixture.app, fixture.key, { subject: id })
    expect(await fixture.whoami(token)).toMatchObject({ status: 401 })
  })
})

test('neither a token nor a key is on the disk or in the log', async () => {
  await using fixture = await bootGate()
  const { app, api, key } = fixture
  const { access_token: token } = await mintToken(app, key)
  const mistyped = key.slice(0, -1) + (key.endsWith('0') ? '1' : '0')
  await api.post(INTROSPECT, { access_token: token })
  await api.post(INTROSPECT, { access_token: `${token}x` })
  await askForToken(app, { api_key: mistyped, subject: 's' })
  await askForToken(app, { api_key: key, subject: 's', ttl_seconds: 0 })
  await askForToken(app, { api_key: key, subject: 's', scopes: [key, token] })
  await app.raw(TOKENS, { method: 'POST', body: JSON.stringify({ api_key: key }) })
  await app.client(token).get(IDENTITIES)
  await api.post(`${TOKENS}/revoke`, { access_token: token })

  const disk = Buffer.concat(
    ['', '-wal'].map((suffix) => readFileSync(app.db.file + suffix)),
  ).toString('latin1')
  const log = app.log.join('\n')
  // Both say something, or the rest would prove nothing.
  expect(disk).toContain('gate_access_tokens')
  expect(log).toContain(TOKENS)
  for (const secret of [token, key, mistyped]) {
    const random = secret.slice(secret.lastIndexOf('_') + 1).slice(0, 20)
    expect(disk).not.toContain(random)
    expect(log).not.toContain(random)
  }
})
