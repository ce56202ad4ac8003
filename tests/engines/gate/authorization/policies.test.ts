import { expect, test } from 'bun:test'
import { STARTER_SET } from '../../../../src/engines/gate/authorization/policy/starter.ts'
import {
  AUTHORIZE,
  count,
  type Json,
  MINUTE,
  personPath,
  plain,
  SETTINGS,
  type Tenant,
  useGate,
} from '../fixture.ts'
import { besides } from '../webhooks/fixture.ts'

const gate = await useGate()

const POLICIES = `${SETTINGS}/policies`
const PERMIT_ALL = '@id("all") permit (principal, action, resource);'

const put = ({ api }: Pick<Tenant, 'api'>, policies: Json) => api.put(POLICIES, { policies })
const read = async ({ api }: Pick<Tenant, 'api'>): Promise<Json> => (await api.get(POLICIES)).body

/** The answer about a service, unless the question says otherwise. */
async function ask({ api }: { api: Pick<Tenant['api'], 'post'> }, question: Json = {}) {
  const asked = { subject: 'svc-1', action: 'docs.read', resource: 'document:42', ...question }
  const answer = await api.post(AUTHORIZE, asked)
  expect(answer).toMatchObject({ status: 200 })
  return answer.body as Json
}

async function tenantWith(policies: string) {
  const acme = await gate.newTenant()
  expect(await put(acme, policies)).toMatchObject({ status: 200 })
  return acme
}

test('Policies are the starter set until they are replaced, and again on request', async () => {
  const [acme, other] = [await gate.newTenant(), await gate.newTenant()]
  const { id: subject } = await acme.createIdentity({ metadata_public: { roles: ['admin'] } })
  const starter = { policies: STARTER_SET, version: 0, is_starter_set: true, updated_at: null }
  expect(await read(acme)).toEqual(starter)
  let version = 0
  for (const [policies, service, admin] of [
    [PERMIT_ALL, 'all', 'all'],
    [null, '', 'own-tenant-reads'],
    [`// Unicode: ü 😀\n${PERMIT_ALL}\n`, 'all', 'all'],
    [STARTER_SET, '', 'own-tenant-reads'],
    ['', '', ''],
    ['// nothing yet', '', ''],
  ] as const) {
    gate.clock.jump(MINUTE)
    const { body } = await put(acme, policies)
    const isStarter = policies === null || policies === STARTER_SET
    expect(body).toEqual({
      policies: policies ?? STARTER_SET,
      version: ++version,
      is_starter_set: isStarter,
      updated_at: gate.now(),
    })
    expect(await read(acme)).toEqual(body)
    for (const [name, reason] of [
      [service, (await ask(acme)).reason],
      [admin, (await ask(acme, { subject })).reason],
    ])
      expect(reason).toContain(name ? `"${name}"` : 'no policy permits this')
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
  for (const expected of [true, false, true]) {
    await put(acme, expected ? PERMIT_ALL : null)
    expect((await ask({ api: there } as never)).allowed).toBe(expected)
    expect((await ask(acme)).allowed).toBe(expected)
  }
})

test('Of policies replaced five times at once, the last are used', async () => {
  const acme = await gate.newTenant()
  const texts = [0, 1, 2, 3, 4].map((n) => PERMIT_ALL.replace('all', `p${n}`))
  await Promise.all(texts.map((text) => put(acme, text)))
  const { policies, version } = await read(acme)
  expect(version).toBe(5)
  const name = /@id\("(p\d)"\)/.exec(policies)?.[1]
  expect((await ask(acme)).reason).toBe(`permitted by policy "${name}"`)
})

test('Refused policies change nothing', async () => {
  const acme = await tenantWith(PERMIT_ALL)
  const changes = count(gate.app, `audit_log where action = 'policies.changed'`)
  for (const [text, position] of <[string, string][]>[
    [`${PERMIT_ALL}\n\n  permit (prinzipal);`, 'line 3, column 11'],
    ['// ü😀\nforbid (', 'line 2, column '],
    [`${PERMIT_ALL}\n${PERMIT_ALL}`, 'line 2, column 1'],
    ['permit (principal == ?principal, action, resource);', 'line 1, column 1'],
    [PERMIT_ALL.replace('@id("all")', '').repeat(251), ''],
    [`// ${'x'.repeat(32_768)}`, ''],
    [`permit (principal, action, resource) when { ${'!'.repeat(30_000)}true };`, ''],
  ])
    expect(await put(acme, text)).toMatchObject(plain(400, `policies: ${position}`))
  const several = 'permit (principal, action);\npermit (prinzipal, action, resource);'
  expect((await put(acme, several)).body.error.match(/line \d+, column \d+/g)).toEqual([
    ...['line 1, column 26', 'line 2, column 9'],
  ])
  expect(await read(acme)).toMatchObject({ policies: PERMIT_ALL, version: 1 })
  expect((await ask(acme)).allowed).toBe(true)
  expect(count(gate.app, `audit_log where action = 'policies.changed'`)).toBe(changes)
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
  const address = { value: 'eve@example.com', verified: true }
  const eve = await acme.createIdentity({
    traits: { email: address.value, custom_data: { plan: 'free' } },
    verifiable_addresses: [address],
    metadata_public: { plan: 'pro', roles: ['editor'], n: 1.5, nothing: null },
  })
  const other = await acme.createIdentity({ traits: { email: 'x@example.org' } })
  for (const action of ['a.proven', 'a.mail', 'a.plan', 'a.role']) {
    const answers = [eve, other].map(({ id: subject }) => ask(acme, { subject, action }))
    const allowed = (await Promise.all(answers)).map(({ allowed }) => allowed)
    expect([action, ...allowed]).toEqual([action, true, false])
  }
  await acme.patch(eve, [{ op: 'replace', path: '/traits/email', value: 'y@example.com' }])
  expect((await ask(acme, { subject: eve.id, action: 'a.proven' })).allowed).toBe(false)
})

test("No policy permits another tenant's resources, or subjects that are gone", async () => {
  const acme = await tenantWith(PERMIT_ALL)
  const other = await gate.newTenant()
  const stranger = await other.createIdentity()
  const person = await acme.createIdentity()
  for (const question of [
    { resource: `tenant:${other.id}` },
    { resource: `identity:${stranger.id}` },
    { resource: `gate:key:${other.keyId}` },
    { resource: 'relay:nothing:1' },
    { subject: stranger.id },
  ])
    expect((await ask(acme, question)).allowed).toBe(false)
  const isAllowed = async () => (await ask(acme, { subject: person.id })).allowed
  expect(await isAllowed()).toBe(true)
  await acme.setState(person, 'inactive')
  expect(await isAllowed()).toBe(false)
  await acme.api.delete(personPath(person))
  expect(await isAllowed()).toBe(false)
})
