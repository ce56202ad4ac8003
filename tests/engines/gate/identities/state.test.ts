import { describe, expect, test } from 'bun:test'
import { startTarget } from '../../../support/target.ts'
import { rest } from '../../relay/fixture.ts'
import {
  auditOf,
  coded,
  ID,
  type Json,
  MINUTE,
  mintToken,
  personPath,
  type Tenant,
  TOKENS,
  told,
  typesTold,
  useGate,
} from '../fixture.ts'

const gate = await useGate()

describe.each([
  ['active', 'inactive'],
  ['inactive', 'active'],
])('From %s to %s', (from, to) => {
  test('only the state and its times change, and webhooks and the audit log learn it', async () => {
    await using target = await startTarget()
    const acme = await gate.newTenant()
    const email = 'person@example.com'
    const person = await acme.createIdentity({
      state: from,
      metadata_public: { roles: ['admin'] },
      traits: { email },
      verifiable_addresses: [{ value: email, verified: true }],
    })
    await acme.createWebhook(target.url)
    gate.clock.jump(MINUTE)
    const moved = await acme.setState(person, to)
    await rest(gate.app)
    const at = gate.now()
    expect(moved).toEqual({ ...person, state: to, state_changed_at: at, updated_at: at })
    expect(await acme.readIdentity(person)).toEqual(moved)
    expect(told(target)).toEqual([
      {
        ...{ event_id: ID, event_type: 'identity.state_changed', tenant_id: acme.id },
        ...{ created_at: at, data: { identity_id: person.id, payload: { state: to } } },
      },
    ])
    const row = { action: 'identity.state_changed', actor_kind: 'key', actor_id: acme.keyId }
    expect(auditOf(gate.app, `identity:${person.id}`).slice(1)).toEqual([
      { ...row, detail: { state: to } },
    ])
  })

  test('five requests at once change it once, and webhooks learn of each', async () => {
    await using target = await startTarget()
    const acme = await gate.newTenant()
    const person = await acme.createIdentity({ state: from })
    await acme.createWebhook(target.url)
    const moved = await Promise.all([1, 2, 3, 4, 5].map(() => acme.setState(person, to)))
    await rest(gate.app)
    expect(moved.map(({ state }) => state)).toEqual(Array(5).fill(to))
    expect(told(target)).toHaveLength(5)
    expect(auditOf(gate.app, `identity:${person.id}`)).toHaveLength(2)
    const after = await acme.readIdentity(person)
    gate.clock.jump(MINUTE)
    expect(await acme.setState(person, to)).toEqual(after)
  })
})

/** An identity with a session, and with an access token of each environment. */
async function signedIn({ newKey, ...tenant }: Tenant) {
  const person = await tenant.createIdentity()
  const { token } = await tenant.openSession(person)
  const keys = [tenant.key, (await newKey('gate', 'test')).key]
  const minted = await Promise.all(
    keys.map(async (key) => ({ key, ...(await mintToken(gate.app, key, { subject: person.id })) })),
  )
  async function expectAccess(isActive: boolean) {
    expect(await tenant.whoami(token)).toMatchObject({ status: isActive ? 200 : 401 })
    const { body } = await tenant.api.get(personPath(person, '/sessions'))
    expect(body).toHaveLength(isActive ? 1 : 0)
    for (const token of minted) expect(await isTokenActive(token)).toBe(isActive)
  }
  return { person, expectAccess }
}

const isTokenActive = async ({ key, access_token }: Json) =>
  (await gate.withKey(key).api.post(`${TOKENS}/introspect`, { access_token })).body.active

test('Deactivating ends sessions and tokens for good, and nothing of others', async () => {
  const acme = await gate.newTenant()
  const { person, expectAccess } = await signedIn(acme)
  const other = await signedIn(acme)
  const service = { key: acme.key, ...(await mintToken(gate.app, acme.key)) }
  await acme.setState(person, 'active')
  await expectAccess(true)
  for (const state of ['inactive', 'active', 'inactive', 'active']) {
    await acme.setState(person, state)
    await expectAccess(false)
  }
  await other.expectAccess(true)
  expect(await isTokenActive(service)).toBe(true)
})

test('An inactive identity gets no access tokens, but can be read and changed', async () => {
  const acme = await gate.newTenant()
  const person = await acme.createIdentity({ state: 'inactive', metadata_public: { a: 1 } })
  const mint = () => acme.api.post(TOKENS, { api_key: acme.key, subject: person.id })
  expect(await mint()).toMatchObject(coded(403, 'forbidden'))
  const value = 'asleep@example.com'
  await acme.api.patch(personPath(person, '/metadata'), { b: 2 })
  await acme.patch(person, [{ op: 'replace', path: '/traits/email', value }])
  const fields = { state: 'inactive', metadata_public: { a: 1, b: 2 }, traits: { email: value } }
  expect(await acme.readIdentity(person)).toMatchObject(fields)
  await acme.setState(person, 'active')
  const { token } = await acme.openSession(person)
  expect(await mint()).toMatchObject({ status: 200 })
  expect(await acme.whoami(token)).toMatchObject({ status: 200 })
})

test('The state is one of two words', async () => {
  const person = await gate.createIdentity()
  for (const state of ['Inactive', 'deleted', ['inactive']])
    expect(await gate.api.patch(personPath(person, '/state'), { state })).toMatchObject({
      status: 400,
      body: { error: expect.stringMatching(/^state: /) },
    })
  expect(await gate.readIdentity(person)).toEqual(person)
})

test('A webhook receives the events of an identity in order', async () => {
  await using target = await startTarget()
  const acme = await gate.newTenant()
  await acme.createWebhook(target.url)
  const person = await acme.createIdentity()
  await rest(gate.app)
  for (const state of ['inactive', 'active', 'inactive']) {
    await acme.setState(person, state)
    await rest(gate.app)
  }
  await acme.api.delete(personPath(person))
  await rest(gate.app)
  const changes = Array(3).fill('identity.state_changed')
  expect(typesTold(target)).toEqual(['identity.created', ...changes, 'identity.deleted'])
  expect(new Set(told(target).map(({ event_id }) => event_id)).size).toBe(5)
})
