import { describe, expect, test } from 'bun:test'
import { until } from '../../support/binary.ts'
import { startTarget } from '../../support/target.ts'
import { advanceWaiting, count, holdAnswers, SECOND } from '../clockwork/support.ts'
import { bootRelay, type Fixture, leap, relayOf, rest, stillness, tally } from './fixture.ts'
import { hangingUp, replying, resetting, startRawTarget } from './receivers.ts'

const NEVER_OPEN = { flags: { 'relay-breaker-failures': '1000' } }

/** Endpoints of one tenant at one target. */
async function createEndpoints(
  { createEndpoint }: Pick<Fixture, 'createEndpoint'>,
  url: string,
  howMany: number,
) {
  for (let n = 0; n < howMany; n++) await createEndpoint(url, { event_types: ['user.created'] })
}

async function neighbour({ app }: Fixture) {
  const tenant = await app.tenant('Neighbour')
  const { key } = await tenant.key('relay', 'live')
  return relayOf(app, app.client(key))
}

describe('what is under way at once', () => {
  test('is 16 first attempts for an endpoint', async () => {
    await using fixture = await bootRelay()
    await using target = startTarget()
    const held = holdAnswers(target)
    await createEndpoints(fixture, target.url, 1)

    await fixture.sendMany(40)
    await held.arrived(16)
    await stillness(fixture.app, () => target.requests.length)
    expect(target.requests).toHaveLength(16)

    held.release(200, 5)
    await held.arrived(21)
    await stillness(fixture.app, () => target.requests.length)
    expect(target.requests).toHaveLength(21)

    target.answers(() => new Response())
    held.release(200)
    await rest(fixture.app)
    expect(await tally(fixture)).toEqual({ succeeded: 40 })
  })

  test('is 128 first attempts for a tenant at most, and one more of its endpoints has room', async () => {
    await using fixture = await bootRelay()
    await using target = startTarget()
    await using good = startTarget()
    const held = holdAnswers(target)
    await createEndpoints(fixture, target.url, 20)
    await fixture.createEndpoint(good.url, { event_types: ['other'] })

    await fixture.sendMany(30)
    await stillness(fixture.app, () => target.requests.length)
    expect(target.requests.length).toBeGreaterThan(100)
    expect(target.requests.length).toBeLessThanOrEqual(128)
    await fixture.sendMany(20, { event_type: 'other' })
    await until(() => good.requests.length === 20)

    target.answers(() => new Response())
    held.release(200)
    await rest(fixture.app)
    expect(await tally(fixture)).toEqual({ succeeded: 620 })
  })

  test('leaves room for a tenant beside three whose endpoints never answer', async () => {
    await using fixture = await bootRelay()
    await using dead = startTarget()
    await using good = startTarget()
    const held = holdAnswers(dead)
    for (const flooded of [fixture, await neighbour(fixture), await neighbour(fixture)]) {
      for (let n = 0; n < 10; n++) await flooded.createEndpoint(dead.url)
      await flooded.sendMany(20)
    }
    await stillness(fixture.app, () => dead.requests.length)
    const other = await neighbour(fixture)
    await other.createEndpoint(good.url)

    await other.sendMany(20)
    await until(() => good.requests.length === 20)

    dead.answers(() => new Response())
    held.release(200)
    await rest(fixture.app)
  })

  test('is 4 further attempts for an endpoint, and 48 for a tenant at most', async () => {
    await using fixture = await bootRelay(NEVER_OPEN)
    await using target = startTarget(() => new Response('', { status: 500 }))
    await createEndpoints(fixture, target.url, 15)
    await fixture.sendMany(10)
    await rest(fixture.app)
    const before = target.requests.length
    const held = holdAnswers(target)

    await advanceWaiting(fixture.app, 5 * SECOND)
    await stillness(fixture.app, () => target.requests.length)

    expect(target.requests.length - before).toBeGreaterThan(35)
    expect(target.requests.length - before).toBeLessThanOrEqual(48)
    const perEndpoint = fixture.app.db.client
      .query("select count(*) as n from deliveries where state = 'leased' group by endpoint_id")
      .all() as { n: number }[]
    expect(Math.max(...perEndpoint.map(({ n }) => n))).toBe(4)
    target.answers(() => new Response())
    held.release(200)
    await rest(fixture.app)
  })
})

describe('what one tenant writes', () => {
  test('is on disk while the messages of another, for many endpoints each, wait for their turn', async () => {
    await using fixture = await bootRelay()
    const other = await neighbour(fixture)
    const create = () => fixture.createEndpoint('https://127.0.0.1:9/', { is_active: false })
    await Promise.all(Array.from({ length: 200 }, create))
    let flooded = 0
    const flood = Array.from({ length: 100 }, () => fixture.send().then(() => flooded++))

    await other.send()

    expect(flooded).toBeLessThan(50)
    await Promise.all(flood)
  })
})

describe('a first attempt starts at once', () => {
  test('while retries take up all the room that there is for them', async () => {
    await using fixture = await bootRelay(NEVER_OPEN)
    await using bad = startTarget(() => new Response('', { status: 500 }))
    await using good = startTarget()
    await createEndpoints(fixture, bad.url, 15)
    const well = await fixture.createEndpoint(good.url, { event_types: ['other'] })
    await fixture.sendMany(10)
    await rest(fixture.app)
    const before = bad.requests.length
    const held = holdAnswers(bad)
    await advanceWaiting(fixture.app, 5 * SECOND)
    await stillness(fixture.app, () => bad.requests.length)
    expect(bad.requests.length - before).toBeGreaterThan(35)

    const message = await fixture.send({ event_type: 'other' })
    await until(() => good.requests.length === 1)

    await until(async () => (await fixture.deliveryOf(message, well)).status === 'succeeded')
    bad.answers(() => new Response())
    held.release(200)
    await rest(fixture.app)
  })

  test('for the very endpoint whose retries take up their room', async () => {
    await using fixture = await bootRelay(NEVER_OPEN)
    await using target = startTarget(() => new Response('', { status: 500 }))
    await createEndpoints(fixture, target.url, 1)
    await fixture.sendMany(10)
    await rest(fixture.app)
    const held = holdAnswers(target)
    await advanceWaiting(fixture.app, 5 * SECOND)
    await held.arrived(14)

    const message = await fixture.send()
    await held.arrived(15)

    expect(target.requests.at(-1)?.headers.get('webhook-id')).toBe(message.id)
    target.answers(() => new Response())
    held.release(200)
    await rest(fixture.app)
  })

  test('while another endpoint of the tenant answers nothing', async () => {
    await using fixture = await bootRelay()
    await using dead = startTarget()
    await using good = startTarget()
    const held = holdAnswers(dead)
    await createEndpoints(fixture, dead.url, 1)
    const well = await fixture.createEndpoint(good.url)
    await fixture.sendMany(100)
    await until(() => good.requests.length === 100)

    expect(dead.requests).toHaveLength(16)
    await until(async () => (await tally(fixture, `?endpoint_id=${well.id}`)).succeeded === 100)
    dead.answers(() => new Response())
    held.release(200)
    await rest(fixture.app)
    expect(await tally(fixture)).toEqual({ succeeded: 200 })
  })

  test('while another tenant floods the server', async () => {
    await using fixture = await bootRelay()
    await using flooded = startTarget()
    await using target = startTarget()
    const held = holdAnswers(flooded)
    await createEndpoints(fixture, flooded.url, 20)
    await fixture.sendMany(30)
    await stillness(fixture.app, () => flooded.requests.length)
    const taken = flooded.requests.length
    const other = await neighbour(fixture)
    await other.createEndpoint(target.url)

    const messages = await other.sendMany(20)
    await until(() => target.requests.length === 20)

    for (const message of messages)
      await until(async () => (await other.deliveryOf(message)).status === 'succeeded')
    expect(flooded.requests).toHaveLength(taken)
    flooded.answers(() => new Response())
    held.release(200)
    await rest(fixture.app)
  })

  test('and retries of one tenant while those of another take up its share', async () => {
    await using fixture = await bootRelay(NEVER_OPEN)
    await using flooded = startTarget(() => new Response('', { status: 500 }))
    await using target = startTarget(() => new Response('', { status: 500 }))
    await createEndpoints(fixture, flooded.url, 15)
    await fixture.sendMany(10)
    const other = await neighbour(fixture)
    await other.createEndpoint(target.url)
    const message = await other.deliver()
    const before = flooded.requests.length
    const held = holdAnswers(flooded)

    await advanceWaiting(fixture.app, 5 * SECOND)
    await stillness(fixture.app, () => flooded.requests.length)
    expect(flooded.requests.length - before).toBeGreaterThan(35)
    await until(() => target.requests.length === 2)

    await until(async () => (await other.deliveryOf(message)).attempts === 2)
    flooded.answers(() => new Response())
    held.release(200)
    await rest(fixture.app)
  })
})

/** Numbers that look like chance and are the same in every run: mulberry32. */
function seeded(seed: number) {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
}

const FAULTS = [
  ...Array.from({ length: 12 }, () => replying('200 OK')),
  replying('500 No'),
  replying('500 No'),
  replying('404 No'),
  replying('429 Slow', { 'Retry-After': '20' }),
  replying('302 Go', { Location: 'http://10.0.0.1/' }),
  resetting,
  hangingUp,
]

test.each([1, 2, 3])(
  'whatever goes wrong, no delivery is stuck (seed %i)',
  async (seed) => {
    const chance = seeded(seed)
    const pick = <T>(list: readonly T[]): T => list[Math.floor(chance() * list.length)] as T
    await using fixture = await bootRelay({
      jitter: 0.5,
      flags: { 'relay-retry-delays': '1s,5s,20s,60s' },
    })
    await using target = await startRawTarget((socket) => pick(FAULTS)(socket))
    await using fickle = await startRawTarget((socket) =>
      (chance() < 0.01 ? replying('410 Gone') : pick(FAULTS))(socket),
    )
    const endpoints: { id: string }[] = []
    for (const url of [target.url, target.url, target.url, target.url, fickle.url])
      endpoints.push(await fixture.createEndpoint(url))

    for (let sent = 0; sent < 300; sent += 20) {
      await fixture.sendMany(20)
      const endpoint = pick(endpoints.slice(0, 4))
      if (chance() < 0.3) await fixture.change(endpoint, { active: chance() < 0.4 })
      const [some] = await fixture.listDeliveries('?status=retrying')
      if (some && chance() < 0.5) await fixture.api.post(`/v1/relay/deliveries/${some.id}/resend`)
      await fixture.clock.advance(Math.floor(chance() * 10 * SECOND))
    }
    for (const endpoint of endpoints.slice(0, 3)) await fixture.change(endpoint, { active: true })
    await fixture.change(endpoints[3] as { id: string }, { active: false })
    const isQuiet = () =>
      count(fixture.app, "deliveries where state in ('waiting', 'ready', 'leased')") === 0 &&
      count(fixture.app, 'endpoint_health where open_until is not null or is_releasing = 1') === 0
    for (let turned = 0; turned < 500 && !isQuiet(); turned++) await leap(fixture.app, 30 * SECOND)

    const deliveries = await fixture.listDeliveries()
    expect(deliveries).toHaveLength(1500)
    const paused = new Set([endpoints[3]?.id, endpoints[4]?.id])
    const stuck = deliveries.filter(
      ({ status, held_reason, endpoint_id }) =>
        !['succeeded', 'failed'].includes(status) &&
        !(status === 'held' && held_reason === 'inactive' && paused.has(endpoint_id)),
    )
    expect(stuck).toEqual([])
    const { client } = fixture.app.db
    expect(
      client
        .query(
          `select d.id from deliveries d where d.attempts <>
           (select count(*) from attempts a where a.delivery_seq = d.seq)`,
        )
        .all(),
    ).toEqual([])
    const { n } = client
      .query("select count(*) as n from attempts where status = 'succeeded'")
      .get() as { n: number }
    expect(n).toBe(deliveries.filter(({ status }) => status === 'succeeded').length)
  },
  120_000,
)
