import { expect, test } from 'bun:test'
import { closedPort } from '../clockwork/raw-target.ts'
import { type Json, refusal, refused, signedWith, useRelay } from './fixture.ts'
import { count, ENDPOINTS, SECOND } from './support.ts'

const { app, newTenant } = await useRelay({
  resolve: async (name) => {
    if (name === 'inward.example.com') return [{ address: '192.168.1.1', family: 4 }]
    throw Object.assign(new Error('no'), { code: 'ENOTFOUND' })
  },
})

const dataOf = ({ request }: Json) => JSON.parse(request.body).data

test('The answer to a test event has the request as it was sent, and what the receiver answered', async () => {
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

test('The answer to a test event says why it failed', async () => {
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
  for (const [url, code, address] of [
    [await closedPort(), 'connect', '127.0.0.1'],
    ['https://inward.example.com/', 'blocked', null],
    ['https://gone.example.com/', 'dns', null],
  ] as const) {
    const failed = { succeeded: false, address, response: null, error: { code } }
    const result = await sendTest(await createEndpoint(url))
    expect(result).toMatchObject({ ...failed, request: { url } })
  }
})

test('A test event goes to endpoints that are paused, listen to nothing or have a test key', async () => {
  const relay = await newTenant()
  const fields = { active: false, event_types: ['a'], channels: ['eu'], format: 'raw' }
  const { id } = await relay.createEndpoint(fields)
  const body = '{"payload": { "n": 1.0 }, "event_type": "order.paid"}'
  const answer = await relay.spelled(body, {}, `${ENDPOINTS}/${id}/test`)
  expect(answer).toMatchObject({ status: 200, body: { succeeded: true } })
  expect(relay.target.requests[0]?.body).toBe('{ "n": 1.0 }')
  expect(relay.headers('x-service-event-type')).toEqual(['order.paid'])
  expect(await relay.readEndpoint({ id })).toMatchObject({ active: false })
  const without = await relay.api.post(`${ENDPOINTS}/${id}/test`)
  expect(without).toMatchObject({ status: 200, body: { succeeded: true } })
  const test = await relay.sandbox()
  const endpoint = await test.createEndpoint()
  await test.deliver()
  expect(await test.sendTest(endpoint)).toMatchObject({ succeeded: true })
  expect(relay.target.requests).toHaveLength(3)
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

test('A test event leaves no trace in lists, statistics and health, whatever was answered', async () => {
  const relay = await newTenant()
  const { sendTest, target } = relay
  const { secret: _, ...endpoint } = await relay.createEndpoint()
  await sendTest(endpoint, { event_type: 'order.paid', payload: { n: 1 } })
  for (const status of [500, 500, 500, 500, 500, 410]) {
    target.answers(status)
    await sendTest(endpoint)
  }
  for (const table of ['messages', 'deliveries', 'relay_event_types'])
    expect(count(app, `${table} where tenant_id = '${relay.id}'`)).toBe(0)
  expect(await relay.statsOf(endpoint)).toEqual([])
  expect(await relay.readEndpoint(endpoint)).toEqual(endpoint)

  target.answers(500)
  for (let n = 0; n < 5; n++) await relay.deliver()
  const open = await relay.readEndpoint(endpoint)
  expect(open.health).toMatchObject({ breaker: 'open' })
  target.answers(200)
  expect(await sendTest(endpoint)).toMatchObject({ succeeded: true })
  expect(await relay.readEndpoint(endpoint)).toEqual(open)
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

test('A test event with a bad type or payload is refused', async () => {
  const { api, createEndpoint, target } = await newTenant()
  const { id } = await createEndpoint()
  for (const event_type of ['a b', '', 'a.', 'user.*', 'a'.repeat(257)])
    expect(await api.post(`${ENDPOINTS}/${id}/test`, { event_type })).toMatchObject(
      refused('event_type'),
    )
  for (const payload of ['text', [], null])
    expect(await api.post(`${ENDPOINTS}/${id}/test`, { payload })).toMatchObject(refused('payload'))
  expect(target.requests).toEqual([])
})
