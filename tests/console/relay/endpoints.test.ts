import { describe, expect, test } from 'bun:test'
import { HOUR, UNKNOWN_ID, useConsole } from '../fixture.ts'

const PAGE = '/console/endpoints'
const FIELDS = { url: 'https://hooks.shop.example/in', format: 'standard' }

const app = await useConsole()

/** A server that fails at one path. */
async function withBadPath() {
  const acme = await app.newTenant()
  acme.target.answers(({ path }) => new Response('', { status: path === '/bad' ? 500 : 200 }))
  return { ...acme, bad: new URL('/bad', acme.target.url).href }
}

test('Only actions of the role are offered', async () => {
  const acme = await app.newTenant()
  const path = `${PAGE}/${await acme.endpoint()}`
  const [viewer, member] = [await acme.as('viewer'), await acme.as('member')]
  expect((await viewer.open(path)).html).not.toContain(`${path}/pause`)
  expect((await viewer.open(PAGE)).text).not.toContain('Create endpoint')
  expect((await member.open(path)).html).toContain(`${path}/pause`)
  expect((await member.open(path)).html).not.toContain(`${path}/delete`)
  expect((await acme.owner.open(path)).html).toContain(`${path}/delete`)
})

describe('The list', () => {
  test('begins with a command that creates the first endpoint', async () => {
    const { owner } = await app.newTenant()
    const { text } = await owner.open(PAGE)
    expect(text).toContain('No endpoints yet')
    expect(text).toContain('/v1/relay/endpoints')
  })

  test('summarizes the states, and finds endpoints by state, text and id', async () => {
    const { owner, endpoint, message, bad } = await withBadPath()
    const good = await endpoint()
    const failing = await endpoint({ url: bad })
    const paused = await endpoint({ active: false, description: 'Staging' })
    await message()
    const { text, rows } = await owner.open(PAGE)
    expect(text).toMatch(/1 active, 1 failing since \d\d:\d\d UTC, 1 paused/)
    expect(text).toContain('100%')
    expect(text).toContain('0.0%')
    expect(rows).toEqual([failing, paused, good])
    for (const [query, found] of [
      ['state=failing', [failing]],
      ['state=paused', [paused]],
      ['state=unknown', [failing, paused, good]],
      ['q=stAging', [paused]],
      [`q=${good}`, [good]],
      ['q=nowhere', []],
    ])
      expect([query, (await owner.open(`${PAGE}?${query}`)).rows]).toEqual([query, found])
  })

  test('finds endpoints that receive an event type in a channel', async () => {
    const { owner, endpoint, message } = await app.newTenant()
    const all = await endpoint()
    const orders = await endpoint({ event_types: ['order.*'], channels: ['eu'] })
    const users = await endpoint({ event_types: ['user.created'], channels: ['us'] })
    await message()
    for (const [query, found] of [
      ['type=order.paid', [orders, all]],
      ['type=user.created', [users, all]],
      ['channel=eu', [orders, all]],
      ['type=order.paid&channel=us', [all]],
      ['type=&channel=', [users, orders, all]],
    ])
      expect([query, (await owner.open(`${PAGE}?${query}`)).rows]).toEqual([query, found])
    const { html } = await owner.open(PAGE)
    for (const choice of ['order.paid', 'eu', 'us'])
      expect(html).toContain(`<option value="${choice}">`)
  })

  test('has 25 endpoints on a page and keeps its filter', async () => {
    const { owner, endpoint } = await app.newTenant()
    const ids: string[] = []
    for (let n = 0; n < 27; n++) ids.unshift(await endpoint())
    const first = await owner.open(`${PAGE}?state=active`)
    const second = await owner.open(first.next)
    expect(first.next).toContain('state=active')
    expect([first.rows, second.rows]).toEqual([ids.slice(0, 25), ids.slice(25)])
    expect(second.prev).toBe(`${PAGE}?state=active`)
  })

  test('says when the next retry is and how many deliveries are held', async () => {
    const { owner, endpoint, message, target } = await app.newTenant()
    target.answers(() => new Response('', { status: 500 }))
    await endpoint()
    await message()
    expect((await owner.open(PAGE)).text).toContain('Retry in 5 s')
    const paused = await endpoint({ event_types: ['user.*'] })
    await owner.send(`${PAGE}/${paused}/pause`)
    await message({ event_type: 'user.created' })
    expect((await owner.open(PAGE)).text).toContain('1 held')
  })

  test('shows an endpoint whose secrets cannot be decrypted', async () => {
    const { owner, endpoint } = await app.newTenant()
    const id = await endpoint()
    app.db.client.run("UPDATE endpoints SET secrets = 'lost', headers = 'lost' WHERE id = ?", [id])
    expect((await owner.open(PAGE)).rows).toEqual([id])
  })
})

describe('A new endpoint', () => {
  test('starts with the event types of the address', async () => {
    const { owner } = await app.newTenant()
    const { html } = await owner.open(`${PAGE}/new?event_types=order.paid`)
    expect(html).toContain('>order.paid</textarea>')
  })

  test('has what was typed, and shows its secret once', async () => {
    const { owner, relay } = await app.newTenant()
    const created = await owner.send(PAGE, {
      ...FIELDS,
      event_types: 'order.*, user.created\ninvoice.paid',
      channels: 'eu',
      headers: 'X-Team: orders\nAuthorization: Bearer abc',
    })
    const [secret = ''] = /whsec_[\w+/=]+/.exec(created.html) ?? []
    expect([created.status, secret.length > 30]).toEqual([200, true])
    const { data } = (await relay.get('/v1/relay/endpoints')).body
    expect(data).toMatchObject([
      {
        url: FIELDS.url,
        event_types: ['order.*', 'user.created', 'invoice.paid'],
        channels: ['eu'],
        headers: { 'X-Team': 'orders', Authorization: '********' },
      },
    ])
    const { html } = await owner.open(`${PAGE}/${data[0].id}`)
    expect(html).not.toContain(secret)
    expect(html).not.toContain('Bearer abc')
    expect(owner.audited('endpoint.created')).toEqual([`endpoint:${data[0].id}`])
  })

  const tooMany = Array.from({ length: 101 }, (_, n) => `t${n}`).join(',')
  test.each([
    ['url', ''],
    ['url', 'ftp://example.com'],
    ['description', 'x'.repeat(501)],
    ['event_types', 'no such!type'],
    ['event_types', tooMany],
    ['channels', 'a b c d e f g h i j k'],
    ['headers', 'without a colon'],
    ['headers', 'X-A: 1\nx-a: 2'],
    ['format', 'xml'],
    ['secret', 'whsec_short'],
  ])('is refused with an error beside %s, and keeps the other fields', async (name, value) => {
    const { owner, relay } = await app.newTenant()
    const { status, wrong, html } = await owner.send(PAGE, {
      ...FIELDS,
      description: 'kept',
      [name]: value,
    })
    expect([status, wrong]).toEqual([422, [name]])
    expect(html).toContain(name === 'description' ? FIELDS.url : 'value="kept"')
    expect(html).not.toContain('whsec_short')
    expect((await relay.get('/v1/relay/endpoints')).body.data).toEqual([])
  })
})

describe('An endpoint', () => {
  test('is changed by a form that starts with its values', async () => {
    const { owner, endpoint, relay } = await app.newTenant()
    const headers = { Authorization: 'Bearer abc' }
    const id = await endpoint({ headers, channels: ['eu'] })
    const { html } = await owner.open(`${PAGE}/${id}/edit`)
    expect(html).toContain('Authorization: ********')
    const fields = { ...FIELDS, description: 'Shop', headers: 'Authorization: ********' }
    expect((await owner.send(`${PAGE}/${id}`, fields)).location).toBe(`${PAGE}/${id}?done=saved`)
    expect((await relay.get(`/v1/relay/endpoints/${id}`)).body).toMatchObject({
      url: FIELDS.url,
      description: 'Shop',
      channels: [],
      event_types: null,
    })
    expect(owner.audited('endpoint.updated')).toEqual([`endpoint:${id}`])
    const refused = await owner.send(`${PAGE}/${id}`, { ...fields, url: 'nowhere' })
    expect([refused.status, refused.wrong]).toEqual([422, ['url']])
    expect(refused.html).toContain('value="nowhere"')
  })

  test('says since when it fails, until it works again', async () => {
    const { owner, endpoint, message, deliveryOf, target } = await app.newTenant()
    target.answers(() => new Response('', { status: 500 }))
    const path = `${PAGE}/${await endpoint()}`
    const delivery = await deliveryOf(await message())
    const { text, html } = await owner.open(path)
    expect(text).toMatch(/Failing since \d\d:\d\d UTC: 1 failed attempt in a row\./)
    expect(text).toMatch(/Last attempt .*Response: status 500/)
    expect(html).toContain(`/console/deliveries/${delivery}`)
    target.answers(() => new Response(''))
    await app.clock.advance(5000)
    expect((await owner.open(path)).text).not.toContain('Last attempt')
  })

  test('is paused, and resumed with or without the held deliveries', async () => {
    const { owner, endpoint, message, target } = await app.newTenant()
    const path = `${PAGE}/${await endpoint()}`
    for (const [held, sent] of [
      ['drain', 1],
      ['discard', 1],
    ] as const) {
      await owner.send(`${path}/pause`)
      expect((await owner.open(path)).text).toContain('Paused.')
      const before = target.requests.length
      await message()
      expect(target.requests).toHaveLength(before)
      expect((await owner.send(`${path}/resume`, { held })).location).toContain(`${path}?done=`)
      await app.clock.settled()
      expect(target.requests).toHaveLength(sent)
    }
    expect(owner.audited('endpoint.updated')).toHaveLength(4)
    expect((await owner.send(`${path}/resume`, { held: 'burn' })).status).toBe(400)
  })

  test('receives a test event, and its page shows the response', async () => {
    const { owner, endpoint, target } = await app.newTenant()
    target.answers(() => new Response('{"taken":true}', { status: 201 }))
    const id = await endpoint()
    const path = `${PAGE}/${id}/test`
    const { status, text } = await owner.send(path, { event_type: 'order.paid' })
    expect([status, target.requests.length]).toEqual([200, 1])
    expect(text).toContain('Delivered: status 201')
    expect(text).toContain('"taken": true')
    expect(owner.audited('endpoint.tested')).toEqual([`endpoint:${id}`])
    const refused = await owner.send(path, { event_type: 'no such!type' })
    expect([refused.status, target.requests.length]).toEqual([422, 1])
    expect(refused.html).toContain('value="no such!type"')
  })

  test('gets a new secret, shown once, while the old one still signs', async () => {
    const { owner, endpoint } = await app.newTenant()
    const id = await endpoint()
    const path = `${PAGE}/${id}`
    expect((await owner.open(path)).text).toContain('Signing secret One active secret')
    const rotated = await owner.send(`${path}/rotate`, { grace: 'week' })
    const [secret = ''] = /whsec_[\w+/=]+/.exec(rotated.html) ?? []
    expect([rotated.status, secret.length > 30]).toEqual([200, true])
    expect(rotated.text).toContain('The old secret expires 2026-03-08')
    const { text, html } = await owner.open(path)
    expect(html).not.toContain(secret)
    expect(text).toContain('Two active secrets; the old one expires 2026-03-08')
    expect(owner.audited('endpoint.secret_rotated')).toEqual([`endpoint:${id}`])
    for (const grace of ['year', 'constructor'])
      expect((await owner.send(`${path}/rotate`, { grace })).status).toBe(400)
  })

  test('is deleted', async () => {
    const { owner, endpoint } = await app.newTenant()
    const id = await endpoint()
    expect((await owner.send(`${PAGE}/${id}/delete`)).location).toBe(`${PAGE}?done=deleted`)
    expect((await owner.open(`${PAGE}/${id}`)).status).toBe(404)
    expect(owner.audited('endpoint.deleted')).toEqual([`endpoint:${id}`])
  })
})

describe('A replay', () => {
  const since = () => new Date(app.clock.now() - HOUR).toISOString()

  test('counts messages first, and sends them once confirmed', async () => {
    const { owner, endpoint, message, target } = await app.newTenant()
    for (let n = 0; n < 3; n++) await message()
    const id = await endpoint()
    const path = `${PAGE}/${id}/replay`
    const fields = { since: since(), until: '', which: 'undelivered', per_second: '1' }
    expect((await owner.open(path)).text).not.toContain('to send')
    const counted = await owner.open(`${path}?${new URLSearchParams(fields)}`)
    expect(counted.text).toContain('3 messages to send')
    expect(target.requests).toHaveLength(0)

    const sent = await owner.send(path, fields)
    expect(sent.location).toBe(`${PAGE}/${id}?replayed=3`)
    expect(owner.audited('endpoint.replayed')).toEqual([`endpoint:${id}`])
    await app.clock.settled()
    const begun = await owner.follow(sent)
    expect(begun.text).toContain('1 of 3')
    expect(begun.html).toContain('hx-trigger="every 2s"')
    await app.clock.advance(3000)
    const done = await owner.follow(sent)
    expect(done.text).toContain('All sent3 of 3')
    expect(done.html).not.toContain('hx-trigger="every 2s"')
    expect((await owner.open(`${PAGE}/${id}?replayed=none`)).html).not.toContain('replay-progress')
  })

  test.each([
    ['since', 'yesterday'],
    ['since', '2027-01-01T00:00:00Z'],
    ['until', '2020-01-01T00:00:00Z'],
    ['which', 'some'],
    ['per_second', '0'],
  ])('is refused with an error beside %s (%s)', async (name, value) => {
    const { owner, endpoint } = await app.newTenant()
    const path = `${PAGE}/${await endpoint()}/replay`
    const fields = { since: '2026-03-01T00:00:00Z', [name]: value }
    const query = new URLSearchParams(fields)
    for (const { status, wrong } of [
      await owner.open(`${path}?${query}`),
      await owner.send(path, fields),
    ])
      expect([status, wrong]).toEqual([422, [name]])
  })
})

test('Endpoints of the test environment have pages of their own', async () => {
  const { owner, endpoint, clientOf } = await app.newTenant()
  const id = await endpoint({}, await clientOf('relay', 'test'))
  expect((await owner.open(`${PAGE}/${id}`)).status).toBe(404)
  expect((await owner.in('test').open(`${PAGE}/${id}`)).status).toBe(200)
  expect((await owner.in('test').open(`${PAGE}/${UNKNOWN_ID}`)).status).toBe(404)
})
