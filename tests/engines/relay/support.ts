import { expect } from 'bun:test'
import { type Answer, bootTestApp, type TestApp, type TestAppOptions } from '../../support/app.ts'
import { startTarget } from '../../support/target.ts'

export const MESSAGES = '/v1/relay/messages'
export const ENDPOINTS = '/v1/relay/endpoints'
export const DELIVERIES = '/v1/relay/deliveries'
export const EVENT_TYPES = '/v1/relay/event-types'

export const SECOND = 1000
export const MINUTE = 60 * SECOND
export const HOUR = 60 * MINUTE
export const DAY = 24 * HOUR

/** When the tests begin. */
export const START = Date.parse('2026-03-01T12:00:30.000Z')

export const ACTOR = { kind: 'cli', source: 'test' } as const

/** No key reaches behind it, and nobody was given it. */
export const UNKNOWN_ID = '01890000-0000-7000-8000-000000000000'

// biome-ignore lint/suspicious/noExplicitAny: bodies are checked by the tests that read them
type Json = any

export type Relay = Awaited<ReturnType<typeof bootRelay>>
export type Api = ReturnType<typeof apiOf>
export type Party = Awaited<ReturnType<Relay['party']>>

/** An application with one tenant that has a key of each environment, and one subscriber. */
export async function bootRelay(options: TestAppOptions = {}) {
  const app = await bootTestApp(options)
  const target = startTarget()
  const document = (await app.raw('/openapi.json')).body

  /** A tenant with a live and a test key. */
  async function party(name: string) {
    const tenant = await app.tenant(name)
    const { id: liveKeyId, key: liveKey } = await tenant.key('relay', 'live')
    const { key: testKey } = await tenant.key('relay', 'test')
    const [live, test] = [speak(liveKey), speak(testKey)]
    return { id: tenant.id, key: tenant.key, liveKeyId, liveKey, testKey, live, test }
  }

  const speak = (key: string) => apiOf({ app, document, key, url: target.url })

  async function end() {
    await target.stop()
    await app.stop()
  }

  const acme = await party('Acme')
  return {
    app,
    clock: app.clock,
    target,
    document,
    acme,
    ...acme.live,
    party,
    speak,
    /** Lets everything that was accepted be sent. */
    delivered: () => app.clock.settled(),
    end,
    [Symbol.asyncDispose]: end,
  }
}

/** The relay through one key. Every answer has to be one that the API document describes. */
export function apiOf(parts: { app: TestApp; document: Json; key: string; url: string }) {
  const { app, document, key, url } = parts
  const client = app.client(key)

  const call = (method: 'get' | 'post' | 'patch' | 'delete') => (path: string, body?: unknown) =>
    described(method, path, client[method](path, body))
  const [get, post, patch] = [call('get'), call('post'), call('patch')]

  async function described(method: string, path: string, asked: Promise<Answer>) {
    const answer = await asked
    expectDescribed(document, method, path, answer)
    return answer
  }

  async function read(path: string): Promise<Json> {
    const answer = await get(path)
    expect({ path, status: answer.status }).toEqual({ path, status: 200 })
    return answer.body
  }

  async function made(status: number, path: string, body?: unknown): Promise<Json> {
    const answer = await post(path, body)
    expect(answer).toMatchObject({ status })
    return answer.body
  }

  return {
    get,
    post,
    patch,
    delete: call('delete'),
    read,
    /** Posts a body as it is spelled. */
    spelled: (body: string, headers: Record<string, string> = {}, path = MESSAGES) =>
      described(
        'post',
        path,
        app.raw(path, {
          method: 'POST',
          headers: {
            authorization: `Bearer ${key}`,
            'content-type': 'application/json',
            ...headers,
          },
          body,
        }),
      ),
    /** A plain message unless told otherwise. */
    send: (fields: Json = {}) =>
      made(202, MESSAGES, { event_type: 'user.created', payload: { n: 1 }, ...fields }),
    /** Hears everything, at the one subscriber, unless told otherwise. */
    createEndpoint: (fields: Json = {}) => made(201, ENDPOINTS, { url, ...fields }),
    /** Newest first, walked page by page. */
    listAll: (path: string) => listAll(read, path),
  }
}

async function listAll(read: (path: string) => Promise<Json>, path: string): Promise<Json[]> {
  const all: Json[] = []
  let more = ''
  do {
    const page = await read(`${path}${path.includes('?') ? '&' : '?'}limit=100${more}`)
    all.push(...page.data)
    const next = page.has_more ? `&cursor=${page.next_cursor}` : ''
    expect(next, `${path} goes on`).not.toBe(more || '&')
    more = next
  } while (more !== '')
  return all
}

/** One number of one table, for what the API does not show. */
export const count = ({ db }: Pick<TestApp, 'db'>, from: string): number =>
  (db.client.query(`select count(*) as n from ${from}`).get() as { n: number }).n

/** Whether the document has this answer to this request, and what it says there is true. */
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

/** In the one spelling that there is. */
export const isTime = (text: unknown): boolean =>
  typeof text === 'string' &&
  !Number.isNaN(Date.parse(text)) &&
  new Date(text).toISOString() === text
