import { describe, expect, test } from 'bun:test'
import { dirname } from 'node:path'
import { openDatabase } from '../../src/db/open.ts'
import { bootBeside, leap, relayOf, tally } from '../engines/relay/fixture.ts'
import { HOUR } from '../engines/relay/support.ts'
import { useApp } from '../support/app.ts'
import { until } from '../support/binary.ts'
import { startTarget } from '../support/target.ts'
import { bootGate, type Gate, gateOf, SYSTEM } from './fixture.ts'

// Schedules and answers over HTTP are in tests/engines/gate/webhooks/webhook-delivery.test.ts.

const app = await useApp()

const relayFor = async ({ app, key }: Gate) => relayOf(app, app.client((await key('relay')).key))

test('An event is stored with the change that it reports, or not at all', async () => {
  const gate = await gateOf(app)
  await using target = startTarget()
  await gate.createEndpoint(target.url)
  const failed = app.db.commit(() => {
    const event = { type: 'a', payload: '{}', channels: [] }
    app.delivery.publish(gate.stream, event, app.clock.now())
    throw new Error('refused after all')
  })
  await expect(failed).rejects.toThrow('refused after all')
  await gate.rest()
  expect(gate.states()).toEqual({})
  expect(target.requests).toEqual([])
})

test('The body of an event is sent as it was published', async () => {
  const gate = await gateOf(app)
  await using target = startTarget()
  await gate.createEndpoint(target.url, { eventTypes: ['identity.*'] })
  const payload = '{"event_id":"e-1",  "data":{"n":1.0}}'
  await gate.deliver({ id: 'e-1', payload })
  expect(target.requests[0]?.body).toBe(payload)
  expect(target.requests[0]?.headers.get('webhook-id')).toBe('e-1')
})

describe('A receiver that always fails', () => {
  test('is tried for each event, without a circuit breaker, which the relay has', async () => {
    const gate = await gateOf(app)
    const relay = await relayFor(gate)
    await using target = startTarget(500)
    const ofGate = await gate.createEndpoint(target.url)
    const ofRelay = await relay.createEndpoint(target.url)
    await gate.publishMany(20)
    await relay.sendMany(6)
    await gate.toTheEnd()
    expect(gate.states()).toEqual({ failed: 20 })
    expect(app.delivery.healthOf(ofGate.id).openUntil).toBeNull()
    expect(await relay.readEndpoint(ofRelay)).toMatchObject({ health: { breaker: 'open' } })
  })

  test('is never disabled, and catches up at full speed after a pause', async () => {
    await using gate = await bootGate({ flags: { 'gate-webhook-delays': '0s' } })
    await using target = startTarget(500)
    const endpoint = await gate.createEndpoint(target.url)
    for (let n = 0; n < 25; n++) {
      await leap(gate.app, 7 * HOUR)
      await gate.deliver()
    }
    const shown = gate.app.delivery.endpoints.get(gate.stream, endpoint.id)
    expect(shown).toMatchObject({ isActive: true, disabledReason: null })

    await gate.change(endpoint, { isActive: false })
    await gate.publishMany(12)
    const held = target.hold()
    await gate.change(endpoint, { isActive: true })
    for (const arrived of [26, 28, 32]) {
      await held.arrived(arrived)
      held.release(500)
    }
    target.answers(500)
    held.release(500)
    await gate.toTheEnd()
    expect(gate.states()).toEqual({ failed: 37 })
  })
})

describe('A paused endpoint', () => {
  /** Disables an endpoint like a process that ended before it could hold its deliveries. */
  function disableOnly({ id }: { id: string }, { db } = app) {
    const other = openDatabase({ dataDir: dirname(db.file), synchronous: 'full' })
    other.client.run('update endpoints set is_active = 0 where id = ?', [id])
    other.close()
  }

  test('has a long queue held even if the process that paused it ended', async () => {
    const gate = await gateOf(app)
    await using target = startTarget()
    const held = target.hold()
    const endpoint = await gate.createEndpoint(target.url)
    await gate.publishMany(600)
    await held.arrived(16)
    disableOnly(endpoint)
    held.release(200, 1)
    await until(() => gate.states().ready === undefined)
    expect(gate.states()).toEqual({ succeeded: 1, leased: 15, held: 584 })
    held.release()
    await gate.rest()
    expect(target.requests).toHaveLength(16)
  })

  test('discards nothing if it is resumed by another process first', async () => {
    await using gate = await bootGate({ flags: { 'gate-webhook-delays': '1h' } })
    const endpoint = await gate.createEndpoint('http://127.0.0.1:9/')
    await gate.publish()
    disableOnly(endpoint, gate.app)
    const second = gate.change(endpoint, { isActive: true, held: 'discard' })
    gate.app.db.client.run('update endpoints set is_active = 1')
    await second
    expect(gate.states()).toEqual({ waiting: 1 })
  })

  test('cancels a failing attempt when its deliveries are discarded, and can be replayed', async () => {
    const gate = await gateOf(app)
    await using target = startTarget()
    const held = target.hold()
    const endpoint = await gate.createEndpoint(target.url)
    const message = await gate.publish()
    await held.arrived(1)
    await gate.change(endpoint, { isActive: false })
    await gate.publishMany(2)
    await gate.change(endpoint, { isActive: true, held: 'discard' })
    held.release(500)
    await gate.toTheEnd()
    expect(gate.deliveryOf(message)).toMatchObject({ state: 'cancelled', attempts: 1 })
    expect(gate.states()).toEqual({ cancelled: 3 })
    expect(target.requests).toHaveLength(1)

    target.answers(200)
    const now = app.clock.now()
    const period = { since: now - HOUR, until: now + 1, which: 'undelivered' } as const
    const options = { ...period, perSecond: 10, dryRun: false }
    expect(await app.delivery.replay(gate.stream, SYSTEM, endpoint.id, options)).toBe(3)
    await gate.toTheEnd()
    expect(gate.states()).toEqual({ succeeded: 3 })
  })

  test('does not pause the endpoints of the relay, and the other way around', async () => {
    const gate = await gateOf(app)
    const relay = await relayFor(gate)
    await using target = startTarget()
    const ofGate = await gate.createEndpoint(target.url)
    const ofRelay = await relay.createEndpoint(target.url)
    await gate.change(ofGate, { isActive: false })
    await gate.publish()
    await relay.deliver()
    expect(gate.states()).toEqual({ held: 1 })
    expect(await tally(relay)).toEqual({ succeeded: 1 })

    await gate.change(ofGate, { isActive: true })
    await relay.change(ofRelay, { active: false })
    await gate.publish()
    await relay.deliver()
    expect(gate.states()).toEqual({ succeeded: 2 })
    expect(await tally(relay)).toEqual({ succeeded: 1, 'held: inactive': 1 })
  })
})

test.each([
  ['is repeated without being counted', true, 'succeeded', 1],
  ['is held if the endpoint was paused meanwhile', false, 'held', 0],
])('An attempt whose process ended %s', async (_, isActive, state, attempts) => {
  await using gate = await bootGate()
  await using target = startTarget()
  const held = target.hold()
  const endpoint = await gate.createEndpoint(target.url)
  const message = await gate.publish()
  await held.arrived(1)
  target.answers(200)
  if (!isActive) await gate.change(endpoint, { isActive })
  await using next = await bootBeside(gate, { othersRun: false })
  await next.clock.settled()
  const delivery = gate.deliveryOf(message)
  expect(delivery).toMatchObject({ state, attempts })
  expect(gate.attemptsAt(delivery)[0]).toMatchObject({ number: 1, status: 'interrupted' })
  expect(target.requests).toHaveLength(isActive ? 2 : 1)
  held.release(200)
  await gate.rest()
})

test('An endpoint whose secret cannot be decrypted gets its events after a rotation', async () => {
  await using gate = await bootGate()
  await using target = startTarget()
  const endpoint = await gate.createEndpoint(target.url)
  gate.app.db.client.run("update endpoints set secrets = 'nonsense'")
  for (let n = 0; n < 2; n++) await gate.deliver()
  expect(gate.states()).toEqual({ held: 2 })
  const { endpoints } = gate.app.delivery
  await endpoints.rotateSecret(gate.stream, SYSTEM, endpoint.id, { graceMs: 0 })
  await gate.toTheEnd()
  expect(gate.states()).toEqual({ succeeded: 2 })
})
