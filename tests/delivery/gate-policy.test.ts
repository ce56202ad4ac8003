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
import { bootBeside, leap, relayOf, rest, tally, turnUntil } from '../engines/relay/world.ts'
import { until } from '../support/binary.ts'
import { startTarget } from '../support/target.ts'
import { bootGate, type GateWorld, SYSTEM } from './world.ts'

const answering = (status: number, headers: Record<string, string> = {}) =>
  startTarget(() => new Response('', { status, headers }))

const THREE_FAILURES: [number, number, string][] = [
  [1, 0, 'failed'],
  [2, 1000, 'failed'],
  [3, 3000, 'failed'],
]

/** Past all attempts there can be. */
async function toTheEnd({ app }: GateWorld) {
  await rest(app)
  await app.clock.advance(5 * SECOND)
  await rest(app)
}

const resend = ({ app, stream, deliveryOf }: GateWorld, message: { seq: number }) =>
  app.delivery.resend(stream, SYSTEM, deliveryOf(message).id)

describe('the schedule', () => {
  test('is three attempts, at once, after 1 s and after 2 s more, whatever chance brings', async () => {
    await using world = await bootGate({ jitter: 0.999 })
    await using target = answering(500)
    await world.createEndpoint(target.url)
    const message = await world.deliver()

    await toTheEnd(world)

    expect(world.storyOf(message)).toEqual(THREE_FAILURES)
    expect(world.deliveryOf(message)).toMatchObject({ state: 'failed', attempts: 3 })
    await leap(world.app, DAY)
    expect(target.requests).toHaveLength(3)
  })

  test('does not run a millisecond before its time', async () => {
    await using world = await bootGate()
    await using target = answering(500)
    await world.createEndpoint(target.url)
    await world.deliver()

    await world.clock.advance(SECOND - 1)
    expect(target.requests).toHaveLength(1)
    await world.clock.advance(1)
    expect(target.requests).toHaveLength(2)
    await world.clock.advance(2 * SECOND - 1)
    expect(target.requests).toHaveLength(2)
    await world.clock.advance(1)
    expect(target.requests).toHaveLength(3)
  })

  test('ends with the first success', async () => {
    await using world = await bootGate()
    await using target = answering(500)
    await world.createEndpoint(target.url)
    const message = await world.deliver()
    target.answers(() => new Response('', { status: 299 }))

    await toTheEnd(world)

    expect(world.storyOf(message)).toEqual([
      [1, 0, 'failed'],
      [2, 1000, 'succeeded'],
    ])
    expect(world.deliveryOf(message)).toMatchObject({ state: 'succeeded' })
  })

  test('may have a wait before the first attempt', async () => {
    await using world = await bootGate({ flags: { 'gate-webhook-delays': '4s,1s' } })
    await using target = answering(500)
    await world.createEndpoint(target.url)
    const message = await world.deliver()
    expect(world.deliveryOf(message)).toMatchObject({ state: 'waiting', attempts: 0 })

    await world.clock.advance(4 * SECOND - 1)
    expect(target.requests).toHaveLength(0)
    await world.clock.advance(2 * SECOND)

    expect(world.storyOf(message)).toEqual([
      [1, 4000, 'failed'],
      [2, 5000, 'failed'],
    ])
    expect(world.deliveryOf(message)).toMatchObject({ state: 'failed' })
  })

  test('gives each attempt 10 s', async () => {
    await using world = await bootGate()
    await using target = startTarget()
    const held = holdAnswers(target)
    await world.createEndpoint(target.url)
    const message = await world.publish()
    await held.arrived(1)

    await advanceWaiting(world.app, 10 * SECOND - 1)
    expect(world.deliveryOf(message)).toMatchObject({ state: 'leased' })
    await turnUntil(world.app, () => world.deliveryOf(message).attempts === 1)

    expect(world.attemptsAt(world.deliveryOf(message))).toMatchObject([
      { errorCode: 'timeout', errorMessage: expect.stringContaining('10 s') },
    ])
    target.answers(() => new Response())
    held.release()
    await toTheEnd(world)
  })
})

test('all attempts carry the same id and body, each signed at its own time', async () => {
  await using world = await bootGate()
  await using target = answering(500)
  const { secrets } = await world.createEndpoint(target.url, { eventTypes: ['identity.*'] })
  const payload = '{"event_id":"e-1",  "data":{"n":1.0}}'

  const { id } = await world.deliver({ id: 'e-1', payload })
  await toTheEnd(world)

  expect(id).toBe('e-1')
  expect(target.requests.map(({ body }) => body)).toEqual([payload, payload, payload])
  expect(target.requests.map(({ headers }) => headers.get('webhook-id'))).toEqual([id, id, id])
  const signatures = target.requests.map(({ headers }) => headers.get('x-service-signature'))
  const begun = Math.floor(world.deliveryOf({ seq: 1 }).createdAt / 1000)
  expect(signatures).toEqual(
    [begun, begun + 1, begun + 3].map((at) => {
      const hmac = createHmac('sha256', secrets[0]?.secret ?? '').update(`${at}.${payload}`)
      return `t=${at},v1=${hmac.digest('hex')}`
    }),
  )
})

test('an event is stored with what it reports, or not at all', async () => {
  await using world = await bootGate()
  await using target = startTarget()
  await world.createEndpoint(target.url)
  const { app, stream, clock } = world

  const failed = app.db.commit(() => {
    app.delivery.publish(stream, { type: 'a', payload: '{}', channels: [] }, clock.now())
    throw new Error('refused after all')
  })

  await expect(failed).rejects.toThrow('refused after all')
  await rest(app)
  expect(world.states()).toEqual({})
  expect(target.requests).toEqual([])
})

describe('a receiver that keeps failing', () => {
  test('gets three attempts for each of many events: there is no breaker', async () => {
    await using world = await bootGate()
    await using target = answering(500)
    const endpoint = await world.createEndpoint(target.url)

    for (let n = 0; n < 20; n++) {
      const message = await world.deliver()
      await toTheEnd(world)
      expect(world.storyOf(message)).toEqual(THREE_FAILURES)
    }

    expect(target.requests).toHaveLength(60)
    expect(world.app.delivery.endpoints.get(world.stream, endpoint.id).isActive).toBe(true)
  })

  test('gets those of many events at once, too', async () => {
    await using world = await bootGate()
    await using target = answering(500)
    await world.createEndpoint(target.url)

    await world.publishMany(50)
    await toTheEnd(world)

    expect(world.states()).toEqual({ failed: 50 })
    expect(target.requests).toHaveLength(150)
  })

  test('is never switched off, however long it has been', async () => {
    await using world = await bootGate({ flags: { 'gate-webhook-delays': '0s' } })
    await using target = answering(500)
    const endpoint = await world.createEndpoint(target.url)

    for (let n = 0; n < 25; n++) {
      await leap(world.app, 7 * HOUR)
      await world.deliver()
    }

    expect(target.requests).toHaveLength(25)
    expect(world.app.delivery.endpoints.get(world.stream, endpoint.id)).toMatchObject({
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
    await using world = await bootGate()
    await using target = answering(status, headers)
    const endpoint = await world.createEndpoint(target.url)
    const message = await world.deliver()

    await toTheEnd(world)

    expect(world.storyOf(message)).toEqual(THREE_FAILURES)
    for (const attempt of world.attemptsAt(world.deliveryOf(message)))
      expect(attempt).toMatchObject({ errorCode: 'status', errorMessage: `answered ${status}` })
    expect(world.app.delivery.endpoints.get(world.stream, endpoint.id).isActive).toBe(true)
  })

  test('in a 2xx has no effect', async () => {
    await using world = await bootGate()
    await using target = answering(200, { 'webhook-delivery': 'disable' })
    const endpoint = await world.createEndpoint(target.url)

    expect(world.deliveryOf(await world.deliver())).toMatchObject({ state: 'succeeded' })
    expect(world.app.delivery.endpoints.get(world.stream, endpoint.id).isActive).toBe(true)
  })
})

describe('an endpoint that is paused', () => {
  /** As by another process, that ended before it could cancel what was still to come. */
  function switchOffOnly({ app }: GateWorld, { id }: { id: string }) {
    const other = openDatabase({ dataDir: dirname(app.db.file), synchronous: 'full' })
    other.client.run('update endpoints set is_active = 0 where id = ?', [id])
    other.close()
  }

  test('misses what comes meanwhile, and the log shows it', async () => {
    await using world = await bootGate()
    await using target = startTarget()
    const endpoint = await world.createEndpoint(target.url)
    await world.change(endpoint, { isActive: false })

    const message = await world.deliver()

    expect(world.deliveryOf(message)).toMatchObject({
      state: 'cancelled',
      attempts: 0,
      endedAt: world.clock.now(),
    })
    expect(world.hoursOf(endpoint)).toMatchObject([{ cancelled: 1 }])
    await leap(world.app, DAY)
    expect(target.requests).toEqual([])
  })

  test('gets nothing old when it comes back, and what is new at once, as many as there are', async () => {
    await using world = await bootGate()
    await using target = startTarget()
    const endpoint = await world.createEndpoint(target.url, { isActive: false })
    await world.publishMany(10)

    await world.change(endpoint, { isActive: true })
    await toTheEnd(world)
    expect(target.requests).toEqual([])

    const held = holdAnswers(target)
    await world.publishMany(12)
    await held.arrived(12)
    expect(world.states()).toEqual({ cancelled: 10, leased: 12 })
    held.release()
    await rest(world.app)
    expect(world.states()).toEqual({ cancelled: 10, succeeded: 12 })
  })

  test('gets no further attempt at what has failed before', async () => {
    await using world = await bootGate()
    await using target = answering(500)
    const endpoint = await world.createEndpoint(target.url)
    const message = await world.deliver()

    await world.change(endpoint, { isActive: false })

    expect(world.deliveryOf(message)).toMatchObject({ state: 'cancelled', attempts: 1 })
    await world.change(endpoint, { isActive: true })
    await toTheEnd(world)
    expect(target.requests).toHaveLength(1)
    expect(world.hoursOf(endpoint)).toMatchObject([{ failed: 1, exhausted: 0, cancelled: 1 }])
  })

  test('loses a backlog of any size', async () => {
    await using world = await bootGate({ flags: { 'gate-webhook-delays': '1h' } })
    await using target = startTarget()
    const endpoint = await world.createEndpoint(target.url)
    await world.publishMany(700)

    await world.change(endpoint, { isActive: false })

    expect(world.states()).toEqual({ cancelled: 700 })
    expect(world.hoursOf(endpoint)).toMatchObject([{ cancelled: 700 }])
    await world.change(endpoint, { isActive: true })
    await leap(world.app, 2 * HOUR)
    expect(target.requests).toEqual([])
  })

  test('by a process that ended too soon misses what was left waiting for it', async () => {
    await using world = await bootGate()
    await using target = answering(500)
    const endpoint = await world.createEndpoint(target.url)
    await world.publishMany(5)
    await rest(world.app)
    switchOffOnly(world, endpoint)

    await toTheEnd(world)

    expect(world.states()).toEqual({ cancelled: 5 })
    expect(target.requests).toHaveLength(5)
    expect(world.hoursOf(endpoint)).toMatchObject([{ failed: 5, cancelled: 5 }])
  })

  test('by such a process misses a long line at once', async () => {
    await using world = await bootGate()
    await using target = startTarget()
    const held = holdAnswers(target)
    const endpoint = await world.createEndpoint(target.url)
    await world.publishMany(700)
    await held.arrived(16)
    switchOffOnly(world, endpoint)

    held.release(200, 1)
    await until(() => world.states().ready === undefined)

    expect(world.states()).toEqual({ succeeded: 1, leased: 15, cancelled: 684 })
    held.release()
    await rest(world.app)
    expect(target.requests).toHaveLength(16)
  })

  test('that somebody has switched on first keeps what has come since', async () => {
    await using world = await bootGate({ flags: { 'gate-webhook-delays': '1h' } })
    const endpoint = await world.createEndpoint('http://127.0.0.1:9/')
    await world.publish()
    switchOffOnly(world, endpoint)
    const second = world.change(endpoint, { isActive: true })
    world.app.db.client.run('update endpoints set is_active = 1')

    await second

    expect(world.states()).toEqual({ waiting: 1 })
  })

  test('and comes back before that was cancelled still gets nothing old', async () => {
    await using world = await bootGate()
    await using target = answering(500)
    const endpoint = await world.createEndpoint(target.url)
    await world.deliver()
    switchOffOnly(world, endpoint)

    await world.change(endpoint, { isActive: true })
    await toTheEnd(world)

    expect(world.states()).toEqual({ cancelled: 1 })
    expect(target.requests).toHaveLength(1)
  })

  describe('while an attempt is under way', () => {
    /** An attempt that waits for its answer, at an endpoint that is paused meanwhile. */
    async function pausedUnderWay(world: GateWorld, target: Awaited<ReturnType<typeof answering>>) {
      const held = holdAnswers(target)
      const endpoint = await world.createEndpoint(target.url)
      const message = await world.publish()
      await held.arrived(1)
      await world.change(endpoint, { isActive: false })
      return { endpoint, message, release: held.release }
    }

    test('is not called again should that fail', async () => {
      await using world = await bootGate()
      await using target = startTarget()
      const { endpoint, message, release } = await pausedUnderWay(world, target)

      release(500)
      await toTheEnd(world)

      expect(world.deliveryOf(message)).toMatchObject({ state: 'cancelled', attempts: 1 })
      expect(world.hoursOf(endpoint)).toMatchObject([{ failed: 1, exhausted: 0, cancelled: 1 }])
      expect(target.requests).toHaveLength(1)
    })

    test('has got it should that succeed', async () => {
      await using world = await bootGate()
      await using target = startTarget()
      const { message, release } = await pausedUnderWay(world, target)

      release(200)
      await rest(world.app)

      expect(world.deliveryOf(message)).toMatchObject({ state: 'succeeded' })
    })

    test('is not called again although it was back when that failed', async () => {
      await using world = await bootGate()
      await using target = startTarget()
      const { endpoint, message, release } = await pausedUnderWay(world, target)
      await world.change(endpoint, { isActive: true })

      release(500)
      await toTheEnd(world)

      expect(world.deliveryOf(message)).toMatchObject({ state: 'cancelled', attempts: 1 })
      expect(target.requests).toHaveLength(1)
    })
  })
})

describe('by hand', () => {
  test('what an endpoint missed is sent once it is back, and not before', async () => {
    await using world = await bootGate()
    await using target = startTarget()
    const endpoint = await world.createEndpoint(target.url, { isActive: false })
    const message = await world.deliver()

    await expect(resend(world, message)).rejects.toThrow('not active')
    await world.change(endpoint, { isActive: true })
    await resend(world, message)
    await rest(world.app)

    expect(world.deliveryOf(message)).toMatchObject({ state: 'succeeded', attempts: 1 })
    expect(target.requests).toHaveLength(1)
  })

  test('what has failed gets its three attempts once more', async () => {
    await using world = await bootGate()
    await using target = answering(500)
    await world.createEndpoint(target.url)
    const message = await world.deliver()
    await toTheEnd(world)
    const failed = world.storyOf(message)

    const begun = world.clock.now() - world.deliveryOf(message).createdAt
    await resend(world, message)
    await toTheEnd(world)

    expect(world.storyOf(message)).toEqual([
      ...failed,
      [4, begun, 'failed'],
      [5, begun + 1000, 'failed'],
      [6, begun + 3000, 'failed'],
    ])
    expect(world.deliveryOf(message)).toMatchObject({ state: 'failed', run: 2 })
  })

  test('what an endpoint missed is replayed', async () => {
    await using world = await bootGate()
    await using target = startTarget()
    const endpoint = await world.createEndpoint(target.url, { isActive: false })
    await world.publishMany(3)
    await world.change(endpoint, { isActive: true })
    const { app, stream, clock } = world

    const count = await app.delivery.replay(stream, SYSTEM, endpoint.id, {
      since: clock.now() - HOUR,
      until: clock.now() + 1,
      which: 'undelivered',
      perSecond: 10,
      dryRun: false,
    })
    await toTheEnd(world)

    expect(count).toBe(3)
    expect(world.states()).toEqual({ succeeded: 3 })
  })

  test('a test event is given 10 s', async () => {
    await using world = await bootGate()
    await using target = startTarget()
    const held = holdAnswers(target)
    const endpoint = await world.createEndpoint(target.url)
    let sent: unknown
    const event = { type: 'webhook.test', payload: '{}' }
    void world.app.delivery.testEvent(endpoint, event).then((tested) => {
      sent = tested.sent
    })
    await held.arrived(1)

    await advanceWaiting(world.app, 10 * SECOND - 1)
    expect(sent).toBeUndefined()
    await turnUntil(world.app, () => sent !== undefined)

    expect(sent).toMatchObject({
      result: 'failed',
      error: { code: 'timeout', message: expect.stringContaining('10 s') },
    })
    held.release()
  })
})

describe('an attempt that nobody saw the end of', () => {
  test('is made again at once, with nothing counted', async () => {
    await using world = await bootGate()
    await using target = startTarget()
    const held = holdAnswers(target)
    await world.createEndpoint(target.url)
    const message = await world.publish()
    await held.arrived(1)
    target.answers(() => new Response())

    await using next = await bootBeside(world, { othersRun: false })
    await next.clock.settled()

    expect(world.storyOf(message)).toEqual([
      [1, 0, 'interrupted'],
      [1, 0, 'succeeded'],
    ])
    expect(world.deliveryOf(message)).toMatchObject({ state: 'succeeded', attempts: 1 })
    held.release(200)
    await rest(world.app)
  })

  test('is cancelled where its endpoint was paused since', async () => {
    await using world = await bootGate()
    await using target = startTarget()
    const held = holdAnswers(target)
    const endpoint = await world.createEndpoint(target.url)
    const message = await world.publish()
    await held.arrived(1)
    await world.change(endpoint, { isActive: false })

    await using next = await bootBeside(world, { othersRun: false })
    await next.clock.settled()

    expect(world.deliveryOf(message)).toMatchObject({ state: 'cancelled', attempts: 0 })
    expect(target.requests).toHaveLength(1)
    held.release(200)
    await rest(world.app)
  })
})

test('an endpoint whose secret cannot be opened gets its own once that is replaced', async () => {
  await using world = await bootGate()
  await using target = startTarget()
  const endpoint = await world.createEndpoint(target.url)
  const { app, stream } = world
  app.db.client.run("update endpoints set secrets = 'nonsense'")
  await world.deliver()
  await world.deliver()
  expect(world.states()).toEqual({ held: 2 })

  await app.delivery.endpoints.rotateSecret(stream, SYSTEM, endpoint.id, { graceMs: 0 })
  await toTheEnd(world)

  expect(world.states()).toEqual({ succeeded: 2 })
})

describe('beside the relay', () => {
  /** Both engines, each with an endpoint at a receiver of its own. */
  async function bootBoth(gateUrl: string, relayUrl: string) {
    const world = await bootGate()
    const { key } = await world.acme.key('relay', 'live')
    const relay = relayOf(world.app, world.app.client(key))
    return {
      world,
      relay,
      ofGate: await world.createEndpoint(gateUrl),
      ofRelay: await relay.createEndpoint(relayUrl),
      [Symbol.asyncDispose]: () => world.app.stop(),
    }
  }

  test('neither gets what is of the other', async () => {
    await using gate = startTarget()
    await using other = startTarget()
    await using both = await bootBoth(gate.url, other.url)

    await both.world.publish({ payload: '"of gate"' })
    await both.relay.send({ payload: { of: 'relay' } })
    await rest(both.world.app)

    expect(gate.requests.map(({ body }) => body)).toEqual(['"of gate"'])
    expect(other.requests).toHaveLength(1)
    expect(other.requests[0]?.body).toContain('{"of":"relay"}')
    expect(await both.relay.listDeliveries()).toHaveLength(1)
  })

  test('each pauses in its own way', async () => {
    await using gate = startTarget()
    await using other = startTarget()
    await using both = await bootBoth(gate.url, other.url)
    await both.world.change(both.ofGate, { isActive: false })
    await both.relay.change(both.ofRelay, { active: false })
    await both.world.publish()
    await both.relay.send()
    await rest(both.world.app)
    expect(both.world.states()).toEqual({ cancelled: 1 })
    expect(await tally(both.relay)).toEqual({ 'held: inactive': 1 })

    await both.world.change(both.ofGate, { isActive: true })
    await both.relay.change(both.ofRelay, { active: true })
    await rest(both.world.app)

    expect(both.world.states()).toEqual({ cancelled: 1 })
    expect(await tally(both.relay)).toEqual({ succeeded: 1 })
  })

  test('each hears its receivers in its own way', async () => {
    await using target = answering(410)
    await using both = await bootBoth(target.url, target.url)

    await both.world.publish()
    await both.relay.send()
    await toTheEnd(both.world)

    expect(both.world.storyOf({ seq: 1 })).toEqual(THREE_FAILURES)
    expect(target.requests).toHaveLength(4)
    expect(await both.relay.readEndpoint(both.ofRelay)).toMatchObject({ disabled_reason: 'gone' })
  })

  test('failures of gate open no breaker, and those of the relay open one', async () => {
    await using target = answering(500)
    await using both = await bootBoth(target.url, target.url)

    await both.world.publishMany(6)
    await both.relay.sendMany(6)
    await toTheEnd(both.world)

    expect(both.world.states()).toEqual({ failed: 6 })
    expect(both.world.app.delivery.healthOf(both.ofGate.id).openUntil).toBeNull()
    expect(await both.relay.readEndpoint(both.ofRelay)).toMatchObject({
      health: { breaker: 'open' },
    })
    await breathe(both.world.app)
  })
})
