import { describe, expect, test } from 'bun:test'
import { startTarget } from '../../../support/target.ts'
import { rest } from '../../relay/fixture.ts'
import {
  ACTOR,
  actionsOn,
  auditOf,
  bootGate,
  DAY,
  expectAsDescribed,
  ID,
  type Json,
  MINUTE,
  personPath,
  plain,
  rowsOf,
  SECOND,
  SESSIONS,
  type Tenant,
  tablesWith,
  told,
  UNKNOWN_ID,
  useGate,
} from '../fixture.ts'
import { flowsOf } from '../sign-in/flows/fixture.ts'

const gate = await useGate()

const idsOf = (sessions: Json[]): string[] => sessions.map(({ id }) => id)
const inMs = (ms: number) => new Date(gate.clock.now() + ms).toISOString()

async function list({ api }: Pick<Tenant, 'api'>, person: Json): Promise<Json[]> {
  const answer = await api.get(personPath(person, '/sessions'))
  expect(answer).toMatchObject({ status: 200 })
  return answer.body
}

const revoke = ({ api }: Pick<Tenant, 'api'>, id: string) => api.delete(`${SESSIONS}/${id}`)
const revokeAll = ({ api }: Pick<Tenant, 'api'>, person: Json) =>
  api.delete(personPath(person, '/sessions'))

async function whoami(headers: Record<string, string>) {
  const path = `${SESSIONS}/whoami`
  const answer = await gate.app.raw(path, { headers })
  await expectAsDescribed(gate.app, 'get', path, answer)
  return answer
}

const isActive = async (token: string): Promise<boolean> => {
  const { status } = await whoami({ 'x-session-token': token })
  if (status !== 200) expect(status).toBe(401)
  return status === 200
}

const openMany = ({ openSession }: Tenant, person: Json, many: number): Promise<Json[]> =>
  Promise.all(Array.from({ length: many }, () => openSession(person)))

describe('Sessions of an identity', () => {
  test('show how, when and where they began, newest first', async () => {
    const acme = await gate.newTenant()
    const person = await acme.createIdentity()
    await acme.openSession(await acme.createIdentity())
    expect(await list(acme, person)).toEqual([])
    await acme.openSession(person, { ipAddress: null, userAgent: null })
    const began = gate.now()
    gate.clock.jump(MINUTE)
    const methods = [
      { method: 'password', aal: 'aal1' },
      { method: 'totp', aal: 'aal2' },
    ]
    const device = { ipAddress: '2001:db8::1', userAgent: 'Mozilla/5.0 <b>' }
    await acme.openSession(person, { assuranceLevel: 'aal2', methods, ...device })

    const sessions = await list(acme, person)
    expect(sessions).toHaveLength(2)
    expect(sessions[0]).toEqual({
      id: ID,
      active: true,
      issued_at: gate.now(),
      authenticated_at: gate.now(),
      expires_at: inMs(DAY),
      authenticator_assurance_level: 'aal2',
      authentication_methods: methods.map((one) => ({ ...one, completed_at: gate.now() })),
      devices: [
        {
          id: expect.any(String),
          ip_address: '2001:db8::1',
          user_agent: 'Mozilla/5.0 <b>',
          location: null,
        },
      ],
    })
    expect(sessions[1]).toMatchObject({
      issued_at: began,
      authenticator_assurance_level: 'aal1',
      devices: [{ ip_address: null, user_agent: null }],
    })
  })

  test('have tokens that are neither stored nor logged', async () => {
    const acme = await gate.newTenant()
    const person = await acme.createIdentity()
    const { token } = await acme.openSession(person)
    expect(token).toMatch(/^gat_st_[0-9A-Za-z]{43}$/)
    expect(JSON.stringify(await list(acme, person))).not.toContain('gat_st_')
    expect(tablesWith(gate.app, token.slice('gat_st_'.length))).toEqual({})
    expect(gate.app.log.join('')).not.toContain(token)
  })

  test('are at most 100: a new one replaces ended ones, then the oldest', async () => {
    const acme = await gate.newTenant()
    const person = await acme.createIdentity()
    await openMany(acme, person, 99)
    await revokeAll(acme, person)
    const opened = await openMany(acme, person, 100)
    const ids = opened.map(({ session }) => session.id)
    expect(idsOf(await list(acme, person))).toEqual(ids.toReversed())
    expect(await isActive(opened[0].token)).toBe(true)

    const last = await acme.openSession(person)
    expect(await isActive(opened[0].token)).toBe(false)
    const kept = [...ids.slice(1), last.session.id]
    expect(idsOf(await list(acme, person))).toEqual(kept.toReversed())
  })
})

describe('Revoking', () => {
  test('one session ends it immediately and alone, and is audited once', async () => {
    const acme = await gate.newTenant()
    const person = await acme.createIdentity()
    const [first, second, third] = await openMany(acme, person, 3)
    for (let n = 0; n < 3; n++)
      expect(await revoke(acme, second.session.id)).toMatchObject({ status: 204, body: '' })

    expect(await isActive(second.token)).toBe(false)
    expect(idsOf(await list(acme, person))).toEqual([third.session.id, first.session.id])
    const row = { actor_kind: 'key', actor_id: acme.keyId, detail: {} }
    expect(auditOf(gate.app, `session:${second.session.id}`)).toEqual([
      { action: 'session.revoked', ...row },
    ])
    await acme.setState(person, 'inactive')
    expect(await revoke(acme, first.session.id)).toMatchObject({ status: 204 })
  })

  test("is refused for another tenant's session, and for what is none", async () => {
    const [acme, other] = [await gate.newTenant(), await gate.newTenant()]
    const person = await other.createIdentity()
    const { token, session } = await other.openSession(person)
    expect(await revoke(acme, session.id)).toMatchObject(plain(403))
    expect(await isActive(token)).toBe(true)
    expect(actionsOn(gate.app, `session:${session.id}`)).toEqual([])
    for (const id of [UNKNOWN_ID, person.id, token, 'x', '%00'])
      expect(await revoke(other, id)).toMatchObject(plain(404))
  })

  test('all sessions ends them immediately, but no later ones', async () => {
    await using target = await startTarget()
    const acme = await gate.newTenant()
    const [person, bystander] = [await acme.createIdentity(), await acme.createIdentity()]
    const opened = await openMany(acme, person, 3)
    const { token: other } = await acme.openSession(bystander)
    await acme.createWebhook(target.url)
    for (let n = 0; n < 2; n++)
      expect(await revokeAll(acme, person)).toMatchObject({ status: 204, body: '' })
    await revoke(acme, opened[0].session.id)
    await rest(gate.app)

    for (const { token } of opened) expect(await isActive(token)).toBe(false)
    expect(await list(acme, person)).toEqual([])
    expect(await isActive(other)).toBe(true)
    expect(await acme.readIdentity(person)).toEqual(person)
    const { token, session } = await acme.openSession(person)
    expect(await isActive(token)).toBe(true)
    expect(idsOf(await list(acme, person))).toEqual([session.id])
    expect(actionsOn(gate.app, `identity:${person.id}`)).toContain('sessions.revoked')
    expect(told(target)).toEqual([])
  })
})

describe('whoami', () => {
  test('returns the session and its identity as they are now, without a key', async () => {
    const acme = await gate.newTenant()
    const person = await acme.createIdentity({
      metadata_public: { roles: ['admin'] },
      credentials: { password: { config: { password: 'x' } } },
    })
    const { token, session } = await acme.openSession(person)
    await acme.patch(person, [
      { op: 'replace', path: '/traits/email', value: 'moved@example.com' },
      { op: 'add', path: '/traits/custom_data', value: { a: 1 } },
    ])
    const { status, body } = await whoami({ 'x-session-token': token })

    const { credentials, ...identity } = await acme.readIdentity(person)
    expect(credentials).toHaveProperty('password')
    expect({ status, body }).toEqual({ status: 200, body: { ...session, identity } })
    expect(body.identity.traits.email).toBe('moved@example.com')
    const { identity: _, ...shown } = body
    expect(await list(acme, person)).toEqual([shown])
  })

  test('with a key knows sessions of its tenant alone', async () => {
    const [acme, other] = [await gate.newTenant(), await gate.newTenant()]
    const { token } = await acme.openSession(await acme.createIdentity())
    const { id, key: revoked } = await acme.newKey('gate')
    await gate.app.platform.keys.revoke(ACTOR, id)
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
    expect(await isActive(owing)).toBe(true)
    await enrol(session_token)

    for (const headers of <Record<string, string>[]>[{}, { authorization: `Bearer ${acme.key}` }]) {
      const { status, body } = await whoami({ 'x-session-token': owing, ...headers })
      const id = 'session_aal2_required'
      expect({ status, body }).toEqual({ status: 403, body: { error: expect.any(String), id } })
    }
    for (const token of [whole, session_token]) expect(await isActive(token)).toBe(true)
    expect(await list(acme, identity)).toHaveLength(3)
    await security({ mfa_enabled: false })
    expect(await isActive(owing)).toBe(true)
  })

  test.each<[string, (token: string) => string]>([
    ['nothing', () => ''],
    ['a prefix', () => 'gat_st_'],
    ['one cut short', (token) => token.slice(0, -1)],
    ['one letter more', (token) => `${token}0`],
    ['a wrong letter', (token) => token.slice(0, -1) + (token.endsWith('0') ? 1 : 0)],
    ['no prefix', (token) => token.slice('gat_st_'.length)],
    ['the prefix of another kind', (token) => token.replace('gat_st_', 'gat_live_at_')],
    ['an API key', () => gate.key],
  ])('refuses %s as a token', async (_, spoil) => {
    const acme = await gate.newTenant()
    const { token } = await acme.openSession(await acme.createIdentity())
    const answer = await whoami({ 'x-session-token': spoil(token) })
    expect(answer).toMatchObject(plain(401, 'session token'))
  })

  test('refuses a missing token, and one of another server', async () => {
    for (const headers of [{}, { authorization: `Bearer ${gate.key}` }])
      expect(await whoami(headers as Record<string, string>)).toMatchObject(
        plain(401, 'X-Session-Token'),
      )
    await using other = await bootGate()
    const { token } = await other.openSession(await other.createIdentity())
    expect(await isActive(token)).toBe(false)
  })
})

test.each<[Record<string, string>, number]>([
  [{}, DAY],
  [{ 'gate-session-lifetime': '90s' }, 90 * SECOND],
  [{ 'gate-session-lifetime': '60d' }, 60 * DAY],
])('With %j, a session ends after %d ms, whether or not it is used', async (flags, lifetime) => {
  await using own = await bootGate({ flags })
  const person = await own.createIdentity()
  const { token, session } = await own.openSession(person)
  expect(session.expires_at).toBe(new Date(own.clock.now() + lifetime).toISOString())
  for (const ms of [lifetime / 2, lifetime / 2 - 1]) {
    own.clock.jump(ms)
    expect(await own.whoami(token)).toMatchObject({ status: 200 })
    expect(await list(own, person)).toHaveLength(1)
  }
  own.clock.jump(1)
  expect(await own.whoami(token)).toMatchObject({ status: 401 })
  expect(await list(own, person)).toEqual([])

  const sweep = () => own.app.platform.retention.sweep()
  own.clock.jump(DAY)
  await sweep()
  expect(await revoke(own, session.id)).toMatchObject({ status: 204 })
  own.clock.jump(1)
  await sweep()
  expect(await revoke(own, session.id)).toMatchObject({ status: 404 })
  expect(rowsOf(own.app, 'gate_sessions')).toEqual([])
})
