import { describe, expect, test } from 'bun:test'
import { ACTOR, bootMetered, type Metered, NEXT_MONTH } from './fixture.ts'

/** Messages of the tenant's own stream, the oldest first: what its endpoints are told. */
async function told({ clients, usage }: Metered) {
  await usage()
  const { body } = await clients.relay.get('/v1/relay/messages?event_type=usage.threshold')
  const read = async ({ id }: { id: string }) =>
    (await clients.relay.get(`/v1/relay/messages/${id}`)).body.payload
  return (await Promise.all(body.data.map(read))).toReversed()
}

const audited = ({ db, acme }: Metered) =>
  db.client
    .query<{ detail: string; actor_kind: string }, [string]>(
      "SELECT detail, actor_kind FROM audit_log WHERE action = 'usage.threshold' AND tenant_id = ? ORDER BY seq",
    )
    .all(acme.id)
    .map(({ detail, actor_kind }) => ({ ...JSON.parse(detail), by: actor_kind }))

async function read({ clients, usage }: Metered, times: number) {
  for (let n = 0; n < times; n++) await clients.clockwork.get('/v1/clockwork/jobs')
  await usage()
}

describe('a tenant is told', () => {
  test('at 50, 80 and 100 % of its allowance, once each, by the audit log and an event', async () => {
    await using fixture = await bootMetered('free', { 'metering-free-requests': '10' })
    await read(fixture, 4)
    expect(audited(fixture)).toEqual([])
    for (let n = 0; n < 8; n++) await read(fixture, 1)

    const notice = { month: '2026-03', measure: 'allowance' }
    expect(audited(fixture)).toEqual([
      { ...notice, percent: 50, used: 5, limit: 10, by: 'system' },
      { ...notice, percent: 80, used: 8, limit: 10, by: 'system' },
      { ...notice, percent: 100, used: 10, limit: 10, by: 'system' },
    ])
    const event = { ...notice, limit_requests: 10, cost_cents: 0 }
    const resets = { resets_at: '2026-04-01T00:00:00.000Z' }
    expect(await told(fixture)).toEqual([
      { ...event, percent: 50, used_requests: 5, ...resets },
      { ...event, percent: 80, used_requests: 8, ...resets },
      { ...event, percent: 100, used_requests: 10, ...resets },
    ])
    expect((await fixture.usage()).notified).toEqual({ allowance: 100, spend_cap: 0 })
  })

  test('of the highest share alone where several are passed at once', async () => {
    await using fixture = await bootMetered('free', { 'metering-free-requests': '10' })
    await read(fixture, 10)
    expect(audited(fixture)).toMatchObject([{ percent: 100 }])
  })

  test('again in the next month', async () => {
    await using fixture = await bootMetered('free', { 'metering-free-requests': '2' })
    await read(fixture, 1)
    await fixture.clock.advanceTo(NEXT_MONTH)
    await read(fixture, 1)
    expect(audited(fixture)).toMatchObject([
      { month: '2026-03', percent: 50 },
      { month: '2026-04', percent: 50 },
    ])
  })

  test('of its spend cap besides, and again on the way to a higher one', async () => {
    await using fixture = await bootMetered('metered', {
      'metering-free-requests': '0',
      'metering-overage-price-cents': '1',
      'metering-overage-per': '1',
      'metering-default-spend-cap-cents': '4',
    })
    await read(fixture, 2)
    await read(fixture, 2)
    await fixture.platform.tenants.change(ACTOR, fixture.acme.id, { spendCapCents: 10 })
    await read(fixture, 1)
    await read(fixture, 3)

    const measure = 'spend_cap'
    expect(audited(fixture)).toMatchObject([
      { measure, percent: 50, used: 2, limit: 4 },
      { measure, percent: 100, used: 4, limit: 4 },
      { measure, percent: 80, used: 8, limit: 10 },
    ])
  })

  test('of no share twice, though the plan was without a limit for a while', async () => {
    await using fixture = await bootMetered('free', { 'metering-free-requests': '2' })
    const { tenants } = fixture.platform
    await read(fixture, 2)
    await tenants.change(ACTOR, fixture.acme.id, { plan: 'unlimited' })
    await read(fixture, 1)
    await tenants.change(ACTOR, fixture.acme.id, { plan: 'metered' })
    await read(fixture, 1)

    expect(audited(fixture)).toMatchObject([{ measure: 'allowance', percent: 100 }])
    expect((await fixture.usage()).notified.allowance).toBe(100)
  })

  test('of nothing on an unlimited plan, nor of an allowance of nothing', async () => {
    await using unlimited = await bootMetered('unlimited', { 'metering-free-requests': '1' })
    await read(unlimited, 3)
    expect(audited(unlimited)).toEqual([])
    await using none = await bootMetered('free', { 'metering-free-requests': '0' })
    await read(none, 3)
    expect(audited(none)).toEqual([])
  })

  test('by its endpoints, signed like every event', async () => {
    await using fixture = await bootMetered('free', { 'metering-free-requests': '2' })
    const { relay } = fixture.clients
    const { status } = await relay.post('/v1/relay/endpoints', {
      url: 'http://127.0.0.1:9/hook',
      event_types: ['usage.*'],
    })
    expect(status).toBe(201)
    await fixture.usage()
    const [message] = (await relay.get('/v1/relay/messages')).body.data

    const { body } = await relay.get(`/v1/relay/messages/${message.id}/deliveries`)

    expect(body.data).toHaveLength(1)
  })
})

test('an endpoint that hears everything does not hear of it, as it may be a customer’s', async () => {
  await using fixture = await bootMetered('free', { 'metering-free-requests': '4' })
  const { relay } = fixture.clients
  const listen = async (event_types: string[] | null) =>
    (await relay.post('/v1/relay/endpoints', { url: 'http://127.0.0.1:9/hook', event_types })).body
  const [all, star, named] = [await listen(null), await listen(['*']), await listen(['usage.*'])]
  await fixture.usage()
  const [message] = (await relay.get('/v1/relay/messages')).body.data

  const { body } = await relay.get(`/v1/relay/messages/${message.id}/deliveries`)

  const heard = body.data.map(({ endpoint_id }: { endpoint_id: string }) => endpoint_id)
  expect(heard).toEqual([named.id])
  expect(heard).not.toContain(all.id)
  expect(heard).not.toContain(star.id)
})
