import { describe, expect, test } from 'bun:test'
import { startTarget } from '../../support/target.ts'
import { advanceWaiting, holdAnswers } from '../clockwork/support.ts'
import {
  answerWith,
  bootRelay,
  DAY,
  isoAt,
  leapTo,
  MINUTE,
  type Party,
  SECOND,
  stillness,
  tally,
  useRelay,
  WITHOUT_RETRIES,
} from './fixture.ts'

const { newTenant } = await useRelay()

const no = answerWith(500)
const yes = answerWith(200)
const abort = (status: number) => answerWith(status, { 'webhook-delivery': 'abort-message' })
const RARE_RETRIES = { flags: { 'relay-retry-delays': '30d' } }
const WELL = { breaker: 'closed', open_until: null, failures_in_a_row: 0, failing_since: null }

/** An endpoint whose breaker was opened by five messages. */
async function opened({ createEndpoint, readEndpoint, sendMany, rest, target }: Party) {
  target.answers(no)
  const endpoint = await createEndpoint()
  const failed = await sendMany(5)
  await rest()
  expect(await readEndpoint(endpoint)).toMatchObject({ health: { breaker: 'open' } })
  return { endpoint, failed }
}

const healthOf = async ({ readEndpoint }: Party, endpoint: { id: string }) =>
  (await readEndpoint(endpoint)).health

const openUntil = async (party: Party, endpoint: { id: string }) =>
  Date.parse((await healthOf(party, endpoint)).open_until)

const leapToTrial = async (party: Party, endpoint: { id: string }) =>
  leapTo(party.app, await openUntil(party, endpoint))

const arrivedAt = ({ target }: Party, from: number) =>
  target.requests.slice(from).map(({ headers }) => headers.get('webhook-id'))

const stillnessOf = ({ app, target }: Party) => stillness(app, () => target.requests.length)

describe('a breaker opens', () => {
  test('after five failures in a row', async () => {
    const party = await newTenant()
    const { createEndpoint, clock, deliver, target } = party
    target.answers(no)
    const endpoint = await createEndpoint()
    for (let n = 0; n < 4; n++) await deliver()
    expect(await healthOf(party, endpoint)).toMatchObject({
      breaker: 'closed',
      failures_in_a_row: 4,
      open_until: null,
    })

    await deliver()

    expect(await healthOf(party, endpoint)).toEqual({
      breaker: 'open',
      failures_in_a_row: 5,
      open_until: isoAt(clock.now() + 30 * SECOND),
      failing_since: isoAt(clock.now()),
    })
  })

  test.each([
    ['200', yes],
    ['abort-message with 500', abort(500)],
  ])('not if there is an answer among them: %s', async (_, answer) => {
    const party = await newTenant()
    const { createEndpoint, deliver, target } = party
    const endpoint = await createEndpoint()
    for (const one of [no, no, no, no, answer, no, no, no, no]) {
      target.answers(one)
      await deliver()
    }

    const health = { breaker: 'closed', failures_in_a_row: 4 }
    expect(await healthOf(party, endpoint)).toMatchObject(health)
  })

  test('after as many failures as configured', async () => {
    await using relay = await bootRelay({ flags: { 'relay-breaker-failures': '2' } })
    relay.target.answers(no)
    const endpoint = await relay.createEndpoint()
    await relay.deliver()
    await relay.deliver()
    expect(await healthOf(relay, endpoint)).toMatchObject({ breaker: 'open' })
  })
})

describe('an open breaker', () => {
  test('holds what comes and what waits, of its endpoint alone', async () => {
    const party = await newTenant()
    const { createEndpoint, clock, deliver, deliveryOf, target } = party
    await using other = startTarget()
    const { endpoint, failed } = await opened(party)
    const well = await createEndpoint(other.url)

    const later = await deliver()
    await clock.advance(29 * SECOND)

    expect(target.requests).toHaveLength(5)
    const held = { status: 'held', held_reason: 'breaker', next_attempt_at: null }
    expect(await deliveryOf(later, endpoint)).toMatchObject({ ...held, attempt_log: [] })
    for (const message of failed)
      expect(await deliveryOf(message)).toMatchObject({ ...held, attempts: 1 })
    expect(await deliveryOf(later, well)).toMatchObject({ status: 'succeeded' })
  })

  test('lets a resend through, whose failure changes nothing', async () => {
    const party = await newTenant()
    const { deliver, deliveryOf, resend, target, rest } = party
    const { endpoint } = await opened(party)
    const held = await deliver()
    await deliver()
    const before = await healthOf(party, endpoint)

    await resend(await deliveryOf(held))
    await rest()

    expect(target.requests).toHaveLength(6)
    expect(await deliveryOf(held)).toMatchObject({
      status: 'held',
      attempts: 1,
      attempt_log: [{ trigger: 'resend', status: 'failed' }],
    })
    expect(await healthOf(party, endpoint)).toEqual(before)
  })

  test('is closed by a resend that succeeds, and everything held is sent', async () => {
    const party = await newTenant()
    const { clock, deliveryOf, resend, sendMany, target, rest } = party
    const { endpoint } = await opened(party)
    const held = await sendMany(40)
    await rest()
    target.answers(yes)

    await resend(await deliveryOf(held[7]))
    await clock.advance(10 * SECOND)
    await rest()

    expect(await tally(party)).toEqual({ succeeded: 45 })
    expect(target.requests).toHaveLength(5 + 45)
    expect(await healthOf(party, endpoint)).toEqual(WELL)
  })

  test('is closed by the success of an attempt that began before it opened', async () => {
    const party = await newTenant()
    const { createEndpoint, deliver, deliveryOf, sendMany, target, rest } = party
    const endpoint = await createEndpoint()
    const held = holdAnswers(target)
    await sendMany(6)
    await held.arrived(6)
    held.release(500, 5)
    await stillnessOf(party)
    expect(await healthOf(party, endpoint)).toMatchObject({ breaker: 'open' })

    target.answers(yes)
    held.release(200)
    await rest()

    expect(await healthOf(party, endpoint)).toMatchObject({ breaker: 'recovering' })
    expect(await deliveryOf(await deliver())).toMatchObject({ status: 'succeeded' })
  })
})

describe('after its pause', () => {
  test('one delivery is tried, at 30 seconds, then 60, and so on to 10 minutes', async () => {
    await using relay = await bootRelay(RARE_RETRIES)
    const { app, clock, sendMany, target, rest } = relay
    const { endpoint } = await opened(relay)
    await sendMany(20)
    await rest()

    const pauses: number[] = []
    for (let trial = 0; trial < 8; trial++) {
      const at = await openUntil(relay, endpoint)
      pauses.push((at - clock.now()) / SECOND)
      const before = target.requests.length
      await leapTo(app, at - 1)
      expect(target.requests).toHaveLength(before)
      await clock.advance(1)
      await rest()
      expect(target.requests).toHaveLength(before + 1)
    }

    expect(pauses).toEqual([30, 60, 120, 240, 480, 600, 600, 600])
    expect(await tally(relay)).toEqual({ retrying: 5 + 8, 'held: breaker': 12 })
    clock.jump(-1)
    await clock.advance(MINUTE)
    expect(target.requests).toHaveLength(5 + 8)
  })

  test('an endpoint with nothing held is tried with what comes next', async () => {
    await using relay = await bootRelay(WITHOUT_RETRIES)
    const { clock, sendMany, target, rest } = relay
    const { endpoint } = await opened(relay)
    await clock.advance(30 * SECOND)
    expect(await healthOf(relay, endpoint)).toMatchObject({ breaker: 'recovering' })
    const held = holdAnswers(target)

    await sendMany(3)
    await held.arrived(6)
    await stillnessOf(relay)
    expect(target.requests).toHaveLength(6)
    held.release(500)
    await rest()

    expect(await healthOf(relay, endpoint)).toMatchObject({ breaker: 'open' })
    expect(await tally(relay)).toEqual({ failed: 6, 'held: breaker': 2 })
  })

  test('the deliveries under way grow from 1 to 16 as they succeed', async () => {
    await using relay = await bootRelay(WITHOUT_RETRIES)
    const { app, sendMany, target, rest } = relay
    await opened(relay)
    await sendMany(60)
    await rest()
    const held = holdAnswers(target)

    await advanceWaiting(app, 30 * SECOND)
    await held.arrived(6)
    await stillnessOf(relay)
    const underWay = [target.requests.length - 5]
    for (let released = 1; released <= 5; released++) {
      held.release(200, 1)
      await stillnessOf(relay)
      underWay.push(target.requests.length - 5 - released)
    }
    expect(underWay).toEqual([1, 2, 4, 8, 16, 16])

    target.answers(yes)
    held.release(200)
    await rest()
    expect(await tally(relay)).toEqual({ failed: 5, succeeded: 60 })
  })

  test('what was held is sent oldest first, each once', async () => {
    const party = await newTenant()
    const { clock, sendMany, target, rest } = party
    const { failed } = await opened(party)
    const held = await sendMany(300)
    await rest()
    target.answers(yes)

    await clock.advance(40 * SECOND)
    await rest()

    expect(await tally(party)).toEqual({ succeeded: 305 })
    const arrived = arrivedAt(party, 5)
    expect([arrived.length, new Set(arrived).size]).toEqual([305, 305])
    const late = held.map(({ id }, n) => Math.abs(arrived.indexOf(id) - n))
    // Those that failed before it opened came due last, and up to 16 are under way at once.
    expect(Math.max(...late)).toBeLessThan(5 + 16)
    expect(failed.every(({ id }) => arrived.includes(id))).toBe(true)
  })

  test('what comes meanwhile does not overtake what was held', async () => {
    await using relay = await bootRelay(WITHOUT_RETRIES)
    const { app, clock, sendMany, target, rest } = relay
    await opened(relay)
    const early = await sendMany(100)
    await rest()
    const held = holdAnswers(target)
    await advanceWaiting(app, 30 * SECOND)
    await held.arrived(6)
    const late = await sendMany(100)
    target.answers(yes)

    held.release(200)
    await clock.advance(10 * SECOND)
    await rest()

    const arrived = arrivedAt(relay, 5)
    const firstLate = Math.min(...late.map(({ id }) => arrived.indexOf(id)))
    const lastEarly = Math.max(...early.map(({ id }) => arrived.indexOf(id)))
    expect(arrived).toHaveLength(200)
    expect(lastEarly - firstLate).toBeLessThan(16)
  })

  test('a failure during recovery makes the next pause longer', async () => {
    await using relay = await bootRelay(RARE_RETRIES)
    const { clock, sendMany, target, rest } = relay
    const { endpoint } = await opened(relay)
    await sendMany(60)
    await rest()
    let answered = 0
    target.answers(() => (answered++ < 2 ? yes() : no()))

    await leapToTrial(relay, endpoint)
    expect((await openUntil(relay, endpoint)) - clock.now()).toBe(MINUTE)

    target.answers(yes)
    await leapToTrial(relay, endpoint)
    await clock.advance(10 * SECOND)
    await rest()
    expect(await tally(relay, '?status=held')).toEqual({})
    expect(await healthOf(relay, endpoint)).toMatchObject({ breaker: 'closed' })
  })

  test.each([
    ['200', yes, 'succeeded'],
    ['abort-message with 500', abort(500), 'cancelled'],
    ['abort-message with 404', abort(404), 'cancelled'],
  ])('everything held is sent if the trial is answered with %s', async (_, answer, end) => {
    const party = await newTenant()
    const { clock, sendMany, target, readEndpoint } = party
    const { endpoint } = await opened(party)
    await sendMany(40)
    await clock.advance(6 * SECOND)
    expect(await tally(party)).toEqual({ 'held: breaker': 45 })
    target.answers(answer)

    await leapToTrial(party, endpoint)

    expect(await tally(party)).toEqual({ [end]: 45 })
    expect(target.requests).toHaveLength(5 + 45)
    expect(await readEndpoint(endpoint)).toMatchObject({ active: true, health: WELL })
  })

  test.each([
    ['200', yes, 'succeeded'],
    ['abort-message with 500', abort(500), 'cancelled'],
  ])('room left by a first attempt is used by retries: %s', async (_, answer, end) => {
    await using relay = await bootRelay({ flags: { 'relay-breaker-failures': '1' } })
    const { createEndpoint, clock, deliver, target } = relay
    target.answers(no)
    const endpoint = await createEndpoint()
    await deliver()
    await deliver()
    await clock.advance(6 * SECOND)
    expect(await tally(relay)).toEqual({ 'held: breaker': 2 })
    target.answers(answer)

    await leapToTrial(relay, endpoint)

    expect(await tally(relay)).toEqual({ [end]: 2 })
  })
})

test('a pause from a clock that was a year ahead ends within 5 s once the clock is set back', async () => {
  await using relay = await bootRelay()
  const { clock, deliveryOf, sendMany, target, rest } = relay
  clock.jump(365 * DAY)
  const { endpoint } = await opened(relay)
  const later = await sendMany(10)
  await rest()
  target.answers(yes)

  clock.jump(-365 * DAY)
  await clock.advance(5 * SECOND)
  await rest()

  expect(target.requests).toHaveLength(5 + 10)
  for (const message of later)
    expect(await deliveryOf(message)).toMatchObject({ status: 'succeeded' })
  expect(await healthOf(relay, endpoint)).toMatchObject({ failures_in_a_row: 0, open_until: null })
})

describe('a change of an endpoint whose breaker is open', () => {
  test.each([
    ['and sends what is held if that succeeds', yes, { succeeded: 10, retrying: 5 }, null],
    ['and waits longer if that fails', no, { 'held: breaker': 9, retrying: 6 }, MINUTE],
  ])('of its URL has that tried immediately %s', async (_, answer, end, pause) => {
    const party = await newTenant()
    const { change, clock, sendMany, target, rest } = party
    await using moved = startTarget(answer)
    const { endpoint } = await opened(party)
    await sendMany(10)
    await rest()

    await change(endpoint, { url: moved.url })
    await rest()

    expect([moved.requests.length, target.requests.length]).toEqual([pause ? 1 : 10, 5])
    expect(await tally(party)).toEqual(end)
    const { open_until } = await healthOf(party, endpoint)
    expect(open_until).toBe(pause && isoAt(clock.now() + pause))
  })

  test('of anything else leaves it open', async () => {
    const party = await newTenant()
    const { change, sendMany, target, rest } = party
    const { endpoint } = await opened(party)
    const before = await openUntil(party, endpoint)
    await sendMany(10)

    await change(endpoint, { url: target.url, description: 'new', event_types: ['a'] })
    await rest()

    expect(await openUntil(party, endpoint)).toBe(before)
    expect(target.requests).toHaveLength(5)
  })
})
