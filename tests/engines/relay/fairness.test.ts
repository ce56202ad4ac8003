import { expect, test } from 'bun:test'
import { until } from '../../support/binary.ts'
import { startTarget } from '../../support/target.ts'
import { hangingUp, startRawTarget } from '../clockwork/raw-target.ts'
import { seeded } from '../gate/identities/documents/support.ts'
import { bootRelay, NEVER_OPEN, type Party, useRelay } from './fixture.ts'
import { replying, resetting } from './receivers.ts'
import { count, DELIVERIES, MINUTE, SECOND } from './support.ts'

// Each test ends all of its work, because what is under way counts for all tenants.

const { newTenant } = await useRelay(NEVER_OPEN)

/** So many endpoints, which hold back their answers. */
async function crowd({ createEndpoint, target }: Party, endpoints: number) {
  for (let n = 0; n < endpoints; n++) await createEndpoint({ event_types: ['user.created'] })
  return target.hold()
}

/** Answers everything that was held back. */
async function end({ target, rest }: Party, held: ReturnType<Party['target']['hold']>) {
  target.answers(200)
  held.release(200)
  await rest()
}

test('An endpoint has 16 first attempts under way, for which no other endpoint waits', async () => {
  const relay = await newTenant()
  await using good = startTarget()
  const held = await crowd(relay, 1)
  const well = await relay.createEndpoint(good.url)
  await relay.sendMany(40)
  await held.arrived(16)
  expect(await relay.underWay()).toBe(16)
  await until(async () => (await relay.tally(`?endpoint_id=${well.id}`)).succeeded === 40)

  held.release(200, 5)
  await held.arrived(21)
  expect(await relay.underWay()).toBe(16)

  await end(relay, held)
  expect(await relay.tally()).toEqual({ succeeded: 80 })
})

test('A tenant has 128 first attempts under way, and another of its endpoints still gets its own', async () => {
  const relay = await newTenant()
  await using good = startTarget()
  const held = await crowd(relay, 20)
  await relay.createEndpoint({ url: good.url, event_types: ['other'] })

  await relay.sendMany(10)
  const underWay = await relay.underWay()
  expect(underWay).toBeGreaterThan(100)
  expect(underWay).toBeLessThanOrEqual(128)
  await relay.sendMany(20, { event_type: 'other' })
  await until(() => good.requests.length === 20)

  await end(relay, held)
  expect(await relay.tally()).toEqual({ succeeded: 20 * 10 + 20 })
})

test('An endpoint has 4 retries under way and a tenant 48, for which nothing else waits', async () => {
  const [relay, other] = [await newTenant(), await newTenant()]
  await crowd(relay, 15)
  relay.target.answers(500)
  await relay.sendMany(5)
  await relay.rest()
  other.target.answers(500)
  await other.createEndpoint()
  const retried = await other.deliver()
  const held = relay.target.hold()
  await relay.wait(5 * SECOND)
  const underWay = await relay.underWay()
  expect(underWay).toBeGreaterThan(35)
  expect(underWay).toBeLessThanOrEqual(48)
  await held.arrived(75 + underWay)
  const ofEach = "select count(*) from deliveries where state = 'leased' group by endpoint_id"
  expect(Math.max(...relay.app.db.client.query(ofEach).values().map(Number))).toBe(4)
  await until(async () => (await other.deliveryOf(retried)).attempts === 2)

  const message = await relay.send()
  await held.arrived(75 + underWay + 15)
  const arrived = relay.headers('webhook-id').slice(75 + underWay)
  expect(arrived).toEqual(Array(15).fill(message.id))
  await end(relay, held)
})

test('A commit of one tenant does not wait for all messages of another with many endpoints', async () => {
  const [relay, other] = [await newTenant(), await newTenant()]
  const create = () => relay.createEndpoint({ active: false })
  await Promise.all(Array.from({ length: 60 }, create))
  let flooded = 0
  const flood = Array.from({ length: 60 }, () => relay.send().then(() => flooded++))

  await other.send()

  expect(flooded).toBeLessThan(30)
  await Promise.all(flood)
})

test('A first attempt is made immediately while endpoints of three other tenants hang', async () => {
  const [relay, other] = [await newTenant(), await newTenant()]
  const held = relay.target.hold()
  for (const flooded of [relay, await newTenant(), await newTenant()]) {
    for (let n = 0; n < 10; n++) await flooded.createEndpoint(relay.target.url)
    await flooded.sendMany(14)
  }
  const underWay = await relay.underWay()
  expect(underWay).toBeGreaterThan(64)
  await other.createEndpoint()

  await other.sendMany(20)
  await until(async () => (await other.tally()).succeeded === 20)
  expect(await relay.underWay()).toBe(underWay)
  await end(relay, held)
})

const FAULTS = [
  ...Array.from({ length: 12 }, () => replying('200 OK')),
  ...[replying('500 No'), replying('500 No'), replying('404 No'), resetting, hangingUp],
  replying('429 Slow', { 'Retry-After': '20' }),
  replying('302 Go', { Location: 'http://10.0.0.1/' }),
]

test('Whatever goes wrong, no delivery is stuck', async () => {
  const random = seeded(1)
  const chance = () => random(2 ** 32) / 2 ** 32
  const pick = <T>(list: readonly T[]): T => list[Math.floor(chance() * list.length)] as T
  await using relay = await bootRelay({
    jitter: 0.5,
    flags: { 'relay-retry-delays': '1s,5s,20s,60s' },
  })
  const { app, change, listDeliveries } = relay
  await using target = await startRawTarget((socket) => pick(FAULTS)(socket))
  await using fickle = await startRawTarget((socket) =>
    (chance() < 0.05 ? replying('410 Gone') : pick(FAULTS))(socket),
  )
  const endpoints: { id: string }[] = []
  for (const { url } of [target, target, target, fickle])
    endpoints.push(await relay.createEndpoint(url))

  for (let sent = 0; sent < 60; sent += 10) {
    await relay.sendMany(10)
    const endpoint = pick(endpoints.slice(0, 3))
    if (chance() < 0.3) await change(endpoint, { active: chance() < 0.4 })
    const [some] = await listDeliveries('?status=retrying')
    if (some && chance() < 0.5) await relay.api.post(`${DELIVERIES}/${some.id}/resend`)
    await relay.clock.advance(Math.floor(chance() * 10 * SECOND))
  }
  for (const endpoint of endpoints.slice(0, 2)) await change(endpoint, { active: true })
  await change(endpoints[2] as { id: string }, { active: false })
  const isQuiet = () =>
    count(app, "deliveries where state in ('waiting', 'ready', 'leased')") === 0 &&
    count(app, 'endpoint_health where open_until is not null or is_releasing = 1') === 0
  for (let turned = 0; turned < 500 && !isQuiet(); turned++) await relay.leap(30 * SECOND)

  const deliveries = await listDeliveries()
  expect(deliveries).toHaveLength(240)
  const paused = new Set([endpoints[2]?.id, endpoints[3]?.id])
  const stuck = deliveries.filter(
    ({ status, held_reason, endpoint_id }) =>
      !['succeeded', 'failed'].includes(status) &&
      !(held_reason === 'inactive' && paused.has(endpoint_id)),
  )
  expect(stuck).toEqual([])
  const attempts = '(select count(*) from attempts a where a.delivery_seq = d.seq)'
  expect(count(app, `deliveries d where d.attempts <> ${attempts}`)).toBe(0)
  const succeeded = deliveries.filter(({ status }) => status === 'succeeded').length
  expect(count(app, "attempts where status = 'succeeded'")).toBe(succeeded)
})

/** The number of ready deliveries and the lag of both queues, as /metrics shows them. */
async function queues({ app }: Party) {
  const text: string = (await app.raw('/metrics')).body
  const metric = (name: string, queue: string) =>
    Number(text.match(`gatehouse_delivery_${name}{queue="${queue}"} (.*)`)?.[1])
  const of = (queue: string) => [metric('ready', queue), metric('lag_seconds', queue)]
  return { first: of('first'), again: of('again') }
}

const EMPTY = { first: [0, 0], again: [0, 0] }

test('Ready first attempts and ready retries are counted apart, each with its lag', async () => {
  await using relay = await bootRelay(NEVER_OPEN)
  const { createEndpoint, sendMany, target, wait } = relay
  for (const type of ['a', 'b', 'c']) await createEndpoint({ event_types: [type] })
  await relay.deliver({ event_type: 'a' })
  await relay.clock.advance(MINUTE)
  expect(await queues(relay)).toEqual(EMPTY)
  const held = target.hold()
  for (const event_type of ['b', 'a', 'c']) {
    await sendMany(20, { event_type })
    await relay.underWay()
    await wait(4 * SECOND)
  }
  const underWay = await relay.underWay()
  expect(underWay).toBeLessThan(60)
  expect(await queues(relay)).toEqual({ first: [60 - underWay, 12], again: [0, 0] })
  await held.arrived(1 + underWay)
  target.answers(500)
  held.release(200)
  await relay.rest()

  const waiting = 60 - underWay
  expect(await relay.tally()).toEqual({ succeeded: 1 + underWay, retrying: waiting })
  expect(await queues(relay)).toEqual(EMPTY)
  const again = target.hold()
  await wait(5 * SECOND)
  const retried = await relay.underWay()
  await again.arrived(61 + retried)
  await wait(7 * SECOND)
  expect(retried).toBeLessThan(waiting)
  expect(await queues(relay)).toEqual({ first: [0, 0], again: [waiting - retried, 7] })
  target.answers(200)
  again.release()
  await relay.rest()
})
