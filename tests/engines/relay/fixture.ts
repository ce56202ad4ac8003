import { expect } from 'bun:test'
import { dirname } from 'node:path'
import { createApp } from '../../../src/app.ts'
import { openDatabase } from '../../../src/db/open.ts'
import { createLog } from '../../../src/platform/log.ts'
import { createOutbound } from '../../../src/platform/outbound/index.ts'
import { createPlatform } from '../../../src/platform/platform.ts'
import { createSealing } from '../../../src/platform/sealing/index.ts'
import { openKeyRing } from '../../../src/platform/sealing/open-key-ring.ts'
import { bootTestApp, type TestApp, type TestAppOptions } from '../../support/app.ts'
import { until } from '../../support/binary.ts'
import { createTestClock } from '../../support/clock.ts'
import { testConfig } from '../../support/config.ts'
import { advanceWaiting, breathe } from '../clockwork/support.ts'

// biome-ignore lint/suspicious/noExplicitAny: bodies are checked by the tests that read them
type Json = any
type Api = ReturnType<TestApp['client']>

export const ENDPOINTS = '/v1/relay/endpoints'
export const MESSAGES = '/v1/relay/messages'
export const DELIVERIES = '/v1/relay/deliveries'

export type Fixture = Awaited<ReturnType<typeof bootRelay>>
export type Relay = ReturnType<typeof relayOf>

/** An application with one tenant that has a live key of the relay. */
export async function bootRelay(options: TestAppOptions = {}) {
  const app = await bootTestApp(options)
  const acme = await app.tenant('Acme')
  const { key } = await acme.key('relay', 'live')
  return {
    app,
    clock: app.clock,
    acme,
    key,
    ...relayOf(app, app.client(key)),
    [Symbol.asyncDispose]: () => app.stop(),
  }
}

/** The relay of one tenant, with what a test does not care about filled in. */
export function relayOf(app: TestApp, api: Api) {
  async function read(path: string): Promise<Json> {
    const answer = await api.get(path)
    expect(answer).toMatchObject({ status: 200 })
    return answer.body
  }

  async function all(path: string): Promise<Json[]> {
    const found: Json[] = []
    for (let cursor = ''; ; ) {
      const page = await read(`${path}${path.includes('?') ? '&' : '?'}limit=100${cursor}`)
      found.push(...page.data)
      if (!page.has_more) return found
      cursor = `&cursor=${encodeURIComponent(page.next_cursor)}`
    }
  }

  async function createEndpoint(url: string, fields: Json = {}): Promise<Json> {
    const answer = await api.post(ENDPOINTS, { url, ...fields })
    expect(answer).toMatchObject({ status: 201 })
    return answer.body
  }

  async function send(fields: Json = {}): Promise<Json> {
    const answer = await api.post(MESSAGES, { event_type: 'user.created', payload: {}, ...fields })
    expect(answer).toMatchObject({ status: 202 })
    return answer.body
  }

  /** The one delivery of a message, or that to one endpoint, with its attempts. */
  async function deliveryOf({ id }: { id: string }, endpoint?: { id: string }): Promise<Json> {
    const { data } = await read(`${MESSAGES}/${id}/deliveries`)
    const [found] = data.filter((one: Json) => !endpoint || one.endpoint_id === endpoint.id)
    return readDelivery(found)
  }

  const readDelivery = ({ id }: { id: string }) => read(`${DELIVERIES}/${id}`)

  async function change({ id }: { id: string }, fields: Json): Promise<Json> {
    const answer = await api.patch(`${ENDPOINTS}/${id}`, fields)
    expect(answer).toMatchObject({ status: 200 })
    return answer.body
  }

  async function resend({ id }: { id: string }): Promise<Json> {
    const answer = await api.post(`${DELIVERIES}/${id}/resend`)
    expect(answer).toMatchObject({ status: 202 })
    return answer.body
  }

  return {
    api,
    createEndpoint,
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
    deliveryOf,
    readDelivery,
    readEndpoint: ({ id }: { id: string }) => read(`${ENDPOINTS}/${id}`),
    /** Newest first. */
    listDeliveries: (query = '') => all(`${DELIVERIES}${query}`),
    statsOf: async ({ id }: { id: string }) => (await read(`${ENDPOINTS}/${id}/stats`)).data,
    change,
    resend,
  }
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

/** `[number, milliseconds since the delivery came to be, status]` of each attempt. */
export const storyOf = ({ created_at, attempt_log }: Json): [number, number, string][] =>
  attempt_log.map(({ number, started_at, status }: Json) => [
    number,
    Date.parse(started_at) - Date.parse(created_at),
    status,
  ])

/**
 * Resolves when nothing goes on that is not waiting for the clock: one line of deliveries may
 * have made work for the other, and the end of an attempt for the parking of deliveries.
 */
export async function rest(app: Pick<TestApp, 'clock' | 'db'>) {
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
export async function leapTo(app: Pick<TestApp, 'clock' | 'db'>, at: number) {
  const gap = at - app.clock.now() - APPROACH_MS
  if (gap > 0) app.clock.jump(gap)
  await app.clock.advanceTo(at)
  await rest(app)
}

export const leap = (app: Pick<TestApp, 'clock' | 'db'>, ms: number) =>
  leapTo(app, app.clock.now() + ms)

/** Turns the clock in small steps while a receiver takes real time to answer. */
export async function turnUntil(app: TestApp, holds: () => boolean | Promise<boolean>) {
  await until(async () => {
    if (await holds()) return true
    await advanceWaiting(app, 100)
    return false
  })
}

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
export async function bootBeside(
  { app: { db, clock } }: Pick<Fixture, 'app'>,
  { othersRun = true, pid = 2 } = {},
) {
  const dataDir = dirname(db.file)
  const own = createTestClock(new Date(clock.now()).toISOString())
  const second = openDatabase({ dataDir, synchronous: 'full' })
  const sealing = createSealing(await openKeyRing({ db: second, clock: own, dataDir }))
  const platform = createPlatform({
    db: second,
    clock: own,
    log: createLog({ level: 'error', format: 'json', now: own.now, write: console.error }),
    outbound: createOutbound({
      clock: own,
      allow: ['127.0.0.0/8'],
      timeoutMs: 30_000,
      maxResponseBytes: 64 * 1024,
    }),
    sealing,
    keyPrefix: 'svc',
    metering: testConfig().metering,
    process: { version: 'test', host: 'test', pid, isRunning: () => othersRun },
    random: () => 0,
  })
  const { app, delivery, start, stop } = createApp(platform, testConfig())
  await start()
  own.settled = async () => void (await delivery.idle())
  return {
    app,
    db: second,
    clock: own,
    delivery,
    stop: () => stop(0),
    [Symbol.asyncDispose]: async () => {
      await stop(0)
      second.close()
    },
  }
}
