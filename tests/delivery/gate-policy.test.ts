import { describe, expect, test } from 'bun:test'
import { createHmac } from 'node:crypto'
import { dirname } from 'node:path'
import { openDatabase } from '../../src/db/open.ts'
import {
  advanceWaiting,
  breathe,
  DAY,
  HOUR,
  holdAnswers,
  SECOND,
} from '../engines/clockwork/support.ts'
import { bootBeside, leap, relayOf, rest, tally, turnUntil } from '../engines/relay/fixture.ts'
import { until } from '../support/binary.ts'
import { startTarget } from '../support/target.ts'
import { bootGate, type GateFixture, SYSTEM } from './fixture.ts'

const answering = (status: number, headers: Record<string, string> = {}) =>
  startTarget(() => new Response('', { status, headers }))

const THREE_FAILURES: [number, number, string][] = [
  [1, 0, 'failed'],
  [2, 1000, 'failed'],
  [3, 3000, 'failed'],
]

/** Past all attempts there can be. */
async function toTheEnd({ app }: GateFixture) {
  await rest(app)
  await app.clock.advance(5 * SECOND)
  await rest(app)
}

const resend = ({ app, stream, deliveryOf }: GateFixture, message: { seq: number }) =>
  app.delivery.resend(stream, SYSTEM, deliveryOf(message).id)

describe('the schedule', () => {
  test('is three attempts, at once, after 1 s and after 2 s more, whatever chance brings', async () => {
    await using fixture = await bootGate({ jitter: 0.999 })
    await using target = answering(500)
    await fixture.createEndpoint(target.url)
    const message = await fixture.deliver()

    await toTheEnd(fixture)

    expect(fixture.storyOf(message)).toEqual(THREE_FAILURES)
    expect(fixture.deliveryOf(message)).toMatchObject({ state: 'failed', attempts: 3 })
    await leap(fixture.app, DAY)
    expect(target.requests).toHaveLength(3)
  })

  test('does not run a millisecond before its time', async () => {
    await using fixture = await bootGate()
    await using target = answering(500)
    await fixture.createEndpoint(target.url)
    await fixture.deliver()

    await fixture.clock.advance(SECOND - 1)
    expect(target.requests).toHaveLength(1)
    await fixture.clock.advance(1)
    expect(target.requests).toHaveLength(2)
    await fixture.clock.advance(2 * SECOND - 1)
    expect(target.requests).toHaveLength(2)
    await fixture.clock.advance(1)
    expect(target.requests).toHaveLength(3)
  })

  test('ends with the first success', async () => {
    await using fixture = await bootGate()
    await using target = answering(500)
    await fixture.createEndpoint(target.url)
    const message = await fixture.deliver()
    target.answers(() => new Response('', { status: 299 }))

    await toTheEnd(fixture)

    expect(fixture.storyOf(message)).toEqual([
      [1, 0, 'failed'],
      [2, 1000, 'succeeded'],
    ])
    expect(fixture.deliveryOf(message)).toMatchObject({ state: 'succeeded' })
  })

  test('may have a wait before the first attempt', async () => {
    await using fixture = await bootGate({ flags: { 'gate-webhook-delays': '4s,1s' } })
    await using target = answering(500)
    await fixture.createEndpoint(target.url)
    const message = await fixture.deliver()
    expect(fixture.deliveryOf(message)).toMatchObject({ state: 'waiting', attempts: 0 })

    await fixture.clock.advance(4 * SECOND - 1)
    expect(target.requests).toHaveLength(0)
    await fixture.clock.advance(2 * SECOND)

    expect(fixture.storyOf(message)).toEqual([
      [1, 4000, 'failed'],
      [2, 5000, 'failed'],
    ])
    expect(fixture.deliveryOf(message)).toMatchObject({ state: 'failed' })
  })

  test('gives each attempt 10 s', async () => {
    await using fixture = await bootGate()
    await using target = startTarget()
    const held = holdAnswers(target)
    await fixture.createEndpoint(target.url)
    const message = await fixture.publish()
    await held.arrived(1)

    await advanceWaiting(fixture.app, 10 * SECOND - 1)
    expect(fixture.deliveryOf(message)).toMatchObject({ state: 'leased' })
    await turnUntil(fixture.app, () => fixture.deliveryOf(message).attempts === 1)

    expect(fixture.attemptsAt(fixture.deliveryOf(message))).toMatchObject([
      { errorCode: 'timeout', errorMessage: expect.stringContaining('10 s') },
    ])
    target.answers(() => new Response())
    held.release()
    await toTheEnd(fixture)
  })
})

test('all attempts carry the same id and body, each signed at its own time', async () => {
  await using fixture = await bootGate()
  await using target = answering(500)
  const { secrets } = await fixture.createEndpoint(target.url, { eventTypes: ['identity.*'] })
  const payload = '{"event_id":"e-1",  "data":{"n":1.0}}'

  const { id } = await fixture.deliver({ id: 'e-1', payload })
  await toTheEnd(fixture)

  expect(id).toBe('e-1')
  expect(target.requests.map(({ body }) => body)).toEqual([payload, payload, payload])
  expect(target.requests.map(({ headers }) => headers.get('webhook-id'))).toEqual([id, id, id])
  const signatures = target.requests.map(({ headers }) => headers.get('x-service-signature'))
  const begun = Math.floor(fixture.deliveryOf({ seq: 1 }).createdAt / 1000)
  expect(signatures).toEqual(
    [begun, begun + 1, begun + 3].map((at) => {
      const hmac = createHmac('sha256', secrets[0]?.secret ?? '').update(`${at}.${payload}`)
      return `t=${at},v1=${hmac.digest('hex')}`
    }),
  )
})

test('an event is stored with what it reports, or not at all', async () => {
  await using fixture = await bootGate()
  await using target = startTarget()
  await fixture.createEndpoint(target.url)
  const { app, stream, clock } = fixture

  const failed = app.db.commit(() => {
    app.delivery.publish(stream, { type: 'a', payload: '{}', channels: [] }, clock.now())
    throw new Error('refused after all')
  })

  await expect(failed).rejects.toThrow('refused after all')
  await rest(app)
  expect(fixture.states()).toEqual({})
  expect(target.requests).toEqual([])
})

describe('a receiver that keeps failing', () => {
  test('gets three attempts for each of many events: there is no breaker', async () => {
    await using fixture = await bootGate()
    await using target = answering(500)
    const endpoint = await fixture.createEndpoint(target.url)

    for (let n = 0; n < 20; n++) {
      const message = await fixture.deliver()
      await toTheEnd(fixture)
      expect(fixture.storyOf(message)).toEqual(THREE_FAILURES)
    }

    expect(target.requests).toHaveLength(60)
    expect(fixture.app.delivery.endpoints.get(fixture.stream, endpoint.id).isActive).toBe(true)
  })

  test('gets those of many events at once, too', async () => {
    await using fixture = await bootGate()
    await using target = answering(500)
    await fixture.createEndpoint(target.url)

    await fixture.publishMany(50)
    await toTheEnd(fixture)

    expect(fixture.states()).toEqual({ failed: 50 })
    expect(target.requests).toHaveLength(150)
  })

  test('is never switched off, however long it has been', async () => {
    await using fixture = await bootGate({ flags: { 'gate-webhook-delays': '0s' } })
    await using target = answering(500)
    const endpoint = await fixture.createEndpoint(target.url)

    for (let n = 0; n < 25; n++) {
      await leap(fixture.app, 7 * HOUR)
      await fixture.deliver()
    }

    expect(target.requests).toHaveLength(25)
    expect(fixture.app.delivery.endpoints.get(fixture.stream, endpoint.id)).toMatchObject({
      isActive: true,
      disabledReason: null,
    })
  })
})

describe('what a receiver asks for', () => {
  test.each<[string, number, Record<string, string>]>([
    ['Retry-After', 503, { 'retry-after': '600' }],
    ['410', 410, {}],
    ['to be disabled', 500, { 'webhook-delivery': 'disable' }],
    ['to be spared this message', 500, { 'webhook-delivery': 'abort-message' }],
  ])('%s: is a failure like any other', async (_, status, headers) => {
    await using fixture = await bootGate()
    await using target = answering(status, headers)
    const endpoint = await fixture.createEndpoint(target.url)
    const message = await fixture.deliver()

    await toTheEnd(fixture)

    expect(fixture.storyOf(message)).toEqual(THREE_FAILURES)
    for (const attempt of fixture.attemptsAt(fixture.deliveryOf(message)))
      expect(attempt).toMatchObject({ errorCode: 'status', errorMessage: `status ${status}` })
    expect(fixture.app.delivery.endpoints.get(fixture.stream, endpoint.id).isActive).toBe(true)
  })

  test('in a 2xx has no effect', async () => {
    await using fixture = await bootGate()
    await using target = answering(200, { 'webhook-delivery': 'disable' })
    const endpoint = await fixture.createEndpoint(target.url)

    expect(fixture.deliveryOf(await fixture.deliver())).toMatchObject({ state: 'succeeded' })
    expect(fixture.app.delivery.endpoints.get(fixture.stream, endpoint.id).isActive).toBe(true)
  })
})

describe('an endpoint that is paused', () => {
  /** As by another process, that ended before it could hold what was still to come. */
  function switchOffOnly({ app }: GateFixture, { id }: { id: string }) {
    const other = openDatabase({ dataDir: dirname(app.db.file), synchronous: 'full' })
    other.client.run('update endpoints set is_active = 0 where id = ?', [id])
    other.close()
  }

  test('by a process that ended too soon has a long line held at once', async () => {
    await using fixture = await bootGate()
    await using target = startTarget()
    const held = holdAnswers(target)
    const endpoint = await fixture.createEndpoint(target.url)
    await fixture.publishMany(700)
    await held.arrived(16)
    switchOffOnly(fixture, endpoint)

    held.release(200, 1)
    await until(() => fixture.states().ready === undefined)

    expect(fixture.states()).toEqual({ succeeded: 1, leased: 15, held: 684 })
    held.release()
    await rest(fixture.app)
    expect(target.requests).toHaveLength(16)
  })

  test('that somebody has switched on first keeps what would have been discarded', async () => {
    await using fixture = await bootGate({ flags: { 'gate-webhook-delays': '1h' } })
    const endpoint = await fixture.createEndpoint('http://127.0.0.1:9/')
    await fixture.publish()
    switchOffOnly(fixture, endpoint)
    const second = fixture.change(endpoint, { isActive: true, held: 'discard' })
    fixture.app.db.client.run('update endpoints set is_active = 1')

    await second

    expect(fixture.states()).toEqual({ waiting: 1 })
  })

  test('cancels what is under way and fails, where the held ones are discarded', async () => {
    await using fixture = await bootGate()
    await using target = startTarget()
    const held = holdAnswers(target)
    const endpoint = await fixture.createEndpoint(target.url)
    const message = await fixture.publish()
    await held.arrived(1)
    await fixture.change(endpoint, { isActive: false })
    await fixture.change(endpoint, { isActive: true, held: 'discard' })

    held.release(500)
    await toTheEnd(fixture)

    expect(fixture.deliveryOf(message)).toMatchObject({ state: 'cancelled', attempts: 1 })
    expect(target.requests).toHaveLength(1)
  })

  test('catches up without a breaker to slow it down, however often it fails', async () => {
    await using fixture = await bootGate()
    await using target = startTarget()
    const endpoint = await fixture.createEndpoint(target.url, { isActive: false })
    await fixture.publishMany(12)
    const held = holdAnswers(target)

    await fixture.change(endpoint, { isActive: true })
    await held.arrived(1)
    held.release(500)
    await held.arrived(3)
    held.release(500)
    await held.arrived(7)

    target.answers(() => new Response('', { status: 500 }))
    held.release(500)
    await toTheEnd(fixture)
    expect(fixture.states()).toEqual({ failed: 12 })
    expect(target.requests).toHaveLength(36)
  })
})

describe('by hand', () => {
  test('what has failed gets its three attempts once more', async () => {
    await using fixture = await bootGate()
    await using target = answering(500)
    await fixture.createEndpoint(target.url)
    const message = await fixture.deliver()
    await toTheEnd(fixture)
    const failed = fixture.storyOf(message)

    const begun = fixture.clock.now() - fixture.deliveryOf(message).createdAt
    await resend(fixture, message)
    await toTheEnd(fixture)

    expect(fixture.storyOf(message)).toEqual([
      ...failed,
      [4, begun, 'failed'],
      [5, begun + 1000, 'failed'],
      [6, begun + 3000, 'failed'],
    ])
    expect(fixture.deliveryOf(message)).toMatchObject({ state: 'failed', run: 2 })
  })

  test('what an endpoint missed is replayed', async () => {
    await using fixture = await bootGate()
    await using target = startTarget()
    const endpoint = await fixture.createEndpoint(target.url, { isActive: false })
    await fixture.publishMany(3)
    await fixture.change(endpoint, { isActive: true, held: 'discard' })
    const { app, stream, clock } = fixture

    const count = await app.delivery.replay(stream, SYSTEM, endpoint.id, {
      since: clock.now() - HOUR,
      until: clock.now() + 1,
      which: 'undelivered',
      perSecond: 10,
      dryRun: false,
    })
    await toTheEnd(fixture)

    expect(count).toBe(3)
    expect(fixture.states()).toEqual({ succeeded: 3 })
  })

  test('a test event is given 10 s', async () => {
    await using fixture = await bootGate()
    await using target = startTarget()
    const held = holdAnswers(target)
    const endpoint = await fixture.createEndpoint(target.url)
    let sent: unknown
    const event = { type: 'webhook.test', payload: '{}' }
    void fixture.app.delivery.testEvent(endpoint, event).then((tested) => {
      sent = tested.sent
    })
    await held.arrived(1)

    await advanceWaiting(fixture.app, 10 * SECOND - 1)
    expect(sent).toBeUndefined()
    await turnUntil(fixture.app, () => sent !== undefined)

    expect(sent).toMatchObject({
      result: 'failed',
      error: { code: 'timeout', message: expect.stringContaining('10 s') },
    })
    held.release()
  })
})

describe('an attempt that nobody saw the end of', () => {
  test('is made again at once, with nothing counted', async () => {
    await using fixture = await bootGate()
    await using target = startTarget()
    const held = holdAnswers(target)
    await fixture.createEndpoint(target.url)
    const message = await fixture.publish()
    await held.arrived(1)
    target.answers(() => new Response())

    await using next = await bootBeside(fixture, { othersRun: false })
    await next.clock.settled()

    expect(fixture.storyOf(message)).toEqual([
      [1, 0, 'interrupted'],
      [1, 0, 'succeeded'],
    ])
    expect(fixture.deliveryOf(message)).toMatchObject({ state: 'succeeded', attempts: 1 })
    held.release(200)
    await rest(fixture.app)
  })

  test('is held where its endpoint was paused since', async () => {
    await using fixture = await bootGate()
    await using target = startTarget()
    const held = holdAnswers(target)
    const endpoint = await fixture.createEndpoint(target.url)
    const message = await fixture.publish()
    await held.arrived(1)
    await fixture.change(endpoint, { isActive: false })

    await using next = await bootBeside(fixture, { othersRun: false })
    await next.clock.settled()

    expect(fixture.deliveryOf(message)).toMatchObject({ state: 'held', attempts: 0 })
    expect(target.requests).toHaveLength(1)
    held.release(200)
    await rest(fixture.app)
  })
})

test('an endpoint whose secret cannot be opened gets its own once that is replaced', async () => {
  await using fixture = await bootGate()
  await using target = startTarget()
  const endpoint = await fixture.createEndpoint(target.url)
  const { app, stream } = fixture
  app.db.client.run("update endpoints set secrets = 'nonsense'")
  await fixture.deliver()
  await fixture.deliver()
  expect(fixture.states()).toEqual({ held: 2 })

  await app.delivery.endpoints.rotateSecret(stream, SYSTEM, endpoint.id, { graceMs: 0 })
  await toTheEnd(fixture)

  expect(fixture.states()).toEqual({ succeeded: 2 })
})

describe('beside the relay', () => {
  /** Both engines, each with an endpoint at a receiver of its own. */
  async function bootBoth(gateUrl: string, relayUrl: string) {
    const fixture = await bootGate()
    const { key } = await fixture.acme.key('relay', 'live')
    const relay = relayOf(fixture.app, fixture.app.client(key))
    return {
      fixture,
      relay,
      ofGate: await fixture.createEndpoint(gateUrl),
      ofRelay: await relay.createEndpoint(relayUrl),
      [Symbol.asyncDispose]: () => fixture.app.stop(),
    }
  }

  test('neither gets what is of the other', async () => {
    await using gate = startTarget()
    await using other = startTarget()
    await using both = await bootBoth(gate.url, other.url)

    await both.fixture.publish({ payload: '"of gate"' })
    await both.relay.send({ payload: { of: 'relay' } })
    await rest(both.fixture.app)

    expect(gate.requests.map(({ body }) => body)).toEqual(['"of gate"'])
    expect(other.requests).toHaveLength(1)
    expect(other.requests[0]?.body).toContain('{"of":"relay"}')
    expect(await both.relay.listDeliveries()).toHaveLength(1)
  })

  test('each holds while it is paused, and sends once it is resumed', async () => {
    await using gate = startTarget()
    await using other = startTarget()
    await using both = await bootBoth(gate.url, other.url)
    await both.fixture.change(both.ofGate, { isActive: false })
    await both.relay.change(both.ofRelay, { active: false })
    await both.fixture.publish()
    await both.relay.send()
    await rest(both.fixture.app)
    expect(both.fixture.states()).toEqual({ held: 1 })
    expect(await tally(both.relay)).toEqual({ 'held: inactive': 1 })

    await both.fixture.change(both.ofGate, { isActive: true })
    await both.relay.change(both.ofRelay, { active: true })
    await rest(both.fixture.app)

    expect(both.fixture.states()).toEqual({ succeeded: 1 })
    expect(await tally(both.relay)).toEqual({ succeeded: 1 })
  })

  test('each hears its receivers in its own way', async () => {
    await using target = answering(410)
    await using both = await bootBoth(target.url, target.url)

    await both.fixture.publish()
    await both.relay.send()
    await toTheEnd(both.fixture)

    expect(both.fixture.storyOf({ seq: 1 })).toEqual(THREE_FAILURES)
    expect(target.requests).toHaveLength(4)
    expect(await both.relay.readEndpoint(both.ofRelay)).toMatchObject({ disabled_reason: 'gone' })
  })

  test('failures of gate open no breaker, and those of the relay open one', async () => {
    await using target = answering(500)
    await using both = await bootBoth(target.url, target.url)

    await both.fixture.publishMany(6)
    await both.relay.sendMany(6)
    await toTheEnd(both.fixture)

    expect(both.fixture.states()).toEqual({ failed: 6 })
    expect(both.fixture.app.delivery.healthOf(both.ofGate.id).openUntil).toBeNull()
    expect(await both.relay.readEndpoint(both.ofRelay)).toMatchObject({
      health: { breaker: 'open' },
    })
    await breathe(both.fixture.app)
  })
})
