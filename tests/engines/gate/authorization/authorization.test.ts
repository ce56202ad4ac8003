import { expect, test } from 'bun:test'
import { ENGINES } from '../../../../src/platform/engines.ts'
import { jobsOf } from '../../clockwork/support.ts'
import { DELIVERIES, relayOf } from '../../relay/fixture.ts'
import {
  ACTOR,
  AUTHORIZE,
  coded,
  count,
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
  const things = [`tenant:${id}`]
  for (const engine of ENGINES) things.push(`${engine}:key:${(await newKey(engine)).id}`)
  const url = 'http://127.0.0.1:9/'
  const jobs = jobsOf(gate.app.client((await newKey('clockwork')).key), url)
  things.push(`clockwork:job:${(await jobs.createJob({})).id}`)
  things.push(`clockwork:delayed:${(await jobs.createDelayed({})).id}`)
  for (const environment of ['live', 'test'] as const) {
    const { key } = await newKey('relay', environment)
    const relay = relayOf(gate.app, gate.app.client(key), url)
    things.push(`relay:endpoint:${(await relay.createEndpoint()).id}`)
    things.push(`relay:message:${(await relay.send()).id}`)
    const { data } = (await gate.app.client(key).get(DELIVERIES)).body
    things.push(...data.map((delivery: Json) => `relay:delivery:${delivery.id}`))
  }
  return things
}

test('The starter set permits reading in the tenant, everything to admins, nothing outside', async () => {
  const [acme, other] = [await gate.newTenant(), await gate.newTenant()]
  const [{ id: ada }, { id: admin }] = [
    await acme.createIdentity(),
    await acme.createIdentity(ADMIN),
  ]
  const rights = async (subject: string, resource: string) => [
    (await ask(acme, subject, 'things.read', resource)).allowed,
    (await ask(acme, subject, 'things.update', resource)).allowed,
  ]
  for (const resource of await thingsOf(acme)) {
    expect([resource, ...(await rights(ada, resource))]).toEqual([resource, true, false])
    expect([resource, ...(await rights(admin, resource))]).toEqual([resource, true, true])
  }
  for (const resource of [
    ...(await thingsOf(other)),
    `identity:${(await other.createIdentity()).id}`,
    ...['identity', 'clockwork:job', 'relay:endpoint'].map((type) => `${type}:${UNKNOWN_ID}`),
    ...ENGINES.map((engine) => `${engine}:key:${UNKNOWN_ID}`),
  ]) {
    for (const subject of [ada, admin, 'svc-1'])
      expect([resource, ...(await rights(subject, resource))]).toEqual([resource, false, false])
    const { reason } = await ask(acme, admin, 'x.read', resource)
    expect(reason).toBe('the tenant has no such resource')
  }
  for (const [subject, action, resource, reason] of [
    [ada, 'identity.delete', `identity:${ada}`, 'permitted by policy "own-identity"'],
    [ada, 'identity.update', `identity:${admin}`, 'no policy permits this'],
    [admin, 'x.list', DOCUMENT, 'permitted by policies "own-tenant-reads", "tenant-admins"'],
    ['svc-1', 'x.read', DOCUMENT, 'no policy permits this'],
  ] as const)
    expect((await ask(acme, subject, action, resource)).reason).toBe(reason)
})

test.each<[Json, boolean]>([
  [{ metadata_public: { roles: [5, null, 'x', 'admin'] } }, true],
  [{ metadata_public: { roles: ['editor', 'Admin', 'admins', ' admin'] } }, false],
  [{ traits: { custom_data: { roles: ['admin'] } } }, false],
  [{ metadata_public: { roles: 'admin' } }, false],
  [{ metadata_public: { roles: { admin: true } } }, false],
  [{ metadata_public: { role: 'admin', r: ['admin'] } }, false],
])('Only roles in metadata_public count: %j is an admin: %p', async (fields, isAdmin) => {
  const [acme, other] = [await gate.newTenant(), gate.acme]
  const { id } = await acme.createIdentity(fields)
  const context = {
    ...{ roles: ['admin'], role: 'admin', tenant: other.id, tenant_id: other.id },
    ...{ principal: { roles: ['admin'] }, metadata_public: { roles: ['admin'] } },
  }
  expect((await ask(acme, id, 'x.update', DOCUMENT, context)).allowed).toBe(isAdmin)
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
  ] as const) {
    await acme.api.patch(personPath(person, '/metadata'), { roles })
    expect(await isAllowed()).toBe(expected)
  }
  for (const state of ['inactive', 'active']) {
    await acme.setState(person, state)
    expect(await isAllowed()).toBe(state === 'active')
  }
})

test('Inactive, deleted, foreign and unknown subjects may do nothing', async () => {
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
  const known = `identity:${deleted.id}`
  expect((await ask(acme, admin.id, 'x.read', known)).reason).toContain('no such resource')
})

test('A key is a resource of its engine, also when it is revoked', async () => {
  const acme = await gate.newTenant()
  const { id: admin } = await acme.createIdentity(ADMIN)
  const { id } = await acme.newKey('relay', 'live')
  await gate.app.platform.keys.revoke(ACTOR, id)
  for (const engine of ENGINES) {
    const { allowed } = await ask(acme, admin, 'x.read', `${engine}:key:${id}`)
    expect([engine, allowed]).toEqual([engine, engine === 'relay'])
  }
})

test('Tenants choose types of resources that no engine has, in both environments', async () => {
  const acme = await gate.newTenant()
  const { id: admin } = await acme.createIdentity(ADMIN)
  const sandbox = gate.withKey((await acme.newKey('gate', 'test')).key)
  const ids = new Set<string>()
  for (const resource of [
    ...['shop:order:7', 'a-b-c:d_e:f', 'gates:key:1', 'document:ü 😀/y?z=1', 'document:tenant'],
    'tenants:1',
  ]) {
    const { allowed, decision_id } = await ask(sandbox, admin, 'x.update', resource)
    expect([resource, allowed]).toEqual([resource, true])
    ids.add(decision_id)
  }
  expect(ids.size).toBe(6)
  for (const resource of ['gate:nothing:1', 'clockwork:nothing:1', 'passepartout:x:y:1'])
    expect((await ask(acme, admin, 'x.update', resource)).allowed).toBe(false)
})

test('A malformed question is refused and not stored', async () => {
  const good = { subject: 'svc-1', action: 'x.read', resource: DOCUMENT }
  const before = count(gate.app, 'gate_decisions')
  for (const [field, value] of <[string, unknown][]>[
    ['subject', 'svc\n1'],
    ['action', 'x.*'],
    ['resource', 'document'],
    ['context.a["b c"][1].d', { a: { 'b c': [1, { d: null }] } }],
    ['context.__proto__', JSON.parse('{"__proto__":{}}')],
    ['context', { a: 'x'.repeat(8192) }],
  ]) {
    const question = { ...good, [field.split('.')[0] as string]: value }
    const refused = coded(400, 'invalid_payload', `${field}: `)
    expect(await gate.api.post(AUTHORIZE, question)).toMatchObject(refused)
  }
  expect(count(gate.app, 'gate_decisions')).toBe(before)
  for (const fields of [
    { tenant_id: 'x', roles: 5 },
    { subject: 'x'.repeat(256), action: `${'x'.repeat(251)}.read` },
    { context: { a: 'x'.repeat(8192 - '{"a":""}'.length) } },
  ])
    expect(await gate.api.post(AUTHORIZE, { ...good, ...fields })).toMatchObject({ status: 200 })
})

test('A suspended tenant still gets answers', async () => {
  const acme = await gate.newTenant()
  const { id } = await acme.createIdentity()
  await gate.app.platform.tenants.suspend(ACTOR, acme.id, 'billing')
  expect((await ask(acme, id, 'x.read', DOCUMENT)).allowed).toBe(true)
})
