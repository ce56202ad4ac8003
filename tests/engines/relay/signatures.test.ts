import { describe, expect, test } from 'bun:test'
import {
  answerWith,
  bootFixture,
  type Fixture,
  HOUR,
  isoAt,
  isServiceSignature,
  MESSAGES,
  MINUTE,
  received,
  START,
} from './management.ts'

const OTHER_SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`

describe('public libraries accept real deliveries', () => {
  test('with the secret of the endpoint, and with no other', async () => {
    await using fixture = await bootFixture()
    const { createEndpoint, publish, target } = fixture
    const { secret } = await createEndpoint()

    const message = await publish({ payload: { name: 'Zoë', price: 1.5 } })

    using request = received(target.requests[0])
    const event = {
      type: 'user.created',
      timestamp: message.timestamp,
      data: { name: 'Zoë', price: 1.5 },
    }
    expect(JSON.parse(target.requests[0]?.body ?? '')).toEqual(event)
    expect(request.standard(secret)).toBe(true)
    expect(request.svix(secret)).toBe(true)
    expect(request.service(secret)).toBe(true)
    expect(request.standard(OTHER_SECRET)).toBe(false)
    expect(request.svix(OTHER_SECRET)).toBe(false)
    expect(request.service(OTHER_SECRET)).toBe(false)
  })

  test.each(['standard', 'raw', 'cloudevents'])('in the format %s', async (format) => {
    await using fixture = await bootFixture()
    const { createEndpoint, publish, target } = fixture
    const { secret } = await createEndpoint({ format })

    await publish()

    using request = received(target.requests[0])
    expect(request.standard(secret)).toBe(true)
    expect(request.svix(secret)).toBe(true)
    expect(request.service(secret)).toBe(true)
  })

  test.each([24, 32, 64, 75])('with an imported secret of %i bytes', async (bytes) => {
    await using fixture = await bootFixture()
    const { createEndpoint, publish, target } = fixture
    const secret = `whsec_${Buffer.alloc(bytes, 250).toString('base64')}`
    expect(await createEndpoint({ secret })).toMatchObject({ secret })

    await publish()

    using request = received(target.requests[0])
    expect(request.standard(secret)).toBe(true)
    expect(request.svix(secret)).toBe(true)
    expect(request.service(secret)).toBe(true)
  })

  test('of a test event', async () => {
    await using fixture = await bootFixture()
    const { createEndpoint, sendTest, target } = fixture
    const endpoint = await createEndpoint()

    await sendTest(endpoint)

    using request = received(target.requests[0])
    expect(request.standard(endpoint.secret)).toBe(true)
    expect(request.svix(endpoint.secret)).toBe(true)
    expect(request.service(endpoint.secret)).toBe(true)
  })
})

test('every attempt is signed for its own time, under the same message id', async () => {
  await using fixture = await bootFixture()
  const { createEndpoint, publish, target, clock } = fixture
  const { secret } = await createEndpoint()
  target.answers(answerWith(500))
  const message = await publish()

  await clock.advance(2 * MINUTE)

  expect(target.requests.length).toBe(3)
  const of = (name: string) => target.requests.map(({ headers }) => headers.get(name))
  expect(new Set(of('webhook-id'))).toEqual(new Set([message.id]))
  expect(new Set(of('webhook-timestamp')).size).toBe(3)
  expect(new Set(of('webhook-signature')).size).toBe(3)
  expect(of('x-service-attempt')).toEqual(['1', '2', '3'])
  for (const one of target.requests) {
    using request = received(one)
    expect(request.standard(secret)).toBe(true)
    expect(request.service(secret)).toBe(true)
  }
})

test('endpoints of one message each get their own signature', async () => {
  await using fixture = await bootFixture()
  const { createEndpoint, publish, target } = fixture
  const [a, b] = [
    await createEndpoint({ headers: { 'X-Which': 'a' } }),
    await createEndpoint({ headers: { 'X-Which': 'b' } }),
  ]

  await publish()

  const at = (which: string) =>
    received(target.requests.find(({ headers }) => headers.get('x-which') === which))
  using atA = at('a')
  using atB = at('b')
  expect(atA.standard(a.secret)).toBe(true)
  expect(atB.standard(b.secret)).toBe(true)
  expect(atA.standard(b.secret)).toBe(false)
  expect(atB.service(a.secret)).toBe(false)
})

describe('what a request says', () => {
  test('its headers, besides those that the connection needs', async () => {
    await using fixture = await bootFixture()
    const { createEndpoint, publish, target } = fixture
    await createEndpoint()

    const message = await publish({ event_type: 'invoice.paid' })

    const [request] = target.requests
    const names = ['accept', 'accept-encoding', 'connection', 'content-length', 'host']
    const headers = Object.fromEntries(
      [...(request?.headers ?? [])].filter(([name]) => !names.includes(name)),
    )
    const seconds = `${Math.floor(START / 1000)}`
    expect(request).toMatchObject({ method: 'POST', path: '/hook' })
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      'webhook-id': message.id,
      'webhook-timestamp': seconds,
      'webhook-signature': expect.stringMatching(/^v1,[A-Za-z0-9+/]{43}=$/),
      'x-service-signature': expect.stringMatching(new RegExp(`^t=${seconds},v1=[0-9a-f]{64}$`)),
      'x-service-event-type': 'invoice.paid',
      'x-service-attempt': '1',
      'x-service-trigger': 'schedule',
    })
    expect(Object.keys(headers).filter((name) => name.startsWith('svix'))).toEqual([])
  })

  test('standard: type, time of acceptance and the payload letter by letter', async () => {
    await using fixture = await bootFixture()
    const { createEndpoint, target } = fixture
    await createEndpoint({ format: 'standard' })

    await sendSpelled(fixture)

    expect(target.requests[0]?.body).toBe(
      `{"type":"user.created","timestamp":"${isoAt(START)}","data":${SPELLED}}`,
    )
    expect(target.requests[0]?.headers.get('content-type')).toBe('application/json')
  })

  test('raw: the payload letter by letter and nothing else', async () => {
    await using fixture = await bootFixture()
    const { createEndpoint, target } = fixture
    await createEndpoint({ format: 'raw' })

    await sendSpelled(fixture)

    expect(target.requests[0]?.body).toBe(SPELLED)
    expect(target.requests[0]?.headers.get('content-type')).toBe('application/json')
  })

  test('cloudevents: an event of version 1.0 in structured mode', async () => {
    await using fixture = await bootFixture()
    const { createEndpoint, target, acme } = fixture
    await createEndpoint({ format: 'cloudevents' })

    const message = await sendSpelled(fixture)

    const [request] = target.requests
    expect(request?.headers.get('content-type')).toBe('application/cloudevents+json')
    expect(request?.body.endsWith(`"data":${SPELLED}}`)).toBe(true)
    expect(JSON.parse(request?.body ?? '')).toEqual({
      specversion: '1.0',
      id: message.id,
      source: `urn:uuid:${acme.id}`,
      type: 'user.created',
      time: isoAt(START),
      datacontenttype: 'application/json',
      data: JSON.parse(SPELLED),
    })
  })
})

/** Would read otherwise if it were parsed and written again. */
const SPELLED = '{ "z": 1.0, "a": 12345678901234567890, "2": 1e2, "é": "\\u00e9" }'

async function sendSpelled({ app, live, settle }: Fixture) {
  const answer = await app.raw(MESSAGES, {
    method: 'POST',
    headers: { authorization: `Bearer ${live.key}`, 'content-type': 'application/json' },
    body: `{"event_type":"user.created","payload":${SPELLED}}`,
  })
  expect(answer).toMatchObject({ status: 202 })
  await settle()
  return answer.body
}

describe('a format that changes between two attempts', () => {
  test('does not change what is under way: all attempts send the same bytes', async () => {
    await using fixture = await bootFixture()
    const { createEndpoint, change, publish, target, clock, deliveriesOf, readDelivery } = fixture
    const endpoint = await createEndpoint({ format: 'raw' })
    target.answers(answerWith(500))
    const message = await publish({ payload: { n: 1 } })

    await change(endpoint, { format: 'cloudevents' })
    await clock.advance(2 * MINUTE)

    expect(target.requests.map(({ body }) => body)).toEqual(Array(3).fill('{"n":1}'))
    expect(target.requests.map(({ headers }) => headers.get('content-type'))).toEqual(
      Array(3).fill('application/json'),
    )
    const [delivery] = await deliveriesOf(message)
    expect((await readDelivery(delivery)).request_body).toBe('{"n":1}')
  })

  test('holds for the next message', async () => {
    await using fixture = await bootFixture()
    const { createEndpoint, change, publish, target } = fixture
    const endpoint = await createEndpoint({ format: 'raw' })

    await change(endpoint, { format: 'standard' })
    await publish({ payload: { n: 1 } })

    expect(JSON.parse(target.requests[0]?.body ?? '')).toMatchObject({ data: { n: 1 } })
  })
})

describe('headers of the endpoint', () => {
  test('arrive as they were given', async () => {
    await using fixture = await bootFixture()
    const { createEndpoint, publish, target } = fixture
    await createEndpoint({ headers: { Authorization: 'Bearer abc', 'X-Team': 'Grün' } })

    await publish()

    expect(target.requests[0]?.headers.get('authorization')).toBe('Bearer abc')
    expect(target.requests[0]?.headers.get('x-team')).toBe('Grün')
  })

  test('of the next attempt are those that the endpoint has by then', async () => {
    await using fixture = await bootFixture()
    const { createEndpoint, change, publish, target, clock } = fixture
    const endpoint = await createEndpoint({ headers: { 'X-Team': 'old', 'X-Gone': '1' } })
    target.answers(answerWith(500))
    await publish()

    await change(endpoint, { headers: { 'X-Team': 'new' } })
    await clock.advance(10_000)

    expect(target.requests[1]?.headers.get('x-team')).toBe('new')
    expect(target.requests[1]?.headers.has('x-gone')).toBe(false)
  })

  test('are recorded as sent, with sensitive values masked', async () => {
    await using fixture = await bootFixture()
    const { createEndpoint, publish, deliveriesOf, readDelivery, target } = fixture
    await createEndpoint({ headers: { 'X-Api-Key': 'k-123456', 'X-Team': 'blue' } })
    const message = await publish()

    const [delivery] = await deliveriesOf(message)
    const [attempt] = (await readDelivery(delivery)).attempt_log

    expect(target.requests[0]?.headers.get('x-api-key')).toBe('k-123456')
    expect(attempt.request.headers).toMatchObject({ 'X-Api-Key': '********', 'X-Team': 'blue' })
    for (const name of ['webhook-id', 'webhook-signature', 'X-Service-Signature'])
      expect(attempt.request.headers[name]).toBe(target.requests[0]?.headers.get(name))
  })
})

describe('the name of the brand', () => {
  test('is the middle of our headers', async () => {
    await using fixture = await bootFixture({ flags: { 'brand-name': 'Acme' } })
    const { createEndpoint, publish, target } = fixture
    const { secret } = await createEndpoint({ headers: { 'X-Service-Signature': 'mine' } })

    await publish()

    const headers = target.requests[0]?.headers
    expect(headers?.get('x-acme-event-type')).toBe('user.created')
    expect(headers?.get('x-acme-attempt')).toBe('1')
    expect(headers?.get('x-acme-trigger')).toBe('schedule')
    expect(headers?.get('x-service-signature')).toBe('mine')
    using request = received(target.requests[0])
    expect(request.service(secret, 'x-acme-signature')).toBe(true)
    expect(request.standard(secret)).toBe(true)
  })

  test('decides which headers are reserved', async () => {
    await using fixture = await bootFixture({ flags: { 'brand-name': 'Acme' } })
    const { api, target } = fixture

    const answer = await api.post('/v1/relay/endpoints', {
      url: target.url,
      headers: { 'x-acme-signature': 'mine' },
    })

    expect(answer).toMatchObject({
      status: 400,
      body: { error: { message: expect.stringContaining('x-acme-signature') } },
    })
  })
})

test('a delivery that was resent or replayed says so in X-Service-Trigger', async () => {
  await using fixture = await bootFixture()
  const { createEndpoint, publish, deliveriesOf, resend, replay, sendTest, target, settle } =
    fixture
  const endpoint = await createEndpoint()
  const message = await publish()
  const [delivery] = await deliveriesOf(message)

  await resend(delivery)
  await settle()
  await replay(endpoint, { since: isoAt(START - HOUR), which: 'all' })
  await settle()
  await sendTest(endpoint)

  expect(target.requests.map(({ headers }) => headers.get('x-service-trigger'))).toEqual([
    'schedule',
    'resend',
    'replay',
    'test',
  ])
  expect(target.requests.map(({ headers }) => headers.get('x-service-attempt'))).toEqual([
    '1',
    '2',
    '3',
    '1',
  ])
})

test('the signatures that are recorded verify the body that is recorded', async () => {
  await using fixture = await bootFixture()
  const { createEndpoint, publish, readDelivery, deliveriesOf } = fixture
  const { secret } = await createEndpoint({ format: 'raw' })
  const message = await publish({ payload: { n: 1 } })
  const [delivery] = await deliveriesOf(message)

  const { attempt_log, request_body: body } = await readDelivery(delivery)
  const { headers } = attempt_log[0].request

  expect(isServiceSignature(headers['X-Service-Signature'], body, secret)).toBe(true)
})
