import { describe, expect, test } from 'bun:test'
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
} from '../fixture.ts'

// What the operations of a patch do is in documents/.
const gate = await useGate()

async function patched({ patch }: Pick<Tenant, 'patch'>, person: Json, ...operations: Json[]) {
  const answer = await patch(person, operations)
  expect(answer).toMatchObject({ status: 200 })
  return answer.body as Json
}

const replaceEmail = (value: Json) => ({ op: 'replace', path: '/traits/email', value })
const merge = ({ api }: Pick<Tenant, 'api'>, person: Json, changes: Json) =>
  api.patch(personPath(person, '/metadata'), changes)

/** Sends a body without encoding it. */
const send = (
  { key }: Pick<Tenant, 'key'>,
  path: string,
  body: string,
  type = 'application/json',
) =>
  gate.app.raw(path, {
    method: 'PATCH',
    headers: { authorization: `Bearer ${key}`, 'content-type': type },
    body,
  })

describe('A patch', () => {
  test.each([
    'application/json-patch+json',
    'application/json',
    'application/json-patch+json; charset=utf-8',
  ])('can be sent as %s', async (type) => {
    const person = await gate.createIdentity()
    const text = '[{"op":"add","path":"/metadata_public/x","value":1}]'
    const answer = await send(gate, personPath(person), text, type)
    expect(answer).toMatchObject({ status: 200, body: { metadata_public: { x: 1 } } })
    expect(await gate.readIdentity(person)).toEqual(answer.body)
  })

  test.each(['{"op":"remove","path":"/state"}', 'null', '', '"[]"'])('is not %j', async (text) => {
    const person = await gate.createIdentity()
    expect(await send(gate, personPath(person), text)).toMatchObject(plain(400, 'body'))
  })

  test.each<[string, Json]>([
    ['operation 2', { op: 'remove', path: '/metadata_public/x' }],
    ['operation 2', { op: 'test', path: '/state', value: 'active' }],
    ['operation 2', { op: 'copy', from: '/credentials', path: '/metadata_public/c' }],
    ['operation 2', { op: 'add', path: '/traits/tenant_id', value: 'x' }],
    ['traits.email', { op: 'remove', path: '/traits/email' }],
    ['traits.email', replaceEmail('x')],
    ['traits.email', replaceEmail(5)],
    ['traits.name', { op: 'add', path: '/traits/name', value: 'x' }],
    ['traits', { op: 'remove', path: '/traits' }],
    ['traits', { op: 'replace', path: '/traits', value: [] }],
    ['traits.custom_data', { op: 'add', path: '/traits/custom_data', value: null }],
    ['traits.custom_data', { op: 'add', path: '/traits/custom_data', value: ofBytes(65_537) }],
    ['metadata_public', { op: 'replace', path: '/metadata_public', value: [1] }],
    ['metadata_public', { op: 'add', path: '/metadata_public', value: ofBytes(65_537) }],
    ['state', { op: 'remove', path: '/state' }],
    ['state', { op: 'replace', path: '/state', value: 'deleted' }],
  ])('that fails because of %s changes nothing: %j', async (blamed, operation) => {
    const acme = await gate.newTenant()
    const person = await acme.createIdentity()
    const before = [
      { op: 'add', path: '/metadata_public/half', value: true },
      { op: 'replace', path: '/state', value: 'inactive' },
    ]
    expect(await acme.patch(person, [...before, operation])).toMatchObject(plain(400, blamed))
    expect(await acme.readIdentity(person)).toEqual(person)
  })

  test.each(['9007199254740993', '{"a":[1e400]}', '{"a":{"__proto__":{}}}'])(
    'with the value %s is refused',
    async (value) => {
      const person = await gate.createIdentity()
      const text = `[{"op":"add","path":"/metadata_public/x","value":${value}}]`
      const answer = await send(gate, personPath(person), text)
      expect(answer).toMatchObject(plain(400, 'operation 0 (add /metadata_public/x): value'))
      expect(await gate.readIdentity(person)).toEqual(person)
    },
  )

  test('can add and remove custom data and metadata, and replace all traits', async () => {
    const acme = await gate.newTenant()
    const person = await acme.createIdentity({ metadata_public: { a: 1 } })
    const add = { op: 'add', path: '/traits/custom_data', value: { a: 1 } }
    const added = await patched(acme, person, add, { op: 'remove', path: '/metadata_public' })
    expect(added).toMatchObject({ traits: { custom_data: { a: 1 } }, metadata_public: {} })

    const value = { email: 'Whole@Example.com', tenant_id: 'another' }
    const { traits } = await patched(acme, person, { op: 'replace', path: '/traits', value })
    expect(traits).toEqual({ email: 'whole@example.com', tenant_id: acme.id })
  })

  test('updates the time and the audit log, which has only the names of fields', async () => {
    const acme = await gate.newTenant()
    const person = await acme.createIdentity()
    gate.clock.jump(MINUTE)
    const changed = await patched(
      acme,
      person,
      replaceEmail('second@example.com'),
      { op: 'add', path: '/traits/custom_data', value: { nick: 'sec' } },
      { op: 'add', path: '/metadata_public/secret', value: 'sauce' },
    )
    const { created_at, state_changed_at } = person
    expect(changed).toMatchObject({ created_at, state_changed_at, updated_at: gate.now() })
    expect(auditOf(gate.app, `identity:${person.id}`)).toMatchObject([
      { action: 'identity.created', detail: {} },
      { action: 'identity.updated', detail: { fields: ['traits', 'metadata_public'] } },
    ])
  })

  test('that changes nothing is not recorded', async () => {
    await using target = await startTarget()
    const acme = await gate.newTenant()
    const person = await acme.createIdentity({
      traits: { custom_data: { b: 1, a: 2 } },
      metadata_public: { a: 1 },
    })
    await acme.createWebhook(target.url)
    gate.clock.jump(MINUTE)
    const same = [
      { op: 'test', path: '/state', value: 'active' },
      { op: 'replace', path: '/metadata_public/a', value: 1 },
    ]
    for (const operations of [[], same])
      expect(await patched(acme, person, ...operations)).toEqual(person)
    expect((await merge(acme, person, { a: 1, b: null })).body).toEqual({ a: 1 })
    await rest(gate.app)

    expect(await acme.readIdentity(person)).toEqual(person)
    expect(auditOf(gate.app, `identity:${person.id}`)).toHaveLength(1)
    expect(told(target)).toEqual([])
  })

  test('sees the changes of all patches before it', async () => {
    const acme = await gate.newTenant()
    const person = await acme.createIdentity({ metadata_public: { list: [] } })
    const numbers = Array.from({ length: 20 }, (_, n) => n)
    const add = (value: number) => [{ op: 'add', path: '/metadata_public/list/-', value }]
    await Promise.all(numbers.map((n) => acme.patch(person, add(n))))
    await Promise.all(numbers.map((n) => merge(acme, person, { [`k${n}`]: n })))

    const { metadata_public } = await acme.readIdentity(person)
    expect(metadata_public.list.toSorted((a: number, b: number) => a - b)).toEqual(numbers)
    expect(Object.keys(metadata_public)).toHaveLength(21)
  })

  test('can edit documents that are full', async () => {
    const acme = await gate.newTenant()
    const person = await acme.createIdentity({
      traits: { custom_data: ofBytes(65_536) },
      metadata_public: ofBytes(65_536),
    })
    const value = `${ofBytes(65_536).a.slice(1)}y`
    const changed = await patched(
      acme,
      person,
      { op: 'replace', path: '/traits/custom_data/a', value },
      { op: 'remove', path: '/metadata_public/a' },
      { op: 'copy', from: '/state', path: '/metadata_public/b' },
    )
    expect(changed.traits.custom_data).toEqual({ a: value })
    expect(changed.metadata_public).toEqual({ b: 'active' })
  })
})

describe('A new address', () => {
  test('is normalized and not verified, and replaces the old one', async () => {
    const acme = await gate.newTenant()
    const email = 'old@example.com'
    const person = await acme.createIdentity({
      traits: { email },
      verifiable_addresses: [{ value: email, verified: true }],
      credentials: { password: { config: { password: 'x' } } },
    })
    const [old] = person.verifiable_addresses
    gate.clock.jump(MINUTE)
    const changed = await patched(acme, person, replaceEmail(' New@EXAMPLE.com '))

    const [address] = changed.verifiable_addresses
    const value = 'new@example.com'
    expect(address.id).not.toBe(old.id)
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
    ['a', replaceEmail('A@example.com')],
    ['H\u0331A\u030a\u0130\u0317', { op: 'add', path: '/metadata_public/x', value: 1 }],
    ['patch@xn--nxasmm1c.com', { op: 'add', path: '/metadata_public/x', value: 1 }],
  ])('that is another spelling of %s stays verified', async (address, operation) => {
    const acme = await gate.newTenant()
    const value = address.includes('@') ? address : `${address}@example.com`
    const person = await acme.createIdentity({
      traits: { email: value },
      verifiable_addresses: [{ value, verified: true }],
    })
    const changed = await patched(acme, person, operation)
    const { traits, verifiable_addresses, updated_at } = person
    expect(changed).toMatchObject({ traits, verifiable_addresses, updated_at })
  })

  test('belongs to one identity of the tenant, also when two request it at once', async () => {
    const [acme, other] = [await gate.newTenant(), await gate.newTenant()]
    const { traits } = await acme.createIdentity()
    const [person, second] = [await acme.createIdentity(), await acme.createIdentity()]
    const operations = [
      { op: 'add', path: '/metadata_public/half', value: true },
      replaceEmail(traits.email.toUpperCase()),
    ]
    expect(await acme.patch(person, operations)).toMatchObject(plain(409, 'traits.email'))
    expect(await acme.readIdentity(person)).toEqual(person)

    const elsewhere = await other.createIdentity()
    await patched(acme, person, replaceEmail(elsewhere.traits.email))
    const wanted = [replaceEmail('wanted@example.com')]
    const answers = await Promise.all([person, second].map((one) => acme.patch(one, wanted)))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409])
  })
})

describe('A patch of the state', () => {
  const setState = (value: string) => ({ op: 'replace', path: '/state', value })

  test('ends sessions and is reported once', async () => {
    await using target = await startTarget()
    const acme = await gate.newTenant()
    const person = await acme.createIdentity()
    const { token } = await acme.openSession(person)
    await acme.createWebhook(target.url)
    const operations = [
      setState('inactive'),
      setState('active'),
      setState('inactive'),
      { op: 'add', path: '/metadata_public/why', value: 'left' },
    ]
    expect(await patched(acme, person, ...operations)).toMatchObject({ state: 'inactive' })
    await rest(gate.app)

    const data = { identity_id: person.id, payload: { state: 'inactive' } }
    expect(told(target)).toMatchObject([{ event_type: 'identity.state_changed', data }])
    expect(await acme.whoami(token)).toMatchObject({ status: 401 })
    expect(auditOf(gate.app, `identity:${person.id}`).slice(1)).toMatchObject([
      { action: 'identity.updated', detail: { fields: ['metadata_public'] } },
      { action: 'identity.state_changed', actor_kind: 'key', detail: { state: 'inactive' } },
    ])
  })

  test('to inactive and back ends no session, but is reported', async () => {
    await using target = await startTarget()
    const acme = await gate.newTenant()
    const person = await acme.createIdentity()
    const { token } = await acme.openSession(person)
    await acme.createWebhook(target.url)
    const operations = [setState('inactive'), setState('active')]
    expect(await patched(acme, person, ...operations)).toEqual(person)
    await rest(gate.app)

    expect(told(target)).toMatchObject([{ data: { payload: { state: 'active' } } }])
    expect(await acme.whoami(token)).toMatchObject({ status: 200 })
  })
})

describe('Metadata', () => {
  const read = async (person: Json) => (await gate.api.get(personPath(person, '/metadata'))).body

  test('is read and merged as a bare object', async () => {
    const person = await gate.createIdentity()
    expect(await read(person)).toEqual({})
    const changes = { a: { b: [1, null] }, toString: { x: 1 }, gone: null }
    const answer = await merge(gate, person, changes)
    expect(answer).toMatchObject({ status: 200, body: { a: { b: [1, null] } } })
    expect(await merge(gate, person, { a: { c: 2 }, toString: null })).toMatchObject({
      status: 200,
    })
    expect(await read(person)).toEqual({ a: { b: [1, null], c: 2 } })
    const { metadata_public, updated_at, ...others } = await gate.readIdentity(person)
    expect(metadata_public).toEqual({ a: { b: [1, null], c: 2 } })
    expect(person).toMatchObject(others)
    const type = 'application/merge-patch+json'
    const typed = await send(gate, personPath(person, '/metadata'), '{"a":1}', type)
    expect(typed).toMatchObject({ status: 200, body: { a: 1 } })
  })

  test.each([
    ['["c"]', 'body'],
    ['"bar"', 'body'],
    ['null', 'body'],
    ['', 'body'],
    ['{"n":9007199254740993}', 'metadata_public.n'],
    ['{"a":{"n":-1e400}}', 'metadata_public.a.n'],
    ['{"__proto__":{"x":1}}', 'metadata_public.__proto__'],
    ['{"a":[{"__proto__":null}]}', 'metadata_public.a.0.__proto__'],
  ])('is not merged with %s', async (text, field) => {
    const metadata_public = { a: { b: 1 } }
    const person = await gate.createIdentity({ metadata_public })
    const answer = await send(gate, personPath(person, '/metadata'), text)
    expect(answer).toMatchObject(plain(400, `${field}: `))
    expect(await read(person)).toEqual(metadata_public)
  })

  test('does not become larger than 64 KiB, or deeper than 64 levels', async () => {
    const metadata_public = ofBytes(65_536 - ',"b":1'.length)
    const full = await gate.createIdentity({ metadata_public })
    expect(await merge(gate, full, { b: 10 })).toMatchObject(plain(400, 'metadata_public'))
    expect((await merge(gate, full, { b: 1 })).body).toEqual({ ...metadata_public, b: 1 })

    expect(await merge(gate, full, { ...nested(64), b: null })).toMatchObject({ status: 200 })
    expect((await gate.readIdentity(full)).metadata_public).toEqual(nested(64))
    expect(await merge(gate, full, nested(65))).toMatchObject(plain(400, 'body'))
    await patched(gate, full, { op: 'add', path: '/metadata_public/b', value: 1 })
  })

  test('updates the time and the audit log, and is not reported to webhooks', async () => {
    await using target = await startTarget()
    const acme = await gate.newTenant()
    const person = await acme.createIdentity()
    await acme.createWebhook(target.url)
    gate.clock.jump(MINUTE)
    await merge(acme, person, { secret: 'sauce' })
    await rest(gate.app)

    expect((await acme.readIdentity(person)).updated_at).toBe(gate.now())
    expect(auditOf(gate.app, `identity:${person.id}`).slice(1)).toEqual([
      {
        action: 'identity.updated',
        actor_kind: 'key',
        actor_id: acme.keyId,
        detail: { fields: ['metadata_public'] },
      },
    ])
    expect(told(target)).toEqual([])
  })
})
