import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { startTarget } from '../../../support/target.ts'
import { rest } from '../../relay/fixture.ts'
import { type Json, mintToken, TOKENS } from '../fixture.ts'
import {
  auditOf,
  bootPeople,
  ID,
  later,
  MINUTE,
  personPath,
  told,
  typesTold,
  type World,
} from './people.ts'

let world: World
beforeAll(async () => {
  world = await bootPeople()
})
afterAll(() => world.end())

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
    const other = await world.party()
    const person = await other.createIdentity({ state: from })
    await other.createWebhook(target.url)

    const { state_changed_at } = await other.setState(person, to)
    await rest(world.app)

    expect(told(target)).toEqual([
      {
        event_id: ID,
        event_type: 'identity.state_changed',
        tenant_id: other.id,
        created_at: state_changed_at,
        data: { identity_id: person.id, payload: { state: to } },
      },
    ])
    expect(auditOf(world.app, `identity:${person.id}`).slice(1)).toEqual([
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
    const other = await world.party()
    const person = await other.createIdentity({ state: from })
    await other.createWebhook(target.url)
    world.clock.jump(MINUTE)

    expect(await other.setState(person, from)).toEqual(person)
    await rest(world.app)

    expect(await other.readIdentity(person)).toEqual(person)
    expect(told(target)).toMatchObject([{ data: { payload: { state: from } } }])
    expect(auditOf(world.app, `identity:${person.id}`)).toHaveLength(1)
  })

  test('of several who ask for it at once, one moves them, and webhooks are told of each', async () => {
    await using target = await startTarget()
    const other = await world.party()
    const person = await other.createIdentity({ state: from })
    await other.createWebhook(target.url)

    const moved = await Promise.all(Array.from({ length: 5 }, () => other.setState(person, to)))
    await rest(world.app)

    expect(moved.map(({ state }) => state)).toEqual(Array(5).fill(to))
    expect(told(target)).toHaveLength(5)
    expect(auditOf(world.app, `identity:${person.id}`)).toHaveLength(2)
  })
})

/** A person with a session, and an access token of each environment. */
async function signedIn(from: World | Awaited<ReturnType<World['party']>>, tenant: World['acme']) {
  const person = await from.createIdentity()
  const session = await from.openSession(person)
  const keys = [from.key, (await tenant.key('gate', 'test')).key]
  const tokens = await Promise.all(
    keys.map(async (key) => ({
      key,
      ...(await mintToken(world.app, key, { subject: person.id })),
    })),
  )
  return { person, session, tokens }
}

const introspect = async ({ key, access_token }: Json) => {
  const answer = await world.speak(key).api.post(`${TOKENS}/introspect`, { access_token })
  expect(answer).toMatchObject({ status: 200 })
  return answer.body
}

describe('a deactivation', () => {
  test('ends sessions and access tokens at once', async () => {
    const { person, session, tokens } = await signedIn(world, world.acme)
    expect(await world.whoami(session.token)).toMatchObject({ status: 200 })
    for (const token of tokens) expect(await introspect(token)).toMatchObject({ active: true })

    await world.setState(person, 'inactive')

    expect(await world.whoami(session.token)).toMatchObject({ status: 401 })
    expect((await world.api.get(personPath(person, '/sessions'))).body).toEqual([])
    for (const token of tokens) expect(await introspect(token)).toEqual({ active: false })
  })

  test('cannot be undone for them: a reactivation brings none of them back', async () => {
    const { person, session, tokens } = await signedIn(world, world.acme)

    for (const state of ['inactive', 'active', 'inactive', 'active']) {
      await world.setState(person, state)
      expect(await world.whoami(session.token)).toMatchObject({ status: 401 })
      expect((await world.api.get(personPath(person, '/sessions'))).body).toEqual([])
      for (const token of tokens) expect(await introspect(token)).toEqual({ active: false })
    }
  })

  test('stands in the way of new access tokens, until a reactivation', async () => {
    const person = await world.createIdentity({ state: 'inactive' })
    const mint = () => world.api.post(TOKENS, { api_key: world.key, subject: person.id })

    expect(await mint()).toMatchObject({
      status: 403,
      body: { error: { code: 'forbidden', message: 'the subject is an inactive identity' } },
    })

    await world.setState(person, 'active')
    const { token } = await world.openSession(person)
    expect(await mint()).toMatchObject({ status: 200 })
    expect(await world.whoami(token)).toMatchObject({ status: 200 })
  })

  test('of one person is none of another, nor of a service', async () => {
    const { person } = await signedIn(world, world.acme)
    const other = await signedIn(world, world.acme)
    const service = { key: world.key, ...(await mintToken(world.app, world.key)) }

    await world.setState(person, 'inactive')

    expect(await world.whoami(other.session.token)).toMatchObject({ status: 200 })
    for (const token of [...other.tokens, service])
      expect(await introspect(token)).toMatchObject({ active: true })
  })

  test('ends nothing when the person was inactive, or is active, already', async () => {
    const { person, session, tokens } = await signedIn(world, world.acme)

    await world.setState(person, 'active')

    expect(await world.whoami(session.token)).toMatchObject({ status: 200 })
    for (const token of tokens) expect(await introspect(token)).toMatchObject({ active: true })
  })

  test('keeps nothing from being read or changed', async () => {
    const person = await world.createIdentity({ state: 'inactive', metadata_public: { a: 1 } })

    const merged = await world.api.patch(personPath(person, '/metadata'), { b: 2 })
    const patched = await world.patch(person, [
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
  const other = await world.party()
  await other.createWebhook(target.url)

  const person = await other.createIdentity()
  await rest(world.app)
  let { state } = person as { state: 'active' | 'inactive' }
  for (let n = 0; n < 4; n++) {
    state = OTHER[state]
    await other.setState(person, state)
    await rest(world.app)
  }
  await other.api.delete(personPath(person))
  await rest(world.app)

  expect(typesTold(target)).toEqual([
    'identity.created',
    ...Array(4).fill('identity.state_changed'),
    'identity.deleted',
  ])
  expect(new Set(told(target).map(({ event_id }) => event_id)).size).toBe(6)
})
