import { expect, test } from 'bun:test'
import { createStore } from '../../src/delivery/store/index.ts'
import { count, holdAnswers } from '../engines/clockwork/support.ts'
import { rest } from '../engines/relay/fixture.ts'
import { plansOf } from '../support/plans.ts'
import { startTarget } from '../support/target.ts'
import { bootGate, type GateWorld } from './fixture.ts'

const ANNA = 'anna'
const KEPT = ['identity.deleted']

const erase = ({ app, acme }: GateWorld, limit = 500, about = ANNA) =>
  app.db.commit(() => app.delivery.erase(acme.id, about, KEPT, limit))

const rows = ({ app }: GateWorld) =>
  ['messages', 'deliveries', 'attempts'].map((table) => count(app, table))

test('what is about somebody goes, with its deliveries and attempts', async () => {
  await using world = await bootGate()
  await using target = startTarget()
  await world.createEndpoint(target.url)
  await world.createEndpoint(target.url)
  await world.publishMany(3, { about: ANNA })
  await rest(world.app)
  expect(rows(world)).toEqual([3, 6, 6])

  expect(await erase(world)).toEqual({ deleted: 15, isComplete: true })

  expect(rows(world)).toEqual([0, 0, 0])
})

test('what is about others, about nobody or another tenant stays', async () => {
  await using world = await bootGate()
  const { app, clock } = world
  const other = await app.tenant('Other')
  await world.publish({ about: 'bert' })
  await world.publish()
  await app.db.commit(() =>
    app.delivery.publish(
      { tenantId: other.id, name: 'gate.live' },
      { type: 'identity.login', payload: '{}', channels: [], about: ANNA },
      clock.now(),
    ),
  )

  expect(await erase(world)).toEqual({ deleted: 0, isComplete: true })
  expect(count(app, 'messages')).toBe(3)
})

test('a type that is kept stays, and leaves nothing to be done', async () => {
  await using world = await bootGate()
  await world.publish({ about: ANNA })
  const kept = await world.publish({ about: ANNA, type: 'identity.deleted' })

  expect(await erase(world)).toEqual({ deleted: 1, isComplete: true })

  expect(world.app.delivery.messages.find(world.stream, kept.id)).toBeDefined()
  expect(count(world.app, 'messages')).toBe(1)
})

test('what is still on its way stays until it has ended', async () => {
  await using world = await bootGate()
  await using target = startTarget()
  const held = holdAnswers(target)
  await world.createEndpoint(target.url)
  await world.publish({ about: ANNA })
  await held.arrived(1)

  expect(await erase(world)).toEqual({ deleted: 0, isComplete: false })
  held.release(500)
  await rest(world.app)
  expect(await erase(world)).toEqual({ deleted: 0, isComplete: false })

  target.answers(() => new Response())
  await world.clock.advance(1000)
  await rest(world.app)
  expect(await erase(world)).toEqual({ deleted: 4, isComplete: true })
  expect(rows(world)).toEqual([0, 0, 0])
})

test('what keeps others from going does so for itself alone', async () => {
  await using world = await bootGate()
  await using target = startTarget()
  await world.createEndpoint(target.url)
  await world.deliver({ about: ANNA })
  const held = holdAnswers(target)
  const last = await world.publish({ about: ANNA })
  await held.arrived(2)

  expect(await erase(world)).toEqual({ deleted: 3, isComplete: false })

  expect(world.deliveryOf(last)).toMatchObject({ state: 'leased' })
  held.release()
  await rest(world.app)
})

test('a slice takes so many rows and no more, until none is left', async () => {
  await using world = await bootGate()
  await using target = startTarget()
  await world.createEndpoint(target.url)
  await world.publishMany(5, { about: ANNA })
  await rest(world.app)

  const slices: unknown[] = []
  for (let left = 15; left > 0; ) {
    const slice = await erase(world, 4)
    slices.push(slice)
    left -= slice.deleted
    expect(rows(world).reduce((sum, n) => sum + n, 0)).toBe(left)
  }

  expect(slices).toEqual([
    { deleted: 4, isComplete: false },
    { deleted: 4, isComplete: false },
    { deleted: 4, isComplete: false },
    { deleted: 3, isComplete: true },
  ])
})

test('only the index of what is about somebody is looked at', async () => {
  const { plans, planWith } = await plansOf(createStore)

  const ofErasing = plans.filter(({ statement }) => statement.includes('"about" = ?'))
  expect(ofErasing).toHaveLength(2)
  for (const { plan } of ofErasing)
    expect(plan.filter((step) => /^(SEARCH|SCAN) messages|B-TREE/.test(step))).toEqual([
      expect.stringContaining('messages_about (tenant_id=? AND about=?)'),
    ])
  expect(planWith('"about" = ?', 'not exists')).toContain('deliveries_by_message (message_seq=?)')
})
