import { describe, expect, test } from 'bun:test'
import { startTarget } from '../../support/target.ts'
import {
  answerWith,
  bootRelay,
  DAY,
  HOUR,
  isoAt,
  type Json,
  leap,
  leapTo,
  MINUTE,
  NEVER_OPEN,
  type Party,
  SECOND,
  storyOf,
  tally,
  useRelay,
  WITHOUT_RETRIES,
} from './fixture.ts'

const { newTenant } = await useRelay()

const SECONDS = [5, 60, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400]

/** Turns to each announced attempt until there is none. */
async function toTheEnd({ app, deliveryOf }: Party, message: { id: string }) {
  let delivery = await deliveryOf(message)
  while (delivery.next_attempt_at !== null) {
    await leapTo(app, Date.parse(delivery.next_attempt_at))
    delivery = await deliveryOf(message)
  }
  return delivery
}

const timesOf = (delivery: Json) => storyOf(delivery).map(([, seconds]) => seconds)

describe('the schedule', () => {
  test('has eleven attempts, each announced and made to the millisecond', async () => {
    await using relay = await bootRelay()
    const { createEndpoint, deliver, target, clock } = relay
    target.answers(answerWith(500))
    await createEndpoint()
    const message = await deliver()
    await clock.advance(5 * SECOND - 1)
    expect(target.requests).toHaveLength(1)

    const delivery = await toTheEnd(relay, message)

    let at = 0
    const times = [0, ...SECONDS.map((delay) => (at += delay))]
    expect(storyOf(delivery)).toEqual(times.map((time) => ['schedule', time, 'failed']))
    expect(delivery).toMatchObject({ status: 'failed', attempts: 11, ended_at: isoAt(clock.now()) })
    const announced = delivery.attempt_log.map(({ next_attempt_at }: Json) => next_attempt_at)
    const made = delivery.attempt_log.map(({ started_at }: Json) => started_at)
    expect(announced).toEqual([...made.slice(1), null])
    expect(target.requests).toHaveLength(11)
  })

  test('is never early, and by chance up to a fifth late', async () => {
    await using relay = await bootRelay({ jitter: 0.999 })
    relay.target.answers(answerWith(500))
    await relay.createEndpoint()

    const times = timesOf(await toTheEnd(relay, await relay.deliver()))

    const waits = times.slice(1).map((time, n) => Math.round((time - (times[n] ?? 0)) * SECOND))
    expect(waits).toEqual(SECONDS.map((delay) => Math.round(delay * SECOND * 1.1998)))
  })

  test.each([
    ['0s,2s,7s', [0, 0, 2, 9]],
    ['', [0]],
  ])('may be configured as %p', async (delays, times) => {
    await using relay = await bootRelay({ flags: { 'relay-retry-delays': delays } })
    relay.target.answers(answerWith(500))
    await relay.createEndpoint()

    const delivery = await toTheEnd(relay, await relay.deliver())

    expect(timesOf(delivery)).toEqual(times)
    expect(delivery).toMatchObject({ status: 'failed', attempts: times.length })
  })

  test('ends with the first success, and is that of one endpoint alone', async () => {
    const party = await newTenant()
    const { createEndpoint, deliver, deliveryOf, target, clock } = party
    await using other = startTarget()
    target.answers(answerWith(503))
    const [ill, well] = [await createEndpoint(), await createEndpoint(other.url)]
    const message = await deliver()
    await clock.advance(5 * SECOND)
    const of = (endpoint: Json) => deliveryOf(message, endpoint)
    expect(await of(ill)).toMatchObject({ status: 'retrying', attempts: 2 })
    expect(await of(well)).toMatchObject({ status: 'succeeded', attempts: 1 })

    target.answers(answerWith(201))
    await clock.advance(2 * MINUTE)

    expect(await of(ill)).toMatchObject({ status: 'succeeded', attempts: 3 })
    expect(target.requests).toHaveLength(3)
  })
})

describe('Retry-After', () => {
  const httpDate = (after: number) => (now: number) => new Date(now + after).toUTCString()

  test.each<[string, (now: number) => string, number]>([
    ['in seconds', () => '120', 120 * SECOND],
    ['as a date', httpDate(90 * SECOND), 90 * SECOND],
    ['of a year counts as a day', () => '31536000', DAY],
    ['that is shorter than the schedule does not count', () => '1', 5 * SECOND],
    ['that cannot be read does not count', () => 'soon', 5 * SECOND],
  ])('%s', async (_, value, wait) => {
    const { createEndpoint, deliver, deliveryOf, target, clock } = await newTenant()
    await createEndpoint()
    // A date has whole seconds.
    clock.jump(SECOND - (clock.now() % SECOND))
    for (const status of [503, 429, 404, 301]) {
      target.answers(answerWith(status, { 'retry-after': value(clock.now()) }))
      const { attempt_log, next_attempt_at } = await deliveryOf(await deliver())
      expect(next_attempt_at).toBe(isoAt(clock.now() + wait))
      expect(attempt_log[0].next_attempt_at).toBe(next_attempt_at)
    }
  })
})

test('a redirect is never followed', async () => {
  await using inner = startTarget()
  for (const status of [301, 302, 303, 307, 308]) {
    const { createEndpoint, deliver, deliveryOf, target, clock } = await newTenant()
    target.answers(answerWith(status, { location: inner.url }))
    await createEndpoint()

    const delivery = await deliveryOf(await deliver())

    expect(delivery).toMatchObject({
      status: 'retrying',
      attempt_log: [{ response: { status }, error: { code: 'redirect' } }],
    })
    await clock.advance(5 * SECOND)
    expect(target.requests).toHaveLength(2)
  }
  expect(inner.requests).toEqual([])
})

describe('the status 410', () => {
  test('fails the delivery, disables the endpoint, and holds everything else for it', async () => {
    const { app, createEndpoint, deliver, deliveryOf, readEndpoint, target } = await newTenant()
    await using other = startTarget()
    target.answers(answerWith(500))
    const [endpoint, well] = [await createEndpoint(), await createEndpoint(other.url)]
    const waiting = await deliver()
    target.answers(answerWith(410))
    const last = await deliver()
    const later = await deliver()

    const gone = { status: 'failed', error: { code: 'gone' }, next_attempt_at: null }
    expect(await deliveryOf(last, endpoint)).toMatchObject({
      status: 'failed',
      attempts: 1,
      next_attempt_at: null,
      attempt_log: [gone],
    })
    const disabled = { active: false, disabled_reason: 'gone' }
    expect(await readEndpoint(endpoint)).toMatchObject(disabled)
    const held = { status: 'held', held_reason: 'inactive', next_attempt_at: null }
    for (const message of [waiting, later])
      expect(await deliveryOf(message, endpoint)).toMatchObject(held)
    await leap(app, 2 * DAY)
    expect(target.requests).toHaveLength(2)
    expect(await readEndpoint(well)).toMatchObject({ active: true, disabled_reason: null })
    expect(await deliveryOf(later, well)).toMatchObject({ status: 'succeeded' })
  })
})

describe('an endpoint that fails for days is disabled', () => {
  /** Each message is tried once. */
  const ONCE = { flags: { ...NEVER_OPEN.flags, ...WITHOUT_RETRIES.flags } }
  const WELL = { active: true, disabled_reason: null }
  const FAILING = { active: false, disabled_reason: 'failing' }

  async function failing(relay: Party) {
    relay.target.answers(answerWith(500))
    return relay.createEndpoint()
  }

  async function fail({ app, deliver }: Party, times: number, pause = 0) {
    for (let n = 0; n < times; n++) {
      await leap(app, pause)
      await deliver()
    }
  }

  test('after 5 days without success and 20 failures over 12 hours', async () => {
    await using relay = await bootRelay(ONCE)
    const { app, clock, readEndpoint } = relay
    const endpoint = await failing(relay)
    const begun = clock.now()
    await leapTo(app, begun + 4 * DAY)
    await fail(relay, 19, HOUR)
    await leapTo(app, begun + 5 * DAY - SECOND)

    await fail(relay, 1)
    expect(await readEndpoint(endpoint)).toMatchObject(WELL)
    await leap(app, SECOND)
    await fail(relay, 2)

    expect(await readEndpoint(endpoint)).toMatchObject(FAILING)
    expect(await tally(relay)).toEqual({ failed: 21, 'held: inactive': 1 })
    const disabled = "select detail from audit_log where action = 'endpoint.disabled'"
    expect(app.db.client.query(disabled).all()).toEqual([{ detail: '{"reason":"failing"}' }])
  })

  test('not after 19 failures, which are counted again after a success or a resume', async () => {
    await using relay = await bootRelay(ONCE)
    const { change, deliver, readEndpoint, target } = relay
    const endpoint = await failing(relay)
    await fail(relay, 19, DAY)
    expect(await readEndpoint(endpoint)).toMatchObject(WELL)
    target.answers(answerWith(200))
    await deliver()
    target.answers(answerWith(500))

    await fail(relay, 19, DAY)
    expect(await readEndpoint(endpoint)).toMatchObject(WELL)
    await fail(relay, 1)
    expect(await readEndpoint(endpoint)).toMatchObject(FAILING)

    await change(endpoint, { active: true })
    await fail(relay, 19, HOUR)
    expect(await readEndpoint(endpoint)).toMatchObject(WELL)
    await fail(relay, 1)
    expect(await readEndpoint(endpoint)).toMatchObject(FAILING)
  })

  test('and what waits for a retry is held immediately', async () => {
    await using relay = await bootRelay({
      flags: { ...NEVER_OPEN.flags, 'relay-retry-delays': '20d' },
    })
    const endpoint = await failing(relay)
    await fail(relay, 20, 8 * HOUR)
    expect(await relay.readEndpoint(endpoint)).toMatchObject(FAILING)
    expect(await tally(relay)).toEqual({ 'held: inactive': 20 })
  })
})
