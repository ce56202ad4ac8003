import { expect, test } from 'bun:test'
import { createStore } from '../../src/delivery/store/index.ts'
import { count, holdAnswers } from '../engines/clockwork/support.ts'
import { rest } from '../engines/relay/fixture.ts'
import { plansOf } from '../support/plans.ts'
import { startTarget } from '../support/target.ts'
import { bootGate, type GateFixture } from './fixture.ts'

const ANNA = 'anna'
const KEPT = ['identity.deleted']

const erase = ({ app, acme }: GateFixture, limit = 500, about = ANNA) =>
  app.db.commit(() => app.delivery.erase(acme.id, about, KEPT, limit))

const rows = ({ app }: GateFixture) =>
  ['messages', 'deliveries', 'attempts'].map((table) => count(app, table))

test('Erasing removes the messages about an identity with their deliveries and attempts', async () => {
  await using fixture = await bootGate()
  await using target = startTarget()
  await fixture.createEndpoint(target.url)
  await fixture.createEndpoint(target.url)
  await fixture.publishMany(3, { about: ANNA })
  await rest(fixture.app)
  expect(rows(fixture)).toEqual([3, 6, 6])

  expect(await erase(fixture)).toEqual({ deleted: 15, isComplete: true })

  expect(rows(fixture)).toEqual([0, 0, 0])
})

test('Messages about other identities, no identity or of other tenants stay', async () => {
  await using fixture = await bootGate()
  const { app, clock } = fixture
  const other = await app.tenant('Other')
  await fixture.publish({ about: 'bert' })
  await fixture.publish()
  await app.db.commit(() =>
    app.delivery.publish(
      { tenantId: other.id, name: 'gate.live' },
      { type: 'identity.login', payload: '{}', channels: [], about: ANNA },
      clock.now(),
    ),
  )

  expect(await erase(fixture)).toEqual({ deleted: 0, isComplete: true })
  expect(count(app, 'messages')).toBe(3)
})

test('An event type that is kept stays, and the erasure is complete', async () => {
  await using fixture = await bootGate()
  await fixture.publish({ about: ANNA })
  const kept = await fixture.publish({ about: ANNA, type: 'identity.deleted' })

  expect(await erase(fixture)).toEqual({ deleted: 1, isComplete: true })

  expect(fixture.app.delivery.messages.find(fixture.stream, kept.id)).toBeDefined()
  expect(count(fixture.app, 'messages')).toBe(1)
})

test('A pending delivery stays until it has ended', async () => {
  await using fixture = await bootGate()
  await using target = startTarget()
  const held = holdAnswers(target)
  await fixture.createEndpoint(target.url)
  await fixture.publish({ about: ANNA })
  await held.arrived(1)

  expect(await erase(fixture)).toEqual({ deleted: 0, isComplete: false })
  held.release(500)
  await rest(fixture.app)
  expect(await erase(fixture)).toEqual({ deleted: 0, isComplete: false })

  target.answers(() => new Response())
  await fixture.clock.advance(1000)
  await rest(fixture.app)
  expect(await erase(fixture)).toEqual({ deleted: 4, isComplete: true })
  expect(rows(fixture)).toEqual([0, 0, 0])
})

test('A pending delivery keeps no other from being erased', async () => {
  await using fixture = await bootGate()
  await using target = startTarget()
  await fixture.createEndpoint(target.url)
  await fixture.deliver({ about: ANNA })
  const held = holdAnswers(target)
  const last = await fixture.publish({ about: ANNA })
  await held.arrived(2)

  expect(await erase(fixture)).toEqual({ deleted: 3, isComplete: false })

  expect(fixture.deliveryOf(last)).toMatchObject({ state: 'leased' })
  held.release()
  await rest(fixture.app)
})

test('A slice removes up to its limit of rows', async () => {
  await using fixture = await bootGate()
  await using target = startTarget()
  await fixture.createEndpoint(target.url)
  await fixture.publishMany(5, { about: ANNA })
  await rest(fixture.app)

  const slices: unknown[] = []
  for (let left = 15; left > 0; ) {
    const slice = await erase(fixture, 4)
    slices.push(slice)
    left -= slice.deleted
    expect(rows(fixture).reduce((sum, n) => sum + n, 0)).toBe(left)
  }

  expect(slices).toEqual([
    { deleted: 4, isComplete: false },
    { deleted: 4, isComplete: false },
    { deleted: 4, isComplete: false },
    { deleted: 3, isComplete: true },
  ])
})

test('Erasing reads only the index of messages about an identity', async () => {
  const { plans, planWith } = await plansOf(createStore)

  const ofErasing = plans.filter(({ statement }) => statement.includes('"about" = ?'))
  expect(ofErasing).toHaveLength(2)
  for (const { plan } of ofErasing)
    expect(plan.filter((step) => /^(SEARCH|SCAN) messages|B-TREE/.test(step))).toEqual([
      expect.stringContaining('messages_about (tenant_id=? AND about=?)'),
    ])
  expect(planWith('"about" = ?', 'not exists')).toContain('deliveries_by_message (message_seq=?)')
})
