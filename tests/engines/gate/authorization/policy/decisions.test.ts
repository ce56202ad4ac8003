import { describe, expect, test } from 'bun:test'
import { createPdp } from '../../../../../src/engines/gate/authorization/policy/pdp.ts'
import type { Json, JsonObject } from '../../../../../src/engines/gate/identities/documents/json.ts'
import { decide, holds, person, question, TENANT } from './support.ts'

const EVERYTHING = 'permit (principal, action, resource);'

describe('a decision', () => {
  test('is no where no policy permits, also where there are none', () => {
    const no = { allowed: false, policies: [], reason: 'no policy permits this' }

    expect(decide('')).toEqual(no)
    expect(decide('// nothing yet')).toEqual(no)
    expect(decide('permit (principal, action == Action::"documents.read", resource);')).toEqual(no)
  })

  test('names all policies that permit, sorted, by annotation or by place', () => {
    const text = `${EVERYTHING} @id("z") ${EVERYTHING} @id("é \\"a\\"") ${EVERYTHING} ${EVERYTHING} ${EVERYTHING}`

    expect(decide(text)).toEqual({
      allowed: true,
      policies: ['policy 1', 'policy 4', 'policy 5', 'z', 'é "a"'],
      reason: 'permitted by policies "policy 1", "policy 4", "policy 5" and 2 more',
    })
  })

  test('is no as soon as one policy forbids, and that one is named', () => {
    const text = `${EVERYTHING} @id("curfew") forbid (principal, action, resource) when { context.hour > 22 };`

    expect(decide(text, { context: { hour: 23 } })).toEqual({
      allowed: false,
      policies: ['curfew'],
      reason: 'forbidden by policy "curfew"',
    })
    expect(decide(text, { context: { hour: 22 } }).allowed).toBe(true)
  })

  test('is no when a policy that forbids cannot be evaluated, whatever else permits', () => {
    const text = `${EVERYTHING} @id("curfew") forbid (principal, action, resource) when { context.hour > 22 };`

    expect(decide(text)).toEqual({
      allowed: false,
      policies: ['curfew'],
      reason:
        'policy "curfew" failed: record does not have the attribute `hour`; access is denied when a policy fails',
    })
    expect(decide(text, { context: { hour: 'late' } }).reason).toContain(
      'expected long, got string',
    )
  })

  test('is no when a policy that permits cannot be evaluated', () => {
    const text = `${EVERYTHING} ${EVERYTHING.replace(';', ' when { context.b };')} ${EVERYTHING.replace(';', ' when { context.a };')}`

    expect(decide(text)).toMatchObject({
      allowed: false,
      policies: ['policy 2', 'policy 3'],
      reason: expect.stringMatching(
        /^policy "policy 2" failed: .+, and 1 more failed; access is denied when/,
      ),
    })
  })

  test('that is forbidden stays so when another policy fails', () => {
    const text = `@id("f") forbid (principal, action, resource); ${EVERYTHING.replace(';', ' when { context.b };')}`

    expect(decide(text).reason).toBe('forbidden by policy "f"')
  })

  test('keeps its reason short', () => {
    const text = `permit (principal, action, resource) when { ip(context.ip).isLoopback() };`

    expect(decide(text, { context: { ip: '1'.repeat(8000) } }).reason.length).toBeLessThan(400)
  })

  test('comes from the right one of two hundred policies', () => {
    const text = Array.from(
      { length: 200 },
      (_, n) => `permit (principal, action, resource) when { context.n == ${n + 1} };`,
    ).join('\n')

    for (const n of [1, 2, 10, 11, 99, 100, 101, 199, 200]) {
      expect(decide(text, { context: { n } }).policies).toEqual([`policy ${n}`])
    }
    expect(decide(text, { context: { n: 201 } }).allowed).toBe(false)
  })

  test('is refused to policies that cannot be read, with the place of the mistake', () => {
    expect(decide(`${EVERYTHING}\n  permit (`)).toEqual({
      allowed: false,
      policies: [],
      reason: expect.stringMatching(/^unusable policies: line 2, column 11: .+; access is denied$/),
    })
  })

  test('is a denial for a role that is not valid Unicode', () => {
    expect(decide(EVERYTHING, { principal: person({ roles: ['editor', '\ud800'] }) })).toEqual({
      allowed: false,
      policies: [],
      reason: 'a role of the subject is not valid Unicode; access is denied',
    })
  })

  test('is a denial for more than 100 roles', () => {
    const principal = person({ roles: Array.from({ length: 101 }, (_, n) => `r${n}`) })

    expect(decide(EVERYTHING, { principal })).toEqual({
      allowed: false,
      policies: [],
      reason: 'the subject has more than 100 roles; access is denied',
    })
    expect(
      decide(EVERYTHING, { principal: person({ roles: principal.roles.slice(1) }) }).allowed,
    ).toBe(true)
  })

  test('is never made by the policies of another tenant', () => {
    const custom = { tenantId: 'another', version: 1, text: EVERYTHING }

    expect(() => createPdp().decide(question(), custom)).toThrow('policies of another tenant')
  })
})

describe('what policies know', () => {
  test('of a person', () => {
    const principal = person({ roles: ['editor', 'äx'], metadata: { plan: 'pro' } })
    const known = [
      'principal is Identity',
      'principal == Identity::"alice"',
      'principal.id == "alice"',
      'principal.email like "*@example.com"',
      'principal.email_verified',
      'principal.roles == ["äx", "editor"]',
      'principal in Role::"editor" && principal in Role::"äx" && !(principal in Role::"x")',
      `principal in Tenant::"${TENANT}" && principal.tenant == Tenant::"${TENANT}"`,
      'principal.metadata.plan == "pro"',
    ]

    expect(known.filter((condition) => holds(condition, { principal }) !== true)).toEqual([])
  })

  test('of a service', () => {
    const principal = { kind: 'service', id: 'bill"ing' } as const
    const known = [
      'principal is Service',
      'principal == Service::"bill\\"ing" && principal.id == "bill\\"ing"',
      'principal in principal.tenant',
      '!(principal has roles) && !(principal has email)',
    ]

    expect(known.filter((condition) => holds(condition, { principal }) !== true)).toEqual([])
  })

  test('of an action: the groups of all its words, and of its last one', () => {
    const groups = ['*', 'a.*', 'a.b.*', '*.c', 'a.b.c']
    const others = ['b.*', '*.b', '*.b.c', 'a.b.c.*', 'a', 'a.b', '*.*']
    const isIn = (group: string) => holds(`action in Action::"${group}"`, { action: 'a.b.c' })

    expect(groups.map(isIn)).toEqual(groups.map(() => true))
    expect(others.map(isIn)).toEqual(others.map(() => false))
    expect(holds('action in Action::"*.read"', { action: 'read' })).toBe(false)
    expect(holds('action in Action::"*"', { action: 'read' })).toBe(true)
  })

  test.each([
    ['document:42', 'Document::"42"'],
    ['passepartout:key:k1', 'Passepartout::Key::"k1"'],
    ['access-key:1', 'AccessKey::"1"'],
    ['access_key:1', 'Access_key::"1"'],
    ['accesskey:1', 'Accesskey::"1"'],
    ['if:in-has:1', 'If::InHas::"1"'],
    ['identity:bob', 'Identity::"bob"'],
    ['role:admin', 'Role::"admin"'],
    ['service:x', 'Service::"x"'],
    ['tenant:key:1', 'Tenant::Key::"1"'],
  ])('of a resource: %s is %s, in its tenant', (resource, uid) => {
    expect(holds(`resource == ${uid} && resource in principal.tenant`, { resource })).toBe(true)
    expect(holds('resource.tenant == principal.tenant', { resource })).toBe(true)
  })

  test('of the tenant itself, and of another one', () => {
    const own = { resource: `tenant:${TENANT}` }

    expect(holds('resource == principal.tenant && resource in principal.tenant', own)).toBe(true)
    expect(holds('resource in principal.tenant', { resource: 'tenant:another' })).toBe(false)
  })

  test('of a subject that is the resource: one entity with all attributes', () => {
    const service = { kind: 'service', id: 'alice' } as const

    expect(
      holds('resource == principal && resource.email_verified', { resource: 'identity:alice' }),
    ).toBe(true)
    expect(holds('resource == principal', { resource: 'service:alice', principal: service })).toBe(
      true,
    )
    expect(holds('resource == principal', { resource: 'service:alice' })).toBe(false)
  })

  test('of the context: what was sent', () => {
    const context = {
      n: 9007199254740991,
      m: -0,
      s: 'ü😀',
      l: [1, 1, 2],
      o: { '': true },
      ip: '10.1.2.3',
    }
    const known = [
      'context.n == 9007199254740991 && context.m == 0',
      'context.s == "ü😀"',
      'context.l == [2, 1]',
      'context.o[""]',
      'ip(context.ip).isInRange(ip("10.0.0.0/8"))',
    ]

    expect(known.filter((condition) => holds(condition, { context }) !== true)).toEqual([])
  })
})

describe('names with quotes, backslashes and other scripts', () => {
  const NAMES = [
    'a"b',
    'a\\',
    '\\"); permit(principal,action,resource);//',
    '日本😀',
    '{"__entity"}',
    '$(x)',
  ]

  test.each(NAMES)('%p is only a name', (name) => {
    const text = `permit (principal == Identity::${JSON.stringify(name)}, action, resource == Document::${JSON.stringify(name)});`
    const principal = person({ id: name, roles: [name], email: name })

    expect(decide(text, { principal, resource: `document:${name}` }).allowed).toBe(true)
    expect(decide(text, { principal, resource: 'document:other' }).reason).toBe(
      'no policy permits this',
    )
    expect(decide(text, { resource: `document:${name}` }).reason).toBe('no policy permits this')
  })

  test('a tenant by such a name is a tenant', () => {
    const tenantId = 'a"b\\'

    expect(holds('principal in Tenant::"a\\"b\\\\"', { tenantId })).toBe(true)
  })
})

describe('metadata that Cedar has no values for', () => {
  const of = (metadata: JsonObject) => ({ principal: person({ metadata }) })
  const metadata = { fraction: 1.5, gone: null, big: 2 ** 60, half: '\ud800', low: -(2 ** 53) }
  const members = Object.keys(metadata)

  test.each(members)('is there all the same: %s', (member) => {
    expect(holds(`principal.metadata has ${member}`, of(metadata))).toBe(true)
    expect(holds(`principal has metadata.${member}`, of(metadata))).toBe(true)
  })

  test.each(members)('equals nothing that a policy can say: %s', (member) => {
    for (const value of ['1', '2', '0', '""', 'false', '{}', '[]', 'principal', 'decimal("1.5")']) {
      expect(holds(`principal.metadata.${member} == ${value}`, of(metadata))).toBe(false)
    }
  })

  test.each(members)('makes policies fail that compare it or look into it: %s', (member) => {
    for (const rest of ['< 2', '>= 0', 'like "*"', '+ 1 == 2', '.a == 1', '.contains(1)', '']) {
      expect(holds(`principal.metadata.${member} ${rest}`, of(metadata))).toContain(' failed: ')
    }
  })

  test('equals the same and nothing else', () => {
    const given = of({ a: [1.5, null], b: [null, 1.5], c: [2.5, null], d: ['1.5', 'null'] })

    expect(holds('principal.metadata.a == principal.metadata.b', given)).toBe(true)
    expect(holds('principal.metadata.a == principal.metadata.c', given)).toBe(false)
    expect(holds('principal.metadata.a == principal.metadata.d', given)).toBe(false)
  })

  test('takes nothing from the list or the object that it is in', () => {
    const given = of({ list: ['a', 1.5, [null], { b: null, c: 1 }], object: { f: 0.5, ok: 1 } })

    for (const condition of [
      'principal.metadata.list.contains("a")',
      'principal.metadata.object.ok == 1',
      'principal.metadata.object has f',
    ])
      expect(holds(condition, given)).toBe(true)
    expect(holds('principal.metadata.list == ["a"]', given)).toBe(false)
    expect(holds('principal.metadata.list.contains({"c": 1})', given)).toBe(false)
    expect(holds('principal.metadata.object == {"ok": 1}', given)).toBe(false)
  })

  test.each(['unsupported:1.5', 'unsupported:null', 'un-supported:1.5', 'x:unsupported:1.5'])(
    'is no resource, whatever that is called: %s',
    (resource) => {
      const given = { ...of(metadata), resource }

      expect(holds('[principal.metadata.fraction].contains(resource)', given)).toBe(false)
      expect(holds('resource == principal.metadata.gone', given)).toBe(false)
      expect(holds('resource in principal.metadata.fraction', given)).toBe(false)
    },
  )
})

describe('metadata blinds no policy that forbids', () => {
  const decideOn = (condition: string, metadata: JsonObject) =>
    decide(`${EVERYTHING} forbid (principal, action, resource) when { ${condition} };`, {
      principal: person({ metadata }),
    })
  const BLOCKED = 'principal has metadata && principal.metadata has blocked'
  const BANNED = 'principal.metadata has tags && principal.metadata.tags.contains("banned")'
  const FLAGGED = 'principal.metadata has a && principal.metadata.a has blocked'
  const deep = (levels: number, core: Json): Json =>
    levels === 0 ? core : { a: deep(levels - 1, core) }

  test.each<[string, JsonObject]>([
    [BLOCKED, { blocked: true }],
    [BLOCKED, { blocked: 1.5 }],
    [BLOCKED, { blocked: [1.5] }],
    [BLOCKED, { blocked: [null] }],
    [BLOCKED, { blocked: null }],
    [BLOCKED, { blocked: { '\ud800': 1 } }],
    [BLOCKED, { blocked: { __entity: 1 } }],
    [BLOCKED, { blocked: true, pad: 'x'.repeat(20_000) }],
    [BLOCKED, { blocked: true, pad: Array(4000).fill(null) }],
    ['principal has metadata.blocked', { blocked: true, pad: 'x'.repeat(20_000) }],
    ['principal["met\\u{61}data"] has blocked', { blocked: true, pad: 'x'.repeat(20_000) }],
    [BANNED, { tags: ['banned', 1.5] }],
    [BANNED, { tags: ['banned', null, { __expr: 1 }] }],
    [BANNED, { tags: ['banned', '\ud800'] }],
    [BANNED, { tags: ['banned', deep(20, 1)] }],
    [FLAGGED, { a: { blocked: 1, __extn: { fn: 'ip', arg: '::' } } }],
    [FLAGGED, { a: { blocked: deep(20, 1) } }],
  ])('%s', (condition, metadata) => {
    expect(decideOn(condition, {}).allowed).toBe(true)
    expect(decideOn(condition, metadata).allowed).toBe(false)
  })
})

describe('metadata that policies cannot look at', () => {
  const of = (metadata: JsonObject) => ({ principal: person({ metadata }) })
  const deep = (levels: number): JsonObject => (levels === 1 ? {} : { a: deep(levels - 1) })
  const LOOK = 'permit (principal, action, resource) when { principal has metadata };'
  const reasonOn = (metadata: JsonObject) => decide(LOOK, of(metadata)).reason
  const no = (problem: string) => `the subject's metadata_public ${problem}; access is denied`

  test.each<[string, JsonObject, JsonObject, string]>([
    [
      'beyond 16 KB',
      { s: 'x'.repeat(16_384 - 8) },
      { s: 'x'.repeat(16_384 - 7) },
      'is larger than 16 KB, the limit for policies',
    ],
    [
      'with too much that Cedar has no values for',
      { s: Array(300).fill(0.5) },
      { s: Array(400).fill(0.5) },
      'has too many nulls, fractions and similar values for policies',
    ],
    [
      'beyond 16 levels',
      deep(16),
      deep(17),
      'is nested deeper than 16 levels, the limit for policies',
    ],
    [
      'with a name that stands for a reference',
      { a: [{ entity: 1 }] },
      { a: [{ __entity: { type: 'Role', id: 'admin' } }] },
      'has a member __entity, a name that is reserved in policies',
    ],
    [
      'with a name that stands for a call',
      { a: { fn: 1 } },
      { a: { __extn: { fn: 'ip', arg: '::' } } },
      'has a member __extn, a name that is reserved in policies',
    ],
    [
      'with a name that is not Unicode text',
      { é: 1 },
      { '\ud800': 1 },
      'has a member whose name is not valid Unicode',
    ],
  ])('is a no, and says so: %s', (_, fine, metadata, problem) => {
    expect(reasonOn(fine)).toBe('permitted by policy "policy 1"')
    expect(reasonOn(metadata)).toBe(no(problem))
  })

  test('does not matter to policies that look at none', () => {
    const metadata = { s: 'x'.repeat(50_000), deep: deep(60), __entity: { type: 'Role', id: 'a' } }

    expect(decide(EVERYTHING, of(metadata)).allowed).toBe(true)
    expect(holds('principal.email_verified && context has s', of(metadata))).toBe(false)
  })

  test('matters to all policies as soon as one looks at it', () => {
    const text = `${EVERYTHING} ${LOOK}`

    expect(decide(text, of({ s: 'x'.repeat(20_000) }))).toMatchObject({
      allowed: false,
      policies: [],
    })
  })

  test('is nothing that a service has', () => {
    const principal = { kind: 'service', id: 'billing' } as const

    expect(holds('!(principal has metadata)', { principal })).toBe(true)
  })
})
