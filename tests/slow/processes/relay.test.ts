import { afterAll, expect, test } from 'bun:test'
import { type Server, until } from '../../support/binary.ts'
import { type ReceivedRequest, startTarget } from '../../support/target.ts'
import { DELIVERIES, ENDPOINTS, eventId, MESSAGES, numbers } from '../resilience/support/api.ts'
import { isBroken } from '../resilience/support/client.ts'
import { openInstallation } from '../resilience/support/installation.ts'
import { messagesAt } from '../resilience/support/relay.ts'

const stack = new AsyncDisposableStack()
afterAll(() => stack.disposeAsync())
const settings = { GATEHOUSE_RELAY_RETRY_DELAYS: '100ms,1s,1s' }
const { newClient, newTenant, running, rows } = openInstallation(stack, { settings })
const relay = newClient(newTenant(), 'relay')

const COUNT = 600
/** When the process is killed, as parts of all sending and receiving. */
const KILLS = [0.2, 0.7]
/** The most requests of one process to these two endpoints at a time. */
const MAX_IN_FLIGHT = 2 * (16 + 4)

const numberIn = ({ body }: ReceivedRequest): number => JSON.parse(body).data.n

/** Runs `send` for each number below `count`, 16 at a time, again while connections break. */
function startProducers(count: number, send: (n: number) => Promise<void>) {
  const rest = numbers(count).values()
  let cutOff = 0

  async function isSent(n: number): Promise<boolean> {
    try {
      await send(n)
      return true
    } catch (error) {
      if (!isBroken(error)) throw error
      cutOff++
      return false
    }
  }
  async function produce() {
    for (const n of rest) while (!(await isSent(n))) await Bun.sleep(10)
  }
  return { done: Promise.all(numbers(16).map(produce)), cutOff: () => cutOff }
}

const openDeliveries = () =>
  rows<{ id: string }>("SELECT id FROM deliveries WHERE state <> 'succeeded'").map(({ id }) => id)

test('A kill -9 loses no message, and repeats only what was in flight', async () => {
  const arrivals = new Set<string>()
  const refused = new Set<string>()
  // Accepts events, but refuses every 20th when it comes for the first time.
  await using target = startTarget((request) => {
    const id = eventId(request)
    if (numberIn(request) % 20 === 0 && !refused.has(id)) {
      refused.add(id)
      return new Response('not now', { status: 503 })
    }
    arrivals.add(id)
    return new Response('ok')
  })
  let [server] = (await running(1)) as [Server]
  for (const event_types of [['orders.0'], ['orders.1']])
    await relay.make(server, 'POST', ENDPOINTS, { url: target.url, event_types })
  const answered = new Map<number, string>()
  const producers = startProducers(COUNT, async (n) => {
    const event = { event_type: `orders.${n % 2}`, payload: { n }, idempotency_key: `order-${n}` }
    answered.set(n, (await relay.make(server, 'POST', MESSAGES, event)).id)
  })
  for (const part of KILLS) {
    await until(() => answered.size + arrivals.size >= part * 1.9 * COUNT, server.out)
    await server.kill()
    server = (await running(1))[0] as Server
  }
  await producers.done
  await until(() => arrivals.size >= COUNT && openDeliveries().length === 0, server.out)

  const ids = new Set(answered.values())
  expect([answered.size, ids.size]).toEqual([COUNT, COUNT])
  expect(producers.cutOff()).toBeGreaterThan(0)
  const deliveries = await relay.walk(server, DELIVERIES)
  expect(deliveries).toHaveLength(COUNT)
  expect(new Set(deliveries.map(({ message_id }) => message_id))).toEqual(ids)
  expect((await messagesAt(server, relay)).toSorted()).toEqual([...ids].toSorted())
  expect(arrivals).toEqual(ids)
  for (const request of target.requests)
    expect(answered.get(numberIn(request))).toBe(eventId(request))
  expect(refused.size).toBe(COUNT / 20)
  const repeated = target.requests.length - COUNT - refused.size
  expect(repeated).toBeGreaterThan(0)
  expect(repeated).toBeLessThanOrEqual(KILLS.length * MAX_IN_FLIGHT)
}, 300_000)

test('Processes take over the work of a killed one within 10 s, deliver their own meanwhile, and each message once', async () => {
  await using target = startTarget(() => new Promise<Response>(() => {}))
  const [doomed] = (await running(1)) as [Server]
  await relay.make(doomed, 'POST', ENDPOINTS, { url: target.url, event_types: ['team.*'] })

  /** Sends messages to the servers in turn. */
  async function sendAll(servers: readonly Server[], count: number): Promise<Set<string>> {
    const ids = new Set<string>()
    await startProducers(count, async (n) => {
      const event = { event_type: 'team.new', payload: { n } }
      const server = servers[n % servers.length] as Server
      ids.add((await relay.make(server, 'POST', MESSAGES, event)).id)
    }).done
    return ids
  }

  const cutOff = await sendAll([doomed], 10)
  await until(() => target.requests.length === 10, doomed.out)
  const interrupted = openDeliveries()
  const others = (await running(3)).filter((server) => server !== doomed)
  target.answers(() => new Response('ok'))
  await doomed.kill()
  const killedAt = performance.now()
  const later = await sendAll(others, 150)
  await until(() => openDeliveries().length === 0, others[0]?.out)
  expect(performance.now() - killedAt).toBeLessThan(10_000)

  // The first ones after the kill are their own.
  expect(later.has(eventId(target.requests[10] as ReceivedRequest))).toBe(true)
  const received = Map.groupBy(target.requests.map(eventId), (id) => id)
  expect(new Set(received.keys())).toEqual(cutOff.union(later))
  for (const [id, { length }] of received) expect(length).toBe(later.has(id) ? 1 : 2)
  for (const server of others) {
    const listed = await messagesAt(server, relay)
    expect(listed.filter((id) => received.has(id))).toHaveLength(160)
  }
  for (const id of interrupted) {
    const { attempt_log } = await relay.make(others[0] as Server, 'GET', `${DELIVERIES}/${id}`)
    const statuses = attempt_log.map(({ status }: { status: string }) => status)
    expect(statuses).toEqual(['interrupted', 'succeeded'])
  }
}, 300_000)
