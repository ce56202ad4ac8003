import { describe, expect, test } from 'bun:test'
import { useConsole } from '../fixture.ts'

const PAGE = '/console/messages'
const FIELDS = { event_type: 'order.paid', payload: '{"order": 42}' }

const app = await useConsole()

describe('The list', () => {
  test('has the newest first, filters by type, and has 50 on a page', async () => {
    const { owner, message, as } = await app.newTenant()
    const empty = await owner.open(PAGE)
    expect(empty.text).toContain('No messages yet')
    expect(empty.text).toContain('/v1/relay/messages')
    expect((await (await as('viewer')).open(PAGE)).text).not.toContain('Send message')
    const sent = await message({ event_type: 'order.sent' })
    const ids: string[] = []
    for (let n = 0; n < 51; n++) ids.unshift(await message())
    expect((await owner.open(PAGE)).rows).toEqual(ids.slice(0, 50))
    expect((await owner.open(`${PAGE}?event_type=`)).rows).toEqual(ids.slice(0, 50))
    expect((await owner.open(`${PAGE}?event_type=order.sent`)).rows).toEqual([sent])
    const first = await owner.open(`${PAGE}?event_type=order.paid`)
    const second = await owner.open(first.next)
    expect([second.rows, second.prev]).toEqual([ids.slice(50), `${PAGE}?event_type=order.paid`])
    const none = await owner.open(`${PAGE}?event_type=no.such`)
    expect(none.text).toContain('No messages of this type')
    expect((await owner.open(`${PAGE}?cursor=made-up`)).status).toBe(400)
  })

  test('is of one environment', async () => {
    const { owner, message, clientOf } = await app.newTenant()
    const id = await message({}, await clientOf('relay', 'test'))
    expect((await owner.open(`${PAGE}/${id}`)).status).toBe(404)
    expect((await owner.in('test').open(`${PAGE}/${id}`)).status).toBe(200)
  })
})

describe('A new message', () => {
  test('is sent byte for byte, by the operator', async () => {
    const { owner, endpoint, target } = await app.newTenant()
    await endpoint({ format: 'raw' })
    const payload = '{"total": 1.0, "id": 12345678901234567890}'
    const sent = await owner.send(PAGE, { ...FIELDS, payload })
    await app.clock.settled()
    expect(target.requests.map(({ body }) => body)).toEqual([payload])
    const [, id] = /messages\/([\w-]+)\?done=sent/.exec(sent.location ?? '') ?? []
    expect(owner.audited('message.sent')).toEqual([`message:${id}`])
    expect((await owner.follow(sent)).text).toContain('12345678901234567890')
  })

  test('of the test environment is not delivered', async () => {
    const { owner, endpoint, clientOf, target } = await app.newTenant()
    await endpoint({}, await clientOf('relay', 'test'))
    const sent = await owner.in('test').send(PAGE, FIELDS)
    await app.clock.settled()
    expect(target.requests).toHaveLength(0)
    const page = await owner.in('test').follow(sent)
    expect(page.text).toContain('events sent with a test key are not delivered')
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
  ])('is refused with an error beside %s', async (name, value) => {
    const { owner, relay } = await app.newTenant()
    const { status, wrong, text } = await owner.send(PAGE, { ...FIELDS, [name]: value })
    expect([status, wrong]).toEqual([422, [name]])
    if (name !== 'payload') expect(text).toContain('{"order": 42}')
    expect((await relay.get('/v1/relay/messages')).body.data).toEqual([])
  })
})

describe('A message', () => {
  test('says to which endpoints it was delivered, and why not to the others', async () => {
    const { owner, endpoint, message, deliveryOf, target } = await app.newTenant()
    target.answers(({ path }) => new Response('', { status: path === '/bad' ? 500 : 200 }))
    await endpoint()
    await endpoint({ url: new URL('/bad', target.url).href })
    const other = await endpoint({ event_types: ['user.*'] })
    const id = await message()
    const { text, html } = await owner.open(`${PAGE}/${id}`)
    for (const words of [
      'Delivered to 1 of 2 endpoints, 1 retrying',
      'Not delivered to 1 endpoint',
      'The endpoint was subscribed to user.*, not to order.paid',
      '"order": 42',
    ])
      expect(text).toContain(words)
    expect(html).toContain(`/console/endpoints/${other}`)
    expect(html).toContain(`/console/deliveries/${await deliveryOf(id)}`)
  })

  test('lists 50 deliveries at a time, failures first, and filters by state', async () => {
    const { owner, endpoint, message, target } = await app.newTenant()
    target.answers(({ path }) => new Response('', { status: path === '/bad' ? 500 : 200 }))
    for (let n = 0; n < 51; n++) await endpoint()
    const bad = await endpoint({ url: new URL('/bad', target.url).href })
    for (let n = 0; n < 51; n++) await endpoint({ event_types: ['user.*'] })
    const path = `${PAGE}/${await message()}`
    const first = await owner.open(path)
    expect(first.text).toContain('Delivered to 51 of 52 endpoints, 1 retrying')
    expect(first.text).toContain('Not delivered to 51 endpoints')
    expect(first.html.indexOf('/bad')).toBeLessThan(first.html.indexOf('<span>Delivered</span>'))
    expect([first.rows.length, (await owner.open(first.next)).rows.length]).toEqual([50, 2])

    const retrying = await owner.open(`${path}?stage=retrying`)
    expect(retrying.rows).toHaveLength(1)
    expect(retrying.html).toContain(`/console/endpoints/${bad}`)
    expect((await owner.open(`${path}?stage=failed`)).rows).toEqual([])

    const [, others = ''] = /href="([^"]*others=[^"#]+)/.exec(first.html) ?? []
    const rest = await owner.open(others)
    expect(/<details[^>]*id="others"[^>]*>/.exec(rest.html)?.[0]).toContain(' open')
    expect(rest.html.match(/The endpoint was subscribed to user/g)).toHaveLength(1)
    for (const name of ['cursor', 'others'])
      expect((await owner.open(`${path}?${name}=made-up`)).status).toBe(400)
  })
})
