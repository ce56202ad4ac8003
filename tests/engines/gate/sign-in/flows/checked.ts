import { expect } from 'bun:test'
import type { Answer, TestApp } from '../../../../support/app.ts'
import { mismatches, resolved } from '../../../../support/described.ts'
import { startTarget } from '../../../../support/target.ts'
import { type Gate, type Json, WEBHOOKS } from '../../fixture.ts'
import { messageIds } from './fixture.ts'

const OF_FLOWS = /^\/(v1\/gate\/auth|auth\/self-service)\//

/** The app, whose JSON answers to requests for flows must match the API document. */
export async function describedApp(app: TestApp): Promise<TestApp> {
  const document = (await app.raw('/openapi.json')).body
  const { paths } = document

  async function raw(path: string, init: RequestInit = {}): Promise<Answer> {
    const answer = await app.raw(path, init)
    const bare = path.replace(/\?.*$/, '')
    const route = paths[bare] ?? paths[bare.replace(/[^/]+$/, '{kind}')]
    const operation = route?.[(init.method ?? 'GET').toLowerCase()]
    const isJson = answer.headers.get('content-type')?.includes('json')
    if (isJson && operation && OF_FLOWS.test(path)) {
      const described = operation.responses[answer.status]
      expect(described, `${path} ${answer.status} is in the document`).toBeDefined()
      const schema = resolved(document, described.content['application/json'].schema)
      expect(mismatches(schema, answer.body, path), 'as in the document').toEqual([])
    }
    return answer
  }
  return { ...app, raw }
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

/** A body without ids, tokens and times, as text. */
export const blurred = (body: Json): string =>
  JSON.stringify(body)
    .replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '<id>')
    .replaceAll(/(?:[0-9a-f]{64}){1,2}/g, '<token>')
    .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, '<time>')

/** The events of a tenant from now on. */
export async function listening({ createWebhook, api }: Pick<Gate, 'createWebhook' | 'api'>) {
  const target = startTarget()
  const { id } = await createWebhook(target.url)
  const known = new Set<string>()

  /** The events since the last call, oldest first. */
  async function events(): Promise<Json[]> {
    const { data } = (await api.get(`${WEBHOOKS}/deliveries?limit=100`)).body
    const fresh = data.filter((delivery: Json) => !known.has(delivery.id)).reverse()
    for (const delivery of fresh) known.add(delivery.id)
    const read = ({ id }: Json) => api.get(`${WEBHOOKS}/deliveries/${id}`)
    const deliveries = await Promise.all(fresh.map(read))
    return deliveries.map(({ body }) => JSON.parse(body.request_body))
  }
  await events()

  async function end() {
    await api.delete(`${WEBHOOKS}/${id}`)
    await target.stop()
  }
  return { events, [Symbol.asyncDispose]: end }
}

export const isoAt = (ms: number) => new Date(ms).toISOString()

export function flowIn(answer: Answer, status: number, state: string): Json {
  expect(answer).toMatchObject({ status, body: { state } })
  return answer.body
}

/** The status of an answer and the errors of its flow, as `messageIds` has them. */
export const idsIn = ({ status, body }: Answer) => [
  status,
  ...messageIds(body).filter((id) => /(^|:)4\d{6}$/.test(`${id}`)),
]

export const tokenIn = ({ body }: Answer): string =>
  body.continue_with.find(({ action }: Json) => action === 'set_ory_session_token')
    .ory_session_token

export const nextFlowIn = ({ body }: { body: Json }, action: string): Json =>
  body.continue_with?.find((one: Json) => one.action === action)?.flow
