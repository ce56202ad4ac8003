import { expect, test } from 'bun:test'
import { dirname } from 'node:path'
import { openDatabase } from '../../src/db/open.ts'
import type { EndpointChange, NewEndpoint } from '../../src/delivery/endpoints.ts'
import type { Event } from '../../src/delivery/publish.ts'
import { createStore } from '../../src/delivery/store/index.ts'
import { bootBeside, leap, relayOf, rest } from '../engines/relay/fixture.ts'
import { count, HOUR, SECOND } from '../engines/relay/support.ts'
import { bootTestApp, type TestApp, useApp } from '../support/app.ts'
import { until } from '../support/binary.ts'
import { plansOf } from '../support/plans.ts'
import { startTarget } from '../support/target.ts'

// Schedules and answers over HTTP are in tests/engines/gate/webhooks/webhook-delivery.test.ts.

const app = await useApp()

const SYSTEM = { kind: 'system' } as const
const ANNA = { about: 'anna' }

/** A new tenant, whose stream of gate the test publishes to by itself. */
async function gateOf(app: TestApp) {
  const { id, key } = await app.tenant('Acme')
  const stream = { tenantId: id, name: 'gate.live' } as const
  const { delivery, db, clock } = app
  const event = { type: 'identity.login', payload: '{}', channels: [] }

  /** Events of one commit, each with its number in the body. */
  const publishMany = (count: number, fields: Partial<Event> = {}) =>
    db.commit(() =>
      Array.from({ length: count }, (_, n) =>
        delivery.publish(stream, { ...event, payload: `{"n":${n}}`, ...fields }, clock.now()),
      ),
    )

  async function publish(fields: Partial<Event> = {}) {
    const [message] = await publishMany(1, fields)
    return message as NonNullable<typeof message>
  }

  return {
    app,
    clock,
    id,
    key,
    stream,
    publish,
    publishMany,
    deliveryOf: ({ seq }: { seq: number }) =>
      delivery.deliveries.ofMessage(stream, seq, { limit: 1 })[0],
    createEndpoint: (url: string, fields: Partial<NewEndpoint> = {}) =>
      delivery.endpoints.create(stream, SYSTEM, { url, format: 'raw', ...fields }),
    change: ({ id }: { id: string }, fields: EndpointChange) =>
      delivery.endpoints.update(stream, SYSTEM, id, fields),
    /** With its first attempt, and whatever follows that at once. */
    deliver: async (fields: Partial<Event> = {}) => {
      const message = await publish(fields)
      await rest(app)
      return message
    },
    /** Until no attempt is left. */
    toTheEnd: async () => {
      await rest(app)
      await clock.advance(5 * SECOND)
      await rest(app)
    },
    states: () => {
      const counts: Record<string, number> = {}
      for (const { state } of delivery.deliveries.all(stream, { limit: 10_000 }))
        counts[state] = (counts[state] ?? 0) + 1
      return counts
    },
    /** How many messages, deliveries and attempts are stored. */
    rows: () =>
      ['messages', 'deliveries', 'attempts'].map((table) =>
        count(app, `${table} where tenant_id = '${id}'`),
      ),
    erase: (limit = 500) =>
      db.commit(() => delivery.erase(id, ANNA.about, ['identity.deleted'], limit)),
  }
}

/** The same in an application of its own. */
async function bootGate(flags: Record<string, string> = {}) {
  const app = await bootTestApp({ flags })
  return { ...(await gateOf(app)), [Symbol.asyncDispose]: () => app.stop() }
}

test('An event is stored with the change that it reports, or not at all, and sent as it is', async () => {
  const gate = await gateOf(app)
  await using target = startTarget()
  await gate.createEndpoint(target.url, { eventTypes: ['identity.*'] })
  const failed = app.db.commit(() => {
    const event = { type: 'identity.a', payload: '{}', channels: [] }
    app.delivery.publish(gate.stream, event, app.clock.now())
    throw new Error('refused after all')
  })
  await expect(failed).rejects.toThrow('refused after all')
  await rest(app)
  expect(gate.states()).toEqual({})

  const payload = '{"event_id":"e-1",  "data":{"n":1.0}}'
  await gate.deliver({ id: 'e-1', payload })
  expect(target.requests).toMatchObject([{ body: payload }])
  expect(target.requests[0]?.headers.get('webhook-id')).toBe('e-1')
})

test('A receiver that always fails is tried for each event: only the relay has a circuit breaker', async () => {
  const gate = await gateOf(app)
  const relay = relayOf(app, app.client((await gate.key('relay')).key))
  await using target = startTarget(500)
  const ofGate = await gate.createEndpoint(target.url)
  const ofRelay = await relay.createEndpoint(target.url)
  await gate.publishMany(10)
  await relay.sendMany(6)
  await gate.toTheEnd()
  expect(gate.states()).toEqual({ failed: 10 })
  expect(app.delivery.healthOf(ofGate.id).openUntil).toBeNull()
  expect(await relay.readEndpoint(ofRelay)).toMatchObject({ health: { breaker: 'open' } })
})

test('A receiver that always fails is never disabled, and catches up at full speed after a pause', async () => {
  await using gate = await bootGate({ 'gate-webhook-delays': '0s' })
  await using target = startTarget(500)
  const endpoint = await gate.createEndpoint(target.url)
  for (let n = 0; n < 21; n++) {
    await leap(gate.app, 7 * HOUR)
    await gate.deliver()
  }
  const shown = gate.app.delivery.endpoints.get(gate.stream, endpoint.id)
  expect(shown).toMatchObject({ isActive: true, disabledReason: null })

  await gate.change(endpoint, { isActive: false })
  await gate.publishMany(12)
  const held = target.hold()
  await gate.change(endpoint, { isActive: true })
  for (const arrived of [22, 24, 28]) {
    await held.arrived(arrived)
    held.release(500)
  }
  target.answers(500)
  held.release(500)
  await gate.toTheEnd()
  expect(gate.states()).toEqual({ failed: 33 })
})

/** Disables an endpoint like a process that ended before it could hold its deliveries. */
function disableOnly({ id }: { id: string }, { db } = app) {
  const other = openDatabase({ dataDir: dirname(db.file), synchronous: 'full' })
  other.client.run('update endpoints set is_active = 0 where id = ?', [id])
  other.close()
}

test('A paused endpoint has a long queue held even if the process that paused it ended', async () => {
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
  await rest(app)
  expect(target.requests).toHaveLength(16)
})

test('A paused endpoint discards nothing if it is resumed by another process first', async () => {
  await using gate = await bootGate({ 'gate-webhook-delays': '1h' })
  const endpoint = await gate.createEndpoint('http://127.0.0.1:9/')
  await gate.publish()
  disableOnly(endpoint, gate.app)
  const second = gate.change(endpoint, { isActive: true, held: 'discard' })
  gate.app.db.client.run('update endpoints set is_active = 1')
  await second
  expect(gate.states()).toEqual({ waiting: 1 })
})

test('A paused endpoint has an attempt held whose process ended', async () => {
  await using gate = await bootGate()
  await using target = startTarget()
  const held = target.hold()
  const endpoint = await gate.createEndpoint(target.url)
  const message = await gate.publish()
  await held.arrived(1)
  await gate.change(endpoint, { isActive: false })
  await using next = await bootBeside(gate, { othersRun: false })
  await next.clock.settled()
  expect(gate.deliveryOf(message)).toMatchObject({ state: 'held', attempts: 0 })
  expect(count(gate.app, "attempts where number = 1 and status = 'interrupted'")).toBe(1)
  expect(target.requests).toHaveLength(1)
  held.release(200)
  await rest(gate.app)
})

test('An endpoint whose secret cannot be decrypted gets its events after a rotation', async () => {
  const gate = await gateOf(app)
  await using target = startTarget()
  const { id } = await gate.createEndpoint(target.url)
  app.db.client.run("update endpoints set secrets = 'nonsense' where id = ?", [id])
  await gate.deliver()
  expect(gate.states()).toEqual({ held: 1 })
  await app.delivery.endpoints.rotateSecret(gate.stream, SYSTEM, id, { graceMs: 0 })
  await gate.toTheEnd()
  expect(gate.states()).toEqual({ succeeded: 1 })
})

test('Erasing removes the messages about an identity with their deliveries, slice by slice', async () => {
  const gate = await gateOf(app)
  await using target = startTarget()
  for (let n = 0; n < 2; n++) await gate.createEndpoint(target.url)
  await gate.publishMany(3, ANNA)
  await rest(app)
  expect(gate.rows()).toEqual([3, 6, 6])
  for (const [deleted, isComplete] of [
    [4, false],
    [4, false],
    [4, false],
    [3, true],
  ] as const) {
    const before = gate.rows().reduce((sum, n) => sum + n, 0)
    expect(await gate.erase(4)).toEqual({ deleted, isComplete })
    expect(gate.rows().reduce((sum, n) => sum + n, 0)).toBe(before - deleted)
  }
})

test('Erasing leaves messages of kept types, about others, about no identity and of other tenants', async () => {
  const [gate, other] = [await gateOf(app), await gateOf(app)]
  await gate.publish({ about: 'bert' })
  await gate.publish()
  await other.publish(ANNA)
  await gate.publish(ANNA)
  const kept = await gate.publish({ ...ANNA, type: 'identity.deleted' })
  expect(await gate.erase()).toEqual({ deleted: 1, isComplete: true })
  expect(app.delivery.messages.find(gate.stream, kept.id)).toBeDefined()
  expect([gate.rows()[0], other.rows()[0]]).toEqual([3, 1])
})

test('Erasing leaves a pending delivery until it has ended, and erases the others', async () => {
  const gate = await gateOf(app)
  await using target = startTarget()
  await gate.createEndpoint(target.url)
  await gate.deliver(ANNA)
  const held = target.hold()
  const last = await gate.publish(ANNA)
  await held.arrived(2)
  expect(await gate.erase()).toEqual({ deleted: 3, isComplete: false })
  expect(gate.deliveryOf(last)).toMatchObject({ state: 'leased' })
  held.release(500)
  await rest(app)
  expect(await gate.erase()).toEqual({ deleted: 0, isComplete: false })
  target.answers(200)
  await gate.clock.advance(SECOND)
  await rest(app)
  expect(await gate.erase()).toEqual({ deleted: 4, isComplete: true })
  expect(gate.rows()).toEqual([0, 0, 0])
})

test('Messages about an identity or another subject are found by their index alone', async () => {
  const { plans, planWith } = await plansOf(createStore)
  const aboutSubject = plans.filter(({ statement }) => statement.includes('"about" = ?'))
  expect(aboutSubject).toHaveLength(3)
  const index = expect.stringContaining('messages_about (tenant_id=? AND about=?)')
  for (const { plan } of aboutSubject)
    expect(plan.filter((step) => /^(SEARCH|SCAN) messages|B-TREE/.test(step))).toEqual([index])
  expect(planWith('"about" = ?', 'not exists')).toContain('deliveries_by_message (message_seq=?)')
})
