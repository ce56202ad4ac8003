import { describe, expect, test } from 'bun:test'
import { startTarget } from '../../support/target.ts'
import { advanceWaiting, DAY, holdAnswers, MINUTE, SECOND } from '../clockwork/support.ts'
import { bootRelay, type Fixture, leapTo, rest, stillness, tally } from './fixture.ts'

const no = () => new Response('', { status: 500 })
const yes = () => new Response('ok')

/** An endpoint whose breaker has just been opened by five messages. */
async function opened(fixture: Fixture, target: ReturnType<typeof startTarget>) {
  target.answers(no)
  const endpoint = await fixture.createEndpoint(target.url)
  const failed = await fixture.sendMany(5)
  await rest(fixture.app)
  expect(await fixture.readEndpoint(endpoint)).toMatchObject({ health: { breaker: 'open' } })
  return { endpoint, failed }
}

const openUntil = async ({ readEndpoint }: Fixture, endpoint: { id: string }) =>
  Date.parse((await readEndpoint(endpoint)).health.open_until)

describe('an open breaker', () => {
  test('is the outcome of five failures in a row', async () => {
    await using fixture = await bootRelay()
    await using target = startTarget(no)
    const endpoint = await fixture.createEndpoint(target.url)
    for (let n = 0; n < 4; n++) await fixture.deliver()
    expect(await fixture.readEndpoint(endpoint)).toMatchObject({
      health: { breaker: 'closed', failures_in_a_row: 4, open_until: null },
    })

    await fixture.deliver()

    expect(await fixture.readEndpoint(endpoint)).toMatchObject({
      active: true,
      health: {
        breaker: 'open',
        failures_in_a_row: 5,
        open_until: new Date(fixture.clock.now() + 30 * SECOND).toISOString(),
        failing_since: new Date(fixture.clock.now()).toISOString(),
      },
    })
  })

  test('is not the outcome of five failures with a success among them', async () => {
    await using fixture = await bootRelay()
    await using target = startTarget(no)
    const endpoint = await fixture.createEndpoint(target.url)
    for (let n = 0; n < 4; n++) await fixture.deliver()
    target.answers(yes)
    await fixture.deliver()
    target.answers(no)

    for (let n = 0; n < 4; n++) await fixture.deliver()

    expect(await fixture.readEndpoint(endpoint)).toMatchObject({
      health: { breaker: 'closed', failures_in_a_row: 4 },
    })
  })

  test('opens after as many as the configuration says', async () => {
    await using fixture = await bootRelay({ flags: { 'relay-breaker-failures': '2' } })
    await using target = startTarget(no)
    const endpoint = await fixture.createEndpoint(target.url)
    await fixture.deliver()
    await fixture.deliver()

    expect(await fixture.readEndpoint(endpoint)).toMatchObject({ health: { breaker: 'open' } })
  })

  test('holds what comes, and no attempt is made or counted', async () => {
    await using fixture = await bootRelay()
    await using target = startTarget()
    const { failed } = await opened(fixture, target)

    const later = await fixture.deliver()
    await fixture.clock.advance(29 * SECOND)

    expect(target.requests).toHaveLength(5)
    expect(await fixture.deliveryOf(later)).toMatchObject({
      status: 'held',
      held_reason: 'breaker',
      attempts: 0,
      next_attempt_at: null,
      attempt_log: [],
    })
    for (const message of failed)
      expect(await fixture.deliveryOf(message)).toMatchObject({
        status: 'held',
        held_reason: 'breaker',
        attempts: 1,
      })
  })

  test('concerns no other endpoint', async () => {
    await using fixture = await bootRelay()
    await using target = startTarget()
    await opened(fixture, target)
    await using other = startTarget()
    const well = await fixture.createEndpoint(other.url)

    const message = await fixture.deliver()

    expect(await fixture.deliveryOf(message, well)).toMatchObject({ status: 'succeeded' })
    expect(other.requests).toHaveLength(1)
  })

  test('lets a resend through', async () => {
    await using fixture = await bootRelay()
    await using target = startTarget()
    const { endpoint } = await opened(fixture, target)
    const held = await fixture.deliver()
    await fixture.deliver()

    await fixture.resend(await fixture.deliveryOf(held))
    await rest(fixture.app)

    expect(target.requests).toHaveLength(6)
    expect(await fixture.deliveryOf(held)).toMatchObject({
      status: 'held',
      attempts: 1,
      attempt_log: [{ trigger: 'resend', status: 'failed' }],
    })
    expect(await fixture.readEndpoint(endpoint)).toMatchObject({
      health: { breaker: 'open', failures_in_a_row: 5 },
    })
  })

  test('is closed by a resend that succeeds, and everything held goes out', async () => {
    await using fixture = await bootRelay()
    await using target = startTarget()
    const { endpoint } = await opened(fixture, target)
    const held = await fixture.sendMany(40)
    await rest(fixture.app)
    target.answers(yes)

    await fixture.resend(await fixture.deliveryOf(held[7]))
    await fixture.clock.advance(10 * SECOND)
    await rest(fixture.app)

    expect(await tally(fixture)).toEqual({ succeeded: 45 })
    expect(target.requests).toHaveLength(5 + 45)
    expect(await fixture.readEndpoint(endpoint)).toMatchObject({
      health: { breaker: 'closed', failures_in_a_row: 0, failing_since: null },
    })
  })

  test('is closed by the success of an attempt that began before it opened', async () => {
    await using fixture = await bootRelay()
    await using target = startTarget()
    const endpoint = await fixture.createEndpoint(target.url)
    const held = holdAnswers(target)
    await fixture.sendMany(6)
    await held.arrived(6)
    held.release(500, 5)
    await stillness(fixture.app, () => target.requests.length)
    expect(await fixture.readEndpoint(endpoint)).toMatchObject({ health: { breaker: 'open' } })

    target.answers(yes)
    held.release(200)
    await rest(fixture.app)

    expect(await fixture.readEndpoint(endpoint)).toMatchObject({
      health: { breaker: 'recovering' },
    })
    const message = await fixture.deliver()
    expect(await fixture.deliveryOf(message)).toMatchObject({ status: 'succeeded' })
  })
})

describe('after its pause', () => {
  test('one delivery is tried, at 30 seconds, then 60, and so on to 10 minutes', async () => {
    await using fixture = await bootRelay({ flags: { 'relay-retry-delays': '30d' } })
    await using target = startTarget()
    const { endpoint } = await opened(fixture, target)
    await fixture.sendMany(20)
    await rest(fixture.app)

    const pauses: number[] = []
    for (let trial = 0; trial < 8; trial++) {
      const at = await openUntil(fixture, endpoint)
      pauses.push((at - fixture.clock.now()) / SECOND)
      const before = target.requests.length
      await leapTo(fixture.app, at - 1)
      expect(target.requests).toHaveLength(before)
      await fixture.clock.advance(1)
      await rest(fixture.app)
      expect(target.requests).toHaveLength(before + 1)
    }

    expect(pauses).toEqual([30, 60, 120, 240, 480, 600, 600, 600])
    expect(await tally(fixture)).toEqual({ retrying: 5 + 8, 'held: breaker': 12 })
  })

  test('an endpoint for which nothing is held is tried with what comes next', async () => {
    await using fixture = await bootRelay({ flags: { 'relay-retry-delays': '' } })
    await using target = startTarget()
    const { endpoint } = await opened(fixture, target)
    await fixture.clock.advance(30 * SECOND)
    expect(await fixture.readEndpoint(endpoint)).toMatchObject({
      health: { breaker: 'recovering' },
    })
    const held = holdAnswers(target)

    await fixture.sendMany(3)
    await held.arrived(6)
    await stillness(fixture.app, () => target.requests.length)
    expect(target.requests).toHaveLength(6)
    held.release(500)
    await rest(fixture.app)

    expect(await fixture.readEndpoint(endpoint)).toMatchObject({ health: { breaker: 'open' } })
    expect(await tally(fixture)).toEqual({ failed: 6, 'held: breaker': 2 })
  })

  test('a trial that fails leaves all others untouched', async () => {
    await using fixture = await bootRelay()
    await using target = startTarget()
    const { endpoint } = await opened(fixture, target)
    const held = await fixture.sendMany(10)
    await rest(fixture.app)

    await leapTo(fixture.app, await openUntil(fixture, endpoint))

    expect(target.requests).toHaveLength(6)
    expect(await fixture.deliveryOf(held[0])).toMatchObject({ attempts: 1 })
    for (const message of held.slice(1))
      expect(await fixture.deliveryOf(message)).toMatchObject({
        status: 'held',
        held_reason: 'breaker',
        attempts: 0,
      })
  })

  test('what is under way grows from 1 to 16 as deliveries succeed', async () => {
    await using fixture = await bootRelay({ flags: { 'relay-retry-delays': '' } })
    await using target = startTarget()
    await opened(fixture, target)
    await fixture.sendMany(60)
    await rest(fixture.app)
    const held = holdAnswers(target)
    const still = () => stillness(fixture.app, () => target.requests.length)

    await advanceWaiting(fixture.app, 30 * SECOND)
    await held.arrived(6)
    await still()
    const underWay = [target.requests.length - 5]
    for (let released = 1; released <= 5; released++) {
      held.release(200, 1)
      await still()
      underWay.push(target.requests.length - 5 - released)
    }
    expect(underWay).toEqual([1, 2, 4, 8, 16, 16])

    target.answers(yes)
    held.release(200)
    await rest(fixture.app)
    expect(await tally(fixture)).toEqual({ failed: 5, succeeded: 60 })
  })

  test('what was held arrives oldest first, each once', async () => {
    await using fixture = await bootRelay()
    await using target = startTarget()
    const { failed } = await opened(fixture, target)
    const held = await fixture.sendMany(300)
    await rest(fixture.app)
    target.answers(yes)

    await fixture.clock.advance(40 * SECOND)
    await rest(fixture.app)

    expect(await tally(fixture)).toEqual({ succeeded: 305 })
    const arrived = target.requests.slice(5).map(({ headers }) => headers.get('webhook-id'))
    expect(new Set(arrived).size).toBe(305)
    expect(arrived).toHaveLength(305)
    const order = held.map(({ id }) => arrived.indexOf(id))
    const late = order.map((place, n) => Math.abs(place - n))
    // Those that failed before it opened came due last, and up to 16 are under way at once.
    expect(Math.max(...late)).toBeLessThan(5 + 16)
    expect(failed.every(({ id }) => arrived.includes(id))).toBe(true)
  })

  test('what comes while it recovers does not overtake what was held', async () => {
    await using fixture = await bootRelay({ flags: { 'relay-retry-delays': '' } })
    await using target = startTarget()
    await opened(fixture, target)
    const early = await fixture.sendMany(100)
    await rest(fixture.app)
    const held = holdAnswers(target)
    await advanceWaiting(fixture.app, 30 * SECOND)
    await held.arrived(6)
    const late = await fixture.sendMany(100)
    target.answers(yes)

    held.release(200)
    await fixture.clock.advance(10 * SECOND)
    await rest(fixture.app)

    const arrived = target.requests.slice(5).map(({ headers }) => headers.get('webhook-id'))
    const firstLate = Math.min(...late.map(({ id }) => arrived.indexOf(id)))
    const lastEarly = Math.max(...early.map(({ id }) => arrived.indexOf(id)))
    expect(arrived).toHaveLength(200)
    expect(lastEarly - firstLate).toBeLessThan(16)
  })

  test('a recovery that breaks down waits longer than before, and then goes through', async () => {
    await using fixture = await bootRelay({ flags: { 'relay-retry-delays': '30d' } })
    await using target = startTarget()
    const { endpoint } = await opened(fixture, target)
    await fixture.sendMany(60)
    await rest(fixture.app)
    let answered = 0
    target.answers(() => (answered++ < 2 ? yes() : no()))

    await leapTo(fixture.app, await openUntil(fixture, endpoint))
    const { health } = await fixture.readEndpoint(endpoint)
    expect(health).toMatchObject({ breaker: 'open' })
    expect(Date.parse(health.open_until) - fixture.clock.now()).toBe(MINUTE)

    target.answers(yes)
    await leapTo(fixture.app, Date.parse(health.open_until))
    await fixture.clock.advance(10 * SECOND)
    await rest(fixture.app)
    expect(await tally(fixture, '?status=held')).toEqual({})
    expect(await fixture.readEndpoint(endpoint)).toMatchObject({ health: { breaker: 'closed' } })
  })
})

describe('an endpoint that answers, if only that it wants none of what was held', () => {
  const refused = (status: number) => () =>
    new Response('', { status, headers: { 'webhook-delivery': 'abort-message' } })

  test.each([
    ['abort-message with 500', refused(500), 'cancelled'],
    ['abort-message with 404', refused(404), 'cancelled'],
    ['200', yes, 'succeeded'],
  ] as const)(
    'is well all the same, and gets the rest of both lines without a pause: %s',
    async (_, answer, end) => {
      await using fixture = await bootRelay()
      await using target = startTarget()
      const { endpoint } = await opened(fixture, target)
      await fixture.sendMany(40)
      await fixture.clock.advance(6 * SECOND)
      expect(await tally(fixture)).toEqual({ 'held: breaker': 45 })
      target.answers(answer)

      await leapTo(fixture.app, await openUntil(fixture, endpoint))

      expect(await tally(fixture)).toEqual({ [end]: 45 })
      expect(target.requests).toHaveLength(5 + 45)
      expect(await fixture.readEndpoint(endpoint)).toMatchObject({
        active: true,
        health: { breaker: 'closed', open_until: null, failures_in_a_row: 0, failing_since: null },
      })
    },
  )

  test.each([
    ['abort-message with 500', refused(500), 'cancelled'],
    ['200', yes, 'succeeded'],
  ] as const)('leaves room that the other line hears of: %s', async (_, answer, end) => {
    await using fixture = await bootRelay({ flags: { 'relay-breaker-failures': '1' } })
    await using target = startTarget(no)
    const endpoint = await fixture.createEndpoint(target.url)
    await fixture.deliver()
    await fixture.deliver()
    await fixture.clock.advance(6 * SECOND)
    expect(await tally(fixture)).toEqual({ 'held: breaker': 2 })
    target.answers(answer)

    await leapTo(fixture.app, await openUntil(fixture, endpoint))

    expect(await tally(fixture)).toEqual({ [end]: 2 })
  })

  test('counts for a success among failures', async () => {
    await using fixture = await bootRelay()
    await using target = startTarget(no)
    const endpoint = await fixture.createEndpoint(target.url)
    for (let n = 0; n < 4; n++) await fixture.deliver()
    target.answers(refused(500))
    await fixture.deliver()
    target.answers(no)
    await fixture.deliver()

    expect(await fixture.readEndpoint(endpoint)).toMatchObject({
      health: { breaker: 'closed', failures_in_a_row: 1 },
    })
  })
})

describe('a pause that is longer than any', () => {
  test('because the clock was a year ahead, is over within 5 s once that is set back', async () => {
    await using fixture = await bootRelay()
    await using target = startTarget()
    fixture.clock.jump(365 * DAY)
    const { endpoint } = await opened(fixture, target)
    const later = await fixture.sendMany(10)
    await rest(fixture.app)
    target.answers(yes)

    fixture.clock.jump(-365 * DAY)
    await fixture.clock.advance(5 * SECOND)
    await rest(fixture.app)

    expect(target.requests).toHaveLength(5 + 10)
    for (const message of later)
      expect(await fixture.deliveryOf(message)).toMatchObject({ status: 'succeeded' })
    expect(await fixture.readEndpoint(endpoint)).toMatchObject({
      health: { failures_in_a_row: 0, open_until: null },
    })
  })

  test('is not the longest that there is, which is waited for', async () => {
    await using fixture = await bootRelay({ flags: { 'relay-retry-delays': '30d' } })
    await using target = startTarget()
    const { endpoint } = await opened(fixture, target)
    await fixture.sendMany(10)
    for (let trial = 0; trial < 5; trial++)
      await leapTo(fixture.app, await openUntil(fixture, endpoint))
    expect((await openUntil(fixture, endpoint)) - fixture.clock.now()).toBe(10 * MINUTE)
    const before = target.requests.length

    fixture.clock.jump(-1)
    await fixture.clock.advance(MINUTE)

    expect(target.requests).toHaveLength(before)
  })
})

describe('a change of an endpoint whose breaker is open', () => {
  test('of its url has it tried there at once, and gets what is held', async () => {
    await using fixture = await bootRelay()
    await using target = startTarget()
    await using moved = startTarget()
    const { endpoint } = await opened(fixture, target)
    await fixture.sendMany(10)
    await rest(fixture.app)

    await fixture.change(endpoint, { url: moved.url })
    await rest(fixture.app)

    expect(moved.requests).toHaveLength(10)
    expect(target.requests).toHaveLength(5)
    expect(await tally(fixture)).toEqual({ succeeded: 10, retrying: 5 })
  })

  test('to a url that fails too has one tried, and waits longer', async () => {
    await using fixture = await bootRelay()
    await using target = startTarget()
    await using moved = startTarget(no)
    const { endpoint } = await opened(fixture, target)
    await fixture.sendMany(10)
    await rest(fixture.app)

    await fixture.change(endpoint, { url: moved.url })
    await rest(fixture.app)

    expect(moved.requests).toHaveLength(1)
    expect((await openUntil(fixture, endpoint)) - fixture.clock.now()).toBe(MINUTE)
  })

  test('of anything else leaves it open', async () => {
    await using fixture = await bootRelay()
    await using target = startTarget()
    const { endpoint } = await opened(fixture, target)
    const before = await openUntil(fixture, endpoint)
    await fixture.sendMany(10)

    await fixture.change(endpoint, { url: target.url, description: 'new', event_types: ['a'] })
    await rest(fixture.app)

    expect(await openUntil(fixture, endpoint)).toBe(before)
    expect(target.requests).toHaveLength(5)
  })
})
