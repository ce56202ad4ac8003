import { describe, expect, test } from 'bun:test'
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
  'read',
  'list',
  'keys.read',
  'keys.list',
  'a.b.read',
  'keys.read.all',
  'keys.readd',
  'keys.write',
  'read.keys',
  'keys.Read',
]
const RESOURCES = [
  `tenant:${TENANT}`,
  'tenant:another',
  'identity:alice',
  'identity:bob',
  'identity:a"\\b',
  `identity:${TENANT}`,
  'service:alice',
  'role:admin',
  'document:alice',
  'passepartout:key:k1',
  'tenant:key:k1',
]

/** Every question that these make. */
const questions: Question[] = PRINCIPALS.flatMap((principal) =>
  ACTIONS.flatMap((action) =>
    RESOURCES.map((resource) => question({ principal, action, resource })),
  ),
)

describe('the starter set', () => {
  test('says the same as code and as policies', () => {
    const pdp = createPdp()
    // One character more than the starter set, so that the engine has to answer.
    const custom = { tenantId: TENANT, version: 1, text: `${STARTER_SET}//` }
    const differing = questions.filter(
      (asked) => !Bun.deepEquals(pdp.decide(asked, null), pdp.decide(asked, custom)),
    )

    expect(pdp.isStarted()).toBe(true)
    expect(differing).toEqual([])
  })

  test('permits, and for each of its reasons, in a part of these questions', () => {
    const pdp = createPdp()
    const decided = questions.map((asked) => pdp.decide(asked, null))
    const names = new Set(decided.flatMap(({ policies }) => policies))

    expect(questions).toHaveLength(880)
    expect(decided.some(({ allowed }) => !allowed)).toBe(true)
    expect([...names].sort()).toEqual(
      check(STARTER_SET)
        .map(({ name }) => name)
        .sort(),
    )
  })

  test.each<[string, Parameters<typeof question>[0], string]>([
    ['reads in the own tenant', { action: 'documents.read' }, 'own-tenant-reads'],
    ['lists in the own tenant', { action: 'documents.list' }, 'own-tenant-reads'],
    ['the own identity', { resource: 'identity:alice' }, 'own-identity'],
    ['an admin in the tenant', { principal: person({ roles: ['admin'] }) }, 'tenant-admins'],
  ])('permits %s', (_, of, name) => {
    expect(createPdp().decide(question(of), null)).toEqual({
      allowed: true,
      policies: [name],
      reason: `permitted by policy "${name}"`,
    })
  })

  test.each<[string, Parameters<typeof question>[0]]>([
    ['writing', {}],
    ['reading that is only called so', { action: 'documents.unread' }],
    ['another identity', { resource: 'identity:bob' }],
    ['what goes by the id of the own identity', { resource: 'document:alice' }],
    [
      'another tenant, also to an admin',
      { resource: 'tenant:another', principal: person({ roles: ['admin'] }) },
    ],
    ['a service', { action: 'documents.read', principal: { kind: 'service', id: 'alice' } }],
  ])('does not permit %s', (_, of) => {
    expect(createPdp().decide(question(of), null)).toEqual({
      allowed: false,
      policies: [],
      reason: 'no policy permits this',
    })
  })

  test('starts no engine, nor does the same text with other line ends', () => {
    const pdp = createPdp()
    const texts = [STARTER_SET, STARTER_SET.replaceAll('\n', '\r\n'), `\n${STARTER_SET}\n`]
    const answers = texts.map((text) =>
      pdp.decide(question({ action: 'a.read' }), { tenantId: TENANT, version: text.length, text }),
    )

    expect(answers.map(({ allowed }) => allowed)).toEqual([true, true, true])
    expect(pdp.isStarted()).toBe(false)
  })
})
