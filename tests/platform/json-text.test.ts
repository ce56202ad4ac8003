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
  ['1', 'a', undefined],
  ['"{\\"a\\":1}"', 'a', undefined],
  ['[{"a":1}]', 'a', undefined],
  [' { } ', 'a', undefined],
])('In %s the member %j is %p', (json, name, text) => {
  expect(memberText(json, name)).toBe(text as string)
})

test('Each member of 500 random objects parses as it does within the whole', () => {
  const random = seeded(20261121)
  let members = 0
  for (let round = 0; round < 500; round++) {
    const json = space(random) + writeObject(random, 4) + space(random)
    const parsed = JSON.parse(json) as Record<string, unknown>
    for (const name of Object.keys(parsed)) {
      const text = memberText(json, name)
      if (text === undefined || text.trim() !== text || !json.includes(text))
        throw new Error(`${name} is ${text} in ${json}`)
      expect(JSON.parse(text)).toEqual(parsed[name])
      members++
    }
    for (const name of NAMES)
      if (!Object.hasOwn(parsed, name) && memberText(json, name) !== undefined)
        throw new Error(`${name} found in ${json}`)
  }
  expect(members).toBeGreaterThan(500)
})

type Random = () => number

/** Mulberry32: the same numbers on every machine. */
function seeded(seed: number): Random {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

const NAMES = [...'payload __proto__ constructor a a"b a\\ } 0 é😀'.split(' '), '', 'a\nb']
const PIECES = [...'a " \\ { } [ ] , : é 😀 \\" payload'.split(' '), ' ', '\n']
const SCALARS = 'null true false 0 -0 1.0 1E2 -1.5e-7 12345678901234567890'.split(' ')
const SPACES = ['', '', '', ' ', '\n', '\t', '\r\n  ']

const pick = <T>(random: Random, from: readonly T[]): T =>
  from[Math.floor(random() * from.length)] as T

const many = <T>(random: Random, most: number, make: () => T): T[] =>
  Array.from({ length: Math.floor(random() * (most + 1)) }, make)

const space = (random: Random) => pick(random, SPACES)
const spaced = (random: Random, text: string) => space(random) + text + space(random)

function writeValue(random: Random, levels: number): string {
  const kind = random()
  if (levels > 0 && kind < 0.2) return writeObject(random, levels - 1)
  if (levels > 0 && kind < 0.4)
    return `[${many(random, 4, () => spaced(random, writeValue(random, levels - 1))).join(',') || space(random)}]`
  if (kind < 0.7) return writeString(random, many(random, 5, () => pick(random, PIECES)).join(''))
  return pick(random, SCALARS)
}

function writeObject(random: Random, levels: number): string {
  const members = many(random, 5, () => {
    const key = spaced(random, writeString(random, pick(random, NAMES)))
    return `${key}:${spaced(random, writeValue(random, levels))}`
  })
  return `{${members.join(',') || space(random)}}`
}

/** Any character may be spelled as an escape; some have to be. */
const writeString = (random: Random, text: string): string =>
  `"${Array.from({ length: text.length }, (_, at) => writeUnit(random, text, at)).join('')}"`

function writeUnit(random: Random, text: string, at: number): string {
  const code = text.charCodeAt(at).toString(16).padStart(4, '0')
  if (random() < 0.1) return `\\u${code}`
  return /["\\\n]/.test(text.charAt(at))
    ? JSON.stringify(text.charAt(at)).slice(1, -1)
    : text.charAt(at)
}
