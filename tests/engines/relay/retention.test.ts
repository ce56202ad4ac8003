import { expect, test } from 'bun:test'
import { until } from '../../support/binary.ts'
import { breathe } from '../clockwork/support.ts'
import {
  answerWith,
  bootFixture,
  copyMessage,
  count,
  DAY,
  DELIVERIES,
  type Fixture,
  HOUR,
  isoAt,
  type Json,
  MESSAGES,
  MINUTE,
  manage,
  START,
  WITHOUT_RETRIES,
} from './management.ts'

/** How many rows there are of each. */
const rows = ({ app }: Fixture, ...tables: string[]) => tables.map((table) => count(app, table))

const CANCELLED = `deliveries where state = 'cancelled'`

/** A sweep rests between two slices until the clock is turned. */
async function endOf({ app, clock }: Fixture, sweep: Promise<void>) {
  let isOver = false
  void sweep.then(() => {
    isOver = true
  })
  while (!isOver) {
    await clock.advance(20)
    await breathe(app)
  }
}

async function sweepAfter({ app, clock }: Fixture, ms: number) {
  clock.jump(ms)
  await app.platform.retention.sweep()
}

test('a message goes after 30 days, with its deliveries and attempts', async () => {
  await using fixture = await bootFixture(WITHOUT_RETRIES)
  const { api, createEndpoint, publish, deliveriesOf, target } = fixture
  await createEndpoint()
  await createEndpoint()
  target.answers(answerWith(500))
  const message = await publish()
  const [delivery] = await deliveriesOf(message)

  await sweepAfter(fixture, 30 * DAY)
  expect(rows(fixture, 'messages', 'deliveries', 'attempts')).toEqual([1, 2, 2])

  await sweepAfter(fixture, MINUTE)
  expect(rows(fixture, 'messages', 'deliveries', 'attempts')).toEqual([0, 0, 0])
  expect((await api.get(MESSAGES)).body.data).toEqual([])
  expect((await api.get(DELIVERIES)).body.data).toEqual([])
  expect(await api.get(`${MESSAGES}/${message.id}`)).toMatchObject({ status: 404 })
  expect(await api.get(`${DELIVERIES}/${delivery.id}`)).toMatchObject({ status: 404 })
})

test('a younger message stays', async () => {
  await using fixture = await bootFixture()
  const { createEndpoint, publish, readMessage, clock } = fixture
  await createEndpoint()
  await publish()
  clock.jump(DAY)
  const younger = await publish()

  await sweepAfter(fixture, 29 * DAY + MINUTE)

  expect(rows(fixture, 'messages', 'deliveries', 'attempts')).toEqual([1, 1, 1])
  expect(await readMessage(younger)).toMatchObject({ endpoints: [{ verdict: 'succeeded' }] })
})

test('how long is a setting', async () => {
  await using fixture = await bootFixture({ flags: { 'retention-deliveries': '2d' } })
  const { createEndpoint, publish } = fixture
  await createEndpoint()
  await publish()

  await sweepAfter(fixture, 2 * DAY)
  expect(rows(fixture, 'messages', 'deliveries', 'attempts')).toEqual([1, 1, 1])
  await sweepAfter(fixture, MINUTE)
  expect(rows(fixture, 'messages', 'deliveries', 'attempts')).toEqual([0, 0, 0])
})

test('the sweep comes by itself, once a minute', async () => {
  await using fixture = await bootFixture()
  const { app, publish, clock } = fixture
  await publish()
  clock.jump(31 * DAY)

  await clock.advance(MINUTE - 1)
  await breathe(app)
  expect(rows(fixture, 'messages')).toEqual([1])
  await clock.advance(1)

  await until(() => count(app, 'messages') === 0)
})

test('what is held goes too, and counts as cancelled', async () => {
  await using fixture = await bootFixture()
  const { createEndpoint, change, publish, settle, statsOf, target } = fixture
  const endpoint = await createEndpoint({ active: false })
  await publish()

  await sweepAfter(fixture, 31 * DAY)
  expect(rows(fixture, 'messages', 'deliveries')).toEqual([0, 0])
  expect(await statsOf(endpoint)).toMatchObject([{ cancelled: 1 }])

  await change(endpoint, { active: true })
  await settle()
  expect(target.requests).toHaveLength(0)
})

test('what has ended is not counted as cancelled when it goes', async () => {
  await using fixture = await bootFixture()
  const { createEndpoint, publish, statsOf } = fixture
  const endpoint = await createEndpoint()
  await publish()

  await sweepAfter(fixture, 31 * DAY)

  expect(rows(fixture, 'deliveries')).toEqual([0])
  const since = `?since=${isoAt(START)}`
  expect(await statsOf(endpoint, since)).toMatchObject([{ succeeded: 1, cancelled: 0 }])
})

test('messages go in slices of 500 rows, with room for others between them', async () => {
  await using fixture = await bootFixture()
  const { app, clock, publish } = fixture
  copyMessage(app, await publish(), 1199)
  clock.jump(31 * DAY)

  const sweep = app.platform.retention.sweep()
  await until(() => count(app, 'messages') < 1200)
  expect(count(app, 'messages')).toBe(700)
  await endOf(fixture, sweep)

  expect(count(app, 'messages')).toBe(0)
})

test('the deliveries of a message count towards the slice, also those of one alone', async () => {
  await using fixture = await bootFixture()
  const { app, clock, createEndpoint, publish } = fixture
  await createEndpoint({ active: false })
  const message = await publish()
  copyDelivery(fixture, 799)
  await publish()
  clock.jump(31 * DAY)

  const sweep = app.platform.retention.sweep()
  await until(() => count(app, 'deliveries') < 801)
  expect(rows(fixture, 'messages', 'deliveries')).toEqual([2, 301])
  await endOf(fixture, sweep)

  expect(rows(fixture, 'messages', 'deliveries')).toEqual([0, 0])
  expect(await fixture.api.get(`${MESSAGES}/${message.id}`)).toMatchObject({ status: 404 })
})

test('large payloads count for all the pages that they take up', async () => {
  await using fixture = await bootFixture()
  const { app, publish } = fixture
  copyMessage(app, await publish({ payload: { filling: 'x'.repeat(200_000) } }), 299)

  const slices = await slicesOf(fixture, ['messages'])

  expect(rows(fixture, 'messages')).toEqual([0])
  expect(slices.reduce((sum, slice) => sum + slice)).toBe(300)
  // 49 pages each, and the last of a slice may go beyond it.
  expect(Math.max(...slices)).toBe(11)
})

test('attempts count towards the slice, also those of one delivery alone', async () => {
  await using fixture = await bootFixture(WITHOUT_RETRIES)
  const { app, createEndpoint, publish } = fixture
  await createEndpoint()
  copyAttempt(fixture, await publish(), 1199)
  copyAttempt(fixture, await publish(), 99)

  const slices = await slicesOf(fixture, ['messages', 'deliveries', 'attempts'])

  expect(slices).toEqual([500, 500, 304])
  expect(rows(fixture, 'messages', 'deliveries', 'attempts')).toEqual([0, 0, 0])
  expect(app.log.join()).not.toContain('retention failed')
})

/** How many rows of some tables each slice of a sweep takes that comes when all are too old. */
async function slicesOf(fixture: Fixture, tables: string[]) {
  const { app, clock } = fixture
  const left = () => rows(fixture, ...tables).reduce((sum, table) => sum + table, 0)
  const slices: number[] = []
  clock.jump(31 * DAY)
  let before = left()
  void app.platform.retention.sweep()
  while (before > 0) {
    await until(() => left() < before)
    slices.push(before - left())
    before = left()
    await clock.advance(20)
  }
  return slices
}

/** Writes down further attempts at the delivery of a message. */
function copyAttempt({ app }: Fixture, message: Json, copies: number) {
  const columns = (app.db.client.query('pragma table_info(attempts)').all() as Json[])
    .map(({ name }) => name)
    .filter((name) => name !== 'seq')
    .map((name) => `a.${name}`)
    .join(', ')
  app.db.client.run(
    `with recursive n(i) as (select 1 union all select i + 1 from n where i < ?)
     insert into attempts (${columns.replaceAll('a.', '')})
     select ${columns} from n, attempts a join deliveries d on d.seq = a.delivery_seq
     join messages m on m.seq = d.message_seq where m.id = ?`,
    [copies, message.id],
  )
}

/** Writes down further deliveries of the only message, as if there were more endpoints. */
function copyDelivery({ app }: Fixture, copies: number) {
  const columns = (app.db.client.query('pragma table_info(deliveries)').all() as Json[])
    .map(({ name }) => name)
    .filter((name) => !['seq', 'id', 'endpoint_id'].includes(name))
    .join(', ')
  app.db.client.run(
    `with recursive n(i) as (select 1 union all select i + 1 from n where i < ?)
     insert into deliveries (id, endpoint_id, ${columns})
     select id || '-' || i, endpoint_id || '-' || i, ${columns} from n, deliveries`,
    [copies],
  )
}

test('counters are kept for a year, and a setting says for how long', async () => {
  for (const [flags, days] of [
    [{}, 365],
    [{ 'retention-counters': '10d' }, 10],
  ] as [Record<string, string>, number][]) {
    await using fixture = await bootFixture({ flags })
    const { createEndpoint, publish, statsOf } = fixture
    const endpoint = await createEndpoint()
    await publish()
    const since = `?since=${isoAt(START)}`

    await sweepAfter(fixture, days * DAY - HOUR)
    expect(await statsOf(endpoint, since)).toHaveLength(1)
    await sweepAfter(fixture, 2 * HOUR)
    expect(await statsOf(endpoint, since)).toHaveLength(0)
    expect(rows(fixture, 'endpoint_hours')).toEqual([0])
  }
})

test('an idempotency key goes once its day is over', async () => {
  await using fixture = await bootFixture()
  const { accept } = fixture
  const first = await accept({ idempotency_key: 'k-1' })

  await sweepAfter(fixture, DAY - 1)
  expect(rows(fixture, 'relay_idempotency_keys')).toEqual([1])
  expect(await accept({ idempotency_key: 'k-1' })).toEqual(first)

  await sweepAfter(fixture, 1)
  expect(rows(fixture, 'relay_idempotency_keys')).toEqual([0])
  expect((await accept({ idempotency_key: 'k-1' })).id).not.toBe(first.id)
})

test('an event type goes a year after it was last seen, and learns anew', async () => {
  await using fixture = await bootFixture()
  const { api, publish, clock } = fixture
  await publish({ event_type: 'rare', payload: { a: 1 } })
  await publish({ event_type: 'often', payload: { a: 1 } })
  clock.jump(200 * DAY)
  await publish({ event_type: 'often', payload: { a: 1 } })
  const names = async () =>
    (await api.get('/v1/relay/event-types')).body.data.map(({ name }: Json) => name)

  await sweepAfter(fixture, 165 * DAY)
  expect(await names()).toEqual(['often', 'rare'])
  await sweepAfter(fixture, MINUTE)
  expect(await names()).toEqual(['often'])

  await publish({ event_type: 'rare', payload: { b: 'x' } })
  expect((await api.get('/v1/relay/event-types/rare')).body).toMatchObject({
    count: 1,
    sample: { b: 'x' },
    drift: [],
  })
})

test('an endpoint that was being deleted when the server ended is cleared away', async () => {
  await using fixture = await bootFixture()
  const { app, createEndpoint, publish, deliveriesOf } = fixture
  const endpoint = await createEndpoint({ active: false })
  const staying = await createEndpoint({ active: false })
  const message = await publish()
  app.db.client.run('update endpoints set deleted_at = ? where id = ?', [START, endpoint.id])

  await app.platform.retention.sweep()

  const states = (await deliveriesOf(message)).map(({ endpoint_id, status }) => [
    endpoint_id,
    status,
  ])
  expect(Object.fromEntries(states)).toEqual({ [endpoint.id]: 'cancelled', [staying.id]: 'held' })
  expect(count(app, `endpoints where id = '${endpoint.id}'`)).toBe(0)
  expect(count(app, `endpoint_filters where endpoint_id = '${endpoint.id}'`)).toBe(0)
})

test('such an endpoint with very many deliveries is cleared away in slices', async () => {
  await using fixture = await bootFixture()
  const { app, createEndpoint, publish } = fixture
  const endpoint = await createEndpoint({ active: false })
  const message = await publish()
  copyHeld(fixture, message, 699)
  app.db.client.run('update endpoints set deleted_at = ? where id = ?', [START, endpoint.id])

  const sweep = app.platform.retention.sweep()
  await until(() => count(app, CANCELLED) > 0)
  expect(count(app, CANCELLED)).toBe(500)
  expect(count(app, 'endpoints')).toBe(1)
  await endOf(fixture, sweep)

  expect(count(app, CANCELLED)).toBe(700)
  expect(count(app, 'endpoints')).toBe(0)
})

/** Writes down the held delivery of one message again for as many copies of that message. */
function copyHeld({ app }: Fixture, message: Json, copies: number) {
  copyMessage(app, message, copies)
  const columns = (app.db.client.query('pragma table_info(deliveries)').all() as Json[])
    .map(({ name }) => name)
    .filter((name) => !['seq', 'id', 'message_seq'].includes(name))
    .join(', ')
  app.db.client.run(
    `insert into deliveries (id, message_seq, ${columns})
     select d.id || '-' || m.seq, m.seq, ${columns
       .split(', ')
       .map((name) => `d.${name}`)
       .join(', ')}
     from messages m, deliveries d where m.seq <> d.message_seq`,
  )
}

test('nothing of one tenant goes before its time because of another', async () => {
  await using fixture = await bootFixture()
  const { app, clock, publish, target } = fixture
  await publish()
  clock.jump(10 * DAY)
  const other = manage(app, (await (await app.tenant('Other')).key('relay')).key, target.url)
  const message = await other.publish()

  await sweepAfter(fixture, 21 * DAY)

  expect(rows(fixture, 'messages')).toEqual([1])
  expect(await other.readMessage(message)).toMatchObject({ id: message.id })
})
