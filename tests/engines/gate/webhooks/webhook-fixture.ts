import { expect } from 'bun:test'
import { createHmac } from 'node:crypto'
import type { Answer, TestApp, TestAppOptions } from '../../../support/app.ts'
import { type ReceivedRequest, startTarget } from '../../../support/target.ts'
import { SECOND } from '../../clockwork/support.ts'
import { bootBeside, rest } from '../../relay/fixture.ts'
import { expectDescribed } from '../../relay/support.ts'
import { bootGate, gateOf, IDENTITIES, type Json, SETTINGS, WEBHOOKS } from '../fixture.ts'

export const WEBHOOK_DELIVERIES = `${WEBHOOKS}/deliveries`

/** Nothing was ever given it. */
export const UNKNOWN_ID = '01890000-0000-7000-8000-000000000000'

/** In the order of the contract. */
export const ALL_EVENTS = [
  'identity.created',
  'identity.deleted',
  'identity.login',
  'identity.password_changed',
  'identity.email_verified',
  'identity.state_changed',
]

/** `[number, milliseconds since the event, status]` of three attempts that all failed. */
export const THREE_FAILURES: [number, number, string][] = [
  [1, 0, 'failed'],
  [2, 1000, 'failed'],
  [3, 3000, 'failed'],
]

type Client = ReturnType<TestApp['client']>
type WithId = { id: string }

export type Fixture = Awaited<ReturnType<typeof bootWebhooks>>
export type Party = Awaited<ReturnType<Fixture['party']>>

/** An application with one tenant that has a live key of gate, and one receiver. */
export async function bootWebhooks(options: TestAppOptions = {}) {
  const fixture = await bootGate(options)
  const { app } = fixture
  const target = startTarget()
  const document = (await app.raw('/openapi.json')).body

  /** What a key of gate can do; answers of settings have to be as the API document says. */
  function speak(key: string) {
    const client = described(document, app.client(key))
    return { key, ...gateOf(app, client), ...webhooksOf(client) }
  }

  /** One more tenant, with a live key. */
  async function party(name = 'Other') {
    const tenant = await app.tenant(name)
    const { key } = await tenant.key('gate', 'live')
    return { tenant, ...speak(key) }
  }

  async function end() {
    await target.stop()
    await fixture[Symbol.asyncDispose]()
  }

  return {
    ...fixture,
    ...speak(fixture.key),
    target,
    document,
    speak,
    party,
    /** Lets all that was set off come to rest. */
    rest: () => rest(app),
    /** Past every attempt that there can be. */
    toTheEnd: async () => {
      await rest(app)
      await app.clock.advance(5 * SECOND)
      await rest(app)
    },
    end,
    [Symbol.asyncDispose]: end,
  }
}

function described(document: Json, client: Client): Client {
  const call =
    (method: keyof Client) =>
    async (path: string, body?: unknown): Promise<Answer> => {
      const answer = await client[method](path, body)
      if (path.startsWith(SETTINGS)) expectDescribed(document, method, path, answer)
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

/** The webhooks and their log as one key has them. */
function webhooksOf(api: Client) {
  async function read(path: string): Promise<Json> {
    const answer = await api.get(path)
    expect(answer).toMatchObject({ status: 200 })
    return answer.body
  }

  async function done(status: number, asked: Promise<Answer>): Promise<Json> {
    const answer = await asked
    expect(answer).toMatchObject({ status })
    return answer.body
  }

  async function listDeliveries(query: Record<string, string> = {}): Promise<Json[]> {
    const found: Json[] = []
    let cursor: Record<string, string> = {}
    for (;;) {
      const search = new URLSearchParams({ limit: '100', ...query, ...cursor })
      const page = await read(`${WEBHOOK_DELIVERIES}?${search}`)
      found.push(...page.data)
      if (!page.has_more) return found
      cursor = { cursor: page.next_cursor }
    }
  }

  const readDelivery = ({ id }: WithId): Promise<Json> => read(`${WEBHOOK_DELIVERIES}/${id}`)

  return {
    read,
    listWebhooks: async (): Promise<Json[]> => (await read(WEBHOOKS)).webhooks,
    change: ({ id }: WithId, fields: Json) => done(200, api.patch(`${WEBHOOKS}/${id}`, fields)),
    remove: ({ id }: WithId) => done(204, api.delete(`${WEBHOOKS}/${id}`)),
    rotate: ({ id }: WithId, fields: Json = {}) =>
      done(200, api.post(`${WEBHOOKS}/${id}/rotate-secret`, fields)),
    sendTest: ({ id }: WithId, fields?: Json) =>
      done(200, api.post(`${WEBHOOKS}/${id}/test`, fields)),
    /** Newest first. */
    listDeliveries,
    readDelivery,
    /** The only delivery there is, with its attempts. */
    theDelivery: async (): Promise<Json> => {
      const [delivery, ...others] = await listDeliveries()
      expect(others).toEqual([])
      return readDelivery(delivery)
    },
    resend: ({ id }: WithId) => done(202, api.post(`${WEBHOOK_DELIVERIES}/${id}/resend`)),
    removeIdentity: ({ id }: WithId) => done(204, api.delete(`${IDENTITIES}/${id}`)),
  }
}

/** What a plain error says, with words that it has to have. */
export const refusal = (status: number, ...words: string[]) => ({
  status,
  body: { error: expect.stringMatching(new RegExp(words.map(escaped).join('.*'))) },
})

const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')

export const eventIn = ({ body }: ReceivedRequest): Json => JSON.parse(body)

export const eventsAt = ({ requests }: { requests: ReceivedRequest[] }): Json[] =>
  requests.map(eventIn)

export const typesAt = (target: { requests: ReceivedRequest[] }): string[] =>
  eventsAt(target).map(({ event_type }) => event_type)

/**
 * Which of some secrets a request is signed with, in the order of its signatures; the scheme as
 * the contract describes it, apart from our own code. Throws for a header of another form.
 */
export function signersOf(
  { headers, body }: ReceivedRequest,
  secrets: string[],
  header = 'x-service-signature',
): string[] {
  const value = headers.get(header) ?? ''
  expect(value).toMatch(/^t=\d{10}(,v1=[0-9a-f]{64})+$/)
  const [timestamp = '', ...signatures] = value.split(',')
  const signed = `${timestamp.slice(2)}.${body}`
  const digest = (secret: string) => createHmac('sha256', secret).update(signed).digest('hex')
  return signatures.map(
    (signature) => secrets.find((secret) => signature === `v1=${digest(secret)}`) ?? 'nobody',
  )
}

/** Unix seconds at which a request says that it was signed. */
export const signedAt = ({ headers }: ReceivedRequest): number =>
  Number(/^t=(\d+),/.exec(headers.get('x-service-signature') ?? '')?.[1])

/** `[number, milliseconds since the event, status]` of each attempt. */
export const storyOf = ({ created_at, attempt_log }: Json): [number, number, string][] =>
  attempt_log.map(({ number, started_at, status }: Json) => [
    number,
    Date.parse(started_at) - Date.parse(created_at),
    status,
  ])

/** One more process on the data of a running one, and how to ask it. */
export async function besides(fixture: Pick<Fixture, 'app'>, key: string) {
  const process = await bootBeside(fixture)

  async function ask(method: string, path: string, body?: unknown) {
    const request = new Request(`http://localhost${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const answer = await process.app.handle(request)
    return { status: answer.status, body: (await answer.json()) as Json }
  }

  return {
    ...process,
    get: (path: string) => ask('GET', path),
    put: (path: string, body: unknown) => ask('PUT', path, body),
    post: (path: string, body: unknown) => ask('POST', path, body),
    patch: (path: string, body: unknown) => ask('PATCH', path, body),
  }
}
