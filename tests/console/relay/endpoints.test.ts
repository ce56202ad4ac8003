import { expect, test } from 'bun:test'
import { HOUR, useConsole } from '../fixture.ts'

const PAGE = '/endpoints'
const FIELDS = { url: 'https://hooks.shop.example/in', format: 'standard' }

const app = await useConsole()

const secretIn = (html: string) => /whsec_[\w+/=]{30,}/.exec(html)?.[0] ?? 'no secret'

test('The list summarizes the states, and finds endpoints by state, text and id', async () => {
  const { owner, endpoint, message, target } = await app.newTenant()
  target.fails(500, '/bad')
  const good = await endpoint()
  const failing = await endpoint({ url: new URL('/bad', target.url).href })
  const paused = await endpoint({ active: false, description: 'Staging' })
  await message()
  const list = await owner.sees(PAGE, '100%', '0.0%', 'Retry in 5 s')
  expect(list.text).toMatch(/1 active, 1 failing since \d\d:\d\d UTC, 1 paused/)
  expect(list.rows).toEqual([failing, good, paused])
  for (const [query, found] of [
    ['state=failing', [failing]],
    ['state=paused', [paused]],
    ['state=unknown', [failing, good, paused]],
    ['q=stAging', [paused]],
    [`q=${good}`, [good]],
  ])
    expect([query, (await owner.open(`${PAGE}?${query}`)).rows]).toEqual([query, found])
  await owner.press(`${PAGE}/${good}`, 'Pause endpoint')
  await message({ event_type: 'user.created' })
  await owner.sees(PAGE, '1 held')
  app.db.client.run("UPDATE endpoints SET secrets = 'lost', headers = 'lost' WHERE id = ?", [good])
  expect((await owner.open(PAGE)).rows).toContain(good)
})

test('The list finds endpoints by event type and channel', async () => {
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
  for (const choice of ['order.paid', 'eu', 'us'])
    await owner.sees(PAGE, `<option value="${choice}">`)
})

test('A new endpoint has what was typed, and shows its secret once', async () => {
  const { owner, relay } = await app.newTenant()
  await owner.sees(`${PAGE}/new?event_types=order.paid`, '>order.paid</textarea>')
  const created = await owner.press(`${PAGE}/new`, 'Create endpoint', {
    ...FIELDS,
    description: 'Shop',
    event_types: 'order.*, user.created\ninvoice.paid',
    channels: 'eu',
    headers: 'X-Team: orders\nAuthorization: Bearer abc',
  })
  const secret = secretIn(created.html)
  expect([created.status, secret]).toEqual([200, expect.stringContaining('whsec_')])
  const { data } = (await relay.get('/v1/relay/endpoints')).body
  const event_types = ['order.*', 'user.created', 'invoice.paid']
  const headers = { 'X-Team': 'orders', Authorization: '********' }
  const typed = { url: FIELDS.url, description: 'Shop', event_types, channels: ['eu'], headers }
  expect(data).toMatchObject([typed])
  ;(await owner.open(`${PAGE}/${data[0].id}`)).omits(secret, 'Bearer abc')
  expect(owner.audited('endpoint.created')).toEqual([`endpoint:${data[0].id}`])
})

test('An endpoint is found in its environment, and changed by a form that starts with its values', async () => {
  const { owner, endpoint, relay, clientOf } = await app.newTenant()
  const inTest = `${PAGE}/${await endpoint({}, await clientOf('relay', 'test'))}`
  expect((await owner.open(inTest)).status).toBe(404)
  expect((await owner.in('test').open(inTest)).status).toBe(200)
  const id = await endpoint({ headers: { Authorization: 'Bearer abc' }, channels: ['eu'] })
  const path = `${PAGE}/${id}`
  await owner.sees(`${path}/edit`, 'Authorization: ********')
  const fields = { ...FIELDS, description: 'Shop', headers: 'Authorization: ********' }
  expect((await owner.send(`${path}/edit`, fields)).location).toEndWith('?done=endpoints-edit')
  const { body } = await relay.get(`/v1/relay/endpoints/${id}`)
  const changed = { url: FIELDS.url, description: 'Shop', channels: [], event_types: null }
  expect(body).toMatchObject(changed)
  expect(owner.audited('endpoint.updated')).toEqual([`endpoint:${id}`])
})

test('An endpoint is paused, resumed with or without the held deliveries, and deleted', async () => {
  const { owner, endpoint, message, target } = await app.newTenant()
  const id = await endpoint()
  const path = `${PAGE}/${id}`
  const sent: number[] = []
  for (const held of ['drain', 'discard']) {
    await owner.press(path, 'Pause endpoint')
    await owner.sees(path, 'Paused.')
    await message()
    sent.push(target.requests.length)
    await owner.send(`${path}/resume`, { held })
    await app.clock.settled()
    sent.push(target.requests.length)
  }
  expect([sent, owner.audited('endpoint.updated').length]).toEqual([[0, 1, 1, 1], 4])
  expect((await owner.send(`${path}/resume`, { held: 'burn' })).status).toBe(400)
  await owner.press(path, 'Delete endpoint')
  expect((await owner.open(path)).status).toBe(404)
  expect(owner.audited('endpoint.deleted')).toEqual([`endpoint:${id}`])
})

test('An endpoint receives a test event, and its page shows the response', async () => {
  const { owner, endpoint, target } = await app.newTenant()
  target.answers(() => new Response('{"taken":true}', { status: 201 }))
  const id = await endpoint()
  const path = `${PAGE}/${id}/test`
  const page = await owner.send(path, { event_type: 'order.paid' })
  page.says('Delivered: status 201', '"taken": true')
  expect([page.status, target.requests.length]).toEqual([200, 1])
  expect(owner.audited('endpoint.tested')).toEqual([`endpoint:${id}`])
  const refused = await owner.send(path, { event_type: 'no such!type' })
  expect([refused.status, target.requests.length]).toEqual([422, 1])
  refused.says('value="no such!type"')
})

test('An endpoint gets a new secret, shown once, while the old one still signs', async () => {
  const { owner, endpoint } = await app.newTenant()
  const id = await endpoint()
  const path = `${PAGE}/${id}`
  await owner.sees(path, 'Signing secret One active secret')
  const rotated = await owner.press(path, 'Rotate secret', { grace: 'week' })
  const secret = secretIn(rotated.says('The old secret expires 2026-03-08').html)
  expect(secret).toStartWith('whsec_')
  await owner.sees(path, 'Two active secrets; the old one expires 2026-03-08')
  ;(await owner.open(path)).omits(secret)
  expect(owner.audited('endpoint.secret_rotated')).toEqual([`endpoint:${id}`])
  for (const grace of ['year', 'constructor'])
    expect((await owner.send(`${path}/rotate`, { grace })).status).toBe(400)
})

test('A replay counts messages first, and sends them once confirmed', async () => {
  const { owner, endpoint, message, target } = await app.newTenant()
  for (let n = 0; n < 3; n++) await message()
  const id = await endpoint()
  const path = `${PAGE}/${id}/replay`
  const since = new Date(app.clock.now() - HOUR).toISOString()
  const fields = { since, until: '', which: 'undelivered', per_second: '1' }
  ;(await owner.open(path)).omits('to send')
  await owner.sees(`${path}?${new URLSearchParams(fields)}`, '3 messages to send')
  expect(target.requests).toHaveLength(0)

  const sent = await owner.send(path, fields)
  expect(owner.audited('endpoint.replayed')).toEqual([`endpoint:${id}`])
  await app.clock.settled()
  ;(await owner.follow(sent)).says('1 of 3', 'hx-trigger="every 2s"')
  await app.clock.advance(3000)
  ;(await owner.follow(sent)).says('All sent3 of 3').omits('hx-trigger="every 2s"')
  ;(await owner.open(`${PAGE}/${id}?replayed=none`)).omits('replay-progress')
})
