import { expect, test } from 'bun:test'
import { createPdp } from '../../../../../src/engines/gate/authorization/policy/pdp.ts'
import type {
  Principal,
  Question,
} from '../../../../../src/engines/gate/authorization/policy/question.ts'
import { STARTER_SET } from '../../../../../src/engines/gate/authorization/policy/starter.ts'
import { check, person, question, TENANT } from './support.ts'

const PRINCIPALS: Principal[] = [
  person(),
  person({ roles: ['admin'] }),
  person({ roles: ['Admin', 'editor', 'admin '] }),
  person({ roles: ['editor', 'admin', 'admin'] }),
  person({ id: 'a"\\b', isEmailVerified: false, metadata: { roles: ['admin'], admin: true } }),
  person({ id: TENANT }),
  { kind: 'service', id: 'alice' },
  { kind: 'service', id: 'admin' },
]
const ACTIONS = [
  ...['read', 'list', 'keys.read', 'keys.list', 'a.b.read', 'keys.read.all', 'keys.readd'],
  ...['keys.write', 'read.keys', 'keys.Read'],
]
const RESOURCES = [
  ...[`tenant:${TENANT}`, 'tenant:another', 'identity:alice', 'identity:bob', 'identity:a"\\b'],
  ...[`identity:${TENANT}`, 'service:alice', 'role:admin', 'document:alice'],
  ...['passepartout:key:k1', 'tenant:key:k1'],
]

test('The starter set decides the same as code and as policies, and uses each of its policies', () => {
  const pdp = createPdp()
  // One character more than the starter set, so that Cedar evaluates it.
  const custom = { tenantId: TENANT, version: 1, text: `${STARTER_SET}//` }
  const questions: Question[] = PRINCIPALS.flatMap((principal) =>
    ACTIONS.flatMap((action) =>
      RESOURCES.map((resource) => question({ principal, action, resource })),
    ),
  )
  const decided = questions.map((asked) => pdp.decide(asked, null))
  expect(questions.map((asked) => pdp.decide(asked, custom))).toEqual(decided)
  expect(pdp.isStarted()).toBe(true)
  expect(decided).toHaveLength(880)
  expect(decided.some(({ allowed }) => !allowed)).toBe(true)
  const used = new Set(decided.flatMap(({ policies }) => policies))
  const names = check(STARTER_SET).map(({ name }) => name)
  expect([...used].sort()).toEqual(names.sort())
})

const admin = person({ roles: ['admin'] })
const service = { kind: 'service', id: 'alice' } as const

test.each<[Parameters<typeof question>[0], string[]]>([
  [{ action: 'documents.read' }, ['own-tenant-reads']],
  [{ action: 'documents.list' }, ['own-tenant-reads']],
  [{ resource: 'identity:alice' }, ['own-identity']],
  [{ principal: admin }, ['tenant-admins']],
  [{}, []],
  [{ action: 'documents.unread' }, []],
  [{ resource: 'identity:bob' }, []],
  [{ resource: 'document:alice' }, []],
  [{ resource: 'tenant:another', principal: admin }, []],
  [{ action: 'documents.read', principal: service }, []],
])('The starter set permits %j by %j', (of, policies) => {
  const [name] = policies
  const reason = name ? `permitted by policy "${name}"` : 'no policy permits this'
  const decision = { allowed: name !== undefined, policies, reason }
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
