import { describe, expect, test } from 'bun:test'
import { renameSync } from 'node:fs'
import { dirname } from 'node:path'
import { CHECK_MS } from '../../src/platform/storage-watch.ts'
import { newOperator, type OperatorSession } from '../support/operator.ts'
import { startTarget } from '../support/target.ts'
import { servedApp } from './console-fixture.ts'
import { type Listener, listen, streamIn } from './live-listener.ts'

const SECOND = 1000
const STREAM = 'text/event-stream'

/** Two tenants behind a port, an endpoint of each, and somebody to look. */
async function fixture() {
  const app = await servedApp()
  const target = startTarget()
  const [acme, other] = [await app.tenant('Acme'), await app.tenant('Other')]
  const relayOf = async (tenant: typeof acme) => {
    const api = app.client((await tenant.key('relay')).key)
    await api.post('/v1/relay/endpoints', { url: target.url })
    return api
  }
  const relay = { acme: await relayOf(acme), other: await relayOf(other) }
  const owner = await newOperator(app, { roles: { [acme.id]: 'owner', [other.id]: 'owner' } })
  const session = await owner.signIn()
  await session.actIn(acme.id)

  const page = async (path: string, { cookie }: OperatorSession = session) =>
    (await fetch(app.url + path, { headers: { cookie, accept: 'text/html' } })).text()

  const stream = (href: string, headers: Record<string, string> = {}) =>
    listen(app.url + href, { cookie: session.cookie, ...headers })

  /** As a page of the console goes on. */
  const watch = async (path: string): Promise<Listener> => stream(streamIn(await page(path)))

  /** Accepted, and as far on its way as it gets. */
  async function send(type: string, api = relay.acme) {
    const { body } = await api.post('/v1/relay/messages', { event_type: type, payload: {} })
    await app.clock.settled()
    return body.id as string
  }

  return {
    app,
    target,
    acme,
    other,
    relay,
    owner,
    session,
    page,
    stream,
    watch,
    send,
    turn: () => app.clock.advance(SECOND),
    [Symbol.asyncDispose]: async () => {
      await app[Symbol.asyncDispose]()
      await target.stop()
    },
  }
}

describe.each(['/console', '/console/deliveries'])('the stream of %s', (path) => {
  test('says at once that it is there, and then what is new, and nothing of before', async () => {
    await using here = await fixture()
    await here.send('order.old')
    const listener = await here.watch(path)
    await listener.until(() => listener.comments() > 0)
    expect([listener.status, listener.headers.get('content-type')]).toEqual([
      200,
      `${STREAM}; charset=utf-8`,
    ])
    expect(listener.headers.get('x-accel-buffering')).toBe('no')
    expect(listener.headers.get('cache-control')).toContain('no-cache')
    expect(listener.headers.get('cache-control')).toContain('no-transform')

    await here.turn()
    expect(listener.messages).toEqual([])
    await here.send('order.new')
    await here.turn()
    await listener.until(() => listener.text().includes('order.new'))
    expect(listener.text()).toMatch(/delivered/i)
    expect(listener.text()).toContain('beforebegin')
    listener.leave()
  })

  test('goes on where the one before has ended, whatever has happened since', async () => {
    await using here = await fixture()
    await here.send('order.first')
    const href = streamIn(await here.page(path))
    const before = await here.stream(href)
    await here.send('order.second')
    await here.turn()
    await before.until(() => before.messages.length > 0)
    before.leave()
    await here.send('order.third')
    await here.send('order.fourth')

    const again = await here.stream(href, { 'last-event-id': before.lastId() })
    await again.until(() => again.messages.length > 0)
    for (const type of ['order.third', 'order.fourth']) expect(again.text()).toContain(type)
    again.leave()
    const upToDate = await here.stream(href, { 'last-event-id': again.lastId() })
    await upToDate.until(() => upToDate.comments() > 0)
    await here.turn()
    expect(upToDate.messages).toEqual([])
    upToDate.leave()
  })

  test('shows what another process has done', async () => {
    await using here = await fixture()
    await here.send('order.first')
    const listener = await here.watch(path)
    here.app.db.client.run("UPDATE deliveries SET state = 'failed'")
    await here.turn()
    await listener.until(() => listener.text().includes('failed'))
    listener.leave()
  })

  test('has nothing of another tenant', async () => {
    await using here = await fixture()
    const listener = await here.watch(path)
    await here.send('order.theirs', here.relay.other)
    await here.send('order.ours')
    await here.turn()
    await listener.until(() => listener.text().includes('order.ours'))
    expect(listener.text()).not.toContain('order.theirs')
    listener.leave()
  })

  test('ends with the session, the membership, the role, or the place', async () => {
    await using here = await fixture()
    const { app, acme, other, owner } = here
    const ways: ((session: OperatorSession) => Promise<unknown>)[] = [
      (session) => session.end(),
      () => owner.endSessions(),
      () => owner.setRole(acme.id, 'viewer'),
      (session) => session.actIn(other.id),
      () => owner.leave(acme.id),
    ]
    for (const way of ways) {
      await owner.setRole(acme.id, 'owner')
      const session = await owner.signIn()
      await session.actIn(acme.id)
      const href = streamIn(await here.page(path, session))
      const listener = await listen(app.url + href, { cookie: session.cookie })
      await way(session)
      await here.turn()
      await listener.end()
      expect(listener.messages.at(-1)).toMatchObject({ event: 'over' })
      expect(listener.text()).toContain('This page is outdated')
    }
    expect(app.live.count()).toBe(0)
  })

  test('shows a page nothing of another tenant, or other data, when it comes again after a switch', async () => {
    await using here = await fixture()
    const href = streamIn(await here.page(path))
    await here.send('order.theirs', here.relay.other)
    const scope = { 'hx-request': 'true', 'gatehouse-scope': `${here.acme.id}.live` }
    const { cookie } = here.session
    const switches = [
      async () => ({ cookie: `${cookie}; gatehouse_environment=test` }),
      async () => {
        await here.session.actIn(here.other.id)
        return {}
      },
      // Of an admin who switched to the installation, or was removed from the tenant.
      async () => {
        await here.session.actIn(null)
        return {}
      },
    ]
    for (const switched of switches) {
      const listener = await here.stream(href, { ...scope, ...(await switched()) })
      await listener.end()
      const [notice, over, ...more] = listener.messages
      expect(notice?.data).toContain('This page is outdated')
      expect([over, more]).toMatchObject([{ event: 'over' }, []])
      expect(listener.text()).not.toContain('order.theirs')
    }
    expect(here.app.live.count()).toBe(0)
  })

  test('ends at once when the server goes down, and the page may come again', async () => {
    await using here = await fixture()
    const href = streamIn(await here.page(path))
    const listener = await here.stream(href)
    const stopping = here.app.stop()
    await listener.end()
    expect(listener.messages).toEqual([])
    expect((await here.stream(href)).status).toBe(503)
    await stopping
  })

  test('is for viewers too, and for nobody who is not signed in or acts elsewhere', async () => {
    await using here = await fixture()
    const { app, acme } = here
    const href = streamIn(await here.page(path))
    const viewer = await newOperator(app, { roles: { [acme.id]: 'viewer' } })
    const admin = await newOperator(app, { isAdmin: true })
    const as = async (cookie: string) => {
      const listener = await listen(app.url + href, { cookie, accept: `text/html, ${STREAM}` })
      listener.leave()
      return listener.status
    }
    expect(await as((await viewer.signIn()).cookie)).toBe(200)
    expect(await as((await admin.signIn()).cookie)).toBe(403)
    // Sent on to sign in, the page would take that for a stream that broke, and come again.
    expect(await as('')).toBe(401)
  })

  test('is a stream for whoever asks for one, and no page that never ends', async () => {
    await using here = await fixture()
    const href = streamIn(await here.page(path))
    const { headers } = here.session
    for (const method of ['GET', 'HEAD']) {
      const answer = await fetch(here.app.url + href, { method, headers })
      expect([answer.status, await answer.text()].slice(0, 1)).toEqual([400])
    }
  })

  test('says something every ten seconds, so that nobody takes it for dead', async () => {
    await using here = await fixture()
    const listener = await here.watch(path)
    await listener.until(() => listener.comments() === 1)
    await here.app.clock.advance(9 * SECOND)
    expect(listener.comments()).toBe(1)
    await here.app.clock.advance(2 * SECOND)
    await listener.until(() => listener.comments() === 2)
    listener.leave()
  })
})

describe('streams', () => {
  test('end when the database is lost', async () => {
    await using w = await fixture()
    const listener = await w.watch('/console')
    const dataDir = dirname(w.app.db.file)

    renameSync(dataDir, `${dataDir}.away`)
    await w.app.clock.advance(CHECK_MS)

    await listener.end()
    renameSync(`${dataDir}.away`, dataDir)
  })

  test('are no more than eight of a session', async () => {
    await using here = await fixture()
    const href = streamIn(await here.page('/console'))
    const listeners = await Promise.all(Array.from({ length: 8 }, () => here.stream(href)))
    expect(listeners.map(({ status }) => status)).toEqual(Array.from({ length: 8 }, () => 200))
    expect((await here.stream(href)).status).toBe(429)
    listeners[0]?.leave()
    await until(() => here.app.live.count() === 7)
    expect((await here.stream(href)).status).toBe(200)
    for (const listener of listeners) listener.leave()
  })

  test('are no more than thirty-two of a person, however many sessions they have', async () => {
    await using here = await fixture()
    const href = streamIn(await here.page('/console'))
    const opened: Listener[] = []
    const statuses: number[] = []
    for (let session = 0; session < 5; session++) {
      const { cookie } = await here.owner.signIn()
      for (let n = 0; n < 8; n++) {
        const listener = await listen(here.app.url + href, { cookie })
        opened.push(listener)
        statuses.push(listener.status)
      }
    }
    expect(statuses).toEqual(Array.from({ length: 40 }, (_, n) => (n < 32 ? 200 : 429)))
    const viewer = await newOperator(here.app, { roles: { [here.acme.id]: 'viewer' } })
    const other = await listen(here.app.url + href, { cookie: (await viewer.signIn()).cookie })
    expect(other.status).toBe(200)
    for (const listener of [...opened, other]) listener.leave()
  })

  test('take no room for whoever asks for their head alone', async () => {
    await using here = await fixture()
    const href = streamIn(await here.page('/console'))
    const answer = await fetch(here.app.url + href, {
      method: 'HEAD',
      headers: { cookie: here.session.cookie, accept: STREAM },
    })
    expect([answer.status, here.app.live.count()]).toEqual([200, 0])
  })

  test('read nothing while nobody looks', async () => {
    await using here = await fixture()
    const listener = await here.watch('/console')
    expect(here.app.live.count()).toBe(1)
    listener.leave()
    await until(() => here.app.live.count() === 0)
    await here.send('order.unseen')
    await here.turn()
    expect(listener.messages).toEqual([])
  })

  test('carry no markup of a tenant', async () => {
    await using here = await fixture()
    const listener = await here.watch('/console')
    const hostile = '<script>alert(1)</script>\u202e\r\n\ndata: x'
    await here.acme.api.post('/v1/clockwork/jobs', {
      name: hostile,
      schedule: '* * * * *',
      url: here.target.url,
    })
    await here.app.clock.advance(60 * SECOND)
    await listener.until(() => listener.text().includes('alert(1)'))
    expect(listener.text()).not.toContain('<script>')
    expect(listener.messages.every(({ data }) => data === '' || data.startsWith('<hx-'))).toBe(true)
    listener.leave()
  })
})

async function until(holds: () => boolean) {
  while (!holds()) await Bun.sleep(5)
}
