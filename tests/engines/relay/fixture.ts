import { afterAll, expect, setSystemTime } from 'bun:test'
import { createHmac } from 'node:crypto'
import { dirname } from 'node:path'
import { Webhook as StandardWebhook, WebhookVerificationError } from 'standardwebhooks'
import { Webhook as SvixWebhook } from 'svix'
import { bootTestApp, type TestApp, type TestAppOptions } from '../../support/app.ts'
import { until } from '../../support/binary.ts'
import { expectDescribed } from '../../support/described.ts'
import { type ReceivedRequest, startTarget } from '../../support/target.ts'
import { bootProcess } from '../clockwork/processes.ts'
import { advanceWaiting, breathe } from '../clockwork/support.ts'
import { count, DELIVERIES, ENDPOINTS, MESSAGES, SECOND } from './support.ts'

export * from './support.ts'

// biome-ignore lint/suspicious/noExplicitAny: bodies are checked by the tests that read them
export type Json = any
type Api = ReturnType<TestApp['client']>
type WithId = { id: string }
type Running = Pick<TestApp, 'clock' | 'db'>

export type Party = Awaited<ReturnType<typeof partyOf>>
export type Relay = ReturnType<typeof relayOf>

/** Deliveries fail for good with their first attempt. */
export const WITHOUT_RETRIES = { flags: { 'relay-retry-delays': '' } }
/** The circuit breaker never opens. */
export const NEVER_OPEN = { flags: { 'relay-breaker-failures': '1000' } }

/** An application with one tenant that has a live key of the relay, and one receiver. */
export async function bootRelay(options: TestAppOptions = {}) {
  const app = await bootTestApp(options)
  const acme = await partyOf(app, 'Acme')
  return {
    ...acme,
    [Symbol.asyncDispose]: async () => {
      await acme.target.stop()
      await app.stop()
    },
  }
}

/** The relay of a test file, booted once; see `useApp`. Each test takes a tenant with `newTenant`. */
export async function useRelay(options: TestAppOptions = {}) {
  const app = await bootTestApp(options)
  const parties: Party[] = []
  afterAll(async () => {
    for (const { target } of parties) await target.stop()
    await app.stop()
  })

  async function newTenant(): Promise<Party> {
    const party = await partyOf(app)
    parties.push(party)
    return party
  }

  return { app, clock: app.clock, newTenant }
}

/** A tenant with a live key of the relay and a receiver of its own. */
export async function partyOf(app: TestApp, name = 'Other') {
  const target = startTarget()
  const { id, key } = await app.tenant(name)
  const live = await key('relay', 'live')
  const begun = app.clock.now()
  const authorization = `Bearer ${live.key}`
  const relay = relayOf(app, app.client(live.key), target.url)

  return {
    app,
    clock: app.clock,
    target,
    id,
    live,
    newKey: key,
    ...relay,
    /** The same tenant with a test key. */
    sandbox: async () => relayOf(app, app.client((await key('relay', 'test')).key), target.url),
    /** Posts a body as it is spelled. */
    spelled: (body: string, headers: Record<string, string> = {}, path = MESSAGES) =>
      app.raw(path, {
        method: 'POST',
        headers: { authorization, 'content-type': 'application/json', ...headers },
        body,
      }),
    /** The text of an answer, as it is spelled. */
    textOf: async (path: string) => {
      const request = new Request(`http://localhost${path}`, { headers: { authorization } })
      return (await app.app.fetch(request)).text()
    },
    /** A time in seconds after the tenant was created. */
    at: (seconds: number) => isoAt(begun + seconds * SECOND),
    rest: () => rest(app),
    leap: (ms: number) => leap(app, ms),
    /** Turns the clock although receivers still owe their answers. */
    wait: (ms: number) => advanceWaiting(app, ms),
    /** How many attempts are under way, once all that may begin has begun. */
    underWay: async () => {
      for (let round = 0; round < 3; round++) await breathe(app)
      return count(app, `deliveries where state = 'leased' and tenant_id = '${id}'`)
    },
    healthOf: async (endpoint: WithId) => (await relay.readEndpoint(endpoint)).health,
    /** How many deliveries there are of each status, and held ones by their reason. */
    tally: (query = '') => tally(relay, query),
    /** One header of each request. */
    headers: (name: string) => target.requests.map(({ headers }) => headers.get(name)),
    auditLog: (action: string): Json[] => {
      const sql = `select actor_kind, actor_id, action, object, detail from audit_log
         where tenant_id = ? and action like ? order by seq`
      const rows = app.db.client.query<Json, string[]>(sql).all(id, action)
      return rows.map(({ detail, ...row }) => ({ ...row, detail: JSON.parse(detail) }))
    },
  }
}

/** The relay through one key, with what a test does not care about filled in. */
export function relayOf(app: TestApp, client: Api, url = 'http://127.0.0.1:9/') {
  const api = describedBy(app, client)

  async function call(status: number, method: keyof Api, path: string, body?: unknown) {
    const answer = await api[method](path, body)
    expect(answer).toMatchObject({ status })
    return answer.body
  }

  const read = (path: string): Promise<Json> => call(200, 'get', path)

  /** A list, page by page. */
  async function all(path: string): Promise<Json[]> {
    const found: Json[] = []
    for (let cursor = ''; ; ) {
      const page = await read(`${path}${path.includes('?') ? '&' : '?'}limit=100${cursor}`)
      found.push(...page.data)
      if (!page.has_more) return found
      cursor = `&cursor=${page.next_cursor}`
    }
  }

  /** Accepted; receivers may not have answered yet. */
  const send = (fields: Json = {}): Promise<Json> =>
    call(202, 'post', MESSAGES, { event_type: 'user.created', payload: { n: 1 }, ...fields })

  const deliveriesOf = async ({ id }: WithId): Promise<Json[]> =>
    (await read(`${MESSAGES}/${id}/deliveries`)).data

  const readDelivery = ({ id }: WithId) => read(`${DELIVERIES}/${id}`)

  return {
    api,
    read,
    all,
    send,
    /** Messages that are sent at the same time, in the order of their acceptance. */
    sendMany: (count: number, fields: Json = {}): Promise<Json[]> =>
      Promise.all(Array.from({ length: count }, (_, n) => send({ payload: { n }, ...fields }))),
    /** Sends one and waits until its first attempts have ended. */
    deliver: async (fields: Json = {}): Promise<Json> => {
      const message = await send(fields)
      await rest(app)
      return message
    },
    /** Listens to everything unless told otherwise. Takes fields, or a URL and fields. */
    createEndpoint: (given: Json = {}, more: Json = {}): Promise<Json> => {
      const fields = typeof given === 'string' ? { url: given, ...more } : { url, ...given }
      return call(201, 'post', ENDPOINTS, fields)
    },
    readEndpoint: ({ id }: WithId) => read(`${ENDPOINTS}/${id}`),
    listEndpoints: async (): Promise<Json[]> => (await read(ENDPOINTS)).data,
    change: ({ id }: WithId, fields: Json): Promise<Json> =>
      call(200, 'patch', `${ENDPOINTS}/${id}`, fields),
    remove: ({ id }: WithId) => call(204, 'delete', `${ENDPOINTS}/${id}`),
    rotate: ({ id }: WithId, fields: Json = {}): Promise<Json> =>
      call(200, 'post', `${ENDPOINTS}/${id}/rotate-secret`, fields),
    sendTest: ({ id }: WithId, fields: Json = {}): Promise<Json> =>
      call(200, 'post', `${ENDPOINTS}/${id}/test`, fields),
    statsOf: async ({ id }: WithId, query = ''): Promise<Json[]> =>
      (await read(`${ENDPOINTS}/${id}/stats${query}`)).data,
    readMessage: ({ id }: WithId) => read(`${MESSAGES}/${id}`),
    /** Newest first. */
    listMessages: async (query = ''): Promise<Json[]> => (await read(MESSAGES + query)).data,
    deliveriesOf,
    /** The one delivery of a message, or that to one endpoint, with its attempts. */
    deliveryOf: async (message: WithId, endpoint?: WithId): Promise<Json> => {
      const found = await deliveriesOf(message)
      return readDelivery(found.find((one) => !endpoint || one.endpoint_id === endpoint.id))
    },
    readDelivery,
    /** Newest first. */
    listDeliveries: (query = '') => all(`${DELIVERIES}${query}`),
    resend: ({ id }: WithId): Promise<Json> => call(202, 'post', `${DELIVERIES}/${id}/resend`),
    /** How many messages would be sent again. */
    dryRun: async ({ id }: WithId, fields: Json): Promise<number> =>
      (await call(200, 'post', `${ENDPOINTS}/${id}/replay`, { ...fields, dry_run: true })).count,
    /** How many messages are sent again. */
    replay: async ({ id }: WithId, fields: Json): Promise<number> =>
      (await call(202, 'post', `${ENDPOINTS}/${id}/replay`, fields)).count,
  }
}

let document: Json

/** A client whose answers are all as the API document describes them. */
function describedBy(app: TestApp, client: Api): Api {
  const checked = (method: keyof Api) => async (path: string, body?: unknown) => {
    document ??= (await app.raw('/openapi.json')).body
    const answer = await client[method](path, body)
    expectDescribed(document, method, path, answer)
    return answer
  }
  const methods = Object.keys(client) as (keyof Api)[]
  return Object.fromEntries(methods.map((method) => [method, checked(method)])) as Api
}

/** How many there are of each status, and held ones by their reason. */
export async function tally({ listDeliveries }: Pick<Relay, 'listDeliveries'>, query = '') {
  const counts: Record<string, number> = {}
  for (const { status, held_reason } of await listDeliveries(query)) {
    const name = held_reason === null ? status : `${status}: ${held_reason}`
    counts[name] = (counts[name] ?? 0) + 1
  }
  return counts
}

/** `[trigger, seconds since the delivery was created, status]` of each attempt. */
export const storyOf = ({ created_at, attempt_log }: Json): [string, number, string][] =>
  attempt_log.map(({ trigger, started_at, status }: Json) => [
    trigger,
    (Date.parse(started_at) - Date.parse(created_at)) / SECOND,
    status,
  ])

/** `type` of each request as it arrived in the standard format. */
export const typesOf = (requests: ReceivedRequest[]): string[] =>
  requests.map(({ body }) => JSON.parse(body).type)

export const isoAt = (ms: number): string => new Date(ms).toISOString()

/** A refusal. The message is fixed only where the contract fixes it. */
export const refusal = (status: number, code: string, message: string = expect.any(String)) => ({
  status,
  body: { error: { code, message, request_id: expect.any(String) } },
})

/** The refusal of a field, whose name begins the message, once. */
export const refused = (field: string, code = 'invalid_payload') =>
  refusal(400, code, expect.stringMatching(new RegExp(`^${field}\\b(?!: ${field}: )`)))

/** Resolves when nothing is under way that does not wait for the clock. */
export async function rest(app: Running) {
  for (let round = 0; round < 3; round++) {
    await app.clock.settled()
    await breathe(app)
  }
}

/** More than the longest sleep of a loop. */
const APPROACH_MS = 6000

/**
 * Turns to a time that may be days ahead: over the empty part the wall clock alone is set, the
 * last seconds pass as they do.
 */
export async function leapTo(app: Running, at: number) {
  const gap = at - app.clock.now() - APPROACH_MS
  if (gap > 0) app.clock.jump(gap)
  await app.clock.advanceTo(at)
  await rest(app)
}

export const leap = (app: Running, ms: number) => leapTo(app, app.clock.now() + ms)

/** Turns the clock in steps while a receiver takes real time to answer. */
export const turnUntil = (app: TestApp, holds: () => boolean | Promise<boolean>, step = 100) =>
  until(async () => {
    if (await holds()) return true
    await advanceWaiting(app, step)
    return false
  })

/** Waits until nothing arrives any more, for all that has been set off. */
export async function stillness(app: Pick<TestApp, 'db'>, requests: () => number) {
  let seen = -1
  while (seen !== requests()) {
    seen = requests()
    await breathe(app)
    await Bun.sleep(30)
  }
}

/** One more process on the data of a running one. */
export const bootBeside = (
  { app: { db, clock } }: { app: Running },
  options: { othersRun?: boolean } = {},
) => bootProcess(dirname(db.file), { now: clock.now(), ...options })

/** Writes further endpoints by copying one: what a thousand requests would come to. */
export const copyEndpoint = (app: Pick<TestApp, 'db'>, { id }: WithId, copies: number) =>
  copyRows(app, 'endpoints', copies, { id: "id || '-' || i" }, `id = '${id}'`)

/** Writes further messages by copying one. */
export const copyMessage = (app: Pick<TestApp, 'db'>, { id }: WithId, copies: number) =>
  copyRows(app, 'messages', copies, { id: "id || '-' || i" }, `id = '${id}'`)

/** Writes further messages by copying one, each with a copy of its delivery to an endpoint. */
export function copyDelivery(
  app: Pick<TestApp, 'db'>,
  message: WithId,
  to: WithId,
  copies: number,
) {
  copyMessage(app, message, copies)
  const message_seq = `(select seq from messages where id = '${message.id}-' || i)`
  const changed = { id: "id || '-' || i", message_seq }
  copyRows(app, 'deliveries', copies, changed, `endpoint_id = '${to.id}'`)
}

/** Copies the rows that a condition selects. `changed` has an expression for each column that differs. */
export function copyRows(
  { db }: Pick<TestApp, 'db'>,
  table: string,
  copies: number,
  changed: Record<string, string>,
  condition: string,
) {
  const rows = db.client.query(`pragma table_info(${table})`).all() as { name: string }[]
  const same = rows.map(({ name }) => name).filter((name) => name !== 'seq' && !(name in changed))
  db.client.run(
    `with recursive n(i) as (select 1 union all select i + 1 from n where i < ?)
     insert into ${table} (${[...Object.keys(changed), ...same]})
     select ${[...Object.values(changed), ...same]} from ${table}, n where ${condition}`,
    [copies],
  )
}

/**
 * A request as its receiver verifies it, at the time at which it was sent: the public libraries
 * read the machine's clock.
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

/** The scheme as its documentation has it, apart from our own code. */
function isServiceSignature(header: string | undefined, body: string, secret: string): boolean {
  const parts = (header ?? '').split(',').map((part) => part.split('='))
  const valuesOf = (name: string) => parts.filter(([key]) => key === name).map(([, value]) => value)
  const [timestamp] = valuesOf('t')
  const expected = createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex')
  return valuesOf('v1').includes(expected)
}

/** The secrets that a request is signed with, in all three schemes alike. */
export function signedWith(request: ReceivedRequest | undefined, secrets: string[]): string[] {
  using check = received(request)
  const by = (verify: (secret: string) => boolean) => secrets.filter((secret) => verify(secret))
  const signers = by(check.standard)
  expect(by(check.svix)).toEqual(signers)
  expect(by((secret) => check.service(secret))).toEqual(signers)
  return signers
}
