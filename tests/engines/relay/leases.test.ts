import { describe, expect, test } from 'bun:test'
import { startTarget } from '../../support/target.ts'
import { advanceWaiting, breathe, count, holdAnswers, SECOND } from '../clockwork/support.ts'
import { bootBeside, bootRelay, ENDPOINTS, rest, tally } from './fixture.ts'

/** Ends the work of the first process as a shutdown does; its database can still be read. */
async function shutDown({ app }: Awaited<ReturnType<typeof bootRelay>>) {
  const stopped = app.delivery.stop(0)
  await advanceWaiting(app, 0)
  await stopped
  await app.platform.instances.stop()
}

describe('an attempt that a shutdown cuts short', () => {
  test('is written down as interrupted, and made again at once with nothing counted', async () => {
    await using fixture = await bootRelay()
    await using target = startTarget()
    const held = holdAnswers(target)
    const endpoint = await fixture.createEndpoint(target.url)
    const message = await fixture.send()
    await held.arrived(1)

    await shutDown(fixture)

    expect(await fixture.deliveryOf(message)).toMatchObject({
      status: 'pending',
      attempts: 0,
      attempt_log: [
        {
          number: 1,
          status: 'interrupted',
          error: { code: 'interrupted', message: expect.stringContaining('stopped') },
          response: null,
        },
      ],
    })
    expect(await fixture.statsOf(endpoint)).toEqual([])
    expect(await fixture.readEndpoint(endpoint)).toMatchObject({ health: { failures_in_a_row: 0 } })

    target.answers(() => new Response())
    await using next = await bootBeside(fixture)
    await next.clock.settled()
    expect(await fixture.deliveryOf(message)).toMatchObject({
      status: 'succeeded',
      attempts: 1,
      attempt_log: [
        { number: 1, status: 'interrupted' },
        { number: 1, status: 'succeeded' },
      ],
    })
    expect(target.requests.map(({ headers }) => headers.get('x-service-attempt'))).toEqual([
      '1',
      '1',
    ])
  })

  test('has all its schedule before it still', async () => {
    await using fixture = await bootRelay({ flags: { 'relay-retry-delays': '5s' } })
    await using target = startTarget(() => new Response('', { status: 500 }))
    await fixture.createEndpoint(target.url)
    const message = await fixture.deliver()
    const held = holdAnswers(target)
    await advanceWaiting(fixture.app, 5 * SECOND)
    await held.arrived(2)

    await shutDown(fixture)

    expect(await fixture.deliveryOf(message)).toMatchObject({ status: 'retrying', attempts: 1 })
  })
})

describe('when a process is gone with an attempt under way', () => {
  test('the next one to start makes it again at once, with nothing counted', async () => {
    await using fixture = await bootRelay()
    await using target = startTarget()
    const held = holdAnswers(target)
    const endpoint = await fixture.createEndpoint(target.url)
    const message = await fixture.send()
    await held.arrived(1)
    target.answers(() => new Response())

    await using next = await bootBeside(fixture, { othersRun: false })
    await next.clock.settled()

    expect(await fixture.deliveryOf(message)).toMatchObject({
      status: 'succeeded',
      attempts: 1,
      attempt_log: [
        {
          number: 1,
          status: 'interrupted',
          request: null,
          error: { code: 'interrupted', message: expect.stringContaining('stopped before') },
        },
        { number: 1, status: 'succeeded' },
      ],
    })
    expect(await fixture.statsOf(endpoint)).toMatchObject([{ succeeded: 1, failed: 0 }])
    held.release(200)
    await rest(fixture.app)
  })

  test('its late answer changes nothing any more', async () => {
    await using fixture = await bootRelay()
    await using target = startTarget()
    const held = holdAnswers(target)
    await fixture.createEndpoint(target.url)
    const message = await fixture.send()
    await held.arrived(1)
    target.answers(() => new Response())
    await using next = await bootBeside(fixture, { othersRun: false })
    await next.clock.settled()
    const before = await fixture.deliveryOf(message)

    held.release(500)
    await rest(fixture.app)

    expect(await fixture.deliveryOf(message)).toEqual(before)
  })

  test('what it had begun for an endpoint that is deleted since is cancelled', async () => {
    await using fixture = await bootRelay()
    await using target = startTarget()
    const held = holdAnswers(target)
    const endpoint = await fixture.createEndpoint(target.url)
    const message = await fixture.send()
    await held.arrived(1)
    await fixture.api.delete(`${ENDPOINTS}/${endpoint.id}`)

    await using next = await bootBeside(fixture, { othersRun: false })
    await next.clock.settled()

    expect(await fixture.deliveryOf(message)).toMatchObject({ status: 'cancelled', attempts: 0 })
    expect(target.requests).toHaveLength(1)
    held.release(200)
    await rest(fixture.app)
  })

  test('many are taken back, and each is made once more', async () => {
    await using fixture = await bootRelay()
    await using target = startTarget()
    const held = holdAnswers(target)
    for (let n = 0; n < 10; n++) await fixture.createEndpoint(target.url)
    await fixture.sendMany(6)
    await held.arrived(60)
    target.answers(() => new Response())

    await using next = await bootBeside(fixture, { othersRun: false })
    await next.clock.settled()
    await next.clock.advance(5 * SECOND)

    expect(await tally(fixture)).toEqual({ succeeded: 60 })
    expect(target.requests).toHaveLength(120)
    held.release(200)
    await rest(fixture.app)
  })
})

describe('while two processes live', () => {
  test('each delivery is made by one of them', async () => {
    await using fixture = await bootRelay()
    await using target = startTarget()
    for (let n = 0; n < 3; n++) await fixture.createEndpoint(target.url)
    await using other = await bootBeside(fixture)

    const sent = fixture.sendMany(60)
    for (let n = 0; n < 20; n++) {
      other.delivery.nudge()
      await breathe(fixture.app)
    }
    await sent
    await rest(fixture.app)
    await other.clock.settled()

    expect(await tally(fixture)).toEqual({ succeeded: 180 })
    expect(target.requests).toHaveLength(180)
  })

  test('neither takes the work of the other while its lease holds', async () => {
    await using fixture = await bootRelay()
    await using target = startTarget()
    const held = holdAnswers(target)
    await fixture.createEndpoint(target.url)
    const message = await fixture.send()
    await held.arrived(1)

    await using other = await bootBeside(fixture)
    for (let n = 0; n < 10; n++) {
      await advanceWaiting(fixture.app, SECOND)
      await other.clock.advance(SECOND)
    }
    held.release(200)
    await rest(fixture.app)

    expect(target.requests).toHaveLength(1)
    expect(await fixture.deliveryOf(message)).toMatchObject({ status: 'succeeded', attempts: 1 })
  })

  test('a lease that has run out is taken from its owner', async () => {
    await using fixture = await bootRelay()
    await using target = startTarget()
    const held = holdAnswers(target)
    await fixture.createEndpoint(target.url)
    const message = await fixture.send()
    await held.arrived(1)
    fixture.app.db.client.run('update deliveries set lease_until = 1')
    target.answers(() => new Response())

    await using other = await bootBeside(fixture)
    await other.clock.settled()

    expect(await fixture.deliveryOf(message)).toMatchObject({
      status: 'succeeded',
      attempt_log: [{ status: 'interrupted' }, { status: 'succeeded' }],
    })
    held.release(200)
    await rest(fixture.app)
    expect(count(fixture.app, 'attempts')).toBe(2)
  })

  test('what recovers is let through one at a time by both together', async () => {
    await using fixture = await bootRelay()
    await using target = startTarget()
    const endpoint = await fixture.createEndpoint(target.url, { active: false })
    await fixture.sendMany(10)
    await using other = await bootBeside(fixture)
    const held = holdAnswers(target)

    await fixture.change(endpoint, { active: true })
    await held.arrived(1)
    other.delivery.nudge()
    for (let n = 0; n < 5; n++) await breathe(fixture.app)

    expect(target.requests).toHaveLength(1)
    target.answers(() => new Response())
    held.release(200)
    await rest(fixture.app)
    await other.clock.settled()
    await rest(fixture.app)
    expect(await tally(fixture)).toEqual({ succeeded: 10 })
  })
})
