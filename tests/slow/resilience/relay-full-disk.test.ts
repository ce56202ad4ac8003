import { expect, test } from 'bun:test'
import { bootRelay, MESSAGES, refusal } from '../../engines/relay/fixture.ts'
import type { TestApp } from '../../support/app.ts'
import { until } from '../../support/binary.ts'
import { numbers } from './support/api.ts'

/** The most requests to one endpoint at a time: nothing is claimed while none has ended. */
const UNDER_WAY = 16

/** Leaves room for a few pages more than there are. */
function fillDisk({ db }: TestApp, pagesLeft = 0) {
  const { page_count } = db.client.query('PRAGMA page_count').get() as { page_count: number }
  db.client.run(`PRAGMA max_page_count = ${page_count + pagesLeft}`)
}

const makeRoom = ({ db }: TestApp) => db.client.run('PRAGMA max_page_count = 1000000')

test('A message or an outcome that finds no room is stored later, and no message is sent twice', async () => {
  await using relay = await bootRelay()
  const { app, all, api, listDeliveries, rest, target } = relay
  await relay.createEndpoint()
  const filling = 'x'.repeat(20_000)
  const send = (n: number) =>
    api.post(MESSAGES, { event_type: 'a.b', payload: { n, filling }, idempotency_key: `${n}` })
  const received = () =>
    target.requests.map(({ body }) => JSON.parse(body).data.n).toSorted((a, b) => a - b)
  /** Sends messages until one finds no room: its number. */
  async function sendUntilFull(from: number): Promise<number> {
    for (let n = from; ; n++) if ((await send(n)).status !== 202) return n
  }

  fillDisk(app, 60)
  const full = await sendUntilFull(0)
  expect(full).toBeGreaterThan(0)
  const refused = await send(full)
  expect(refused).toMatchObject(refusal(503, 'unavailable'))
  expect(refused.headers.get('retry-after')).toBe('1')
  expect(await all(MESSAGES)).toHaveLength(full)
  makeRoom(app)
  expect((await send(full)).status).toBe(202)
  await rest()
  expect(received()).toEqual(numbers(full + 1))

  const { promise: asked, resolve: answerAll } = Promise.withResolvers<void>()
  target.answers(async () => {
    await asked
    return new Response('y'.repeat(16_000))
  })
  const begun = full + 1 + UNDER_WAY
  for (let n = full + 1; n < begun; n++) expect((await send(n)).status).toBe(202)
  await until(() => received().length === begun)
  fillDisk(app)
  const count = await sendUntilFull(begun)
  answerAll()
  await until(() => app.log.some((line) => line.includes('due loop could not settle')))
  expect((await send(count)).status).toBe(503)

  makeRoom(app)
  expect((await send(count)).status).toBe(202)
  await rest()
  expect(received()).toEqual(numbers(count + 1))
  const deliveries = await listDeliveries()
  expect(deliveries).toHaveLength(count + 1)
  for (const one of deliveries) expect(one).toMatchObject({ status: 'succeeded', attempts: 1 })
})
