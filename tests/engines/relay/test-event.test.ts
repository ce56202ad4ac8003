import { describe, expect, test } from 'bun:test'
import { closedPort } from '../clockwork/raw-target.ts'
import { advanceWaiting, holdAnswers } from '../clockwork/support.ts'
import {
  answerWith,
  bootRelay,
  count,
  ENDPOINTS,
  EVENT_TYPES,
  type Json,
  refusal,
  refused,
  SECOND,
  signedWith,
  useRelay,
} from './fixture.ts'

const { app, newTenant } = await useRelay()

const dataOf = ({ request }: Json) => JSON.parse(request.body).data

describe('a test event answers with what happened', () => {
  test('for a success, with the request as it was sent', async () => {
    const { createEndpoint, sendTest, target, at } = await newTenant()
    target.answers(() => new Response('thanks', { status: 201, headers: { 'X-Trace': 'abc' } }))
    const endpoint = await createEndpoint({ headers: { 'X-Team': 'blue', Authorization: 'top' } })

    const result = await sendTest(endpoint)

    const [request] = target.requests
    expect(result).toMatchObject({
      succeeded: true,
      duration_ms: 0,
      timings: { dns: 0, connect: 0, tls: 0, wait: 0, read: 0 },
      address: '127.0.0.1',
      request: {
        method: 'POST',
        url: target.url,
        headers: {
          'Content-Type': 'application/json',
          'webhook-id': request?.headers.get('webhook-id'),
          'X-Service-Event-Type': 'webhook.test',
          'X-Service-Attempt': '1',
          'X-Service-Trigger': 'test',
          'X-Team': 'blue',
          Authorization: '********',
        },
        body: request?.body,
      },
      response: { status: 201, body: 'thanks' },
      error: null,
    })
    expect(result.response.headers).toContainEqual(['X-Trace', 'abc'])
    expect(request?.headers.get('authorization')).toBe('top')
    const data = { message: expect.any(String) }
    expect(JSON.parse(request?.body ?? '')).toEqual({
      type: 'webhook.test',
      timestamp: at(0),
      data,
    })
    expect(signedWith(request, [endpoint.secret])).toEqual([endpoint.secret])
  })

  test.each([
    [404, 'status'],
    [429, 'status'],
    [500, 'status'],
    [410, 'gone'],
    [307, 'redirect'],
  ])('for the status %i', async (status, code) => {
    const { createEndpoint, sendTest, target } = await newTenant()
    target.answers(() => new Response('no', { status, headers: { location: '/other' } }))

    const result = await sendTest(await createEndpoint())

    expect(result).toMatchObject({ succeeded: false, response: { status }, error: { code } })
    expect(target.requests).toHaveLength(1)
  })

  test('for a receiver that does not answer in time', async () => {
    const { createEndpoint, sendTest, target } = await newTenant()
    const held = holdAnswers(target)
    const endpoint = await createEndpoint()

    const result = sendTest(endpoint)
    await held.arrived(1)
    await advanceWaiting(app, 15 * SECOND)

    expect(await result).toMatchObject({
      succeeded: false,
      duration_ms: 15 * SECOND,
      timings: { wait: 15 * SECOND },
      address: '127.0.0.1',
      request: { url: endpoint.url },
      response: null,
      error: { code: 'timeout' },
    })
  })

  test('for a URL that cannot be called', async () => {
    await using relay = await bootRelay({
      resolve: async (name) => {
        if (name === 'inward.example.com') return [{ address: '192.168.1.1', family: 4 }]
        throw Object.assign(new Error('no'), { code: 'ENOTFOUND' })
      },
    })
    for (const [url, code, address] of [
      [await closedPort(), 'connect', '127.0.0.1'],
      ['https://inward.example.com/', 'blocked', null],
      ['https://gone.example.com/', 'dns', null],
    ] as const)
      expect(await relay.sendTest(await relay.createEndpoint(url))).toMatchObject({
        succeeded: false,
        address,
        request: { url },
        response: null,
        error: { code },
      })
  })
})

test('a test event goes to endpoints that are paused, listen to nothing or have a test key', async () => {
  const { api, createEndpoint, readEndpoint, sandbox, sendTest, target } = await newTenant()
  const paused = await createEndpoint({ active: false, event_types: ['a'], channels: ['eu'] })
  expect(await sendTest(paused, { event_type: 'b' })).toMatchObject({ succeeded: true })
  expect(await readEndpoint(paused)).toMatchObject({ active: false })

  const test = await sandbox()
  const endpoint = await test.createEndpoint()
  await test.deliver()
  expect(await test.sendTest(endpoint)).toMatchObject({ succeeded: true })
  expect(target.requests).toHaveLength(2)

  const answer = await api.post(`${ENDPOINTS}/${paused.id}/test`)
  expect(answer).toMatchObject({ status: 200, body: { succeeded: true } })
})

describe('a test event has', () => {
  test('the given payload as it is spelled', async () => {
    const { createEndpoint, spelled, target } = await newTenant()
    const { id } = await createEndpoint({ format: 'raw' })

    const body = '{"payload": { "n": 1.0 }, "event_type": "order.paid"}'
    const answer = await spelled(body, {}, `${ENDPOINTS}/${id}/test`)

    expect(answer).toMatchObject({ status: 200, body: { succeeded: true } })
    expect(target.requests[0]?.body).toBe('{ "n": 1.0 }')
    expect(target.requests[0]?.headers.get('x-service-event-type')).toBe('order.paid')
  })

  test('a sample of its type, if one was seen in its environment', async () => {
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

  test.each(['standard', 'raw', 'cloudevents'])('the format %s', async (format) => {
    const { createEndpoint, sendTest, target } = await newTenant()

    const { request } = await sendTest(await createEndpoint({ format }), { payload: { n: 1 } })

    const body = JSON.parse(target.requests[0]?.body ?? '')
    expect(format === 'raw' ? body : body.data).toEqual({ n: 1 })
    expect(request.body).toBe(target.requests[0]?.body)
    expect(request.headers['Content-Type']).toBe(target.requests[0]?.headers.get('content-type'))
  })
})

describe('a test event leaves no trace', () => {
  test('in lists, statistics and the health of the endpoint, whatever was answered', async () => {
    const party = await newTenant()
    const { id, createEndpoint, deliver, readEndpoint, sendTest, statsOf, target } = party
    const { secret: _, ...endpoint } = await createEndpoint()
    await sendTest(endpoint, { event_type: 'order.paid', payload: { n: 1 } })
    target.answers(answerWith(500))
    for (let n = 0; n < 6; n++) await sendTest(endpoint)
    target.answers(answerWith(410))
    await sendTest(endpoint)

    for (const table of ['messages', 'deliveries', 'relay_event_types'])
      expect(count(app, `${table} where tenant_id = '${id}'`)).toBe(0)
    expect((await party.read(EVENT_TYPES)).data).toEqual([])
    expect(await statsOf(endpoint)).toEqual([])
    expect(await readEndpoint(endpoint)).toEqual(endpoint)
    target.answers(answerWith(200))
    await deliver()
    expect(target.requests).toHaveLength(9)
  })

  test('in an open breaker', async () => {
    await using relay = await bootRelay({ flags: { 'relay-breaker-failures': '1' } })
    const { createEndpoint, sendTest, readEndpoint, deliver, target } = relay
    const endpoint = await createEndpoint()
    target.answers(answerWith(500))
    await deliver()
    const before = await readEndpoint(endpoint)
    expect(before.health).toMatchObject({ breaker: 'open' })

    target.answers(answerWith(200))
    expect(await sendTest(endpoint)).toMatchObject({ succeeded: true })

    expect(await readEndpoint(endpoint)).toEqual(before)
  })
})

test('a tenant may have four tests under way, whatever others do', async () => {
  const { api, createEndpoint, sendTest, target } = await newTenant()
  const other = await newTenant()
  const held = holdAnswers(target)
  const endpoint = await createEndpoint()
  const foreign = await other.createEndpoint(target.url)

  const four = Array.from({ length: 4 }, () => sendTest(endpoint))
  await held.arrived(4)
  expect(await api.post(`${ENDPOINTS}/${endpoint.id}/test`, {})).toMatchObject(
    refusal(429, 'rate_limited'),
  )
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
])('a test event with a bad %s is refused', async (field, values) => {
  const { api, createEndpoint, target } = await newTenant()
  const { id } = await createEndpoint()
  for (const value of values) {
    const answer = await api.post(`${ENDPOINTS}/${id}/test`, { [field]: value })
    expect({ value, ...answer }).toMatchObject({ value, ...refused(field) })
  }
  expect(target.requests).toEqual([])
})
