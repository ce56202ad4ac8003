import { expect, test } from 'bun:test'
import { breathe } from '../clockwork/support.ts'
import { bootBeside, bootRelay, type Party } from './fixture.ts'
import { count, SECOND } from './support.ts'

const GONE = { othersRun: false }

/** A relay with one message under way at an endpoint that has not answered yet. */
async function bootUnderWay() {
  const relay = await bootRelay()
  const held = relay.target.hold()
  const endpoint = await relay.createEndpoint()
  const message = await relay.send()
  await held.arrived(1)
  return { ...relay, held, endpoint, read: () => relay.deliveryOf(message) }
}

/** Ends the work of the first process as a shutdown does; its database can still be read. */
async function shutDown({ app, wait }: Party) {
  const stopped = app.delivery.stop(0)
  await wait(0)
  await stopped
  await app.platform.instances.stop()
}

/** One more process, after it has done what it finds due. */
async function bootNext(relay: Party, options?: Parameters<typeof bootBeside>[1]) {
  const next = await bootBeside(relay, options)
  await next.clock.settled()
  return next
}

test('An attempt that a shutdown cuts short is made again immediately, with nothing counted', async () => {
  await using relay = await bootUnderWay()
  const { endpoint, read, target } = relay
  await shutDown(relay)

  const error = { code: 'interrupted', message: expect.stringContaining('stopped') }
  const interrupted = { number: 1, status: 'interrupted', error, response: null }
  const pending = { status: 'pending', attempts: 0, attempt_log: [interrupted] }
  expect(await read()).toMatchObject(pending)
  expect(await relay.statsOf(endpoint)).toEqual([])
  expect(await relay.healthOf(endpoint)).toMatchObject({ failures_in_a_row: 0 })

  target.answers(200)
  await using _ = await bootNext(relay)
  const attempt_log = [interrupted, { number: 1, status: 'succeeded' }]
  expect(await read()).toMatchObject({ status: 'succeeded', attempts: 1, attempt_log })
  expect(relay.headers('x-service-attempt')).toEqual(['1', '1'])
})

test('The attempt of a process that is gone is made again, and a late answer changes nothing', async () => {
  await using relay = await bootUnderWay()
  const { held, read, target } = relay
  target.answers(200)
  await using _ = await bootNext(relay, GONE)

  const after = await read()
  const error = { code: 'interrupted', message: expect.stringContaining('stopped before') }
  const lost = { number: 1, status: 'interrupted', request: null, error }
  const attempt_log = [lost, { number: 1, status: 'succeeded' }]
  expect(after).toMatchObject({ status: 'succeeded', attempts: 1, attempt_log })
  expect(await relay.statsOf(relay.endpoint)).toMatchObject([{ succeeded: 1, failed: 0 }])
  held.release(500)
  await relay.rest()
  expect(await read()).toEqual(after)
})

test('The attempt of a process that is gone is cancelled if the endpoint is deleted', async () => {
  await using relay = await bootUnderWay()
  await relay.remove(relay.endpoint)
  await using _ = await bootNext(relay, GONE)
  expect(await relay.read()).toMatchObject({ status: 'cancelled', attempts: 0 })
  expect(relay.target.requests).toHaveLength(1)
  relay.held.release()
  await relay.rest()
})

test('Each of many attempts of a process that is gone is made once more', async () => {
  await using relay = await bootRelay()
  const held = relay.target.hold()
  for (let n = 0; n < 3; n++) await relay.createEndpoint()
  await relay.sendMany(4)
  await held.arrived(12)
  relay.target.answers(200)
  await using next = await bootNext(relay, GONE)
  await next.clock.advance(5 * SECOND)
  expect(await relay.tally()).toEqual({ succeeded: 12 })
  expect(relay.target.requests).toHaveLength(24)
  held.release()
  await relay.rest()
})

test('While two processes run, each delivery is made by one of them', async () => {
  await using relay = await bootRelay()
  for (let n = 0; n < 3; n++) await relay.createEndpoint()
  await using other = await bootBeside(relay)
  const sent = relay.sendMany(15)
  for (let n = 0; n < 10; n++) {
    other.delivery.nudge()
    await breathe(relay.app)
  }
  await sent
  await relay.rest()
  await other.clock.settled()
  expect(await relay.tally()).toEqual({ succeeded: 45 })
  expect(relay.target.requests).toHaveLength(45)
})

test('Of two processes, one takes work of the other only after its lease ended', async () => {
  await using relay = await bootUnderWay()
  const { app, held, read, target } = relay
  await using other = await bootNext(relay)
  for (let n = 0; n < 2; n++) {
    await relay.wait(6 * SECOND)
    await other.clock.advance(6 * SECOND)
  }
  expect(target.requests).toHaveLength(1)
  app.db.client.run('update deliveries set lease_until = 1')
  target.answers(200)

  await other.clock.advance(6 * SECOND)

  const attempt_log = [{ status: 'interrupted' }, { status: 'succeeded' }]
  expect(await read()).toMatchObject({ status: 'succeeded', attempts: 1, attempt_log })
  held.release()
  await relay.rest()
  expect(count(app, 'attempts')).toBe(2)
})

test('While two processes run, an endpoint that recovers gets one delivery at a time', async () => {
  await using relay = await bootRelay()
  const endpoint = await relay.createEndpoint({ active: false })
  await relay.sendMany(10)
  await using other = await bootBeside(relay)
  const held = relay.target.hold()
  await relay.change(endpoint, { active: true })
  await held.arrived(1)
  other.delivery.nudge()
  expect(await relay.underWay()).toBe(1)

  relay.target.answers(200)
  held.release()
  await relay.rest()
  await other.clock.settled()
  await relay.rest()
  expect(await relay.tally()).toEqual({ succeeded: 10 })
})

test('A delivery is leased by the commit that stores its message', async () => {
  await using relay = await bootRelay()
  relay.target.hold()
  await relay.createEndpoint()
  const { client } = relay.app.db
  const states: unknown[] = []
  relay.app.db.observe({
    committed: () => states.push(client.query('SELECT state FROM deliveries').values()),
    failed: () => {},
  })
  await relay.send()
  expect(states[0]).toEqual([['leased']])
})
