import { expect, test } from 'bun:test'
import { startCedar } from '../../../../../src/engines/gate/authorization/policy/cedar.ts'
import { asked } from '../../../../../src/engines/gate/authorization/policy/entities.ts'
import { createPdp } from '../../../../../src/engines/gate/authorization/policy/pdp.ts'
import type { Question } from '../../../../../src/engines/gate/authorization/policy/question.ts'
import { withoutScope } from '../../../../../src/engines/gate/authorization/policy/scan.ts'
import type { JsonObject } from '../../../../../src/engines/gate/identities/documents/json.ts'
import { seeded } from '../../identities/documents/support.ts'
import { check, type Given, permitWhen, person, question, SERVICE, TENANT } from './support.ts'

const PRINCIPALS = [
  'principal',
  'principal is Identity',
  'principal is Service',
  'principal == Identity::"alice"',
  'principal == Service::"alice"',
  'principal in Identity::"alice"',
  'principal in Role::"editor"',
  'principal is Identity in Role::"admin"',
  'principal is Service in Role::"admin"',
  `principal in Tenant::"${TENANT}"`,
]
const ACTIONS = [
  'action',
  'action == Action::"documents.edit"',
  'action in Action::"documents.*"',
  'action in [Action::"documents.*", Action::"*.read", Action::"documents.edit"]',
  'action in []',
  'action in [Action::"*.read", Action::"documents.*"]',
]
const RESOURCES = [
  'resource',
  'resource is Document',
  'resource == Document::"42"',
  'resource in Role::"editor"',
  'resource is Identity in Role::"admin"',
  `resource is Document in Tenant::"${TENANT}"`,
  `resource == Tenant::"${TENANT}"`,
]
const CONDITIONS = [
  'true',
  'context.n > 1',
  'context has n && context.n > 1',
  'context has o.a && context.o.a == 1',
  'context == {"n": 1}',
  'principal has email && principal.email_verified',
  'principal.roles.contains("admin")',
  'principal == resource',
  'principal.id == resource.id',
  'resource in principal.tenant',
  'principal in Role::"editor" || context.n == 1',
  'action in Action::"*.read"',
  'resource is Document && resource.tenant == principal.tenant',
  'principal.tenant.id == "a"',
  'principal.tenant has id && principal.tenant.id == resource.id',
  'principal.tenant in resource',
  'principal.tenant is Tenant in resource',
  'Role::"editor" in principal.tenant',
  'Role::"editor" has id',
  '(if context has n then resource else principal).id == "42"',
  '[principal, Identity::"bob"].contains(resource)',
  'principal has metadata && principal.metadata has plan && principal.metadata.plan == "pro"',
  'resource has metadata.plan',
  'principal.nothing == 1',
  '{"a": principal}.a.id == "alice"',
]

const CONTEXTS: JsonObject[] = [{}, { n: 1 }, { n: 2 }, { o: { a: 1 } }]
const ALICE = person()
const QUESTIONS: Given[] = [
  ...[
    ALICE,
    SERVICE,
    person({ roles: ['editor'] }),
    person({ id: 'bob', roles: ['admin', 'editor'] }),
  ],
  ...[person({ metadata: { plan: 'pro' } }), person({ isEmailVerified: false, roles: ['admin'] })],
].flatMap((principal) =>
  ['documents.edit', 'documents.read', 'keys.read'].flatMap((action) =>
    ['document:42', 'identity:alice', 'identity:bob', 'role:editor', `tenant:${TENANT}`].flatMap(
      (resource) => CONTEXTS.map((context) => ({ ...{ principal, action, resource, context } })),
    ),
  ),
)

const cedar = startCedar()
const pdp = createPdp()

/** What Cedar decides by all policies and the whole question. */
function whole(texts: Record<string, string>) {
  cedar.keep('all', texts)
  const readsMetadata = Object.values(texts).some((text) => text.includes('metadata'))
  return (of: Question) => {
    const { principal } = of
    const held = principal.kind === 'identity' && readsMetadata ? principal.metadata : undefined
    const call = { ...asked(of, held as never), preparsedPolicySetId: 'all' }
    const answer = cedar.ask(call)
    if (answer.type === 'failure') throw new Error(answer.errors[0]?.message)
    const { decision, diagnostics } = answer.response
    const failed = diagnostics.errors.map(({ policyId }) => policyId)
    const isForbidden = decision === 'deny' && diagnostics.reason.length > 0
    const deciding = failed.length > 0 && !isForbidden ? failed : diagnostics.reason
    const allowed = decision === 'allow' && failed.length === 0
    return { allowed, policies: deciding.toSorted() }
  }
}

test('Only the policies in whose scope a question is are evaluated, with the decision of all', () => {
  const below = seeded(99)
  const one = <T>(items: readonly T[]) => items[below(items.length)] as T
  const decided = new Set<string>()
  for (let round = 0; round < 30; round++) {
    const texts: Record<string, string> = {}
    for (let n = 0; n < 1 + below(12); n++) {
      const effect = below(4) === 0 ? 'forbid' : 'permit'
      const scope = `${one(PRINCIPALS)}, ${one(ACTIONS)}, ${one(RESOURCES)}`
      texts[`p${n}`] = `@id("p${n}") ${effect} (${scope}) when { ${one(CONDITIONS)} };`
    }
    const text = Object.values(texts).join('\n')
    const expected = whole(texts)
    for (let n = 0; n < 60; n++) {
      const of = question(one(QUESTIONS))
      const { allowed, policies } = pdp.decide(of, { tenantId: TENANT, version: round, text })
      expect([text, of, { allowed, policies }]).toEqual([text, of, expected(of)])
      decided.add(`${allowed} ${policies.length}`)
    }
  }
  for (const kind of ['true 1', 'true 2', 'false 0', 'false 1']) expect(decided).toContain(kind)
})

test.each(['role', 'resource', 'context'])('A decision is not that of another %s', (part) => {
  const policies = `${permitWhen('principal in Role::"a" && resource.id == "1" && context.ok')}
    permit (principal, action, resource is Other);`
  const yes = { principal: person({ roles: ['a'] }), resource: 'document:1', context: { ok: true } }
  const no = {
    role: { principal: person({ roles: ['b'] }) },
    resource: { resource: 'document:2' },
    context: { context: { ok: false } },
  }[part]
  const custom = { tenantId: TENANT, version: part, text: policies }
  for (const [of, allowed] of [
    [yes, true],
    [{ ...yes, ...no }, false],
    [yes, true],
  ] as const)
    expect(pdp.decide(question(of), custom).allowed).toBe(allowed)
})

test('The message of a failure names the subject of its own question', () => {
  const custom = { tenantId: TENANT, version: 1, text: permitWhen('principal.nothing == 1') }
  const reasonFor = (id: string) =>
    pdp.decide(question({ principal: person({ id }) }), custom).reason
  expect(reasonFor('alice')).toContain('Identity::"alice"')
  expect(reasonFor('bob')).toContain('Identity::"bob"')
})

test.each([
  '@id(") permit (") permit(principal == User::"(\\")", action, resource) when { true };',
  '@permit("(") @forbid // permit (\n forbid // (\n (principal, action in [Action::")"], resource);',
])('The scope of a policy is found behind annotations and comments: %s', (text) => {
  expect(check(text)).toHaveLength(1)
  const scope = /\(principal, action, resource\)/
  expect(withoutScope(text)).toMatch(scope)
})
