import { describe, expect, test } from 'bun:test'
import {
  answerWith,
  bootRelay,
  ENDPOINTS,
  isoAt,
  isServiceSignature,
  MINUTE,
  type Party,
  received,
  refused,
  START,
  signedWith,
  useRelay,
} from './fixture.ts'

const { newTenant } = await useRelay()

const secretOf = (fill: number, bytes = 32) =>
  `whsec_${Buffer.alloc(bytes, fill).toString('base64')}`

const header = ({ target }: Party, name: string) =>
  target.requests.map(({ headers }) => headers.get(name))

describe('public libraries accept a delivery with the secret of its endpoint', () => {
  test.each(['standard', 'raw', 'cloudevents'])('in the format %s', async (format) => {
    const { createEndpoint, deliver, target } = await newTenant()
    const { secret } = await createEndpoint({ format })
    await deliver({ payload: { name: 'Zoë', price: 1.5 } })
    expect(signedWith(target.requests[0], [secret, secretOf(7)])).toEqual([secret])
  })

  test.each([24, 64, 75])('that was imported with %i bytes', async (bytes) => {
    const { createEndpoint, deliver, target } = await newTenant()
    const secret = secretOf(250, bytes)
    expect(await createEndpoint({ secret })).toMatchObject({ secret })
    await deliver()
    expect(signedWith(target.requests[0], [secret])).toEqual([secret])
  })

  test('for each attempt with its own time and the same message id', async () => {
    const party = await newTenant()
    const { createEndpoint, deliver, target, clock } = party
    const { secret } = await createEndpoint()
    target.answers(answerWith(500))
    const message = await deliver()

    await clock.advance(2 * MINUTE)

    expect(target.requests).toHaveLength(3)
    expect(new Set(header(party, 'webhook-id'))).toEqual(new Set([message.id]))
    expect(new Set(header(party, 'webhook-timestamp')).size).toBe(3)
    expect(new Set(header(party, 'webhook-signature')).size).toBe(3)
    expect(header(party, 'x-service-attempt')).toEqual(['1', '2', '3'])
    for (const request of target.requests) expect(signedWith(request, [secret])).toEqual([secret])
  })

  test('for each endpoint of a message with its own', async () => {
    const { createEndpoint, deliver, target } = await newTenant()
    const secrets: Record<string, string> = {}
    for (const path of ['/a', '/b'])
      secrets[path] = (await createEndpoint(`${target.url}${path}`)).secret

    await deliver()

    for (const request of target.requests) {
      const own = secrets[request.path.replace('/hook', '')] as string
      expect(signedWith(request, Object.values(secrets))).toEqual([own])
    }
  })

  test('also with the signature and body that the log shows', async () => {
    const { createEndpoint, deliver, deliveryOf } = await newTenant()
    const { secret } = await createEndpoint({ format: 'raw' })
    const { attempt_log, request_body } = await deliveryOf(await deliver())
    const { headers } = attempt_log[0].request
    expect(isServiceSignature(headers['X-Service-Signature'], request_body, secret)).toBe(true)
  })
})

test('a request has its own headers besides those of the connection', async () => {
  const { createEndpoint, deliver, target } = await newTenant()
  await createEndpoint()

  const message = await deliver({ event_type: 'invoice.paid' })

  const [request] = target.requests
  const seconds = `${Math.floor(Date.parse(message.timestamp) / 1000)}`
  expect(request).toMatchObject({ method: 'POST', path: '/hook' })
  expect(Object.fromEntries(request?.headers ?? [])).toMatchObject({
    'content-type': 'application/json',
    'webhook-id': message.id,
    'webhook-timestamp': seconds,
    'webhook-signature': expect.stringMatching(/^v1,[A-Za-z0-9+/]{43}=$/),
    'x-service-signature': expect.stringMatching(new RegExp(`^t=${seconds},v1=[0-9a-f]{64}$`)),
    'x-service-event-type': 'invoice.paid',
    'x-service-attempt': '1',
    'x-service-trigger': 'schedule',
  })
  expect([...(request?.headers.keys() ?? [])].join()).not.toContain('svix')
})

test('each trigger is named in X-Service-Trigger', async () => {
  const party = await newTenant()
  const { createEndpoint, deliver, deliveryOf, resend, replay, sendTest, rest } = party
  const endpoint = await createEndpoint()
  await resend(await deliveryOf(await deliver()))
  await rest()
  await replay(endpoint, { since: isoAt(START), which: 'all' })
  await rest()
  await sendTest(endpoint)

  const triggers = ['schedule', 'resend', 'replay', 'test']
  expect(header(party, 'x-service-trigger')).toEqual(triggers)
  expect(header(party, 'x-service-attempt')).toEqual(['1', '2', '3', '1'])
})

describe('a format', () => {
  /** Would be different after it is parsed and written again. */
  const SPELLED = '{ "z": 1.0, "a": 12345678901234567890, "2": 1e2, "é": "\\u00e9" }'

  test.each([
    ['standard', `{"type":"user.created","timestamp":"<time>","data":${SPELLED}}`],
    ['raw', SPELLED],
    [
      'cloudevents',
      `{"specversion":"1.0","id":"<id>","source":"urn:uuid:<tenant>","type":"user.created","time":"<time>","datacontenttype":"application/json","data":${SPELLED}}`,
    ],
  ])('%s has the payload as it was sent', async (format, body) => {
    const { id, createEndpoint, spelled, target, rest } = await newTenant()
    await createEndpoint({ format })

    const message = await spelled(`{"event_type":"user.created","payload":${SPELLED}}`)
    await rest()

    const filled = body
      .replace('<id>', message.body.id)
      .replace('<tenant>', id)
      .replace('<time>', message.body.timestamp)
    const [request] = target.requests
    expect(request?.body).toBe(filled)
    const type = format === 'cloudevents' ? 'application/cloudevents+json' : 'application/json'
    expect(request?.headers.get('content-type')).toBe(type)
  })

  test('that changes holds for the next message, and not for the next attempt', async () => {
    const party = await newTenant()
    const { change, createEndpoint, deliver, deliveryOf, target, clock } = party
    const endpoint = await createEndpoint({ format: 'raw' })
    target.answers(answerWith(500))
    const message = await deliver()

    await change(endpoint, { format: 'cloudevents' })
    await clock.advance(2 * MINUTE)
    await deliver()

    const bodies = target.requests.map(({ body }) => body)
    expect(bodies.slice(0, 3)).toEqual(Array(3).fill('{"n":1}'))
    expect(JSON.parse(bodies[3] ?? '')).toMatchObject({ specversion: '1.0', data: { n: 1 } })
    const types = [...Array(3).fill('application/json'), 'application/cloudevents+json']
    expect(header(party, 'content-type')).toEqual(types)
    expect((await deliveryOf(message)).request_body).toBe('{"n":1}')
  })
})

describe('the headers of an endpoint', () => {
  test('arrive as they are at the time of the attempt', async () => {
    const party = await newTenant()
    const { change, createEndpoint, deliver, target, clock } = party
    const endpoint = await createEndpoint({ headers: { 'X-Team': 'Grün', 'X-Gone': '1' } })
    target.answers(answerWith(500))
    await deliver()

    await change(endpoint, { headers: { 'X-Team': 'new' } })
    await clock.advance(10_000)

    expect(header(party, 'x-team')).toEqual(['Grün', 'new'])
    expect(header(party, 'x-gone')).toEqual(['1', null])
  })

  test('are in the log as they were sent, with sensitive values masked', async () => {
    const { createEndpoint, deliver, deliveryOf, target } = await newTenant()
    await createEndpoint({ headers: { 'X-Api-Key': 'k-123456', 'X-Team': 'blue' } })

    const { attempt_log } = await deliveryOf(await deliver())

    const sent = target.requests[0]?.headers
    const logged = attempt_log[0].request.headers
    expect(sent?.get('x-api-key')).toBe('k-123456')
    expect(logged).toMatchObject({ 'X-Api-Key': '********', 'X-Team': 'blue' })
    for (const name of ['webhook-id', 'webhook-signature', 'X-Service-Signature'])
      expect(logged[name]).toBe(sent?.get(name))
  })
})

test('the brand is part of the names of our headers, which are reserved', async () => {
  await using relay = await bootRelay({ flags: { 'brand-name': 'Acme' } })
  const { api, createEndpoint, deliver, target } = relay
  const { secret } = await createEndpoint({ headers: { 'X-Service-Signature': 'mine' } })
  const taken = { url: target.url, headers: { 'x-acme-signature': 'mine' } }
  expect(await api.post(ENDPOINTS, taken)).toMatchObject(refused('headers'))

  await deliver()

  expect(Object.fromEntries(target.requests[0]?.headers ?? [])).toMatchObject({
    'x-acme-event-type': 'user.created',
    'x-acme-attempt': '1',
    'x-acme-trigger': 'schedule',
    'x-service-signature': 'mine',
  })
  using request = received(target.requests[0])
  expect(request.service(secret, 'x-acme-signature')).toBe(true)
  expect(request.standard(secret)).toBe(true)
})
