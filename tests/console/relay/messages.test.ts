import { expect, test } from 'bun:test'
import { useConsole } from '../fixture.ts'

const PAGE = '/messages'
const FIELDS = { event_type: 'order.paid', payload: '{"order": 42}' }

const app = await useConsole()

test('The list has the newest first, filters by type, and has 50 on a page', async () => {
  const { owner, message, as } = await app.newTenant()
  await owner.sees(PAGE, 'No messages yet', '/v1/relay/messages')
  ;(await (await as('viewer')).open(PAGE)).omits('Send message')
  const sent = await message({ event_type: 'order.sent' })
  const ids: string[] = []
  for (let n = 0; n < 51; n++) ids.unshift(await message())
  const rowsAt = async (query: string) => (await owner.open(PAGE + query)).rows
  for (const query of ['', '?event_type=']) expect(await rowsAt(query)).toEqual(ids.slice(0, 50))
  expect(await rowsAt('?event_type=order.sent')).toEqual([sent])
  const first = await owner.open(`${PAGE}?event_type=order.paid`)
  const second = await owner.open(first.next)
  expect(second.rows).toEqual(ids.slice(50))
  expect(second.prev).toEndWith(`${PAGE}?event_type=order.paid`)
  await owner.sees(`${PAGE}?event_type=no.such`, 'No messages of this type')
  expect((await owner.open(`${PAGE}?cursor=made-up`)).status).toBe(400)
})

test('A new message is sent byte for byte, by the operator', async () => {
  const { owner, endpoint, target } = await app.newTenant()
  await endpoint({ format: 'raw' })
  const payload = '{"total": 1.0, "id": 12345678901234567890}'
  const page = await owner.press(`${PAGE}/new`, 'Send message', { ...FIELDS, payload })
  await app.clock.settled()
  expect(target.requests.map(({ body }) => body)).toEqual([payload])
  page.says('12345678901234567890')
  expect(owner.audited('message.sent')).toHaveLength(1)
})

test('Messages of the test environment are not delivered, and not found in the other', async () => {
  const { owner, endpoint, clientOf, message, target } = await app.newTenant()
  const test = await clientOf('relay', 'test')
  await endpoint({}, test)
  const page = await owner.in('test').press(`${PAGE}/new`, 'Send message', FIELDS)
  await app.clock.settled()
  page.says('events sent with a test key are not delivered')
  expect(target.requests).toHaveLength(0)
  const path = `${PAGE}/${await message({}, test)}`
  expect((await owner.open(path)).status).toBe(404)
  expect((await owner.in('test').open(path)).status).toBe(200)
})

test.each([
  ['event_type', 'no such!type'],
  ['event_type', ''],
  ['payload', '{"order": '],
  ['payload', '[1]'],
  ['payload', ''],
  ['payload', `{"a":${'['.repeat(70)}${']'.repeat(70)}}`],
  ['channels', 'not/one'],
  ['channels', 'a b c d e f g h i j k'],
])('A new message is refused with an error beside %s', async (name, value) => {
  const { owner, relay } = await app.newTenant()
  const page = await owner.send(PAGE, { ...FIELDS, [name]: value })
  expect([page.status, page.wrong]).toEqual([422, [name]])
  if (name !== 'payload') page.says('{"order": 42}')
  expect((await relay.get('/v1/relay/messages')).body.data).toEqual([])
})

test('A message says to which endpoints it was delivered, failures first, and why not to others', async () => {
  const { owner, endpoint, message, deliveryOf, target } = await app.newTenant()
  target.fails(500, '/bad')
  for (let n = 0; n < 51; n++) await endpoint()
  const bad = await endpoint({ url: new URL('/bad', target.url).href })
  const other = await endpoint({ event_types: ['user.*'] })
  for (let n = 0; n < 50; n++) await endpoint({ event_types: ['user.*'] })
  const id = await message({ idempotency_key: 'order-42' })
  const path = `${PAGE}/${id}`
  const first = await owner.sees(path, 'Idempotency key order-42', '"order": 42')
  first.says('Delivered to 51 of 52 endpoints, 1 retrying', 'Not delivered to 51 endpoints')
  first.says('The endpoint was subscribed to user.*, not to order.paid')
  expect(first.links).toContain(`/deliveries/${await deliveryOf(id)}`)
  expect(first.html.indexOf('/bad')).toBeLessThan(first.html.indexOf('<span>Delivered</span>'))
  expect([first.rows.length, (await owner.open(first.next)).rows.length]).toEqual([50, 2])

  const retrying = await owner.open(`${path}?stage=retrying`)
  expect([retrying.rows.length, retrying.links.includes(`/endpoints/${bad}`)]).toEqual([1, true])
  expect((await owner.open(`${path}?stage=failed`)).rows).toEqual([])
  const others = first.links.find((link) => link.includes('others=')) ?? ''
  const rest = await owner.open(others.split('#')[0] ?? '')
  expect(/<details[^>]*id="others"[^>]*>/.exec(rest.html)?.[0]).toContain(' open')
  expect(rest.html.match(/The endpoint was subscribed to user/g)).toHaveLength(1)
  expect([...first.links, ...rest.links]).toContain(`/endpoints/${other}`)
  for (const name of ['cursor', 'others'])
    expect((await owner.open(`${path}?${name}=made-up`)).status).toBe(400)
})
