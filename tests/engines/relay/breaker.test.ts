import { describe, expect, test } from 'bun:test'
import { startTarget } from '../../support/target.ts'
import { advanceWaiting, DAY, holdAnswers, MINUTE, SECOND } from '../clockwork/support.ts'
import { bootRelay, leapTo, rest, stillness, tally, type World } from './fixture.ts'

const no = () => new Response('', { status: 500 })
const yes = () => new Response('ok')

/** An endpoint whose breaker has just been opened by five messages. */
async function opened(world: World, target: ReturnType<typeof startTarget>) {
  target.answers(no)
  const endpoint = await world.createEndpoint(target.url)
  const failed = await world.sendMany(5)
  await rest(world.app)
  expect(await world.readEndpoint(endpoint)).toMatchObject({ health: { breaker: 'open' } })
  return { endpoint, failed }
}

const openUntil = async ({ readEndpoint }: World, endpoint: { id: string }) =>
  Date.parse((await readEndpoint(endpoint)).health.open_until)

describe('an open breaker', () => {
  test('is the outcome of five failures in a row', async () => {
    await using world = await bootRelay()
    await using target = startTarget(no)
    const endpoint = await world.createEndpoint(target.url)
    for (let n = 0; n < 4; n++) await world.deliver()
    expect(await world.readEndpoint(endpoint)).toMatchObject({
      health: { breaker: 'closed', failures_in_a_row: 4, open_until: null },
    })

    await world.deliver()

    expect(await world.readEndpoint(endpoint)).toMatchObject({
      active: true,
      health: {
        breaker: 'open',
        failures_in_a_row: 5,
        open_until: new Date(world.clock.now() + 30 * SECOND).toISOString(),
        failing_since: new Date(world.clock.now()).toISOString(),
      },
    })
  })

  test('is not the outcome of five failures with a success among them', async () => {
    await using world = await bootRelay()
    await using target = startTarget(no)
    const endpoint = await world.createEndpoint(target.url)
    for (let n = 0; n < 4; n++) await world.deliver()
    target.answers(yes)
    await world.deliver()
    target.answers(no)

    for (let n = 0; n < 4; n++) await world.deliver()

    expect(await world.readEndpoint(endpoint)).toMatchObject({
      health: { breaker: 'closed', failures_in_a_row: 4 },
    })
  })

  test('opens after as many as the configuration says', async () => {
    await using world = await bootRelay({ flags: { 'relay-breaker-failures': '2' } })
    await using target = startTarget(no)
    const endpoint = await world.createEndpoint(target.url)
    await world.deliver()
    await world.deliver()

    expect(await world.readEndpoint(endpoint)).toMatchObject({ health: { breaker: 'open' } })
  })

  test('holds what comes, and no attempt is made or counted', async () => {
    await using world = await bootRelay()
    await using target = startTarget()
    const { failed } = await opened(world, target)

    const later = await world.deliver()
    await world.clock.advance(29 * SECOND)

    expect(target.requests).toHaveLength(5)
    expect(await world.deliveryOf(later)).toMatchObject({
      status: 'held',
      held_reason: 'breaker',
      attempts: 0,
      next_attempt_at: null,
      attempt_log: [],
    })
    for (const message of failed)
      expect(await world.deliveryOf(message)).toMatchObject({
        status: 'held',
        held_reason: 'breaker',
        attempts: 1,
      })
  })

  test('concerns no other endpoint', async () => {
    await using world = await bootRelay()
    await using target = startTarget()
    await opened(world, target)
    await using other = startTarget()
    const well = await world.createEndpoint(other.url)

    const message = await world.deliver()

    expect(await world.deliveryOf(message, well)).toMatchObject({ status: 'succeeded' })
    expect(other.requests).toHaveLength(1)
  })

  test('lets a resend through', async () => {
    await using world = await bootRelay()
    await using target = startTarget()
    const { endpoint } = await opened(world, target)
    const held = await world.deliver()
    await world.deliver()

    await world.resend(await world.deliveryOf(held))
    await rest(world.app)

    expect(target.requests).toHaveLength(6)
    expect(await world.deliveryOf(held)).toMatchObject({
      status: 'held',
      attempts: 1,
      attempt_log: [{ trigger: 'resend', status: 'failed' }],
    })
    expect(await world.readEndpoint(endpoint)).toMatchObject({
      health: { breaker: 'open', failures_in_a_row: 5 },
    })
  })

  test('is closed by a resend that succeeds, and everything held goes out', async () => {
    await using world = await bootRelay()
    await using target = startTarget()
    const { endpoint } = await opened(world, target)
    const held = await world.sendMany(40)
    await rest(world.app)
    target.answers(yes)

    await world.resend(await world.deliveryOf(held[7]))
    await world.clock.advance(10 * SECOND)
    await rest(world.app)

    expect(await tally(world)).toEqual({ succeeded: 45 })
    expect(target.requests).toHaveLength(5 + 45)
    expect(await world.readEndpoint(endpoint)).toMatchObject({
      health: { breaker: 'closed', failures_in_a_row: 0, failing_since: null },
    })
  })

  test('is closed by the success of an attempt that began before it opened', async () => {
    await using world = await bootRelay()
    await using target = startTarget()
    const endpoint = await world.createEndpoint(target.url)
    const held = holdAnswers(target)
    await world.sendMany(6)
    await held.arrived(6)
    held.release(500, 5)
    await stillness(world.app, () => target.requests.length)
    expect(await world.readEndpoint(endpoint)).toMatchObject({ health: { breaker: 'open' } })

    target.answers(yes)
    held.release(200)
    await rest(world.app)

    expect(await world.readEndpoint(endpoint)).toMatchObject({ health: { breaker: 'recovering' } })
    const message = await world.deliver()
    expect(await world.deliveryOf(message)).toMatchObject({ status: 'succeeded' })
  })
})

describe('after its pause', () => {
  test('one delivery is tried, at 30 seconds, then 60, and so on to 10 minutes', async () => {
    await using world = await bootRelay({ flags: { 'relay-retry-delays': '30d' } })
    await using target = startTarget()
    const { endpoint } = await opened(world, target)
    await world.sendMany(20)
    await rest(world.app)

    const pauses: number[] = []
    for (let trial = 0; trial < 8; trial++) {
      const at = await openUntil(world, endpoint)
      pauses.push((at - world.clock.now()) / SECOND)
      const before = target.requests.length
      await leapTo(world.app, at - 1)
      expect(target.requests).toHaveLength(before)
      await world.clock.advance(1)
      await rest(world.app)
      expect(target.requests).toHaveLength(before + 1)
    }

    expect(pauses).toEqual([30, 60, 120, 240, 480, 600, 600, 600])
    expect(await tally(world)).toEqual({ retrying: 5 + 8, 'held: breaker': 12 })
  })

  test('an endpoint for which nothing is held is tried with what comes next', async () => {
    await using world = await bootRelay({ flags: { 'relay-retry-delays': '' } })
    await using target = startTarget()
    const { endpoint } = await opened(world, target)
    await world.clock.advance(30 * SECOND)
    expect(await world.readEndpoint(endpoint)).toMatchObject({ health: { breaker: 'recovering' } })
    const held = holdAnswers(target)

    await world.sendMany(3)
    await held.arrived(6)
    await stillness(world.app, () => target.requests.length)
    expect(target.requests).toHaveLength(6)
    held.release(500)
    await rest(world.app)

    expect(await world.readEndpoint(endpoint)).toMatchObject({ health: { breaker: 'open' } })
    expect(await tally(world)).toEqual({ failed: 6, 'held: breaker': 2 })
  })

  test('a trial that fails leaves all others untouched', async () => {
    await using world = await bootRelay()
    await using target = startTarget()
    const { endpoint } = await opened(world, target)
    const held = await world.sendMany(10)
    await rest(world.app)

    await leapTo(world.app, await openUntil(world, endpoint))

    expect(target.requests).toHaveLength(6)
    expect(await world.deliveryOf(held[0])).toMatchObject({ attempts: 1 })
    for (const message of held.slice(1))
      expect(await world.deliveryOf(message)).toMatchObject({
        status: 'held',
        held_reason: 'breaker',
        attempts: 0,
      })
  })

  test('what is under way grows from 1 to 16 as deliveries succeed', async () => {
    await using world = await bootRelay({ flags: { 'relay-retry-delays': '' } })
    await using target = startTarget()
    await opened(world, target)
    await world.sendMany(60)
    await rest(world.app)
    const held = holdAnswers(target)
    const still = () => stillness(world.app, () => target.requests.length)

    await advanceWaiting(world.app, 30 * SECOND)
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
    await rest(world.app)
    expect(await tally(world)).toEqual({ failed: 5, succeeded: 60 })
  })

  test('what was held arrives oldest first, each once', async () => {
    await using world = await bootRelay()
    await using target = startTarget()
    const { failed } = await opened(world, target)
    const held = await world.sendMany(300)
    await rest(world.app)
    target.answers(yes)

    await world.clock.advance(40 * SECOND)
    await rest(world.app)

    expect(await tally(world)).toEqual({ succeeded: 305 })
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
    await using world = await bootRelay({ flags: { 'relay-retry-delays': '' } })
    await using target = startTarget()
    await opened(world, target)
    const early = await world.sendMany(100)
    await rest(world.app)
    const held = holdAnswers(target)
    await advanceWaiting(world.app, 30 * SECOND)
    await held.arrived(6)
    const late = await world.sendMany(100)
    target.answers(yes)

    held.release(200)
    await world.clock.advance(10 * SECOND)
    await rest(world.app)

    const arrived = target.requests.slice(5).map(({ headers }) => headers.get('webhook-id'))
    const firstLate = Math.min(...late.map(({ id }) => arrived.indexOf(id)))
    const lastEarly = Math.max(...early.map(({ id }) => arrived.indexOf(id)))
    expect(arrived).toHaveLength(200)
    expect(lastEarly - firstLate).toBeLessThan(16)
  })

  test('a recovery that breaks down waits longer than before, and then goes through', async () => {
    await using world = await bootRelay({ flags: { 'relay-retry-delays': '30d' } })
    await using target = startTarget()
    const { endpoint } = await opened(world, target)
    await world.sendMany(60)
    await rest(world.app)
    let answered = 0
    target.answers(() => (answered++ < 2 ? yes() : no()))

    await leapTo(world.app, await openUntil(world, endpoint))
    const { health } = await world.readEndpoint(endpoint)
    expect(health).toMatchObject({ breaker: 'open' })
    expect(Date.parse(health.open_until) - world.clock.now()).toBe(MINUTE)

    target.answers(yes)
    await leapTo(world.app, Date.parse(health.open_until))
    await world.clock.advance(10 * SECOND)
    await rest(world.app)
    expect(await tally(world, '?status=held')).toEqual({})
    expect(await world.readEndpoint(endpoint)).toMatchObject({ health: { breaker: 'closed' } })
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
      await using world = await bootRelay()
      await using target = startTarget()
      const { endpoint } = await opened(world, target)
      await world.sendMany(40)
      await world.clock.advance(6 * SECOND)
      expect(await tally(world)).toEqual({ 'held: breaker': 45 })
      target.answers(answer)

      await leapTo(world.app, await openUntil(world, endpoint))

      expect(await tally(world)).toEqual({ [end]: 45 })
      expect(target.requests).toHaveLength(5 + 45)
      expect(await world.readEndpoint(endpoint)).toMatchObject({
        active: true,
        health: { breaker: 'closed', open_until: null, failures_in_a_row: 0, failing_since: null },
      })
    },
  )

  test.each([
    ['abort-message with 500', refused(500), 'cancelled'],
    ['200', yes, 'succeeded'],
  ] as const)('leaves room that the other line hears of: %s', async (_, answer, end) => {
    await using world = await bootRelay({ flags: { 'relay-breaker-failures': '1' } })
    await using target = startTarget(no)
    const endpoint = await world.createEndpoint(target.url)
    await world.deliver()
    await world.deliver()
    await world.clock.advance(6 * SECOND)
    expect(await tally(world)).toEqual({ 'held: breaker': 2 })
    target.answers(answer)

    await leapTo(world.app, await openUntil(world, endpoint))

    expect(await tally(world)).toEqual({ [end]: 2 })
  })

  test('counts for a success among failures', async () => {
    await using world = await bootRelay()
    await using target = startTarget(no)
    const endpoint = await world.createEndpoint(target.url)
    for (let n = 0; n < 4; n++) await world.deliver()
    target.answers(refused(500))
    await world.deliver()
    target.answers(no)
    await world.deliver()

    expect(await world.readEndpoint(endpoint)).toMatchObject({
      health: { breaker: 'closed', failures_in_a_row: 1 },
    })
  })
})

describe('a pause that is longer than any', () => {
  test('because the clock was a year ahead, is over within 5 s once that is set back', async () => {
    await using world = await bootRelay()
    await using target = startTarget()
    world.clock.jump(365 * DAY)
    const { endpoint } = await opened(world, target)
    const later = await world.sendMany(10)
    await rest(world.app)
    target.answers(yes)

    world.clock.jump(-365 * DAY)
    await world.clock.advance(5 * SECOND)
    await rest(world.app)

    expect(target.requests).toHaveLength(5 + 10)
    for (const message of later)
      expect(await world.deliveryOf(message)).toMatchObject({ status: 'succeeded' })
    expect(await world.readEndpoint(endpoint)).toMatchObject({
      health: { failures_in_a_row: 0, open_until: null },
    })
  })

  test('is not the longest that there is, which is waited for', async () => {
    await using world = await bootRelay({ flags: { 'relay-retry-delays': '30d' } })
    await using target = startTarget()
    const { endpoint } = await opened(world, target)
    await world.sendMany(10)
    for (let trial = 0; trial < 5; trial++)
      await leapTo(world.app, await openUntil(world, endpoint))
    expect((await openUntil(world, endpoint)) - world.clock.now()).toBe(10 * MINUTE)
    const before = target.requests.length

    world.clock.jump(-1)
    await world.clock.advance(MINUTE)

    expect(target.requests).toHaveLength(before)
  })
})

describe('a change of an endpoint whose breaker is open', () => {
  test('of its url has it tried there at once, and gets what is held', async () => {
    await using world = await bootRelay()
    await using target = startTarget()
    await using moved = startTarget()
    const { endpoint } = await opened(world, target)
    await world.sendMany(10)
    await rest(world.app)

    await world.change(endpoint, { url: moved.url })
    await rest(world.app)

    expect(moved.requests).toHaveLength(10)
    expect(target.requests).toHaveLength(5)
    expect(await tally(world)).toEqual({ succeeded: 10, retrying: 5 })
  })

  test('to a url that fails too has one tried, and waits longer', async () => {
    await using world = await bootRelay()
    await using target = startTarget()
    await using moved = startTarget(no)
    const { endpoint } = await opened(world, target)
    await world.sendMany(10)
    await rest(world.app)

    await world.change(endpoint, { url: moved.url })
    await rest(world.app)

    expect(moved.requests).toHaveLength(1)
    expect((await openUntil(world, endpoint)) - world.clock.now()).toBe(MINUTE)
  })

  test('of anything else leaves it open', async () => {
    await using world = await bootRelay()
    await using target = startTarget()
    const { endpoint } = await opened(world, target)
    const before = await openUntil(world, endpoint)
    await world.sendMany(10)

    await world.change(endpoint, { url: target.url, description: 'new', event_types: ['a'] })
    await rest(world.app)

    expect(await openUntil(world, endpoint)).toBe(before)
    expect(target.requests).toHaveLength(5)
  })
})
