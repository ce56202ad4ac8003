import { describe, expect, test } from 'bun:test'
import { startTarget } from '../../support/target.ts'
import { DAY, HOUR, holdAnswers, MINUTE, SECOND } from '../clockwork/support.ts'
import { bootRelay, type Fixture, leap, leapTo, rest, storyOf, tally } from './fixture.ts'
import { replying, startRawTarget } from './receivers.ts'

const DELAYS = [
  5 * SECOND,
  MINUTE,
  5 * MINUTE,
  30 * MINUTE,
  2 * HOUR,
  5 * HOUR,
  10 * HOUR,
  14 * HOUR,
  20 * HOUR,
  24 * HOUR,
]

const answering = (status: number, headers: Record<string, string> = {}) =>
  startTarget(() => new Response('', { status, headers }))

/** Turns to each attempt that is announced, until none is. */
async function toTheEnd({ app, deliveryOf }: Fixture, message: { id: string }) {
  let delivery = await deliveryOf(message)
  while (delivery.next_attempt_at !== null) {
    await leapTo(app, Date.parse(delivery.next_attempt_at))
    delivery = await deliveryOf(message)
  }
  return delivery
}

describe('the schedule', () => {
  test('is kept to the millisecond: eleven attempts, and then it has failed', async () => {
    await using fixture = await bootRelay()
    await using target = answering(500)
    await fixture.createEndpoint(target.url)
    const message = await fixture.deliver()

    const delivery = await toTheEnd(fixture, message)

    let at = 0
    const times = [0, ...DELAYS.map((delay) => (at += delay))]
    expect(storyOf(delivery)).toEqual(times.map((time, n) => [n + 1, time, 'failed']))
    expect(delivery).toMatchObject({
      status: 'failed',
      attempts: 11,
      next_attempt_at: null,
      ended_at: new Date(fixture.clock.now()).toISOString(),
    })
    expect(target.requests).toHaveLength(11)
  })

  test('is never kept early, and by chance up to a fifth late', async () => {
    await using fixture = await bootRelay({ jitter: 0.999 })
    await using target = answering(500)
    await fixture.createEndpoint(target.url)

    const delivery = await toTheEnd(fixture, await fixture.deliver())

    const times = storyOf(delivery).map(([, time]) => time)
    const waits = times.slice(1).map((time, n) => time - (times[n] as number))
    expect(waits).toEqual(DELAYS.map((delay) => Math.round(delay * 1.1998)))
  })

  test('tells of each attempt when the next will be', async () => {
    await using fixture = await bootRelay()
    await using target = answering(500)
    await fixture.createEndpoint(target.url)

    const { attempt_log } = await toTheEnd(fixture, await fixture.deliver())

    const announced = attempt_log.map((entry: { next_attempt_at: string }) => entry.next_attempt_at)
    const made = attempt_log.map((entry: { started_at: string }) => entry.started_at)
    expect(announced).toEqual([...made.slice(1), null])
  })

  test('does not run a millisecond before its time', async () => {
    await using fixture = await bootRelay()
    await using target = answering(500)
    await fixture.createEndpoint(target.url)
    await fixture.deliver()

    await fixture.clock.advance(5 * SECOND - 1)
    expect(target.requests).toHaveLength(1)
    await fixture.clock.advance(1)
    expect(target.requests).toHaveLength(2)
  })

  test('is that of the configuration', async () => {
    await using fixture = await bootRelay({ flags: { 'relay-retry-delays': '0s,2s,7s' } })
    await using target = answering(500)
    await fixture.createEndpoint(target.url)

    const delivery = await toTheEnd(fixture, await fixture.deliver())

    expect(storyOf(delivery).map(([, time]) => time)).toEqual([0, 0, 2000, 9000])
    expect(delivery).toMatchObject({ status: 'failed', attempts: 4 })
  })

  test('may be empty: then one attempt is all there is', async () => {
    await using fixture = await bootRelay({ flags: { 'relay-retry-delays': '' } })
    await using target = answering(500)
    await fixture.createEndpoint(target.url)

    const message = await fixture.deliver()

    expect(await fixture.deliveryOf(message)).toMatchObject({ status: 'failed', attempts: 1 })
  })

  test('ends with the first success', async () => {
    await using fixture = await bootRelay()
    await using target = answering(500)
    await fixture.createEndpoint(target.url)
    const message = await fixture.deliver()
    await fixture.clock.advance(5 * SECOND)
    target.answers(() => new Response('', { status: 201 }))

    const delivery = await toTheEnd(fixture, message)

    expect(storyOf(delivery).map(([, , status]) => status)).toEqual([
      'failed',
      'failed',
      'succeeded',
    ])
    expect(delivery).toMatchObject({ status: 'succeeded', attempts: 3 })
    expect(target.requests.map(({ headers }) => headers.get('x-service-attempt'))).toEqual([
      '1',
      '2',
      '3',
    ])
  })

  test('of one endpoint has nothing to do with that of another', async () => {
    await using fixture = await bootRelay()
    await using good = answering(200)
    await using bad = answering(503)
    const [well, ill] = [
      await fixture.createEndpoint(good.url),
      await fixture.createEndpoint(bad.url),
    ]

    const message = await fixture.deliver()
    await fixture.clock.advance(5 * SECOND)

    expect(await fixture.deliveryOf(message, well)).toMatchObject({
      status: 'succeeded',
      attempts: 1,
    })
    expect(await fixture.deliveryOf(message, ill)).toMatchObject({
      status: 'retrying',
      attempts: 2,
    })
  })
})

describe('Retry-After', () => {
  /** Milliseconds from the end of the first attempt to the next, after such an answer. */
  async function waitAfter(value: (now: number) => string, status = 503) {
    await using fixture = await bootRelay()
    await using target = await startRawTarget(
      replying(`${status} No`, { 'Retry-After': value(fixture.clock.now()) }),
    )
    await fixture.createEndpoint(target.url)
    const { attempt_log, next_attempt_at } = await fixture.deliveryOf(await fixture.deliver())
    expect(attempt_log[0].next_attempt_at).toBe(next_attempt_at)
    return Date.parse(next_attempt_at) - fixture.clock.now()
  }

  const httpDate = (after: number) => (now: number) => new Date(now + after).toUTCString()

  test.each<[string, (now: number) => string, number]>([
    ['in seconds', () => '120', 120 * SECOND],
    ['as a date', httpDate(90 * SECOND), 90 * SECOND],
    ['of a year, of which a day counts', () => '31536000', DAY],
    ['as a date in a year, of which a day counts', httpDate(365 * DAY), DAY],
    ['too large for any number', () => '9'.repeat(400), DAY],
    ['shorter than the schedule', () => '1', 5 * SECOND],
    ['in the past', httpDate(-DAY), 5 * SECOND],
    ['below nothing', () => '-7', 5 * SECOND],
    ['that cannot be read', () => 'soon', 5 * SECOND],
  ])('%s', async (_, value, wait) => {
    expect(await waitAfter(value)).toBe(wait)
  })

  test.each([429, 500, 404, 301])('counts with the status %i as well', async (status) => {
    expect(await waitAfter(() => '120', status)).toBe(120 * SECOND)
  })

  test('puts off one attempt; the next comes after its own delay', async () => {
    await using fixture = await bootRelay()
    let answered = 0
    await using target = startTarget(() =>
      answered++ === 0
        ? new Response('', { status: 429, headers: { 'retry-after': '600' } })
        : new Response('', { status: 500 }),
    )
    await fixture.createEndpoint(target.url)
    const message = await fixture.deliver()

    await leap(fixture.app, 10 * MINUTE)
    await leap(fixture.app, MINUTE)

    expect(storyOf(await fixture.deliveryOf(message)).map(([, time]) => time)).toEqual([
      0,
      10 * MINUTE,
      11 * MINUTE,
    ])
  })

  test('does not bring back a schedule that is spent', async () => {
    await using fixture = await bootRelay({ flags: { 'relay-retry-delays': '' } })
    await using target = answering(503, { 'retry-after': '60' })
    await fixture.createEndpoint(target.url)

    expect(await fixture.deliveryOf(await fixture.deliver())).toMatchObject({
      status: 'failed',
      next_attempt_at: null,
    })
  })
})

describe('a redirect', () => {
  test.each([301, 302, 303, 307, 308])('%i is never followed', async (status) => {
    await using fixture = await bootRelay()
    await using inner = startTarget()
    await using target = answering(status, { location: inner.url })
    await fixture.createEndpoint(target.url)

    const { attempt_log, ...delivery } = await fixture.deliveryOf(await fixture.deliver())

    expect(delivery).toMatchObject({ status: 'retrying', attempts: 1 })
    expect(attempt_log).toMatchObject([
      {
        response: { status },
        error: {
          code: 'redirect',
          message: `status ${status}: redirect to ${inner.url}. Redirects are not followed`,
        },
      },
    ])
    await fixture.clock.advance(5 * SECOND)
    expect(target.requests).toHaveLength(2)
    expect(inner.requests).toEqual([])
  })
})

describe('410', () => {
  test('fails the delivery, disables the endpoint and holds what else was to come', async () => {
    await using fixture = await bootRelay()
    await using target = answering(500)
    const endpoint = await fixture.createEndpoint(target.url)
    const waiting = await fixture.deliver()
    target.answers(() => new Response('', { status: 410 }))
    const last = await fixture.deliver()
    const later = await fixture.deliver()

    expect(await fixture.deliveryOf(last)).toMatchObject({
      status: 'failed',
      attempts: 1,
      next_attempt_at: null,
      attempt_log: [
        {
          status: 'failed',
          error: { code: 'gone', message: expect.stringContaining('status 410') },
          next_attempt_at: null,
        },
      ],
    })
    expect(await fixture.readEndpoint(endpoint)).toMatchObject({
      active: false,
      disabled_reason: 'gone',
    })
    for (const held of [waiting, later])
      expect(await fixture.deliveryOf(held)).toMatchObject({
        status: 'held',
        held_reason: 'inactive',
        next_attempt_at: null,
      })
    await leap(fixture.app, 2 * DAY)
    expect(target.requests).toHaveLength(2)
  })

  test('leaves other endpoints alone', async () => {
    await using fixture = await bootRelay()
    await using gone = answering(410)
    await using well = answering(200)
    await fixture.createEndpoint(gone.url)
    const other = await fixture.createEndpoint(well.url)
    await fixture.deliver()

    const message = await fixture.deliver()

    expect(await fixture.readEndpoint(other)).toMatchObject({ active: true, disabled_reason: null })
    expect(await fixture.deliveryOf(message, other)).toMatchObject({ status: 'succeeded' })
  })

  test('from an endpoint that is switched on again is heard again', async () => {
    await using fixture = await bootRelay()
    await using target = answering(410)
    const endpoint = await fixture.createEndpoint(target.url)
    await fixture.deliver()
    const held = await fixture.deliver()

    await fixture.change(endpoint, { active: true })
    await rest(fixture.app)

    expect(target.requests).toHaveLength(2)
    expect(await fixture.deliveryOf(held)).toMatchObject({ status: 'failed' })
    expect(await fixture.readEndpoint(endpoint)).toMatchObject({ disabled_reason: 'gone' })
  })
})

describe('an endpoint that fails for days is disabled', () => {
  /** One attempt at a time: each message is tried once. */
  const ONCE = { flags: { 'relay-retry-delays': '', 'relay-breaker-failures': '1000' } }

  const fails = async (fixture: Fixture, times: number, pause = 0) => {
    for (let n = 0; n < times; n++) {
      await leap(fixture.app, pause)
      await fixture.deliver()
    }
  }

  test('after 5 days without success and 20 failures over 12 hours', async () => {
    await using fixture = await bootRelay(ONCE)
    await using target = answering(500)
    const endpoint = await fixture.createEndpoint(target.url)
    const begun = fixture.clock.now()
    await leapTo(fixture.app, begun + 4 * DAY)
    await fails(fixture, 19, HOUR)
    await leapTo(fixture.app, begun + 5 * DAY - SECOND)

    await fails(fixture, 1)
    expect(await fixture.readEndpoint(endpoint)).toMatchObject({ active: true })
    await leap(fixture.app, SECOND)
    await fails(fixture, 1)

    expect(await fixture.readEndpoint(endpoint)).toMatchObject({
      active: false,
      disabled_reason: 'failing',
    })
    await fixture.deliver()
    expect(await tally(fixture)).toEqual({ failed: 21, 'held: inactive': 1 })
    const { action, detail } = fixture.app.db.client
      .query("select action, detail from audit_log where action = 'endpoint.disabled'")
      .get() as { action: string; detail: string }
    expect([action, JSON.parse(detail)]).toEqual(['endpoint.disabled', { reason: 'failing' }])
  })

  test('but not with 20 failures over less than 12 hours', async () => {
    await using fixture = await bootRelay(ONCE)
    await using target = answering(500)
    const endpoint = await fixture.createEndpoint(target.url)
    await leap(fixture.app, 6 * DAY)

    await fails(fixture, 1)
    await leap(fixture.app, 12 * HOUR - SECOND)
    await fails(fixture, 25)
    expect(await fixture.readEndpoint(endpoint)).toMatchObject({ active: true })

    await leap(fixture.app, SECOND)
    await fails(fixture, 1)
    expect(await fixture.readEndpoint(endpoint)).toMatchObject({ disabled_reason: 'failing' })
  })

  test('but not with 19 failures, however long it has been', async () => {
    await using fixture = await bootRelay(ONCE)
    await using target = answering(500)
    const endpoint = await fixture.createEndpoint(target.url)

    await fails(fixture, 19, DAY)
    expect(await fixture.readEndpoint(endpoint)).toMatchObject({ active: true })

    await fails(fixture, 1)
    expect(await fixture.readEndpoint(endpoint)).toMatchObject({ disabled_reason: 'failing' })
  })

  test('but not when a success came in between', async () => {
    await using fixture = await bootRelay(ONCE)
    await using target = answering(500)
    const endpoint = await fixture.createEndpoint(target.url)
    await fails(fixture, 19, 6 * HOUR)
    target.answers(() => new Response())
    await fixture.deliver()
    target.answers(() => new Response('', { status: 500 }))

    await fails(fixture, 19, 6 * HOUR)
    await leap(fixture.app, 5 * HOUR)

    expect(await fixture.readEndpoint(endpoint)).toMatchObject({ active: true })
    await leap(fixture.app, DAY)
    await fails(fixture, 1)
    expect(await fixture.readEndpoint(endpoint)).toMatchObject({ disabled_reason: 'failing' })
  })

  test('and begins anew when it is switched on again', async () => {
    await using fixture = await bootRelay(ONCE)
    await using target = answering(500)
    const endpoint = await fixture.createEndpoint(target.url)
    await fails(fixture, 20, DAY)
    await fixture.change(endpoint, { active: true })

    await fails(fixture, 19, HOUR)
    expect(await fixture.readEndpoint(endpoint)).toMatchObject({ active: true })

    await fails(fixture, 1)
    expect(await fixture.readEndpoint(endpoint)).toMatchObject({ disabled_reason: 'failing' })
  })

  test('holds at once what is still waiting for a retry', async () => {
    await using fixture = await bootRelay({
      flags: { 'relay-retry-delays': '20d', 'relay-breaker-failures': '1000' },
    })
    await using target = answering(500)
    const endpoint = await fixture.createEndpoint(target.url)
    await fails(fixture, 20, 8 * HOUR)
    expect(await fixture.readEndpoint(endpoint)).toMatchObject({ disabled_reason: 'failing' })

    expect(await tally(fixture)).toEqual({ 'held: inactive': 20 })
  })
})

test('an attempt that a late answer ends after its endpoint was deleted is the last', async () => {
  await using fixture = await bootRelay()
  await using target = startTarget()
  const held = holdAnswers(target)
  const endpoint = await fixture.createEndpoint(target.url)
  const message = await fixture.send()
  await held.arrived(1)

  await fixture.api.delete(`/v1/relay/endpoints/${endpoint.id}`)
  held.release(500)
  await rest(fixture.app)

  expect(await fixture.deliveryOf(message)).toMatchObject({
    status: 'cancelled',
    attempts: 1,
    attempt_log: [{ status: 'failed', response: { status: 500 }, next_attempt_at: null }],
  })
})
