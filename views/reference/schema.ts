import type { JsonSchema } from '../../src/http/api-document.ts'
import { expectation } from '../../src/http/validation.ts'

/** The objects that a value can be, or that its items can be. */
export function objectsIn({ properties, required, items, anyOf = [] }: JsonSchema): JsonSchema[] {
  if (properties && Object.keys(properties).length > 0) return [{ properties, required }]
  return items ? objectsIn(items) : anyOf.flatMap(objectsIn)
}

/** Names of all fields, on every level. */
export const namesIn = (schema: JsonSchema): string[] =>
  objectsIn(schema)
    .flatMap(({ properties = {} }) => Object.entries(properties))
    .flatMap(([name, field]) => [name, ...namesIn(field)])

/** From a schema: "string", "array of objects", "integer or null". */
export function typeOf(schema: JsonSchema): string {
  const { anyOf, items, type = 'any', examples } = schema
  const words = wordsOf(schema)
  if (anyOf) return oneOf(anyOf.map(typeOf))
  if (words.length > 0) return oneOf(words.map(nameOfType))
  const isTime = TIME.test(`${examples?.[0]}`)
  return oneOf(
    [type].flat().map((name) => {
      if (name === 'array') return listOf(items)
      return name === 'string' && isTime ? 'timestamp' : name
    }),
  )
}

const listOf = (items: JsonSchema = {}): string =>
  `array of ${typeOf(items).replace(/^(?!any)\w+/, '$&s')}`

const TIME = /^\d{4}-\d\d-\d\dT/

const nameOfType = (value: unknown): string => (value === null ? 'null' : typeof value)

const oneOf = (types: readonly string[]): string =>
  types.includes('any') ? 'any' : [...new Set(types)].join(' or ')

/** All values that are possible, if they are listed. */
export const wordsOf = ({ enum: words = [], const: only }: JsonSchema): unknown[] =>
  only === undefined ? words : [only]

/** What a value in a request has to be beyond its type, as a sentence; empty if that is all. */
export function ruleOf(schema: JsonSchema): string {
  if (wordsOf(schema).length > 0 || schema.anyOf?.some(({ properties }) => properties)) return ''
  const text = expectation(schema).replace(/,? or null$/, '')
  const rest = text.replace(PLAIN_TYPE, '')
  if (rest === '') return ''
  return rest === text ? `Must be ${text}.` : `${rest.charAt(0).toUpperCase()}${rest.slice(1)}.`
}

/** The beginning of an expectation that only repeats the type. */
const PLAIN_TYPE =
  /^(?:(?:an? (?:string|(?:whole )?number|list|JSON object)|true or false|null)$|an? (?:string|(?:whole )?number|list) (?:of |from )?(?=at |up |\d))/
