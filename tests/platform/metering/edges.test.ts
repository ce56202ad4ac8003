import { describe, expect, test } from 'bun:test'
import { dirname } from 'node:path'
import { Elysia } from 'elysia'
import { openDatabase } from '../../../src/db/open.ts'
import { serve } from '../../../src/http/serve.ts'
import { createAudit } from '../../../src/platform/audit/index.ts'
import type { Caller } from '../../../src/platform/keys.ts'
import { createLog } from '../../../src/platform/log.ts'
import { createMetering } from '../../../src/platform/metering/index.ts'
import { createMetrics } from '../../../src/platform/metrics/index.ts'
import { testConfig } from '../../support/config.ts'
import { ACTOR, bootMetered, CREATING, type Metered, NEXT_MONTH } from './world.ts'

const MESSAGES = '/v1/relay/messages'
const SPENT = { 'metering-free-requests': '0' }
const event = { event_type: 'order.paid', payload: {} }

const statusOf = async (name: string, world: Metered, n = 0) =>
  (await CREATING[name]?.send(world.clients, n))?.status

const noticesOf = ({ db }: Metered) =>
  db.client
    .query<{ detail: string }, []>(
      "SELECT detail FROM audit_log WHERE action = 'usage.threshold' ORDER BY seq",
    )
    .all()
    .map(({ detail }) => JSON.parse(detail).percent)

describe('that nothing is left is told behind', () => {
  const wrongBodies = {
    413: { body: 'x'.repeat(2_000_000), type: 'application/json' },
    415: { body: '{}', type: 'text/plain' },
    400: { body: '[]', type: 'application/json' },
  }
  const routes = [
    ['relay', MESSAGES],
    ['passepartout', '/v1/passepartout/login/start'],
    ['gate', '/v1/gate/identities'],
    ['clockwork', '/v1/clockwork/jobs'],
    ['clockwork', '/v1/clockwork/delayed'],
  ] as const

  test('what is wrong with a body, on every route that makes something new', async () => {
    await using world = await bootMetered('free', SPENT)
    for (const [engine, path] of routes) {
      for (const [status, { body, type }] of Object.entries(wrongBodies)) {
        const headers = {
          authorization: `Bearer ${world.clients[engine].key}`,
          'content-type': type,
        }
        const answer = await world.raw(path, { method: 'POST', headers, body })
        expect([path, answer.status]).toEqual([path, Number(status)])
      }
    }
  })

  for (const schedule of ['nonsense', '0 0 30 2 *'])
    test(`a schedule that is none: ${schedule}`, async () => {
      await using world = await bootMetered('free', SPENT)
      const job = { name: 'tick', url: 'http://127.0.0.1:9/', schedule }
      expect((await world.clients.clockwork.post('/v1/clockwork/jobs', job)).status).toBe(400)
    })

  test('a subject that may have no access token', async () => {
    await using world = await bootMetered('free', { 'metering-free-requests': '2' })
    const { gate } = world.clients
    const { body } = await gate.post('/v1/gate/identities', {
      schema_id: 'user',
      traits: { email: 'ada@example.com' },
      state: 'inactive',
    })
    await gate.get('/v1/gate/identities')
    const tokenFor = async (subject: string) =>
      (await gate.post('/v1/gate/tokens', { api_key: gate.key, subject })).status

    expect(await tokenFor(body.id)).toBe(403)
    expect(await tokenFor('someone')).toBe(429)
  })
})

test('a mail of verification that is asked for by key is refused like what makes something new', async () => {
  await using world = await bootMetered('free', { 'metering-free-requests': '1' })
  const person = await CREATING['an identity']?.send(world.clients, 0)
  const path = `/v1/gate/identities/${person?.body.id}/resend-verification`

  expect((await world.clients.gate.post(path)).status).toBe(429)
  await world.platform.tenants.suspend(ACTOR, world.acme.id, 'billing')
  expect((await world.clients.gate.post(path)).status).toBe(402)
})

test('a page that a tenant in arrears cannot have names no time to try again', async () => {
  await using world = await bootMetered('unlimited')
  const flow = await CREATING['a login flow']?.send(world.clients, 0)
  await world.platform.tenants.suspend(ACTOR, world.acme.id, 'billing')

  const refused = await world.raw(`/auth/self-service/registration?from=${flow?.body.id}`, {
    headers: { accept: 'text/html' },
  })

  expect(refused.status).toBe(402)
  expect(refused.headers.get('retry-after')).toBeNull()
})

/** An event whose body comes to an end when the test says so. */
function slowly(world: Metered) {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>()
  const writer = writable.getWriter()
  const text = new TextEncoder()
  const answer = world.raw(MESSAGES, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${world.clients.relay.key}`,
      'content-type': 'application/json',
    },
    body: readable,
  })
  const begun = writer.write(text.encode('{"event_type":"order.paid",'))
  const end = async () => {
    await writer.write(text.encode('"payload":{}}'))
    await writer.close()
    return answer
  }
  return { begun, end }
}

describe('a request that is under way when a month ends', () => {
  test('is never sent away with a time to come back that has passed', async () => {
    await using world = await bootMetered('free', { 'metering-free-requests': '1' })
    await world.clients.relay.get(MESSAGES)
    await world.clock.advanceTo(NEXT_MONTH - 1)
    const { begun, end } = slowly(world)
    await begun
    await world.clock.advance(5000)

    const { status, headers } = await end()

    if (status === 429) expect(headers.get('retry-after')).toMatch(/^[1-9]\d*$/)
    else expect(status).toBe(202)
  })

  test('counts for the month in which its work was let in', async () => {
    await using world = await bootMetered('unlimited')
    await world.clock.advanceTo(NEXT_MONTH - 1)
    const { begun, end } = slowly(world)
    await begun
    await world.clock.advance(5000)

    expect((await end()).status).toBe(202)

    expect(await world.usage()).toMatchObject({ month: '2026-04', requests: 1 })
  })
})

describe('what was counted', () => {
  test('is on disk once metering has stopped, also what was on its way there', async () => {
    await using world = await bootMetered('unlimited')
    const { metering } = world.platform
    await world.clients.relay.get(MESSAGES)

    const flushing = metering.flush()
    await metering.stop()
    const stored = metering.months(world.acme.id)

    await flushing
    expect(stored).toMatchObject([{ requests: 1 }])
  })

  test('is in the usage that is shown, also what is on its way to the disk', async () => {
    await using world = await bootMetered('unlimited')
    await world.clients.relay.get(MESSAGES)

    const flushing = world.platform.metering.flush()
    const { requests } = await world.usage()

    await flushing
    expect(requests).toBe(1)
  })

  test('for nothing stays so, however soon the plan becomes a metered one', async () => {
    await using world = await bootMetered('free', { 'metering-free-requests': '1' })
    for (let n = 0; n < 5; n++) await world.clients.relay.get(MESSAGES)

    await world.platform.tenants.change(ACTOR, world.acme.id, { plan: 'metered' })

    expect(await world.usage()).toMatchObject({ requests: 5, billed_requests: 0 })
  })

  test('for nothing past a spend cap stays so, however soon the cap is raised', async () => {
    await using world = await bootMetered('metered', {
      ...SPENT,
      'metering-overage-price-cents': '10',
      'metering-overage-per': '1',
      'metering-default-spend-cap-cents': '20',
    })
    for (let n = 0; n < 5; n++) await world.clients.relay.get(MESSAGES)

    await world.platform.tenants.change(ACTOR, world.acme.id, { spendCapCents: 1000 })

    expect(await world.usage()).toMatchObject({ requests: 5, billed_requests: 2, cost_cents: 20 })
  })

  test('is counted once, also where telling of it has undone the transaction', async () => {
    await using world = await bootMetered('free', { 'metering-free-requests': '2' })
    world.db.client.run(
      "CREATE TRIGGER full BEFORE INSERT ON relay_event_types BEGIN SELECT raise(rollback, 'disk'); END",
    )
    await world.clients.clockwork.get('/v1/clockwork/jobs')
    await world.usage()
    world.db.client.run('DROP TRIGGER full')

    expect(await world.usage()).toMatchObject({ requests: 1, days: [{ requests: 1 }] })
  })
})

describe('a place that is taken', () => {
  test('is free again where the disk did not take what it was for', async () => {
    await using world = await bootMetered('free', { 'metering-free-requests': '1' })
    world.db.client.run('PRAGMA query_only = ON')
    for (let n = 0; n < 3; n++) expect(await statusOf('an event', world)).toBe(503)
    world.db.client.run('PRAGMA query_only = OFF')

    expect(await statusOf('an event', world)).toBe(202)
    expect(await statusOf('an event', world)).toBe(429)
  })

  test('is not taken by equal idempotency keys at once, but for the first', async () => {
    await using world = await bootMetered('free', { 'metering-free-requests': '1' })
    const send = () => world.clients.relay.post(MESSAGES, { ...event, idempotency_key: 'one' })

    const answers = await Promise.all(Array.from({ length: 10 }, send))

    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([202]))
    expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1)
  })
})

describe('a tenant is told', () => {
  test('all or nothing: no event where half of what belongs to it is stored', async () => {
    await using world = await bootMetered('free', { 'metering-free-requests': '2' })
    world.db.client.run(
      "CREATE TRIGGER full BEFORE INSERT ON relay_event_types BEGIN SELECT raise(abort, 'no'); END",
    )
    await world.clients.clockwork.get('/v1/clockwork/jobs')
    await world.usage()

    expect((await world.clients.relay.get(MESSAGES)).body.data).toEqual([])
  })

  test('once, whichever process has counted what passed a share', async () => {
    await using world = await bootMetered('free', { 'metering-free-requests': '10' })
    const { clock } = world
    const { log, keys, metering } = world.platform
    const db = openDatabase({ dataDir: dirname(world.db.file), synchronous: 'full' })
    const parts = { db, clock, log, audit: createAudit({ db, clock }), metrics: createMetrics() }
    const config = testConfig({ 'metering-free-requests': '10' }).metering
    const neighbour = createMetering({ ...parts, config })
    const holder = keys.verify(world.clients.relay.key)
    if (!holder) throw new Error('the key is good')

    for (let n = 0; n < 10; n++) {
      for (const each of [metering, neighbour]) {
        const caller: Caller = { ...holder, charge: each.newCharge() }
        each.answered(caller, 200)
      }
      await Promise.all([metering.flush(), neighbour.flush()])
    }

    expect(noticesOf(world)).toEqual([50, 80, 100])
    expect((await world.usage()).requests).toBe(20)
    db.close()
  })
})

describe('an answer', () => {
  test('does not hang on whether it can be told how much is left', async () => {
    await using world = await bootMetered('free')
    world.db.client.run('ALTER TABLE usage_months RENAME TO broken')

    const answer = await world.clients.relay.get(MESSAGES).catch(String)

    expect(answer).toMatchObject({ status: 200, body: { data: [] } })
    world.db.client.run('ALTER TABLE broken RENAME TO usage_months')
  })

  test('that nobody has thought of tells strangers nothing of the inside', async () => {
    const broken = new Elysia()
      .onError(() => {
        throw new Error('a secret of the inside')
      })
      .get('/', () => {
        throw new Error('first')
      })
    const lines: string[] = []
    const write = (line: string) => lines.push(line)
    const log = createLog({ level: 'error', format: 'json', now: Date.now, write })
    const listener = serve(broken, { host: '127.0.0.1', port: 0 }, log)

    const answer = await fetch(listener.url)
    const text = await answer.text()

    await listener.stop()
    expect(answer.status).toBe(500)
    expect(answer.headers.get('content-type')).not.toContain('html')
    expect(text).not.toContain('a secret of the inside')
    expect(lines.join()).toContain('a secret of the inside')
  })
})
