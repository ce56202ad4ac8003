import { expect, test } from 'bun:test'
import { STARTER_SET } from '../../../../src/engines/gate/authorization/policy/starter.ts'
import { ENGINES } from '../../../../src/platform/engines.ts'
import { jobsOf } from '../../clockwork/support.ts'
import { DELIVERIES, relayOf } from '../../relay/fixture.ts'
import {
  ACTOR,
  AUTHORIZE,
  coded,
  count,
  type Json,
  MINUTE,
  personPath,
  plain,
  SETTINGS,
  type Tenant,
  UNKNOWN_ID,
  useGate,
} from '../fixture.ts'
import { besides } from '../webhooks/fixture.ts'

// What policies evaluate is in policy/.
const gate = await useGate()

const ADMIN = { metadata_public: { roles: ['admin'] } }
const DOCUMENT = 'document:42'

type Asker = { api: Pick<Tenant['api'], 'post'> }

/** The answer to a question, which is always a 200. */
async function ask(
  { api }: Asker,
  subject: string,
  action: string,
  resource: string,
  context?: Json,
) {
  const { status, body } = await api.post(AUTHORIZE, { subject, action, resource, context })
  expect([subject, action, resource, status]).toEqual([subject, action, resource, 200])
  expect(Object.keys(body)).toEqual(['allowed', 'decision_id', 'reason'])
  return body as Json
}

/** Resources of every kind that the engines have. */
async function thingsOf({ id, newKey }: Tenant): Promise<string[]> {
  const things = [`tenant:${id}`]
  for (const engine of ENGINES) things.push(`${engine}:key:${(await newKey(engine)).id}`)
  const url = 'http://127.0.0.1:9/'
  const jobs = jobsOf(gate.app.client((await newKey('clockwork')).key), url)
  things.push(`clockwork:job:${(await jobs.createJob({})).id}`)
  things.push(`clockwork:delayed:${(await jobs.createDelayed({})).id}`)
  const api = gate.app.client((await newKey('relay', 'test')).key)
  const relay = relayOf(gate.app, api, url)
  things.push(`relay:endpoint:${(await relay.createEndpoint()).id}`)
  things.push(`relay:message:${(await relay.send()).id}`)
  const { data } = (await api.get(DELIVERIES)).body
  things.push(...data.map((delivery: Json) => `relay:delivery:${delivery.id}`))
  return things
}

test('The starter set permits reading in the tenant, everything to admins, nothing outside', async () => {
  const [acme, other] = [await gate.newTenant(), await gate.newTenant()]
  const { id: ada } = await acme.createIdentity()
  const { id: admin } = await acme.createIdentity(ADMIN)
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
    const { allowed } = await ask(acme, admin, 'things.read', resource)
    expect([resource, allowed]).toEqual([resource, false])
  }
  for (const subject of [ada, admin, 'svc-1'])
    expect(await rights(subject, `tenant:${other.id}`)).toEqual([false, false])
  const foreign = await ask(acme, admin, 'x.read', `tenant:${other.id}`)
  expect(foreign.reason).toBe('the tenant has no such resource')
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
  [{ metadata_public: { roles: { admin: true }, role: 'admin' } }, false],
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

test('Tenants choose types of resources that no engine has, and revoked keys are resources, too', async () => {
  const acme = await gate.newTenant()
  const { id: admin } = await acme.createIdentity(ADMIN)
  const { id } = await acme.newKey('relay', 'live')
  await gate.app.platform.keys.revoke(ACTOR, id)
  for (const [expected, ...resources] of <[boolean, ...string[]][]>[
    [true, 'shop:order:7', 'a-b-c:d_e:f', 'gates:key:1', 'document:ü 😀/y?z=1', 'document:tenant'],
    [true, 'tenants:1', `relay:key:${id}`],
    [false, 'gate:nothing:1', 'clockwork:nothing:1', 'passepartout:x:y:1', `gate:key:${id}`],
  ])
    for (const resource of resources) {
      const { allowed } = await ask(acme, admin, 'x.update', resource)
      expect([resource, allowed]).toEqual([resource, expected])
    }
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

const POLICIES = `${SETTINGS}/policies`
const PERMIT_ALL = '@id("all") permit (principal, action, resource);'

const put = ({ api }: Pick<Tenant, 'api'>, policies: Json) => api.put(POLICIES, { policies })
const read = async ({ api }: Pick<Tenant, 'api'>): Promise<Json> => (await api.get(POLICIES)).body

async function tenantWith(policies: string) {
  const acme = await gate.newTenant()
  expect(await put(acme, policies)).toMatchObject({ status: 200 })
  return acme
}

const askAs = (by: Asker, subject = 'svc-1', action = 'docs.read') =>
  ask(by, subject, action, DOCUMENT)

test('Policies are the starter set until they are replaced, and again on request', async () => {
  const [acme, other] = [await gate.newTenant(), await gate.newTenant()]
  const { id: admin } = await acme.createIdentity(ADMIN)
  const starter = { policies: STARTER_SET, version: 0, is_starter_set: true, updated_at: null }
  expect(await read(acme)).toEqual(starter)
  let version = 0
  for (const [policies, byService, byAdmin] of [
    [PERMIT_ALL, 'all', 'all'],
    [null, '', 'own-tenant-reads'],
    [`// Unicode: ü 😀\n${PERMIT_ALL}\n`, 'all', 'all'],
    [STARTER_SET, '', 'own-tenant-reads'],
    ['// nothing yet', '', ''],
  ] as const) {
    gate.clock.jump(MINUTE)
    const { body } = await put(acme, policies)
    expect(body).toEqual({
      ...{ policies: policies ?? STARTER_SET, version: ++version, updated_at: gate.now() },
      is_starter_set: policies === null || policies === STARTER_SET,
    })
    expect(await read(acme)).toEqual(body)
    for (const [subject, name] of [
      ['svc-1', byService],
      [admin, byAdmin],
    ]) {
      const { reason } = await askAs(acme, subject)
      expect(reason).toContain(name ? `"${name}"` : 'no policy permits this')
    }
  }
  expect(await read(other)).toEqual(starter)
  const rows = gate.app.db.client
    .query(`select * from audit_log where tenant_id = ? and action = 'policies.changed'`)
    .all(acme.id)
  expect(rows).toHaveLength(version)
  expect(JSON.stringify(rows)).not.toContain('permit (')
})

test('New policies apply to the next question in all processes', async () => {
  const acme = await gate.newTenant()
  await using there = await besides(gate, acme.key)
  for (const expected of [true, false]) {
    await put(acme, expected ? PERMIT_ALL : null)
    for (const api of [there, acme.api]) expect((await askAs({ api })).allowed).toBe(expected)
  }
})

test('Of policies replaced five times at once, the last are used', async () => {
  const acme = await gate.newTenant()
  const texts = [0, 1, 2, 3, 4].map((n) => PERMIT_ALL.replace('all', `p${n}`))
  await Promise.all(texts.map((text) => put(acme, text)))
  const { policies, version } = await read(acme)
  expect(version).toBe(5)
  const name = /@id\("(p\d)"\)/.exec(policies)?.[1]
  expect((await askAs(acme)).reason).toBe(`permitted by policy "${name}"`)
})

test('Refused policies change nothing', async () => {
  const acme = await tenantWith(PERMIT_ALL)
  for (const [text, position] of <[string, string][]>[
    [`${PERMIT_ALL}\n\n  permit (prinzipal);`, 'line 3, column 11'],
    [`${PERMIT_ALL}\n${PERMIT_ALL}`, 'line 2, column 1'],
    [`// ${'x'.repeat(32_768)}`, ''],
    [`permit (principal, action, resource) when { ${'!'.repeat(30_000)}true };`, ''],
  ])
    expect(await put(acme, text)).toMatchObject(plain(400, `policies: ${position}`))
  expect(await read(acme)).toMatchObject({ policies: PERMIT_ALL, version: 1 })
  expect((await askAs(acme)).allowed).toBe(true)
})

test('A policy knows address, roles and metadata of identities', async () => {
  const acme = await tenantWith(`
    permit (principal is Identity, action == Action::"a.proven", resource)
      when { principal.email_verified };
    permit (principal is Identity, action == Action::"a.mail", resource)
      when { principal.email like "*@example.com" };
    permit (principal is Identity, action == Action::"a.plan", resource)
      when { principal.metadata has plan && principal.metadata.plan == "pro" };
    permit (principal in Role::"editor", action == Action::"a.role", resource);
  `)
  const value = 'eve@example.com'
  const eve = await acme.createIdentity({
    traits: { email: value, custom_data: { plan: 'free' } },
    verifiable_addresses: [{ value, verified: true }],
    metadata_public: { plan: 'pro', roles: ['editor'], n: 1.5, nothing: null },
  })
  const other = await acme.createIdentity({ traits: { email: 'x@example.org' } })
  for (const action of ['a.proven', 'a.mail', 'a.plan', 'a.role']) {
    const answers = [eve, other].map(({ id }) => askAs(acme, id, action))
    const allowed = (await Promise.all(answers)).map(({ allowed }) => allowed)
    expect([action, ...allowed]).toEqual([action, true, false])
  }
  await acme.patch(eve, [{ op: 'replace', path: '/traits/email', value: 'y@example.com' }])
  expect((await askAs(acme, eve.id, 'a.proven')).allowed).toBe(false)
})

test("No policy permits another tenant's resources, or subjects that are gone", async () => {
  const acme = await tenantWith(PERMIT_ALL)
  const other = await gate.newTenant()
  const stranger = await other.createIdentity()
  const inactive = await acme.createIdentity({ state: 'inactive' })
  for (const resource of [`tenant:${other.id}`, `identity:${stranger.id}`, 'relay:nothing:1'])
    expect((await ask(acme, 'svc-1', 'docs.read', resource)).allowed).toBe(false)
  for (const { id } of [stranger, inactive]) expect((await askAs(acme, id)).allowed).toBe(false)
})
