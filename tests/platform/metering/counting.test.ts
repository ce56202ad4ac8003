import { expect, test } from 'bun:test'
import { renameSync } from 'node:fs'
import { dirname } from 'node:path'
import { until } from '../../support/binary.ts'
import {
  bootMetered,
  CREATING,
  EVENT,
  IDENTITIES,
  JOBS,
  MESSAGES,
  NEXT_MONTH,
  newPerson,
  useMetered,
} from './fixture.ts'

const shared = await useMetered({ free: 4 })
const { db, metering, newTenant } = shared

test('A request with a key counts by day, engine and environment', async () => {
  const { clockwork, gate, passepartout, relay, usage } = await newTenant('unlimited')
  for (let n = 0; n < 2; n++) await gate.get(IDENTITIES)
  await clockwork.get(JOBS)
  await passepartout.get('/v1/passepartout/login/status?nonce=unknown')
  await relay.get(MESSAGES)
  const { requests, days } = await usage()
  expect(requests).toBe(5)
  const day = '2026-03-31'
  expect(days.toSorted((a, b) => a.engine.localeCompare(b.engine))).toEqual([
    { day, engine: 'clockwork', environment: 'live', requests: 1 },
    { day, engine: 'gate', environment: 'live', requests: 2 },
    { day, engine: 'passepartout', environment: 'test', requests: 1 },
    { day, engine: 'relay', environment: 'live', requests: 1 },
  ])
})

test('A request with a key counts although it is wrong, but not if it is refused', async () => {
  const { clients, clockwork, relay, usage } = await newTenant('free')
  const counted = [
    await relay.post(MESSAGES, { payload: 1 }),
    await clockwork.get(`${JOBS}/unknown`),
    await clockwork.post(JOBS, 'x'.repeat(2_000_000)),
    await CREATING['a cron job']?.send(clients),
  ]
  expect(counted.map((answer) => answer?.status)).toEqual([400, 404, 413, 201])
  expect((await usage()).requests).toBe(4)
  const free = [
    await shared.client('svc_relay_live_sk_x').get(MESSAGES),
    await relay.get(JOBS),
    await CREATING['an event']?.send(clients),
    await shared.raw('/v1/gate/auth/login?flow=unknown'),
    await relay.get('/v1/relay/nothing-here'),
  ]
  expect(free.map((answer) => answer?.status)).toEqual([401, 403, 429, 401, 404])
  expect((await usage()).requests).toBe(4)
})

test('A request with a key counts for its month of UTC', async () => {
  await using own = await bootMetered({})
  const { id, read, usage } = await own.newTenant('unlimited')
  await read()
  await own.clock.advanceTo(NEXT_MONTH - 1)
  await read()
  await own.clock.advanceTo(NEXT_MONTH)
  await read()
  expect(await usage()).toMatchObject({ month: '2026-04', requests: 1 })
  expect(own.metering.months(id)).toEqual([
    { month: '2026-03', requests: 2, billed_requests: 0, cost_cents: 0 },
    { month: '2026-04', requests: 1, billed_requests: 0, cost_cents: 0 },
  ])
})

test('A request with a key counts for nothing on a free plan or past the cap, and stays so', async () => {
  await using own = await bootMetered({ free: 1, cents: 10, cap: 20 })
  const [free, capped] = [await own.newTenant('free'), await own.newTenant('metered')]
  await free.read(5)
  await free.change({ plan: 'metered' })
  expect(await free.usage()).toMatchObject({ requests: 5, billed_requests: 0 })
  await free.read()
  expect(await free.usage()).toMatchObject({ requests: 6, billed_requests: 1, cost_cents: 10 })
  await capped.read(5)
  await capped.change({ spendCapCents: 1000 })
  expect(await capped.usage()).toMatchObject({ requests: 5, billed_requests: 2, cost_cents: 20 })
})

test('A request with a key is answered although the usage cannot be read', async () => {
  await using own = await bootMetered({})
  const { relay } = await own.newTenant('free')
  own.db.client.run('ALTER TABLE usage_months RENAME TO broken')
  const answer = await relay.get(MESSAGES)
  expect(answer).toMatchObject({ status: 200, body: { data: [] } })
  own.db.client.run('ALTER TABLE broken RENAME TO usage_months')
})

test('The rest of an allowance goes to exactly as many requests, however many come at once', async () => {
  const { make, usage } = await newTenant('free')
  const statuses = await Promise.all(Array.from({ length: 40 }, () => make()))
  expect(statuses.filter((status) => status === 202)).toHaveLength(4)
  expect(statuses.filter((status) => status === 429)).toHaveLength(36)
  expect(await usage()).toMatchObject({ requests: 4, left_requests: 0 })
})

test('The rest of an allowance is not taken by a failed request, nor twice by one idempotency key', async () => {
  const [conflicting, full, repeating] = [
    await newTenant('free'),
    await newTenant('free'),
    await newTenant('free'),
  ]
  const person = newPerson()
  const create = async () => (await conflicting.gate.post(IDENTITIES, person)).status
  // The conflicts count as requests.
  expect([await create(), await create(), await create()]).toEqual([201, 409, 409])
  expect([await conflicting.make(), await conflicting.make()]).toEqual([202, 429])
  await full.read(3)
  db.client.run('PRAGMA query_only = ON')
  for (let n = 0; n < 3; n++) expect(await full.make()).toBe(503)
  db.client.run('PRAGMA query_only = OFF')
  expect([await full.make(), await full.make()]).toEqual([202, 429])
  await repeating.read(3)
  const event = { ...EVENT, idempotency_key: 'one' }
  const send = () => repeating.relay.post(MESSAGES, event)
  const answers = await Promise.all(Array.from({ length: 10 }, send))
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([202]))
  expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1)
})

test('A count is stored after half a second, or at once if it is a tenth of what was left', async () => {
  await using own = await bootMetered({ free: 25 })
  const [free, unlimited] = [await own.newTenant('free'), await own.newTenant('unlimited')]
  const stored = ({ id }: { id: string }) => own.metering.months(id)[0]?.requests ?? 0
  for (const expected of [0, 0, 3]) {
    await free.make()
    await own.db.drain()
    expect(stored(free)).toBe(expected)
  }
  await unlimited.make()
  await own.db.drain()
  expect(stored(unlimited)).toBe(0)
  await own.clock.advance(500)
  await own.db.drain()
  expect(stored(unlimited)).toBe(1)
})

test('A count is shown and stored once, although it is being stored, and on disk after a stop', async () => {
  await using own = await bootMetered({})
  const { id, read, usage } = await own.newTenant('unlimited')
  const stored = () => own.metering.months(id)[0]?.requests
  await read()
  const flushing = own.metering.flush()
  expect((await usage()).requests).toBe(1)
  await flushing
  expect(stored()).toBe(1)
  await read()
  const last = own.metering.flush()
  await own.metering.stop(0)
  expect(stored()).toBe(2)
  await last
})

test('A count that the disk does not take is stored later, and logged once', async () => {
  const { read, usage } = await newTenant('unlimited')
  const { length } = shared.log
  await read()
  db.client.run('PRAGMA query_only = ON')
  await metering.flush()
  await read()
  const refused = shared.log.slice(length).filter((line) => line.includes('could not be stored'))
  expect(refused).toHaveLength(1)
  db.client.run('PRAGMA query_only = OFF')
  expect((await usage()).requests).toBe(2)
})

test('A count is stored once although the database is lost meanwhile, or a notice undoes it', async () => {
  await using lost = await bootMetered({})
  const unlimited = await lost.newTenant('unlimited')
  const dataDir = dirname(lost.db.file)
  await unlimited.read()
  const moved = lost.db.commit(() => renameSync(dataDir, `${dataDir}.away`))
  await Promise.allSettled([moved, lost.metering.flush()])
  renameSync(`${dataDir}.away`, dataDir)
  expect((await unlimited.usage()).requests).toBe(1)
  await using undone = await bootMetered({ free: 2 })
  const free = await undone.newTenant('free')
  undone.db.client.run(`CREATE TRIGGER full BEFORE INSERT ON relay_event_types
      BEGIN SELECT raise(rollback, 'disk'); END`)
  await free.read()
  await free.usage()
  undone.db.client.run('DROP TRIGGER full')
  expect(await free.usage()).toMatchObject({ requests: 1, days: [{ requests: 1 }] })
})

test('Another process charges its own price, and what it has charged stays', async () => {
  await using cheap = await bootMetered({ cents: 10, cap: 100 })
  const { clients, read, usage } = await cheap.newTenant('metered')
  await read(3)
  expect(await usage()).toMatchObject({ cost_cents: 30, left_requests: 7 })
  const dear = cheap.neighbour({ cents: 35, cap: 100 })
  dear.answered(clients.relay)
  await dear.metering.flush()
  const [tenant] = cheap.db.client.query<{ id: string }, []>('SELECT id FROM tenants').all()
  const spent = { billed_requests: 4, cost_cents: 65, left_requests: 1 }
  expect(await dear.metering.usageOf(tenant?.id ?? '')).toMatchObject(spent)
  await read()
  expect(await usage()).toMatchObject({ billed_requests: 5, cost_cents: 75 })
})

const REFUSE =
  "CREATE TRIGGER refuse BEFORE INSERT ON usage_days BEGIN SELECT RAISE(ABORT, 'no'); END"

test.each([60_000, 0])('Another process that ends has %d ms to store counts', async (ms) => {
  await using own = await bootMetered({})
  const { clients, id } = await own.newTenant('unlimited')
  const { answered, metering } = own.neighbour({})
  answered(clients.relay)
  own.db.client.run(REFUSE)
  const lost = metering.stop(ms)
  if (ms > 0) {
    await until(() => own.log.some((line) => line.includes('usage could not be stored')))
    own.db.client.run('DROP TRIGGER refuse')
    await own.clock.advance(1000)
    expect(await lost).toBe(0)
    expect(own.metering.months(id)).toMatchObject([{ requests: 1 }])
  } else {
    expect(await lost).toBe(1)
    expect(own.log.at(-1)).toContain('"message":"usage was not stored","requests":1')
    own.db.client.run('DROP TRIGGER refuse')
  }
})
