import { describe, expect, test } from 'bun:test'
import { createHmac } from 'node:crypto'
import { until } from '../../support/binary.ts'
import { type ReceivedRequest, startTarget, type Target } from '../../support/target.ts'
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
} from './fixture.ts'

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

  test.each(['schedule', 'resend'])(
    'goes on once an attempt has failed that took up its room, made by %s',
    async (trigger) => {
      await using world = await bootRelay()
      await using target = startTarget(no)
      const endpoint = await world.createEndpoint(target.url)
      const waiting = await world.deliver()
      target.answers(yes)
      const before = await world.deliver()
      const held = holdAnswers(target)
      if (trigger === 'resend') await world.resend(await world.deliveryOf(before))
      else await world.send()
      await held.arrived(3)
      await world.change(endpoint, { active: false })
      await world.change(endpoint, { active: true })
      await stillness(world.app, () => target.requests.length)
      expect(target.requests).toHaveLength(3)

      target.answers(yes)
      held.release(500)
      await rest(world.app)

      expect(target.requests).toHaveLength(4)
      expect(await world.deliveryOf(waiting)).toMatchObject({
        status: 'succeeded',
        attempt_log: [{ trigger: 'schedule' }, { trigger: 'schedule' }],
      })
    },
  )

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

describe('an attempt that fails when its endpoint takes no more', () => {
  /** Two deliveries that are under way at one endpoint. */
  async function underWay(world: World, target: Target) {
    const held = holdAnswers(target)
    const endpoint = await world.createEndpoint(target.url)
    const messages = await world.sendMany(2)
    await held.arrived(2)
    return { endpoint, messages, release: held.release }
  }

  test('is held at once where that was paused', async () => {
    await using world = await bootRelay()
    await using target = startTarget()
    const { endpoint, messages, release } = await underWay(world, target)
    await world.change(endpoint, { active: false })

    release(500)
    await rest(world.app)

    for (const message of messages)
      expect(await world.deliveryOf(message)).toMatchObject({
        status: 'held',
        held_reason: 'inactive',
        attempts: 1,
        next_attempt_at: null,
        ended_at: null,
      })
  })

  test('is held at once where another was answered that it is gone', async () => {
    await using world = await bootRelay()
    await using target = startTarget()
    const { endpoint, release } = await underWay(world, target)
    release(410, 1)
    await until(async () => !(await world.readEndpoint(endpoint)).active)

    release(500)
    await rest(world.app)

    expect(await world.readEndpoint(endpoint)).toMatchObject({ disabled_reason: 'gone' })
    expect(await tally(world)).toEqual({ failed: 1, 'held: inactive': 1 })
  })

  test.each([
    [500, { cancelled: 2 }, 2],
    [200, { succeeded: 2 }, 0],
  ])('was discarded meanwhile: answered %i it comes to %j', async (status, end, cancelled) => {
    await using world = await bootRelay()
    await using target = startTarget()
    const { endpoint, release } = await underWay(world, target)
    await world.change(endpoint, { active: false })
    await world.change(endpoint, { active: true, held: 'discard' })

    release(status)
    await rest(world.app)

    expect(await tally(world)).toEqual(end)
    expect(await world.statsOf(endpoint)).toMatchObject([{ cancelled }])
    await leap(world.app, DAY)
    expect(target.requests).toHaveLength(2)
  })

  test('is cancelled where that was deleted', async () => {
    await using world = await bootRelay()
    await using target = startTarget()
    const { endpoint, release } = await underWay(world, target)
    await world.api.delete(`${ENDPOINTS}/${endpoint.id}`)

    release(500)
    await rest(world.app)

    expect(await tally(world)).toEqual({ cancelled: 2 })
  })
})

describe.each(['secrets', 'headers'])('an endpoint whose %s cannot be opened', (column) => {
  const MAX_PAUSE = 600 * SECOND

  function damage({ app }: World, { id }: { id: string }) {
    const { client } = app.db
    const { intact } = client
      .query(`select ${column} as intact from endpoints where id = ?`)
      .get(id) as {
      intact: string
    }
    const write = (text: string) =>
      client.run(`update endpoints set ${column} = ? where id = ?`, [text, id])
    write(`${intact.slice(0, -4)}AAAA`)
    return { repair: () => write(intact) }
  }

  test('keeps no other waiting, and gets its own once it is repaired', async () => {
    await using world = await bootRelay()
    await using target = startTarget()
    await using other = startTarget()
    const endpoint = await world.createEndpoint(target.url)
    const well = await world.createEndpoint(other.url)
    const { repair } = damage(world, endpoint)

    const messages = await world.sendMany(20)
    await rest(world.app)

    expect(other.requests).toHaveLength(20)
    expect(await tally(world, `?endpoint_id=${well.id}`)).toEqual({ succeeded: 20 })
    expect(await tally(world, `?endpoint_id=${endpoint.id}`)).toEqual({ 'held: breaker': 20 })
    expect(world.app.log.join()).toContain('endpoint cannot be used')

    repair()
    await leap(world.app, MAX_PAUSE - 1)
    expect(target.requests).toHaveLength(0)
    await world.clock.advance(1)
    await rest(world.app)
    expect(await tally(world)).toEqual({ succeeded: 40 })
    const arrived = target.requests.map(({ headers }) => headers.get('webhook-id'))
    expect(arrived.toSorted()).toEqual(messages.map(({ id }) => id).toSorted())
  })

  test('is shown all the same, refuses other changes, and is mended by a rotation', async () => {
    await using world = await bootRelay()
    await using target = startTarget()
    const { api } = world
    const endpoint = await world.createEndpoint(target.url, { headers: { 'X-Team': 'blue' } })
    const path = `/v1/relay/endpoints/${endpoint.id}`
    damage(world, endpoint)
    const message = await world.deliver()

    expect((await api.get('/v1/relay/endpoints')).body.data).toMatchObject([{ id: endpoint.id }])
    expect(await api.get(path)).toMatchObject({ status: 200, body: { headers: {} } })
    for (const refused of [
      await api.patch(path, { description: 'x' }),
      await api.post(`${path}/test`),
    ])
      expect(refused).toMatchObject({
        status: 409,
        body: {
          error: { code: 'conflict', message: expect.stringContaining('Rotate the secret') },
        },
      })
    const { status, body } = await api.post(`${path}/rotate-secret`)
    await rest(world.app)

    expect(status).toBe(200)
    expect(await world.deliveryOf(message)).toMatchObject({ status: 'succeeded' })
    const [request] = target.requests as [ReceivedRequest]
    const signed = ['webhook-id', 'webhook-timestamp'].map((name) => request.headers.get(name))
    const key = Buffer.from(body.secret.slice('whsec_'.length), 'base64')
    const digest = createHmac('sha256', key).update([...signed, request.body].join('.'))
    expect(request.headers.get('webhook-signature')).toBe(`v1,${digest.digest('base64')}`)
  })

  test('is asked again each time that its pause is over', async () => {
    await using world = await bootRelay()
    await using target = startTarget()
    const endpoint = await world.createEndpoint(target.url)
    const { repair } = damage(world, endpoint)
    await world.deliver()

    await leap(world.app, MAX_PAUSE)
    await leap(world.app, MAX_PAUSE)
    expect(await tally(world)).toEqual({ 'held: breaker': 1 })
    repair()
    await leap(world.app, MAX_PAUSE)

    expect(await tally(world)).toEqual({ succeeded: 1 })
  })

  test.each([
    [200, { succeeded: 1 }],
    [500, { retrying: 1 }],
  ])('has the end of an attempt stored that is under way: %i', async (status, end) => {
    await using world = await bootRelay()
    await using target = startTarget()
    const held = holdAnswers(target)
    const endpoint = await world.createEndpoint(target.url)
    const other = await world.createEndpoint(target.url, { event_types: ['other'] })
    const message = await world.send()
    await held.arrived(1)
    damage(world, endpoint)
    // A change of any endpoint has them all read anew.
    await world.change(other, { description: 'changed' })

    held.release(status)
    await rest(world.app)

    expect(await tally(world)).toEqual(end)
    const { attempt_log } = await world.deliveryOf(message)
    expect(attempt_log).toMatchObject([{ response: { status } }])
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
