import { describe, expect, test } from 'bun:test'
import { createStore } from '../../../../src/engines/gate/store.ts'
import {
  ACTOR,
  auditOf,
  bodyOf,
  DAY,
  expectAsDescribed,
  ID,
  type Json,
  MINUTE,
  personPath,
  plain,
  SECOND,
  SESSIONS,
  type Tenant,
  tablesWith,
  UNKNOWN_ID,
  useGate,
} from '../fixture.ts'
import { connect } from '../sign-in/flows/acts.ts'
import { AUTH, flowsOf } from '../sign-in/flows/fixture.ts'

const gate = await useGate()
const brief = await useGate({ flags: { 'gate-session-lifetime': '90s' } })

const list = ({ api }: Pick<Tenant, 'api'>, person: Json): Promise<Json[]> =>
  bodyOf(api.get(personPath(person, '/sessions')))

const listIds = async (tenant: Tenant, person: Json): Promise<string[]> =>
  (await list(tenant, person)).map(({ id }) => id)

const revoke = ({ api }: Pick<Tenant, 'api'>, id: string) => api.delete(`${SESSIONS}/${id}`)
const revokeAll = ({ api }: Tenant, person: Json) => api.delete(personPath(person, '/sessions'))

async function whoami(headers: Record<string, string>) {
  const path = `${SESSIONS}/whoami`
  const answer = await gate.app.raw(path, { headers })
  await expectAsDescribed(gate.app, 'get', path, answer)
  return answer
}

const statusOf = async (token: string): Promise<number> =>
  (await whoami({ 'x-session-token': token })).status

const openMany = ({ openSession }: Tenant, person: Json, many: number): Promise<Json[]> =>
  Promise.all(Array.from({ length: many }, () => openSession(person)))

describe('Sessions of an identity', () => {
  test('show how, when and where they began, newest first, and no token', async () => {
    const acme = await gate.newTenant()
    const person = await acme.createIdentity()
    await acme.openSession(await acme.createIdentity())
    expect(await list(acme, person)).toEqual([])
    await acme.openSession(person, { ipAddress: null, userAgent: null })
    const first = { issued_at: gate.now(), devices: [{ ip_address: null, user_agent: null }] }
    gate.clock.jump(MINUTE)
    const methods = [
      { method: 'password', aal: 'aal1' },
      { method: 'totp', aal: 'aal2' },
    ]
    const device = { ipAddress: '2001:db8::1', userAgent: 'Mozilla/5.0 <b>' }
    const { token } = await acme.openSession(person, { assuranceLevel: 'aal2', methods, ...device })

    const [newest, oldest] = await list(acme, person)
    const { ipAddress: ip_address, userAgent: user_agent } = device
    expect(newest).toEqual({
      ...{ id: ID, active: true, issued_at: gate.now(), authenticated_at: gate.now() },
      expires_at: new Date(gate.clock.now() + DAY).toISOString(),
      authenticator_assurance_level: 'aal2',
      authentication_methods: methods.map((one) => ({ ...one, completed_at: gate.now() })),
      devices: [{ id: expect.any(String), ip_address, user_agent, location: null }],
    })
    expect(oldest).toMatchObject({ ...first, authenticator_assurance_level: 'aal1' })
    expect(token).toMatch(/^gat_st_[0-9A-Za-z]{43}$/)
    expect(JSON.stringify(newest)).not.toContain('gat_st_')
    expect(tablesWith(gate.app, token.slice('gat_st_'.length))).toEqual({})
    expect(gate.app.log.join('')).not.toContain(token)
  })

  test('are at most 100: a new one replaces ended ones, then the oldest', async () => {
    const acme = await gate.newTenant()
    const person = await acme.createIdentity()
    await openMany(acme, person, 5)
    await revokeAll(acme, person)
    const opened = await openMany(acme, person, 100)
    const ids = opened.map(({ session }) => session.id)
    expect(await listIds(acme, person)).toEqual(ids.toReversed())
    const last = await acme.openSession(person)
    expect(await statusOf(opened[0].token)).toBe(401)
    expect(await listIds(acme, person)).toEqual([...ids.slice(1), last.session.id].toReversed())
  })
})

describe('Revoking', () => {
  test('one session ends it immediately and alone, and is audited once', async () => {
    const [acme, other] = [await gate.newTenant(), await gate.newTenant()]
    const person = await acme.createIdentity()
    const [first, second, third] = await openMany(acme, person, 3)
    const { id } = second.session
    expect(await revoke(other, id)).toMatchObject(plain(403))
    expect(await statusOf(second.token)).toBe(200)
    for (let n = 0; n < 2; n++)
      expect(await revoke(acme, id)).toMatchObject({ status: 204, body: '' })
    expect(await statusOf(second.token)).toBe(401)
    expect(await listIds(acme, person)).toEqual([third.session.id, first.session.id])
    expect(auditOf(gate.app, `session:${id}`)).toEqual([
      { action: 'session.revoked', actor_kind: 'key', actor_id: acme.keyId, detail: {} },
    ])
    await acme.setState(person, 'inactive')
    expect(await revoke(acme, first.session.id)).toMatchObject({ status: 204 })
    for (const unknown of [UNKNOWN_ID, person.id, third.token])
      expect(await revoke(acme, unknown)).toMatchObject(plain(404))
  })

  test('all sessions ends them immediately, but no later ones', async () => {
    const acme = await gate.newTenant()
    const [person, bystander] = [await acme.createIdentity(), await acme.createIdentity()]
    const opened = await openMany(acme, person, 3)
    const { token: other } = await acme.openSession(bystander)
    for (let n = 0; n < 2; n++)
      expect(await revokeAll(acme, person)).toMatchObject({ status: 204, body: '' })
    for (const { token } of opened) expect(await statusOf(token)).toBe(401)
    expect(await list(acme, person)).toEqual([])
    expect(await statusOf(other)).toBe(200)
    expect(await acme.readIdentity(person)).toEqual(person)
    const { token, session } = await acme.openSession(person)
    expect(await statusOf(token)).toBe(200)
    expect(await listIds(acme, person)).toEqual([session.id])
    const actions = auditOf(gate.app, `identity:${person.id}`).map(({ action }) => action)
    expect(actions).toContain('sessions.revoked')
  })
})

describe('whoami', () => {
  test('returns the session and its identity as they are now', async () => {
    const acme = await gate.newTenant()
    const person = await acme.createIdentity({
      metadata_public: { roles: ['admin'] },
      credentials: { password: { config: { hashed_password: `$2b$04$${'.'.repeat(53)}` } } },
    })
    const { token, session } = await acme.openSession(person)
    await acme.patch(person, [{ op: 'replace', path: '/traits/email', value: 'moved@example.com' }])
    const { credentials, ...identity } = await acme.readIdentity(person)
    expect(credentials).toHaveProperty('password')
    expect(identity.traits.email).toBe('moved@example.com')
    const { status, body } = await whoami({ 'x-session-token': token })
    expect({ status, body }).toEqual({ status: 200, body: { ...session, identity } })
    const { identity: _, ...shown } = body
    expect(await list(acme, person)).toEqual([shown])
  })

  test('needs no key, and with one knows the sessions of its tenant alone', async () => {
    const [acme, other] = [await gate.newTenant(), await gate.newTenant()]
    const { token } = await acme.openSession(await acme.createIdentity())
    const { id, key: revoked } = await acme.newKey('gate')
    await gate.app.platform.keys.revoke(ACTOR, id)
    expect(await statusOf(token)).toBe(200)
    for (const [authorization, status] of [
      [`Bearer ${acme.key}`, 200],
      [`Bearer ${(await acme.newKey('gate', 'test')).key}`, 200],
      [`Bearer ${(await acme.newKey('gate', 'live', ['flows'])).key}`, 200],
      [`Bearer ${other.key}`, 401],
      [`Bearer ${revoked}`, 401],
      ['Bearer x', 401],
      ['Basic eDp5', 401],
      ['', 401],
      [`Bearer ${token}`, 401],
      [`Bearer ${(await acme.newKey('relay')).key}`, 403],
    ] as const)
      expect(await whoami({ 'x-session-token': token, authorization })).toMatchObject({ status })
  })

  test('refuses a session that requires a second factor, without naming its identity', async () => {
    const acme = await gate.newTenant()
    const { register, enrol, security } = flowsOf(gate.app, { tenantId: acme.id, ...acme })
    await security({ mfa_enabled: true })
    const { session_token, identity } = await register('two@example.com')
    const { token: owing } = await acme.openSession(identity)
    const { token: whole } = await acme.openSession(identity, { assuranceLevel: 'aal2' })
    expect(await statusOf(owing)).toBe(200)
    await enrol(session_token)
    const { status, body } = await whoami({ 'x-session-token': owing })
    const id = 'session_aal2_required'
    expect({ status, body }).toEqual({ status: 403, body: { error: expect.any(String), id } })
    for (const token of [whole, session_token]) expect(await statusOf(token)).toBe(200)
    expect(await list(acme, identity)).toHaveLength(3)
    await security({ mfa_enabled: false })
    expect(await statusOf(owing)).toBe(200)
  })

  test('refuses a token that is missing, misspelled or of another kind or server', async () => {
    const { token } = await gate.openSession(await gate.createIdentity())
    const { token: foreign } = await brief.openSession(await brief.createIdentity())
    for (const wrong of [
      ...['', 'gat_st_', token.slice(0, -1), `${token}0`, gate.key, foreign],
      token.slice(0, -1) + (token.endsWith('0') ? 1 : 0),
      token.slice('gat_st_'.length),
      token.replace('gat_st_', 'gat_live_at_'),
    ])
      expect(await whoami({ 'x-session-token': wrong })).toMatchObject(plain(401, 'session token'))
    expect(await whoami({})).toMatchObject(plain(401, 'X-Session-Token'))
  })
})

test.each([
  [gate, DAY],
  [brief, 90 * SECOND],
])('A session ends after its lifetime, whether or not it is used: %#', async (own, lifetime) => {
  const person = await own.createIdentity()
  const { token, session } = await own.openSession(person)
  expect(Date.parse(session.expires_at)).toBe(own.clock.now() + lifetime)
  for (const [ms, status, listed] of [
    [lifetime / 2, 200, 1],
    [lifetime / 2 - 1, 200, 1],
    [1, 401, 0],
  ] as const) {
    own.clock.jump(ms)
    expect(await own.whoami(token)).toMatchObject({ status })
    expect(await list(own, person)).toHaveLength(listed)
  }
  for (const [ms, status] of [
    [DAY, 204],
    [1, 404],
  ] as const) {
    own.clock.jump(ms)
    await own.app.platform.retention.sweep()
    expect(await revoke(own, session.id)).toMatchObject({ status })
  }
})

test("A store finds nothing by another tenant's id", async () => {
  const [own, other] = [await gate.newTenant(), await gate.newTenant()]
  const { id } = await own.createIdentity()
  await own.openSession({ id })
  await connect(
    { app: gate.app, clock: gate.clock, tenantId: own.id } as never,
    { id },
    'github',
    'g',
  )
  const { addresses, sessions, socialLinks } = createStore(gate.app.db)
  const found = (tenantId: string) => [
    [addresses.of(tenantId, id)].filter(Boolean).length,
    sessions.recent(tenantId, id, 10).length,
    socialLinks.of(tenantId, id).length,
  ]
  expect([found(own.id), found(other.id)]).toEqual([
    [1, 1, 1],
    [0, 0, 0],
  ])
})

test('Settings need a key and a session of one tenant', async () => {
  const [own, other] = [await gate.newTenant(), await gate.newTenant()]
  const { token: ours } = await own.openSession(await own.createIdentity())
  const { token: theirs } = await other.openSession(await other.createIdentity())
  const start = (headers: Record<string, string>) => gate.app.raw(`${AUTH}/settings`, { headers })
  for (const [{ key }, token, status] of [
    [own, ours, 200],
    [other, theirs, 200],
    [other, ours, 401],
    [own, theirs, 401],
  ] as const) {
    const answer = await start({ authorization: `Bearer ${key}`, 'x-session-token': token })
    expect(answer.status).toBe(status)
  }
  const { body } = await start({ authorization: `Bearer ${own.key}` })
  expect(body.error).toContain('session token')
  expect((await start({ 'x-session-token': ours })).body.error).toContain('API key')
})
