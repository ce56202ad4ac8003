import { expect, test } from 'bun:test'
import { until } from '../../support/binary.ts'
import { breathe } from '../clockwork/support.ts'
import {
  bootRelay,
  copyDelivery,
  copyMessage,
  copyRows,
  isoAt,
  type Json,
  type Party,
  partyOf,
} from './fixture.ts'
import { count, DAY, DELIVERIES, HOUR, MESSAGES, MINUTE, START } from './support.ts'

// Each test has an application of its own: a sweep goes through all tenants.

const ONCE = { 'relay-retry-delays': '' }
const ALL = ['messages', 'deliveries', 'attempts']
const rows = ({ app }: Party, ...tables: string[]) => tables.map((table) => count(app, table))

async function sweepAfter({ app, clock }: Party, ms: number) {
  clock.jump(ms)
  await app.platform.retention.sweep()
}

/** The number of rows of some tables that each slice of a sweep deletes, when all are too old. */
async function slicesOf(relay: Party, tables: string[]) {
  const { app, clock } = relay
  const left = () => rows(relay, ...tables).reduce((sum, table) => sum + table, 0)
  const slices: number[] = []
  clock.jump(31 * DAY)
  let before = left()
  const sweep = app.platform.retention.sweep()
  while (before > 0) {
    await until(() => left() < before)
    slices.push(before - left())
    before = left()
    await clock.advance(20)
  }
  await clock.advance(MINUTE)
  await sweep
  expect(app.log.join()).not.toContain('retention failed')
  return slices
}

test.each([
  ['30 days', 30 * DAY, {}],
  ['as long as configured', 2 * DAY, { 'retention-deliveries': '2d' }],
])('A message is kept for %s, with its deliveries and attempts', async (_, kept, retention) => {
  await using relay = await bootRelay({ flags: { ...ONCE, ...retention } })
  relay.target.answers(500)
  for (let n = 0; n < 2; n++) await relay.createEndpoint()
  const message = await relay.deliver()
  const [delivery] = await relay.deliveriesOf(message)
  relay.clock.jump(DAY)
  const younger = await (await partyOf(relay.app)).deliver()

  relay.clock.jump(kept - DAY)
  await relay.clock.advance(MINUTE)
  await breathe(relay.app)
  expect(rows(relay, ...ALL)).toEqual([2, 2, 2])
  // Retention sweeps once a minute, or later if the last sweep is still at work.
  await until(async () => {
    await relay.clock.advance(MINUTE)
    return count(relay.app, 'messages') === 1
  })

  expect(rows(relay, ...ALL)).toEqual([1, 0, 0])
  expect(count(relay.app, `messages where id = '${younger.id}'`)).toBe(1)
  for (const path of [MESSAGES, DELIVERIES]) expect((await relay.read(path)).data).toEqual([])
  for (const path of [`${MESSAGES}/${message.id}`, `${DELIVERIES}/${delivery.id}`])
    expect(await relay.api.get(path)).toMatchObject({ status: 404 })
})

test('A message is deleted with held deliveries, which count as cancelled, unlike ended ones', async () => {
  await using relay = await bootRelay()
  const held = await relay.createEndpoint({ active: false })
  const ended = await relay.createEndpoint()
  await relay.deliver()
  await sweepAfter(relay, 31 * DAY)
  expect(rows(relay, 'messages', 'deliveries')).toEqual([0, 0])
  expect(await relay.statsOf(held)).toMatchObject([{ cancelled: 1 }])
  const counts = { succeeded: 1, cancelled: 0 }
  expect(await relay.statsOf(ended, `?since=${isoAt(START)}`)).toMatchObject([counts])
  await relay.change(held, { active: true })
  await relay.rest()
  expect(relay.target.requests).toHaveLength(1)
})

test('A slice of a sweep has 500 rows, also of a single message with many deliveries', async () => {
  await using relay = await bootRelay()
  await relay.createEndpoint({ active: false })
  await relay.deliver()
  const changed = { id: "id || '-' || i", endpoint_id: "endpoint_id || '-' || i" }
  copyRows(relay.app, 'deliveries', 799, changed, 'true')
  await relay.deliver()
  expect((await slicesOf(relay, ['messages', 'deliveries']))[0]).toBe(500)
  expect(rows(relay, 'messages', 'deliveries')).toEqual([0, 0])
})

test('A slice of a sweep has 500 rows, also of a single delivery with many attempts', async () => {
  await using relay = await bootRelay({ flags: ONCE })
  await relay.createEndpoint()
  await relay.deliver()
  copyRows(relay.app, 'attempts', 1199, {}, 'true')
  await relay.deliver()
  copyRows(relay.app, 'attempts', 99, {}, 'seq = (select max(seq) from attempts)')
  expect(await slicesOf(relay, ALL)).toEqual([500, 500, 304])
})

test('A slice of a sweep has 500 rows, or fewer with large payloads', async () => {
  await using relay = await bootRelay()
  const large = await relay.deliver({ payload: { filling: 'x'.repeat(200_000) } })
  copyMessage(relay.app, large, 29)
  // 49 pages each, and the last of a slice may go beyond it.
  expect(await slicesOf(relay, ['messages'])).toEqual([11, 11, 8])
  copyMessage(relay.app, await relay.deliver(), 599)
  expect(await slicesOf(relay, ['messages'])).toEqual([500, 100])
})

test.each([
  ['a year', {}, 365],
  ['as long as configured', { 'retention-counters': '10d' }, 10],
])('Statistics are kept for %s, and idempotency keys until they expire', async (_, flags, days) => {
  await using relay = await bootRelay({ flags })
  const endpoint = await relay.createEndpoint()
  await relay.deliver({ idempotency_key: 'k-1' })
  const hours = () => relay.statsOf(endpoint, `?since=${isoAt(START)}`)
  await sweepAfter(relay, DAY - 1)
  expect(rows(relay, 'relay_idempotency_keys')).toEqual([1])
  await sweepAfter(relay, 1)
  expect(rows(relay, 'relay_idempotency_keys')).toEqual([0])

  await sweepAfter(relay, (days - 1) * DAY - HOUR)
  expect(await hours()).toHaveLength(1)
  await sweepAfter(relay, 2 * HOUR)
  expect(await hours()).toEqual([])
  expect(rows(relay, 'endpoint_hours')).toEqual([0])
})

test('The deletion of an endpoint that a stop interrupted is finished, in slices', async () => {
  await using relay = await bootRelay()
  const { app, clock } = relay
  const endpoint = await relay.createEndpoint({ active: false })
  const staying = await relay.createEndpoint({ active: false })
  const message = await relay.deliver()
  copyDelivery(app, message, endpoint, 699)
  app.db.client.run('update endpoints set deleted_at = ? where id = ?', [START, endpoint.id])
  const state = () => [count(app, "deliveries where state = 'cancelled'"), count(app, 'endpoints')]
  let isOver = false

  const sweep = app.platform.retention.sweep().then(() => {
    isOver = true
  })
  await until(() => state()[0] !== 0)
  expect(state()).toEqual([500, 2])
  while (!isOver) {
    await clock.advance(20)
    await breathe(app)
  }
  await sweep

  expect(state()).toEqual([700, 1])
  expect(count(app, `endpoint_filters where endpoint_id = '${endpoint.id}'`)).toBe(0)
  const deliveries = await relay.deliveriesOf(message)
  const states = deliveries.map((one: Json) => [one.endpoint_id, one.status])
  expect(Object.fromEntries(states)).toEqual({ [endpoint.id]: 'cancelled', [staying.id]: 'held' })
})
