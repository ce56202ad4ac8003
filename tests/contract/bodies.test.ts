import { describe, expect, test } from 'bun:test'
import { expectRefused, populate, useContract } from './fixture.ts'
import type { Json, Operation } from './operations.ts'

const MAX_BODY = 1 << 20

const contract = await useContract()
const { operations, send } = contract
const acme = await contract.tenant('Acme')
const ids = await populate(contract, acme)
const before = contract.rows(acme.id)
const withBody = operations.filter(({ schema }) => schema)

interface Wrong {
  body: string
  headers?: Record<string, string>
  status?: number
  field?: string
}

/** Sends each wrong body of an operation; it is refused, and nothing of the tenant changes. */
async function expectRefusedBodies(wrongOf: (operation: Operation) => Wrong[]) {
  for (const operation of withBody)
    for (const { body, headers, status = 400, field } of wrongOf(operation)) {
      const answer = await send(operation, `Bearer ${await keyOf(operation)}`, {
        ids,
        body,
        headers,
      })
      expectRefused(`${operation.name} ${body.slice(0, 100)}`, answer, status, field)
    }
  expect(contract.rows(acme.id)).toEqual(before)
}

/** Of the environment in which the objects of the fixture are. */
const keyOf = ({ engine }: Operation) =>
  acme.keyOf(engine, engine === 'passepartout' ? 'test' : 'live')

describe("A body that can't be read is refused", () => {
  test.each(['{', '{"a":}', '{"a":1}{', "{'a':1}", 'a=b', '\u0000', '{"a":"\\ud800"}'])(
    'with 400 if it is not JSON: %j',
    (body) => expectRefusedBodies(() => [{ body, field: 'body' }]),
  )

  test('with 400 if it is nested deeper than 64 levels', () => {
    const body = `${'['.repeat(65)}${']'.repeat(65)}`
    return expectRefusedBodies(() => [{ body, field: 'body' }])
  })

  test('with 400 if it is JSON of another type', () =>
    expectRefusedBodies(({ schema }) =>
      ['5', '"text"', 'true', schema.type === 'array' ? '{}' : '[]'].map((body) => ({
        body,
        field: 'body',
      })),
    ))

  test.each(['text/plain', 'application/x-www-form-urlencoded', 'application/jsonx', ''])(
    'with 415 if its type is %j',
    (type) =>
      expectRefusedBodies(() => [{ body: '{}', headers: { 'content-type': type }, status: 415 }]),
  )

  test('with 415 if it is compressed', () =>
    expectRefusedBodies(() => [
      { body: '{}', headers: { 'content-encoding': 'gzip' }, status: 415 },
    ]))

  test.each(['application/json', 'text/plain'])('with 413 if it is too large, as %s', (type) => {
    const wrong = {
      body: `{${' '.repeat(MAX_BODY)}`,
      headers: { 'content-type': type },
      status: 413,
    }
    return expectRefusedBodies(() => [wrong])
  })
})

/** A property of a body: the names that lead to it, and its schema. */
interface Property {
  names: string[]
  schema: Json
  isRequired: boolean
}

function propertiesOf({ properties = {}, required = [] }: Json, within: string[] = []): Property[] {
  return Object.entries<Json>(properties).flatMap(([name, schema]) => {
    const property = { names: [...within, name], schema, isRequired: required.includes(name) }
    return [property, ...propertiesOf(schema, property.names)]
  })
}

const objectSchema = ({ schema }: Operation): Json =>
  schema.anyOf?.find(({ properties }: Json) => properties) ?? schema

/** A copy of a body with another value for one property; `undefined` removes it. */
function changed(body: Json, names: string[], value: unknown): string {
  const copy = structuredClone(body)
  let object = copy
  for (const name of names.slice(0, -1)) object = object[name] ??= {}
  object[names.at(-1) as string] = value
  return JSON.stringify(copy)
}

/** Values of each JSON type, of which a schema takes one at most. */
const VALUES: [string, unknown][] = [
  ['null', null],
  ['boolean', true],
  ['number', 5.5],
  ['string', '\u0001'],
  ['array', [[]]],
  ['object', { '\u0001': 1 }],
]

function wrongValues(schema: Json): unknown[] {
  const types = schema.anyOf?.map(({ type }: Json) => type) ?? [schema.type]
  if (types.includes(undefined)) return []
  const taken = new Set(types.map((type: string) => (type === 'integer' ? '' : type)))
  return VALUES.filter(([type]) => !taken.has(type)).map(([, value]) => value)
}

function outOfBounds(schema: Json): unknown[] {
  const { maxLength, minLength, maxItems, minItems, minimum, maximum, items } = schema
  const item = items?.examples?.[0] ?? items?.enum?.[0] ?? 'x'
  return [
    ...(maxLength ? ['x'.repeat(maxLength + 1)] : []),
    ...(minLength ? [''] : []),
    ...(maxItems ? [Array(maxItems + 1).fill(item)] : []),
    ...(minItems ? [[]] : []),
    ...(minimum === undefined ? [] : [minimum - 1]),
    ...(maximum === undefined ? [] : [maximum + 1]),
    ...(schema.enum ? ['none', ''] : []),
  ]
}

/** The wrong bodies that differ from the valid one in one property. */
const wrongIn = (values: (property: Property) => unknown[]) => (operation: Operation) =>
  propertiesOf(objectSchema(operation)).flatMap((property) =>
    values(property).map((value) => ({
      body: changed(operation.example, property.names, value),
      field: property.names.join('.'),
    })),
  )

describe('A property is refused by name', () => {
  test('if it is required and missing', () =>
    expectRefusedBodies(wrongIn(({ isRequired }) => (isRequired ? [undefined] : []))))

  test('if it is of another type', () =>
    expectRefusedBodies(wrongIn(({ schema }) => wrongValues(schema))))

  test('if it is out of bounds', () =>
    expectRefusedBodies(wrongIn(({ schema }) => outOfBounds(schema))))
})
