import { expect, test } from 'bun:test'
import { Ajv2020 as Ajv } from 'ajv/dist/2020.js'
import * as addFormats from 'ajv-formats'
import { asShape, learn, type Shape, toJsonSchema } from '../../../src/engines/relay/shape/index.ts'
import { seeded } from '../gate/identities/documents/support.ts'

const parsed = (json: string) => JSON.parse(json) as object

function learnAll(payloads: readonly object[]): Shape {
  let shape: Shape | undefined
  for (const payload of payloads) shape = learn(shape, payload).shape
  return shape as Shape
}

const schemaOf = (...payloads: object[]) => toJsonSchema(learnAll(payloads))
const propertyOf = (...values: unknown[]) =>
  (schemaOf(...values.map((value) => ({ value }))).properties as Record<string, unknown>).value

/** The drift of the last payload. */
function driftOf(...payloads: object[]) {
  const known = payloads.length > 1 ? learnAll(payloads.slice(0, -1)) : undefined
  return learn(known, payloads.at(-1) as object).drift
}

const told = (drift: ReturnType<typeof driftOf>) =>
  drift.map(({ path, change }) => `${path} ${change}`)

const bytesOf = (shape: Shape) => Buffer.byteLength(JSON.stringify(shape))

const record = (size: number, entry: (index: number) => [string | number, unknown]) =>
  Object.fromEntries(Array.from({ length: size }, (_, index) => entry(index)))

/** As text in which the order of properties plays no part, hostile keys included. */
function canonical(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? ''
  const fields = Object.entries(value)
    .filter(([, field]) => field !== undefined)
    .map(([key, field]) => `${JSON.stringify(key)}:${canonical(field)}`)
  return `{${fields.sort().join()}}`
}

type Schema = Record<string, unknown>

const quick = { validateSchema: false, code: { optimize: false } } as const
const ajv = addFormats.default(new Ajv({ strict: false, ownProperties: true, ...quick }))
const accepts = (schema: Schema, value: unknown) => ajv.compile(schema)(value)

test('A property that is in every payload is required', () => {
  const schema = schemaOf({ id: 'a', total: 12, paid: true }, { id: 'b', total: 12.5, note: 'x' })
  const $schema = 'https://json-schema.org/draft/2020-12/schema'
  const [id, note] = [{ type: 'string' }, { type: 'string' }]
  const properties = { id, total: { type: 'number' }, paid: { type: 'boolean' }, note }
  expect(schema).toEqual({ $schema, type: 'object', properties, required: ['id', 'total'] })
})

const arrayOf = (items: Schema) => ({ type: 'array', items })
const [string, integer] = [{ type: 'string' }, { type: 'integer' }]
const item = { type: 'object', properties: { sku: string, price: integer }, required: ['sku'] }
const address = { properties: { zip: string }, required: ['zip'] }
test.each<[values: unknown[], schema: unknown]>([
  [[1, -2, 1e300], integer],
  [[1, 2.5, 3], { type: 'number' }],
  [[null, 1, 'a'], { type: ['integer', 'string', 'null'] }],
  [[[], []], { type: 'array' }],
  [[[1, 'a'], [null]], arrayOf({ type: ['integer', 'string', 'null'] })],
  [[[{ sku: 'a', price: 1 }, { sku: 'b' }]], arrayOf(item)],
  [[null, { zip: '1' }], { type: ['object', 'null'], ...address }],
  [[[...Array(200).fill(1), 'x']], arrayOf({ type: ['integer', 'string'] })],
])('The schema has what the values %j have in common', (values, schema) => {
  expect(propertyOf(...values)).toEqual(schema as never)
})

test('Any text can be a key, also a name that every object inherits', () => {
  const keys = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', '', 'a.b', '1', 'ключ']
  const payload = parsed(`{${keys.map((key) => `${JSON.stringify(key)}:1`).join()}}`)
  const { shape } = learn(undefined, payload)
  const schema = parsed(JSON.stringify(toJsonSchema(shape))) as Schema
  expect(Object.keys(schema.properties as object).toSorted()).toEqual(keys.toSorted())
  expect((schema.required as string[]).toSorted()).toEqual(keys.toSorted())
  expect(learn(shape, payload).shape).toBe(shape)
  expect(told(learn(shape, {}).drift)).toHaveLength(keys.length)
  expect(told(driftOf({}, payload))).toContain('__proto__ added')
  expect(told(driftOf({ id: 1 }, parsed('{"id":1,"toString":1}')))).toEqual(['toString added'])
  expect(({} as Record<string, unknown>).types).toBeUndefined()
})

test('A format is named as long as every string has it, and no other text has one', () => {
  const addressOf = (length: number) => '@example.com'.padStart(length, 'a')
  const uriOf = (length: number) => 'https://a.com/'.padEnd(length, 'a')
  for (const [format, ...texts] of [
    ['date-time', '2026-11-21T10:00:00Z', '2024-02-29T23:59:59.123+05:30'],
    ['uuid', '6f1c1f0e-0d5b-4b7e-9d33-5a1f0f4f8f10', '018F3C5E-0000-7000-8000-000000000000'],
    ['email', 'ann@example.com', 'a.b+c@mail.example.co.uk', addressOf(254)],
    ['uri', 'https://example.com/a?b=c#d', 'http://10.0.0.1:8080', 'ftp://h/%20', uriOf(2048)],
  ]) {
    expect(propertyOf(...texts)).toEqual({ type: 'string', format })
    expect(propertyOf(null, ...texts)).toEqual({ type: ['string', 'null'], format })
    for (const other of ['other', '']) {
      expect(propertyOf(...texts, other)).toEqual({ type: 'string' })
      expect(propertyOf(other, ...texts)).toEqual({ type: 'string' })
      expect(driftOf({ at: texts[0] }, { at: other })).toEqual([])
    }
  }
  for (const text of [
    ...[addressOf(255), uriOf(2049), '2026-11-21', '2026-02-30T10:00:00Z', '2023-02-29T10:00:00Z'],
    ...['2026-13-01T10:00:00Z', '2026-11-21T10:00:00', '2026-11-21T24:00:00Z'],
    ...['6f1c1f0e0d5b4b7e9d335a1f0f4f8f10', 'ann@localhost', 'ann@@example.com', 'note: hello'],
    ...['urn:a:b', 'https://a.com/a b', 'https://a.com/%zz'],
  ])
    expect([text, propertyOf(text)]).toEqual([text, { type: 'string' }])
})

const added = { change: 'added', breaking: false }
const missing = { change: 'missing', breaking: true }
const retyped = { change: 'retyped', breaking: true }
const prices = record(300, (index) => [`p${index}`, index])

test.each<[payloads: object[], drift: object[]]>([
  [[{ a: 1, items: [{ b: 1 }, { c: 'x' }, 3] }], []],
  [[{ a: 1 }, { a: 1, b: null }], [{ ...added, path: 'b', now: 'null' }]],
  [[{ a: 'x' }, {}], [{ ...missing, path: 'a', was: 'string' }]],
  [[{ a: 'x' }, { a: null }], [{ ...retyped, path: 'a', was: 'string', now: 'null' }]],
  [[{ a: 1 }, { a: 1.5 }], []],
  [[{ a: 1.5 }, { a: 1 }], []],
  [
    [{ a: 1 }, { a: null }, { a: '1' }],
    [{ ...retyped, path: 'a', was: 'integer or null', now: 'string' }],
  ],
  [[{}, { a: { b: { c: 1 } } }], [{ ...added, path: 'a', now: 'object' }]],
  [[{ a: null }, { a: { b: 1 } }], [{ ...retyped, path: 'a', was: 'null', now: 'object' }]],
  [[{ a: [] }, { a: [{ b: 1 }] }], []],
  [[{ a: [{ b: 1 }] }, { a: [] }], []],
  [
    [{ a: [{ price: 1 }, { price: 2 }] }, { a: [{ price: 1, tax: 1 }, { tax: 'x' }, {}] }],
    [
      { ...missing, path: 'a[].price', was: 'integer' },
      { ...added, path: 'a[].tax', now: 'integer or string' },
    ],
  ],
  [[{ a: 1 }, []], [{ ...retyped, path: '', was: 'object', now: 'array' }]],
  [[{ prices: { a: 1 } }, { prices }], []],
  [[{ prices }, { prices: { other: 1 } }], []],
  [
    [{ prices }, { prices: { other: '1' } }],
    [{ ...retyped, path: 'prices.*', was: 'integer', now: 'string' }],
  ],
])('Drift of %j', (payloads, drift) => {
  expect(driftOf(...payloads)).toEqual(drift as never)
})

test('Drift is told once, and the known shape stays', () => {
  const first = { a: 1, b: 1 }
  for (const other of [{ a: 1 }, { a: 1, b: 'x' }, { a: 1, b: 1, c: 1 }]) {
    expect(driftOf(first, other)).toHaveLength(1)
    expect(driftOf(first, other, other)).toEqual([])
    expect(driftOf(first, other, first, other)).toEqual([])
  }
  const known = learnAll([{ a: 1, b: [{ c: 'x' }], d: null }])
  const before = canonical(known)
  for (const payload of [
    { d: null, b: [{ c: '' }, { c: 'y' }], a: 2 },
    { a: 1, b: [], d: null },
  ])
    expect(learn(known, payload).shape).toBe(known)
  expect(learn(known, { a: { b: ['x'] }, e: 1 }).shape).not.toBe(known)
  expect(canonical(known)).toBe(before)
})

test.each([
  [{ customer: { address: { zip: 1 } } }, 'customer.address.zip'],
  [{ rows: [[{ 'unit-price': 1 }]] }, 'rows[][].unit-price'],
  [{ a: { 'b.c': { d: 1 } } }, 'a["b.c"].d'],
  [{ a: { '': 1 } }, 'a[""]'],
  [{ '*': [{ '[]': 1 }] }, '["*"][]["[]"]'],
  [{ größe: 1 }, 'größe'],
  [[{ a: 1 }], '[].a'],
])('The path of the number in %j is %s', (payload, path) => {
  const other = parsed(JSON.stringify(payload).replace('1', '"x"'))
  expect(told(driftOf(payload, other))).toEqual([`${path} retyped`])
})

test('Drift of more than 100 changes has the breaking ones, with paths of 500 characters', () => {
  const first = { inner: record(150, (index) => [`old${index}`, index]) }
  const other = { ...record(80, (index) => [`new${index}`, index]), inner: {} }
  const drift = driftOf(first, other)
  expect(drift).toHaveLength(100)
  expect(drift.every(({ breaking }) => breaking)).toBe(true)
  const long = 'k'.repeat(199)
  const [one] = driftOf({ [long]: { [long]: { [long]: 1 } } }, { [long]: { [long]: {} } })
  expect(one?.path).toHaveLength(500)
  expect(one?.path).toEndWith('…')
})

const values = { type: 'object', additionalProperties: { type: 'integer' } }
const keys = (size: number, name = 'k') => record(size, (index) => [`${name}${index}`, index])

test('200 properties are properties; 201, or a key of more than 200 characters, make a map', () => {
  expect(propertyOf(keys(200))).toMatchObject({ required: Object.keys(keys(200)) })
  expect(propertyOf({ ['k'.repeat(200)]: 1 })).toMatchObject({ type: 'object', properties: {} })
  for (const map of [[keys(201)], [keys(150), keys(51, 'other')], [{ ['k'.repeat(201)]: 1 }]])
    expect(propertyOf(...map)).toEqual(values)
  const users = record(300, (index) => [`u${index}`, index % 2 ? { a: 1 } : { a: 1, b: 'x' }])
  const properties = { a: { type: 'integer' }, b: { type: 'string' } }
  const additionalProperties = { type: 'object', properties, required: ['a'] }
  const schema = propertyOf({ one: { a: 1, b: 'x' } }, users)
  expect(schema).toEqual({ type: 'object', additionalProperties })
})

test('Nothing below the twelfth level is kept', () => {
  const nested = (depth: number): object => (depth === 1 ? {} : { a: nested(depth - 1) })
  expect(learn(learnAll([nested(12)]), nested(64)).drift).toEqual([])
  expect(JSON.stringify(learnAll([nested(64)])).match(/"properties"/g)).toHaveLength(11)
  expect(accepts(schemaOf(nested(64)), nested(64))).toBe(true)
})

test('Beyond 1,000 places the deepest level is given up for good; items are below their array', () => {
  const rows = record(100, (row) => [`r${row}`, record(10, (cell) => [`c${cell}`, cell])])
  const other = { ...rows, r0: { any: 'thing' } }
  const schema = propertyOf(rows, other) as { properties: Record<string, Schema> }
  expect(Object.keys(schema.properties)).toHaveLength(100)
  expect(schema.properties.r0).toEqual({ type: 'object' })
  const shape = learnAll([{ rows }])
  expect(learn(shape, { rows: other }).shape).toBe(shape)
  expect(accepts(schema, rows)).toBe(true)

  const cell = [{ a: 1, b: 2, c: 3 }]
  const lists = record(30, (row) => [`r${row}`, record(30, (at) => [`c${at}`, cell])])
  const c0 = { type: 'array' }
  expect(propertyOf(lists)).toMatchObject({ properties: { r29: { properties: { c0 } } } })
  expect(JSON.stringify(propertyOf(lists))).not.toContain('items')
})

test.each<[string, object]>([
  ['10,000 keys', record(10_000, (index) => [`${index}`, index % 3 ? index : 'x'])],
  ['200 × 200 keys', record(200, (p) => [`p${p}`, record(200, (q) => [q, 1])])],
  ['arrays of keys', record(200, (p) => [`p${p}`, [[[[[[[[[p]]]]]]]]]])],
  ['keys that are long as JSON', record(200, (index) => [`${'\u0001'.repeat(190)}${index}`, 1])],
  ['keys that are long as UTF-8', record(200, (index) => [`${'語'.repeat(190)}${index}`, 1])],
  ['broken surrogates', record(200, (index) => [`${'\ud800'.repeat(190)}${index}`, 1])],
  ['long keys', record(190, (index) => [`${'k'.repeat(190)}${index}`, [{ a: 1 }]])],
  ['objects that differ', Array.from({ length: 2000 }, (_, index) => ({ [`k${index}`]: index }))],
  ['small objects', record(120, (p) => [p, Array.from({ length: 50 }, (_, q) => ({ [q]: q }))])],
  ['a long text that is nearly an address', { a: `${'a.'.repeat(100)}@${'a-'.repeat(100_000)}` }],
])('A hostile payload of %s is learned within the bounds', (_, payload) => {
  for (const known of [undefined, learnAll([{ a: { b: 1 }, p1: [], k1: null }])]) {
    const { shape } = learn(known, payload)
    expect(bytesOf(shape)).toBeLessThanOrEqual(64 * 1024)
    if (known) expect(accepts(toJsonSchema(shape), payload)).toBe(true)
    expect(learn(shape, payload).shape).toBe(shape)
    expect(learn(asShape(JSON.stringify(shape)), payload).drift).toEqual([])
  }
})

const nested = (open: string, close: string, levels: number) =>
  `${open.repeat(levels)}{"types":1}${close.repeat(levels)}`

test('A stored shape is read back as it was, up to 12 levels', () => {
  const payload = parsed('{"__proto__":{"toString":1},"":[{"a":null}],"at":"a@example.com"}')
  const shape = learnAll([payload, { more: 1.5, deep: record(300, (index) => [index, 1]) }])
  const read = asShape(JSON.stringify(shape)) as Shape
  expect(JSON.stringify(read)).toBe(JSON.stringify(shape))
  expect(toJsonSchema(read)).toEqual(toJsonSchema(shape))
  expect(learn(read, payload).shape).toBe(read)
  expect(asShape(nested('{"types":32,"items":', '}', 11))).toBeDefined()
  expect(asShape(nested('{"types":64,"properties":{"a":', '}}', 11))).toBeDefined()
})

test.each([
  ...['', '{', 'null', '[]', '{}', '{"types":0}', '{"types":128}', '{"types":"16"}'],
  ...['{"types":16,"properties":[]}', '{"types":16,"properties":{"a":{}}}'],
  nested('{"types":32,"items":', '}', 12),
  nested('{"types":64,"properties":{"a":', '}}', 12),
])('A stored shape is not %s', (text) => expect(asShape(text)).toBeUndefined())

test('A stored shape has the number of properties that it has, not the one that it claims', () => {
  const text = JSON.stringify(learnAll([{ a: 1, b: 1 }])).replace('"required":2', '"required":9')
  const shape = asShape(text)
  expect(learn(shape, { a: 1, b: 1 }).shape).toBe(shape as Shape)
})

type Random = (below: number) => number
type KeyOf = (random: Random) => string

const KEYS = ['id', '__proto__', 'toString', '', 'a.b', '7']
const FORMATTED = ['2026-11-21T10:00:00Z', '6f1c1f0e-0d5b-4b7e-9d33-5a1f0f4f8f10']
const TEXTS = ['', 'text', 'ann@example.com', 'https://a.com/', ...FORMATTED]
const SCALARS = [null, true, 0, 12, -1.5, ...TEXTS]

function writeObject(random: Random, depth: number, keyOf: KeyOf): string {
  const fields = Array.from({ length: random(7) }, () => {
    const value = writeValue(random, depth - 1, keyOf)
    return [keyOf(random), value] as const
  })
  return `{${[...new Map(fields)].map(([key, value]) => `${JSON.stringify(key)}:${value}`).join()}}`
}

function writeValue(random: Random, depth: number, keyOf: KeyOf): string {
  const kind = depth > 0 ? random(4) : 3
  if (kind === 0) return writeObject(random, depth, keyOf)
  if (kind > 1) return JSON.stringify(SCALARS[random(SCALARS.length)])
  const items = Array.from({ length: random(4) }, () => writeValue(random, depth - 1, keyOf))
  return `[${items.join()}]`
}

const fewKeys = (random: Random) => KEYS[random(KEYS.length)] as string
const manyKeys = (random: Random) =>
  random(3) === 0 ? fewKeys(random) : 'k'.repeat(random(9) * 25) + random(300)

function payloadsOf(depth: number, keyOf: KeyOf, count = 50) {
  const random = seeded(1)
  return Array.from({ length: count }, () => parsed(writeObject(random, depth, keyOf)))
}

test('Any 50 payloads are accepted, within the bounds and beyond', () => {
  for (const payloads of [payloadsOf(3, fewKeys), payloadsOf(5, manyKeys)]) {
    const shape = learnAll(payloads)
    expect(bytesOf(shape)).toBeLessThanOrEqual(64 * 1024)
    const schema = toJsonSchema(shape)
    for (const payload of payloads) {
      expect(accepts(schema, payload)).toBe(true)
      expect(learn(shape, payload).shape).toBe(shape)
    }
  }
})

test('Any 50 payloads have the same outcome in any order, maps included', () => {
  const insides = payloadsOf(3, fewKeys)
  const maps = payloadsOf(1, (random) => `${random(260)}`, 150).map((map, index) => {
    const [key = '0'] = Object.keys(map)
    return { map: { ...map, [key]: insides[index % 50], 0: { id: 1, 7: 'x' } } }
  })
  expect(JSON.stringify(learnAll(insides))).not.toContain('"open"')
  expect(JSON.stringify(learnAll(maps))).toContain('"values"')
  const random = seeded(2)
  for (const payloads of [insides, maps]) {
    const rest = [...payloads]
    const shuffled = payloads.map(() => rest.splice(random(rest.length), 1)[0] as object)
    expect(canonical(learnAll(shuffled))).toBe(canonical(learnAll(payloads)))
  }
})

test('Any 50 payloads change the shape only if it says something else', () => {
  for (const keyOf of [fewKeys, manyKeys]) {
    let known: Shape | undefined
    let text = ''
    for (const payload of payloadsOf(4, keyOf)) {
      const { shape, drift } = learn(known, payload)
      if (shape === known) expect(drift).toEqual([])
      else expect(canonical(shape)).not.toBe(text)
      if (shape !== known) text = canonical(shape)
      known = shape
    }
  }
})
