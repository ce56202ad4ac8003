import { expect, test } from 'bun:test'
import { startTarget } from '../../support/target.ts'
import {
  bootRelay,
  isoAt,
  type Json,
  leapTo,
  NEVER_OPEN,
  type Party,
  storyOf,
  useRelay,
} from './fixture.ts'
import { DAY, HOUR, MINUTE, SECOND } from './support.ts'

const { newTenant } = await useRelay()
const rare = await useRelay({ flags: { ...NEVER_OPEN.flags, 'relay-retry-delays': '30d' } })

const SECONDS = [5, 60, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400]

/** A message that fails, after all announced attempts. */
async function exhausted(relay: Party) {
  relay.target.answers(500)
  await relay.createEndpoint()
  const message = await relay.deliver()
  let delivery = await relay.deliveryOf(message)
  while (delivery.next_attempt_at !== null) {
    await leapTo(relay.app, Date.parse(delivery.next_attempt_at))
    delivery = await relay.deliveryOf(message)
  }
  return delivery
}

test('The schedule has eleven attempts, each announced and made to the millisecond', async () => {
  const relay = await newTenant()
  const { attempt_log, ...delivery } = await exhausted(relay)
  let at = 0
  const times = [0, ...SECONDS.map((delay) => (at += delay))]
  const story = storyOf({ ...delivery, attempt_log })
  expect(story).toEqual(times.map((time) => ['schedule', time, 'failed']))
  const ended_at = isoAt(relay.clock.now())
  expect(delivery).toMatchObject({ status: 'failed', attempts: 11, ended_at })
  const announced = attempt_log.map(({ next_attempt_at }: Json) => next_attempt_at)
  const made = attempt_log.map(({ started_at }: Json) => started_at)
  expect(announced).toEqual([...made.slice(1), null])
  expect(relay.target.requests).toHaveLength(11)
})

test.each([
  ['0s,2s,7s', 0, [0, 0, 2, 9]],
  ['5s,100s', 0.999, [0, 5.999, 125.979]],
  ['', 0, [0]],
])('The schedule may be %p, with chance %d up to a fifth late', async (delays, jitter, times) => {
  await using relay = await bootRelay({ jitter, flags: { 'relay-retry-delays': delays } })
  const delivery = await exhausted(relay)
  expect(storyOf(delivery).map(([, seconds]) => seconds)).toEqual(times)
  expect(delivery).toMatchObject({ status: 'failed', attempts: times.length })
})

test('The schedule ends with the first success, and is that of one endpoint alone', async () => {
  const relay = await newTenant()
  await using other = startTarget()
  relay.target.answers(503)
  const [ill, well] = [await relay.createEndpoint(), await relay.createEndpoint(other.url)]
  const message = await relay.deliver()
  await relay.clock.advance(5 * SECOND)
  const of = (endpoint: Json) => relay.deliveryOf(message, endpoint)
  expect(await of(ill)).toMatchObject({ status: 'retrying', attempts: 2 })
  expect(await of(well)).toMatchObject({ status: 'succeeded', attempts: 1 })

  relay.target.answers(201)
  await relay.clock.advance(2 * MINUTE)

  expect(await of(ill)).toMatchObject({ status: 'succeeded', attempts: 3 })
  expect(relay.target.requests).toHaveLength(3)
})

test('Retry-After counts in seconds or as a date, but not if the schedule waits longer', async () => {
  const { createEndpoint, deliver, deliveryOf, target, clock } = await newTenant()
  await createEndpoint()
  // A date has whole seconds.
  clock.jump(SECOND - (clock.now() % SECOND))
  for (const [status, value, wait] of [
    [503, '120', 120],
    [429, new Date(clock.now() + 90 * SECOND).toUTCString(), 90],
    [404, '120', 120],
    [301, '1', 5],
  ] as const) {
    target.answers(status, { 'retry-after': value })
    const { attempt_log, next_attempt_at } = await deliveryOf(await deliver())
    expect(next_attempt_at).toBe(isoAt(clock.now() + wait * SECOND))
    expect(attempt_log[0].next_attempt_at).toBe(next_attempt_at)
  }
})

test('The status 410 fails the delivery, and disables the endpoint until it is resumed', async () => {
  const relay = await newTenant()
  const { deliver, deliveryOf, readEndpoint, target } = relay
  await using other = startTarget()
  target.answers(500)
  const [endpoint, well] = [await relay.createEndpoint(), await relay.createEndpoint(other.url)]
  const waiting = await deliver()
  target.answers(410)
  const [last, later] = [await deliver(), await deliver()]

  const gone = { status: 'failed', error: { code: 'gone' }, next_attempt_at: null }
  const failed = { status: 'failed', attempts: 1, next_attempt_at: null, attempt_log: [gone] }
  expect(await deliveryOf(last, endpoint)).toMatchObject(failed)
  expect(await readEndpoint(endpoint)).toMatchObject({ active: false, disabled_reason: 'gone' })
  const held = { status: 'held', held_reason: 'inactive', next_attempt_at: null }
  for (const message of [waiting, later])
    expect(await deliveryOf(message, endpoint)).toMatchObject(held)
  await relay.leap(HOUR)
  expect(target.requests).toHaveLength(2)
  expect(await readEndpoint(well)).toMatchObject({ active: true, disabled_reason: null })
  expect(await deliveryOf(later, well)).toMatchObject({ status: 'succeeded' })

  const by = { actor_kind: 'system', actor_id: null, object: `endpoint:${endpoint.id}` }
  const disabled = { ...by, action: 'endpoint.disabled', detail: { reason: 'gone' } }
  expect(relay.auditLog('endpoint.disabled')).toEqual([disabled])
  for (const [active, disabled_reason] of [
    [false, 'gone'],
    [true, null],
    [false, 'manual'],
  ])
    expect(await relay.change(endpoint, { active })).toMatchObject({ disabled_reason })
})

const WELL = { active: true, disabled_reason: null }
const FAILING = { active: false, disabled_reason: 'failing' }

async function fail({ deliver, leap, target }: Party, times: number, pause = 0) {
  target.answers(500)
  for (let n = 0; n < times; n++) {
    await leap(pause)
    await deliver()
  }
}

test('An endpoint is disabled after 5 days and 20 failures since its last success or resume', async () => {
  const relay = await rare.newTenant()
  const endpoint = await relay.createEndpoint()
  const expectEndpoint = async (expected: object) =>
    expect(await relay.readEndpoint(endpoint)).toMatchObject(expected)
  const begun = relay.clock.now()
  await leapTo(relay.app, begun + 4 * DAY)
  await fail(relay, 19, HOUR)
  await leapTo(relay.app, begun + 5 * DAY - SECOND)
  await fail(relay, 1)
  await expectEndpoint(WELL)
  await relay.leap(SECOND)
  await fail(relay, 2)
  await expectEndpoint(FAILING)
  // What waits for a retry is held immediately.
  expect(await relay.tally()).toEqual({ 'held: inactive': 22 })
  expect(relay.auditLog('endpoint.disabled')).toMatchObject([{ detail: { reason: 'failing' } }])

  await relay.change(endpoint, { active: true, held: 'discard' })
  await fail(relay, 19, HOUR)
  await expectEndpoint(WELL)
  relay.target.answers(200)
  await relay.deliver()
  await fail(relay, 19, HOUR)
  await relay.leap(5 * DAY)
  await expectEndpoint(WELL)
  await fail(relay, 1)
  await expectEndpoint(FAILING)
})
