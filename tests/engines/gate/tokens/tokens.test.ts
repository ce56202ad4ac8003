import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { checkDigits } from '../../../../src/platform/crypto.ts'
import {
  ACTOR,
  AUTHORIZE,
  askForToken,
  coded,
  count,
  DAY,
  HOUR,
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
import { besides } from '../webhooks/fixture.ts'

const gate = await useGate({ start: '2026-03-01T12:00:30.123Z' })

const INTROSPECT = `${TOKENS}/introspect`
const ALL_SCOPES = [
  ...['identities:read', 'identities:write', 'sessions:write', 'flows', 'settings:read'],
  ...['settings:write', 'tokens:write', 'authorize'],
]

const mint = ({ key }: Pick<Tenant, 'key'>, fields: Json = {}) => mintToken(gate.app, key, fields)
const request = ({ key }: Pick<Tenant, 'key'>, fields: Json = {}) =>
  askForToken(gate.app, { api_key: key, subject: 'svc-1', ...fields })

/** A key or token with another last character. */
const mistyped = (secret: string) => secret.slice(0, -1) + (secret.endsWith('0') ? '1' : '0')

/** Posts a body without encoding it. */
const post = (body: string, type = 'application/json') =>
  gate.app.raw(TOKENS, { method: 'POST', headers: { 'content-type': type }, body })

const UNKNOWN = `gat_live_at_${'0'.repeat(37)}${checkDigits('0'.repeat(37))}`

type Asker = { api: Pick<Tenant['api'], 'post'> }
const introspect = ({ api }: Asker, access_token: unknown) => api.post(INTROSPECT, { access_token })
const revoke = ({ api }: Asker, access_token: unknown) =>
  api.post(`${TOKENS}/revoke`, { access_token })

const tokenOf = async (by: Pick<Tenant, 'key'>, fields: Json = {}): Promise<string> =>
  (await mint(by, fields)).access_token

/** An inactive token has no other member. */
async function isActive(by: Asker, token: string): Promise<boolean> {
  const { status, body } = await introspect(by, token)
  expect(status).toBe(200)
  if (!body.active) expect(body).toEqual({ active: false })
  return body.active
}

/** Another key of the tenant. */
async function secondKey(acme: Tenant, environment: 'live' | 'test' = 'live', scopes?: string[]) {
  const { id, key } = await acme.newKey('gate', environment, scopes)
  return { id, ...gate.withKey(key) }
}

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
    for (const subject of ['x'.repeat(256), 'ü/😀', UNKNOWN_ID])
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
      const { body } = await introspect(acme, await tokenOf(key, fields))
      expect(body.scopes).toEqual(scopes)
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
    for (const [field, ...values] of <[string, ...Json[]][]>[
      ['ttl_seconds', 0, 86_401, 1.5, '60', null],
      ['scopes', 'authorize', null, Array(101).fill('authorize')],
      ['subject', undefined, '', 'x'.repeat(257), ['svc-1']],
      ['api_key', undefined, null, ['svc_gate_live_sk_x']],
    ])
      for (const value of values) {
        const refused = coded(400, 'invalid_payload', `${field}: `)
        expect(await request(gate, { [field]: value })).toMatchObject(refused)
      }
    expect(count(gate.app, 'gate_access_tokens')).toBe(before)
  })

  test('is issued for active identities of the tenant, and never for deleted ones', async () => {
    const acme = await gate.newTenant()
    const person = await acme.createIdentity()
    const statusFor = async ({ id: subject }: Json) => (await request(acme, { subject })).status
    expect([await statusFor(person), await statusFor(await gate.createIdentity())]).toEqual([
      ...[200, 403],
    ])
    await acme.api.delete(personPath(person))
    for (const days of [0, 300]) {
      gate.clock.jump(days * DAY)
      await gate.app.platform.retention.sweep()
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
    for (const wrong of [
      ...['', `Bearer ${key}`, `${key} `, key.replace('_live_', '_test_'), UNKNOWN],
      ...[mistyped(key), UNKNOWN.replace('gat_live_at_', 'svc_gate_live_sk_')],
    ]) {
      const answer = await request({ key: wrong })
      expect(answer).toMatchObject(coded(401, 'unauthenticated'))
      expect(answer.headers.get('www-authenticate')).toBe('Bearer')
    }
    const { keys } = gate.app.platform
    const [revoked, rotated] = [await acme.newKey('gate'), await acme.newKey('gate')]
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
    for (const engine of ['clockwork', 'relay', 'passepartout'] as const) {
      const answer = await request(await acme.newKey(engine))
      expect(answer).toMatchObject(coded(403, 'forbidden', engine))
    }
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
  const { tenants } = gate.app.platform
  const token = await tokenOf(acme)
  for (const [reason, code] of [
    ['renewal', 'renewal_unpaid'],
    ['billing', 'account_suspended'],
  ] as const) {
    await tenants.suspend(ACTOR, acme.id, reason)
    expect(await request(acme)).toMatchObject(coded(402, code))
    expect(await isActive(acme, token)).toBe(true)
    if (reason === 'billing') continue
    await tenants.resume(ACTOR, acme.id)
    await mint(acme)
  }
  expect(await revoke(acme, token)).toMatchObject({ status: 204 })
})

test('Neither tokens nor keys are on disk or in the log', async () => {
  const { app, key } = gate
  const token = await tokenOf(gate)
  for (const secret of [token, `${token}x`]) await introspect(gate, secret)
  await request({ key: mistyped(key) })
  await request(gate, { ttl_seconds: 0 })
  await request(gate, { scopes: [key, token] })
  await post(JSON.stringify({ api_key: key }), 'text/plain')
  await app.client(token).get(IDENTITIES)
  await revoke(gate, token)

  const files = ['', '-wal'].map((suffix) => readFileSync(app.db.file + suffix))
  const disk = Buffer.concat(files).toString('latin1')
  const log = app.log.join('\n')
  expect(disk).toContain('gate_access_tokens')
  expect(log).toContain(TOKENS)
  for (const secret of [token, key]) {
    const random = secret.slice(secret.lastIndexOf('_') + 1).slice(0, 20)
    for (const place of [disk, log]) expect(place).not.toContain(random)
  }
})

describe('Introspection', () => {
  test('tells keys of the tenant and environment everything about a token', async () => {
    const acme = await gate.newTenant()
    const token = await tokenOf(acme, { scopes: ['authorize'], ttl_seconds: 60 })
    for (const scopes of [undefined, ['tokens:write'], ['authorize']]) {
      const { body } = await introspect(await secondKey(acme, 'live', scopes), token)
      expect(body).toEqual({
        ...{ active: true, subject: 'svc-1', tenant_id: acme.id, scopes: ['authorize'] },
        expires_at: new Date(gate.clock.now() + 60_000).toISOString(),
      })
    }
    const weak = await secondKey(acme, 'live', ['identities:read', 'settings:read'])
    expect(await introspect(weak, token)).toMatchObject(coded(403, 'forbidden'))
    const reader = await secondKey(acme, 'live', ['authorize'])
    expect(await revoke(reader, token)).toMatchObject(coded(403, 'forbidden', 'tokens:write'))
  })

  test('tells other tenants and environments nothing, not even that it has expired', async () => {
    const [acme, other] = [await gate.newTenant(), await gate.newTenant()]
    const sandbox = await secondKey(acme, 'test')
    const [live, test] = [await tokenOf(acme), await tokenOf(sandbox)]
    for (const [by, token, expected] of [
      [acme, live, true],
      [sandbox, test, true],
      [sandbox, live, false],
      [acme, test, false],
      [other, live, false],
      [acme, live.replace('_live_', '_test_'), false],
      [acme, UNKNOWN, false],
    ] as const)
      expect(await isActive(by, token)).toBe(expected)
    for (const by of [other, sandbox]) expect(await revoke(by, live)).toMatchObject({ status: 204 })
    expect(await isActive(acme, live)).toBe(true)
    gate.clock.jump(2 * HOUR)
    expect(await isActive(other, live)).toBe(false)
  })

  test('and revocation refuse a malformed token and a malformed body', async () => {
    const acme = await gate.newTenant()
    const token = await tokenOf(acme)
    for (const wrong of [
      ...['', token.slice(0, -1), `${token}0`, `${token} `, `${token}\n`, `Bearer ${token}`],
      ...[mistyped(token), `${token.slice(0, -7)}AB${token.slice(-5)}`, token.toUpperCase()],
      ...[token.replace('_live_', '_prod_'), token.replace('gat_live_at_', 'gat_st_'), gate.key],
      'gat_live_at_'.padEnd(100_000, '0'),
    ])
      for (const ask of [introspect, revoke])
        expect(await ask(acme, wrong)).toMatchObject(coded(400, 'invalid_token', 'access_token: '))
    for (const wrong of [undefined, [UNKNOWN]])
      for (const ask of [introspect, revoke])
        expect(await ask(acme, wrong)).toMatchObject(
          coded(400, 'invalid_payload', 'access_token: '),
        )
    expect(await isActive(acme, token)).toBe(true)
  })
})

describe('A token ends', () => {
  test.each([
    [1, 1000],
    [86_400, DAY],
  ])('after %d seconds, to the millisecond', async (ttl_seconds, ms) => {
    const acme = await gate.newTenant()
    const token = await tokenOf(acme, { ttl_seconds })
    gate.clock.jump(ms - 1)
    expect(await isActive(acme, token)).toBe(true)
    gate.clock.jump(1)
    const expired = coded(400, 'invalid_token', 'access_token: ')
    expect(await introspect(acme, token)).toMatchObject(expired)
    expect(await revoke(acme, token)).toMatchObject({ status: 204 })
    gate.clock.jump(DAY)
    await gate.app.platform.retention.sweep()
    expect(await isActive(acme, token)).toBe(false)
  })

  test('when it is revoked, immediately, alone and in all processes', async () => {
    const acme = await gate.newTenant()
    await using beside = await besides(gate, acme.key)
    const revocations = () => count(gate.app, `audit_log where action = 'access_token.revoked'`)
    const before = revocations()
    const [token, other] = [await tokenOf(acme), await tokenOf(acme)]
    expect(await isActive({ api: beside }, token)).toBe(true)
    for (let n = 0; n < 2; n++) {
      expect(await revoke(acme, token)).toMatchObject({ status: 204, body: '' })
      for (const by of [acme, { api: beside }]) expect(await isActive(by, token)).toBe(false)
    }
    expect(await revoke(acme, UNKNOWN)).toMatchObject({ status: 204 })
    expect(await isActive(acme, other)).toBe(true)
    expect(revocations()).toBe(before + 1)
    gate.clock.jump(2 * HOUR)
    expect(await isActive(acme, token)).toBe(false)
  })

  test('with its key, and with no other', async () => {
    const acme = await gate.newTenant()
    const { keys } = gate.app.platform
    const made = [await secondKey(acme), await secondKey(acme), await secondKey(acme)] as const
    const [revoked, leaked, rotated] = made
    const tokens = await Promise.all(
      [...made, acme].map((one) => tokenOf(one, { ttl_seconds: 86_400 })),
    )
    const active = () => Promise.all(tokens.map((token) => isActive(acme, token)))
    await keys.revoke(ACTOR, revoked.id)
    await keys.rotate(ACTOR, leaked.id, 0)
    await keys.rotate(ACTOR, rotated.id, HOUR)
    expect(await active()).toEqual([false, false, true, true])
    gate.clock.jump(HOUR)
    expect(await active()).toEqual([false, false, false, true])
  })
})
