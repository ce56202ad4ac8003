import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Answer } from '../../../support/app.ts'
import { startTarget } from '../../../support/target.ts'
import { rest } from '../../relay/fixture.ts'
import { expectDescribed } from '../../relay/support.ts'
import { type Json, SESSIONS } from '../fixture.ts'
import {
  ACTOR,
  actionsOn,
  auditOf,
  bootPeople,
  DAY,
  type Fixture,
  HOUR,
  ID,
  later,
  MINUTE,
  personPath,
  rowsOf,
  SECOND,
  START,
  tablesWith,
  told,
  UNKNOWN_ID,
  withoutFreeForm,
} from '../identities/people.ts'
import { flowsOf } from '../sign-in/flows/fixture.ts'

let fixture: Fixture
beforeAll(async () => {
  fixture = await bootPeople()
})
afterAll(() => fixture.end())

const idsOf = (sessions: Json[]): string[] => sessions.map(({ id }) => id)

async function list(from: Pick<Fixture, 'api'>, person: Json): Promise<Json[]> {
  const answer = await from.api.get(personPath(person, '/sessions'))
  expect(answer).toMatchObject({ status: 200 })
  return answer.body
}

const revoke = ({ api }: Pick<Fixture, 'api'>, id: string) => api.delete(`${SESSIONS}/${id}`)

async function whoami(headers: Record<string, string>): Promise<Answer> {
  const path = `${SESSIONS}/whoami`
  const answer = await fixture.app.raw(path, { headers })
  expectDescribed(fixture.document, 'get', path, withoutFreeForm(path, answer))
  return answer
}

/** In the order in which they began. */
const openMany = (
  from: Pick<Fixture, 'openSession'>,
  person: Json,
  many: number,
): Promise<Json[]> => Promise.all(Array.from({ length: many }, () => from.openSession(person)))

describe('the sessions of a person', () => {
  test('are none before the first', async () => {
    expect(await list(fixture, await fixture.createIdentity())).toEqual([])
  })

  test('are shown with how, when and where they began', async () => {
    await using own = await bootPeople()
    const person = await own.createIdentity()
    await own.openSession(person, { ipAddress: null, userAgent: null })
    own.clock.jump(MINUTE)
    await own.openSession(person, {
      assuranceLevel: 'aal2',
      methods: [
        { method: 'password', aal: 'aal1' },
        { method: 'totp', aal: 'aal2' },
      ],
      ipAddress: '2001:db8::1',
      userAgent: 'Mozilla/5.0 <b>',
    })

    const [second, first, ...others] = await list(own, person)

    expect(others).toEqual([])
    expect(second).toEqual({
      id: ID,
      active: true,
      issued_at: later(MINUTE),
      authenticated_at: later(MINUTE),
      expires_at: later(MINUTE + DAY),
      authenticator_assurance_level: 'aal2',
      authentication_methods: [
        { method: 'password', aal: 'aal1', completed_at: later(MINUTE) },
        { method: 'totp', aal: 'aal2', completed_at: later(MINUTE) },
      ],
      devices: [
        {
          id: expect.any(String),
          ip_address: '2001:db8::1',
          user_agent: 'Mozilla/5.0 <b>',
          location: null,
        },
      ],
    })
    expect(first).toMatchObject({
      issued_at: START,
      expires_at: later(DAY),
      authenticator_assurance_level: 'aal1',
      devices: [{ ip_address: null, user_agent: null }],
    })
  })

  test('are listed newest first, and those of nobody else', async () => {
    const person = await fixture.createIdentity()
    await openMany(fixture, await fixture.createIdentity(), 2)
    const opened = await openMany(fixture, person, 5)

    expect(idsOf(await list(fixture, person))).toEqual(
      opened.map(({ session }) => session.id).reverse(),
    )
  })

  test('are known by tokens that are in no list and no table', async () => {
    const person = await fixture.createIdentity()
    const { token } = await fixture.openSession(person)

    expect(token).toMatch(/^gat_st_[0-9A-Za-z]{43}$/)
    expect(JSON.stringify(await list(fixture, person))).not.toContain('gat_st_')
    expect(tablesWith(fixture.app, token.slice('gat_st_'.length))).toEqual({})
    expect(fixture.app.log.join('')).not.toContain(token)
  })

  test('are a hundred at the most: one more ends the oldest', async () => {
    const person = await fixture.createIdentity()
    const opened = await openMany(fixture, person, 100)
    const [oldest, next] = opened
    expect(await fixture.whoami(oldest.token)).toMatchObject({ status: 200 })

    const last = await fixture.openSession(person)

    expect(await fixture.whoami(oldest.token)).toMatchObject({ status: 401 })
    for (const { token } of [next, last])
      expect(await fixture.whoami(token)).toMatchObject({ status: 200 })
    const listed = await list(fixture, person)
    expect(listed).toHaveLength(100)
    expect(listed[0].id).toBe(last.session.id)
    expect(listed[99].id).toBe(next.session.id)
  })

  test('that were ended make room before any that go on', async () => {
    const person = await fixture.createIdentity()
    await openMany(fixture, person, 99)
    await fixture.api.delete(personPath(person, '/sessions'))
    const opened = await openMany(fixture, person, 99)

    const last = await fixture.openSession(person)

    for (const { token } of [opened[0], last])
      expect(await fixture.whoami(token)).toMatchObject({ status: 200 })
    expect(await list(fixture, person)).toHaveLength(100)
  })
})

describe('one session can be revoked', () => {
  test('and ends at once, alone, for good', async () => {
    const person = await fixture.createIdentity()
    const [first, second, third] = await openMany(fixture, person, 3)

    expect(await revoke(fixture, second.session.id)).toMatchObject({ status: 204, body: '' })

    expect(await fixture.whoami(second.token)).toMatchObject({ status: 401 })
    for (const { token } of [first, third])
      expect(await fixture.whoami(token)).toMatchObject({ status: 200 })
    expect(idsOf(await list(fixture, person))).toEqual([third.session.id, first.session.id])
  })

  test('as often as one likes, which is noted once', async () => {
    const { session } = await fixture.openSession(await fixture.createIdentity())

    for (let n = 0; n < 3; n++)
      expect(await revoke(fixture, session.id)).toMatchObject({ status: 204 })

    expect(auditOf(fixture.app, `session:${session.id}`)).toEqual([
      { action: 'session.revoked', actor_kind: 'key', actor_id: expect.any(String), detail: {} },
    ])
  })

  test('though it has ended otherwise', async () => {
    const person = await fixture.createIdentity()
    const { session } = await fixture.openSession(person)
    await fixture.setState(person, 'inactive')

    expect(await revoke(fixture, session.id)).toMatchObject({ status: 204 })
  })

  test('by its tenant alone', async () => {
    const other = await fixture.party()
    const { token, session } = await other.openSession(await other.createIdentity())

    expect(await revoke(fixture, session.id)).toMatchObject({
      status: 403,
      body: { error: 'the session belongs to another tenant' },
    })

    expect(await other.whoami(token)).toMatchObject({ status: 200 })
    expect(actionsOn(fixture.app, `session:${session.id}`)).toEqual([])
  })

  test('if there is one', async () => {
    const person = await fixture.createIdentity()
    const { token } = await fixture.openSession(person)

    for (const id of [UNKNOWN_ID, person.id, token, 'x', '%00'])
      expect(await revoke(fixture, id)).toMatchObject({
        status: 404,
        body: { error: 'session not found' },
      })
  })
})

describe('all sessions of a person can be revoked', () => {
  test('and end at once, for good, while later ones are good', async () => {
    const person = await fixture.createIdentity()
    const opened = await openMany(fixture, person, 3)
    const bystander = await fixture.openSession(await fixture.createIdentity())

    expect(await fixture.api.delete(personPath(person, '/sessions'))).toMatchObject({
      status: 204,
      body: '',
    })

    for (const { token } of opened)
      expect(await fixture.whoami(token)).toMatchObject({ status: 401 })
    expect(await list(fixture, person)).toEqual([])
    expect(await fixture.whoami(bystander.token)).toMatchObject({ status: 200 })
    const { token, session } = await fixture.openSession(person)
    expect(await fixture.whoami(token)).toMatchObject({ status: 200 })
    expect(idsOf(await list(fixture, person))).toEqual([session.id])
  })

  test('where there are none, as often as one likes', async () => {
    const person = await fixture.createIdentity()

    for (let n = 0; n < 3; n++)
      expect(await fixture.api.delete(personPath(person, '/sessions'))).toMatchObject({
        status: 204,
      })

    expect(await fixture.readIdentity(person)).toEqual(person)
  })

  test('which is noted, and told to no webhook', async () => {
    await using target = await startTarget()
    const other = await fixture.party()
    const person = await other.createIdentity()
    const { session } = await other.openSession(person)
    await other.createWebhook(target.url)

    await other.api.delete(personPath(person, '/sessions'))
    await revoke(other, session.id)
    await rest(fixture.app)

    expect(actionsOn(fixture.app, `identity:${person.id}`)).toEqual([
      'identity.created',
      'sessions.revoked',
    ])
    expect(told(target)).toEqual([])
  })
})

describe('whoami', () => {
  test('answers with the session and its person as they are now', async () => {
    const person = await fixture.createIdentity({
      metadata_public: { roles: ['admin'] },
      credentials: { password: { config: { password: 'x' } } },
    })
    const { token, session } = await fixture.openSession(person)
    await fixture.patch(person, [
      { op: 'replace', path: '/traits/email', value: 'moved@example.com' },
      { op: 'add', path: '/traits/custom_data', value: { a: 1 } },
    ])

    const { status, body } = await whoami({ 'x-session-token': token })

    const { credentials, ...identity } = await fixture.readIdentity(person)
    expect(credentials).toHaveProperty('password')
    expect({ status, body }).toEqual({ status: 200, body: { ...session, identity } })
    expect(body.identity.traits.email).toBe('moved@example.com')
    expect((await list(fixture, person))[0]).toEqual(
      Object.fromEntries(Object.entries(body).filter(([name]) => name !== 'identity')) as never,
    )
  })

  test('needs no key', async () => {
    const { token } = await fixture.openSession(await fixture.createIdentity())
    expect(await whoami({ 'x-session-token': token })).toMatchObject({ status: 200 })
  })

  test('with a key, of either environment, knows sessions of its tenant alone', async () => {
    const { token } = await fixture.openSession(await fixture.createIdentity())
    const { key: sandbox } = await fixture.acme.key('gate', 'test')
    const { key: bare } = await fixture.acme.key('gate', 'live', ['flows'])
    const other = await fixture.party()
    const ask = (key: string) =>
      whoami({ 'x-session-token': token, authorization: `Bearer ${key}` })

    for (const key of [fixture.key, sandbox, bare])
      expect(await ask(key)).toMatchObject({ status: 200 })
    expect(await ask(other.key)).toMatchObject({
      status: 401,
      body: { error: 'the session token is invalid, or its session has ended' },
    })
  })

  test('with a key that is no good refuses', async () => {
    const { token } = await fixture.openSession(await fixture.createIdentity())
    const { id, key: revoked } = await fixture.acme.key('gate', 'live')
    await fixture.app.platform.keys.revoke(ACTOR, id)
    const { key: relay } = await fixture.acme.key('relay', 'live')
    const ask = (authorization: string) => whoami({ 'x-session-token': token, authorization })

    for (const bad of [`Bearer ${revoked}`, 'Bearer x', 'Basic eDp5', '', `Bearer ${token}`])
      expect(await ask(bad)).toMatchObject({
        status: 401,
        body: { error: 'invalid or revoked API key' },
      })
    expect(await ask(`Bearer ${relay}`)).toMatchObject({ status: 403 })
  })

  test('refuses a session that owes a second factor, with a name for it and nothing of whose it is', async () => {
    const other = await fixture.party()
    const { register, enrol, security } = flowsOf(fixture.app, { tenantId: other.id, ...other })
    await security({ mfa_enabled: true })
    const { session_token, identity } = await register('two@example.com')
    const { token: owing } = await other.openSession(identity)
    const { token: whole } = await other.openSession(identity, { assuranceLevel: 'aal2' })
    expect(await whoami({ 'x-session-token': owing })).toMatchObject({ status: 200 })

    await enrol(session_token)

    for (const headers of [{}, { authorization: `Bearer ${other.key}` }]) {
      const { status, body } = await whoami({ 'x-session-token': owing, ...headers } as never)
      expect({ status, body }).toEqual({
        status: 403,
        body: {
          error: 'the session requires two-factor authentication',
          id: 'session_aal2_required',
        },
      })
    }
    for (const token of [whole, session_token])
      expect(await whoami({ 'x-session-token': token })).toMatchObject({ status: 200 })
    expect(await list(other, identity)).toHaveLength(3)
    await security({ mfa_enabled: false })
    expect(await whoami({ 'x-session-token': owing })).toMatchObject({ status: 200 })
  })

  test('without a token says that one is missing', async () => {
    for (const headers of [{}, { authorization: `Bearer ${fixture.key}` }] as Record<
      string,
      string
    >[])
      expect(await whoami(headers)).toMatchObject({
        status: 401,
        body: { error: 'missing session token: send it as X-Session-Token' },
      })
  })

  test.each([
    ['nothing', () => ''],
    ['any word', () => 'garbage'],
    ['its prefix alone', () => 'gat_st_'],
    ['one cut short', (token: string) => token.slice(0, -1)],
    ['one with a letter more', (token: string) => `${token}0`],
    [
      'one with a wrong letter',
      (token: string) => token.slice(0, -1) + (token.endsWith('0') ? 1 : 0),
    ],
    ['one without its prefix', (token: string) => token.slice('gat_st_'.length)],
    [
      'one with the prefix of another kind',
      (token: string) => token.replace('gat_st_', 'gat_live_at_'),
    ],
    ['an API key', () => fixture.key],
  ])('takes %s for no token', async (_, spoil) => {
    const { token } = await fixture.openSession(await fixture.createIdentity())

    const answer = await whoami({ 'x-session-token': spoil(token) })

    expect(answer).toMatchObject({ status: 401 })
    expect(answer.body.error).toContain('session token')
  })

  test('does not know a token that nobody was given', async () => {
    await using other = await bootPeople()
    const { token } = await other.openSession(await other.createIdentity())

    expect(await whoami({ 'x-session-token': token })).toMatchObject({ status: 401 })
  })
})

describe('a session ends by the clock', () => {
  test.each([
    ['24 hours after it began', {}, DAY],
    ['after what is configured', { 'gate-session-lifetime': '90s' }, 90 * SECOND],
    ['after what is configured, be it months', { 'gate-session-lifetime': '60d' }, 60 * DAY],
  ])('%s, to the millisecond', async (_, flags, lifetime) => {
    await using own = await bootPeople({ flags: flags as Record<string, string> })
    const person = await own.createIdentity()
    const { token, session } = await own.openSession(person)
    expect(session.expires_at).toBe(later(lifetime))

    own.clock.jump(lifetime - 1)
    expect(await own.whoami(token)).toMatchObject({ status: 200 })
    expect(await list(own, person)).toHaveLength(1)

    own.clock.jump(1)
    expect(await own.whoami(token)).toMatchObject({ status: 401 })
    expect(await list(own, person)).toEqual([])
  })

  test('which being asked about does not put off', async () => {
    await using own = await bootPeople()
    const { token } = await own.openSession(await own.createIdentity())

    for (let hour = 0; hour < 24; hour++) {
      expect(await own.whoami(token)).toMatchObject({ status: 200 })
      own.clock.jump(HOUR)
    }

    expect(await own.whoami(token)).toMatchObject({ status: 401 })
  })

  test('and is forgotten a day later, to be neither found nor revoked', async () => {
    await using own = await bootPeople()
    const { session } = await own.openSession(await own.createIdentity())
    const sweep = () => own.app.platform.retention.sweep()

    own.clock.jump(2 * DAY)
    await sweep()
    expect(await revoke(own, session.id)).toMatchObject({ status: 204 })

    own.clock.jump(1)
    await sweep()
    expect(await revoke(own, session.id)).toMatchObject({ status: 404 })
    expect(rowsOf(own.app, 'gate_sessions')).toEqual([])
  })
})
