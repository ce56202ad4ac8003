import { expect, test } from 'bun:test'
import {
  checkJsonObject,
  jsonBytes,
  levelsOf,
} from '../../../../../src/engines/gate/identities/documents/json.ts'
import { mergePatch } from '../../../../../src/engines/gate/identities/documents/merge-patch.ts'
import {
  isPointer,
  readPointer,
  showPointer,
} from '../../../../../src/engines/gate/identities/documents/pointer.ts'
import { saysTheSame } from '../../../../../src/engines/gate/identities/documents/same.ts'
import { frozen, nested, refusalOf, ruleOf } from './support.ts'

const check = (value: unknown, mostBytes = 65_536) =>
  ruleOf(() => checkJsonObject(value, 'data', { mostBytes }))

test.each([
  ['{"a":null,"b":[true,"x",1.5,{"c":[]}],"":{"":""},"a.b":"\u{1f600}"}', undefined],
  ['{"n":[9007199254740991,-9007199254740991,0.1,-0,1e15,5e-324]}', undefined],
  ['{"constructor":1,"prototype":{},"toString":2,"_proto_":4,"__proto":5}', undefined],
  ['null', 'data type'],
  ['[{}]', 'data type'],
  ['"{}"', 'data type'],
  ['{"a":{"b":9007199254740992}}', 'data.a.b range'],
  ['{"a":[0,{"b":-9007199254740992}]}', 'data.a.1.b range'],
  ['{"a":1e300}', 'data.a range'],
  ['{"a":[-1e400]}', 'data.a.0 range'],
  ['{"__proto__":null}', 'data.__proto__ reserved'],
  ['{"a":[{"b":{"\\u005f_proto__":{"isAdmin":true}}}]}', 'data.a.0.b.__proto__ reserved'],
])('%s is stored or refused: %s', (json, rule) => expect(check(JSON.parse(json))).toBe(rule))

test('An object has a limited size in UTF-8, and up to 64 levels', () => {
  expect(check(undefined)).toBe('data type')
  expect(jsonBytes({ a: 'é\n' })).toBe(12)
  expect([check({ a: 'é\n' }, 12), check({ a: 'é\n' }, 11)]).toEqual([undefined, 'data too_large'])
  expect(check({ a: JSON.parse(nested(63)) })).toBeUndefined()
  expect(check({ a: JSON.parse(nested(64)) })).toEndWith('.0.0.0 too_deep')
  const long = { ['a'.repeat(5000)]: 1e300 }
  const refusal = refusalOf(() => checkJsonObject(long, 'data', { mostBytes: 9000 }))
  expect(refusal?.field).toBe(`data.${'a'.repeat(100)}`)
})

test.each([
  ['{"a":1,"b":{"c":2,"d":3}}', '{"b":{"d":3,"c":2},"a":1}', true],
  ['[1.0,0]', '[1,-0]', true],
  ['"\\u0061\\/"', '"a/"', true],
  ['1', '"1"', false],
  ['0', 'false', false],
  ['[]', '{}', false],
  ['{}', 'null', false],
  ['[1,2]', '[2,1]', false],
  ['[1]', '[1,1]', false],
  ['[1]', '{"0":1}', false],
  ['{"a":1}', '{"a":1,"b":1}', false],
  ['{"a":null}', '{"b":null}', false],
  ['{"a":1}', '{"toString":1}', false],
  ['{"a":{}}', '{"__proto__":{}}', false],
  ['{"a":{}}', '{"a":[]}', false],
  ['"\u00e9"', '"e\u0301"', false],
])('%s equals %s: %p', (one, other, isSame) => {
  expect(saysTheSame(JSON.parse(one), JSON.parse(other))).toBe(isSame)
  expect(saysTheSame(JSON.parse(other), JSON.parse(one))).toBe(isSame)
})

test('A pointer is read and written again, and truncated in messages', () => {
  for (const [text, tokens] of <[string, string[]][]>[
    ['', []],
    ['/foo/0', ['foo', '0']],
    ['/', ['']],
    ['/a~1b', ['a/b']],
    ['/i\\j k"l%d', ['i\\j k"l%d']],
    ['/~01', ['~1']],
    ['/~10', ['/0']],
    ['/~00~11', ['~0/1']],
    ['/a//b/', ['a', '', 'b', '']],
    ['/é/\u{1f600}', ['é', '\u{1f600}']],
  ]) {
    expect([text, isPointer(text)]).toEqual([text, true])
    expect(readPointer(text)).toEqual(tokens)
    expect(showPointer(tokens)).toBe(text)
  }
  for (const text of ['foo', 'foo/bar', ' /foo', '#/foo', '/a~', '/~2', '/a/~x', '/~~0', '~0'])
    expect([text, isPointer(text)]).toEqual([text, false])
  expect(showPointer(['a'.repeat(300)])).toBe(`/${'a'.repeat(199)}…`)
  expect(showPointer(['a'.repeat(199)])).toBe(`/${'a'.repeat(199)}`)
})

test.each([
  // RFC 7396, appendix A.
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
  // Others.
  ['{"a":1}', '{"a":{}}', '{"a":{}}'],
  ['{"a":{"b":{"c":1,"d":2}}}', '{"a":{"b":{"c":null}}}', '{"a":{"b":{"d":2}}}'],
  ['{}', '{"a":[null,{"b":null}]}', '{"a":[null,{"b":null}]}'],
  ['{"a":false}', '{"a":0,"b":"","c":false}', '{"a":0,"b":"","c":false}'],
  ['"text"', '{"length":{"a":1}}', '{"length":{"a":1}}'],
  // Names that objects inherit are ordinary names.
  ['{}', '{"toString":null,"constructor":{"x":{"y":1}}}', '{"constructor":{"x":{"y":1}}}'],
  ['{"a":{"b":1}}', '{"__proto__":{"x":1}}', '{"a":{"b":1},"__proto__":{"x":1}}'],
  ['{"a":{"b":1}}', '{"a":{"__proto__":{"x":1}}}', '{"a":{"b":1,"__proto__":{"x":1}}}'],
])('%s merged with %s is %s', (target, patch, expected) => {
  const merged = mergePatch(frozen(JSON.parse(target)), frozen(JSON.parse(patch)))
  expect(JSON.stringify(merged)).toBe(expected)
  expect(({} as Record<string, unknown>).x).toBeUndefined()
})

test('The result of a merge nests no deeper than the deeper input', () => {
  for (const [value, levels] of [
    ['x', 0],
    [null, 0],
    [{}, 1],
    [[1, [2], { a: { b: [] } }, 3], 4],
  ] as const)
    expect(levelsOf(value as never)).toBe(levels)
  const deep = JSON.parse(`{"a":{"b":${nested(62)}}}`)
  expect(levelsOf(mergePatch({ a: { b: { c: { d: 1 } } } }, deep))).toBe(64)
  expect(levelsOf(mergePatch(deep, { a: { b: { c: { d: 1 } } } }))).toBe(4)
  expect(levelsOf(mergePatch(deep, { a: { c: {} } }))).toBe(64)
})
