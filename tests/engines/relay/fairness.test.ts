import { describe, expect, test } from 'bun:test'
import { until } from '../../support/binary.ts'
import { startTarget } from '../../support/target.ts'
import { advanceWaiting, holdAnswers } from '../clockwork/support.ts'
import {
  answerWith,
  bootRelay,
  count,
  DELIVERIES,
  type Json,
  leap,
  NEVER_OPEN,
  type Party,
  partyOf,
  SECOND,
  stillness,
  tally,
} from './fixture.ts'
import { hangingUp, replying, resetting, startRawTarget } from './receivers.ts'

// Each test has an application of its own: all of its work in progress is counted.

const no = answerWith(500)
const yes = answerWith(200)

/** So many endpoints, which hold back their answers. */
async function crowd({ createEndpoint, target }: Party, endpoints: number, fields: Json = {}) {
  for (let n = 0; n < endpoints; n++)
    await createEndpoint({ event_types: ['user.created'], ...fields })
  return holdAnswers(target)
}

const stillnessOf = ({ app, target }: Party) => stillness(app, () => target.requests.length)

/** Answers everything that was held back. */
async function end(party: Party, held: ReturnType<typeof holdAnswers>) {
  party.target.answers(yes)
  held.release(200)
  await party.rest()
}

describe('the number of attempts under way', () => {
  test('is 16 first attempts for an endpoint', async () => {
    await using relay = await bootRelay()
    const held = await crowd(relay, 1)

    await relay.sendMany(40)
    await held.arrived(16)
    await stillnessOf(relay)
    expect(relay.target.requests).toHaveLength(16)

    held.release(200, 5)
    await held.arrived(21)
    await stillnessOf(relay)
    expect(relay.target.requests).toHaveLength(21)

    await end(relay, held)
    expect(await tally(relay)).toEqual({ succeeded: 40 })
  })

  test('is 128 first attempts for a tenant, and another of its endpoints still gets its own', async () => {
    await using relay = await bootRelay()
    await using good = startTarget()
    const held = await crowd(relay, 20)
    await relay.createEndpoint({ url: good.url, event_types: ['other'] })

    await relay.sendMany(30)
    await stillnessOf(relay)
    expect(relay.target.requests.length).toBeGreaterThan(100)
    expect(relay.target.requests.length).toBeLessThanOrEqual(128)
    await relay.sendMany(20, { event_type: 'other' })
    await until(() => good.requests.length === 20)

    await end(relay, held)
    expect(await tally(relay)).toEqual({ succeeded: 620 })
  })

  test('is 4 retries for an endpoint and 48 for a tenant', async () => {
    await using relay = await bootRelay(NEVER_OPEN)
    const { app, target } = relay
    const { held, before } = await crowdOfRetries(relay)

    expect(target.requests.length - before).toBeLessThanOrEqual(48)
    const perEndpoint = app.db.client
      .query("select count(*) as n from deliveries where state = 'leased' group by endpoint_id")
      .all() as { n: number }[]
    expect(Math.max(...perEndpoint.map(({ n }) => n))).toBe(4)
    await end(relay, held)
  })
})

/** Retries of 15 endpoints that take all room for retries. */
async function crowdOfRetries(party: Party, meanwhile = async () => {}) {
  const { app, sendMany, target, rest } = party
  await crowd(party, 15)
  target.answers(no)
  await sendMany(10)
  await rest()
  await meanwhile()
  const before = target.requests.length
  const held = holdAnswers(target)
  await advanceWaiting(app, 5 * SECOND)
  await stillnessOf(party)
  expect(target.requests.length - before).toBeGreaterThan(35)
  return { held, before }
}

test('a commit of one tenant does not wait for all messages of another with many endpoints', async () => {
  await using relay = await bootRelay()
  const other = await partyOf(relay.app)
  const create = () => relay.createEndpoint({ active: false })
  await Promise.all(Array.from({ length: 200 }, create))
  let flooded = 0
  const flood = Array.from({ length: 100 }, () => relay.send().then(() => flooded++))

  await other.send()

  expect(flooded).toBeLessThan(50)
  await Promise.all(flood)
})

describe('a first attempt is made immediately', () => {
  test('while retries take all room for retries, those of its own endpoint included', async () => {
    await using relay = await bootRelay(NEVER_OPEN)
    const { send, target } = relay
    const { held } = await crowdOfRetries(relay)
    const before = target.requests.length

    const message = await send()
    await held.arrived(before + 15)

    const arrived = target.requests.slice(before).map(({ headers }) => headers.get('webhook-id'))
    expect(arrived).toEqual(Array(15).fill(message.id))
    await end(relay, held)
  })

  test('while another endpoint of the tenant does not answer', async () => {
    await using relay = await bootRelay()
    await using good = startTarget()
    const held = await crowd(relay, 1)
    const well = await relay.createEndpoint(good.url)
    await relay.sendMany(100)
    await until(() => good.requests.length === 100)

    expect(relay.target.requests).toHaveLength(16)
    await until(async () => (await tally(relay, `?endpoint_id=${well.id}`)).succeeded === 100)
    await end(relay, held)
    expect(await tally(relay)).toEqual({ succeeded: 200 })
  })

  test('while the endpoints of three other tenants do not answer', async () => {
    await using relay = await bootRelay()
    const { app, target } = relay
    const held = holdAnswers(target)
    for (const flooded of [relay, await partyOf(app), await partyOf(app)]) {
      for (let n = 0; n < 10; n++) await flooded.createEndpoint(target.url)
      await flooded.sendMany(20)
    }
    await stillnessOf(relay)
    const taken = target.requests.length
    const other = await partyOf(app)
    await other.createEndpoint()

    await other.sendMany(20)
    await until(() => other.target.requests.length === 20)

    await until(async () => (await tally(other)).succeeded === 20)
    expect(target.requests).toHaveLength(taken)
    await end(relay, held)
  })
})

test('a retry of one tenant is made while those of another take its share', async () => {
  await using relay = await bootRelay(NEVER_OPEN)
  const other = await partyOf(relay.app)
  other.target.answers(no)
  await other.createEndpoint()
  let message: Json

  const { held } = await crowdOfRetries(relay, async () => {
    message = await other.deliver()
  })

  await until(() => other.target.requests.length === 2)
  await until(async () => (await other.deliveryOf(message)).attempts === 2)
  await end(relay, held)
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

test.each([1, 2])(
  'whatever goes wrong, no delivery is stuck (seed %i)',
  async (seed) => {
    const chance = seeded(seed)
    const pick = <T>(list: readonly T[]): T => list[Math.floor(chance() * list.length)] as T
    await using relay = await bootRelay({
      jitter: 0.5,
      flags: { 'relay-retry-delays': '1s,5s,20s,60s' },
    })
    const { app, change, listDeliveries } = relay
    await using target = await startRawTarget((socket) => pick(FAULTS)(socket))
    await using fickle = await startRawTarget((socket) =>
      (chance() < 0.01 ? replying('410 Gone') : pick(FAULTS))(socket),
    )
    const endpoints: { id: string }[] = []
    for (const { url } of [target, target, target, target, fickle])
      endpoints.push(await relay.createEndpoint(url))

    for (let sent = 0; sent < 300; sent += 20) {
      await relay.sendMany(20)
      const endpoint = pick(endpoints.slice(0, 4))
      if (chance() < 0.3) await change(endpoint, { active: chance() < 0.4 })
      const [some] = await listDeliveries('?status=retrying')
      if (some && chance() < 0.5) await relay.api.post(`${DELIVERIES}/${some.id}/resend`)
      await relay.clock.advance(Math.floor(chance() * 10 * SECOND))
    }
    for (const endpoint of endpoints.slice(0, 3)) await change(endpoint, { active: true })
    await change(endpoints[3] as { id: string }, { active: false })
    const isQuiet = () =>
      count(app, "deliveries where state in ('waiting', 'ready', 'leased')") === 0 &&
      count(app, 'endpoint_health where open_until is not null or is_releasing = 1') === 0
    for (let turned = 0; turned < 500 && !isQuiet(); turned++) await leap(app, 30 * SECOND)

    const deliveries = await listDeliveries()
    expect(deliveries).toHaveLength(1500)
    const paused = new Set([endpoints[3]?.id, endpoints[4]?.id])
    const stuck = deliveries.filter(
      ({ status, held_reason, endpoint_id }) =>
        !['succeeded', 'failed'].includes(status) &&
        !(status === 'held' && held_reason === 'inactive' && paused.has(endpoint_id)),
    )
    expect(stuck).toEqual([])
    const attempts = '(select count(*) from attempts a where a.delivery_seq = d.seq)'
    expect(count(app, `deliveries d where d.attempts <> ${attempts}`)).toBe(0)
    const succeeded = deliveries.filter(({ status }) => status === 'succeeded').length
    expect(count(app, "attempts where status = 'succeeded'")).toBe(succeeded)
  },
  120_000,
)
