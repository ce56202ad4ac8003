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
  ['null', 'a', undefined],
  ['"{\\"a\\":1}"', 'a', undefined],
  ['[{"a":1}]', 'a', undefined],
])('In %s the member %j is %p', (json, name, text) => {
  expect(memberText(json, name)).toBe(text as string)
})

test('Each member of 200 random objects parses as it does within the whole', () => {
  let members = 0
  for (let round = 0; round < 200; round++) {
    const json = space() + writeObject(4) + space()
    const parsed = JSON.parse(json) as Record<string, unknown>
    for (const name of new Set([...Object.keys(parsed), ...NAMES])) {
      const text = memberText(json, name)
      if (Object.hasOwn(parsed, name) !== (text !== undefined)) throw new Error(`${name}: ${json}`)
      if (text === undefined) continue
      if (text.trim() !== text || !json.includes(text)) throw new Error(`${text} in ${json}`)
      expect(JSON.parse(text)).toEqual(parsed[name])
      members++
    }
  }
  expect(members).toBeGreaterThan(200)
})

let state = 20261121
/** Mulberry32: the same numbers on every machine. */
function random(): number {
  state = (state + 0x6d2b79f5) | 0
  let mixed = Math.imul(state ^ (state >>> 15), state | 1)
  mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
  return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
}

const NAMES = [...'payload __proto__ constructor a a"b a\\ } 0 é😀'.split(' '), '', 'a\nb']
const PIECES = [...'a " \\ { } [ ] , : é 😀 \\" payload'.split(' '), ' ', '\n']
const SCALARS = 'null true false 0 -0 1.0 1E2 -1.5e-7 12345678901234567890'.split(' ')

const pick = (from: string[]) => from[Math.floor(random() * from.length)] ?? ''
const many = (make: () => string) => Array.from({ length: Math.floor(random() * 6) }, make)
const space = () => pick(['', '', '', ' ', '\n', '\t', '\r\n  '])
const spaced = (text: string) => space() + text + space()

function writeValue(levels: number): string {
  const kind = random()
  if (levels > 0 && kind < 0.2) return writeObject(levels - 1)
  if (levels > 0 && kind < 0.4) return `[${many(() => spaced(writeValue(levels - 1))).join(',')}]`
  return kind < 0.7 ? writeString(many(() => pick(PIECES)).join('')) : pick(SCALARS)
}

const writeObject = (levels: number): string =>
  `{${many(() => `${spaced(writeString(pick(NAMES)))}:${spaced(writeValue(levels))}`).join(',')}}`

/** Any character may be spelled as an escape; some have to be. */
const writeString = (text: string): string =>
  `"${text
    .split('')
    .map((unit) =>
      random() < 0.1
        ? `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
        : unit.replace(/["\\\n]/, (it) => JSON.stringify(it).slice(1, -1)),
    )
    .join('')}"`
