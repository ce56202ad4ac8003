import { expect } from 'bun:test'
import type { Answer, TestApp, TestAppOptions } from '../../../../support/app.ts'
import { mismatches } from '../../../../support/described.ts'
import { startTarget } from '../../../../support/target.ts'
import { type Json, WEBHOOKS } from '../../fixture.ts'
import { bootFlows, flowsOf } from './fixture.ts'

export type Checked = Awaited<ReturnType<typeof bootChecked>>

const OF_FLOWS = /^\/(v1\/gate\/auth|auth\/self-service)\//

/** An app with flows whose JSON answers must match the API document, without limits by address. */
export async function bootChecked({ flags, ...options }: TestAppOptions = {}) {
  const fixture = await bootFlows({
    ...options,
    flags: { 'limits-sign-ins-per-minute': '1000000', ...flags },
  })
  const document = (await fixture.app.raw('/openapi.json')).body

  async function raw(path: string, init: RequestInit = {}): Promise<Answer> {
    const answer = await fixture.app.raw(path, init)
    const isJson = answer.headers.get('content-type')?.includes('json')
    if (isJson && OF_FLOWS.test(path)) expectDescribed(document, init.method ?? 'GET', path, answer)
    return answer
  }

  const app: TestApp = { ...fixture.app, raw }
  const { tenantId, key, api } = fixture
  return { ...fixture, ...flowsOf(app, { tenantId, key, api }), app }
}

function expectDescribed(document: Json, method: string, path: string, answer: Answer) {
  const bare = path.replace(/\?.*$/, '')
  const route = document.paths[bare] ? bare : bare.replace(/[^/]+$/, '{kind}')
  const described = document.paths[route]?.[method.toLowerCase()]?.responses[answer.status]
  const where = `${method} ${route} ${answer.status}`
  expect(described, `${where} is in the document`).toBeDefined()
  const schema = described.content['application/json'].schema
  expect(problems(schema, answer.body, 'body'), `${where} as in the document`).toEqual([])
}

/** How a value differs from its schema, or from the closest one of several. */
function problems(schema: Json, value: Json, at: string): string[] {
  if (schema.anyOf)
    return schema.anyOf
      .map((one: Json) => problems(one, value, at))
      .reduce((best: string[], next: string[]) => (next.length < best.length ? next : best))
  const types = [schema.type ?? []].flat()
  if (types.includes('array') && Array.isArray(value))
    return value.flatMap((item, index) => problems(schema.items, item, `${at}[${index}]`))
  if (types.includes('object') && value !== null && typeof value === 'object')
    return problemsOfObject(schema, value, at)
  return mismatches(schema, value, at)
}

function problemsOfObject(schema: Json, value: Json, at: string): string[] {
  const others = schema.patternProperties?.['^(.*)$'] ?? (schema.additionalProperties && {})
  const missing = (schema.required ?? []).filter((name: string) => !Object.hasOwn(value, name))
  return [
    ...missing.map((name: string) => `${at}.${name} is missing`),
    ...Object.entries(value).flatMap(([name, field]) => {
      const known = schema.properties?.[name] ?? others
      return known ? problems(known, field, `${at}.${name}`) : [`${at}.${name} is not described`]
    }),
  ]
}

/** The header that names the address of a request, once `pretendPeers` was called. */
export const PEER = 'x-test-peer'

export function pretendPeers({ app }: TestApp) {
  const requestIP = ({ headers }: Request) => {
    const address = headers.get(PEER)
    return address === null ? null : { address }
  }
  app.server = { requestIP } as never
}

/** An answer without ids, tokens, times and these words of its own. */
export const steady = ({ status, body, headers }: Answer, ...own: string[]) => ({
  status,
  body: own.reduce((text, word) => text.replaceAll(word, '<own>'), blurred(body)),
  headers: [...headers].filter(([name]) => name !== 'x-request-id').sort(),
})

/** A body without ids, tokens and times, as text. */
export const blurred = (body: Json): string =>
  JSON.stringify(body)
    .replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '<id>')
    .replaceAll(/[0-9a-f]{64}/g, '<token>')
    .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, '<time>')

/** Nodes with the id of their label in place of its text. */
export const bareNodes = ({ ui }: Json): Json[] =>
  ui.nodes.map(({ type, group, attributes, messages, meta, ...rest }: Json) => ({
    ...rest,
    type,
    group,
    attributes,
    messages,
    label: meta.label.id,
  }))

/** The events of a tenant from now on. */
export async function listening({ createWebhook, api }: Checked) {
  const target = startTarget()
  const { id } = await createWebhook(target.url)
  const known = new Set<string>()

  /** New deliveries since the last call, oldest first. */
  async function fresh(): Promise<Json[]> {
    const { data } = (await api.get(`${WEBHOOKS}/deliveries?limit=100`)).body
    const unknown = data.filter((delivery: Json) => !known.has(delivery.id)).reverse()
    for (const delivery of unknown) known.add(delivery.id)
    return unknown
  }
  await fresh()

  async function events(): Promise<Json[]> {
    const read = ({ id }: Json) => api.get(`${WEBHOOKS}/deliveries/${id}`)
    const deliveries = await Promise.all((await fresh()).map(read))
    return deliveries.map(({ body }) => JSON.parse(body.request_body))
  }

  async function end() {
    await api.delete(`${WEBHOOKS}/${id}`)
    await target.stop()
  }

  return { events, [Symbol.asyncDispose]: end }
}

/** Ids of messages, as `field:id` beside fields; those must be above the form too (contract/gate, errors). */
export function saidIn({ ui }: Json): (number | string)[] {
  const above: number[] = (ui.messages ?? []).map(({ id }: Json) => id)
  const beside: [field: string, id: number][] = ui.nodes.flatMap(({ attributes, messages }: Json) =>
    messages.map(({ id }: Json) => [attributes.name, id]),
  )
  const ofFields = beside.map(([, id]) => id)
  for (const id of ofFields) expect(above).toContain(id)
  return [
    ...above.filter((id) => !ofFields.includes(id)),
    ...beside.map(([field, id]) => `${field}:${id}`),
  ]
}
