import { expect, test } from 'bun:test'
import { until } from '../../support/binary.ts'
import { temporaryFolder } from '../../support/folder.ts'
import { startLitestream } from '../../support/litestream.ts'
import { startTarget } from '../../support/target.ts'
import { ENDPOINTS, eventId, JOBS, MESSAGES, message, numbers } from './support/api.ts'
import { openInstallation } from './support/installation.ts'

/** A server whose writes Litestream confirms, and a tenant with an endpoint. */
async function setUp(stack: AsyncDisposableStack, more: Record<string, string> = {}) {
  const folder = stack.use(temporaryFolder())
  const litestream = stack.use(startLitestream(folder.path))
  const installation = openInstallation(stack, {
    settings: {
      GATEHOUSE_DATABASE_EXTERNAL_CHECKPOINT: 'true',
      GATEHOUSE_REPLICATION_ACKNOWLEDGE: 'replicated',
      GATEHOUSE_REPLICATION_SOCKET: litestream.socket,
      GATEHOUSE_REPLICATION_TIMEOUT: '1s',
      ...more,
    },
  })
  const target = stack.use(startTarget())
  const tenant = installation.newTenant()
  const relay = installation.newClient(tenant, 'relay')
  const clockwork = installation.newClient(tenant, 'clockwork')
  const server = await installation.serve()
  await relay.make(server, 'POST', ENDPOINTS, { url: target.url })
  const send = (n: number) => relay.ask(server, 'POST', MESSAGES, message(n))
  return { ...installation, litestream, target, relay, clockwork, server, send }
}

test('A write is acknowledged, and its delivery sent, once the replica has it', async () => {
  await using stack = new AsyncDisposableStack()
  const { litestream, target, database, send, problems, server } = await setUp(stack)
  expect(litestream.calls.at(-1)).toEqual({
    method: 'POST',
    path: '/sync',
    body: { path: database, wait: true, timeout: 1 },
  })
  const calls = litestream.calls.length
  const uploads: PromiseWithResolvers<Response>[] = []
  litestream.answer = () => {
    const upload = Promise.withResolvers<Response>()
    uploads.push(upload)
    return upload.promise
  }
  let answered = 0
  const sent = Promise.all(
    numbers(20).map(async (n) => {
      const answer = await send(n)
      answered++
      return answer
    }),
  )
  await until(() => litestream.calls.length > calls)
  await Bun.sleep(300)
  expect([answered, target.requests.length]).toEqual([0, 0])
  litestream.answer = () => Response.json({ status: 'synced' })
  for (const upload of uploads) upload.resolve(Response.json({ status: 'no_change' }))
  const ids = (await sent).map(({ status, body }) => status === 202 && body.id)
  await until(() => target.requests.length >= 20, server.out)
  expect(new Set(target.requests.map(eventId))).toEqual(new Set(ids))
  expect(await problems()).toEqual([])
})

test('While the replica cannot be reached, writes answer 503 and nothing is called; then all goes on', async () => {
  await using stack = new AsyncDisposableStack()
  const { litestream, target, relay, clockwork, server, send, run } = await setUp(stack)
  const job = { name: 'job', url: target.url, run_at: new Date(Date.now() + 2500).toISOString() }
  expect((await clockwork.ask(server, 'POST', JOBS, job)).status).toBe(201)
  litestream.answer = () => new Response('bucket unreachable', { status: 500 })
  const unconfirmed = await send(1)
  expect(unconfirmed.status).toBe(503)
  expect(unconfirmed.body.error.message).toContain('may be lost or stored')
  const refused = await send(2)
  expect([refused.status, refused.body.error.message]).toEqual([
    503,
    'storage: the replica cannot be reached, so nothing is written',
  ])
  expect((await relay.ask(server, 'GET', ENDPOINTS)).status).toBe(200)
  expect((await fetch(`${server.url}/readyz`)).status).toBe(200)
  expect((await run('doctor', '--server-port', new URL(server.url).port)).out).toContain(
    'Litestream cannot upload: HTTP 500, bucket unreachable',
  )
  await Bun.sleep(2500)
  expect(target.requests).toEqual([])
  expect(server.out()).toContain('the replica cannot be reached')

  litestream.answer = () => Response.json({ status: 'synced' })
  await until(() => server.out().includes('the replica confirms writes again'), server.out)
  const third = await send(3)
  expect(third.status).toBe(202)
  // The first one was stored all the same, the second one was not.
  await until(() => target.requests.length >= 3, server.out)
  const bodies = await Promise.all(target.requests.map(({ body }) => body))
  expect(bodies.filter((body) => body.includes('"n":2'))).toEqual([])
  expect(await server.terminate()).toBe(0)
}, 60_000)

test('A server starts without the replica, and with acknowledge goes on with its own disk', async () => {
  await using stack = new AsyncDisposableStack()
  const settings = { GATEHOUSE_REPLICATION_ON_TIMEOUT: 'acknowledge' }
  const { litestream, server, relay, serve } = await setUp(stack, settings)
  litestream.answer = () => new Response('no database', { status: 404 })
  await server.kill()
  const again = await serve()
  expect((await relay.ask(again, 'POST', MESSAGES, message(1))).status).toBe(202)
  await until(() => again.out().includes('acknowledged from this disk alone'), again.out)
  expect(again.out()).toContain('Litestream has no database')
}, 60_000)
