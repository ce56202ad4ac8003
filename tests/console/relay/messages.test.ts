import { describe, expect, test } from 'bun:test'
import { bootRelayPages, HOSTILE, linkIn, NOBODYS, statusesOf, wordsOf } from './fixture.ts'

const PAGE = '/console/messages'
const FIELDS = { event_type: 'order.paid', payload: '{"order": 42}' }

describe('who may see and send messages', () => {
  test('everybody of the tenant sees them, and who may change something sends', async () => {
    await using fixture = await bootRelayPages()
    const id = await fixture.message()
    const { open, post } = fixture
    expect(await statusesOf((who) => open(PAGE, who))).toEqual([200, 200, 200, 200, 403])
    expect(await statusesOf((who) => open(`${PAGE}/${id}`, who))).toEqual([200, 200, 200, 404, 403])
    expect(await statusesOf((who) => open(`${PAGE}/new`, who))).toEqual([200, 200, 403, 200, 403])
    expect(await statusesOf((who) => post(PAGE, FIELDS, who))).toEqual([303, 303, 403, 303, 403])
    expect((await fixture.app.raw(PAGE)).status).toBe(401)
    expect((await open(PAGE, 'viewer')).body).not.toContain('Send message')
  })

  test('one of another tenant, or of the other data, is not there', async () => {
    await using fixture = await bootRelayPages()
    const ids = [
      await fixture.message({}, fixture.otherApi),
      await fixture.message({}, fixture.testApi),
    ]
    for (const id of [...ids, NOBODYS])
      expect((await fixture.open(`${PAGE}/${id}`)).status).toBe(404)
    expect((await fixture.open(`${PAGE}/${ids[1]}`, 'owner', 'test')).status).toBe(200)
  })
})

describe('the list', () => {
  test('has the newest first, of one type if asked', async () => {
    await using fixture = await bootRelayPages()
    const paid = await fixture.message()
    const sent = await fixture.message({ event_type: 'order.sent' })
    const idsIn = async (query: string) => {
      const { body } = await fixture.open(PAGE + query)
      return [...body.matchAll(/id="row-([\w-]+)"/g)].map(([, id]) => id)
    }
    expect(await idsIn('')).toEqual([sent, paid])
    expect(await idsIn('?event_type=order.paid')).toEqual([paid])
    expect(await idsIn('?event_type=')).toEqual([sent, paid])
    expect(wordsOf((await fixture.open(`${PAGE}?event_type=no.such`)).body)).toContain(
      'No messages of this type',
    )
    expect((await fixture.open(`${PAGE}?cursor=made-up`)).status).toBe(400)
  })

  test('is read page by page, the filter kept', async () => {
    await using fixture = await bootRelayPages()
    for (let n = 0; n < 51; n++) await fixture.message()
    const first = await fixture.open(`${PAGE}?event_type=order.paid`)
    const [, next = ''] = /rel="next" href="([^"]+)"/.exec(first.body) ?? []
    expect(next).toContain('event_type=order.paid')
    const second = await fixture.open(next.replaceAll('&amp;', '&'))
    expect(second.body.match(/id="row-/g)).toHaveLength(1)
    expect(second.body).toContain('rel="prev"')
  })

  test('begins with a command that sends the first one', async () => {
    await using fixture = await bootRelayPages()
    const { body } = await fixture.open(PAGE)
    expect(wordsOf(body)).toContain('No messages yet')
    expect(body).toContain('/v1/relay/messages')
  })
})

describe('a message by hand', () => {
  test('goes to the endpoints as it was spelled, and is the operator’s', async () => {
    await using fixture = await bootRelayPages()
    await fixture.endpoint({ format: 'raw' })
    const payload = '{"total": 1.0, "id": 12345678901234567890}'
    const { status, headers } = await fixture.post(PAGE, { ...FIELDS, payload })
    await fixture.app.clock.settled()
    expect(status).toBe(303)
    expect(fixture.target.requests.map(({ body }) => body)).toEqual([payload])
    const [, id = ''] = /messages\/([\w-]+)\?done=sent/.exec(headers.get('location') ?? '') ?? []
    expect(fixture.lastAudited()).toMatchObject({
      action: 'message.sent',
      object: `message:${id}`,
      actor_id: fixture.owner.id,
      tenant_id: fixture.acme.id,
    })
    const page = await fixture.open(`${PAGE}/${id}?done=sent`)
    expect(wordsOf(page.body)).toContain('12345678901234567890')
  })

  test('of the test data goes nowhere', async () => {
    await using fixture = await bootRelayPages()
    await fixture.endpoint({}, fixture.testApi)
    const { status, headers } = await fixture.post(PAGE, FIELDS, 'owner', 'test')
    await fixture.app.clock.settled()
    expect([status, fixture.target.requests.length]).toEqual([303, 0])
    const page = await fixture.open(headers.get('location') ?? '', 'owner', 'test')
    expect(wordsOf(page.body)).toContain('events sent with a test key are not delivered')
  })

  test.each([
    ['event_type', { event_type: 'no such!type' }],
    ['event_type', { event_type: '' }],
    ['payload', { payload: '{"order": ' }],
    ['payload', { payload: '[1]' }],
    ['payload', { payload: '' }],
    ['payload', { payload: `{"a":${'['.repeat(70)}${']'.repeat(70)}}` }],
    ['channels', { channels: 'not/one' }],
    ['channels', { channels: 'a b c d e f g h i j k' }],
  ])('comes back with what is wrong beside %s', async (name, wrong: Record<string, string>) => {
    await using fixture = await bootRelayPages()
    const answer = await fixture.post(PAGE, { ...FIELDS, ...wrong })
    expect(answer.status).toBe(422)
    expect(answer.body).toContain(`id="field-${name}-error"`)
    if (name !== 'payload') expect(wordsOf(answer.body)).toContain('{"order": 42}')
    expect((await fixture.api.get('/v1/relay/messages')).body.data).toEqual([])
  })
})

describe('a message', () => {
  test('says where it went and how that stands, and where it did not go and why', async () => {
    await using fixture = await bootRelayPages()
    fixture.target.answers(({ path }) => new Response('', { status: path === '/bad' ? 500 : 200 }))
    await fixture.endpoint()
    await fixture.endpoint({ url: new URL('/bad', fixture.target.url).href })
    const deaf = await fixture.endpoint({ event_types: ['user.*'] })
    const id = await fixture.message()
    const { body } = await fixture.open(`${PAGE}/${id}`)
    const words = wordsOf(body)
    expect(words).toContain('Delivered to 1 of 2 endpoints, 1 retrying')
    expect(words).toContain('The endpoint was subscribed to user.*, not to order.paid')
    expect(words).toContain('Not delivered to 1 endpoint')
    expect(body).toContain(`/console/endpoints/${deaf}`)
    expect(body).toContain(`/console/deliveries/${await fixture.deliveryOf(id)}`)
    expect(words).toContain('"order": 42')
  })

  test('that went to many shows some at a time, what failed first, and those of one state', async () => {
    await using fixture = await bootRelayPages()
    fixture.target.answers(({ path }) => new Response('', { status: path === '/bad' ? 500 : 200 }))
    for (let n = 0; n < 51; n++) await fixture.endpoint()
    const bad = await fixture.endpoint({ url: new URL('/bad', fixture.target.url).href })
    for (let n = 0; n < 51; n++) await fixture.endpoint({ event_types: ['user.*'] })
    const id = await fixture.message()
    const rowsIn = (html: string) => html.match(/id="row-/g)?.length ?? 0
    const first = await fixture.open(`${PAGE}/${id}`)
    expect(wordsOf(first.body)).toContain('Delivered to 51 of 52 endpoints, 1 retrying')
    expect(rowsIn(first.body)).toBe(50)
    expect(first.body.indexOf('/bad')).toBeLessThan(first.body.indexOf('<span>Delivered</span>'))
    expect(rowsIn((await fixture.open(linkIn(first.body, 'next'))).body)).toBe(2)

    const retrying = await fixture.open(`${PAGE}/${id}?stage=retrying`)
    expect(rowsIn(retrying.body)).toBe(1)
    expect(retrying.body).toContain(`/console/endpoints/${bad}`)
    expect(rowsIn((await fixture.open(`${PAGE}/${id}?stage=failed`)).body)).toBe(0)

    expect(wordsOf(first.body)).toContain('Not delivered to 51 endpoints')
    const [, others = ''] = /href="([^"]*others=[^"#]+)/.exec(first.body) ?? []
    const rest = await fixture.open(others)
    expect(rest.body).toMatch(
      /<details[^>]* open[^>]*id="others"|<details[^>]*id="others"[^>]* open/,
    )
    expect(rest.body.match(/The endpoint was subscribed to user/g)).toHaveLength(1)
    for (const wrong of ['cursor', 'others'])
      expect((await fixture.open(`${PAGE}/${id}?${wrong}=made-up`)).status).toBe(400)
  })

  test('shows whatever is in it as text, and whole', async () => {
    await using fixture = await bootRelayPages()
    const { script, turned, long } = HOSTILE
    const payload = { script, turned, long }
    const id = await fixture.message({ payload, idempotency_key: script })
    const { body } = await fixture.open(`${PAGE}/${id}`)
    expect(body).not.toContain('<script>alert')
    expect(body).toContain(long)
    const echoed = await fixture.post(PAGE, { event_type: script, payload: script })
    expect([echoed.status, echoed.body.includes('<script>alert')]).toEqual([422, false])
    const filtered = await fixture.open(`${PAGE}?event_type=${encodeURIComponent(script)}`)
    expect([filtered.status, filtered.body.includes('<script>alert')]).toEqual([200, false])
  })
})
