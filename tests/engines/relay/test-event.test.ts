import { describe, expect, test } from 'bun:test'
import { closedPort } from '../clockwork/raw-target.ts'
import { type Json, refusal, refused, signedWith, useRelay } from './fixture.ts'
import { count, ENDPOINTS, EVENT_TYPES, SECOND } from './support.ts'

const { app, newTenant } = await useRelay({
  resolve: async (name) => {
    if (name === 'inward.example.com') return [{ address: '192.168.1.1', family: 4 }]
    throw Object.assign(new Error('no'), { code: 'ENOTFOUND' })
  },
})
const quick = await useRelay({ flags: { 'relay-breaker-failures': '1' } })

const dataOf = ({ request }: Json) => JSON.parse(request.body).data

describe('A test event answers with what happened', () => {
  test('for a success, with the request as it was sent', async () => {
    const { createEndpoint, sendTest, target, at } = await newTenant()
    target.answers(() => new Response('thanks', { status: 201, headers: { 'X-Trace': 'abc' } }))
    const endpoint = await createEndpoint({ headers: { 'X-Team': 'blue', Authorization: 'top' } })

    const result = await sendTest(endpoint)

    const [request] = target.requests
    const headers = {
      'Content-Type': 'application/json',
      'webhook-id': request?.headers.get('webhook-id'),
      'X-Service-Event-Type': 'webhook.test',
      'X-Service-Attempt': '1',
      'X-Service-Trigger': 'test',
      'X-Team': 'blue',
      Authorization: '********',
    }
    expect(result).toMatchObject({
      ...{ succeeded: true, duration_ms: 0, address: '127.0.0.1', error: null },
      timings: { dns: 0, connect: 0, tls: 0, wait: 0, read: 0 },
      request: { method: 'POST', url: target.url, headers, body: request?.body },
      response: { status: 201, body: 'thanks' },
    })
    expect(result.response.headers).toContainEqual(['X-Trace', 'abc'])
    expect(request?.headers.get('authorization')).toBe('top')
    const data = { message: expect.any(String) }
    const body = { type: 'webhook.test', timestamp: at(0), data }
    expect(JSON.parse(request?.body ?? '')).toEqual(body)
    expect(signedWith(request, [endpoint.secret])).toEqual([endpoint.secret])
  })

  test('for a failure', async () => {
    const { createEndpoint, sendTest, target, wait } = await newTenant()
    const endpoint = await createEndpoint()
    for (const [status, code] of [
      [429, 'status'],
      [410, 'gone'],
      [307, 'redirect'],
    ] as const) {
      target.answers(status, { location: '/other' })
      const failed = { succeeded: false, response: { status }, error: { code } }
      expect(await sendTest(endpoint)).toMatchObject(failed)
    }
    const held = target.hold()
    const result = sendTest(endpoint)
    await held.arrived(4)
    await wait(15 * SECOND)
    expect(await result).toMatchObject({
      ...{ succeeded: false, duration_ms: 15 * SECOND, timings: { wait: 15 * SECOND } },
      ...{ address: '127.0.0.1', request: { url: endpoint.url }, response: null },
      error: { code: 'timeout' },
    })
  })

  test('for a URL that cannot be called', async () => {
    const relay = await newTenant()
    for (const [url, code, address] of [
      [await closedPort(), 'connect', '127.0.0.1'],
      ['https://inward.example.com/', 'blocked', null],
      ['https://gone.example.com/', 'dns', null],
    ] as const) {
      const failed = {
        succeeded: false,
        address,
        request: { url },
        response: null,
        error: { code },
      }
      expect(await relay.sendTest(await relay.createEndpoint(url))).toMatchObject(failed)
    }
  })
})

test('A test event goes to endpoints that are paused, listen to nothing or have a test key', async () => {
  const relay = await newTenant()
  const { sendTest } = relay
  const fields = { active: false, event_types: ['a'], channels: ['eu'] }
  const paused = await relay.createEndpoint(fields)
  expect(await sendTest(paused, { event_type: 'b' })).toMatchObject({ succeeded: true })
  expect(await relay.readEndpoint(paused)).toMatchObject({ active: false })
  const test = await relay.sandbox()
  const endpoint = await test.createEndpoint()
  await test.deliver()
  expect(await test.sendTest(endpoint)).toMatchObject({ succeeded: true })
  expect(relay.target.requests).toHaveLength(2)
  const answer = await relay.api.post(`${ENDPOINTS}/${paused.id}/test`)
  expect(answer).toMatchObject({ status: 200, body: { succeeded: true } })
})

test('A test event has the given payload as it is spelled', async () => {
  const { createEndpoint, headers, spelled, target } = await newTenant()
  const { id } = await createEndpoint({ format: 'raw' })
  const body = '{"payload": { "n": 1.0 }, "event_type": "order.paid"}'
  const answer = await spelled(body, {}, `${ENDPOINTS}/${id}/test`)
  expect(answer).toMatchObject({ status: 200, body: { succeeded: true } })
  expect(target.requests[0]?.body).toBe('{ "n": 1.0 }')
  expect(headers('x-service-event-type')).toEqual(['order.paid'])
})

test('A test event has a sample of its type, if one was seen in its environment', async () => {
  const { createEndpoint, deliver, sandbox, sendTest } = await newTenant()
  const [endpoint, paid] = [await createEndpoint(), { event_type: 'order.paid' }]
  await (await sandbox()).deliver({ ...paid, payload: { order: 'test' } })
  expect(dataOf(await sendTest(endpoint, paid))).toEqual({ message: expect.any(String) })
  await deliver({ ...paid, payload: { order: 7 } })
  expect(dataOf(await sendTest(endpoint, paid))).toEqual({ order: 7 })
  const own = { mine: true }
  expect(dataOf(await sendTest(endpoint, { ...paid, payload: own }))).toEqual(own)
  const other = await sendTest(endpoint, { event_type: 'order.lost' })
  expect(dataOf(other)).not.toHaveProperty('order')
})

describe('A test event leaves no trace', () => {
  test('in lists, statistics and the health of the endpoint, whatever was answered', async () => {
    const relay = await newTenant()
    const { sendTest, target } = relay
    const { secret: _, ...endpoint } = await relay.createEndpoint()
    await sendTest(endpoint, { event_type: 'order.paid', payload: { n: 1 } })
    target.answers(500)
    for (let n = 0; n < 6; n++) await sendTest(endpoint)
    target.answers(410)
    await sendTest(endpoint)

    for (const table of ['messages', 'deliveries', 'relay_event_types'])
      expect(count(app, `${table} where tenant_id = '${relay.id}'`)).toBe(0)
    expect((await relay.read(EVENT_TYPES)).data).toEqual([])
    expect(await relay.statsOf(endpoint)).toEqual([])
    expect(await relay.readEndpoint(endpoint)).toEqual(endpoint)
    target.answers(200)
    await relay.deliver()
    expect(target.requests).toHaveLength(9)
  })

  test('in an open breaker', async () => {
    const relay = await quick.newTenant()
    const endpoint = await relay.createEndpoint()
    relay.target.answers(500)
    await relay.deliver()
    const before = await relay.readEndpoint(endpoint)
    expect(before.health).toMatchObject({ breaker: 'open' })
    relay.target.answers(200)
    expect(await relay.sendTest(endpoint)).toMatchObject({ succeeded: true })
    expect(await relay.readEndpoint(endpoint)).toEqual(before)
  })
})

test('A tenant may have four tests under way, whatever others do', async () => {
  const { api, createEndpoint, sendTest, target } = await newTenant()
  const other = await newTenant()
  const held = target.hold()
  const endpoint = await createEndpoint()
  const foreign = await other.createEndpoint(target.url)
  const four = Array.from({ length: 4 }, () => sendTest(endpoint))
  await held.arrived(4)
  const refused = await api.post(`${ENDPOINTS}/${endpoint.id}/test`, {})
  expect(refused).toMatchObject(refusal(429, 'rate_limited'))
  const others = other.sendTest(foreign)
  await held.arrived(5)
  held.release(200, 1)
  expect(await four[0]).toMatchObject({ succeeded: true })
  const fifth = sendTest(endpoint)
  await held.arrived(6)
  held.release()
  for (const test of [...four, others, fifth]) expect(await test).toMatchObject({ error: null })
})

test.each([
  ['event_type', ['a b', '', 'a.', 'user.*', 'a'.repeat(257), 5]],
  ['payload', ['text', [], null]],
])('A test event with a bad %s is refused', async (field, values) => {
  const { api, createEndpoint, target } = await newTenant()
  const { id } = await createEndpoint()
  for (const value of values) {
    const answer = await api.post(`${ENDPOINTS}/${id}/test`, { [field]: value })
    expect({ value, ...answer }).toMatchObject({ value, ...refused(field) })
  }
  expect(target.requests).toEqual([])
})
