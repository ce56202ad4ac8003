import { beforeAll, describe, expect, test } from 'bun:test'
import {
  type ListedDelivery,
  newRelayKey,
  RELAY_ARGS,
  relayClient,
} from '../../engines/relay/processes.ts'
import { compileBinary, type Server, startServer, until } from '../../support/binary.ts'
import { temporaryFolder } from '../../support/folder.ts'
import { freePort } from '../../support/port.ts'
import { type ReceivedRequest, startTarget } from '../../support/target.ts'
import { idOf, numbers, startProducers, startReceiver } from './receiver.ts'

beforeAll(compileBinary, 120_000)

const MESSAGES = 10_000
const PRODUCERS = 32
const ENDPOINTS = 4
/** When the process is killed, as parts of all sending and receiving. */
const KILLS = [0.04, 0.11, 0.19, 0.27, 0.4, 0.52, 0.6, 0.75, 0.83, 0.97]
/** Most requests of one process to these endpoints at a time. */
const MAX_IN_FLIGHT = ENDPOINTS * (16 + 4)

const numberIn = ({ body }: ReceivedRequest): number => JSON.parse(body).data.n
const hasSucceeded = ({ status }: ListedDelivery) => status === 'succeeded'

test('10 times kill -9 lose none of 10,000 messages, and repeat only what was in flight', async () => {
  using folder = temporaryFolder()
  await using receiver = startReceiver(numberIn)
  const { target, arrivals, refused } = receiver
  const flags = ['--relay-retry-delays', '100ms,1s,1s', '--relay-breaker-failures', '1000']
  const samePort = ['--server-port', `${freePort()}`]
  const launch = { cwd: folder.path, args: [...RELAY_ARGS, ...flags, ...samePort] }
  await using stack = new AsyncDisposableStack()
  let server = await startServer(launch)
  stack.defer(() => server[Symbol.asyncDispose]())
  const { url } = server
  const api = relayClient(await newRelayKey(folder.path))
  for (const n of numbers(ENDPOINTS))
    await api.createEndpoint(url, { url: target.url, event_types: [`orders.${n}`] })

  const answered = new Map<number, string>()
  const producers = startProducers({ count: MESSAGES, producers: PRODUCERS }, async (n) => {
    const event = { event_type: `orders.${n % ENDPOINTS}`, payload: { n } }
    answered.set(n, (await api.send(url, { ...event, idempotency_key: `order-${n}` })).id)
  })
  for (const part of KILLS) {
    await until(() => answered.size + arrivals.size >= part * 1.9 * MESSAGES, server.out)
    await server.kill()
    server = await startServer(launch)
  }
  await producers.done
  await until(() => arrivals.size >= MESSAGES, server.out)
  await until(async () => (await api.deliveries(url)).every(hasSucceeded), server.out)

  const ids = new Set(answered.values())
  expect([answered.size, ids.size]).toEqual([MESSAGES, MESSAGES])
  expect(producers.cutOff()).toBeGreaterThan(0)
  const listed = await api.messages(url)
  const deliveries = await api.deliveries(url)
  expect([listed.length, deliveries.length]).toEqual([MESSAGES, MESSAGES])
  expect(new Set(listed.map(({ id }) => id))).toEqual(ids)
  expect(new Set(deliveries.map(({ message_id }) => message_id))).toEqual(ids)
  expect(new Set(arrivals.keys())).toEqual(ids)
  for (const request of target.requests) expect(answered.get(numberIn(request))).toBe(idOf(request))
  expect(refused.size).toBe(MESSAGES / 20)
  const repeated = target.requests.length - MESSAGES - refused.size
  expect(repeated).toBeGreaterThan(0)
  expect(repeated).toBeLessThanOrEqual(KILLS.length * MAX_IN_FLIGHT)
}, 300_000)

describe('three processes on one data directory', () => {
  async function startFirst() {
    const stack = new AsyncDisposableStack()
    const folder = stack.use(temporaryFolder())
    const target = stack.use(startTarget())
    const start = async () => stack.use(await startServer({ cwd: folder.path, args: RELAY_ARGS }))
    const first = await start()
    const api = relayClient(await newRelayKey(folder.path))
    await api.createEndpoint(first.url, { url: target.url, event_types: ['orders.*'] })

    /** Sends messages to the servers in turn. */
    async function sendAll(servers: readonly Server[], count: number): Promise<string[]> {
      const ids: string[] = []
      await startProducers({ count, producers: PRODUCERS }, async (n) => {
        const { url } = servers[n % servers.length] as Server
        ids.push((await api.send(url, { event_type: 'orders.new', payload: { n } })).id)
      }).done
      return ids
    }

    const dispose = () => stack.disposeAsync()
    return { target, first, start, api, sendAll, [Symbol.asyncDispose]: dispose }
  }

  test('deliver each of 1,500 messages once', async () => {
    await using relay = await startFirst()
    const { target, first, start, api, sendAll } = relay
    const [second, third] = [await start(), await start()]
    const ids = (await sendAll([first, second, third], 1500)).toSorted()
    await until(async () => (await api.deliveries(first.url)).every(hasSucceeded), first.out)

    expect(target.requests.map(idOf).toSorted()).toEqual(ids)
    expect(target.requests.map(numberIn).toSorted((a, b) => a - b)).toEqual(numbers(1500))
    for (const { url } of [second, third])
      expect((await api.messages(url)).map(({ id }) => id).toSorted()).toEqual(ids)
    expect(await api.deliveries(third.url)).toHaveLength(1500)
  }, 300_000)

  test('take over the work of a killed one within 10 s, and deliver their own meanwhile', async () => {
    await using relay = await startFirst()
    const { target, first: doomed, start, api, sendAll } = relay
    target.answers(() => new Promise<Response>(() => {}))
    const cutOff = new Set(await sendAll([doomed], 10))
    await until(() => target.requests.length === 10, doomed.out)
    const [survivor, other] = [await start(), await start()]

    target.answers(() => new Response('ok'))
    await doomed.kill()
    const killedAt = performance.now()
    const later = new Set(await sendAll([survivor, other], 100))
    const open = async () =>
      (await api.deliveries(survivor.url)).filter((row) => !hasSucceeded(row))
    await until(async () => (await open()).every(({ message_id }) => cutOff.has(message_id)))
    expect(await open()).toHaveLength(10)
    await until(async () => (await open()).length === 0, survivor.out)
    expect(performance.now() - killedAt).toBeLessThan(10_000)

    const received = Map.groupBy(target.requests.map(idOf), (id) => id)
    expect(received.size).toBe(110)
    for (const [id, { length }] of received) expect(length).toBe(later.has(id) ? 1 : 2)
    for (const delivery of await api.deliveries(survivor.url)) {
      const isCutOff = cutOff.has(delivery.message_id)
      const statuses = (await api.attempts(survivor.url, delivery)).map(({ status }) => status)
      expect(statuses).toEqual(isCutOff ? ['interrupted', 'succeeded'] : ['succeeded'])
    }
  }, 300_000)
})
