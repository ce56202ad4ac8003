import { describe, expect, test } from 'bun:test'
import { until } from '../../support/binary.ts'
import { bootMetered, CREATING, type Metered } from './fixture.ts'

const stored = ({ db, acme }: Metered) =>
  db.client
    .query<{ requests: number }, [string]>('SELECT requests FROM usage_months WHERE tenant_id = ?')
    .get(acme.id)?.requests ?? 0

describe('what other processes know of a count', () => {
  test('is all of it, at once, where a process has taken a tenth of what was left', async () => {
    await using fixture = await bootMetered('free', { 'metering-free-requests': '25' })
    const create = async () => {
      await CREATING['an event']?.send(fixture.clients, 0)
      await fixture.db.drain()
    }

    await create()
    await create()
    expect(stored(fixture)).toBe(0)
    await create()
    expect(stored(fixture)).toBe(3)
  })

  test('is nothing before half a second, where enough is left or nothing has an end', async () => {
    for (const plan of ['free', 'unlimited'] as const) {
      await using fixture = await bootMetered(plan)
      await CREATING['an event']?.send(fixture.clients, 0)
      await fixture.db.drain()
      expect(stored(fixture)).toBe(0)

      await fixture.clock.advance(500)
      await fixture.db.drain()
      expect(stored(fixture)).toBe(1)
    }
  })
})

test('a price that changes is that of requests from then on', async () => {
  const prices = (cents: number) => ({
    'metering-free-requests': '0',
    'metering-overage-price-cents': `${cents}`,
    'metering-overage-per': '1',
    'metering-default-spend-cap-cents': '100',
  })
  await using cheap = await bootMetered('metered', prices(10))
  for (let n = 0; n < 3; n++) await cheap.clients.clockwork.get('/v1/clockwork/jobs')
  expect(await cheap.usage()).toMatchObject({ cost_cents: 30, left_requests: 7 })

  const dear = cheap.neighbour(prices(35))
  const answered = () => dear.metering.answered(dear.callerOf(cheap.clients.relay.key), 200)
  answered()
  await dear.metering.flush()
  expect(await dear.metering.usageOf(cheap.acme.id)).toMatchObject({
    billed_requests: 4,
    cost_cents: 65,
    left_requests: 1,
  })
  await cheap.clients.clockwork.get('/v1/clockwork/jobs')
  expect(await cheap.usage()).toMatchObject({ billed_requests: 5, cost_cents: 75 })
})

describe('a process that ends', () => {
  const REFUSE =
    "CREATE TRIGGER refuse BEFORE INSERT ON usage_days BEGIN SELECT RAISE(ABORT, 'no'); END"

  test('tries for a while to store what the disk does not take', async () => {
    await using fixture = await bootMetered('unlimited')
    const { metering, callerOf } = fixture.neighbour({})
    metering.answered(callerOf(fixture.clients.relay.key), 200)
    fixture.db.client.run(REFUSE)

    const lost = metering.stop(60_000)
    await until(() => fixture.log.some((line) => line.includes('usage could not be stored')))
    fixture.db.client.run('DROP TRIGGER refuse')
    await fixture.clock.advance(1000)
    expect(await lost).toBe(0)
    expect(stored(fixture)).toBe(1)
  })

  test('says how much it could not store', async () => {
    await using fixture = await bootMetered('unlimited')
    const { metering, callerOf } = fixture.neighbour({})
    metering.answered(callerOf(fixture.clients.relay.key), 200)
    fixture.db.client.run(REFUSE)

    expect(await metering.stop(0)).toBe(1)
    expect(fixture.log.at(-1)).toContain('"message":"usage was not stored","requests":1')
    fixture.db.client.run('DROP TRIGGER refuse')
  })
})
