import { expect, test } from 'bun:test'
import { createStore } from '../../src/delivery/store/index.ts'
import { useApp } from '../support/app.ts'
import { plansOf } from '../support/plans.ts'
import { startTarget } from '../support/target.ts'
import { type Gate, gateOf } from './fixture.ts'

const app = await useApp()

const ANNA = { about: 'anna' }

const erase = ({ app, id }: Gate, limit = 500) =>
  app.db.commit(() => app.delivery.erase(id, ANNA.about, ['identity.deleted'], limit))

test('Erasing removes the messages about an identity with their deliveries, slice by slice', async () => {
  const gate = await gateOf(app)
  await using target = startTarget()
  for (let n = 0; n < 2; n++) await gate.createEndpoint(target.url)
  await gate.publishMany(3, ANNA)
  await gate.rest()
  expect(gate.rows()).toEqual([3, 6, 6])
  for (const [deleted, isComplete] of [
    [4, false],
    [4, false],
    [4, false],
    [3, true],
  ] as const) {
    const before = gate.rows().reduce((sum, n) => sum + n, 0)
    expect(await erase(gate, 4)).toEqual({ deleted, isComplete })
    expect(gate.rows().reduce((sum, n) => sum + n, 0)).toBe(before - deleted)
  }
  expect(gate.rows()).toEqual([0, 0, 0])
})

test('Messages of kept types, about others, about no identity or of other tenants stay', async () => {
  const [gate, other] = [await gateOf(app), await gateOf(app)]
  await gate.publish({ about: 'bert' })
  await gate.publish()
  await other.publish(ANNA)
  await gate.publish(ANNA)
  const kept = await gate.publish({ ...ANNA, type: 'identity.deleted' })
  expect(await erase(gate)).toEqual({ deleted: 1, isComplete: true })
  expect(app.delivery.messages.find(gate.stream, kept.id)).toBeDefined()
  expect([gate.rows()[0], other.rows()[0]]).toEqual([3, 1])
})

test('A pending delivery stays until it has ended, and keeps no other from being erased', async () => {
  const gate = await gateOf(app)
  await using target = startTarget()
  await gate.createEndpoint(target.url)
  await gate.deliver(ANNA)
  const held = target.hold()
  const last = await gate.publish(ANNA)
  await held.arrived(2)
  expect(await erase(gate)).toEqual({ deleted: 3, isComplete: false })
  expect(gate.deliveryOf(last)).toMatchObject({ state: 'leased' })
  held.release(500)
  await gate.rest()
  expect(await erase(gate)).toEqual({ deleted: 0, isComplete: false })
  target.answers(200)
  await gate.clock.advance(1000)
  await gate.rest()
  expect(await erase(gate)).toEqual({ deleted: 4, isComplete: true })
  expect(gate.rows()).toEqual([0, 0, 0])
})

test('Erasing reads only the index of messages about an identity', async () => {
  const { plans, planWith } = await plansOf(createStore)
  const ofErasing = plans.filter(({ statement }) => statement.includes('"about" = ?'))
  expect(ofErasing).toHaveLength(2)
  const index = expect.stringContaining('messages_about (tenant_id=? AND about=?)')
  for (const { plan } of ofErasing)
    expect(plan.filter((step) => /^(SEARCH|SCAN) messages|B-TREE/.test(step))).toEqual([index])
  expect(planWith('"about" = ?', 'not exists')).toContain('deliveries_by_message (message_seq=?)')
})
