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
  'identities:read',
  'identities:write',
  'sessions:write',
  'flows',
  'settings:read',
  'settings:write',
  'tokens:write',
  'authorize',
]

const mint = ({ key }: Pick<Tenant, 'key'>, fields: Json = {}) => mintToken(gate.app, key, fields)
const request = ({ key }: Pick<Tenant, 'key'>, fields: Json = {}) =>
  askForToken(gate.app, { api_key: key, subject: 'svc-1', ...fields })

const scopesOf = async ({ api }: Tenant, { access_token }: Json): Promise<string[]> =>
  (await api.post(INTROSPECT, { access_token })).body.scopes

describe('An access token', () => {
  test('is issued for a key, for an hour, and different each time', async () => {
    const acme = await gate.newTenant()
    const answer = await request(acme, { audience: 'ignored' })
    expect(answer.status).toBe(200)
    const { access_token, ...others } = answer.body
    const expires_at = new Date(gate.clock.now() + 3_600_000).toISOString()
    expect(others).toEqual({ expires_at, subject: 'svc-1', tenant_id: acme.id })
    expect(access_token).toMatch(/^gat_live_at_[0-9A-Za-z]{43}$/)
    const secret = access_token.slice('gat_live_at_'.length)
    expect(secret.slice(-6)).toBe(checkDigits(secret.slice(0, -6)))

    const tokens = await Promise.all(Array.from({ length: 20 }, () => mint(acme)))
    expect(new Set(tokens.map(({ access_token }) => access_token)).size).toBe(20)
    const sandbox = await mint(await acme.newKey('gate', 'test'))
    expect(sandbox.access_token).toStartWith('gat_test_at_')
  })

  test.each([1, 86_400, '6e1'])('can be valid for %s seconds', async (ttl) => {
    const acme = await gate.newTenant()
    const headers = { 'content-type': 'application/json' }
    const body = `{"api_key":"${acme.key}","subject":"s","ttl_seconds":${ttl}}`
    const answer = await gate.app.raw(TOKENS, { method: 'POST', headers, body })
    expect(Date.parse(answer.body.expires_at)).toBe(gate.clock.now() + Number(ttl) * 1000)
  })

  test.each([
    [{}, ALL_SCOPES],
    [{ scopes: ['authorize', 'identities:read'] }, ['authorize', 'identities:read']],
    [{ scopes: [] }, []],
    [{ scopes: ['authorize', 'authorize', 'flows'] }, ['authorize', 'flows']],
  ])('requested with %j has %j', async (fields, scopes) => {
    const acme = await gate.newTenant()
    expect(await scopesOf(acme, await mint(acme, fields))).toEqual(scopes)
  })

  test('can have scopes that the tenant invented, if its key has them', async () => {
    const acme = await gate.newTenant()
    const own = ['tokens:write', 'reports:read', 'reports:write']
    const key = await acme.newKey('gate', 'live', own)
    expect(await scopesOf(acme, await mint(key))).toEqual(own)
    const narrowed = await mint(key, { scopes: ['reports:read'] })
    expect(await scopesOf(acme, narrowed)).toEqual(['reports:read'])
    expect(await request(key, { scopes: ['flows'] })).toMatchObject(
      coded(403, 'forbidden', 'flows'),
    )
  })

  test.each(['reports:read', 'relay:send', 'Authorize', 'authorize ', '', '*', '__proto__'])(
    'cannot have the scope %j, which its key lacks',
    async (scope) => {
      const before = count(gate.app, 'gate_access_tokens')
      const answer = await request(gate, { scopes: ['authorize', scope] })
      expect(answer).toMatchObject(coded(403, 'forbidden', scope))
      expect(count(gate.app, 'gate_access_tokens')).toBe(before)
    },
  )

  test.each(['s', 'x'.repeat(256), 'service account 7', 'ü/😀', UNKNOWN_ID])(
    'can be for the service %j',
    async (subject) => expect(await mint(gate, { subject })).toMatchObject({ subject }),
  )

  test.each<[string, Json]>([
    ['ttl_seconds', 0],
    ['ttl_seconds', 86_401],
    ['ttl_seconds', 1.5],
    ['ttl_seconds', '60'],
    ['ttl_seconds', null],
    ['scopes', 'authorize'],
    ['scopes', null],
    ['scopes.1', ['authorize', 5]],
    ['scopes', Array(101).fill('authorize')],
    ['subject', undefined],
    ['subject', ''],
    ['subject', 'x'.repeat(257)],
    ['subject', ['svc-1']],
    ['api_key', undefined],
    ['api_key', null],
    ['api_key', ['svc_gate_live_sk_x']],
  ])('is not issued with a bad %s: %j', async (field, value) => {
    const before = count(gate.app, 'gate_access_tokens')
    const answer = await request(gate, { [field.split('.')[0] as string]: value })
    expect(answer).toMatchObject(coded(400, 'invalid_payload', `${field}: `))
    expect(count(gate.app, 'gate_access_tokens')).toBe(before)
  })
})

describe('A token for an identity', () => {
  test('is issued if it is active and of the tenant', async () => {
    const [acme, other] = [await gate.newTenant(), await gate.newTenant()]
    const person = await acme.createIdentity()
    const foreign = await other.createIdentity()
    expect(await mint(acme, { subject: person.id })).toMatchObject({ subject: person.id })
    expect(await request(acme, { subject: foreign.id })).toMatchObject(coded(403, 'forbidden'))
    await acme.setState(person, 'inactive')
    expect(await request(acme, { subject: person.id })).toMatchObject(coded(403, 'forbidden'))
    await acme.setState(person, 'active')
    expect(await request(acme, { subject: person.id })).toMatchObject({ status: 200 })
  })

  test('is refused for good once it is deleted', async () => {
    await using own = await bootGate()
    const { id: subject } = await own.createIdentity()
    await own.api.delete(personPath({ id: subject }))
    for (const days of [0, 300]) {
      own.clock.jump(days * DAY)
      await own.app.platform.retention.sweep()
      const answer = await askForToken(own.app, { api_key: own.key, subject })
      expect(answer).toMatchObject(coded(403, 'forbidden'))
    }
  })
})

describe('The key of the body', () => {
  test.each<[string, (key: string) => string]>([
    ['empty', () => ''],
    ['with a scheme', (key) => `Bearer ${key}`],
    ['with a space', (key) => `${key} `],
    ['mistyped', (key) => key.slice(0, -1) + (key.endsWith('0') ? '1' : '0')],
    ['of the other environment', (key) => key.replace('_live_', '_test_')],
    ['an access token', () => `gat_live_at_${'0'.repeat(37)}${checkDigits('0'.repeat(37))}`],
    ['unknown', () => `svc_gate_live_sk_${'0'.repeat(37)}${checkDigits('0'.repeat(37))}`],
  ])('that is %s is refused', async (_, made) => {
    const answer = await request({ key: made(gate.key) })
    expect(answer).toMatchObject(coded(401, 'unauthenticated'))
    expect(answer.headers.get('www-authenticate')).toBe('Bearer')
  })

  test('is refused once it is revoked, or rotated and its grace period is over', async () => {
    const acme = await gate.newTenant()
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

  test('is the only one that counts, not the one in the header', async () => {
    const acme = await gate.newTenant()
    const weak = await acme.newKey('gate', 'live', ['authorize'])
    const withHeader = (api_key: string | undefined, header: string) =>
      askForToken(gate.app, { api_key, subject: 's' }, { authorization: `Bearer ${header}` })
    expect(await withHeader(weak.key, acme.key)).toMatchObject({ status: 403 })
    expect(await withHeader(acme.key, weak.key)).toMatchObject({ status: 200 })
    const missing = await withHeader(undefined, acme.key)
    expect(missing).toMatchObject(coded(400, 'invalid_payload', 'api_key: '))
    const headers = { 'content-type': 'application/json' }
    const body = `{"subject":"s","__proto__":{"api_key":"${acme.key}"}}`
    const inherited = await gate.app.raw(TOKENS, { method: 'POST', headers, body })
    expect(inherited).toMatchObject(coded(400, 'invalid_payload', 'api_key: '))
  })
})

test('Of several faults, the first in this order is reported', async () => {
  const acme = await gate.newTenant()
  const weak = await acme.newKey('gate', 'live', ['authorize'])
  await gate.app.platform.tenants.suspend(ACTOR, acme.id, 'billing')
  const send = (body: string, type = 'application/json') =>
    gate.app.raw(TOKENS, { method: 'POST', headers: { 'content-type': type }, body })
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
    expect(await send(body, type)).toMatchObject(coded(status, code))
})

test.each([
  ['billing', 'account_suspended'],
  ['renewal', 'renewal_unpaid'],
] as const)(
  'A tenant suspended for %s keeps its tokens, but gets no new ones',
  async (why, code) => {
    const acme = await gate.newTenant()
    const { access_token } = await mint(acme)
    await gate.app.platform.tenants.suspend(ACTOR, acme.id, why)
    expect(await request(acme)).toMatchObject(coded(402, code))
    expect((await acme.api.post(INTROSPECT, { access_token })).body.active).toBe(true)
    expect(await acme.api.post(`${TOKENS}/revoke`, { access_token })).toMatchObject({ status: 204 })
    await gate.app.platform.tenants.resume(ACTOR, acme.id)
    await mint(acme)
  },
)

test('A token is neither a key nor a session', async () => {
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
    await api.get('/v1/clockwork/jobs'),
    await request({ key: access_token }),
    await acme.whoami(access_token),
  ])
    expect(status).toBe(401)
})

test('Neither tokens nor keys are on disk or in the log', async () => {
  await using own = await bootGate()
  const { app, api, key } = own
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
