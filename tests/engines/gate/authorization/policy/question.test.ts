import { describe, expect, test } from 'bun:test'
import { checkContext } from '../../../../../src/engines/gate/authorization/policy/context.ts'
import {
  checkAction,
  checkName,
  parseResource,
} from '../../../../../src/engines/gate/authorization/policy/question.ts'
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
    ['document', 'must be a type and an id'],
    ['document:', 'must be a type and an id'],
    [':42', 'must be a type and an id'],
    ['', 'must not be empty'],
    [`document:${'4'.repeat(248)}`, 'must have at most 256 characters'],
    ['document:4\n2', 'must not contain control characters'],
    ['document:\ud800', 'must not contain control characters'],
    ['a::b', 'cannot have "" in its type'],
    ['Document:42', 'cannot have "Document" in its type'],
    ['shop:9th:1', 'cannot have "9th" in its type'],
    ['a-:1', 'cannot have "a-" in its type'],
    ['a-1:1', 'cannot have "a-1" in its type'],
    ['böse:1', 'cannot have "böse" in its type'],
    ['a b:1', 'cannot have "a b" in its type'],
    ['shop:action:1', 'must not have a type that ends in "action"'],
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
      expect(refusalOf(() => checkAction(text))).toStartWith('action: must be words')
    },
  )

  test('is refused beyond 256 characters', () => {
    expect(refusalOf(() => checkAction('a'.repeat(257)))).toBe(
      'action: must have at most 256 characters',
    )
  })
})

test('a name is refused in terms of its field', () => {
  expect(() => checkName('日本 "x"', 'subject')).not.toThrow()
  expect(refusalOf(() => checkName('', 'subject'))).toBe('subject: must not be empty')
})

describe('the context of a question', () => {
  test('may hold truth values, whole numbers, strings, lists and objects', () => {
    const context = { a: true, n: -9007199254740991, s: 'ü', l: [1, [2], {}], o: { '': 'x' } }

    expect(checkContext(context)).toBe(context)
  })

  const proto = JSON.parse('{"a":{"__proto__":1}}')
  test.each<[unknown, string]>([
    [null, 'context: must be a JSON object'],
    [[1], 'context: must be a JSON object'],
    [{ a: null }, 'context.a: must not be null; leave the member out'],
    [{ l: [1, null] }, 'context.l[1]: must not be null; leave the member out'],
    [{ amount: 1.5 }, 'context.amount: must be a whole number; send fractions as strings'],
    [
      { o: { 'a b': [{ c: 0.1 }] } },
      'context.o["a b"][0].c: must be a whole number; send fractions as strings',
    ],
    [{ n: 2 ** 53 }, 'context.n: must be at most 9007199254740991; send larger numbers as strings'],
    [
      { n: JSON.parse('1e999') },
      'context.n: must be at most 9007199254740991; send larger numbers as strings',
    ],
    [{ e: { __entity: {} } }, 'context.e.__entity: is a reserved member name'],
    [{ __extn: { fn: 'ip', arg: '' } }, 'context.__extn: is a reserved member name'],
    [proto, 'context.a.__proto__: is a reserved member name'],
    [{ s: '\ud800' }, 'context.s: must be valid Unicode'],
    [{ '\udfff': 1 }, 'context["\\udfff"]: must have a name in valid Unicode'],
  ])('%j is refused', (context, message) => {
    expect(refusalOf(() => checkContext(context))).toBe(message)
  })

  test('is 8 levels deep at most, whatever there is below', () => {
    const deep = (levels: number): object => (levels === 1 ? { a: 1 } : { a: deep(levels - 1) })

    expect(() => checkContext(deep(8))).not.toThrow()
    expect(refusalOf(() => checkContext(deep(9)))).toBe(
      'context: must not be nested deeper than 8 levels',
    )
    expect(refusalOf(() => checkContext(deep(5000)))).toBe(
      'context: must not be nested deeper than 8 levels',
    )
  })

  test('is 8 KB of JSON at most', () => {
    expect(() => checkContext({ s: 'x'.repeat(8192 - 8) })).not.toThrow()
    expect(refusalOf(() => checkContext({ s: 'é'.repeat(4093) }))).toBe(
      'context: must be at most 8 KB as JSON',
    )
  })
})
