import { expect, test } from 'bun:test'
import { useConsole } from '../fixture.ts'

const PAGE = '/messages'
const EVENT_TYPES = '/event-types'
const FIELDS = { event_type: 'order.paid', payload: '{"order": 42}' }

const app = await useConsole()

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
  expect(rest.html).toMatch(/<details[^>]* open [^>]*id="others"/)
  expect(rest.html.match(/The endpoint was subscribed to user/g)).toHaveLength(1)
  expect([...first.links, ...rest.links]).toContain(`/endpoints/${other}`)
  for (const name of ['cursor', 'others'])
    expect((await owner.open(`${path}?${name}=made-up`)).status).toBe(400)
})

test('Event types say when they were first and last seen, how often, and what changed', async () => {
  const { owner, message } = await app.newTenant()
  await message()
  await app.clock.advance(90_000)
  await message()
  await message({ payload: { order: 'forty-two' } })
  const list = await owner.sees(EVENT_TYPES, '1 event type, 1 with breaking changes')
  expect(list.text).toMatch(
    /order\.paid Breaking change Messages 3 messages of order\.paid First seen 1 min ago .* Last seen now/,
  )
  const path = `${EVENT_TYPES}/order.paid`
  const one = await owner.sees(path, '3 messages, last received now', 'Payload changes')
  const links = ['/messages?event_type=order.paid', '/endpoints?type=order.paid']
  for (const page of [list, one]) expect(page.links).toEqual(expect.arrayContaining(links))
  expect(one.says('JSON Schema').links).toContain('/endpoints/new?event_types=order.paid')
  expect((await owner.in('test').open(path)).status).toBe(404)
})

test('Built-in event types can be subscribed to before their first message, in the live environment', async () => {
  const { owner } = await app.newTenant()
  const list = await owner.sees(EVENT_TYPES, 'No event types yet', 'Built-in event types')
  expect(list.links).toContain(`${EVENT_TYPES}/job.failed`)
  const one = await owner.sees(`${EVENT_TYPES}/job.failed`, '0 messages', 'Nightly report')
  expect(one.says('Defined by Gatehouse').links).toContain('/endpoints/new?event_types=job.failed')
  await owner.sees('/endpoints/new?event_types=job.failed', 'job.failed')
  expect((await owner.in('test').open(EVENT_TYPES)).text).not.toContain('Built-in')
})

test('Event types are listed page by page and found by the start of their names', async () => {
  const { owner, message } = await app.newTenant()
  for (let n = 0; n < 49; n++) await message({ event_type: `type.n${100 + n}` })
  for (const type of ['order.paid', 'order', 'user.order']) await message({ event_type: type })
  const namesAt = async (path: string) => {
    const [seen = ''] = (await owner.open(path)).html.split('id="built-in"')
    const links = seen.matchAll(/class="rowlink" href="[^"]*\/([^"]+)"/g)
    return [...links].map(([, name]) => name)
  }
  const { next } = await owner.open(EVENT_TYPES)
  expect((await namesAt(EVENT_TYPES)).length).toBe(50)
  expect(await namesAt(next)).toEqual(['type.n148', 'user.order'])
  expect(await namesAt(`${EVENT_TYPES}?q=order`)).toEqual(['order', 'order.paid'])
  expect(await namesAt(`${EVENT_TYPES}?q=order.`)).toEqual(['order.paid'])
})
