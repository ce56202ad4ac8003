import { describe, expect, test } from 'bun:test'
import { ENGINES } from '../../../../src/platform/engines.ts'
import { startTarget } from '../../../support/target.ts'
import { jobsOf } from '../../clockwork/support.ts'
import { DELIVERIES, relayOf } from '../../relay/fixture.ts'
import {
  ACTOR,
  AUTHORIZE,
  coded,
  count,
  IDENTITIES,
  type Json,
  personPath,
  type Tenant,
  UNKNOWN_ID,
  useGate,
} from '../fixture.ts'

// What policies evaluate is in policy/.
const gate = await useGate()

const ADMIN = { metadata_public: { roles: ['admin'] } }
const DOCUMENT = 'document:42'

/** The answer to a question, which is always a 200. */
async function ask(
  { api }: Pick<Tenant, 'api'>,
  subject: string,
  action: string,
  resource: string,
  context?: Json,
) {
  const { status, body } = await api.post(AUTHORIZE, { subject, action, resource, context })
  expect([subject, action, resource, status]).toEqual([subject, action, resource, 200])
  expect(Object.keys(body)).toEqual(['allowed', 'decision_id', 'reason'])
  return body as { allowed: boolean; decision_id: string; reason: string }
}

/** Resources of every kind that the engines have. */
async function thingsOf({ id, newKey }: Tenant): Promise<string[]> {
  await using target = startTarget()
  const things = [`tenant:${id}`]
  for (const engine of ENGINES) things.push(`${engine}:key:${(await newKey(engine)).id}`)
  const jobs = jobsOf(gate.app.client((await newKey('clockwork')).key), target.url)
  things.push(`clockwork:job:${(await jobs.createJob({})).id}`)
  things.push(`clockwork:delayed:${(await jobs.createDelayed({})).id}`)
  for (const environment of ['live', 'test'] as const) {
    const { key } = await newKey('relay', environment)
    const relay = relayOf(gate.app, gate.app.client(key), target.url)
    things.push(`relay:endpoint:${(await relay.createEndpoint()).id}`)
    things.push(`relay:message:${(await relay.deliver()).id}`)
    const { data } = (await gate.app.client(key).get(DELIVERIES)).body
    things.push(...data.map((delivery: Json) => `relay:delivery:${delivery.id}`))
  }
  return things
}

describe('The starter set', () => {
  test('permits reading in the tenant, everything to admins, and nothing outside', async () => {
    const [acme, other] = [await gate.newTenant(), await gate.newTenant()]
    const { id: ada } = await acme.createIdentity()
    const { id: admin } = await acme.createIdentity(ADMIN)
    const foreign = `identity:${(await other.createIdentity()).id}`
    const rights = async (subject: string, resource: string) => [
      (await ask(acme, subject, 'things.read', resource)).allowed,
      (await ask(acme, subject, 'things.update', resource)).allowed,
    ]

    for (const resource of await thingsOf(acme)) {
      expect([resource, ...(await rights(ada, resource))]).toEqual([resource, true, false])
      expect([resource, ...(await rights(admin, resource))]).toEqual([resource, true, true])
    }
    const unknown = ENGINES.map((engine) => `${engine}:key:${UNKNOWN_ID}`)
    unknown.push(
      `identity:${UNKNOWN_ID}`,
      `clockwork:job:${UNKNOWN_ID}`,
      `relay:endpoint:${UNKNOWN_ID}`,
    )
    for (const resource of [...(await thingsOf(other)), foreign, ...unknown]) {
      for (const subject of [ada, admin, 'svc-1'])
        expect([resource, ...(await rights(subject, resource))]).toEqual([resource, false, false])
      const { reason } = await ask(acme, admin, 'x.read', resource)
      expect(reason).toBe('the tenant has no such resource')
    }
  })

  test('permits everything with the own identity, and names its policies', async () => {
    const acme = await gate.newTenant()
    const [{ id: ada }, { id: bob }] = [await acme.createIdentity(), await acme.createIdentity()]
    const { id: admin } = await acme.createIdentity(ADMIN)
    const tenant = `tenant:${acme.id}`
    for (const [subject, action, resource, reason] of [
      [ada, 'identity.delete', `identity:${ada}`, 'permitted by policy "own-identity"'],
      [ada, 'identity.read', `identity:${bob}`, 'permitted by policy "own-tenant-reads"'],
      [ada, 'identity.update', `identity:${bob}`, 'no policy permits this'],
      [ada, 'x.read', tenant, 'permitted by policy "own-tenant-reads"'],
      [ada, 'x.update', tenant, 'no policy permits this'],
      [admin, 'x.update', tenant, 'permitted by policy "tenant-admins"'],
      [admin, 'x.list', tenant, 'permitted by policies "own-tenant-reads", "tenant-admins"'],
      ['svc-1', 'x.read', DOCUMENT, 'no policy permits this'],
    ] as const)
      expect((await ask(acme, subject, action, resource)).reason).toBe(reason)
  })
})

test.each<[Json, boolean]>([
  [{ metadata_public: { roles: [5, null, 'x', 'admin'] } }, true],
  [{ metadata_public: { roles: ['editor', 'Admin', 'admins', ' admin'] } }, false],
  [{ traits: { custom_data: { roles: ['admin'] } } }, false],
  [{ metadata_public: { roles: 'admin' } }, false],
  [{ metadata_public: { roles: { admin: true } } }, false],
  [{ metadata_public: { role: 'admin', r: ['admin'] } }, false],
])('Roles are those of metadata_public: %j is an admin: %p', async (fields, isAdmin) => {
  const acme = await gate.newTenant()
  const { id } = await acme.createIdentity(fields)
  expect((await ask(acme, id, 'x.update', DOCUMENT)).allowed).toBe(isAdmin)
})

test('The context gives neither a role nor a tenant', async () => {
  const [acme, other] = [await gate.newTenant(), await gate.newTenant()]
  const { id } = await acme.createIdentity()
  const context = {
    ...{ roles: ['admin'], role: 'admin', tenant: other.id, tenant_id: other.id },
    ...{ principal: { roles: ['admin'] }, metadata_public: { roles: ['admin'] } },
  }
  expect((await ask(acme, id, 'x.update', DOCUMENT, context)).allowed).toBe(false)
  expect((await ask(acme, id, 'x.read', `tenant:${other.id}`, context)).allowed).toBe(false)
})

test('Roles and states apply from the moment of the change', async () => {
  const acme = await gate.newTenant()
  const person = await acme.createIdentity()
  const isAllowed = async () => (await ask(acme, person.id, 'x.update', DOCUMENT)).allowed
  for (const [roles, expected] of [
    [['admin'], true],
    [['editor'], false],
    [null, false],
    [['editor', 'admin'], true],
  ]) {
    await acme.api.patch(personPath(person, '/metadata'), { roles })
    expect(await isAllowed()).toBe(expected as boolean)
  }
  await acme.setState(person, 'inactive')
  expect(await isAllowed()).toBe(false)
  await acme.setState(person, 'active')
  expect(await isAllowed()).toBe(true)
})

test('Inactive, deleted, foreign and unknown subjects may do nothing, not even with themselves', async () => {
  const [acme, other] = [await gate.newTenant(), await gate.newTenant()]
  const inactive = await acme.createIdentity({ ...ADMIN, state: 'inactive' })
  const deleted = await acme.createIdentity(ADMIN)
  await acme.api.delete(personPath(deleted))
  const foreign = await other.createIdentity(ADMIN)
  const admin = await acme.createIdentity(ADMIN)
  for (const [subject, reason] of [
    [inactive.id, 'the subject is inactive'],
    [deleted.id, 'the subject is unknown'],
    [foreign.id, 'the subject is unknown'],
    [UNKNOWN_ID, 'no policy permits this'],
    [admin.id.toUpperCase(), 'no policy permits this'],
    [admin.traits.email, 'no policy permits this'],
  ]) {
    for (const resource of [`tenant:${acme.id}`, DOCUMENT, `identity:${admin.id}`])
      expect(await ask(acme, subject, 'x.read', resource)).toMatchObject({ allowed: false, reason })
    expect((await ask(acme, subject, 'x.read', `identity:${subject}`)).allowed).toBe(false)
  }
})

describe('A resource', () => {
  test('that is a key has the name of its engine, also when it is revoked', async () => {
    const acme = await gate.newTenant()
    const { id: admin } = await acme.createIdentity(ADMIN)
    const { id } = await acme.newKey('relay', 'live')
    await gate.app.platform.keys.revoke(ACTOR, id)
    for (const engine of ENGINES) {
      const { allowed } = await ask(acme, admin, 'x.read', `${engine}:key:${id}`)
      expect([engine, allowed]).toEqual([engine, engine === 'relay'])
    }
  })

  test('that was deleted is gone', async () => {
    const acme = await gate.newTenant()
    const { id: admin } = await acme.createIdentity(ADMIN)
    const person = await acme.createIdentity()
    const isAllowed = async () =>
      (await ask(acme, admin, 'x.read', `identity:${person.id}`)).allowed
    expect(await isAllowed()).toBe(true)
    await acme.api.delete(`${IDENTITIES}/${person.id}`)
    expect(await isAllowed()).toBe(false)
  })

  test.each([
    ['gate:nothing:1', false],
    ['clockwork:nothing:1', false],
    ['passepartout:x:y:1', false],
    ['shop:order:7', true],
    ['a-b-c:d_e:f', true],
    ['gates:key:1', true],
    ['document:ü 😀/y?z=1', true],
    ['document:tenant', true],
    ['tenants:1', true],
  ])('%s is of a kind that tenants can choose: %p', async (resource, isOwn) => {
    const acme = await gate.newTenant()
    const { id: admin } = await acme.createIdentity(ADMIN)
    expect((await ask(acme, admin, 'x.update', resource)).allowed).toBe(isOwn)
  })

  test('can be asked about in both environments, and each answer has an id', async () => {
    const acme = await gate.newTenant()
    const { id } = await acme.createIdentity()
    const sandbox = gate.withKey((await acme.newKey('gate', 'test')).key)
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => ask(sandbox, id, 'x.read', `tenant:${acme.id}`)),
    )
    expect(answers.every(({ allowed }) => allowed)).toBe(true)
    expect(new Set(answers.map(({ decision_id: id }) => id)).size).toBe(20)
  })
})

describe('A malformed question', () => {
  const good = { subject: 'svc-1', action: 'x.read', resource: DOCUMENT }

  test.each<[string, unknown]>([
    ['subject', undefined],
    ['subject', 5],
    ['subject', ''],
    ['subject', 'x'.repeat(257)],
    ['subject', 'svc\n1'],
    ['action', ['x.read']],
    ['action', 'x.*'],
    ['resource', 'document'],
    ['resource', 'Document:42'],
    ['resource', `document:${'x'.repeat(248)}`],
    ['context', null],
    ['context', [{ a: 1 }]],
    ['context.a.b[0]', { a: { b: [0.1] } }],
    ['context.a["b c"][1].d', { a: { 'b c': [1, { d: null }] } }],
    ['context.__entity', { __entity: { type: 'Role', id: 'admin' } }],
    ['context.__proto__', JSON.parse('{"__proto__":{}}')],
    ['context', { a: 'x'.repeat(8192) }],
  ])('with a bad %s is refused and not stored: %j', async (field, value) => {
    const before = count(gate.app, 'gate_decisions')
    const member = field.split('.')[0] as string
    const body = JSON.stringify({ ...good, [member]: value })
    const headers = { authorization: `Bearer ${gate.key}`, 'content-type': 'application/json' }
    const answer = await gate.app.raw(AUTHORIZE, { method: 'POST', headers, body })
    expect(answer).toMatchObject(coded(400, 'invalid_payload', `${field}: `))
    expect(count(gate.app, 'gate_decisions')).toBe(before)
  })

  test('is not one with unknown members, or one at the limits', async () => {
    for (const fields of [
      { tenant_id: 'x', roles: 5 },
      { subject: 'x'.repeat(256), action: `${'x'.repeat(251)}.read` },
      { context: { a: 'x'.repeat(8192 - '{"a":""}'.length) } },
    ])
      expect(await gate.api.post(AUTHORIZE, { ...good, ...fields })).toMatchObject({ status: 200 })
  })
})

test('A suspended tenant still gets answers', async () => {
  const acme = await gate.newTenant()
  const { id } = await acme.createIdentity()
  await gate.app.platform.tenants.suspend(ACTOR, acme.id, 'billing')
  expect((await ask(acme, id, 'x.read', DOCUMENT)).allowed).toBe(true)
})
