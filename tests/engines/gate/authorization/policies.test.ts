import { describe, expect, test } from 'bun:test'
import { STARTER_SET } from '../../../../src/engines/gate/authorization/policy/starter.ts'
import {
  AUTHORIZE,
  bootGate,
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
const DOCUMENT = 'document:42'
const PERMIT_ALL = '@id("all") permit (principal, action, resource);'

type Asker = Pick<Tenant, 'api'>

const put = ({ api }: Asker, policies: Json) => api.put(POLICIES, { policies })

async function setPolicies(acme: Asker, policies: string | null): Promise<Json> {
  const answer = await put(acme, policies)
  expect(answer).toMatchObject({ status: 200 })
  return answer.body
}

const readPolicies = async ({ api }: Asker): Promise<Json> => (await api.get(POLICIES)).body

/** The answer about a service, unless the question says otherwise. */
async function ask({ api }: { api: Pick<Tenant['api'], 'post'> }, question: Json = {}) {
  const asked = { subject: 'svc-1', action: 'docs.read', resource: DOCUMENT, ...question }
  const answer = await api.post(AUTHORIZE, asked)
  expect(answer).toMatchObject({ status: 200 })
  return answer.body as Json
}

const isAllowed = async (acme: Parameters<typeof ask>[0], question: Json = {}): Promise<boolean> =>
  (await ask(acme, question)).allowed

/** A tenant with these policies. */
async function tenantWith(policies: string) {
  const acme = await gate.newTenant()
  await setPolicies(acme, policies)
  return acme
}

describe("A tenant's policies", () => {
  test('are the starter set, until they are replaced', async () => {
    const [acme, other] = [await gate.newTenant(), await gate.newTenant()]
    const starter = { policies: STARTER_SET, version: 0, is_starter_set: true, updated_at: null }
    expect(await readPolicies(acme)).toEqual(starter)

    const first = await setPolicies(acme, PERMIT_ALL)
    const at = gate.now()
    const own = { policies: PERMIT_ALL, version: 1, is_starter_set: false, updated_at: at }
    expect(first).toEqual(own)
    expect(await readPolicies(acme)).toEqual(own)
    expect(await isAllowed(acme)).toBe(true)
    expect(await readPolicies(other)).toEqual(starter)
    expect(await isAllowed(other)).toBe(false)

    gate.clock.jump(MINUTE)
    const policies = `// Unicode: ü 😀\n${PERMIT_ALL}\n`
    const second = { policies, version: 2, is_starter_set: false, updated_at: gate.now() }
    expect(await setPolicies(acme, policies)).toEqual(second)
    expect(await readPolicies(acme)).toEqual(second)
  })

  test.each([null, STARTER_SET])('can be the starter set again', async (policies) => {
    const acme = await tenantWith(PERMIT_ALL)
    const starter = { policies: STARTER_SET, version: 2, is_starter_set: true }
    expect(await setPolicies(acme, policies)).toMatchObject(starter)
    expect(await isAllowed(acme)).toBe(false)
    const { id } = await acme.createIdentity()
    const { reason } = await ask(acme, { subject: id })
    expect(reason).toBe('permitted by policy "own-tenant-reads"')
  })

  test.each(['', '// nothing yet'])('can be empty, which permits nothing: %j', async (policies) => {
    const acme = await tenantWith(policies)
    const { id } = await acme.createIdentity({ metadata_public: { roles: ['admin'] } })
    expect(await readPolicies(acme)).toMatchObject({ policies, is_starter_set: false })
    expect(await isAllowed(acme, { subject: id })).toBe(false)
  })

  test('are independent of the other settings, and audited without their text', async () => {
    await using own = await bootGate()
    await own.api.put(`${SETTINGS}/security`, { mfa_enabled: true })
    await setPolicies(own, PERMIT_ALL)
    await own.api.put(`${SETTINGS}/security`, { passwordless_enabled: true })
    const security = { passwordless_enabled: true, mfa_enabled: true }
    expect((await own.api.get(`${SETTINGS}/security`)).body).toEqual(security)
    expect(await readPolicies(own)).toMatchObject({ policies: PERMIT_ALL, version: 1 })
    const rows = own.app.db.client
      .query(`select * from audit_log where action = 'policies.changed'`)
      .all()
    expect(rows).toHaveLength(1)
    expect(JSON.stringify(rows)).not.toContain('permit (')
  })

  test('take effect with the next question, in all processes', async () => {
    await using own = await bootGate()
    await using beside = await besides(own, own.key)
    const there = { api: beside } as unknown as Parameters<typeof ask>[0]
    expect(await isAllowed(there)).toBe(false)
    for (const expected of [true, false, true]) {
      await setPolicies(own, expected ? PERMIT_ALL : null)
      expect(await isAllowed(own)).toBe(expected)
      expect(await isAllowed(there)).toBe(expected)
    }
  })

  test('replaced ten times at once are the last ones', async () => {
    const acme = await gate.newTenant()
    const texts = Array.from({ length: 10 }, (_, n) => PERMIT_ALL.replace('all', `p${n}`))
    await Promise.all(texts.map((text) => put(acme, text)))
    const { policies, version } = await readPolicies(acme)
    expect(version).toBe(10)
    const name = /@id\("(p\d)"\)/.exec(policies)?.[1]
    expect((await ask(acme)).reason).toBe(`permitted by policy "${name}"`)
  })
})

test.each<[string, Json, string]>([
  [
    'a mistake',
    'permit (principal, action, resource);\n\n  permit (prinzipal);',
    'line 3, column 11',
  ],
  ['a mistake after other scripts', '// ü😀\nforbid (', 'line 2, column '],
  ['a duplicate name', `${PERMIT_ALL}\n${PERMIT_ALL}`, 'line 2, column 1'],
  ['an empty name', PERMIT_ALL.replace('all', ''), 'line 1, column 1'],
  ['a template', 'permit (principal == ?principal, action, resource);', 'line 1, column 1'],
  ['too many policies', PERMIT_ALL.replace('@id("all")', '').repeat(251), ''],
  ['too long a text', `// ${'x'.repeat(32_768)}`, ''],
  ['a deep text', `permit (principal, action, resource) when { ${'!'.repeat(30_000)}true };`, ''],
  ['no text', undefined, ''],
  ['a number', 5, ''],
  ['a list', [PERMIT_ALL], ''],
])('%s is refused and changes nothing', async (_, text, position) => {
  const acme = await tenantWith(PERMIT_ALL)
  const changes = count(gate.app, `audit_log where action = 'policies.changed'`)
  expect(await put(acme, text)).toMatchObject(plain(400, `policies: ${position}`))
  expect(await readPolicies(acme)).toMatchObject({ policies: PERMIT_ALL, version: 1 })
  expect(await isAllowed(acme)).toBe(true)
  expect(count(gate.app, `audit_log where action = 'policies.changed'`)).toBe(changes)
})

test('Several mistakes are reported, one per line, in the order of the text', async () => {
  const text = [
    'permit (principal, action);',
    'permit (principal, action, resource);',
    'permit (prinzipal, action, resource) when { random() };',
  ].join('\n')
  const { body } = await put(await gate.newTenant(), text)
  const positions = body.error
    .split('\n')
    .map((line: string) => /line \d+, column \d+/.exec(line)?.[0])
  expect(positions).toEqual(['line 1, column 26', 'line 3, column 9', 'line 3, column 45'])
})

describe('A policy', () => {
  test('can forbid and fail, which denies, and is named in the reason', async () => {
    const acme = await tenantWith(`
      permit (principal, action, resource);
      @id("no deletes") forbid (principal, action == Action::"docs.delete", resource);
      @id("limit") forbid (principal, action == Action::"pay", resource) when { context.amount > 100 };
    `)
    const pay = (context: Json) => ask(acme, { action: 'pay', context })
    expect((await ask(acme)).reason).toBe('permitted by policy "policy 1"')
    const { reason } = await ask(acme, { action: 'docs.delete' })
    expect(reason).toBe('forbidden by policy "no deletes"')
    expect((await pay({ amount: 100 })).allowed).toBe(true)
    expect((await pay({ amount: 101 })).reason).toBe('forbidden by policy "limit"')
    for (const context of [{}, { amount: '100' }]) {
      const failed = await pay(context)
      expect(failed.allowed).toBe(false)
      expect(failed.reason).toStartWith('policy "limit" failed: ')
    }
  })

  test('knows address, roles and metadata of identities', async () => {
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
      expect([action, await isAllowed(acme, { subject: eve.id, action })]).toEqual([action, true])
      expect([action, await isAllowed(acme, { subject: other.id, action })]).toEqual([
        action,
        false,
      ])
    }
    await acme.patch(eve, [{ op: 'replace', path: '/traits/email', value: 'y@example.com' }])
    expect(await isAllowed(acme, { subject: eve.id, action: 'a.proven' })).toBe(false)
  })

  test('knows services, groups of actions and kinds of resources by name', async () => {
    const acme = await tenantWith(`
      permit (principal == Service::"svc-1", action in [Action::"docs.*"], resource is Shop::AccessKey)
        when { resource.id != "7" };
    `)
    const good = { subject: 'svc-1', action: 'docs.old.read', resource: 'shop:access-key:8' }
    expect(await isAllowed(acme, good)).toBe(true)
    for (const others of [
      { subject: 'svc-2' },
      { subject: 'svc-1" || true || "' },
      { subject: 'Service::"svc-1"' },
      { subject: 'svc-1\\' },
      { action: 'mails.read' },
      { resource: 'shop:access-key:7' },
      { resource: 'shop:key:8' },
    ])
      expect(await isAllowed(acme, { ...good, ...others })).toBe(false)
  })

  test("never permits another tenant's resources, or subjects that are gone", async () => {
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
      expect(await isAllowed(acme, question)).toBe(false)
    expect(await isAllowed(acme, { subject: person.id })).toBe(true)
    await acme.setState(person, 'inactive')
    expect(await isAllowed(acme, { subject: person.id })).toBe(false)
    await acme.api.delete(personPath(person))
    expect(await isAllowed(acme, { subject: person.id })).toBe(false)
  })
})
