import { expect, test } from 'bun:test'
import { bootTestApp, type TestApp } from '../../support/app.ts'
import { until } from '../../support/binary.ts'
import { startTarget } from '../../support/target.ts'

const MESSAGES = '/v1/relay/messages'
/** As many as one endpoint is sent at once: there is nothing to claim while none has ended. */
const UNDER_WAY = 16

/** Leaves room for a few pages more than there are. */
function fillDisk({ db }: TestApp, pagesLeft = 0) {
  const { page_count } = db.client.query('PRAGMA page_count').get() as { page_count: number }
  db.client.run(`PRAGMA max_page_count = ${page_count + pagesLeft}`)
}

const makeRoom = ({ db }: TestApp) => db.client.run('PRAGMA max_page_count = 1000000')

/** Accepts events of 20 KB, each under a key of its own, and sends them to one subscriber. */
async function bootSender() {
  const app = await bootTestApp()
  const { key } = await (await app.tenant()).key('relay', 'live')
  const api = app.client(key)
  const target = startTarget()
  await api.post('/v1/relay/endpoints', { url: target.url })
  const payload = { filling: 'x'.repeat(20_000) }
  const send = (n: number) =>
    api.post(MESSAGES, { event_type: 'a.b', payload: { n, ...payload }, idempotency_key: `${n}` })

  /** Numbers of the events, in the order in which they came. */
  const received = () => target.requests.map(({ body }) => JSON.parse(body).data.n as number)
  const inOrder = () => received().toSorted((a, b) => a - b)

  /** Sends events until one finds no room; the number of that one, and what it was answered. */
  async function sendUntilFull(from: number) {
    for (let n = from; ; n++) {
      const answer = await send(n)
      if (answer.status !== 202) return { n, answer }
    }
  }

  const listed = async () => (await api.get(`${MESSAGES}?limit=100`)).body.data
  const deliveries = async () => (await api.get('/v1/relay/deliveries?limit=100')).body.data
  async function end() {
    await target.stop()
    await app.stop()
  }

  return {
    app,
    target,
    send,
    sendUntilFull,
    received,
    inOrder,
    listed,
    deliveries,
    [Symbol.asyncDispose]: end,
  }
}

const upTo = (count: number) => Array.from({ length: count }, (_, n) => n)

test('a message that finds no room is refused with 503, and neither stored nor sent; the next one is taken once there is room', async () => {
  await using sender = await bootSender()
  const { app, send, sendUntilFull, inOrder, listed } = sender
  fillDisk(app, 60)

  const { n, answer } = await sendUntilFull(0)
  const again = await send(n)

  for (const refused of [answer, again]) {
    expect(refused.status).toBe(503)
    expect(refused.headers.get('retry-after')).toBe('1')
    expect(refused.body.error).toEqual({
      code: 'unavailable',
      message: 'storage: the disk is full',
      request_id: expect.any(String),
    })
  }
  expect(n).toBeGreaterThan(0)
  expect(await listed()).toHaveLength(n)

  makeRoom(app)
  expect((await send(n)).status).toBe(202)
  await app.clock.settled()
  expect(inOrder()).toEqual(upTo(n + 1))
  expect(await listed()).toHaveLength(n + 1)
})

test('what a subscriber has answered while there was no room is stored later, and not sent again', async () => {
  await using sender = await bootSender()
  const { app, target, send, sendUntilFull, received, inOrder, deliveries } = sender
  let answerAll = () => {}
  const asked = new Promise<void>((resolve) => {
    answerAll = resolve
  })
  target.answers(async () => {
    await asked
    return new Response('y'.repeat(16_000))
  })
  for (const n of upTo(UNDER_WAY)) expect((await send(n)).status).toBe(202)
  await until(() => received().length === UNDER_WAY)
  fillDisk(app)
  const { n: count } = await sendUntilFull(UNDER_WAY)

  answerAll()
  await until(() => app.log.some((line) => line.includes('due loop could not settle')))
  expect((await send(count)).status).toBe(503)

  makeRoom(app)
  expect((await send(count)).status).toBe(202)
  await app.clock.settled()
  expect(inOrder()).toEqual(upTo(count + 1))
  const all = await deliveries()
  expect(all).toHaveLength(count + 1)
  for (const delivery of all) expect(delivery).toMatchObject({ status: 'succeeded', attempts: 1 })
})
