import { expect } from 'bun:test'
import type { Answer } from './app.ts'

// biome-ignore lint/suspicious/noExplicitAny: schemas and bodies of every shape
type Json = any

/** Objects whose members customers choose, so that the document names none. */
const FREE_FORM = /(^|\.)(context|custom_data|metadata|metadata_public|metadata_admin|payload)$/

/** Fails unless the API document has this response to this request, with a body of this shape. */
export function expectDescribed(document: Json, method: string, path: string, answer: Answer) {
  const route = routeOf(document, method, path)
  const described = document.paths[route][method].responses[answer.status]
  const where = `${method.toUpperCase()} ${route} ${answer.status}`
  expect(described, `${where} is in the document`).toBeDefined()
  const schema = resolved(document, described.content?.['application/json']?.schema)
  const name = route.split('/').at(-1) as string
  const problems = schema === undefined ? [] : mismatches(schema, answer.body, name)
  expect(problems, `${where} as in the document`).toEqual([])
  if (schema === undefined) expect(answer.body).toBe('')
}

/** A schema with the ones that it refers to. */
export const resolved = ({ components }: Json, schema: Json): Json =>
  schema &&
  JSON.parse(JSON.stringify(schema), (_, value) =>
    typeof value?.$ref === 'string' ? components.schemas[value.$ref.split('/').at(-1)] : value,
  )

function routeOf(document: Json, method: string, path: string): string {
  const parts = (path.split('?')[0] as string).split('/')
  const routes = Object.keys(document.paths).filter((route) => {
    const wanted = route.split('/')
    return (
      document.paths[route][method] !== undefined &&
      wanted.length === parts.length &&
      wanted.every((part, at) => part.startsWith('{') || part === parts[at])
    )
  })
  const exact = routes.filter((route) => !route.includes('{'))
  const [route, ...others] = exact.length > 0 ? exact : routes
  expect({ method, path, others }).toEqual({ method, path, others: [] })
  return route as string
}

/** How a value differs from its schema; a member that the schema doesn't name is a mismatch. */
export function mismatches(schema: Json, value: Json, at: string): string[] {
  if (value === null && schema.nullable) return []
  if (schema.anyOf) {
    const each: string[][] = schema.anyOf.map((one: Json) => mismatches(one, value, at))
    return each.toSorted((a, b) => a.length - b.length)[0] ?? []
  }
  if ('const' in schema && value !== schema.const) return [`${at} is not ${schema.const}`]
  if (schema.enum && !schema.enum.includes(value)) return [`${at} is ${value}`]
  const types = schema.type === undefined ? [] : [schema.type].flat()
  if (types.length > 0 && !types.some((type: string) => isOfType(type, value)))
    return [`${at} is not of type ${types}`]
  if (typeof value === 'number' && value < schema.minimum)
    return [`${at} is less than ${schema.minimum}`]
  if (isTime(schema.examples?.[0]) && !isTime(value)) return [`${at} is no time`]
  if (Array.isArray(value) && schema.items)
    return value.flatMap((item, index) => mismatches(schema.items, item, `${at}[${index}]`))
  return types.includes('object') && !Array.isArray(value) ? ofObject(schema, value, at) : []
}

function ofObject(schema: Json, value: Json, at: string): string[] {
  if (FREE_FORM.test(at) && schema.additionalProperties === true) return []
  const any = schema.patternProperties?.['^(.*)$']
  const missing = (schema.required ?? []).filter((name: string) => !Object.hasOwn(value, name))
  return [
    ...missing.map((name: string) => `${at}.${name} is missing`),
    ...Object.entries(value).flatMap(([name, field]) => {
      const known = schema.properties?.[name] ?? any
      return known ? mismatches(known, field, `${at}.${name}`) : [`${at}.${name} is not described`]
    }),
  ]
}

function isOfType(type: string, value: Json): boolean {
  if (type === 'null') return value === null
  if (type === 'integer') return Number.isInteger(value)
  if (type === 'array') return Array.isArray(value)
  if (type === 'object') return typeof value === 'object' && value !== null && !Array.isArray(value)
  return typeof value === type
}

/** Whether a text is a time as Gatehouse writes it: ISO 8601 in UTC with milliseconds. */
export const isTime = (text: unknown): boolean =>
  typeof text === 'string' &&
  !Number.isNaN(Date.parse(text)) &&
  new Date(text).toISOString() === text
