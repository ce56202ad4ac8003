import { describe, expect, test } from 'bun:test'
import {
  checkJsonObject,
  isJsonObject,
  jsonBytes,
  levelsOf,
} from '../../../../../src/engines/gate/identities/documents/json.ts'
import { saysTheSame } from '../../../../../src/engines/gate/identities/documents/same.ts'
import { nested, refusalOf } from './support.ts'

const refusal = (json: string, mostBytes = 65_536) =>
  refusalOf(() => checkJsonObject(JSON.parse(json), 'traits.custom_data', { mostBytes }))

describe('an object can be kept', () => {
  test.each([
    '{}',
    '{"a":null,"b":[true,"x",1.5,{"c":[]}]}',
    '{"n":[9007199254740991,-9007199254740991,0.1,-0,1e15,5e-324,0.1234567890123456789]}',
    '{"constructor":1,"prototype":{},"toString":2,"hasOwnProperty":3,"_proto_":4,"__proto":5}',
    '{"":{"":""},"a.b":1,"é":"\u{1f600}"}',
  ])('%s', (json) => expect(refusal(json)).toBeUndefined())
})

describe('no object', () => {
  test.each(['null', '[]', '[{}]', '"{}"', '1', 'true'])('%s', (json) => {
    expect(refusal(json)).toBe('traits.custom_data: must be a JSON object')
    expect(isJsonObject(JSON.parse(json))).toBe(false)
  })

  test('undefined', () => {
    expect(refusalOf(() => checkJsonObject(undefined, 'metadata_public', { mostBytes: 9 }))).toBe(
      'metadata_public: must be a JSON object',
    )
  })
})

describe('a number that would come back as another is refused, and named', () => {
  test.each([
    ['{"a":{"b":9007199254740992}}', 'a.b: would lose digits as a number; send it as a string'],
    ['{"a":{"b":9007199254740993}}', 'a.b: would lose digits as a number; send it as a string'],
    [
      '{"a":[0,{"b":-9007199254740992}]}',
      'a.1.b: would lose digits as a number; send it as a string',
    ],
    [
      '{"a":123456789012345678901234567890}',
      'a: would lose digits as a number; send it as a string',
    ],
    ['{"a":1e300}', 'a: would lose digits as a number; send it as a string'],
    ['{"a":[1e400]}', 'a.0: is too large for a number; send it as a string'],
    ['{"a":-1e400}', 'a: is too large for a number; send it as a string'],
  ])('%s', (json, message) => expect(refusal(json)).toBe(`traits.custom_data.${message}`))
})

describe('a member named __proto__ is refused at any depth', () => {
  test.each([
    ['{"__proto__":{}}', '__proto__'],
    ['{"__proto__":null}', '__proto__'],
    ['{"a":[{"b":{"__proto__":{"isAdmin":true}}}]}', 'a.0.b.__proto__'],
    ['{"\\u005f_proto__":1}', '__proto__'],
  ])('%s', (json, member) =>
    expect(refusal(json)).toBe(`traits.custom_data.${member}: is a reserved member name`),
  )
})

test('the size is that of the JSON in UTF-8', () => {
  expect(jsonBytes({ a: 'é\n' })).toBe(12)
  expect(refusal('{"a":"é\\n"}', 12)).toBeUndefined()
  expect(refusal('{"a":"é\\n"}', 11)).toBe('traits.custom_data: must be at most 11 bytes as JSON')
  expect(refusal(JSON.stringify({ a: 'x'.repeat(65_536 - 8) }))).toBeUndefined()
  expect(refusal(JSON.stringify({ a: 'x'.repeat(65_536 - 7) }))).toBe(
    'traits.custom_data: must be at most 65536 bytes as JSON',
  )
})

test('nesting ends at 64 levels, the object being the first', () => {
  expect(refusal(`{"a":${nested(63)}}`)).toBeUndefined()
  expect(refusal(`{"a":${nested(64)}}`)).toContain(
    '.0.0.0: must not be nested deeper than 64 levels',
  )
})

test('a long name is cut off in the message', () => {
  expect(refusal(JSON.stringify({ ['a'.repeat(5000)]: 1e300 }))).toBe(
    `traits.custom_data.${'a'.repeat(100)}: would lose digits as a number; send it as a string`,
  )
})

test('levels are those of objects and arrays', () => {
  expect(levelsOf('x')).toBe(0)
  expect(levelsOf(null)).toBe(0)
  expect(levelsOf({})).toBe(1)
  expect(levelsOf([1, [2], { a: { b: [] } }, 3])).toBe(4)
})

describe('values say the same whatever the order of members', () => {
  test.each([
    ['{"a":1,"b":{"c":2,"d":3}}', '{"b":{"d":3,"c":2},"a":1}'],
    ['1.0', '1'],
    ['0', '-0'],
    ['1e2', '100'],
    ['"\\u0061\\/"', '"a/"'],
    ['[]', '[]'],
    ['null', 'null'],
  ])('%s and %s', (one, other) => {
    expect(saysTheSame(JSON.parse(one), JSON.parse(other))).toBe(true)
    expect(saysTheSame(JSON.parse(other), JSON.parse(one))).toBe(true)
  })
})

describe('values say something else', () => {
  test.each([
    ['1', '"1"'],
    ['0', 'false'],
    ['0', 'null'],
    ['null', 'false'],
    ['""', 'null'],
    ['[]', '{}'],
    ['[]', 'null'],
    ['{}', 'null'],
    ['[1,2]', '[2,1]'],
    ['[1]', '[1,1]'],
    ['[1]', '{"0":1}'],
    ['{"a":1}', '{"a":1,"b":1}'],
    ['{"a":1}', '{"b":1}'],
    ['{"a":null}', '{"b":null}'],
    ['{"a":1}', '{"toString":1}'],
    ['{"a":{}}', '{"__proto__":{}}'],
    ['{"a":{}}', '{"a":[]}'],
    ['"\u00e9"', '"e\u0301"'],
  ])('%s and %s', (one, other) => {
    expect(saysTheSame(JSON.parse(one), JSON.parse(other))).toBe(false)
    expect(saysTheSame(JSON.parse(other), JSON.parse(one))).toBe(false)
  })
})
