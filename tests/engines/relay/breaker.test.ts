import { expect, test } from 'bun:test'
import { startTarget } from '../../support/target.ts'
import { leapTo, type Party, useRelay } from './fixture.ts'
import { DAY, MINUTE, SECOND } from './support.ts'

// Counting and pauses are in tests/delivery/health.test.ts.

const { newTenant } = await useRelay()
const rare = await useRelay({ flags: { 'relay-retry-delays': '30d' } })
const quick = await useRelay({ flags: { 'relay-breaker-failures': '1' } })

const ABORT = { 'webhook-delivery': 'abort-message' }
const WELL = { breaker: 'closed', open_until: null, failures_in_a_row: 0, failing_since: null }

/** An endpoint whose breaker was opened by so many messages. */
async function opened(relay: Party, messages = 5) {
  relay.target.answers(500)
  const endpoint = await relay.createEndpoint()
  const failed = await relay.sendMany(messages)
  await relay.rest()
  const openUntil = async () => Date.parse((await relay.healthOf(endpoint)).open_until)
  const leapToTrial = async () => leapTo(relay.app, await openUntil())
  return { endpoint, failed, openUntil, leapToTrial }
}

test('A breaker opens after five failures in a row', async () => {
  const { at, createEndpoint, deliver, healthOf, target } = await newTenant()
  const endpoint = await createEndpoint()
  for (const status of [500, 500, 500, 500, 200]) {
    target.answers(status)
    await deliver()
  }
  target.answers(500, ABORT)
  await deliver()
  target.answers(500)
  for (let n = 0; n < 4; n++) await deliver()
  const closed = { breaker: 'closed', failures_in_a_row: 4, open_until: null }
  expect(await healthOf(endpoint)).toMatchObject(closed)
  await deliver()
  const open = { breaker: 'open', failures_in_a_row: 5, open_until: at(30) }
  expect(await healthOf(endpoint)).toEqual({ ...open, failing_since: at(0) })
})

test('An open breaker holds what comes and what waits, of its endpoint alone', async () => {
  const relay = await newTenant()
  const { deliveryOf, target } = relay
  await using other = startTarget()
  const { endpoint, failed } = await opened(relay)
  const well = await relay.createEndpoint(other.url)
  const later = await relay.deliver()
  await relay.clock.advance(29 * SECOND)

  expect(target.requests).toHaveLength(5)
  const held = { status: 'held', held_reason: 'breaker', next_attempt_at: null }
  expect(await deliveryOf(later, endpoint)).toMatchObject({ ...held, attempt_log: [] })
  for (const message of failed)
    expect(await deliveryOf(message)).toMatchObject({ ...held, attempts: 1 })
  expect(await deliveryOf(later, well)).toMatchObject({ status: 'succeeded' })
})

test('An open breaker lets a resend through, whose success sends everything', async () => {
  const relay = await newTenant()
  const { deliveryOf, healthOf, resend, rest, target } = relay
  const { endpoint } = await opened(relay)
  const held = await relay.sendMany(20)
  await rest()
  const before = await healthOf(endpoint)

  await resend(await deliveryOf(held[7]))
  await rest()
  expect(target.requests).toHaveLength(6)
  const attempt_log = [{ trigger: 'resend', status: 'failed' }]
  expect(await deliveryOf(held[7])).toMatchObject({ status: 'held', attempts: 1, attempt_log })
  expect(await healthOf(endpoint)).toEqual(before)

  target.answers(200)
  await resend(await deliveryOf(held[7]))
  await relay.clock.advance(10 * SECOND)
  await rest()
  expect(await relay.tally()).toEqual({ succeeded: 25 })
  expect(target.requests).toHaveLength(6 + 25)
  expect(await healthOf(endpoint)).toEqual(WELL)
})

test('After its pause, an endpoint is tried with one delivery, and each further pause is twice as long', async () => {
  const relay = await rare.newTenant()
  const { clock, target } = relay
  const { openUntil } = await opened(relay)
  await relay.sendMany(10)
  await relay.rest()

  for (const pause of [30, 60]) {
    const at = await openUntil()
    expect((at - clock.now()) / SECOND).toBe(pause)
    const before = target.requests.length
    await leapTo(relay.app, at - 1)
    expect(target.requests).toHaveLength(before)
    await clock.advance(1)
    await relay.rest()
    expect(target.requests).toHaveLength(before + 1)
  }

  expect(await relay.tally()).toEqual({ retrying: 5 + 2, 'held: breaker': 8 })
  clock.jump(-1)
  await clock.advance(MINUTE)
  expect(target.requests).toHaveLength(5 + 2)
})

test('After its pause, an endpoint with nothing held is tried with the next delivery', async () => {
  const relay = await rare.newTenant()
  const { endpoint } = await opened(relay)
  await relay.clock.advance(30 * SECOND)
  expect(await relay.healthOf(endpoint)).toMatchObject({ breaker: 'recovering' })
  const held = relay.target.hold()

  await relay.sendMany(3)
  expect(await relay.underWay()).toBe(1)
  await held.arrived(6)
  held.release(500)
  await relay.rest()

  expect(await relay.healthOf(endpoint)).toMatchObject({ breaker: 'open' })
  expect(await relay.tally()).toEqual({ retrying: 6, 'held: breaker': 2 })
})

test('After its pause, deliveries under way grow from 1 to 16 as they succeed, oldest first', async () => {
  const relay = await rare.newTenant()
  await opened(relay)
  const early = await relay.sendMany(50)
  await relay.rest()
  const held = relay.target.hold()
  await relay.wait(30 * SECOND)
  await held.arrived(6)
  const late = await relay.sendMany(10)

  const counts = [await relay.underWay()]
  for (let released = 1; released <= 5; released++) {
    await held.arrived(5 + released)
    held.release(200, 1)
    const next = Math.min(2 ** released, 16)
    await held.arrived(5 + released + next)
    counts.push(await relay.underWay())
  }
  expect(counts).toEqual([1, 2, 4, 8, 16, 16])
  relay.target.answers(200)
  held.release(200)
  await relay.clock.advance(10 * SECOND)
  await relay.rest()

  expect(await relay.tally()).toEqual({ retrying: 5, succeeded: 60 })
  const arrived = relay.headers('webhook-id').slice(5)
  expect([arrived.length, new Set(arrived).size]).toEqual([60, 60])
  const lateness = [...early, ...late].map(({ id }, n) => Math.abs(arrived.indexOf(id) - n))
  expect(Math.max(...lateness)).toBeLessThan(16)
})

test.each([
  [200, {}, 'succeeded'],
  [500, ABORT, 'cancelled'],
] as const)('Everything held is sent if the trial is answered with %i %j', async (...row) => {
  const [status, headers, end] = row
  const relay = await newTenant()
  const { endpoint, leapToTrial } = await opened(relay)
  await relay.sendMany(20)
  await relay.clock.advance(6 * SECOND)
  expect(await relay.tally()).toEqual({ 'held: breaker': 25 })
  relay.target.answers(status, headers)

  await leapToTrial()

  expect(await relay.tally()).toEqual({ [end]: 25 })
  expect(relay.target.requests).toHaveLength(5 + 25)
  expect(await relay.readEndpoint(endpoint)).toMatchObject({ active: true, health: WELL })

  // A first attempt leaves its room to a retry.
  const sparse = await quick.newTenant()
  const { leapToTrial: leap } = await opened(sparse, 1)
  await sparse.deliver()
  await sparse.clock.advance(6 * SECOND)
  expect(await sparse.tally()).toEqual({ 'held: breaker': 2 })
  sparse.target.answers(status, headers)
  await leap()
  expect(await sparse.tally()).toEqual({ [end]: 2 })
})

test('A pause from a clock that was a year ahead ends within 5 s once the clock is set back', async () => {
  const relay = await newTenant()
  relay.clock.jump(365 * DAY)
  const { endpoint } = await opened(relay)
  await relay.sendMany(10)
  await relay.rest()
  relay.target.answers(200)

  relay.clock.jump(-365 * DAY)
  await relay.clock.advance(5 * SECOND)
  await relay.rest()

  expect(await relay.tally()).toEqual({ succeeded: 10, retrying: 5 })
  expect(await relay.healthOf(endpoint)).toMatchObject({ failures_in_a_row: 0, open_until: null })
})

test.each([
  ['what is held is sent if it succeeds', 200, { succeeded: 10, retrying: 5 }, null],
  ['the pause is longer if it fails', 500, { 'held: breaker': 9, retrying: 6 }, 60],
])('Only a new URL has a failing endpoint tried immediately: %s', async (...row) => {
  const [, answer, end, pause] = row
  const relay = await newTenant()
  await using moved = startTarget(answer)
  const { endpoint } = await opened(relay)
  await relay.sendMany(10)
  const before = await relay.healthOf(endpoint)
  await relay.change(endpoint, { url: relay.target.url, description: 'new', event_types: ['a'] })
  await relay.rest()
  expect(await relay.healthOf(endpoint)).toEqual(before)

  await relay.change(endpoint, { url: moved.url })
  await relay.rest()

  expect([moved.requests.length, relay.target.requests.length]).toEqual([pause ? 1 : 10, 5])
  expect(await relay.tally()).toEqual(end)
  expect((await relay.healthOf(endpoint)).open_until).toBe(pause && relay.at(pause))
})
