import { describe, expect, test } from 'bun:test'
import { STARTER_SET } from '../../../../src/engines/gate/authorization/policy/starter.ts'
import { bootBeside } from '../../relay/fixture.ts'
import {
  AUTHORIZE,
  bootGate,
  bootParty,
  count,
  type Fixture,
  IDENTITIES,
  type Json,
  MINUTE,
  plain,
  SETTINGS,
} from '../fixture.ts'

const POLICIES = `${SETTINGS}/policies`
const DOCUMENT = 'document:42'
const PERMIT_ALL = '@id("all") permit (principal, action, resource);'

const put = ({ api }: Pick<Fixture, 'api'>, policies: Json) => api.put(POLICIES, { policies })

async function setPolicies(fixture: Pick<Fixture, 'api'>, policies: string | null): Promise<Json> {
  const answer = await put(fixture, policies)
  expect(answer).toMatchObject({ status: 200 })
  return answer.body
}

const readPolicies = async ({ api }: Pick<Fixture, 'api'>): Promise<Json> =>
  (await api.get(POLICIES)).body

/** The answer about a service, unless the question says otherwise. */
async function ask({ api }: Pick<Fixture, 'api'>, question: Json = {}): Promise<Json> {
  const answer = await api.post(AUTHORIZE, {
    subject: 'svc-1',
    action: 'docs.read',
    resource: DOCUMENT,
    ...question,
  })
  expect(answer).toMatchObject({ status: 200 })
  return answer.body
}

const isAllowed = async (fixture: Pick<Fixture, 'api'>, question: Json = {}): Promise<boolean> =>
  (await ask(fixture, question)).allowed

describe('the policies of a tenant', () => {
  test('are the starter set until it has its own', async () => {
    await using fixture = await bootGate()
    expect(await readPolicies(fixture)).toEqual({
      policies: STARTER_SET,
      version: 0,
      is_starter_set: true,
      updated_at: null,
    })
  })

  test('can be replaced, which counts up their version', async () => {
    await using fixture = await bootGate()
    const first = await setPolicies(fixture, PERMIT_ALL)
    expect(first).toEqual({
      policies: PERMIT_ALL,
      version: 1,
      is_starter_set: false,
      updated_at: '2026-03-01T12:00:30.000Z',
    })
    expect(await readPolicies(fixture)).toEqual(first)

    fixture.clock.jump(MINUTE)
    const second = await setPolicies(fixture, `// Unicode: ü 😀\n${PERMIT_ALL}\n`)

    expect(second).toMatchObject({ version: 2, updated_at: '2026-03-01T12:01:30.000Z' })
    expect(second.policies).toBe(`// Unicode: ü 😀\n${PERMIT_ALL}\n`)
    expect(await readPolicies(fixture)).toEqual(second)
  })

  test('go back to the starter set with null', async () => {
    await using fixture = await bootGate()
    await setPolicies(fixture, PERMIT_ALL)
    expect(await setPolicies(fixture, null)).toMatchObject({
      policies: STARTER_SET,
      version: 2,
      is_starter_set: true,
    })
    expect(await isAllowed(fixture)).toBe(false)
  })

  test('are the starter set when they are its text', async () => {
    await using fixture = await bootGate()
    const { id } = await fixture.createIdentity()
    await setPolicies(fixture, PERMIT_ALL)
    expect(await setPolicies(fixture, STARTER_SET)).toMatchObject({
      policies: STARTER_SET,
      is_starter_set: true,
    })
    expect(await ask(fixture, { subject: id })).toMatchObject({
      reason: 'permitted by policy "own-tenant-reads"',
    })
  })

  test('may be none, and then nothing is permitted', async () => {
    await using fixture = await bootGate()
    const { id } = await fixture.createIdentity({ metadata_public: { roles: ['admin'] } })
    expect(await setPolicies(fixture, '')).toMatchObject({ policies: '', is_starter_set: false })
    expect(await ask(fixture, { subject: id })).toMatchObject({
      allowed: false,
      reason: 'no policy permits this',
    })
    await setPolicies(fixture, '// nothing yet')
    expect(await isAllowed(fixture, { subject: id })).toBe(false)
  })

  test('are its own: another tenant keeps its', async () => {
    await using fixture = await bootGate()
    const other = await bootParty(fixture.app)
    await setPolicies(fixture, PERMIT_ALL)
    expect(await isAllowed(fixture)).toBe(true)
    expect(await readPolicies(other)).toMatchObject({ version: 0, is_starter_set: true })
    expect(await isAllowed(other)).toBe(false)
  })

  test('leave the other settings alone, and these leave them', async () => {
    await using fixture = await bootGate()
    await fixture.api.put(`${SETTINGS}/security`, { mfa_enabled: true })
    await setPolicies(fixture, PERMIT_ALL)
    await fixture.api.put(`${SETTINGS}/security`, { passwordless_enabled: true })
    expect((await fixture.api.get(`${SETTINGS}/security`)).body).toEqual({
      passwordless_enabled: true,
      mfa_enabled: true,
    })
    expect(await readPolicies(fixture)).toMatchObject({ policies: PERMIT_ALL, version: 1 })
  })

  test('are written into the audit log when they change, by whom and not what', async () => {
    await using fixture = await bootGate()
    await setPolicies(fixture, PERMIT_ALL)
    const rows = fixture.app.db.client
      .query(`select * from audit_log where action = 'policies.changed'`)
      .all()
    expect(rows).toHaveLength(1)
    expect(JSON.stringify(rows)).not.toContain('permit (')
  })
})

describe('policies that are refused change nothing', () => {
  async function refusalOf(policies: Json): Promise<string> {
    await using fixture = await bootGate()
    const answer = await put(fixture, policies)
    expect({ status: answer.status, fields: Object.keys(answer.body) }).toEqual({
      status: 400,
      fields: ['error'],
    })
    expect(await readPolicies(fixture)).toMatchObject({ version: 0, is_starter_set: true })
    expect(count(fixture.app, `audit_log where action = 'policies.changed'`)).toBe(0)
    return answer.body.error
  }

  test('a mistake is named with its line and column', async () => {
    expect(
      await refusalOf('permit (principal, action, resource);\n\n  permit (prinzipal);'),
    ).toMatch(/^policies: line 3, column 11: /)
    expect(await refusalOf('// ü😀\nforbid (')).toMatch(/^policies: line 2, column \d+: /)
  })

  test('several are named one a line, in the order of the text', async () => {
    const text = [
      'permit (principal, action);',
      'permit (principal, action, resource);',
      'permit (prinzipal, action, resource) when { random() };',
    ].join('\n')
    expect((await refusalOf(text)).replaceAll(/: (?!line).*/g, '')).toBe(
      'policies: line 1, column 26\npolicies: line 3, column 9\npolicies: line 3, column 45',
    )
  })

  test.each([
    [
      'two of one name',
      '@id("a") permit (principal, action, resource);\n@id("a") forbid (principal, action, resource);',
      'line 2, column 1: the name "a" is already used at line 1, column 1',
    ],
    [
      'a name that is empty',
      '@id("") permit (principal, action, resource);',
      '@id must not be empty',
    ],
    [
      'a template',
      'permit (principal == ?principal, action, resource);',
      'policies: line 1, column 1: templates with ?principal or ?resource are not supported; name the entity',
    ],
    [
      'a function that there is not',
      'permit (principal, action, resource) when { random() };',
      'line 1',
    ],
    [
      'a chain that is too long',
      `permit (principal, action, resource) when { ${Array(300).fill('context.a').join(' || ')} };`,
      'more than 100 levels',
    ],
    [
      'brackets without end',
      `permit (principal, action, resource) when { ${'('.repeat(5000)}true${')'.repeat(5000)} };`,
      'policies:',
    ],
    [
      'more than 250',
      'permit (principal, action, resource);'.repeat(251),
      'must be at most 250 policies',
    ],
    ['more than 32 KB', `// ${'x'.repeat(32_768)}`, 'policies: must be at most 32 KB'],
  ])('%s', async (_, text, words) => {
    expect(await refusalOf(text)).toContain(words)
  })

  test.each([
    ['missing', undefined, 'policies: is required and must be policies in Cedar'],
    ['a number', 5, 'policies: must be policies in Cedar, or null'],
    ['a list', [PERMIT_ALL], 'policies: must be policies in Cedar, or null'],
    ['false', false, 'policies: must be policies in Cedar, or null'],
  ])('a body in which they are %s', async (_, policies, words) => {
    expect(await refusalOf(policies)).toContain(words)
  })

  test('those of before go on', async () => {
    await using fixture = await bootGate()
    await setPolicies(fixture, PERMIT_ALL)
    expect(await put(fixture, 'permit (')).toMatchObject(plain(400, 'policies: line 1'))
    expect(await isAllowed(fixture)).toBe(true)
    expect(await readPolicies(fixture)).toMatchObject({ policies: PERMIT_ALL, version: 1 })
  })

  test('a text that was too much for the engine costs nobody anything', async () => {
    await using fixture = await bootGate()
    const other = await bootParty(fixture.app)
    await setPolicies(other, PERMIT_ALL)
    for (let n = 0; n < 3; n++)
      expect(
        await put(
          fixture,
          `permit (principal, action, resource) when { ${'!'.repeat(30_000)}true };`,
        ),
      ).toMatchObject({ status: 400 })
    expect(await isAllowed(other)).toBe(true)
    await setPolicies(fixture, PERMIT_ALL)
    expect(await isAllowed(fixture)).toBe(true)
  })
})

describe('policies take effect', () => {
  test('with the next question', async () => {
    await using fixture = await bootGate()
    for (const expected of [true, false, true]) {
      await setPolicies(fixture, expected ? PERMIT_ALL : PERMIT_ALL.replace('permit', 'forbid'))
      expect(await isAllowed(fixture)).toBe(expected)
    }
  })

  test('with the next question in a second process', async () => {
    await using fixture = await bootGate()
    await using beside = await bootBeside(fixture)
    const there = {
      api: {
        post: async (path: string, body: Json) => {
          const headers = {
            authorization: `Bearer ${fixture.key}`,
            'content-type': 'application/json',
          }
          const init = { method: 'POST', headers, body: JSON.stringify(body) }
          const answer = await beside.app.handle(new Request(`http://localhost${path}`, init))
          return { status: answer.status, body: await answer.json() }
        },
      },
    } as Json
    expect(await isAllowed(there)).toBe(false)
    for (const expected of [true, false, true]) {
      await setPolicies(fixture, expected ? PERMIT_ALL : null)
      expect(await isAllowed(there)).toBe(expected)
    }
  })

  test('for those that are asked about in the order in which they change', async () => {
    await using fixture = await bootGate()
    await Promise.all(
      Array.from({ length: 10 }, (_, n) =>
        put(fixture, `@id("p${n}") permit (principal, action, resource);`),
      ),
    )
    const { policies, version } = await readPolicies(fixture)
    expect(version).toBe(10)
    const name = /@id\("(p\d)"\)/.exec(policies)?.[1]
    expect((await ask(fixture)).reason).toBe(`permitted by policy "${name}"`)
  })
})

describe('what policies can go by', () => {
  async function boot(policies: string) {
    const fixture = await bootGate()
    await setPolicies(fixture, policies)
    return fixture
  }

  test('forbid beats permit, and is named', async () => {
    await using fixture = await boot(
      `${PERMIT_ALL} @id("no deletes") forbid (principal, action == Action::"docs.delete", resource);`,
    )
    expect(await isAllowed(fixture)).toBe(true)
    expect(await ask(fixture, { action: 'docs.delete' })).toMatchObject({
      allowed: false,
      reason: 'forbidden by policy "no deletes"',
    })
  })

  test('policies without a name go by their number', async () => {
    await using fixture = await boot(
      'permit (principal, action == Action::"a.b", resource); permit (principal, action == Action::"docs.read", resource);',
    )
    expect((await ask(fixture)).reason).toBe('permitted by policy "policy 2"')
  })

  test('one that fails denies, and the reason names it', async () => {
    await using fixture = await boot(
      `${PERMIT_ALL} @id("broken") forbid (principal, action, resource) when { context.amount > 100 };`,
    )
    const answer = await ask(fixture)
    expect(answer.allowed).toBe(false)
    expect(answer.reason).toStartWith('policy "broken" failed: ')
    expect(answer.reason).toEndWith('access is denied when a policy fails')
    expect(await isAllowed(fixture, { context: { amount: 100 } })).toBe(true)
    expect(await ask(fixture, { context: { amount: 101 } })).toMatchObject({
      allowed: false,
      reason: 'forbidden by policy "broken"',
    })
    expect(await isAllowed(fixture, { context: { amount: '100' } })).toBe(false)
  })

  test('a permit that fails denies as well', async () => {
    await using fixture = await boot(
      `${PERMIT_ALL} @id("wrong") permit (principal, action, resource) when { principal.no == 1 };`,
    )
    expect((await ask(fixture)).reason).toStartWith('policy "wrong" failed: ')
    expect(await isAllowed(fixture)).toBe(false)
  })

  test('the context', async () => {
    await using fixture = await boot(
      'permit (principal, action, resource) when { context.amount < 100 && context.tags.contains("a") };',
    )
    for (const [context, expected] of [
      [{ amount: 99, tags: ['a', 'b'] }, true],
      [{ amount: 100, tags: ['a'] }, false],
      [{ amount: -5, tags: ['b'] }, false],
      [{ amount: 99 }, false],
      [{}, false],
    ])
      expect(await isAllowed(fixture, { context })).toBe(expected as boolean)
  })

  test('the context is no place for an entity or a role', async () => {
    await using fixture = await boot(
      'permit (principal, action, resource) when { context.who in Role::"admin" };',
    )
    const who = { __entity: { type: 'Role', id: 'admin' } }
    const question = { subject: 's', action: 'a.b', resource: DOCUMENT, context: { who } }
    expect(await fixture.api.post(AUTHORIZE, question)).toMatchObject({ status: 400 })
    const spelled = { ...question, context: { who: 'Role::"admin"' } }
    expect((await fixture.api.post(AUTHORIZE, spelled)).body.allowed).toBe(false)
  })

  test('services by name', async () => {
    await using fixture = await boot(
      'permit (principal == Service::"svc-1", action in [Action::"docs.*"], resource);',
    )
    expect(await isAllowed(fixture)).toBe(true)
    expect(await isAllowed(fixture, { subject: 'svc-2' })).toBe(false)
    expect(await isAllowed(fixture, { action: 'mails.read' })).toBe(false)
    expect(await isAllowed(fixture, { action: 'docs.old.read' })).toBe(true)
  })

  test('a service whose name is like code stays a name', async () => {
    await using fixture = await boot('permit (principal == Service::"svc-1", action, resource);')
    for (const subject of ['svc-1" || true || "', 'Service::"svc-1"', 'svc-1\\'])
      expect(await isAllowed(fixture, { subject })).toBe(false)
  })

  test('address, roles and metadata of people', async () => {
    await using fixture = await boot(`
      @id("proven") permit (principal is Identity, action == Action::"a.proven", resource)
        when { principal.email_verified };
      @id("mail") permit (principal is Identity, action == Action::"a.mail", resource)
        when { principal.email like "*@example.com" };
      @id("plan") permit (principal is Identity, action == Action::"a.plan", resource)
        when { principal.metadata has plan && principal.metadata.plan == "pro" };
      @id("role") permit (principal in Role::"editor", action == Action::"a.role", resource);
    `)
    const address = { value: 'eve@example.com', verified: true }
    const person = await fixture.createIdentity({
      traits: { email: address.value, custom_data: { plan: 'free' } },
      verifiable_addresses: [address],
      metadata_public: { plan: 'pro', roles: ['editor'], n: 1.5, nothing: null },
    })
    const nobody = await fixture.createIdentity({ traits: { email: 'x@example.org' } })
    for (const action of ['a.proven', 'a.mail', 'a.plan', 'a.role']) {
      expect(await isAllowed(fixture, { subject: person.id, action }), action).toBe(true)
      expect(await isAllowed(fixture, { subject: nobody.id, action }), action).toBe(false)
    }
    await fixture.patch(person, [{ op: 'replace', path: '/traits/email', value: 'y@example.com' }])
    expect(await isAllowed(fixture, { subject: person.id, action: 'a.proven' })).toBe(false)
  })

  test('resources by their kind', async () => {
    await using fixture = await boot(
      'permit (principal, action, resource is Shop::AccessKey) when { resource.id != "7" };',
    )
    expect(await isAllowed(fixture, { resource: 'shop:access-key:8' })).toBe(true)
    expect(await isAllowed(fixture, { resource: 'shop:access-key:7' })).toBe(false)
    expect(await isAllowed(fixture, { resource: 'shop:key:8' })).toBe(false)
  })

  test('never what is of another tenant, or somebody who is not there', async () => {
    await using fixture = await boot(PERMIT_ALL)
    const other = await bootParty(fixture.app)
    const stranger = await other.createIdentity()
    const { id: key } = await other.newKey('relay', 'live')
    const person = await fixture.createIdentity()
    for (const question of [
      { resource: `tenant:${other.id}` },
      { resource: `identity:${stranger.id}` },
      { resource: `relay:key:${key}` },
      { resource: 'relay:nothing:1' },
      { subject: stranger.id },
    ])
      expect(await isAllowed(fixture, question), JSON.stringify(question)).toBe(false)
    expect(await isAllowed(fixture, { subject: person.id })).toBe(true)
    await fixture.setState(person, 'inactive')
    expect(await isAllowed(fixture, { subject: person.id })).toBe(false)
    await fixture.api.delete(`${IDENTITIES}/${person.id}`)
    expect(await isAllowed(fixture, { subject: person.id })).toBe(false)
  })

  test('the starter set by hand decides like the starter set', async () => {
    await using fixture = await bootGate()
    const admin = await fixture.createIdentity({ metadata_public: { roles: ['admin'] } })
    const person = await fixture.createIdentity()
    const questions = [admin.id, person.id, 'svc-1'].flatMap((subject) =>
      [DOCUMENT, `tenant:${fixture.acme.id}`, `identity:${person.id}`].flatMap((resource) =>
        ['x.read', 'x.list', 'x.update', 'read'].map((action) => ({ subject, action, resource })),
      ),
    )
    const answers = async () =>
      Promise.all(
        questions.map(async (question) => {
          const { allowed, reason } = await ask(fixture, question)
          return { ...question, allowed, reason }
        }),
      )
    const byStarterSet = await answers()

    await setPolicies(fixture, `${STARTER_SET}// By hand.\n`)

    expect((await readPolicies(fixture)).is_starter_set).toBe(false)
    expect(await answers()).toEqual(byStarterSet)
  })
})
