import { expect, test } from 'bun:test'
import {
  bootFlows,
  type FlowFixture,
  PASSWORD,
  UNHURRIED,
} from '../../engines/gate/sign-in/flows/fixture.ts'
import { bootRelay, MESSAGES, refusal } from '../../engines/relay/fixture.ts'
import type { Answer, TestApp } from '../../support/app.ts'
import { until } from '../../support/binary.ts'
import { numbers } from './support/api.ts'

/** Leaves room for a few pages more than there are. */
function fillDisk({ db }: TestApp, pagesLeft = 0) {
  const { page_count } = db.client.query('PRAGMA page_count').get() as { page_count: number }
  db.client.run(`PRAGMA max_page_count = ${page_count + pagesLeft}`)
}

const makeRoom = ({ db }: TestApp) => db.client.run('PRAGMA max_page_count = 1000000')

/** The content of every table. */
const contentOf = ({ db }: TestApp) =>
  db.client
    .query("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'")
    .values()
    .map(([name]) => [name, db.client.query(`SELECT * FROM ${name}`).values()])

/** The most requests to one endpoint at a time: nothing is claimed while none has ended. */
const UNDER_WAY = 16

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

type Prepare = (fixture: FlowFixture, email: string) => Promise<() => Promise<Answer>>

/** Each prepares one request of a user, which is sent when it is called. */
const REQUESTS: Record<string, Prepare> = {
  async 'a sign-up'({ start, send }, email) {
    const flow = await start('registration')
    return () => send(flow, { method: 'password', traits: { email }, password: PASSWORD })
  },
  async 'a sign-in by code'({ codeFor, createIdentity, start, send, sendWell }, email) {
    await createIdentity({ traits: { email } })
    const flow = await start('login')
    await sendWell(flow, { method: 'code', identifier: email })
    const code = codeFor(email)
    return () => send(flow, { method: 'code', code })
  },
  async 'a new password'({ settings, send, register }, email) {
    const { session_token } = await register(email)
    const flow = await settings(session_token)
    const fields = { method: 'password', password: `${PASSWORD} staple` }
    return () => send(flow, fields, { 'x-session-token': session_token })
  },
}

test('A full disk answers each request of a sign-in with 503, changes nothing, and all of them work again with room', async () => {
  await using fixture = await bootFlows({ flags: UNHURRIED })
  await fixture.security({ passwordless_enabled: true })
  const prepared = new Map<string, (() => Promise<Answer>)[]>()
  for (const [kind, prepare] of Object.entries(REQUESTS)) {
    const people = numbers(20).map((n) => `${kind.replaceAll(' ', '-')}-${n}@example.com`)
    prepared.set(kind, await Promise.all(people.map((email) => prepare(fixture, email))))
  }
  fillDisk(fixture.app)
  const refused: (() => Promise<Answer>)[] = []
  for (const [kind, sends] of prepared)
    for (const send of sends) {
      const before = contentOf(fixture.app)
      const answer = await send()
      // Some find room in existing pages.
      if (answer.status === 200) continue
      expect([kind, answer.status, answer.headers.get('retry-after')]).toEqual([kind, 503, '1'])
      expect(answer.body).toEqual({ error: 'storage: the disk is full' })
      expect((await send()).status).toBe(503)
      expect(contentOf(fixture.app)).toEqual(before)
      refused.push(send)
      break
    }
  expect(refused).toHaveLength(prepared.size)
  makeRoom(fixture.app)
  for (const send of refused) expect(await send()).toMatchObject({ status: 200 })
})
