import { expect, test } from 'bun:test'
import { received, refused, signedWith, useRelay } from './fixture.ts'
import { ENDPOINTS, MINUTE, SECOND } from './support.ts'

// Formats and headers are in tests/delivery/request.test.ts.

const { newTenant } = await useRelay()
const branded = await useRelay({ flags: { 'brand-name': 'Acme' } })

test('Public libraries accept each delivery with the secret of its endpoint, in each format', async () => {
  const { createEndpoint, deliver, target } = await newTenant()
  const secrets: Record<string, string> = {}
  for (const format of ['standard', 'raw', 'cloudevents'])
    secrets[format] = (await createEndpoint({ format, url: `${target.url}/${format}` })).secret
  await deliver({ payload: { name: 'Zoë', price: 1.5 } })
  expect(target.requests).toHaveLength(3)
  for (const request of target.requests) {
    const own = secrets[request.path.replace('/hook/', '')] as string
    expect(signedWith(request, Object.values(secrets))).toEqual([own])
  }
})

test('Each attempt is signed anew, with the message id and the headers of its message', async () => {
  const relay = await newTenant()
  const { secret } = await relay.createEndpoint()
  relay.target.answers(500)
  const message = await relay.deliver({ event_type: 'invoice.paid' })
  await relay.clock.advance(2 * MINUTE)

  const different = (name: string) => new Set(relay.headers(name)).size
  expect(relay.headers('webhook-id')).toEqual(Array(3).fill(message.id))
  expect(['webhook-timestamp', 'webhook-signature'].map(different)).toEqual([3, 3])
  expect(relay.headers('x-service-attempt')).toEqual(['1', '2', '3'])
  for (const request of relay.target.requests)
    expect(signedWith(request, [secret])).toEqual([secret])

  const [request] = relay.target.requests
  const seconds = `${Math.floor(Date.parse(message.timestamp) / 1000)}`
  expect(request).toMatchObject({ method: 'POST', path: '/hook' })
  const headers = Object.fromEntries(request?.headers ?? [])
  expect(headers).toMatchObject({
    'content-type': 'application/json',
    'webhook-timestamp': seconds,
    'webhook-signature': expect.stringMatching(/^v1,[A-Za-z0-9+/]{43}=$/),
    'x-service-signature': expect.stringMatching(new RegExp(`^t=${seconds},v1=[0-9a-f]{64}$`)),
    'x-service-event-type': 'invoice.paid',
  })
  expect(Object.keys(headers).join()).not.toContain('svix')
})

test('A retry keeps the format of its message, and has the new headers of its endpoint', async () => {
  const relay = await newTenant()
  const headers = { 'X-Team': 'Grün', 'X-Gone': '1' }
  const endpoint = await relay.createEndpoint({ format: 'raw', headers })
  relay.target.answers(500)
  const message = await relay.deliver()
  await relay.change(endpoint, { format: 'cloudevents', headers: { 'X-Team': 'new' } })
  await relay.clock.advance(10 * SECOND)
  await relay.deliver()

  const [first, second, other = ''] = relay.target.requests.map(({ body }) => body)
  expect([first, second]).toEqual(['{"n":1}', '{"n":1}'])
  expect(JSON.parse(other)).toMatchObject({ source: `urn:uuid:${relay.id}`, data: { n: 1 } })
  const types = ['application/json', 'application/json', 'application/cloudevents+json']
  expect(relay.headers('content-type')).toEqual(types)
  expect((await relay.deliveryOf(message)).request_body).toBe('{"n":1}')
  expect(relay.headers('x-team')).toEqual(['Grün', 'new', 'new'])
  expect(relay.headers('x-gone')).toEqual(['1', null, null])
})

test('The brand is part of the names of our headers, which are reserved', async () => {
  const { api, createEndpoint, deliver, target } = await branded.newTenant()
  const { secret } = await createEndpoint({ headers: { 'X-Service-Signature': 'mine' } })
  const taken = { url: target.url, headers: { 'x-acme-signature': 'mine' } }
  expect(await api.post(ENDPOINTS, taken)).toMatchObject(refused('headers'))
  await deliver()
  const headers = { 'x-acme-attempt': '1', 'x-service-signature': 'mine' }
  expect(Object.fromEntries(target.requests[0]?.headers ?? [])).toMatchObject(headers)
  using request = received(target.requests[0])
  expect(request.service(secret, 'x-acme-signature')).toBe(true)
  expect(request.standard(secret)).toBe(true)
})
