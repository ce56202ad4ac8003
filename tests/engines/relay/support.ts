import { expect } from 'bun:test'
import type { Answer, TestApp } from '../../support/app.ts'

export const MESSAGES = '/v1/relay/messages'
export const ENDPOINTS = '/v1/relay/endpoints'
export const DELIVERIES = '/v1/relay/deliveries'
export const EVENT_TYPES = '/v1/relay/event-types'

export const SECOND = 1000
export const MINUTE = 60 * SECOND
export const HOUR = 60 * MINUTE
export const DAY = 24 * HOUR

/** The time at which tests begin. */
export const START = Date.parse('2026-03-01T12:00:30.000Z')

export const ACTOR = { kind: 'cli', source: 'test' } as const

/** An id that nothing has. */
export const UNKNOWN_ID = '01890000-0000-7000-8000-000000000000'

// biome-ignore lint/suspicious/noExplicitAny: bodies are checked by the tests that read them
type Json = any

/** One number of one table, for what the API does not show. */
export const count = ({ db }: Pick<TestApp, 'db'>, from: string): number =>
  (db.client.query(`select count(*) as n from ${from}`).get() as { n: number }).n

/** Expects the document to describe this answer to this request, and the answer to fit. */
export function expectDescribed(document: Json, method: string, path: string, answer: Answer) {
  const route = routeOf(document, method, path)
  const described = document.paths[route][method].responses[answer.status]
  const where = `${method.toUpperCase()} ${route} ${answer.status}`
  expect(described, `${where} is in the document`).toBeDefined()
  const schema = described.content?.['application/json']?.schema
  const problems = schema === undefined ? [] : misfits(schema, answer.body, 'body')
  expect(problems, `${where} as in the document`).toEqual([])
  if (schema === undefined) expect(answer.body).toBe('')
}

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
  expect(routes, `${method} ${path}`).toHaveLength(1)
  return routes[0] as string
}

/** What is wrong with a value by a schema; a field that the schema does not name is wrong. */
export function misfits(schema: Json, value: Json, at: string): string[] {
  if (value === null && schema.nullable) return []
  if ('const' in schema && value !== schema.const) return [`${at} is not ${schema.const}`]
  if (schema.enum && !schema.enum.includes(value)) return [`${at} is ${value}`]
  const types = schema.type === undefined ? [] : [schema.type].flat()
  if (types.length > 0 && !types.some((type: string) => isOfType(type, value)))
    return [`${at} is not of type ${types}`]
  if (typeof value === 'number' && value < schema.minimum)
    return [`${at} is less than ${schema.minimum}`]
  if (isTime(schema.examples?.[0]) && !isTime(value)) return [`${at} is no time`]
  if (Array.isArray(value))
    return schema.items
      ? value.flatMap((item, index) => misfits(schema.items, item, `${at}[${index}]`))
      : []
  return types.includes('object') ? misfitsOfObject(schema, value, at) : []
}

function misfitsOfObject(schema: Json, value: Json, at: string): string[] {
  const any = schema.patternProperties?.['^(.*)$']
  const missing = (schema.required ?? []).filter((name: string) => !Object.hasOwn(value, name))
  return [
    ...missing.map((name: string) => `${at}.${name} is missing`),
    ...Object.entries(value).flatMap(([name, field]) => {
      const known = schema.properties?.[name] ?? any
      return known ? misfits(known, field, `${at}.${name}`) : [`${at}.${name} is not described`]
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

/** Whether a text is a time in the format of all answers. */
export const isTime = (text: unknown): boolean =>
  typeof text === 'string' &&
  !Number.isNaN(Date.parse(text)) &&
  new Date(text).toISOString() === text
