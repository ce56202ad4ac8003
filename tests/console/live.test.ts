import { expect, test } from 'bun:test'
import { renameSync } from 'node:fs'
import { dirname } from 'node:path'
import { CHECK_MS } from '../../src/platform/storage-watch.ts'
import type { OperatorSession } from '../support/operator.ts'
import { bootConsole, MINUTE, pagesOf, SECOND, useConsole } from './fixture.ts'
import { type Listener, listen, streamIn } from './live-listener.ts'

const app = await useConsole()

/** A page of a tenant that sends messages, with its stream. */
async function onPage(path: string, at = app) {
  const acme = await at.newTenant()
  await acme.endpoint()
  const send = (event_type: string) => acme.message({ event_type })
  await send('order.old')
  const hrefFor = async (cookie: string) => streamIn((await pagesOf(at, cookie).open(path)).html)
  const href = await hrefFor(acme.owner.cookie)
  const stream = (headers: Record<string, string> = {}) =>
    listen(at.url + href, { ...acme.owner.headers, ...headers })
  return { ...acme, send, href, hrefFor, stream, turn: () => at.clock.advance(SECOND) }
}

async function streams(count: number) {
  while (app.live.count() !== count) await Bun.sleep(1)
}

test.each(['/', '/deliveries'])(
  'The stream of %s sends a comment at once, then only what is new of its tenant',
  async (path) => {
    const [page, other] = [await onPage(path), await onPage(path)]
    const listener = await page.stream()
    await listener.until(() => listener.comments() > 0)
    const { headers, status } = listener
    expect([status, headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8'])
    expect(headers.get('x-accel-buffering')).toBe('no')
    expect(headers.get('cache-control')).toMatch(/no-cache.*no-transform/)
    await page.turn()
    expect(listener.messages).toEqual([])
    await other.send('order.theirs')
    await page.send('order.new')
    await page.turn()
    await listener.until(() => listener.text().includes('order.new'))
    expect(listener.text()).toMatch(/delivered/i)
    expect(listener.text()).toContain('beforebegin')
    expect(listener.text()).not.toMatch(/order\.(old|theirs)/)
    // What another process has written.
    app.db.client.run("UPDATE deliveries SET state = 'failed' WHERE tenant_id = ?", [page.id])
    await page.turn()
    await listener.until(() => listener.text().includes('failed'))
    listener.leave()

    for (const type of ['order.third', 'order.fourth']) await page.send(type)
    const again = await page.stream({ 'last-event-id': listener.lastId() })
    await again.until(() => again.messages.length > 0)
    for (const type of ['order.third', 'order.fourth']) expect(again.text()).toContain(type)
    again.leave()
    const upToDate = await page.stream({ 'last-event-id': again.lastId() })
    await upToDate.until(() => upToDate.comments() > 0)
    await page.turn()
    expect(upToDate.messages).toEqual([])
    upToDate.leave()
    await streams(0)
  },
)

test.each(['/', '/deliveries'])(
  'The stream of %s is open to viewers, not to others, and is no page',
  async (path) => {
    const page = await onPage(path)
    const viewer = await page.as('viewer')
    const statusFor = async (cookie: string, query = '') => {
      const listener = await listen(app.url + page.href + query, { cookie })
      listener.leave()
      return listener.status
    }
    expect(await statusFor(viewer.cookie)).toBe(200)
    expect(await statusFor((await app.newAdmin()).cookie)).toBe(404)
    // Redirected, the page would take it for a broken stream and connect again.
    expect(await statusFor('')).toBe(401)
    if (path !== '/') expect(await statusFor(viewer.cookie, '&cursor=abc')).toBe(400)
    for (const method of ['GET', 'HEAD'])
      expect((await fetch(app.url + page.href, { method, ...viewer })).status).toBe(400)
    await streams(0)
  },
)

test('A stream ends with the session, the membership or the role', async () => {
  const page = await onPage('/')
  const operator = await app.signIn({ roles: { [page.id]: 'owner' } })
  const ends: ((session: OperatorSession) => Promise<unknown>)[] = [
    (session) => session.end(),
    () => operator.endSessions(),
    () => operator.setRole(page.id, 'viewer'),
    () => operator.leave(page.id),
  ]
  for (const end of ends) {
    await operator.setRole(page.id, 'owner')
    const session = await operator.signIn()
    const listener = await listen(app.url + (await page.hrefFor(session.cookie)), session.headers)
    await end(session)
    await page.turn()
    await listener.end()
    expect(listener.messages.at(-1)).toMatchObject({ event: 'over' })
    expect(listener.text()).toContain('This page no longer updates')
  }
  expect(app.live.count()).toBe(0)
})

test('Streams send something every ten seconds, without markup of tenants', async () => {
  const { stream, job } = await onPage('/')
  const listener = await stream()
  await listener.until(() => listener.comments() === 1)
  await app.clock.advance(9 * SECOND)
  expect(listener.comments()).toBe(1)
  await app.clock.advance(2 * SECOND)
  await listener.until(() => listener.comments() === 2)
  await job({ name: '<script>alert(1)</script>\u202e\r\n\ndata: x' })
  await app.clock.advance(MINUTE)
  await listener.until(() => listener.text().includes('alert(1)'))
  expect(listener.text()).not.toContain('<script>')
  expect(listener.messages.every(({ data }) => data === '' || data.startsWith('<hx-'))).toBe(true)
  listener.leave()
  await streams(0)
})

test('Streams end when the database is lost, or the server stops', async () => {
  await using own = await bootConsole()
  const { stream } = await onPage('/', own)
  const lost = await stream()
  const dataDir = dirname(own.db.file)
  renameSync(dataDir, `${dataDir}.away`)
  await own.clock.advance(CHECK_MS)
  await lost.end()
  renameSync(`${dataDir}.away`, dataDir)
  await own.clock.advance(CHECK_MS)
  const listener = await stream()
  expect(listener.status).toBe(200)
  const stopping = own.stop()
  await listener.end()
  expect(listener.messages).toEqual([])
  expect((await stream()).status).toBe(503)
  await stopping
})

test('Streams are limited to 8 for a session and 32 for an operator', async () => {
  const { href, owner, as } = await onPage('/')
  const opened: Listener[] = []
  const openWith = async (cookie: string) => {
    const listener = await listen(app.url + href, { cookie })
    opened.push(listener)
    return listener.status
  }
  for (let session = 0; session < 4; session++) {
    const { cookie } = session === 0 ? owner : await app.sessionOf(owner)
    for (let n = 0; n < 8; n++) expect(await openWith(cookie)).toBe(200)
    expect(await openWith(cookie)).toBe(429)
  }
  expect(await openWith((await app.sessionOf(owner)).cookie)).toBe(429)
  expect(await openWith((await as('viewer')).cookie)).toBe(200)
  const head = { method: 'HEAD', headers: { ...owner.headers, accept: 'text/event-stream' } }
  opened[0]?.leave()
  await streams(32)
  expect((await fetch(app.url + href, head)).status).toBe(200)
  expect(app.live.count()).toBe(32)
  expect(await openWith(owner.cookie)).toBe(200)
  for (const listener of opened) listener.leave()
  await streams(0)
})
