import { expect, test } from 'bun:test'
import { memberText } from '../../src/platform/json-text.ts'

test('A member keeps its spelling, without the space around it', () => {
  const json = ' {\n"a" : 1.0,\t"b":{ "x" : [ 1E2 , -0 ] } , "c":"\\u0061\\/"\r\n, "d": true } '
  expect(memberText(json, 'a')).toBe('1.0')
  expect(memberText(json, 'b')).toBe('{ "x" : [ 1E2 , -0 ] }')
  expect(memberText(json, 'c')).toBe('"\\u0061\\/"')
  expect(memberText(json, 'd')).toBe('true')
  expect(memberText(json, 'x')).toBeUndefined()
  const numbers = '{"id":12345678901234567890,"price":1.10,"huge":1e400}'
  expect(memberText(`{"payload":${numbers}}`, 'payload')).toBe(numbers)
})

test('Brackets, quotes and backslashes in strings are no structure', () => {
  const values = ['"}"', '"]["', '"\\""', '"\\\\"', '"\\\\\\""', '["\\\\","}"]', '{"}":"{\\""}']
  for (const value of values)
    expect(memberText(`{"x":${value},"payload":${value},"y":${value}}`, 'payload')).toBe(value)
})

test.each([
  // A key may be spelled with escapes.
  ['{"p\\u0061yload":1}', 'payload', '1'],
  ['{"\\u0070\\u0061yload":1,"a\\/b":2}', 'a/b', '2'],
  ['{"":1}', '', '1'],
  // A value or a deeper key is no key.
  ['{"a":"payload","b":{"payload":1},"c":["payload"]}', 'payload', undefined],
  ['{"payloa\\u0064x":1,"payload ":2,"Payload":3}', 'payload', undefined],
  ['{"a\\\\nb":1}', 'a\nb', undefined],
  // The last member of a name counts.
  ['{"a":1,"b":2,"a":3}', 'a', '3'],
  ['{"a":1,"\\u0061":[2],"b":3}', 'a', '[2]'],
  ['{"__proto__":1,"__proto__":{"x":2}}', '__proto__', '{"x":2}'],
  // Only an object has members.
  ['"{\\"a\\":1}"', 'a', undefined],
  ['[{"a":1}]', 'a', undefined],
  // Lists and objects within each other end where they should, also without spaces.
  ['{"a":[[1],[{"b":[2]}]],"b":{"c":{"d":[]}},"d":false}', 'b', '{"c":{"d":[]}}'],
])('In %s the member %j is %p', (json, name, text) => {
  expect(memberText(json, name)).toBe(text as string)
})
