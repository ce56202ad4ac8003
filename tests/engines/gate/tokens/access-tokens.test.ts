import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { checkDigits } from '../../../../src/platform/crypto.ts'
import {
  ACTOR,
  AUTHORIZE,
  askForToken,
  bootGate,
  coded,
  count,
  DAY,
  IDENTITIES,
  type Json,
  mintToken,
  personPath,
  SESSIONS,
  SETTINGS,
  type Tenant,
  TOKENS,
  UNKNOWN_ID,
  useGate,
} from '../fixture.ts'

const gate = await useGate({ start: '2026-03-01T12:00:30.500Z' })

const INTROSPECT = `${TOKENS}/introspect`
const ALL_SCOPES = [
  ...['identities:read', 'identities:write', 'sessions:write', 'flows', 'settings:read'],
  ...['settings:write', 'tokens:write', 'authorize'],
]

const mint = ({ key }: Pick<Tenant, 'key'>, fields: Json = {}) => mintToken(gate.app, key, fields)
const request = ({ key }: Pick<Tenant, 'key'>, fields: Json = {}) =>
  askForToken(gate.app, { api_key: key, subject: 'svc-1', ...fields })

/** Posts a body without encoding it. */
const post = (body: string, type = 'application/json') =>
  gate.app.raw(TOKENS, { method: 'POST', headers: { 'content-type': type }, body })

describe('An access token', () => {
  test('is issued for a key, for an hour unless requested otherwise', async () => {
    const acme = await gate.newTenant()
    const { status, body } = await request(acme, { audience: 'ignored' })
    const { access_token, ...others } = body
    const inMs = (ms: number) => new Date(gate.clock.now() + ms).toISOString()
    expect({ status, others }).toEqual({
      status: 200,
      others: { expires_at: inMs(3_600_000), subject: 'svc-1', tenant_id: acme.id },
    })
    expect(access_token).toMatch(/^gat_live_at_[0-9A-Za-z]{43}$/)
    const secret = access_token.slice('gat_live_at_'.length)
    expect(secret.slice(-6)).toBe(checkDigits(secret.slice(0, -6)))
    expect((await mint(acme)).access_token).not.toBe(access_token)
    const sandbox = await mint(await acme.newKey('gate', 'test'))
    expect(sandbox.access_token).toStartWith('gat_test_at_')
    for (const ttl of [1, 86_400, '6e1']) {
      const text = `{"api_key":"${acme.key}","subject":"s","ttl_seconds":${ttl}}`
      expect((await post(text)).body.expires_at).toBe(inMs(Number(ttl) * 1000))
    }
    for (const subject of ['s', 'x'.repeat(256), 'service account 7', 'ü/😀', UNKNOWN_ID])
      expect(await mint(acme, { subject })).toMatchObject({ subject })
  })

  test('has the scopes of its key, or some of them', async () => {
    const acme = await gate.newTenant()
    const own = ['tokens:write', 'reports:read', 'reports:write']
    const custom = await acme.newKey('gate', 'live', own)
    for (const [key, fields, scopes] of [
      [acme, {}, ALL_SCOPES],
      [acme, { scopes: ['authorize', 'identities:read'] }, ['authorize', 'identities:read']],
      [acme, { scopes: [] }, []],
      [acme, { scopes: ['authorize', 'authorize', 'flows'] }, ['authorize', 'flows']],
      [custom, {}, own],
      [custom, { scopes: ['reports:read'] }, ['reports:read']],
    ] as const) {
      const { access_token } = await mint(key, fields)
      expect((await acme.api.post(INTROSPECT, { access_token })).body.scopes).toEqual(scopes)
    }
    const before = count(gate.app, 'gate_access_tokens')
    expect(await request(custom, { scopes: ['flows'] })).toMatchObject(coded(403, 'forbidden'))
    for (const scope of ['reports:read', 'Authorize', 'authorize ', '', '*', '__proto__'])
      expect(await request(acme, { scopes: ['authorize', scope] })).toMatchObject(
        coded(403, 'forbidden', scope),
      )
    expect(count(gate.app, 'gate_access_tokens')).toBe(before)
  })

  test('is not issued for a bad body', async () => {
    const before = count(gate.app, 'gate_access_tokens')
    for (const [field, value] of <[string, Json][]>[
      ...[0, 86_401, 1.5, '60', null].map((ttl) => ['ttl_seconds', ttl]),
      ...['authorize', null, Array(101).fill('authorize')].map((scopes) => ['scopes', scopes]),
      ['scopes.1', ['authorize', 5]],
      ...[undefined, '', 'x'.repeat(257), ['svc-1']].map((subject) => ['subject', subject]),
      ...[undefined, null, ['svc_gate_live_sk_x']].map((key) => ['api_key', key]),
    ])
      expect(await request(gate, { [field.split('.')[0] as string]: value })).toMatchObject(
        coded(400, 'invalid_payload', `${field}: `),
      )
    expect(count(gate.app, 'gate_access_tokens')).toBe(before)
  })

  test('is issued for active identities of the tenant, and never for deleted ones', async () => {
    await using own = await bootGate()
    const [person, foreign] = [
      await own.createIdentity(),
      await (await own.newTenant()).createIdentity(),
    ]
    const statusFor = async ({ id: subject }: Json) =>
      (await askForToken(own.app, { api_key: own.key, subject })).status
    expect([await statusFor(person), await statusFor(foreign)]).toEqual([200, 403])
    for (const [state, status] of [
      ['inactive', 403],
      ['active', 200],
    ] as const) {
      await own.setState(person, state)
      expect(await statusFor(person)).toBe(status)
    }
    await own.api.delete(personPath(person))
    for (const days of [0, 300]) {
      own.clock.jump(days * DAY)
      await own.app.platform.retention.sweep()
      expect(await statusFor(person)).toBe(403)
    }
  })

  test('is neither a key nor a session', async () => {
    const acme = await gate.newTenant()
    const person = await acme.createIdentity()
    const { access_token } = await mint(acme, { subject: person.id })
    const api = gate.app.client(access_token)
    for (const { status } of [
      await api.get(IDENTITIES),
      await api.delete(personPath(person)),
      await api.delete(`${SESSIONS}/${UNKNOWN_ID}`),
      await api.get(`${SETTINGS}/security`),
      await api.post(INTROSPECT, { access_token }),
      await api.post(`${TOKENS}/revoke`, { access_token }),
      await api.post(AUTHORIZE, { subject: 's', action: 'a.read', resource: 'document:1' }),
      await api.get('/v1/relay/messages'),
      await request({ key: access_token }),
      await acme.whoami(access_token),
    ])
      expect(status).toBe(401)
  })
})

describe('The key of the body', () => {
  test('is refused if it is malformed, unknown, revoked or expired', async () => {
    const acme = await gate.newTenant()
    const { key } = acme
    const unknown = `${'0'.repeat(37)}${checkDigits('0'.repeat(37))}`
    for (const wrong of [
      ...['', `Bearer ${key}`, `${key} `, key.replace('_live_', '_test_')],
      key.slice(0, -1) + (key.endsWith('0') ? '1' : '0'),
      ...[`gat_live_at_${unknown}`, `svc_gate_live_sk_${unknown}`],
    ]) {
      const answer = await request({ key: wrong })
      expect(answer).toMatchObject(coded(401, 'unauthenticated'))
      expect(answer.headers.get('www-authenticate')).toBe('Bearer')
    }
    const { keys } = gate.app.platform
    const [revoked, rotated] = [await acme.newKey('gate'), await acme.newKey('gate')]
    await mint(revoked)
    await keys.revoke(ACTOR, revoked.id)
    expect(await request(revoked)).toMatchObject(coded(401, 'unauthenticated'))
    await keys.rotate(ACTOR, rotated.id, 1000)
    gate.clock.jump(999)
    await mint(rotated)
    gate.clock.jump(1)
    expect(await request(rotated)).toMatchObject({ status: 401 })
  })

  test('must be one of gate, with the scope tokens:write', async () => {
    const acme = await gate.newTenant()
    for (const engine of ['clockwork', 'relay', 'passepartout'] as const)
      expect(await request(await acme.newKey(engine))).toMatchObject(
        coded(403, 'forbidden', engine),
      )
    const weak = await acme.newKey('gate', 'live', ['authorize', 'tokens:read'])
    for (const fields of [{}, { subject: 5, ttl_seconds: 'x' }, { scopes: ['no'] }])
      expect(await request(weak, fields)).toMatchObject(coded(403, 'forbidden', 'tokens:write'))
  })

  test('is the only one that counts, not one in the header or inherited', async () => {
    const acme = await gate.newTenant()
    const weak = await acme.newKey('gate', 'live', ['authorize'])
    const withHeader = (api_key: string | undefined, header: string) =>
      askForToken(gate.app, { api_key, subject: 's' }, { authorization: `Bearer ${header}` })
    expect(await withHeader(weak.key, acme.key)).toMatchObject({ status: 403 })
    expect(await withHeader(acme.key, weak.key)).toMatchObject({ status: 200 })
    for (const answer of [
      await withHeader(undefined, acme.key),
      await post(`{"subject":"s","__proto__":{"api_key":"${acme.key}"}}`),
    ])
      expect(answer).toMatchObject(coded(400, 'invalid_payload', 'api_key: '))
  })
})

test('Of several faults, the first in this order is reported', async () => {
  const acme = await gate.newTenant()
  const weak = await acme.newKey('gate', 'live', ['authorize'])
  await gate.app.platform.tenants.suspend(ACTOR, acme.id, 'billing')
  const wrong = { subject: 's', ttl_seconds: 0, scopes: ['no'] }
  const key = { api_key: acme.key }
  for (const [status, code, body, type] of [
    [413, 'payload_too_large', 'x'.repeat(2_000_000), 'text/plain'],
    [415, 'unsupported_media_type', '{', 'text/plain'],
    [400, 'invalid_payload', '{"api_key":', undefined],
    [400, 'invalid_payload', '[]', undefined],
    [400, 'invalid_payload', JSON.stringify(wrong), undefined],
    [401, 'unauthenticated', JSON.stringify({ ...wrong, api_key: 'x' }), undefined],
    [403, 'forbidden', JSON.stringify({ ...wrong, api_key: weak.key }), undefined],
    [400, 'invalid_payload', JSON.stringify({ ...wrong, ...key }), undefined],
    [403, 'forbidden', JSON.stringify({ ...wrong, ...key, ttl_seconds: 1 }), undefined],
    [402, 'account_suspended', JSON.stringify({ subject: 's', ...key }), undefined],
  ] as const)
    expect(await post(body, type)).toMatchObject(coded(status, code))
})

test('A suspended tenant keeps its tokens, but gets no new ones', async () => {
  const acme = await gate.newTenant()
  const { access_token } = await mint(acme)
  for (const [reason, code] of [
    ['billing', 'account_suspended'],
    ['renewal', 'renewal_unpaid'],
  ] as const) {
    await gate.app.platform.tenants.suspend(ACTOR, acme.id, reason)
    expect(await request(acme)).toMatchObject(coded(402, code))
    expect((await acme.api.post(INTROSPECT, { access_token })).body.active).toBe(true)
    await gate.app.platform.tenants.resume(ACTOR, acme.id)
    await mint(acme)
  }
  await gate.app.platform.tenants.suspend(ACTOR, acme.id, 'billing')
  expect(await acme.api.post(`${TOKENS}/revoke`, { access_token })).toMatchObject({ status: 204 })
})

test('Neither tokens nor keys are on disk or in the log', async () => {
  const { app, api, key } = gate
  const { access_token: token } = await mint(gate)
  const mistyped = key.slice(0, -1) + (key.endsWith('0') ? '1' : '0')
  for (const access_token of [token, `${token}x`]) await api.post(INTROSPECT, { access_token })
  await request({ key: mistyped })
  await request(gate, { ttl_seconds: 0 })
  await request(gate, { scopes: [key, token] })
  await post(JSON.stringify({ api_key: key }), 'text/plain')
  await app.client(token).get(IDENTITIES)
  await api.post(`${TOKENS}/revoke`, { access_token: token })

  const files = ['', '-wal'].map((suffix) => readFileSync(app.db.file + suffix))
  const disk = Buffer.concat(files).toString('latin1')
  const log = app.log.join('\n')
  expect(disk).toContain('gate_access_tokens')
  expect(log).toContain(TOKENS)
  for (const secret of [token, key, mistyped]) {
    const random = secret.slice(secret.lastIndexOf('_') + 1).slice(0, 20)
    expect(disk).not.toContain(random)
    expect(log).not.toContain(random)
  }
})
