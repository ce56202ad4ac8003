import { describe, expect, test } from 'bun:test'
import { isoAt, received, refused, signedWith, useRelay } from './fixture.ts'
import { ENDPOINTS, MINUTE, SECOND, START } from './support.ts'

// Formats and headers are in tests/delivery/request.test.ts.

const { newTenant } = await useRelay()
const branded = await useRelay({ flags: { 'brand-name': 'Acme' } })

const FOREIGN = `whsec_${Buffer.alloc(32, 7).toString('base64')}`

describe('Public libraries accept a delivery with the secret of its endpoint', () => {
  test.each(['standard', 'raw', 'cloudevents'])('in the format %s', async (format) => {
    const { createEndpoint, deliver, target } = await newTenant()
    const { secret } = await createEndpoint({ format })
    await deliver({ payload: { name: 'Zoë', price: 1.5 } })
    expect(signedWith(target.requests[0], [secret, FOREIGN])).toEqual([secret])
  })

  test('for each attempt with its own time and the same message id', async () => {
    const relay = await newTenant()
    const { secret } = await relay.createEndpoint()
    relay.target.answers(500)
    const message = await relay.deliver()
    await relay.clock.advance(2 * MINUTE)

    const different = (name: string) => new Set(relay.headers(name)).size
    expect(relay.headers('webhook-id')).toEqual(Array(3).fill(message.id))
    expect(['webhook-timestamp', 'webhook-signature'].map(different)).toEqual([3, 3])
    expect(relay.headers('x-service-attempt')).toEqual(['1', '2', '3'])
    for (const request of relay.target.requests)
      expect(signedWith(request, [secret])).toEqual([secret])
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
})

test('A request has its own headers besides those of the connection', async () => {
  const { createEndpoint, deliver, target } = await newTenant()
  await createEndpoint()
  const message = await deliver({ event_type: 'invoice.paid' })

  const [request] = target.requests
  const seconds = `${Math.floor(Date.parse(message.timestamp) / 1000)}`
  expect(request).toMatchObject({ method: 'POST', path: '/hook' })
  const headers = Object.fromEntries(request?.headers ?? [])
  expect(headers).toMatchObject({
    'content-type': 'application/json',
    'webhook-id': message.id,
    'webhook-timestamp': seconds,
    'webhook-signature': expect.stringMatching(/^v1,[A-Za-z0-9+/]{43}=$/),
    'x-service-signature': expect.stringMatching(new RegExp(`^t=${seconds},v1=[0-9a-f]{64}$`)),
    'x-service-event-type': 'invoice.paid',
  })
  expect(Object.keys(headers).join()).not.toContain('svix')
})

test('Each trigger is named in X-Service-Trigger', async () => {
  const relay = await newTenant()
  const endpoint = await relay.createEndpoint()
  await relay.resend(await relay.deliveryOf(await relay.deliver()))
  await relay.rest()
  await relay.replay(endpoint, { since: isoAt(START), which: 'all' })
  await relay.rest()
  await relay.sendTest(endpoint)
  const triggers = ['schedule', 'resend', 'replay', 'test']
  expect(relay.headers('x-service-trigger')).toEqual(triggers)
  expect(relay.headers('x-service-attempt')).toEqual(['1', '2', '3', '1'])
})

test('A changed format holds for the next message, and not for the next attempt', async () => {
  const relay = await newTenant()
  const endpoint = await relay.createEndpoint({ format: 'raw' })
  relay.target.answers(500)
  const message = await relay.deliver()
  await relay.change(endpoint, { format: 'cloudevents' })
  await relay.clock.advance(10 * SECOND)
  await relay.deliver()

  const [first, second, other = ''] = relay.target.requests.map(({ body }) => body)
  expect([first, second]).toEqual(['{"n":1}', '{"n":1}'])
  expect(JSON.parse(other)).toMatchObject({ source: `urn:uuid:${relay.id}`, data: { n: 1 } })
  const types = ['application/json', 'application/json', 'application/cloudevents+json']
  expect(relay.headers('content-type')).toEqual(types)
  expect((await relay.deliveryOf(message)).request_body).toBe('{"n":1}')
})

test('The headers of an endpoint arrive as they are at the time of the attempt', async () => {
  const relay = await newTenant()
  const endpoint = await relay.createEndpoint({ headers: { 'X-Team': 'Grün', 'X-Gone': '1' } })
  relay.target.answers(500)
  await relay.deliver()
  await relay.change(endpoint, { headers: { 'X-Team': 'new' } })
  await relay.clock.advance(10 * SECOND)
  expect(relay.headers('x-team')).toEqual(['Grün', 'new'])
  expect(relay.headers('x-gone')).toEqual(['1', null])
})

test('The brand is part of the names of our headers, which are reserved', async () => {
  const { api, createEndpoint, deliver, target } = await branded.newTenant()
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
