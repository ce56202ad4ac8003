import { describe, expect, test } from 'bun:test'
import { renameSync } from 'node:fs'
import { dirname } from 'node:path'
import { bootMetered, CREATING, NEXT_MONTH } from './fixture.ts'

describe('of requests with a key', () => {
  test('each counts one, by the day, the engine and the environment', async () => {
    await using fixture = await bootMetered('unlimited')
    const { gate, clockwork, passepartout, relay } = fixture.clients
    await gate.get('/v1/gate/identities')
    await gate.get('/v1/gate/identities')
    await clockwork.get('/v1/clockwork/jobs')
    await passepartout.get('/v1/passepartout/login/status?nonce=unknown')
    await relay.get('/v1/relay/messages')

    const { requests, days } = await fixture.usage()

    expect(requests).toBe(5)
    const day = '2026-03-31'
    expect(days.toSorted((a, b) => a.engine.localeCompare(b.engine))).toEqual([
      { day, engine: 'clockwork', environment: 'live', requests: 1 },
      { day, engine: 'gate', environment: 'live', requests: 2 },
      { day, engine: 'passepartout', environment: 'test', requests: 1 },
      { day, engine: 'relay', environment: 'live', requests: 1 },
    ])
  })

  test('what is wrong in itself counts, what is not let in or turned away does not', async () => {
    await using fixture = await bootMetered('free', { 'metering-free-requests': '4' })
    const { clockwork, relay } = fixture.clients
    const counted = [
      await relay.post('/v1/relay/messages', { payload: 1 }),
      await clockwork.get('/v1/clockwork/jobs/unknown'),
      await clockwork.post('/v1/clockwork/jobs', 'x'.repeat(2_000_000)),
      await CREATING['a cron job']?.send(fixture.clients, 0),
    ]
    expect(counted.map((answer) => answer?.status)).toEqual([400, 404, 413, 201])
    expect((await fixture.usage()).requests).toBe(4)

    const free = [
      await fixture.client('svc_relay_live_sk_x').get('/v1/relay/messages'),
      await relay.get('/v1/clockwork/jobs'),
      await CREATING['an event']?.send(fixture.clients, 0),
      await fixture.raw('/v1/gate/auth/login?flow=unknown'),
      await relay.get('/v1/relay/nothing-here'),
    ]
    expect(free.map((answer) => answer?.status)).toEqual([401, 403, 429, 401, 404])
    expect((await fixture.usage()).requests).toBe(4)
  })

  test('a month of UTC begins with nothing, and the old one keeps what it had', async () => {
    await using fixture = await bootMetered('unlimited')
    await fixture.clients.relay.get('/v1/relay/messages')
    await fixture.clock.advanceTo(NEXT_MONTH - 1)
    await fixture.clients.relay.get('/v1/relay/messages')
    await fixture.clock.advanceTo(NEXT_MONTH)
    await fixture.clients.relay.get('/v1/relay/messages')

    expect(await fixture.usage()).toMatchObject({ month: '2026-04', requests: 1 })
    expect(fixture.platform.metering.months(fixture.acme.id)).toEqual([
      { month: '2026-03', requests: 2, billed_requests: 0, cost_cents: 0 },
      { month: '2026-04', requests: 1, billed_requests: 0, cost_cents: 0 },
    ])
  })

  test('of many at once exactly as many are let in as are left', async () => {
    await using fixture = await bootMetered('free', { 'metering-free-requests': '7' })
    const sent = Array.from({ length: 40 }, (_, n) =>
      CREATING['an event']?.send(fixture.clients, n),
    )
    const statuses = (await Promise.all(sent)).map((answer) => answer?.status)

    expect(statuses.filter((status) => status === 202)).toHaveLength(7)
    expect(statuses.filter((status) => status === 429)).toHaveLength(33)
    expect(await fixture.usage()).toMatchObject({ requests: 7, left_requests: 0 })
  })

  test('a place that a failed call had taken is free again', async () => {
    await using fixture = await bootMetered('free', { 'metering-free-requests': '2' })
    const { gate } = fixture.clients
    const twin = { schema_id: 'user', traits: { email: 'ada@example.com' } }
    expect((await gate.post('/v1/gate/identities', twin)).status).toBe(201)
    // The conflict counts as a request: it is the second.
    expect((await gate.post('/v1/gate/identities', twin)).status).toBe(409)
    expect((await CREATING['an event']?.send(fixture.clients, 0))?.status).toBe(429)
  })

  test('what was counted is on disk within half a second, without anybody asking', async () => {
    await using fixture = await bootMetered('unlimited')
    await fixture.clients.relay.get('/v1/relay/messages')
    const stored = () => fixture.platform.metering.months(fixture.acme.id)
    expect(stored()).toEqual([])

    await fixture.clock.advance(500)
    await fixture.platform.db.drain()

    expect(stored()).toMatchObject([{ requests: 1 }])
  })

  test('what the disk does not take is kept and stored later', async () => {
    await using fixture = await bootMetered('unlimited')
    const { client } = fixture.db
    await fixture.clients.relay.get('/v1/relay/messages')
    client.run('PRAGMA query_only = ON')
    await fixture.platform.metering.flush()
    await fixture.clients.relay.get('/v1/relay/messages')
    expect(fixture.log.filter((line) => line.includes('usage could not be stored'))).toHaveLength(1)

    client.run('PRAGMA query_only = OFF')

    expect((await fixture.usage()).requests).toBe(2)
  })

  test('what was stored as the database was lost is not stored again when it is back', async () => {
    await using fixture = await bootMetered('unlimited')
    const dataDir = dirname(fixture.db.file)
    await fixture.clients.relay.get('/v1/relay/messages')
    const moved = fixture.db.commit(() => renameSync(dataDir, `${dataDir}.away`))
    await Promise.allSettled([moved, fixture.platform.metering.flush()])

    renameSync(`${dataDir}.away`, dataDir)

    expect((await fixture.usage()).requests).toBe(1)
  })
})
