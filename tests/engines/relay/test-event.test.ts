import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { closedPort } from '../clockwork/raw-target.ts'
import { advanceWaiting, holdAnswers } from '../clockwork/support.ts'
import {
  answerWith,
  bootFixture,
  count,
  ENDPOINTS,
  type Fixture,
  isoAt,
  type Json,
  MESSAGES,
  manage,
  refusal,
  SECOND,
  START,
} from './management.ts'

describe('the live answer is told', () => {
  test('for a success, with the request as it was sent', async () => {
    await using fixture = await bootFixture()
    const { createEndpoint, sendTest, target } = fixture
    target.answers(() => new Response('thanks', { status: 201, headers: { 'X-Trace': 'abc' } }))
    const endpoint = await createEndpoint({ headers: { 'X-Team': 'blue', Authorization: 'top' } })

    const result = await sendTest(endpoint)

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
          'X-Service-Event-Type': 'webhook.test',
          'X-Service-Attempt': '1',
          'X-Service-Trigger': 'test',
          'X-Team': 'blue',
          Authorization: '********',
        },
        body: target.requests[0]?.body,
      },
      response: { status: 201, body: 'thanks' },
      error: null,
    })
    expect(result.response.headers).toContainEqual(['X-Trace', 'abc'])
    expect(target.requests[0]?.headers.get('authorization')).toBe('top')
    expect(target.requests[0]?.headers.get('webhook-id')).toBe(result.request.headers['webhook-id'])
    expect(JSON.parse(target.requests[0]?.body ?? '')).toEqual({
      type: 'webhook.test',
      timestamp: isoAt(START),
      data: { message: expect.any(String) },
    })
  })

  test.each([400, 404, 429, 500, 503])('for an answer of %i', async (status) => {
    await using fixture = await bootFixture()
    const { createEndpoint, sendTest, target } = fixture
    target.answers(() => new Response('no', { status }))

    expect(await sendTest(await createEndpoint())).toMatchObject({
      succeeded: false,
      response: { status, body: 'no' },
      error: { code: 'status', message: `status ${status}` },
    })
    expect(target.requests).toHaveLength(1)
  })

  test('for a redirect, which is not followed', async () => {
    await using fixture = await bootFixture()
    const { createEndpoint, sendTest, target } = fixture
    target.answers(answerWith(307, { location: `${target.url}/other` }))

    expect(await sendTest(await createEndpoint())).toMatchObject({
      succeeded: false,
      response: { status: 307 },
      error: { code: 'redirect', message: expect.stringContaining(`${target.url}/other`) },
    })
    expect(target.requests).toHaveLength(1)
  })

  test('for a receiver that does not answer in time', async () => {
    await using fixture = await bootFixture()
    const { app, createEndpoint, sendTest, target } = fixture
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
      error: { code: 'timeout', message: expect.stringContaining('15 s') },
    })
  })

  test('for a port on which nobody listens', async () => {
    await using fixture = await bootFixture()
    const { createEndpoint, sendTest } = fixture
    const endpoint = await createEndpoint({ url: await closedPort() })

    expect(await sendTest(endpoint)).toMatchObject({
      succeeded: false,
      address: '127.0.0.1',
      request: { url: endpoint.url },
      response: null,
      error: { code: 'connect', message: expect.stringMatching(/\w+ \w+/) },
    })
  })

  test('for a name that leads inward, which is not called', async () => {
    await using fixture = await bootFixture({
      resolve: async () => [{ address: '192.168.1.1', family: 4 }],
    })
    const { createEndpoint, sendTest } = fixture
    const endpoint = await createEndpoint({ url: 'https://inward.example.com/' })

    expect(await sendTest(endpoint)).toMatchObject({
      succeeded: false,
      address: null,
      response: null,
      error: { code: 'blocked', message: expect.stringContaining('192.168.1.1') },
    })
  })

  test('for a name that there is not', async () => {
    await using fixture = await bootFixture({
      resolve: () => Promise.reject(Object.assign(new Error('no'), { code: 'ENOTFOUND' })),
    })
    const { createEndpoint, sendTest } = fixture
    const endpoint = await createEndpoint({ url: 'https://gone.example.com/' })

    expect(await sendTest(endpoint)).toMatchObject({
      succeeded: false,
      error: { code: 'dns', message: expect.stringContaining('gone.example.com') },
    })
  })
})

test('an inactive endpoint is tested all the same', async () => {
  await using fixture = await bootFixture()
  const { createEndpoint, sendTest, readEndpoint } = fixture
  const endpoint = await createEndpoint({ active: false })

  expect(await sendTest(endpoint)).toMatchObject({ succeeded: true })
  expect(await readEndpoint(endpoint)).toMatchObject({ active: false })
})

test('an endpoint of a test key is sent its test event, and nothing else', async () => {
  await using fixture = await bootFixture()
  const { app, acme, target } = fixture
  const sandbox = manage(app, (await acme.key('relay', 'test')).key, target.url)
  const endpoint = await sandbox.createEndpoint()

  await sandbox.publish()
  expect(target.requests).toHaveLength(0)
  expect(await sandbox.sendTest(endpoint)).toMatchObject({ succeeded: true })

  expect(target.requests).toHaveLength(1)
})

test('without a body at all the usual event is sent', async () => {
  await using fixture = await bootFixture()
  const { api, createEndpoint } = fixture
  const { id } = await createEndpoint()

  expect(await api.post(`${ENDPOINTS}/${id}/test`)).toMatchObject({
    status: 200,
    body: { succeeded: true, request: { headers: { 'X-Service-Event-Type': 'webhook.test' } } },
  })
})

describe('what is sent', () => {
  const dataOf = ({ request }: Json) => JSON.parse(request.body).data

  test('is an own payload, as it was spelled', async () => {
    await using fixture = await bootFixture()
    const { app, live, createEndpoint, target } = fixture
    const { id } = await createEndpoint({ format: 'raw' })

    const answer = await app.raw(`${ENDPOINTS}/${id}/test`, {
      method: 'POST',
      headers: { authorization: `Bearer ${live.key}`, 'content-type': 'application/json' },
      body: '{"payload": { "n": 1.0 }, "event_type": "order.paid"}',
    })

    expect(answer).toMatchObject({ status: 200, body: { succeeded: true } })
    expect(target.requests[0]?.body).toBe('{ "n": 1.0 }')
    expect(target.requests[0]?.headers.get('x-service-event-type')).toBe('order.paid')
  })

  test('is a sample of the type where one was seen', async () => {
    await using fixture = await bootFixture()
    const { createEndpoint, sendTest, publish } = fixture
    const endpoint = await createEndpoint()
    await publish({ event_type: 'order.paid', payload: { order: 7 } })

    expect(dataOf(await sendTest(endpoint, { event_type: 'order.paid' }))).toEqual({ order: 7 })
    expect(dataOf(await sendTest(endpoint, { event_type: 'order.lost' }))).not.toHaveProperty(
      'order',
    )
    expect(
      dataOf(await sendTest(endpoint, { event_type: 'order.paid', payload: { mine: true } })),
    ).toEqual({ mine: true })
  })

  test('is no sample of the other environment', async () => {
    await using fixture = await bootFixture()
    const { app, acme, createEndpoint, sendTest, target } = fixture
    const sandbox = manage(app, (await acme.key('relay', 'test')).key, target.url)
    await sandbox.publish({ event_type: 'order.paid', payload: { order: 7 } })

    const result = await sendTest(await createEndpoint(), { event_type: 'order.paid' })

    expect(dataOf(result)).not.toHaveProperty('order')
  })

  test.each(['standard', 'raw', 'cloudevents'])('has the format %s', async (format) => {
    await using fixture = await bootFixture()
    const { createEndpoint, sendTest, target } = fixture
    const endpoint = await createEndpoint({ format })

    const { request } = await sendTest(endpoint, { payload: { n: 1 } })

    const body = JSON.parse(target.requests[0]?.body ?? '')
    expect(format === 'raw' ? body : body.data).toEqual({ n: 1 })
    expect(request.body).toBe(target.requests[0]?.body)
    expect(request.headers['Content-Type']).toBe(target.requests[0]?.headers.get('content-type'))
  })

  test('goes past what the endpoint listens to', async () => {
    await using fixture = await bootFixture()
    const { createEndpoint, sendTest } = fixture
    const endpoint = await createEndpoint({ event_types: ['a'], channels: ['eu'] })

    expect(await sendTest(endpoint, { event_type: 'b' })).toMatchObject({ succeeded: true })
  })
})

describe('a test leaves no trace', () => {
  test('in messages, deliveries, event types and counters', async () => {
    await using fixture = await bootFixture()
    const { app, api, createEndpoint, sendTest, statsOf, target } = fixture
    const endpoint = await createEndpoint()
    await sendTest(endpoint, { event_type: 'order.paid', payload: { n: 1 } })
    target.answers(answerWith(500))
    await sendTest(endpoint)

    for (const table of ['messages', 'deliveries', 'attempts', 'endpoint_hours'])
      expect(`${table} ${count(app, table)}`).toBe(`${table} 0`)
    expect((await api.get(MESSAGES)).body.data).toEqual([])
    expect((await api.get('/v1/relay/event-types')).body.data).toEqual([])
    expect(await statsOf(endpoint)).toEqual([])
  })

  test('in the health of the endpoint, whatever was answered', async () => {
    await using fixture = await bootFixture()
    const { createEndpoint, sendTest, readEndpoint, publish, target } = fixture
    const { secret: _, ...endpoint } = await createEndpoint()
    target.answers(answerWith(500))
    for (let n = 0; n < 6; n++) await sendTest(endpoint)
    target.answers(answerWith(410))
    expect(await sendTest(endpoint)).toMatchObject({ error: { code: 'gone' } })

    expect(await readEndpoint(endpoint)).toEqual(endpoint)
    target.answers(answerWith(200))
    await publish()
    expect(target.requests).toHaveLength(8)
  })

  test('does not close an open breaker', async () => {
    await using fixture = await bootFixture({ flags: { 'relay-breaker-failures': '1' } })
    const { createEndpoint, sendTest, readEndpoint, publish, target } = fixture
    const endpoint = await createEndpoint()
    target.answers(answerWith(500))
    await publish()
    const before = await readEndpoint(endpoint)
    expect(before.health).toMatchObject({ breaker: 'open' })

    target.answers(answerWith(200))
    expect(await sendTest(endpoint)).toMatchObject({ succeeded: true })

    expect(await readEndpoint(endpoint)).toEqual(before)
  })
})

describe('four tests of a tenant may be under way at once', () => {
  test('a fifth is refused until one has its answer; other tenants do not notice', async () => {
    await using fixture = await bootFixture()
    const { app, api, createEndpoint, sendTest, target } = fixture
    const held = holdAnswers(target)
    const endpoint = await createEndpoint()
    const other = manage(app, (await (await app.tenant('Other')).key('relay')).key, target.url)
    const otherEndpoint = await other.createEndpoint()

    const four = Array.from({ length: 4 }, () => sendTest(endpoint))
    await held.arrived(4)
    expect(await api.post(`${ENDPOINTS}/${endpoint.id}/test`, {})).toMatchObject(
      refusal(429, 'rate_limited', '4 tests'),
    )
    const others = other.sendTest(otherEndpoint)
    await held.arrived(5)
    held.release(200, 1)
    expect(await four[0]).toMatchObject({ succeeded: true })
    const fifth = sendTest(endpoint)
    await held.arrived(6)
    held.release()

    for (const test of [...four, others, fifth]) expect(await test).toMatchObject({ error: null })
    expect(target.requests).toHaveLength(6)
  })
})

describe('refused, naming field and rule', () => {
  let fixture: Fixture
  let id: string
  beforeAll(async () => {
    fixture = await bootFixture()
    id = (await fixture.createEndpoint()).id
  })
  afterAll(() => fixture.end())

  test.each([
    [{ event_type: 'a b' }, 'event_type'],
    [{ event_type: '' }, 'event_type'],
    [{ event_type: 'a.' }, 'event_type'],
    [{ event_type: 'user.*' }, 'event_type'],
    [{ event_type: 'a'.repeat(257) }, 'event_type', '256'],
    [{ event_type: 5 }, 'event_type'],
    [{ payload: 'text' }, 'payload', 'object'],
    [{ payload: [] }, 'payload', 'object'],
    [{ payload: null }, 'payload', 'object'],
    [[], 'object'],
    ['text', 'object'],
  ] as [unknown, ...string[]][])('%j', async (body, ...words) => {
    expect(await fixture.api.post(`${ENDPOINTS}/${id}/test`, body)).toMatchObject(
      refusal(400, 'invalid_payload', ...words),
    )
    expect(fixture.target.requests).toHaveLength(0)
  })

  test('an endpoint that there is not', async () => {
    expect(await fixture.api.post(`${ENDPOINTS}/nothing/test`, {})).toMatchObject(
      refusal(404, 'not_found', 'endpoint'),
    )
  })
})
