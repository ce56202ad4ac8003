import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { startTarget } from '../../../support/target.ts'
import { rest } from '../../relay/fixture.ts'
import { type Json, mintToken, TOKENS } from '../fixture.ts'
import {
  auditOf,
  bootPeople,
  type Fixture,
  ID,
  later,
  MINUTE,
  personPath,
  told,
  typesTold,
} from './people.ts'

let fixture: Fixture
beforeAll(async () => {
  fixture = await bootPeople()
})
afterAll(() => fixture.end())

const MOVES = [
  ['active', 'inactive'],
  ['inactive', 'active'],
] as const

const OTHER = { active: 'inactive', inactive: 'active' } as const

describe.each(MOVES)('from %s to %s', (from, to) => {
  test('a person moves, is shown so, and the rest of them stays', async () => {
    await using own = await bootPeople()
    const person = await own.createIdentity({
      state: from,
      metadata_public: { roles: ['admin'] },
      verifiable_addresses: [{ value: 'person@example.com', verified: true }],
      traits: { email: 'person@example.com' },
      credentials: { password: { config: { password: 'x' } } },
    })
    own.clock.jump(MINUTE)

    const moved = await own.setState(person, to)

    const at = later(MINUTE)
    expect(moved).toEqual({ ...person, state: to, state_changed_at: at, updated_at: at })
    expect(await own.readIdentity(person)).toEqual(moved)
  })

  test('webhooks are told once, and the audit log has who did it', async () => {
    await using target = await startTarget()
    const other = await fixture.party()
    const person = await other.createIdentity({ state: from })
    await other.createWebhook(target.url)

    const { state_changed_at } = await other.setState(person, to)
    await rest(fixture.app)

    expect(told(target)).toEqual([
      {
        event_id: ID,
        event_type: 'identity.state_changed',
        tenant_id: other.id,
        created_at: state_changed_at,
        data: { identity_id: person.id, payload: { state: to } },
      },
    ])
    expect(auditOf(fixture.app, `identity:${person.id}`).slice(1)).toEqual([
      {
        action: 'identity.state_changed',
        actor_kind: 'key',
        actor_id: expect.any(String),
        detail: { state: to },
      },
    ])
  })

  test('to stay is no move: nothing changes but that webhooks are told', async () => {
    await using target = await startTarget()
    const other = await fixture.party()
    const person = await other.createIdentity({ state: from })
    await other.createWebhook(target.url)
    fixture.clock.jump(MINUTE)

    expect(await other.setState(person, from)).toEqual(person)
    await rest(fixture.app)

    expect(await other.readIdentity(person)).toEqual(person)
    expect(told(target)).toMatchObject([{ data: { payload: { state: from } } }])
    expect(auditOf(fixture.app, `identity:${person.id}`)).toHaveLength(1)
  })

  test('of several who ask for it at once, one moves them, and webhooks are told of each', async () => {
    await using target = await startTarget()
    const other = await fixture.party()
    const person = await other.createIdentity({ state: from })
    await other.createWebhook(target.url)

    const moved = await Promise.all(Array.from({ length: 5 }, () => other.setState(person, to)))
    await rest(fixture.app)

    expect(moved.map(({ state }) => state)).toEqual(Array(5).fill(to))
    expect(told(target)).toHaveLength(5)
    expect(auditOf(fixture.app, `identity:${person.id}`)).toHaveLength(2)
  })
})

/** A person with a session, and an access token of each environment. */
async function signedIn(
  from: Fixture | Awaited<ReturnType<Fixture['party']>>,
  tenant: Fixture['acme'],
) {
  const person = await from.createIdentity()
  const session = await from.openSession(person)
  const keys = [from.key, (await tenant.key('gate', 'test')).key]
  const tokens = await Promise.all(
    keys.map(async (key) => ({
      key,
      ...(await mintToken(fixture.app, key, { subject: person.id })),
    })),
  )
  return { person, session, tokens }
}

const introspect = async ({ key, access_token }: Json) => {
  const answer = await fixture.speak(key).api.post(`${TOKENS}/introspect`, { access_token })
  expect(answer).toMatchObject({ status: 200 })
  return answer.body
}

describe('a deactivation', () => {
  test('ends sessions and access tokens at once', async () => {
    const { person, session, tokens } = await signedIn(fixture, fixture.acme)
    expect(await fixture.whoami(session.token)).toMatchObject({ status: 200 })
    for (const token of tokens) expect(await introspect(token)).toMatchObject({ active: true })

    await fixture.setState(person, 'inactive')

    expect(await fixture.whoami(session.token)).toMatchObject({ status: 401 })
    expect((await fixture.api.get(personPath(person, '/sessions'))).body).toEqual([])
    for (const token of tokens) expect(await introspect(token)).toEqual({ active: false })
  })

  test('cannot be undone for them: a reactivation brings none of them back', async () => {
    const { person, session, tokens } = await signedIn(fixture, fixture.acme)

    for (const state of ['inactive', 'active', 'inactive', 'active']) {
      await fixture.setState(person, state)
      expect(await fixture.whoami(session.token)).toMatchObject({ status: 401 })
      expect((await fixture.api.get(personPath(person, '/sessions'))).body).toEqual([])
      for (const token of tokens) expect(await introspect(token)).toEqual({ active: false })
    }
  })

  test('stands in the way of new access tokens, until a reactivation', async () => {
    const person = await fixture.createIdentity({ state: 'inactive' })
    const mint = () => fixture.api.post(TOKENS, { api_key: fixture.key, subject: person.id })

    expect(await mint()).toMatchObject({
      status: 403,
      body: { error: { code: 'forbidden', message: 'the subject is an inactive identity' } },
    })

    await fixture.setState(person, 'active')
    const { token } = await fixture.openSession(person)
    expect(await mint()).toMatchObject({ status: 200 })
    expect(await fixture.whoami(token)).toMatchObject({ status: 200 })
  })

  test('of one person is none of another, nor of a service', async () => {
    const { person } = await signedIn(fixture, fixture.acme)
    const other = await signedIn(fixture, fixture.acme)
    const service = { key: fixture.key, ...(await mintToken(fixture.app, fixture.key)) }

    await fixture.setState(person, 'inactive')

    expect(await fixture.whoami(other.session.token)).toMatchObject({ status: 200 })
    for (const token of [...other.tokens, service])
      expect(await introspect(token)).toMatchObject({ active: true })
  })

  test('ends nothing when the person was inactive, or is active, already', async () => {
    const { person, session, tokens } = await signedIn(fixture, fixture.acme)

    await fixture.setState(person, 'active')

    expect(await fixture.whoami(session.token)).toMatchObject({ status: 200 })
    for (const token of tokens) expect(await introspect(token)).toMatchObject({ active: true })
  })

  test('keeps nothing from being read or changed', async () => {
    const person = await fixture.createIdentity({ state: 'inactive', metadata_public: { a: 1 } })

    const merged = await fixture.api.patch(personPath(person, '/metadata'), { b: 2 })
    const patched = await fixture.patch(person, [
      { op: 'replace', path: '/traits/email', value: 'asleep@example.com' },
    ])

    expect(merged).toMatchObject({ status: 200, body: { a: 1, b: 2 } })
    expect(patched).toMatchObject({
      status: 200,
      body: { state: 'inactive', traits: { email: 'asleep@example.com' } },
    })
  })
})

test('events of one person reach a webhook in the order in which things happened', async () => {
  await using target = await startTarget()
  const other = await fixture.party()
  await other.createWebhook(target.url)

  const person = await other.createIdentity()
  await rest(fixture.app)
  let { state } = person as { state: 'active' | 'inactive' }
  for (let n = 0; n < 4; n++) {
    state = OTHER[state]
    await other.setState(person, state)
    await rest(fixture.app)
  }
  await other.api.delete(personPath(person))
  await rest(fixture.app)

  expect(typesTold(target)).toEqual([
    'identity.created',
    ...Array(4).fill('identity.state_changed'),
    'identity.deleted',
  ])
  expect(new Set(told(target).map(({ event_id }) => event_id)).size).toBe(6)
})
