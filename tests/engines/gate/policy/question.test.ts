import { describe, expect, test } from 'bun:test'
import { checkContext } from '../../../../src/engines/gate/policy/context.ts'
import {
  checkAction,
  checkName,
  parseResource,
} from '../../../../src/engines/gate/policy/question.ts'
import { refusalOf } from './support.ts'

describe('the resource of a question', () => {
  test('is the tenant, an identity, or a type of words and an id behind the last colon', () => {
    expect(parseResource('tenant:t1')).toEqual({ kind: 'tenant', id: 't1' })
    expect(parseResource('identity:Ünï "q"')).toEqual({ kind: 'identity', id: 'Ünï "q"' })
    expect(parseResource('document:42')).toEqual({ kind: 'other', type: ['document'], id: '42' })
    expect(parseResource('clockwork:access-key:k_1')).toEqual({
      kind: 'other',
      type: ['clockwork', 'access-key'],
      id: 'k_1',
    })
  })

  test.each([
    ['document', 'expected a type and an id'],
    ['document:', 'expected a type and an id'],
    [':42', 'expected a type and an id'],
    ['', 'expected at least one character'],
    [`document:${'4'.repeat(248)}`, 'longer than 256 characters'],
    ['document:4\n2', 'expected no control characters'],
    ['document:\ud800', 'expected no control characters'],
    ['a::b', '"" cannot be part of a type'],
    ['Document:42', '"Document" cannot be part of a type'],
    ['shop:9th:1', '"9th" cannot be part of a type'],
    ['a-:1', '"a-" cannot be part of a type'],
    ['a-1:1', '"a-1" cannot be part of a type'],
    ['böse:1', '"böse" cannot be part of a type'],
    ['a b:1', '"a b" cannot be part of a type'],
    ['shop:action:1', 'a type cannot end in action'],
  ])('%p is refused', (text, problem) => {
    expect(refusalOf(() => parseResource(text))).toStartWith(`resource: ${problem}`)
  })

  test('may be as long as 256 characters', () => {
    expect(parseResource(`document:${'4'.repeat(247)}`).id).toHaveLength(247)
  })
})

describe('the action of a question', () => {
  test.each(['read', 'keys.read', 'A-1.b_2.c', 'a'.repeat(256)])('%p is one', (text) => {
    expect(() => checkAction(text)).not.toThrow()
  })

  test.each(['', '.', 'keys.', '.read', 'keys..read', 'keys.*', '*', 'a b', 'é', 'a\n'])(
    '%p is refused',
    (text) => {
      expect(refusalOf(() => checkAction(text))).toStartWith('action: expected words')
    },
  )

  test('is refused beyond 256 characters', () => {
    expect(refusalOf(() => checkAction('a'.repeat(257)))).toBe('action: longer than 256 characters')
  })
})

test('a name is refused in terms of its field', () => {
  expect(() => checkName('日本 "x"', 'subject')).not.toThrow()
  expect(refusalOf(() => checkName('', 'subject'))).toBe('subject: expected at least one character')
})

describe('the context of a question', () => {
  test('may hold truth values, whole numbers, strings, lists and objects', () => {
    const context = { a: true, n: -9007199254740991, s: 'ü', l: [1, [2], {}], o: { '': 'x' } }

    expect(checkContext(context)).toBe(context)
  })

  const proto = JSON.parse('{"a":{"__proto__":1}}')
  test.each<[unknown, string]>([
    [null, 'context: expected a JSON object'],
    [[1], 'context: expected a JSON object'],
    [{ a: null }, 'context.a: null is not supported; leave the member out'],
    [{ l: [1, null] }, 'context.l[1]: null is not supported; leave the member out'],
    [
      { amount: 1.5 },
      'context.amount: fractions are not supported; send a whole number or a string',
    ],
    [
      { o: { 'a b': [{ c: 0.1 }] } },
      'context.o["a b"][0].c: fractions are not supported; send a whole number or a string',
    ],
    [{ n: 2 ** 53 }, 'context.n: numbers end at 9007199254740991; send a string'],
    [{ n: JSON.parse('1e999') }, 'context.n: numbers end at 9007199254740991; send a string'],
    [{ e: { __entity: {} } }, 'context.e.__entity: no member may have this name'],
    [{ __extn: { fn: 'ip', arg: '' } }, 'context.__extn: no member may have this name'],
    [proto, 'context.a.__proto__: no member may have this name'],
    [{ s: '\ud800' }, 'context.s: not Unicode text'],
    [{ '\udfff': 1 }, 'context["\\udfff"]: its name is not Unicode text'],
  ])('%j is refused', (context, message) => {
    expect(refusalOf(() => checkContext(context))).toBe(message)
  })

  test('is 8 levels deep at most, whatever there is below', () => {
    const deep = (levels: number): object => (levels === 1 ? { a: 1 } : { a: deep(levels - 1) })

    expect(() => checkContext(deep(8))).not.toThrow()
    expect(refusalOf(() => checkContext(deep(9)))).toBe('context: nested deeper than 8 levels')
    expect(refusalOf(() => checkContext(deep(5000)))).toBe('context: nested deeper than 8 levels')
  })

  test('is 8 KB of JSON at most', () => {
    expect(() => checkContext({ s: 'x'.repeat(8192 - 8) })).not.toThrow()
    expect(refusalOf(() => checkContext({ s: 'é'.repeat(4093) }))).toBe(
      'context: larger than 8 KB as JSON',
    )
  })
})
