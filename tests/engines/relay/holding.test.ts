import { describe, expect, test } from 'bun:test'
import { startTarget } from '../../support/target.ts'
import { advanceWaiting, breathe, count, DAY, holdAnswers, SECOND } from '../clockwork/support.ts'
import {
  bootBeside,
  bootRelay,
  ENDPOINTS,
  leap,
  MESSAGES,
  rest,
  stillness,
  tally,
  type World,
} from './world.ts'

const no = () => new Response('', { status: 500 })
const yes = () => new Response('ok')

/** Writes down so many messages, each held for the endpoint, as if they had come one by one. */
function pileUp({ app, acme }: World, { id }: { id: string }, howMany: number) {
  const { client } = app.db
  client.transaction(() => {
    client.run(
      `with recursive n(i) as (select 1 union all select i + 1 from n where i < ?1)
       insert into messages (id, tenant_id, stream, type, payload, accepted_at)
       select 'm' || i, ?2, 'relay.live', 'user.created', '{}', ?3 + i from n`,
      [howMany, acme.id, app.clock.now() - DAY],
    )
    client.run(
      `insert into deliveries (id, tenant_id, stream, message_seq, endpoint_id, format, state,
         line, run, attempts, tries, trigger, due_at, created_at)
       select 'd' || seq, tenant_id, stream, seq, ?1, 'standard', 'held', 0, 1, 0, 0, 'schedule',
         accepted_at, accepted_at from messages where id like 'm%'`,
      [id],
    )
  })()
}

const inState = ({ app }: World, state: string) => count(app, `deliveries where state = '${state}'`)

/** Calls until `work` is done, and says how far along it was at each answer. */
async function askMeanwhile(world: World, work: Promise<unknown>, progress: () => number) {
  const seen: number[] = []
  let done = false
  const ended = work.then(() => {
    done = true
  })
  while (!done) {
    await world.send({ event_type: 'unheard' })
    seen.push(progress())
  }
  await ended
  return seen
}

describe('an endpoint that is paused', () => {
  test('has its deliveries held from the start', async () => {
    await using world = await bootRelay()
    await using target = startTarget()
    const endpoint = await world.createEndpoint(target.url)
    await world.change(endpoint, { active: false })

    const message = await world.deliver()
    await leap(world.app, DAY)

    expect(await world.deliveryOf(message)).toMatchObject({
      status: 'held',
      held_reason: 'inactive',
      attempts: 0,
      next_attempt_at: null,
    })
    expect(target.requests).toEqual([])
  })

  test('also when it was made so', async () => {
    await using world = await bootRelay()
    await using target = startTarget()
    const endpoint = await world.createEndpoint(target.url, { active: false })

    const message = await world.deliver()

    expect(endpoint).toMatchObject({ active: false, disabled_reason: 'manual' })
    expect(await world.deliveryOf(message)).toMatchObject({ status: 'held' })
  })

  test('has those held that wait for a retry', async () => {
    await using world = await bootRelay()
    await using target = startTarget(no)
    const endpoint = await world.createEndpoint(target.url)
    const message = await world.deliver()

    await world.change(endpoint, { active: false })

    expect(await world.deliveryOf(message)).toMatchObject({
      status: 'held',
      held_reason: 'inactive',
      attempts: 1,
    })
    await leap(world.app, DAY)
    expect(target.requests).toHaveLength(1)
  })

  test('has those held that stand in line', async () => {
    await using world = await bootRelay()
    await using target = startTarget()
    const held = holdAnswers(target)
    const endpoint = await world.createEndpoint(target.url)
    await world.sendMany(20)
    await held.arrived(16)

    await world.change(endpoint, { active: false })
    held.release(200)
    await rest(world.app)

    expect(await tally(world)).toEqual({ succeeded: 16, 'held: inactive': 4 })
    expect(target.requests).toHaveLength(16)
  })

  test('has those held, once they are due, that failed after it was paused', async () => {
    await using world = await bootRelay()
    await using target = startTarget()
    const held = holdAnswers(target)
    const endpoint = await world.createEndpoint(target.url)
    const message = await world.send()
    await held.arrived(1)
    await world.change(endpoint, { active: false })

    held.release(500)
    await rest(world.app)
    await world.clock.advance(5 * SECOND)
    await rest(world.app)

    expect(await world.deliveryOf(message)).toMatchObject({
      status: 'held',
      held_reason: 'inactive',
      attempts: 1,
    })
    expect(target.requests).toHaveLength(1)
  })

  test('is left in peace, however many attempts fail after it was paused', async () => {
    await using world = await bootRelay()
    await using target = startTarget()
    const held = holdAnswers(target)
    const endpoint = await world.createEndpoint(target.url)
    await world.sendMany(40)
    await held.arrived(16)
    await world.change(endpoint, { active: false })
    held.release(500)
    await rest(world.app)

    await advanceWaiting(world.app, 40 * SECOND)
    await breathe(world.app)

    const changes = () =>
      (world.app.db.client.query('select total_changes() as n').get() as { n: number }).n
    const before = changes()
    await breathe(world.app)
    await breathe(world.app)
    expect(changes() - before).toBe(0)
    expect(await tally(world)).toEqual({ 'held: inactive': 40 })
    expect(target.requests).toHaveLength(16)
  })

  test('refuses a resend, and says what to do', async () => {
    await using world = await bootRelay()
    await using target = startTarget()
    const endpoint = await world.createEndpoint(target.url, { active: false })
    const { id } = await world.deliveryOf(await world.deliver())

    const answer = await world.api.post(`/v1/relay/deliveries/${id}/resend`)

    expect(answer).toMatchObject({
      status: 409,
      body: { error: { message: expect.stringContaining('not active') } },
    })
    expect(await world.readEndpoint(endpoint)).toMatchObject({ active: false })
    expect(target.requests).toEqual([])
  })
})

describe('an endpoint that is switched on again', () => {
  test.each([{}, { held: 'drain' }])('gets what was held, each once: %p', async (choice) => {
    await using world = await bootRelay()
    await using target = startTarget(no)
    const endpoint = await world.createEndpoint(target.url)
    await world.deliver()
    await world.change(endpoint, { active: false })
    const messages = await world.sendMany(100)
    target.answers(yes)

    await world.change(endpoint, { active: true, ...choice })
    await world.clock.advance(10 * SECOND)
    await rest(world.app)

    expect(await tally(world)).toEqual({ succeeded: 101 })
    const arrived = target.requests.slice(1).map(({ headers }) => headers.get('webhook-id'))
    expect(new Set(arrived).size).toBe(101)
    const order = messages.map(({ id }) => arrived.indexOf(id))
    expect(Math.max(...order.map((place, n) => Math.abs(place - n)))).toBeLessThan(16)
  })

  test('gets one at a time first', async () => {
    await using world = await bootRelay()
    await using target = startTarget()
    const endpoint = await world.createEndpoint(target.url, { active: false })
    await world.sendMany(30)
    const held = holdAnswers(target)

    await world.change(endpoint, { active: true })
    await held.arrived(1)
    await stillness(world.app, () => target.requests.length)

    expect(target.requests).toHaveLength(1)
    target.answers(yes)
    held.release(200)
    await rest(world.app)
    expect(await tally(world)).toEqual({ succeeded: 30 })
  })

  test('goes on with the attempts where they were', async () => {
    await using world = await bootRelay()
    await using target = startTarget(no)
    const endpoint = await world.createEndpoint(target.url)
    const message = await world.deliver()
    await world.clock.advance(5 * SECOND)
    await world.change(endpoint, { active: false })
    await leap(world.app, DAY)

    await world.change(endpoint, { active: true })
    await rest(world.app)

    const { attempt_log, attempts, status } = await world.deliveryOf(message)
    expect({ attempts, status }).toEqual({ attempts: 3, status: 'retrying' })
    expect(Date.parse(attempt_log[2].next_attempt_at) - world.clock.now()).toBe(300 * SECOND)
  })

  test('loses what was held where that is asked for: cancelled, and counted', async () => {
    await using world = await bootRelay()
    await using target = startTarget(no)
    const endpoint = await world.createEndpoint(target.url)
    await world.deliver()
    await world.change(endpoint, { active: false })
    const [message] = await world.sendMany(10)

    await world.change(endpoint, { active: true, held: 'discard' })
    await rest(world.app)

    expect(await tally(world)).toEqual({ cancelled: 11 })
    expect(await world.deliveryOf(message)).toMatchObject({
      status: 'cancelled',
      ended_at: new Date(world.clock.now()).toISOString(),
    })
    expect(await world.statsOf(endpoint)).toMatchObject([{ failed: 1, cancelled: 11 }])
    target.answers(yes)
    await world.deliver()
    expect(target.requests).toHaveLength(2)
  })

  test('again and again ends up with everything delivered', async () => {
    await using world = await bootRelay()
    await using target = startTarget()
    const endpoint = await world.createEndpoint(target.url, { active: false })
    await world.sendMany(200)

    for (let n = 0; n < 10; n++) {
      const on = world.change(endpoint, { active: true })
      const off = world.change(endpoint, { active: false })
      await Promise.all([on, off])
    }
    await world.change(endpoint, { active: true })
    await world.clock.advance(10 * SECOND)
    await rest(world.app)

    expect(await tally(world)).toEqual({ succeeded: 200 })
    expect(target.requests).toHaveLength(200)
  })
})

describe('an endpoint that is deleted', () => {
  test('has what waits and what is held cancelled', async () => {
    await using world = await bootRelay()
    await using target = startTarget(no)
    const endpoint = await world.createEndpoint(target.url)
    const waiting = await world.deliver()
    const paused = await world.createEndpoint(target.url, { active: false })
    const held = await world.deliver()

    for (const { id } of [endpoint, paused])
      expect(await world.api.delete(`${ENDPOINTS}/${id}`)).toMatchObject({ status: 204 })

    expect(await world.deliveryOf(waiting)).toMatchObject({ status: 'cancelled', attempts: 1 })
    expect(await world.deliveryOf(held, paused)).toMatchObject({ status: 'cancelled' })
    const before = target.requests.length
    await leap(world.app, DAY)
    expect(target.requests).toHaveLength(before)
    expect(await world.api.get(`${ENDPOINTS}/${endpoint.id}`)).toMatchObject({ status: 404 })
  })
})

describe('very many held deliveries', () => {
  const MANY = 6000

  test('are cancelled in slices when the endpoint goes, and requests are answered meanwhile', async () => {
    await using world = await bootRelay()
    const endpoint = await world.createEndpoint('http://127.0.0.1:9/', { active: false })
    await world.createEndpoint('http://127.0.0.1:9/', { event_types: ['never'] })
    pileUp(world, endpoint, MANY)

    const seen = await askMeanwhile(world, world.api.delete(`${ENDPOINTS}/${endpoint.id}`), () =>
      inState(world, 'held'),
    )

    expect(seen.filter((left) => left > 0 && left < MANY).length).toBeGreaterThan(5)
    expect(inState(world, 'held')).toBe(0)
    expect(inState(world, 'cancelled')).toBeGreaterThanOrEqual(MANY)
  })

  test('are discarded in slices', async () => {
    await using world = await bootRelay()
    const endpoint = await world.createEndpoint('http://127.0.0.1:9/', {
      active: false,
      event_types: ['user.created'],
    })
    pileUp(world, endpoint, MANY)

    const seen = await askMeanwhile(
      world,
      world.change(endpoint, { active: true, held: 'discard' }),
      () => inState(world, 'held'),
    )

    expect(seen.filter((left) => left > 0 && left < MANY).length).toBeGreaterThan(5)
    expect(inState(world, 'cancelled')).toBe(MANY)
    const [hour] = await world.statsOf(endpoint)
    expect(hour).toMatchObject({ cancelled: MANY })
  })

  test('are let go a few at a time', async () => {
    await using world = await bootRelay()
    await using target = startTarget()
    const endpoint = await world.createEndpoint(target.url, { active: false })
    pileUp(world, endpoint, 600)
    let most = 0
    target.answers(() => {
      most = Math.max(most, inState(world, 'ready') + inState(world, 'leased'))
      return yes()
    })

    await world.change(endpoint, { active: true })
    await world.clock.advance(10 * SECOND)
    await rest(world.app)

    expect(inState(world, 'succeeded')).toBe(600)
    expect(target.requests).toHaveLength(600)
    expect(most).toBeLessThanOrEqual(64)
  })
})

describe('another process on the same data', () => {
  const ask = (process: Awaited<ReturnType<typeof bootBeside>>, key: string, type: string) =>
    process.app.handle(
      new Request(`http://localhost${MESSAGES}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ event_type: type, payload: {} }),
      }),
    )

  test('knows at once that an endpoint was paused, and that it is back', async () => {
    await using world = await bootRelay()
    await using target = startTarget()
    const endpoint = await world.createEndpoint(target.url)
    await using other = await bootBeside(world)
    await ask(other, world.key, 'one')
    await other.clock.settled()
    expect(await tally(world)).toEqual({ succeeded: 1 })

    await world.change(endpoint, { active: false })
    await ask(other, world.key, 'two')
    await other.clock.settled()
    expect(await tally(world)).toEqual({ succeeded: 1, 'held: inactive': 1 })

    await world.change(endpoint, { active: true })
    await rest(world.app)
    await ask(other, world.key, 'three')
    await other.clock.settled()
    await rest(world.app)
    expect(await tally(world)).toEqual({ succeeded: 3 })
    expect(target.requests).toHaveLength(3)
  })

  test('knows at once of an endpoint that is new, changed or gone', async () => {
    await using world = await bootRelay()
    await using target = startTarget()
    await using other = await bootBeside(world)
    await ask(other, world.key, 'early')
    const endpoint = await world.createEndpoint(target.url)
    await ask(other, world.key, 'heard')
    await other.clock.settled()
    await world.change(endpoint, { event_types: ['else'] })
    await ask(other, world.key, 'unheard')
    await other.clock.settled()
    await world.api.delete(`${ENDPOINTS}/${endpoint.id}`)
    await ask(other, world.key, 'else')
    await other.clock.settled()

    expect(await tally(world)).toEqual({ succeeded: 1 })
    expect(target.requests).toHaveLength(1)
  })
})
