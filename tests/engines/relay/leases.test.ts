import { describe, expect, test } from 'bun:test'
import { advanceWaiting, breathe, holdAnswers } from '../clockwork/support.ts'
import { answerWith, bootBeside, bootRelay, count, SECOND, tally } from './fixture.ts'

const GONE = { othersRun: false }
const yes = answerWith(200)

/** A relay with one message under way at an endpoint that has not answered yet. */
async function bootUnderWay() {
  const relay = await bootRelay()
  const held = holdAnswers(relay.target)
  const endpoint = await relay.createEndpoint()
  const message = await relay.send()
  await held.arrived(1)
  return { ...relay, held, endpoint, message, told: () => relay.deliveryOf(message) }
}

/** Ends the work of the first process as a shutdown does; its database can still be read. */
async function shutDown({ app }: Awaited<ReturnType<typeof bootRelay>>) {
  const stopped = app.delivery.stop(0)
  await advanceWaiting(app, 0)
  await stopped
  await app.platform.instances.stop()
}

describe('an attempt that a shutdown cuts short', () => {
  test('is logged as interrupted, and made again immediately with nothing counted', async () => {
    await using relay = await bootUnderWay()
    const { endpoint, readEndpoint, statsOf, target, told } = relay

    await shutDown(relay)

    const error = { code: 'interrupted', message: expect.stringContaining('stopped') }
    const interrupted = { number: 1, status: 'interrupted', error, response: null }
    expect(await told()).toMatchObject({
      status: 'pending',
      attempts: 0,
      attempt_log: [interrupted],
    })
    expect(await statsOf(endpoint)).toEqual([])
    expect(await readEndpoint(endpoint)).toMatchObject({ health: { failures_in_a_row: 0 } })

    target.answers(yes)
    await using next = await bootBeside(relay)
    await next.clock.settled()
    expect(await told()).toMatchObject({
      status: 'succeeded',
      attempts: 1,
      attempt_log: [interrupted, { number: 1, status: 'succeeded' }],
    })
    const numbers = target.requests.map(({ headers }) => headers.get('x-service-attempt'))
    expect(numbers).toEqual(['1', '1'])
  })

  test('still has its whole schedule', async () => {
    await using relay = await bootRelay({ flags: { 'relay-retry-delays': '5s' } })
    relay.target.answers(answerWith(500))
    await relay.createEndpoint()
    const message = await relay.deliver()
    const held = holdAnswers(relay.target)
    await advanceWaiting(relay.app, 5 * SECOND)
    await held.arrived(2)

    await shutDown(relay)

    expect(await relay.deliveryOf(message)).toMatchObject({ status: 'retrying', attempts: 1 })
  })
})

describe('when a process is gone with an attempt under way', () => {
  test('the next one to start makes it again, and a late answer changes nothing', async () => {
    await using relay = await bootUnderWay()
    const { held, endpoint, statsOf, target, rest, told } = relay
    target.answers(yes)

    await using next = await bootBeside(relay, GONE)
    await next.clock.settled()

    const after = await told()
    const error = { code: 'interrupted', message: expect.stringContaining('stopped before') }
    expect(structuredClone(after)).toMatchObject({
      status: 'succeeded',
      attempts: 1,
      attempt_log: [
        { number: 1, status: 'interrupted', request: null, error },
        { number: 1, status: 'succeeded' },
      ],
    })
    expect(await statsOf(endpoint)).toMatchObject([{ succeeded: 1, failed: 0 }])
    held.release(500)
    await rest()
    expect(await told()).toEqual(after)
  })

  test('what it had begun for a deleted endpoint is cancelled', async () => {
    await using relay = await bootUnderWay()
    await relay.remove(relay.endpoint)

    await using next = await bootBeside(relay, GONE)
    await next.clock.settled()

    expect(await relay.told()).toMatchObject({ status: 'cancelled', attempts: 0 })
    expect(relay.target.requests).toHaveLength(1)
    relay.held.release(200)
    await relay.rest()
  })

  test('each of many attempts is made once more', async () => {
    await using relay = await bootRelay()
    const held = holdAnswers(relay.target)
    for (let n = 0; n < 10; n++) await relay.createEndpoint()
    await relay.sendMany(6)
    await held.arrived(60)
    relay.target.answers(yes)

    await using next = await bootBeside(relay, GONE)
    await next.clock.settled()
    await next.clock.advance(5 * SECOND)

    expect(await tally(relay)).toEqual({ succeeded: 60 })
    expect(relay.target.requests).toHaveLength(120)
    held.release(200)
    await relay.rest()
  })
})

describe('while two processes run', () => {
  test('each delivery is made by one of them', async () => {
    await using relay = await bootRelay()
    for (let n = 0; n < 3; n++) await relay.createEndpoint()
    await using other = await bootBeside(relay)

    const sent = relay.sendMany(60)
    for (let n = 0; n < 20; n++) {
      other.delivery.nudge()
      await breathe(relay.app)
    }
    await sent
    await relay.rest()
    await other.clock.settled()

    expect(await tally(relay)).toEqual({ succeeded: 180 })
    expect(relay.target.requests).toHaveLength(180)
  })

  test('neither takes work of the other before its lease ends', async () => {
    await using relay = await bootUnderWay()
    await using other = await bootBeside(relay)
    for (let n = 0; n < 10; n++) {
      await advanceWaiting(relay.app, SECOND)
      await other.clock.advance(SECOND)
    }
    relay.held.release(200)
    await relay.rest()

    expect(relay.target.requests).toHaveLength(1)
    expect(await relay.told()).toMatchObject({ status: 'succeeded', attempts: 1 })
  })

  test('one takes work whose lease has ended', async () => {
    await using relay = await bootUnderWay()
    relay.app.db.client.run('update deliveries set lease_until = 1')
    relay.target.answers(yes)

    await using other = await bootBeside(relay)
    await other.clock.settled()

    const attempts = [{ status: 'interrupted' }, { status: 'succeeded' }]
    expect(await relay.told()).toMatchObject({ status: 'succeeded', attempt_log: attempts })
    relay.held.release(200)
    await relay.rest()
    expect(count(relay.app, 'attempts')).toBe(2)
  })

  test('an endpoint that recovers gets one delivery at a time from both together', async () => {
    await using relay = await bootRelay()
    const { app, change, createEndpoint, sendMany, target, rest } = relay
    const endpoint = await createEndpoint({ active: false })
    await sendMany(10)
    await using other = await bootBeside(relay)
    const held = holdAnswers(target)

    await change(endpoint, { active: true })
    await held.arrived(1)
    other.delivery.nudge()
    for (let n = 0; n < 5; n++) await breathe(app)

    expect(target.requests).toHaveLength(1)
    target.answers(yes)
    held.release(200)
    await rest()
    await other.clock.settled()
    await rest()
    expect(await tally(relay)).toEqual({ succeeded: 10 })
  })
})
