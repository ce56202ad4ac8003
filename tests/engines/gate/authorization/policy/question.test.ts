import { expect, test } from 'bun:test'
import { checkContext } from '../../../../../src/engines/gate/authorization/policy/context.ts'
import {
  checkAction,
  checkName,
  parseResource,
} from '../../../../../src/engines/gate/authorization/policy/question.ts'
import { refusalOf, ruleOf } from '../../identities/documents/support.ts'

test.each([
  ['tenant:t1', { kind: 'tenant', id: 't1' }],
  ['identity:Ünï "q"', { kind: 'identity', id: 'Ünï "q"' }],
  ['document:42', { kind: 'other', type: ['document'], id: '42' }],
  ['clockwork:access-key:k', { kind: 'other', type: ['clockwork', 'access-key'], id: 'k' }],
])('The resource %s has a type and an id', (text, resource) => {
  expect<unknown>(parseResource(text)).toEqual(resource)
})

const resource = parseResource
const action = checkAction
const subject = (text: string) => checkName(text, 'subject')

test.each<[(text: string) => unknown, string | undefined, ...string[]]>([
  [resource, undefined, `document:${'4'.repeat(247)}`],
  [resource, 'resource too_long', `document:${'4'.repeat(248)}`],
  [resource, 'resource required', ''],
  [resource, 'resource characters', 'document:4\n2', 'document:\ud800'],
  [resource, 'resource format', 'document', 'document:', ':42', 'a::b', 'Document:42', 'a-:1'],
  [resource, 'resource format', 'shop:9th:1', 'a--b:1', 'a-1:1', 'böse:1', 'a b:1', 'a"b:1'],
  [resource, 'resource reserved', 'shop:action:1'],
  [action, undefined, 'read', 'keys.read', 'A-1.b_2.c', 'a'.repeat(256)],
  [action, 'action format', '', '.', 'keys.', '.read', 'keys..read', 'keys.*', '*', 'a b'],
  [action, 'action format', 'é', 'a\n', 'x:y', 'x"y'],
  [action, 'action too_long', 'a'.repeat(257)],
  [subject, undefined, '日本 "x"', 'x'.repeat(256)],
  [subject, 'subject required', ''],
  [subject, 'subject characters', 'a\u0000', '\u0085'],
  [subject, 'subject too_long', 'x'.repeat(257)],
])('A question is checked: %# %s', (check, rule, ...texts) => {
  for (const text of texts) expect([text, ruleOf(() => check(text))]).toEqual([text, rule])
})

const deep = (levels: number): object => (levels === 1 ? { a: 1 } : { a: deep(levels - 1) })

test.each<[unknown, string | undefined]>([
  [{ a: true, n: -9007199254740991, s: 'ü', l: [1, [2], {}], o: { '': 'x' } }, undefined],
  [null, 'context'],
  [[1], 'context'],
  [{ a: null }, 'context.a'],
  [{ l: [1, null] }, 'context.l[1]'],
  [{ o: { 'a b': [{ c: 0.1 }] } }, 'context.o["a b"][0].c'],
  [{ n: 2 ** 53 }, 'context.n'],
  [{ n: Number.POSITIVE_INFINITY }, 'context.n'],
  [{ e: { __entity: {} } }, 'context.e.__entity'],
  [{ __extn: { fn: 'ip', arg: '' } }, 'context.__extn'],
  [{ a: [{ __expr: 'true' }] }, 'context.a[0].__expr'],
  [JSON.parse('{"a":{"__proto__":1}}'), 'context.a.__proto__'],
  [{ s: '\ud800' }, 'context.s'],
  [{ '\udfff': 1 }, 'context["\\udfff"]'],
  [deep(8), undefined],
  [deep(9), 'context'],
  [deep(5000), 'context'],
  [{ s: 'x'.repeat(8192 - 8) }, undefined],
  [{ s: 'é'.repeat(4093) }, 'context'],
])('The context is checked: %# %s', (context, field) => {
  expect(refusalOf(() => checkContext(context))?.field).toBe(field as string)
})
