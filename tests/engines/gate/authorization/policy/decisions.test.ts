import { expect, test } from 'bun:test'
import { createPdp } from '../../../../../src/engines/gate/authorization/policy/pdp.ts'
import { STARTER_SET } from '../../../../../src/engines/gate/authorization/policy/starter.ts'
import type { Json, JsonObject } from '../../../../../src/engines/gate/identities/documents/json.ts'
import type { Json as Any } from '../../fixture.ts'
import {
  check,
  decide,
  FORBID,
  forbidWhen,
  type Given,
  holds,
  PERMIT,
  permitWhen,
  person,
  question,
  SERVICE,
  TENANT,
} from './support.ts'

const denied = (reason: Any, ...policies: string[]) => ({ allowed: false, policies, reason })
const withMetadata = (metadata: JsonObject) => ({ principal: person({ metadata }) })

function expectAll(conditions: string[], of: Given) {
  expect(conditions.filter((condition) => holds(condition, of) !== true)).toEqual([])
}

test('Without a policy that permits, the answer is no', () => {
  for (const text of ['', '// nothing yet', PERMIT.replace('action', 'action == Action::"x"')])
    expect(decide(text)).toEqual(denied('no policy permits this'))
})

test('A decision names all policies that permit, sorted, by annotation or position', () => {
  expect(
    decide(`${PERMIT} @id("__proto__") ${PERMIT} @id("é \\"a\\"") ${PERMIT} ${PERMIT} ${PERMIT}`),
  ).toEqual({
    allowed: true,
    policies: ['__proto__', 'policy 1', 'policy 4', 'policy 5', 'é "a"'],
    reason: 'permitted by policies "__proto__", "policy 1", "policy 4" and 2 more',
  })
  const many = Array.from({ length: 12 }, (_, n) => permitWhen(`context.n == ${n + 1}`)).join('')
  for (const n of [1, 2, 10, 12])
    expect(decide(many, { context: { n } }).policies).toEqual([`policy ${n}`])
  expect(decide(many, { context: { n: 13 } }).allowed).toBe(false)
})

test('A policy that forbids or fails denies whatever else permits', () => {
  const text = `${PERMIT} @id("curfew") ${forbidWhen('context.hour > 22')}`
  const at = (context: JsonObject) => decide(text, { context })
  const failed = (why: string) =>
    denied(
      expect.stringMatching(
        RegExp(`^policy "curfew" failed: .*${why}; access is denied when a policy fails$`),
      ),
      'curfew',
    )
  expect(at({ hour: 23 })).toEqual(denied('forbidden by policy "curfew"', 'curfew'))
  expect(at({ hour: 22 }).allowed).toBe(true)
  expect(at({})).toEqual(failed('does not have the attribute `hour`'))
  expect(at({ hour: 'late' })).toEqual(failed('expected long, got string'))

  const two = `${PERMIT} ${permitWhen('context.b')} ${permitWhen('context.a')}`
  const reason = expect.stringMatching(/^policy "policy 2" failed: .+, and 1 more failed; access/)
  expect(decide(two)).toEqual(denied(reason, 'policy 2', 'policy 3'))
  const forbidden = decide(`@id("f") ${FORBID} ${permitWhen('context.b')}`)
  expect(forbidden.reason).toBe('forbidden by policy "f"')
  const long = decide(permitWhen('ip(context.ip).isLoopback()'), {
    context: { ip: '1'.repeat(8000) },
  })
  expect(long.reason.length).toBeLessThan(400)
})

test('Unreadable policies, over 100 roles and roles of broken Unicode deny', () => {
  const roles = Array.from({ length: 101 }, (_, n) => `r${n}`)
  const unusable = /^unusable policies: line 2, column 11: .+; access is denied$/
  expect(decide(`${PERMIT}\n  permit (`)).toEqual(denied(expect.stringMatching(unusable)))
  expect(decide(PERMIT, { principal: person({ roles: ['editor', '\ud800'] }) })).toEqual(
    denied('a role of the subject is not valid Unicode; access is denied'),
  )
  expect(decide(PERMIT, { principal: person({ roles }) })).toEqual(
    denied('the subject has more than 100 roles; access is denied'),
  )
  expect(decide(PERMIT, { principal: person({ roles: roles.slice(1) }) }).allowed).toBe(true)
  const custom = { tenantId: 'another', version: 1, text: PERMIT }
  expect(() => createPdp().decide(question(), custom)).toThrow('policies of another tenant')
})

test('Policies know the subject, the tenant and the context', () => {
  const principal = person({ roles: ['editor', 'äx'], metadata: { plan: 'pro' } })
  expectAll(
    [
      'principal is Identity && principal == Identity::"alice" && principal.id == "alice"',
      'principal.email like "*@example.com" && principal.email_verified',
      'principal.roles == ["äx", "editor"] && principal.metadata.plan == "pro"',
      'principal in Role::"editor" && principal in Role::"äx" && !(principal in Role::"x")',
      `principal in Tenant::"${TENANT}" && principal.tenant == Tenant::"${TENANT}"`,
    ],
    { principal },
  )
  expectAll(
    [
      'principal is Service && principal in principal.tenant',
      'principal == Service::"bill\\"ing" && principal.id == "bill\\"ing"',
      '!(principal has roles) && !(principal has email) && !(principal has metadata)',
    ],
    { principal: { kind: 'service', id: 'bill"ing' } },
  )
  expectAll(
    [
      'context.n == 9007199254740991 && context.m == 0 && context.s == "ü😀"',
      'context.l == [2, 1] && context.o[""]',
      'ip(context.ip).isInRange(ip("10.0.0.0/8"))',
    ],
    { context: { n: 2 ** 53 - 1, m: -0, s: 'ü😀', l: [1, 1, 2], o: { '': true }, ip: '10.1.2.3' } },
  )
})

test('An action is in the groups of all its words, and of its last one', () => {
  const isIn = (group: string, action = 'a.b.c') =>
    holds(`action in Action::"${group}"`, { action })
  for (const group of ['*', 'a.*', 'a.b.*', '*.c', 'a.b.c']) expect(isIn(group)).toBe(true)
  for (const group of ['b.*', '*.b', '*.b.c', 'a.b.c.*', 'a', 'a.b', '*.*'])
    expect(isIn(group)).toBe(false)
  expect([isIn('*.read', 'read'), isIn('*', 'read')]).toEqual([false, true])
})

test.each([
  ['document:42', 'Document::"42"'],
  ['passepartout:key:k1', 'Passepartout::Key::"k1"'],
  ['access-key:1', 'AccessKey::"1"'],
  ['access_key:1', 'Access_key::"1"'],
  ['if:in-has:1', 'If::InHas::"1"'],
  ['identity:bob', 'Identity::"bob"'],
  ['tenant:key:1', 'Tenant::Key::"1"'],
])('The resource %s is %s, in its tenant', (resource, uid) => {
  const condition = `resource == ${uid} && resource in principal.tenant`
  expect(holds(`${condition} && resource.tenant == principal.tenant`, { resource })).toBe(true)
})

test('A resource can be the tenant or the subject, and not those of the same name', () => {
  const own = `tenant:${TENANT}`
  const self = { resource: 'identity:alice' }
  for (const [condition, of, expected] of <[string, Given, boolean][]>[
    ['resource == principal.tenant && resource in principal.tenant', { resource: own }, true],
    ['resource in principal.tenant', { resource: 'tenant:another' }, false],
    ['resource == principal && resource.email_verified', self, true],
    ['resource == principal', { resource: 'service:alice', principal: SERVICE }, true],
    ['resource == principal', { resource: 'service:alice' }, false],
  ])
    expect(holds(condition, of)).toBe(expected)
})

test.each(['a"b', '\\"); permit(principal,action,resource);//', '日本😀', '{"__entity"}'])(
  '%p is only a name',
  (name) => {
    const quoted = JSON.stringify(name)
    const text = `permit (principal == Identity::${quoted}, action, resource == Document::${quoted});`
    const principal = person({ id: name, roles: [name], email: name })
    const no = 'no policy permits this'
    expect(decide(text, { principal, resource: `document:${name}` }).allowed).toBe(true)
    expect(decide(text, { principal, resource: 'document:other' }).reason).toBe(no)
    expect(decide(text, { resource: `document:${name}` }).reason).toBe(no)
    expect(holds(`principal in Tenant::${quoted}`, { tenantId: name })).toBe(true)
  },
)

const ODD = { fraction: 1.5, gone: null, big: 2 ** 60, half: '\ud800', low: -(2 ** 53) }

test('Metadata without a Cedar value exists, equals nothing, and makes comparisons fail', () => {
  const given = withMetadata(ODD)
  for (const name of Object.keys(ODD)) {
    const member = `principal.metadata.${name}`
    expectAll([`principal.metadata has ${name}`, `principal has metadata.${name}`], given)
    for (const value of ['1', '0', '""', 'false', '{}', '[]', 'principal', 'decimal("1.5")'])
      expect(holds(`${member} == ${value}`, given)).toBe(false)
    for (const rest of ['< 2', 'like "*"', '+ 1 == 2', '.a == 1', '.contains(1)', ''])
      expect(holds(`${member} ${rest}`, given)).toContain(' failed: ')
  }
})

test('Metadata without a Cedar value equals itself, and changes nothing around it', () => {
  const lists = { a: [1.5, null], b: [null, 1.5], c: [2.5, null], d: ['1.5', 'null'] }
  const list = ['a', 1.5, [null], { b: null, c: 1 }]
  const given = withMetadata({ ...lists, list, object: { f: 0.5, ok: 1 } })
  const M = 'principal.metadata'
  expectAll(
    [
      `${M}.a == ${M}.b && ${M}.a != ${M}.c && ${M}.a != ${M}.d`,
      `${M}.list.contains("a") && ${M}.list != ["a"] && !${M}.list.contains({"c": 1})`,
      `${M}.object.ok == 1 && ${M}.object has f && ${M}.object != {"ok": 1}`,
    ],
    given,
  )
  for (const type of ['unsupported', 'un-supported', 'x:unsupported'])
    for (const id of ['1.5', 'null'])
      for (const condition of [
        `[${M}.fraction].contains(resource)`,
        `resource == ${M}.gone`,
        `resource in ${M}.fraction`,
      ])
        expect(holds(condition, { ...withMetadata(ODD), resource: `${type}:${id}` })).toBe(false)
})

const deep = (levels: number, core: Json): Json =>
  levels === 0 ? core : { a: deep(levels - 1, core) }
const BLOCKED = 'principal has metadata && principal.metadata has blocked'
const BANNED = 'principal.metadata has tags && principal.metadata.tags.contains("banned")'
const FLAGGED = 'principal.metadata has a && principal.metadata.a has blocked'

test.each<[string, JsonObject]>([
  [BLOCKED, { blocked: true }],
  [BLOCKED, { blocked: [1.5] }],
  [BLOCKED, { blocked: null }],
  [BLOCKED, { blocked: { '\ud800': 1 } }],
  [BLOCKED, { blocked: true, pad: 'x'.repeat(20_000) }],
  ['principal has metadata.blocked', { blocked: true, pad: 'x'.repeat(20_000) }],
  ['principal["met\\u{61}data"] has blocked', { blocked: true, pad: 'x'.repeat(20_000) }],
  [BANNED, { tags: ['banned', 1.5] }],
  [BANNED, { tags: ['banned', null, { __expr: 1 }] }],
  [BANNED, { tags: ['banned', deep(20, 1)] }],
  [FLAGGED, { a: { blocked: 1, __extn: { fn: 'ip', arg: '::' } } }],
  [FLAGGED, { a: { blocked: deep(20, 1) } }],
])('Metadata cannot evade a policy that forbids: %s', (condition, metadata) => {
  const text = PERMIT + forbidWhen(condition)
  expect(decide(text, withMetadata({})).allowed).toBe(true)
  expect(decide(text, withMetadata(metadata)).allowed).toBe(false)
})

const READS = permitWhen('principal has metadata')

test.each<[JsonObject, JsonObject, string]>([
  [{ s: 'x'.repeat(16_376) }, { s: 'x'.repeat(16_377) }, 'is larger than 16 KB, the limit for'],
  [{ s: Array(300).fill(0.5) }, { s: Array(400).fill(0.5) }, 'has too many nulls, fractions'],
  [deep(15, {}) as JsonObject, deep(16, {}) as JsonObject, 'is nested deeper than 16 levels'],
  [{ a: [{ entity: 1 }] }, { a: [{ __entity: 1 }] }, 'has a member __entity'],
  [{ a: { fn: 1 } }, { a: { __extn: { fn: 'ip', arg: '::' } } }, 'has a member __extn, a name'],
  [{ é: 1 }, { '\ud800': 1 }, 'has a member whose name is not valid Unicode'],
])('Metadata that policies cannot hold denies, and the reason says so: %# %s', (fine, bad, why) => {
  expect(decide(READS, withMetadata(fine)).reason).toBe('permitted by policy "policy 1"')
  const reason = expect.stringContaining(`the subject's metadata_public ${why}`)
  for (const text of [READS, PERMIT + READS])
    expect(decide(text, withMetadata(bad))).toEqual(denied(reason))
})

test('Policies that read no metadata are not affected by it', () => {
  const given = withMetadata({ s: 'x'.repeat(50_000), deep: deep(60, {}), __entity: { id: 'a' } })
  expect(decide(PERMIT, given).allowed).toBe(true)
  expect(holds('principal.email_verified && context has s', given)).toBe(false)
})

const admin = person({ roles: ['admin'] })
const PRINCIPALS = [
  ...[person(), admin, person({ roles: ['Admin', 'editor', 'admin '] }), SERVICE],
  person({ id: 'a"\\b', isEmailVerified: false, metadata: { roles: ['admin'], admin: true } }),
  person({ id: TENANT }),
]
const ACTIONS = ['read', 'keys.list', 'keys.readd', 'a.b.read', 'keys.Read']
const RESOURCES = [
  ...[`tenant:${TENANT}`, 'tenant:another', 'identity:alice', 'identity:a"\\b'],
  ...[`identity:${TENANT}`, 'service:alice', 'tenant:key:k1'],
]

test('The starter set decides the same in code as in Cedar, and uses all its policies', () => {
  const pdp = createPdp()
  // One character more than the starter set, so that Cedar evaluates it.
  const custom = { tenantId: TENANT, version: 1, text: `${STARTER_SET}//` }
  const questions = PRINCIPALS.flatMap((principal) =>
    ACTIONS.flatMap((action) =>
      RESOURCES.map((resource) => question({ principal, action, resource })),
    ),
  )
  const decided = questions.map((asked) => pdp.decide(asked, null))
  expect(questions.map((asked) => pdp.decide(asked, custom))).toEqual(decided)
  expect(pdp.isStarted()).toBe(true)
  expect(decided.some(({ allowed }) => !allowed)).toBe(true)
  const used = new Set(decided.flatMap(({ policies }) => policies))
  expect(used).toEqual(new Set(check(STARTER_SET).map(({ name }) => name)))
})

test.each<[Given, string?]>([
  [{ action: 'documents.read' }, 'own-tenant-reads'],
  [{ action: 'documents.list' }, 'own-tenant-reads'],
  [{ resource: 'identity:alice' }, 'own-identity'],
  [{ principal: admin }, 'tenant-admins'],
  [{}, ''],
  [{ action: 'documents.unread' }, ''],
  [{ resource: 'identity:bob' }, ''],
  [{ resource: 'document:alice' }, ''],
  [{ resource: 'tenant:another', principal: admin }, ''],
  [{ action: 'documents.read', principal: SERVICE }, ''],
])('The starter set permits %j by %j', (of, name) => {
  const reason = name ? `permitted by policy "${name}"` : 'no policy permits this'
  const decision = { allowed: Boolean(name), policies: name ? [name] : [], reason }
  expect(createPdp().decide(question(of), null)).toEqual(decision)
})

test('The text of the starter set starts no engine, whatever its line ends', () => {
  const pdp = createPdp()
  for (const text of [STARTER_SET, STARTER_SET.replaceAll('\n', '\r\n'), `\n${STARTER_SET}\n`]) {
    const custom = { tenantId: TENANT, version: text.length, text }
    expect(pdp.decide(question({ action: 'a.read' }), custom).allowed).toBe(true)
  }
  expect(pdp.isStarted()).toBe(false)
})
