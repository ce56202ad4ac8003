import { describe, expect, test } from 'bun:test'
import { dirname } from 'node:path'
import { openDatabase } from '../../src/db/open.ts'
import { holdAnswers } from '../engines/clockwork/support.ts'
import { bootBeside, leap, relayOf, rest, tally } from '../engines/relay/fixture.ts'
import { HOUR, SECOND } from '../engines/relay/support.ts'
import { until } from '../support/binary.ts'
import { startTarget } from '../support/target.ts'
import { bootGate, type GateFixture, SYSTEM } from './fixture.ts'

// Schedules and answers over HTTP are in tests/engines/gate/webhooks/webhook-delivery.test.ts. Here,
// each test boots its own application, because it counts all deliveries and processes.

const answering = (status: number) => startTarget(() => new Response('', { status }))

/** Until no attempt is left. */
async function toTheEnd({ app }: GateFixture) {
  await rest(app)
  await app.clock.advance(5 * SECOND)
  await rest(app)
}

test('An event is stored with the change that it reports, or not at all', async () => {
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

test('The body of an event is sent as it was published', async () => {
  await using fixture = await bootGate()
  await using target = startTarget()
  await fixture.createEndpoint(target.url, { eventTypes: ['identity.*'] })
  const payload = '{"event_id":"e-1",  "data":{"n":1.0}}'
  await fixture.deliver({ id: 'e-1', payload })
  expect(target.requests[0]?.body).toBe(payload)
  expect(target.requests[0]?.headers.get('webhook-id')).toBe('e-1')
})

describe('A receiver that always fails', () => {
  test('is tried for each of many events, without a circuit breaker', async () => {
    await using fixture = await bootGate()
    await using target = answering(500)
    const endpoint = await fixture.createEndpoint(target.url)
    await fixture.publishMany(50)
    await toTheEnd(fixture)
    expect(fixture.states()).toEqual({ failed: 50 })
    expect(target.requests).toHaveLength(150)
    expect(fixture.app.delivery.healthOf(endpoint.id).openUntil).toBeNull()
  })

  test('is never disabled, and catches up at full speed after a pause', async () => {
    await using fixture = await bootGate({ flags: { 'gate-webhook-delays': '0s' } })
    await using target = answering(500)
    const endpoint = await fixture.createEndpoint(target.url)
    for (let n = 0; n < 25; n++) {
      await leap(fixture.app, 7 * HOUR)
      await fixture.deliver()
    }
    const { delivery } = fixture.app
    const shown = delivery.endpoints.get(fixture.stream, endpoint.id)
    expect(shown).toMatchObject({ isActive: true, disabledReason: null })

    await fixture.change(endpoint, { isActive: false })
    await fixture.publishMany(12)
    const held = holdAnswers(target)
    await fixture.change(endpoint, { isActive: true })
    for (const arrived of [26, 28, 32]) {
      await held.arrived(arrived)
      held.release(500)
    }
    target.answers(() => new Response('', { status: 500 }))
    held.release(500)
    await toTheEnd(fixture)
    expect(fixture.states()).toEqual({ failed: 37 })
  })

  test('opens the circuit breaker of the relay, but has none of its own', async () => {
    await using fixture = await bootGate()
    await using target = answering(500)
    const { key } = await fixture.acme.key('relay', 'live')
    const relay = relayOf(fixture.app, fixture.app.client(key))
    const ofGate = await fixture.createEndpoint(target.url)
    const ofRelay = await relay.createEndpoint(target.url)
    await fixture.publishMany(6)
    await relay.sendMany(6)
    await toTheEnd(fixture)
    expect(fixture.states()).toEqual({ failed: 6 })
    expect(fixture.app.delivery.healthOf(ofGate.id).openUntil).toBeNull()
    expect(await relay.readEndpoint(ofRelay)).toMatchObject({ health: { breaker: 'open' } })
  })
})

describe('A paused endpoint', () => {
  /** Disables an endpoint like a process that ended before it could hold its deliveries. */
  function disableOnly({ app }: GateFixture, { id }: { id: string }) {
    const other = openDatabase({ dataDir: dirname(app.db.file), synchronous: 'full' })
    other.client.run('update endpoints set is_active = 0 where id = ?', [id])
    other.close()
  }

  test('has a long queue held even if the process that paused it ended', async () => {
    await using fixture = await bootGate()
    await using target = startTarget()
    const held = holdAnswers(target)
    const endpoint = await fixture.createEndpoint(target.url)
    await fixture.publishMany(700)
    await held.arrived(16)
    disableOnly(fixture, endpoint)
    held.release(200, 1)
    await until(() => fixture.states().ready === undefined)
    expect(fixture.states()).toEqual({ succeeded: 1, leased: 15, held: 684 })
    held.release()
    await rest(fixture.app)
    expect(target.requests).toHaveLength(16)
  })

  test('discards nothing if it is resumed by another process first', async () => {
    await using fixture = await bootGate({ flags: { 'gate-webhook-delays': '1h' } })
    const endpoint = await fixture.createEndpoint('http://127.0.0.1:9/')
    await fixture.publish()
    disableOnly(fixture, endpoint)
    const second = fixture.change(endpoint, { isActive: true, held: 'discard' })
    fixture.app.db.client.run('update endpoints set is_active = 1')
    await second
    expect(fixture.states()).toEqual({ waiting: 1 })
  })

  test('cancels a failing attempt when its deliveries are discarded', async () => {
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

  test('can have its discarded deliveries replayed', async () => {
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

  test('does not pause the endpoints of the relay, and the other way around', async () => {
    await using fixture = await bootGate()
    await using target = startTarget()
    const { key } = await fixture.acme.key('relay', 'live')
    const relay = relayOf(fixture.app, fixture.app.client(key))
    const ofGate = await fixture.createEndpoint(target.url)
    const ofRelay = await relay.createEndpoint(target.url)
    await fixture.change(ofGate, { isActive: false })
    await fixture.publish()
    await relay.send()
    await rest(fixture.app)
    expect(fixture.states()).toEqual({ held: 1 })
    expect(await tally(relay)).toEqual({ succeeded: 1 })

    await fixture.change(ofGate, { isActive: true })
    await relay.change(ofRelay, { active: false })
    await fixture.publish()
    await relay.send()
    await rest(fixture.app)
    expect(fixture.states()).toEqual({ succeeded: 2 })
    expect(await tally(relay)).toEqual({ succeeded: 1, 'held: inactive': 1 })
  })
})

test.each([
  ['is repeated without being counted', true, 'succeeded', 1],
  ['is held if the endpoint was paused meanwhile', false, 'held', 0],
])('An attempt whose process ended %s', async (_, isActive, state, attempts) => {
  await using fixture = await bootGate()
  await using target = startTarget()
  const held = holdAnswers(target)
  const endpoint = await fixture.createEndpoint(target.url)
  const message = await fixture.publish()
  await held.arrived(1)
  target.answers(() => new Response())
  if (!isActive) await fixture.change(endpoint, { isActive })
  await using next = await bootBeside(fixture, { othersRun: false })
  await next.clock.settled()

  expect(fixture.deliveryOf(message)).toMatchObject({ state, attempts })
  expect(fixture.storyOf(message)[0]).toEqual([1, 0, 'interrupted'])
  expect(target.requests).toHaveLength(isActive ? 2 : 1)
  held.release(200)
  await rest(fixture.app)
})

test('An endpoint whose secret cannot be decrypted gets its events after a rotation', async () => {
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
