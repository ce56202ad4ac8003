import { beforeAll, describe, expect, test } from 'bun:test'
import {
  type ListedDelivery,
  newRelayKey,
  RELAY_ARGS,
  type RelayClient,
  relayClient,
  WrongAnswer,
} from './engines/relay/processes.ts'
import { compileBinary, type Server, startServer, until } from './support/binary.ts'
import { temporaryFolder } from './support/folder.ts'
import { freePort } from './support/port.ts'
import { type ReceivedRequest, startTarget } from './support/target.ts'

beforeAll(compileBinary, 120_000)

const MESSAGES = 10_000
const KILLS = 10
const PRODUCERS = 32
const ENDPOINTS = 4
/** What the limits of the relay let one process have under way at once at these endpoints. */
const MAX_IN_FLIGHT = ENDPOINTS * (16 + 4)

/** The same numbers on each run: a test that fails once fails always. */
function seeded(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below)
  }
}

const numbers = (count: number) => Array.from({ length: count }, (_, n) => n)
const numberIn = ({ body }: ReceivedRequest): number => JSON.parse(body).data.n
const idOf = ({ headers }: ReceivedRequest) => headers.get('webhook-id') as string
const hasSucceeded = ({ status }: ListedDelivery) => status === 'succeeded'

/** Receives each message once it is sent; every 20th is refused when it comes for the first time. */
function startReceiver() {
  const arrivals = new Map<string, number>()
  const refused = new Set<string>()
  const target = startTarget((request) => {
    const id = idOf(request)
    if (numberIn(request) % 20 === 0 && !refused.has(id)) {
      refused.add(id)
      return new Response('not now', { status: 503 })
    }
    arrivals.set(id, (arrivals.get(id) ?? 0) + 1)
    return new Response('ok')
  })
  return { target, arrivals, refused }
}

/** Producers that send the same request, under the same key, until it is answered. */
function startProducers(api: RelayClient, url: string) {
  const answered = new Map<number, string>()
  let begun = 0
  let cutOff = 0

  async function sendUntilAnswered(n: number) {
    const message = {
      event_type: `orders.${n % ENDPOINTS}`,
      payload: { n },
      idempotency_key: `order-${n}`,
    }
    for (;;) {
      try {
        return await api.send(url, message)
      } catch (error) {
        if (error instanceof WrongAnswer) throw error
        cutOff++
        await Bun.sleep(10)
      }
    }
  }

  async function produce() {
    while (begun < MESSAGES) {
      const n = begun++
      answered.set(n, (await sendUntilAnswered(n)).id)
    }
  }

  const done = Promise.all(Array.from({ length: PRODUCERS }, produce))
  return { answered, done, cutOff: () => cutOff }
}

test('10,000 messages while the process is killed with -9 ten times at random: each that was answered arrives, none twice in the list, none is stuck', async () => {
  using folder = temporaryFolder()
  const { target, arrivals, refused } = startReceiver()
  await using _ = target
  const flags = ['--relay-retry-delays', '100ms,1s,1s', '--relay-breaker-failures', '1000']
  const samePort = ['--server-port', `${freePort()}`]
  const launch = { cwd: folder.path, args: [...RELAY_ARGS, ...flags, ...samePort] }
  await using stack = new AsyncDisposableStack()
  let server = await startServer(launch)
  stack.defer(() => server[Symbol.asyncDispose]())
  const { url } = server
  const api = relayClient(await newRelayKey(folder.path))
  for (let n = 0; n < ENDPOINTS; n++)
    await api.createEndpoint(url, { url: target.url, event_types: [`orders.${n}`] })

  const { answered, done, cutOff } = startProducers(api, url)
  const random = seeded(20_260_301)
  const progress = () => answered.size + arrivals.size
  const moments = Array.from({ length: KILLS }, () => random(1.9 * MESSAGES)).sort((a, b) => a - b)
  for (const moment of moments) {
    await until(() => progress() >= moment, server.out)
    await server.kill()
    server = await startServer(launch)
  }
  await done
  await until(() => arrivals.size >= MESSAGES, server.out)
  await until(async () => (await api.deliveries(url)).every(hasSucceeded), server.out)

  const ids = new Set(answered.values())
  expect(answered.size).toBe(MESSAGES)
  expect(ids.size).toBe(MESSAGES)
  expect(cutOff()).toBeGreaterThan(0)
  const listed = await api.messages(url)
  expect(listed).toHaveLength(MESSAGES)
  expect(new Set(listed.map(({ id }) => id))).toEqual(ids)
  const deliveries = await api.deliveries(url)
  expect(deliveries).toHaveLength(MESSAGES)
  expect(new Set(deliveries.map(({ message_id }) => message_id))).toEqual(ids)
  expect(new Set(arrivals.keys())).toEqual(ids)
  for (const request of target.requests) expect(answered.get(numberIn(request))).toBe(idOf(request))
  expect(refused.size).toBe(MESSAGES / 20)
  const repeated = target.requests.length - MESSAGES - refused.size
  expect(repeated).toBeGreaterThan(0)
  expect(repeated).toBeLessThanOrEqual(KILLS * MAX_IN_FLIGHT)
}, 300_000)

describe('three processes on one data directory', () => {
  /** A data directory with one process, a subscriber and an endpoint for it. */
  async function startFirst() {
    const stack = new AsyncDisposableStack()
    const folder = stack.use(temporaryFolder())
    const target = stack.use(startTarget())
    const launch = { cwd: folder.path, args: RELAY_ARGS }
    const start = async () => stack.use(await startServer(launch))
    const first = await start()
    const api = relayClient(await newRelayKey(folder.path))
    await api.createEndpoint(first.url, { url: target.url, event_types: ['orders.*'] })

    /** In turns to each of `to`; the ids as they were answered. */
    async function sendAll(to: readonly Server[], numbers: number[]): Promise<string[]> {
      const rest = numbers.entries()
      const ids: string[] = []
      async function produce() {
        for (const [place, n] of rest) {
          const { url } = to[place % to.length] as Server
          ids.push((await api.send(url, { event_type: 'orders.new', payload: { n } })).id)
        }
      }
      await Promise.all(Array.from({ length: PRODUCERS }, produce))
      return ids
    }

    const dispose = () => stack.disposeAsync()
    return { target, first, start, api, sendAll, [Symbol.asyncDispose]: dispose }
  }

  test('deliver each of 1,500 messages, sent to all of them in turn, exactly once', async () => {
    await using relay = await startFirst()
    const { target, first, start, api, sendAll } = relay
    const [second, third] = [await start(), await start()]

    const ids = await sendAll([first, second, third], numbers(1500))
    await until(async () => (await api.deliveries(first.url)).every(hasSucceeded), first.out)

    expect(target.requests.map(idOf).toSorted()).toEqual(ids.toSorted())
    expect(target.requests.map(numberIn).toSorted((a, b) => a - b)).toEqual(numbers(1500))
    for (const { url } of [second, third])
      expect((await api.messages(url)).map(({ id }) => id).toSorted()).toEqual(ids.toSorted())
    expect(await api.deliveries(third.url)).toHaveLength(1500)
  }, 300_000)

  test('take over within 10 s what one that was killed had under way, and meanwhile deliver their own', async () => {
    await using relay = await startFirst()
    const { target, first: doomed, start, api, sendAll } = relay
    const never = new Promise<Response>(() => {})
    target.answers(() => never)
    const cutOff = new Set(await sendAll([doomed], numbers(10)))
    await until(() => target.requests.length === 10, doomed.out)
    const [survivor, other] = [await start(), await start()]

    target.answers(() => new Response('ok'))
    await doomed.kill()
    const killedAt = performance.now()
    const later = new Set(await sendAll([survivor, other], numbers(100)))
    const open = async () =>
      (await api.deliveries(survivor.url)).filter((row) => !hasSucceeded(row))
    await until(async () => (await open()).every(({ message_id }) => cutOff.has(message_id)))
    expect(await open()).toHaveLength(10)
    await until(async () => (await open()).length === 0, survivor.out)
    const tookMs = performance.now() - killedAt

    expect(tookMs).toBeLessThan(10_000)
    const received = Map.groupBy(target.requests.map(idOf), (id) => id)
    expect(received.size).toBe(110)
    for (const [id, { length }] of received) expect(length).toBe(later.has(id) ? 1 : 2)
    for (const delivery of await api.deliveries(survivor.url)) {
      const expected = cutOff.has(delivery.message_id)
        ? ['interrupted', 'succeeded']
        : ['succeeded']
      expect((await api.attempts(survivor.url, delivery)).map(({ status }) => status)).toEqual(
        expected,
      )
    }
  }, 300_000)
})
