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

test.each([
  [`document:${'4'.repeat(247)}`, undefined],
  [`document:${'4'.repeat(248)}`, 'too_long'],
  ['document', 'format'],
  ['document:', 'format'],
  [':42', 'format'],
  ['', 'required'],
  ['document:4\n2', 'characters'],
  ['document:\ud800', 'characters'],
  ['a::b', 'format'],
  ['Document:42', 'format'],
  ['shop:9th:1', 'format'],
  ['a-:1', 'format'],
  ['a--b:1', 'format'],
  ['a-1:1', 'format'],
  ['böse:1', 'format'],
  ['a b:1', 'format'],
  ['a"b:1', 'format'],
  ['shop:action:1', 'reserved'],
])('The resource %p is checked: %s', (text, rule) => {
  expect(ruleOf(() => parseResource(text))).toBe(rule && `resource ${rule}`)
})

test.each([
  ...['read', 'keys.read', 'A-1.b_2.c', 'a'.repeat(256)].map((text) => [text, undefined] as const),
  ...['', '.', 'keys.', '.read', 'keys..read', 'keys.*', '*', 'a b', 'é', 'a\n', 'x:y', 'x"y'].map(
    (text) => [text, 'action format'] as const,
  ),
  ['a'.repeat(257), 'action too_long'],
])('The action %p is checked: %s', (text, rule) => {
  expect(ruleOf(() => checkAction(text))).toBe(rule)
})

test.each([
  ['日本 "x"', undefined],
  ['', 'subject required'],
  ['a\u0000', 'subject characters'],
  ['\u0085', 'subject characters'],
  ['x'.repeat(257), 'subject too_long'],
])('The subject %p is checked: %s', (text, rule) => {
  expect(ruleOf(() => checkName(text, 'subject'))).toBe(rule)
})

const deep = (levels: number): object => (levels === 1 ? { a: 1 } : { a: deep(levels - 1) })

test.each<[unknown, string | undefined]>([
  [{ a: true, n: -9007199254740991, s: 'ü', l: [1, [2], {}], o: { '': 'x' } }, undefined],
  [null, 'context'],
  [[1], 'context'],
  [{ a: null }, 'context.a'],
  [{ l: [1, null] }, 'context.l[1]'],
  [{ amount: 1.5 }, 'context.amount'],
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
