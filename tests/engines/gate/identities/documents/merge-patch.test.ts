import { describe, expect, test } from 'bun:test'
import { levelsOf } from '../../../../../src/engines/gate/identities/documents/json.ts'
import { mergePatch } from '../../../../../src/engines/gate/identities/documents/merge-patch.ts'
import { frozen, nested } from './support.ts'

const merge = (target: string, patch: string) =>
  JSON.stringify(mergePatch(frozen(JSON.parse(target)), frozen(JSON.parse(patch))))

describe('the examples of RFC 7396, appendix A', () => {
  test.each([
    ['{"a":"b"}', '{"a":"c"}', '{"a":"c"}'],
    ['{"a":"b"}', '{"b":"c"}', '{"a":"b","b":"c"}'],
    ['{"a":"b"}', '{"a":null}', '{}'],
    ['{"a":"b","b":"c"}', '{"a":null}', '{"b":"c"}'],
    ['{"a":["b"]}', '{"a":"c"}', '{"a":"c"}'],
    ['{"a":"c"}', '{"a":["b"]}', '{"a":["b"]}'],
    ['{"a":{"b":"c"}}', '{"a":{"b":"d","c":null}}', '{"a":{"b":"d"}}'],
    ['{"a":[{"b":"c"}]}', '{"a":[1]}', '{"a":[1]}'],
    ['["a","b"]', '["c","d"]', '["c","d"]'],
    ['{"a":"b"}', '["c"]', '["c"]'],
    ['{"a":"foo"}', 'null', 'null'],
    ['{"a":"foo"}', '"bar"', '"bar"'],
    ['{"e":null}', '{"a":1}', '{"e":null,"a":1}'],
    ['[1,2]', '{"a":"b","c":null}', '{"a":"b"}'],
    ['{}', '{"a":{"bb":{"ccc":null}}}', '{"a":{"bb":{}}}'],
  ])('%s with %s', (target, patch, merged) => expect(merge(target, patch)).toBe(merged))
})

describe('beyond them', () => {
  test.each([
    ['{"a":1}', '{}', '{"a":1}'],
    ['{"a":{"b":1}}', '{"a":{}}', '{"a":{"b":1}}'],
    ['{"a":1}', '{"a":{}}', '{"a":{}}'],
    ['{"a":1,"b":2,"c":3}', '{"b":4}', '{"a":1,"b":4,"c":3}'],
    ['{"a":{"b":{"c":1,"d":2}}}', '{"a":{"b":{"c":null}}}', '{"a":{"b":{"d":2}}}'],
    ['{}', '{"a":[null,{"b":null}]}', '{"a":[null,{"b":null}]}'],
    ['{"a":false}', '{"a":0,"b":"","c":false}', '{"a":0,"b":"","c":false}'],
    [
      '{}',
      '{"toString":null,"constructor":{"prototype":{"x":1}}}',
      '{"constructor":{"prototype":{"x":1}}}',
    ],
    ['{"":1}', '{"":null}', '{}'],
    ['[{"b":2}]', '{"0":{"a":1}}', '{"0":{"a":1}}'],
    ['"text"', '{"length":{"a":1}}', '{"length":{"a":1}}'],
  ])('%s with %s', (target, patch, merged) => expect(merge(target, patch)).toBe(merged))
})

test('a member named __proto__ sets no prototype, at any depth', () => {
  const patch = JSON.parse('{"__proto__":{"x":1},"a":{"__proto__":{"y":{"z":2}}}}')

  const merged = mergePatch(JSON.parse('{"a":{"b":1}}'), patch) as Record<string, object>

  expect(Object.getPrototypeOf(merged)).toBe(Object.prototype)
  expect(Object.getPrototypeOf(merged.a)).toBe(Object.prototype)
  expect(JSON.stringify(merged)).toBe('{"a":{"b":1,"__proto__":{"y":{"z":2}}},"__proto__":{"x":1}}')
  expect(({} as Record<string, unknown>).x).toBeUndefined()
})

test('what an object inherits is not merged into', () => {
  const merged = mergePatch({}, { constructor: { prototype: { polluted: 1 } }, toString: { a: 1 } })

  expect(JSON.stringify(merged)).toBe(
    '{"constructor":{"prototype":{"polluted":1}},"toString":{"a":1}}',
  )
  expect(({} as Record<string, unknown>).polluted).toBeUndefined()
})

test('the outcome is nested no deeper than the deeper of the two', () => {
  const patch = JSON.parse(`{"a":{"b":${nested(62)}}}`)

  expect(levelsOf(mergePatch({ a: { b: { c: { d: 1 } } } }, patch))).toBe(64)
  expect(levelsOf(mergePatch(patch, { a: { b: { c: { d: 1 } } } }))).toBe(4)
  expect(levelsOf(mergePatch(patch, { a: { c: {} } }))).toBe(64)
})
