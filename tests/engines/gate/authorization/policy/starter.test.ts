import { expect, test } from 'bun:test'
import { createPdp } from '../../../../../src/engines/gate/authorization/policy/pdp.ts'
import { STARTER_SET } from '../../../../../src/engines/gate/authorization/policy/starter.ts'
import { check, type Given, person, question, SERVICE, TENANT } from './support.ts'

const admin = person({ roles: ['admin'] })
const PRINCIPALS = [
  ...[person(), admin, person({ roles: ['Admin', 'editor', 'admin '] }), SERVICE],
  person({ roles: ['editor', 'admin', 'admin'] }),
  person({ id: 'a"\\b', isEmailVerified: false, metadata: { roles: ['admin'], admin: true } }),
  person({ id: TENANT }),
]
const ACTIONS = ['read', 'keys.list', 'a.b.read', 'keys.readd', 'read.keys', 'keys.Read']
const RESOURCES = [
  ...[`tenant:${TENANT}`, 'tenant:another', 'identity:alice', 'identity:a"\\b', 'role:admin'],
  ...[`identity:${TENANT}`, 'service:alice', 'document:alice', 'tenant:key:k1'],
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
  expect([...used].sort()).toEqual(
    check(STARTER_SET)
      .map(({ name }) => name)
      .sort(),
  )
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
