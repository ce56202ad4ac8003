import { expect, setSystemTime } from 'bun:test'
import { createHmac } from 'node:crypto'
import { Webhook as StandardWebhook, WebhookVerificationError } from 'standardwebhooks'
import { Webhook as SvixWebhook } from 'svix'
import { bootTestApp, type TestApp, type TestAppOptions } from '../../support/app.ts'
import { type ReceivedRequest, startTarget } from '../../support/target.ts'

export const MESSAGES = '/v1/relay/messages'
export const ENDPOINTS = '/v1/relay/endpoints'
export const DELIVERIES = '/v1/relay/deliveries'
export const SECOND = 1000
export const MINUTE = 60 * SECOND
export const HOUR = 60 * MINUTE
export const DAY = 24 * HOUR

/** When the tests begin. */
export const START = Date.parse('2026-03-01T12:00:30.000Z')

// biome-ignore lint/suspicious/noExplicitAny: bodies are checked by the tests that read them
export type Json = any
type Api = ReturnType<TestApp['client']>
type WithId = { id: string }

export type Fixture = Awaited<ReturnType<typeof bootFixture>>

/** An application with one tenant that has a live relay key, and one receiver. */
export async function bootFixture(options: TestAppOptions = {}) {
  const app = await bootTestApp(options)
  const target = startTarget()
  const acme = await app.tenant('Acme')
  const live = await acme.key('relay', 'live')

  async function end() {
    target.stop()
    await app.stop()
  }

  return {
    app,
    clock: app.clock,
    target,
    acme,
    live,
    ...manage(app, live.key, target.url),
    end,
    [Symbol.asyncDispose]: end,
  }
}

/** The relay as one key has it; what a test does not care about is filled in. */
export function manage(app: TestApp, key: string, url: string) {
  const api = app.client(key)
  const settle = () => settled(app)
  const call = answering(api)

  /** Accepted, and whatever that set off has come to rest. */
  async function publish(fields: Json = {}): Promise<Json> {
    const message = await accept(fields)
    await settle()
    return message
  }

  const accept = (fields: Json = {}): Promise<Json> =>
    call(202, 'post', MESSAGES, { event_type: 'user.created', payload: { id: 1 }, ...fields })

  return {
    api,
    settle,
    /** Accepted; receivers may keep their answers to themselves. */
    accept,
    publish,
    createEndpoint: (fields: Json = {}) => call(201, 'post', ENDPOINTS, { url, ...fields }),
    readEndpoint: ({ id }: WithId) => call(200, 'get', `${ENDPOINTS}/${id}`),
    listEndpoints: (query = '') => call(200, 'get', `${ENDPOINTS}${query}`),
    change: ({ id }: WithId, fields: Json) => call(200, 'patch', `${ENDPOINTS}/${id}`, fields),
    remove: ({ id }: WithId) => call(204, 'delete', `${ENDPOINTS}/${id}`),
    rotate: ({ id }: WithId, fields: Json = {}) =>
      call(200, 'post', `${ENDPOINTS}/${id}/rotate-secret`, fields),
    sendTest: ({ id }: WithId, fields: Json = {}) =>
      call(200, 'post', `${ENDPOINTS}/${id}/test`, fields),
    statsOf: async ({ id }: WithId, query = '') =>
      (await call(200, 'get', `${ENDPOINTS}/${id}/stats${query}`)).data as Json[],
    readMessage: ({ id }: WithId) => call(200, 'get', `${MESSAGES}/${id}`),
    /** Of a message, newest first. */
    deliveriesOf: async ({ id }: WithId): Promise<Json[]> =>
      (await call(200, 'get', `${MESSAGES}/${id}/deliveries`)).data,
    readDelivery: ({ id }: WithId) => call(200, 'get', `${DELIVERIES}/${id}`),
    resend: ({ id }: WithId) => call(202, 'post', `${DELIVERIES}/${id}/resend`),
    /** How many would be sent again. */
    dryRun: async ({ id }: WithId, fields: Json): Promise<number> =>
      (await call(200, 'post', `${ENDPOINTS}/${id}/replay`, { ...fields, dry_run: true })).count,
    /** How many are sent again. */
    replay: async ({ id }: WithId, fields: Json): Promise<number> =>
      (await call(202, 'post', `${ENDPOINTS}/${id}/replay`, fields)).count,
  }
}

const answering =
  (api: Api) =>
  async (status: number, method: keyof Api, path: string, body?: unknown): Promise<Json> => {
    const answer = await api[method](path, body)
    expect(answer).toMatchObject({ status })
    return answer.body
  }

/** A refusal, with words that its message has to have. */
export const refusal = (status: number, code: string, ...words: string[]) => ({
  status,
  body: {
    error: {
      code,
      message: expect.stringMatching(new RegExp(words.map(escaped).join('.*'))),
      request_id: expect.any(String),
    },
  },
})

const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')

/** Until nothing is under way any more; one line of work may set off the other. */
export async function settled({ db, delivery }: Pick<TestApp, 'db' | 'delivery'>) {
  for (let turn = 0; turn < 3; turn++) {
    await delivery.idle()
    await db.commit(() => undefined)
  }
}

/** One number for what the API does not show. */
export const count = ({ db }: Pick<TestApp, 'db'>, from: string): number =>
  (db.client.query(`select count(*) as n from ${from}`).get() as { n: number }).n

export const isoAt = (ms: number): string => new Date(ms).toISOString()

export const answerWith = (status: number, headers: Record<string, string> = {}) => {
  return () => new Response('', { status, headers })
}

/** `type` of each request as it arrived in the usual format. */
export const typesOf = (requests: ReceivedRequest[]): string[] =>
  requests.map(({ body }) => JSON.parse(body).type)

/** Writes down further endpoints by copying one: what a thousand requests would come to. */
export function copyEndpoint({ db }: Pick<TestApp, 'db'>, { id }: WithId, copies: number) {
  const columns = columnsOf(db, 'endpoints', ['seq', 'id'])
  const insert = db.client.prepare(
    `insert into endpoints (id, ${columns}) select ?, ${columns} from endpoints where id = ?`,
  )
  db.client.transaction(() => {
    for (let n = 0; n < copies; n++) insert.run(`${id}-${n}`, id)
  })()
  insert.finalize()
}

/** Writes down further messages by copying one. */
export function copyMessage({ db }: Pick<TestApp, 'db'>, { id }: WithId, copies: number) {
  const columns = columnsOf(db, 'messages', ['seq', 'id'])
  db.client.run(
    `with recursive n(i) as (select 1 union all select i + 1 from n where i < ?)
     insert into messages (id, ${columns})
     select id || '-' || i, ${columns} from messages, n where id = ?`,
    [copies, id],
  )
}

function columnsOf({ client }: TestApp['db'], table: string, without: string[]): string {
  const rows = client.query(`pragma table_info(${table})`).all() as { name: string }[]
  return rows
    .map(({ name }) => name)
    .filter((name) => !without.includes(name))
    .join(', ')
}

/**
 * A request as its receiver verifies it, in the moment in which it was sent: the public
 * libraries look at the clock of the machine.
 */
export function received(request: ReceivedRequest | undefined) {
  if (!request) throw new Error('nothing arrived')
  const { headers, body } = request
  setSystemTime(new Date(Number(headers.get('webhook-timestamp')) * SECOND))
  const plain = Object.fromEntries(headers)
  return {
    standard: (secret: string) =>
      isAccepted(() => void new StandardWebhook(secret).verify(body, plain)),
    svix: (secret: string) => isAccepted(() => void new SvixWebhook(secret).verify(body, plain)),
    service: (secret: string, name = 'x-service-signature') =>
      isServiceSignature(plain[name], body, secret),
    [Symbol.dispose]: () => void setSystemTime(),
  }
}

function isAccepted(verify: () => void): boolean {
  try {
    verify()
    return true
  } catch (error) {
    if (error instanceof WebhookVerificationError) return false
    throw error
  }
}

/** The scheme as its description has it, apart from our own code. */
export function isServiceSignature(
  header: string | undefined,
  body: string,
  secret: string,
): boolean {
  const parts = (header ?? '').split(',').map((part) => part.split('='))
  const valuesOf = (name: string) => parts.filter(([key]) => key === name).map(([, value]) => value)
  const [timestamp] = valuesOf('t')
  const expected = createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex')
  return valuesOf('v1').includes(expected)
}

/** Which of some secrets a request is signed with, in all three checks alike. */
export function signedWith(request: ReceivedRequest | undefined, secrets: string[]): string[] {
  using check = received(request)
  const by = (verify: (secret: string) => boolean) => secrets.filter((secret) => verify(secret))
  const signers = by(check.standard)
  expect(by(check.svix)).toEqual(signers)
  expect(by((secret) => check.service(secret))).toEqual(signers)
  return signers
}

/** An application whose deliveries fail for good with their first attempt. */
export const WITHOUT_RETRIES = { flags: { 'relay-retry-delays': '' } }
