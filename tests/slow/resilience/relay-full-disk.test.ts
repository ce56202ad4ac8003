import { expect, test } from 'bun:test'
import { bootRelay, MESSAGES, refusal } from '../../engines/relay/fixture.ts'
import type { TestApp } from '../../support/app.ts'
import { until } from '../../support/binary.ts'

/** As many as one endpoint is sent at once: there is nothing to claim while none has ended. */
const UNDER_WAY = 16

/** Leaves room for a few pages more than there are. */
function fillDisk({ db }: TestApp, pagesLeft = 0) {
  const { page_count } = db.client.query('PRAGMA page_count').get() as { page_count: number }
  db.client.run(`PRAGMA max_page_count = ${page_count + pagesLeft}`)
}

const makeRoom = ({ db }: TestApp) => db.client.run('PRAGMA max_page_count = 1000000')

/** Accepts numbered events of 20 KB, each with its own key, and sends them to one subscriber. */
async function bootSender() {
  const relay = await bootRelay()
  await relay.createEndpoint()
  const payload = { filling: 'x'.repeat(20_000) }
  const event = { event_type: 'a.b' }
  const send = (n: number) =>
    relay.api.post(MESSAGES, { ...event, payload: { n, ...payload }, idempotency_key: `${n}` })
  const received = () => relay.target.requests.map(({ body }) => JSON.parse(body).data.n as number)

  /** Sends events until one finds no room; its number and answer. */
  async function sendUntilFull(from: number) {
    for (let n = from; ; n++) {
      const answer = await send(n)
      if (answer.status !== 202) return { n, answer }
    }
  }

  return { ...relay, send, sendUntilFull, received }
}

const upTo = (count: number) => Array.from({ length: count }, (_, n) => n)

test('a message that finds no room is refused with 503, neither stored nor sent, and accepted later', async () => {
  await using sender = await bootSender()
  const { app, all, send, sendUntilFull, received, rest } = sender
  fillDisk(app, 60)

  const { n, answer } = await sendUntilFull(0)

  expect(n).toBeGreaterThan(0)
  for (const refused of [answer, await send(n)]) {
    expect(refused.headers.get('retry-after')).toBe('1')
    expect(refused).toMatchObject(refusal(503, 'unavailable'))
  }
  expect(await all(MESSAGES)).toHaveLength(n)

  makeRoom(app)
  expect((await send(n)).status).toBe(202)
  await rest()
  expect(received().toSorted((a, b) => a - b)).toEqual(upTo(n + 1))
  expect(await all(MESSAGES)).toHaveLength(n + 1)
})

test('an answer that finds no room is stored later, and the message is not sent again', async () => {
  await using sender = await bootSender()
  const { app, target, listDeliveries, send, sendUntilFull, received, rest } = sender
  const { promise: asked, resolve: answerAll } = Promise.withResolvers<void>()
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
  await rest()
  expect(received().toSorted((a, b) => a - b)).toEqual(upTo(count + 1))
  const deliveries = await listDeliveries()
  expect(deliveries).toHaveLength(count + 1)
  for (const one of deliveries) expect(one).toMatchObject({ status: 'succeeded', attempts: 1 })
})
