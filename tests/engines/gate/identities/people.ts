import { expect } from 'bun:test'
import type { Answer, TestApp, TestAppOptions } from '../../../support/app.ts'
import type { Target } from '../../../support/target.ts'
import { expectDescribed } from '../../relay/support.ts'
import { bootGate, gateOf, IDENTITIES, type Json } from '../fixture.ts'

export const SECOND = 1000
export const MINUTE = 60 * SECOND
export const HOUR = 60 * MINUTE
export const DAY = 24 * HOUR

/** When the tests begin. */
export const START = '2026-03-01T12:00:30.000Z'

/** When they do, and some milliseconds later. */
export const later = (ms: number): string => new Date(Date.parse(START) + ms).toISOString()

export const ACTOR = { kind: 'cli', source: 'test' } as const

/** Nobody's. */
export const UNKNOWN_ID = '01890000-0000-7000-8000-000000000000'

export const ID = expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-\w{12}$/)

export type Fixture = Awaited<ReturnType<typeof bootPeople>>
export type Party = Awaited<ReturnType<Fixture['party']>>

/** Gate with one tenant, of which every answer has to be one that the API document describes. */
export async function bootPeople(options: TestAppOptions = {}) {
  const { app, clock, acme, key, [Symbol.asyncDispose]: end } = await bootGate(options)
  const document = (await app.raw('/openapi.json')).body

  const speak = (key: string) => {
    const api = describedClient(app, document, key)
    return { key, ...gateOf(app, api), spelled: spelledBy(app, document, key) }
  }

  /** One more tenant, with a live key. */
  async function party(name = 'Globex') {
    const { id, key } = await app.tenant(name)
    return { id, ...speak((await key('gate', 'live')).key) }
  }

  return {
    app,
    clock,
    acme,
    document,
    party,
    speak,
    end,
    ...speak(key),
    [Symbol.asyncDispose]: end,
  }
}

type Method = 'get' | 'post' | 'put' | 'patch' | 'delete'

function describedClient(app: TestApp, document: Json, key: string) {
  const client = app.client(key)
  const call = (method: Method) => async (path: string, body?: unknown) => {
    const answer = await client[method](path, body)
    expectDescribed(document, method, path, withoutFreeForm(path, answer))
    return answer
  }
  return {
    get: call('get'),
    post: call('post'),
    put: call('put'),
    patch: call('patch'),
    delete: call('delete'),
  }
}

/** Sends a body as it is spelled. */
const spelledBy =
  (app: TestApp, document: Json, key: string) =>
  async (
    method: Method,
    path: string,
    body: BodyInit | undefined,
    headers: Record<string, string> = { 'content-type': 'application/json' },
  ): Promise<Answer> => {
    const init = {
      method: method.toUpperCase(),
      headers: { authorization: `Bearer ${key}`, ...headers },
    }
    const answer = await app.raw(path, body === undefined ? init : { ...init, body })
    expectDescribed(document, method, path, withoutFreeForm(path, answer))
    return answer
  }

/** The document has nothing to say of what tenants keep with a person. */
export function withoutFreeForm(path: string, { body, ...answer }: Answer): Answer {
  const isFree = path.endsWith('/metadata') && answer.status === 200
  const text = JSON.stringify(isFree ? {} : body)
  const emptied = (name: string, value: unknown) => (FREE.has(name) ? {} : value)
  return { ...answer, body: JSON.parse(text, emptied) }
}

const FREE = new Set(['custom_data', 'metadata_public'])

export const personPath = ({ id }: { id: string }, rest = '') => `${IDENTITIES}/${id}${rest}`

/** Everything a webhook was told, in the order in which it came. */
export const told = ({ requests }: Target): Json[] => requests.map(({ body }) => JSON.parse(body))

export const typesTold = (target: Target): string[] =>
  told(target).map(({ event_type }) => event_type)

/** What the audit log has of an object, oldest first. */
export const auditOf = ({ db }: TestApp, object: string): Json[] =>
  db.client
    .query('select action, actor_kind, actor_id, detail from audit_log where object = ?')
    .all(object)
    .map((row: Json) => ({ ...row, detail: JSON.parse(row.detail) }))

export const actionsOn = (app: TestApp, object: string): string[] =>
  auditOf(app, object).map(({ action }) => action)

export const rowsOf = ({ db }: Pick<TestApp, 'db'>, table: string): Json[] =>
  db.client.query(`select * from ${table}`).all()

/** Every table that has a text in one of its cells, and in how many rows. */
export function tablesWith({ db }: Pick<TestApp, 'db'>, text: string): Record<string, number> {
  const tables = db.client.query("select name from sqlite_master where type = 'table'").all() as {
    name: string
  }[]
  const counts = tables.map(({ name }) => [
    name,
    rowsOf({ db }, name).filter((row) => Object.values(row).some((cell) => holds(cell, text)))
      .length,
  ])
  return Object.fromEntries(counts.filter(([, count]) => count !== 0))
}

const holds = (cell: unknown, text: string): boolean =>
  (cell instanceof Uint8Array ? Buffer.from(cell).toString('latin1') : `${cell}`).includes(text)

/** An object that is exactly so many bytes of JSON. */
export const ofBytes = (bytes: number) => ({ a: 'x'.repeat(bytes - '{"a":""}'.length) })

/** An object nested so many levels deep. */
export const nested = (levels: number): Json =>
  JSON.parse(`${'{"a":'.repeat(levels - 1)}{}${'}'.repeat(levels - 1)}`)
