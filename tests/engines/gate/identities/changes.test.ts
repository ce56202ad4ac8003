import { expect, test } from 'bun:test'
import { startTarget } from '../../../support/target.ts'
import { rest } from '../../relay/fixture.ts'
import {
  auditOf,
  bodyOf,
  coded,
  ID,
  IDENTITIES,
  type Json,
  MINUTE,
  mintToken,
  nested,
  ofBytes,
  personPath,
  plain,
  type Tenant,
  TOKENS,
  told,
  useGate,
} from '../fixture.ts'

// What the operations of a patch do is in documents/.
const gate = await useGate()

const patched = ({ patch }: Pick<Tenant, 'patch'>, person: Json, ...operations: Json[]) =>
  bodyOf(patch(person, operations))

const add = (path: string, value: Json) => ({ op: 'add', path, value })
const replace = (path: string, value: Json) => ({ op: 'replace', path, value })
const remove = (path: string) => ({ op: 'remove', path })
const replaceEmail = (value: Json) => replace('/traits/email', value)
const merge = ({ api }: Pick<Tenant, 'api'>, person: Json, changes: Json) =>
  api.patch(personPath(person, '/metadata'), changes)
const detailsOf = (person: Json) =>
  auditOf(gate.app, `identity:${person.id}`).map(({ action, detail }) => [action, detail])

/** Sends a body without encoding it. */
const send = (path: string, body: string, type = 'application/json') =>
  gate.app.raw(path, {
    method: 'PATCH',
    headers: { authorization: `Bearer ${gate.key}`, 'content-type': type },
    body,
  })

test('A patch is a list of operations, in one of two media types', async () => {
  const person = await gate.createIdentity()
  const body = JSON.stringify([add('/metadata_public/x', 1)])
  for (const type of ['application/json-patch+json; charset=utf-8', 'application/json']) {
    const answer = await send(personPath(person), body, type)
    expect(answer).toMatchObject({ status: 200, body: { metadata_public: { x: 1 } } })
    expect(await gate.readIdentity(person)).toEqual(answer.body)
  }
  for (const text of ['{"op":"remove","path":"/state"}', 'null', '', '"[]"'])
    expect(await send(personPath(person), text)).toMatchObject(plain(400, 'body'))
})

test('A patch that fails changes nothing, and names what failed', async () => {
  const acme = await gate.newTenant()
  const person = await acme.createIdentity()
  const before = [add('/metadata_public/half', true), replace('/state', 'inactive')]
  for (const [blamed, operation] of <[string, Json][]>[
    ['operation 2', remove('/metadata_public/x')],
    ['operation 2', { op: 'test', path: '/state', value: 'active' }],
    ['operation 2', { op: 'copy', from: '/credentials', path: '/metadata_public/c' }],
    ['operation 2', add('/traits/tenant_id', 'x')],
    ['traits.email', remove('/traits/email')],
    ['traits.email', replaceEmail('x')],
    ['traits.email', replaceEmail(5)],
    ['traits.name', add('/traits/name', 'x')],
    ['traits', remove('/traits')],
    ['traits', replace('/traits', [])],
    ['traits.custom_data', add('/traits/custom_data', null)],
    ['traits.custom_data', add('/traits/custom_data', ofBytes(65_537))],
    ['metadata_public', replace('/metadata_public', [1])],
    ['metadata_public', add('/metadata_public', ofBytes(65_537))],
    ['state', remove('/state')],
    ['state', replace('/state', 'deleted')],
  ])
    expect(await acme.patch(person, [...before, operation])).toMatchObject(plain(400, blamed))
  expect(await acme.readIdentity(person)).toEqual(person)
  expect(await gate.patch(person, [{ op: 'unknown' }])).toMatchObject(plain(403))
})

test('A patch changes data, the time and the audit log, which has only the names of fields', async () => {
  const acme = await gate.newTenant()
  const person = await acme.createIdentity({ metadata_public: { a: 1 } })
  gate.clock.jump(MINUTE)
  const changed = await patched(
    acme,
    person,
    replaceEmail('second@example.com'),
    add('/traits/custom_data', { a: 1 }),
    remove('/metadata_public'),
  )
  const { created_at, state_changed_at } = person
  const times = { created_at, state_changed_at, updated_at: gate.now() }
  const traits = { email: 'second@example.com', custom_data: { a: 1 } }
  expect(changed).toMatchObject({ ...times, traits, metadata_public: {} })
  expect(detailsOf(person)).toEqual([
    ['identity.created', {}],
    ['identity.updated', { fields: ['traits', 'metadata_public'] }],
  ])
  const whole = replace('/traits', { email: 'Whole@Example.com', tenant_id: 'another' })
  const after = await patched(acme, person, whole)
  expect(after.traits).toEqual({ email: 'whole@example.com', tenant_id: acme.id })
})

test('A patch or merge that changes nothing is not recorded', async () => {
  await using target = startTarget()
  const acme = await gate.newTenant()
  const fields = { traits: { custom_data: { b: 1, a: 2 } }, metadata_public: { a: 1 } }
  const person = await acme.createIdentity(fields)
  await acme.createWebhook(target.url)
  gate.clock.jump(MINUTE)
  const test = { op: 'test', path: '/state', value: 'active' }
  for (const operations of [[], [test, replace('/metadata_public/a', 1)]])
    expect(await patched(acme, person, ...operations)).toEqual(person)
  expect((await merge(acme, person, { a: 1, b: null })).body).toEqual({ a: 1 })
  await rest(gate.app)
  expect(await acme.readIdentity(person)).toEqual(person)
  expect(detailsOf(person)).toHaveLength(1)
  expect(told(target)).toEqual([])
})

test('Patches and merges at once all see the changes before them', async () => {
  const acme = await gate.newTenant()
  const person = await acme.createIdentity({ metadata_public: { list: [] } })
  const numbers = [0, 1, 2, 3, 4]
  await Promise.all(
    numbers.flatMap((n) => [
      acme.patch(person, [add('/metadata_public/list/-', n)]),
      merge(acme, person, { [`k${n}`]: n }),
    ]),
  )
  const { metadata_public } = await acme.readIdentity(person)
  expect(metadata_public.list.toSorted()).toEqual(numbers)
  expect(Object.keys(metadata_public)).toHaveLength(1 + numbers.length)
})

test('A new address is normalized and not verified, and replaces the old one', async () => {
  const acme = await gate.newTenant()
  const email = 'old@example.com'
  const person = await acme.createIdentity({
    traits: { email },
    verifiable_addresses: [{ value: email, verified: true }],
    credentials: { password: { config: { hashed_password: `$2b$04$${'.'.repeat(53)}` } } },
  })
  gate.clock.jump(MINUTE)
  const changed = await patched(acme, person, replaceEmail(' New@EXAMPLE.com '))
  const [address] = changed.verifiable_addresses
  const value = 'new@example.com'
  expect(address.id).not.toBe(person.verifiable_addresses[0].id)
  expect(address).toEqual({
    ...{ id: address.id, value, via: 'email' },
    ...{ verified: false, status: 'pending', verified_at: null },
    ...{ created_at: gate.now(), updated_at: gate.now() },
  })
  expect(changed).toMatchObject({
    traits: { email: value },
    recovery_addresses: [{ id: address.id, value }],
    credentials: { password: { identifiers: [value] } },
  })
  const found = async (email: string) =>
    (await acme.api.get(`${IDENTITIES}?email=${email}`)).body.data
  expect([await found(value), await found(email)]).toEqual([[changed], []])
  await acme.createIdentity({ traits: { email } })
})

test.each([
  ['a@example.com', replaceEmail('A@example.com')],
  ['H\u0331A\u030a\u0130\u0317@example.com', add('/metadata_public/x', 1)],
  ['patch@xn--nxasmm1c.com', add('/metadata_public/x', 1)],
])('The address %s stays verified in another spelling', async (value, operation) => {
  const acme = await gate.newTenant()
  const person = await acme.createIdentity({
    traits: { email: value },
    verifiable_addresses: [{ value, verified: true }],
  })
  const { traits, verifiable_addresses, updated_at } = person
  const same = { traits, verifiable_addresses, updated_at }
  expect(await patched(acme, person, operation)).toMatchObject(same)
})

test('A new address belongs to one identity of the tenant, also when requested at once', async () => {
  const [acme, other] = [await gate.newTenant(), await gate.newTenant()]
  const { traits } = await acme.createIdentity()
  const [person, second] = [await acme.createIdentity(), await acme.createIdentity()]
  const half = add('/metadata_public/half', true)
  const taken = [half, replaceEmail(traits.email.toUpperCase())]
  expect(await acme.patch(person, taken)).toMatchObject(plain(409, 'traits.email'))
  expect(await acme.readIdentity(person)).toEqual(person)
  const elsewhere = await other.createIdentity()
  await patched(acme, person, replaceEmail(elsewhere.traits.email))
  const wanted = [replaceEmail('wanted@example.com')]
  const answers = await Promise.all([person, second].map((one) => acme.patch(one, wanted)))
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 409])
})

const readMetadata = async (person: Json) =>
  (await gate.api.get(personPath(person, '/metadata'))).body

test('Metadata is read and merged as a bare object, and with no other body', async () => {
  const person = await gate.createIdentity()
  expect(await readMetadata(person)).toEqual({})
  gate.clock.jump(MINUTE)
  const changes = { a: { b: [1, null] }, toString: { x: 1 }, gone: null }
  const answer = await merge(gate, person, changes)
  expect(answer).toMatchObject({ status: 200, body: { a: { b: [1, null] } } })
  await merge(gate, person, { a: { c: 2 }, toString: null })
  const metadata_public = { a: { b: [1, null], c: 2 } }
  expect(await readMetadata(person)).toEqual(metadata_public)
  const now = { metadata_public, updated_at: gate.now() }
  expect(await gate.readIdentity(person)).toEqual({ ...person, ...now })
  const updated = ['identity.updated', { fields: ['metadata_public'] }]
  expect(detailsOf(person).slice(1)).toEqual([updated, updated])
  const path = personPath(person, '/metadata')
  for (const text of ['["c"]', '"bar"', 'null', ''])
    expect(await send(path, text)).toMatchObject(plain(400, 'body: '))
  expect(await readMetadata(person)).toEqual(metadata_public)
  const typed = await send(path, '{"a":1}', 'application/merge-patch+json')
  expect(typed).toMatchObject({ status: 200, body: { a: 1 } })
})

test('Metadata does not become larger than 64 KiB, or deeper than 64 levels', async () => {
  const metadata_public = ofBytes(65_536 - ',"b":1'.length)
  const full = await gate.createIdentity({ metadata_public })
  expect(await merge(gate, full, { b: 10 })).toMatchObject(plain(400, 'metadata_public'))
  expect((await merge(gate, full, { b: 1 })).body).toEqual({ ...metadata_public, b: 1 })
  expect(await merge(gate, full, { ...nested(64), b: null })).toMatchObject({ status: 200 })
  expect((await gate.readIdentity(full)).metadata_public).toEqual(nested(64))
  expect(await merge(gate, full, nested(65))).toMatchObject(plain(400, 'body'))
  await patched(gate, full, add('/metadata_public/b', 1))
})

test.each([
  ['active', 'inactive'],
  ['inactive', 'active'],
])('From %s to %s only the state and its times change, once', async (from, to) => {
  await using target = startTarget()
  const acme = await gate.newTenant()
  const email = 'person@example.com'
  const person = await acme.createIdentity({
    ...{ state: from, metadata_public: { roles: ['admin'] }, traits: { email } },
    verifiable_addresses: [{ value: email, verified: true }],
  })
  await acme.createWebhook(target.url)
  gate.clock.jump(MINUTE)
  const at = gate.now()
  const moved = { ...person, state: to, state_changed_at: at, updated_at: at }
  const atOnce = [acme.setState(person, to), acme.setState(person, to)]
  expect(await Promise.all(atOnce)).toEqual([moved, moved])
  expect(await acme.readIdentity(person)).toEqual(moved)
  await rest(gate.app)
  const event = {
    ...{ event_id: ID, event_type: 'identity.state_changed', tenant_id: acme.id },
    ...{ created_at: at, data: { identity_id: person.id, payload: { state: to } } },
  }
  expect(told(target)).toEqual([event, event])
  expect(auditOf(gate.app, `identity:${person.id}`).slice(1)).toEqual([
    {
      ...{ action: 'identity.state_changed', actor_kind: 'key', actor_id: acme.keyId },
      detail: { state: to },
    },
  ])
  for (const state of ['Inactive', 'deleted', ['inactive']]) {
    const answer = await acme.api.patch(personPath(person, '/state'), { state })
    expect(answer).toMatchObject(plain(400, 'state: '))
  }
})

test('A patch of the state is reported once', async () => {
  await using target = startTarget()
  const acme = await gate.newTenant()
  const person = await acme.createIdentity()
  const { token } = await acme.openSession(person)
  await acme.createWebhook(target.url)
  const states = (...words: string[]) => words.map((word) => replace('/state', word))
  expect(await patched(acme, person, ...states('inactive', 'active'))).toEqual(person)
  expect(await acme.whoami(token)).toMatchObject({ status: 200 })
  const why = add('/metadata_public/why', 'left')
  const operations = [...states('inactive', 'active', 'inactive'), why]
  expect(await patched(acme, person, ...operations)).toMatchObject({ state: 'inactive' })
  await rest(gate.app)
  const stateIs = (state: string) => ({
    event_type: 'identity.state_changed',
    data: { payload: { state } },
  })
  expect(told(target)).toMatchObject([stateIs('active'), stateIs('inactive')])
  expect(detailsOf(person).slice(1)).toEqual([
    ['identity.updated', { fields: ['metadata_public'] }],
    ['identity.state_changed', { state: 'inactive' }],
  ])
})

test.each<[string, (acme: Tenant, person: Json) => Promise<unknown>]>([
  ['the state route', ({ setState }, person) => setState(person, 'inactive')],
  ['a patch', (acme, person) => patched(acme, person, replace('/state', 'inactive'))],
])(
  'Deactivating by %s ends sessions and tokens for good, and nothing of others',
  async (_, end) => {
    const acme = await gate.newTenant()
    const sandbox = gate.withKey((await acme.newKey('gate', 'test')).key)
    const tokenOf = async ({ key, api }: Pick<Tenant, 'key' | 'api'>, subject = 'svc-1') => {
      const { access_token } = await mintToken(gate.app, key, { subject })
      return async () => (await api.post(`${TOKENS}/introspect`, { access_token })).body.active
    }
    /** Whether the session, and a token of each environment, are active. */
    async function accessOf(person: Json) {
      const { token } = await acme.openSession(person)
      const [live, test] = [await tokenOf(acme, person.id), await tokenOf(sandbox, person.id)]
      return async () => [(await acme.whoami(token)).status === 200, await live(), await test()]
    }
    const person = await acme.createIdentity()
    const access = await accessOf(person)
    const accessOfOther = await accessOf(await acme.createIdentity())
    const isServiceActive = await tokenOf(acme)
    await acme.setState(person, 'active')
    await patched(acme, person, replaceEmail('new@example.com'))
    expect(await access()).toEqual([true, true, true])
    for (const change of [end, () => acme.setState(person, 'active')]) {
      await change(acme, person)
      expect(await access()).toEqual([false, false, false])
    }
    expect(await accessOfOther()).toEqual([true, true, true])
    expect(await isServiceActive()).toBe(true)
  },
)

test('An inactive identity gets no access tokens, but can be read and changed', async () => {
  const acme = await gate.newTenant()
  const person = await acme.createIdentity({ state: 'inactive', metadata_public: { a: 1 } })
  const mint = () => acme.api.post(TOKENS, { api_key: acme.key, subject: person.id })
  expect(await mint()).toMatchObject(coded(403, 'forbidden'))
  const value = 'asleep@example.com'
  await merge(acme, person, { b: 2 })
  await patched(acme, person, replaceEmail(value))
  const fields = { state: 'inactive', metadata_public: { a: 1, b: 2 }, traits: { email: value } }
  expect(await acme.readIdentity(person)).toMatchObject(fields)
  await acme.setState(person, 'active')
  const { token } = await acme.openSession(person)
  expect(await mint()).toMatchObject({ status: 200 })
  expect(await acme.whoami(token)).toMatchObject({ status: 200 })
})
