import { expect, test } from 'bun:test'
import { renameSync } from 'node:fs'
import { dirname } from 'node:path'
import { Elysia } from 'elysia'
import { serve } from '../../../src/http/serve.ts'
import { createLog } from '../../../src/platform/log.ts'
import { until } from '../../support/binary.ts'
import {
  ACTOR,
  bootMetered,
  EVENT,
  IDENTITIES,
  JOBS,
  MESSAGES,
  type Metered,
  NEXT_MONTH,
  newPerson,
  type Tenant,
  useMetered,
} from './fixture.ts'

const shared = await useMetered({ free: 4 })
const { db, metering, newTenant } = shared

/** An event whose body has begun and ends when the test says so. */
async function slowly({ raw }: Pick<Metered, 'raw'>, { relay }: Pick<Tenant, 'relay'>) {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>()
  const writer = writable.getWriter()
  const text = new TextEncoder()
  const headers = { authorization: `Bearer ${relay.key}`, 'content-type': 'application/json' }
  const answer = raw(MESSAGES, { method: 'POST', headers, body: readable })
  await writer.write(text.encode('{"event_type":"order.paid",'))
  return async () => {
    await writer.write(text.encode('"payload":{}}'))
    await writer.close()
    return (await answer).status
  }
}

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
  const { clockwork, create, relay, usage } = await newTenant('free')
  const counted = [
    await relay.post(MESSAGES, { payload: 1 }),
    await clockwork.get(`${JOBS}/unknown`),
    await clockwork.post(JOBS, 'x'.repeat(2_000_000)),
    await create('job'),
  ]
  expect(counted.map(({ status }) => status)).toEqual([400, 404, 413, 201])
  expect((await usage()).requests).toBe(4)
  const free = [
    await shared.client('svc_relay_live_sk_x').get(MESSAGES),
    await relay.get(JOBS),
    await create('event'),
    await shared.raw('/v1/gate/auth/login?flow=unknown'),
    await relay.get('/v1/relay/nothing-here'),
  ]
  expect(free.map(({ status }) => status)).toEqual([401, 403, 429, 401, 404])
  expect((await usage()).requests).toBe(4)
})

test('A request with a key counts for the month of UTC in which it ends, and has what that holds', async () => {
  await using own = await bootMetered({ free: 1 })
  const [free, { id, read, usage, ...unlimited }] = [
    await own.newTenant('free'),
    await own.newTenant('unlimited'),
  ]
  await read()
  await free.read()
  await own.clock.advanceTo(NEXT_MONTH - 1)
  await read()
  const ends = [await slowly(own, free), await slowly(own, unlimited)]
  await own.clock.advance(5000)
  for (const end of ends) expect(await end()).toBe(202)
  expect(await free.make()).toBe(429)
  for (const one of [free.usage, usage])
    expect(await one()).toMatchObject({ month: '2026-04', requests: 1 })
  expect(own.metering.months(id)).toEqual([
    { month: '2026-03', requests: 2, billed_requests: 0, cost_cents: 0 },
    { month: '2026-04', requests: 1, billed_requests: 0, cost_cents: 0 },
  ])
})

test('A request with a key is answered although the usage cannot be read', async () => {
  const { relay } = await newTenant('free')
  db.client.run('ALTER TABLE usage_months RENAME TO broken')
  const answer = await relay.get(MESSAGES)
  db.client.run('ALTER TABLE broken RENAME TO usage_months')
  expect(answer).toMatchObject({ status: 200, body: { data: [] } })
})

test('The rest of an allowance goes to exactly as many requests, however many come at once', async () => {
  const { make, usage } = await newTenant('free')
  const statuses = await Promise.all(Array.from({ length: 10 }, () => make()))
  expect(statuses.toSorted()).toEqual([202, 202, 202, 202, 429, 429, 429, 429, 429, 429])
  expect(await usage()).toMatchObject({ requests: 4, left_requests: 0 })
})

test('The rest of an allowance is not taken by a failed request, nor twice by one idempotency key', async () => {
  const conflicting = await newTenant('free')
  const person = newPerson()
  const create = async () => (await conflicting.gate.post(IDENTITIES, person)).status
  // The conflicts count as requests.
  expect([await create(), await create(), await create()]).toEqual([201, 409, 409])
  expect([await conflicting.make(), await conflicting.make()]).toEqual([202, 429])
  const full = await newTenant('free')
  await full.read(3)
  db.client.run('PRAGMA query_only = ON')
  for (let n = 0; n < 3; n++) expect(await full.make()).toBe(503)
  db.client.run('PRAGMA query_only = OFF')
  expect([await full.make(), await full.make()]).toEqual([202, 429])
  const repeating = await newTenant('free')
  await repeating.read(3)
  const event = { ...EVENT, idempotency_key: 'one' }
  const send = () => repeating.relay.post(MESSAGES, event)
  const answers = await Promise.all(Array.from({ length: 3 }, send))
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
  await using own = await bootMetered({ free: 2 })
  const [unlimited, free] = [await own.newTenant('unlimited'), await own.newTenant('free')]
  const dataDir = dirname(own.db.file)
  await unlimited.read()
  const moved = own.db.commit(() => renameSync(dataDir, `${dataDir}.away`))
  await Promise.allSettled([moved, own.metering.flush()])
  renameSync(`${dataDir}.away`, dataDir)
  expect((await unlimited.usage()).requests).toBe(1)
  own.db.client.run(`CREATE TRIGGER full BEFORE INSERT ON relay_event_types
      BEGIN SELECT raise(rollback, 'disk'); END`)
  await free.read()
  await free.usage()
  own.db.client.run('DROP TRIGGER full')
  expect(await free.usage()).toMatchObject({ requests: 1, days: [{ requests: 1 }] })
})

test('A process that ends has the given time to store counts', async () => {
  const trigger = "BEFORE INSERT ON usage_days BEGIN SELECT RAISE(ABORT, 'no'); END"
  await using own = await bootMetered({})
  const { id, read } = await own.newTenant('unlimited')
  await read()
  own.db.client.run(`CREATE TRIGGER refuse ${trigger}`)
  expect(await own.metering.stop(0)).toBe(1)
  expect(own.log.at(-1)).toContain('"message":"usage was not stored","requests":1')
  const lost = own.metering.stop(60_000)
  await until(() => own.log.some((line) => line.includes('usage could not be stored')))
  own.db.client.run('DROP TRIGGER refuse')
  await own.clock.advance(1000)
  expect(await lost).toBe(0)
  expect(own.metering.months(id)).toMatchObject([{ requests: 1 }])
})

test('A slow request counts by the state, plan and key that its tenant has at its end', async () => {
  await using own = await bootMetered({ cents: 1, cap: 10 })
  const tenants = {
    suspended: await own.newTenant('unlimited'),
    spent: await own.newTenant('unlimited'),
    revoked: await own.newTenant('unlimited'),
    same: await own.newTenant('unlimited'),
    resumed: await own.newTenant('unlimited'),
    paying: await own.newTenant('free'),
  }
  const { suspended, spent, revoked, resumed, paying } = tenants
  const { keys } = own.platform
  await resumed.suspend('renewal')
  const ends = await Promise.all(Object.values(tenants).map((tenant) => slowly(own, tenant)))
  await own.clock.advance(1500)
  await suspended.suspend()
  await spent.change({ plan: 'free' })
  for (const { id } of keys.list(revoked.id)) await keys.revoke(ACTOR, id)
  await resumed.resume()
  await paying.change({ plan: 'metered' })
  const statuses = await Promise.all(ends.map((end) => end()))
  expect(statuses).toEqual([402, 429, 401, 202, 202, 202])
  expect(await paying.usage()).toMatchObject({ requests: 1, billed_requests: 1 })
})

test('An unforeseen error tells a client nothing of the inside', async () => {
  const fail = () => {
    throw new Error('a secret of the inside')
  }
  const lines: string[] = []
  const write = (line: string) => lines.push(line)
  const log = createLog({ level: 'error', format: 'json', now: Date.now, write })
  const broken = new Elysia().onError(fail).get('/', fail)
  const listener = serve(broken, { host: '127.0.0.1', port: 0 }, log)
  const answer = await fetch(listener.url)
  const text = await answer.text()
  await listener.stop()
  expect(answer.status).toBe(500)
  expect(answer.headers.get('content-type')).not.toContain('html')
  expect(text).not.toContain('inside')
  expect(lines.join()).toContain('a secret of the inside')
})
