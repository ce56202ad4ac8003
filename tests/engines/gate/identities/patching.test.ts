import { expect, test } from 'bun:test'
import { startTarget } from '../../../support/target.ts'
import { rest } from '../../relay/fixture.ts'
import {
  auditOf,
  IDENTITIES,
  type Json,
  MINUTE,
  nested,
  ofBytes,
  personPath,
  plain,
  type Tenant,
  told,
  useGate,
  WEBHOOKS,
} from '../fixture.ts'

// What the operations of a patch do is in documents/.
const gate = await useGate()

async function patched({ patch }: Pick<Tenant, 'patch'>, person: Json, ...operations: Json[]) {
  const answer = await patch(person, operations)
  expect(answer).toMatchObject({ status: 200 })
  return answer.body as Json
}

const add = (path: string, value: Json) => ({ op: 'add', path, value })
const replace = (path: string, value: Json) => ({ op: 'replace', path, value })
const remove = (path: string) => ({ op: 'remove', path })
const replaceEmail = (value: Json) => replace('/traits/email', value)
const merge = ({ api }: Pick<Tenant, 'api'>, person: Json, changes: Json) =>
  api.patch(personPath(person, '/metadata'), changes)

/** Sends a body without encoding it. */
const send = (path: string, body: string, type = 'application/json') =>
  gate.app.raw(path, {
    method: 'PATCH',
    headers: { authorization: `Bearer ${gate.key}`, 'content-type': type },
    body,
  })

test.each([
  'application/json-patch+json',
  'application/json',
  'application/json-patch+json; charset=utf-8',
])('A patch can be sent as %s', async (type) => {
  const person = await gate.createIdentity()
  const answer = await send(
    personPath(person),
    JSON.stringify([add('/metadata_public/x', 1)]),
    type,
  )
  expect(answer).toMatchObject({ status: 200, body: { metadata_public: { x: 1 } } })
  expect(await gate.readIdentity(person)).toEqual(answer.body)
})

test('A patch is a list of operations with valid values', async () => {
  const person = await gate.createIdentity()
  for (const text of ['{"op":"remove","path":"/state"}', 'null', '', '"[]"'])
    expect(await send(personPath(person), text)).toMatchObject(plain(400, 'body'))
  for (const value of ['9007199254740993', '{"a":[1e400]}', '{"a":{"__proto__":{}}}']) {
    const text = `[{"op":"add","path":"/metadata_public/x","value":${value}}]`
    const refused = plain(400, 'operation 0 (add /metadata_public/x): value')
    expect(await send(personPath(person), text)).toMatchObject(refused)
  }
  expect(await gate.readIdentity(person)).toEqual(person)
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
  expect(auditOf(gate.app, `identity:${person.id}`)).toMatchObject([
    { action: 'identity.created', detail: {} },
    { action: 'identity.updated', detail: { fields: ['traits', 'metadata_public'] } },
  ])
  const whole = replace('/traits', { email: 'Whole@Example.com', tenant_id: 'another' })
  const after = await patched(acme, person, whole)
  expect(after.traits).toEqual({ email: 'whole@example.com', tenant_id: acme.id })
})

test('A patch or merge that changes nothing is not recorded', async () => {
  await using target = await startTarget()
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
  expect(auditOf(gate.app, `identity:${person.id}`)).toHaveLength(1)
  expect(told(target)).toEqual([])
})

test('Patches and merges at once all see the changes before them', async () => {
  const acme = await gate.newTenant()
  const person = await acme.createIdentity({ metadata_public: { list: [] } })
  const numbers = Array.from({ length: 10 }, (_, n) => n)
  await Promise.all(
    numbers.flatMap((n) => [
      acme.patch(person, [add('/metadata_public/list/-', n)]),
      merge(acme, person, { [`k${n}`]: n }),
    ]),
  )
  const { metadata_public } = await acme.readIdentity(person)
  expect(metadata_public.list.toSorted()).toEqual(numbers)
  expect(Object.keys(metadata_public)).toHaveLength(11)
})

test('Full documents can be edited', async () => {
  const acme = await gate.newTenant()
  const full = ofBytes(65_536)
  const person = await acme.createIdentity({ traits: { custom_data: full }, metadata_public: full })
  const value = `${full.a.slice(1)}y`
  const changed = await patched(
    acme,
    person,
    replace('/traits/custom_data/a', value),
    remove('/metadata_public/a'),
    { op: 'copy', from: '/state', path: '/metadata_public/b' },
  )
  expect(changed.traits.custom_data).toEqual({ a: value })
  expect(changed.metadata_public).toEqual({ b: 'active' })
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
  expect(await found(value)).toEqual([changed])
  expect(await found(email)).toEqual([])
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

test('A patch of the state ends sessions and is reported once', async () => {
  await using target = await startTarget()
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
  const changed = (state: string) => ({
    event_type: 'identity.state_changed',
    data: { identity_id: person.id, payload: { state } },
  })
  expect(told(target)).toMatchObject([changed('active'), changed('inactive')])
  expect(await acme.whoami(token)).toMatchObject({ status: 401 })
  expect(auditOf(gate.app, `identity:${person.id}`).slice(1)).toMatchObject([
    { action: 'identity.updated', detail: { fields: ['metadata_public'] } },
    { action: 'identity.state_changed', actor_kind: 'key', detail: { state: 'inactive' } },
  ])
})

const readMetadata = async (person: Json) =>
  (await gate.api.get(personPath(person, '/metadata'))).body

test('Metadata is read and merged as a bare object', async () => {
  await using target = await startTarget()
  const person = await gate.createIdentity()
  const webhook = await gate.createWebhook(target.url)
  expect(await readMetadata(person)).toEqual({})
  gate.clock.jump(MINUTE)
  const changes = { a: { b: [1, null] }, toString: { x: 1 }, gone: null }
  const answer = await merge(gate, person, changes)
  expect(answer).toMatchObject({ status: 200, body: { a: { b: [1, null] } } })
  await merge(gate, person, { a: { c: 2 }, toString: null })
  const merged = { a: { b: [1, null], c: 2 } }
  expect(await readMetadata(person)).toEqual(merged)
  const now = { metadata_public: merged, updated_at: gate.now() }
  expect(await gate.readIdentity(person)).toEqual({ ...person, ...now })
  const detail = { fields: ['metadata_public'] }
  expect(auditOf(gate.app, `identity:${person.id}`).slice(1)).toMatchObject([
    { detail },
    { detail },
  ])
  const path = personPath(person, '/metadata')
  const typed = await send(path, '{"a":1}', 'application/merge-patch+json')
  expect(typed).toMatchObject({ status: 200, body: { a: 1 } })
  await rest(gate.app)
  expect(told(target)).toEqual([])
  await gate.api.delete(`${WEBHOOKS}/${webhook.id}`)
})

test('Metadata is not merged with anything but a valid object', async () => {
  const metadata_public = { a: { b: 1 } }
  const person = await gate.createIdentity({ metadata_public })
  for (const [text, field] of [
    ['["c"]', 'body'],
    ['"bar"', 'body'],
    ['null', 'body'],
    ['', 'body'],
    ['{"n":9007199254740993}', 'metadata_public.n'],
    ['{"a":{"n":-1e400}}', 'metadata_public.a.n'],
    ['{"__proto__":{"x":1}}', 'metadata_public.__proto__'],
    ['{"a":[{"__proto__":null}]}', 'metadata_public.a.0.__proto__'],
  ] as const)
    expect(await send(personPath(person, '/metadata'), text)).toMatchObject(
      plain(400, `${field}: `),
    )
  expect(await readMetadata(person)).toEqual(metadata_public)
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
