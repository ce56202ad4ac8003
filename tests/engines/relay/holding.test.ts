import { describe, expect, test } from 'bun:test'
import { createHmac } from 'node:crypto'
import { until } from '../../support/binary.ts'
import { type ReceivedRequest, startTarget, type Target } from '../../support/target.ts'
import { advanceWaiting, breathe, count, DAY, holdAnswers, SECOND } from '../clockwork/support.ts'
import {
  bootBeside,
  bootRelay,
  ENDPOINTS,
  type Fixture,
  leap,
  MESSAGES,
  rest,
  stillness,
  tally,
} from './fixture.ts'

const no = () => new Response('', { status: 500 })
const yes = () => new Response('ok')

/** Writes down so many messages, each held for the endpoint, as if they had come one by one. */
function pileUp({ app, acme }: Fixture, { id }: { id: string }, howMany: number) {
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

const inState = ({ app }: Fixture, state: string) =>
  count(app, `deliveries where state = '${state}'`)

/** Calls until `work` is done, and says how far along it was at each answer. */
async function askMeanwhile(fixture: Fixture, work: Promise<unknown>, progress: () => number) {
  const seen: number[] = []
  let done = false
  const ended = work.then(() => {
    done = true
  })
  while (!done) {
    await fixture.send({ event_type: 'unheard' })
    seen.push(progress())
  }
  await ended
  return seen
}

describe('an endpoint that is paused', () => {
  test('has its deliveries held from the start', async () => {
    await using fixture = await bootRelay()
    await using target = startTarget()
    const endpoint = await fixture.createEndpoint(target.url)
    await fixture.change(endpoint, { active: false })

    const message = await fixture.deliver()
    await leap(fixture.app, DAY)

    expect(await fixture.deliveryOf(message)).toMatchObject({
      status: 'held',
      held_reason: 'inactive',
      attempts: 0,
      next_attempt_at: null,
    })
    expect(target.requests).toEqual([])
  })

  test('also when it was made so', async () => {
    await using fixture = await bootRelay()
    await using target = startTarget()
    const endpoint = await fixture.createEndpoint(target.url, { active: false })

    const message = await fixture.deliver()

    expect(endpoint).toMatchObject({ active: false, disabled_reason: 'manual' })
    expect(await fixture.deliveryOf(message)).toMatchObject({ status: 'held' })
  })

  test('has those held that wait for a retry', async () => {
    await using fixture = await bootRelay()
    await using target = startTarget(no)
    const endpoint = await fixture.createEndpoint(target.url)
    const message = await fixture.deliver()

    await fixture.change(endpoint, { active: false })

    expect(await fixture.deliveryOf(message)).toMatchObject({
      status: 'held',
      held_reason: 'inactive',
      attempts: 1,
    })
    await leap(fixture.app, DAY)
    expect(target.requests).toHaveLength(1)
  })

  test('has those held that stand in line', async () => {
    await using fixture = await bootRelay()
    await using target = startTarget()
    const held = holdAnswers(target)
    const endpoint = await fixture.createEndpoint(target.url)
    await fixture.sendMany(20)
    await held.arrived(16)

    await fixture.change(endpoint, { active: false })
    held.release(200)
    await rest(fixture.app)

    expect(await tally(fixture)).toEqual({ succeeded: 16, 'held: inactive': 4 })
    expect(target.requests).toHaveLength(16)
  })

  test('has those held, once they are due, that failed after it was paused', async () => {
    await using fixture = await bootRelay()
    await using target = startTarget()
    const held = holdAnswers(target)
    const endpoint = await fixture.createEndpoint(target.url)
    const message = await fixture.send()
    await held.arrived(1)
    await fixture.change(endpoint, { active: false })

    held.release(500)
    await rest(fixture.app)
    await fixture.clock.advance(5 * SECOND)
    await rest(fixture.app)

    expect(await fixture.deliveryOf(message)).toMatchObject({
      status: 'held',
      held_reason: 'inactive',
      attempts: 1,
    })
    expect(target.requests).toHaveLength(1)
  })

  test('is left in peace, however many attempts fail after it was paused', async () => {
    await using fixture = await bootRelay()
    await using target = startTarget()
    const held = holdAnswers(target)
    const endpoint = await fixture.createEndpoint(target.url)
    await fixture.sendMany(40)
    await held.arrived(16)
    await fixture.change(endpoint, { active: false })
    held.release(500)
    await rest(fixture.app)

    await advanceWaiting(fixture.app, 40 * SECOND)
    await breathe(fixture.app)

    const changes = () =>
      (fixture.app.db.client.query('select total_changes() as n').get() as { n: number }).n
    const before = changes()
    await breathe(fixture.app)
    await breathe(fixture.app)
    expect(changes() - before).toBe(0)
    expect(await tally(fixture)).toEqual({ 'held: inactive': 40 })
    expect(target.requests).toHaveLength(16)
  })

  test('refuses a resend, and says what to do', async () => {
    await using fixture = await bootRelay()
    await using target = startTarget()
    const endpoint = await fixture.createEndpoint(target.url, { active: false })
    const { id } = await fixture.deliveryOf(await fixture.deliver())

    const answer = await fixture.api.post(`/v1/relay/deliveries/${id}/resend`)

    expect(answer).toMatchObject({
      status: 409,
      body: { error: { message: expect.stringContaining('not active') } },
    })
    expect(await fixture.readEndpoint(endpoint)).toMatchObject({ active: false })
    expect(target.requests).toEqual([])
  })
})

describe('an endpoint that is switched on again', () => {
  test.each([{}, { held: 'drain' }])('gets what was held, each once: %p', async (choice) => {
    await using fixture = await bootRelay()
    await using target = startTarget(no)
    const endpoint = await fixture.createEndpoint(target.url)
    await fixture.deliver()
    await fixture.change(endpoint, { active: false })
    const messages = await fixture.sendMany(100)
    target.answers(yes)

    await fixture.change(endpoint, { active: true, ...choice })
    await fixture.clock.advance(10 * SECOND)
    await rest(fixture.app)

    expect(await tally(fixture)).toEqual({ succeeded: 101 })
    const arrived = target.requests.slice(1).map(({ headers }) => headers.get('webhook-id'))
    expect(new Set(arrived).size).toBe(101)
    const order = messages.map(({ id }) => arrived.indexOf(id))
    expect(Math.max(...order.map((place, n) => Math.abs(place - n)))).toBeLessThan(16)
  })

  test('gets one at a time first', async () => {
    await using fixture = await bootRelay()
    await using target = startTarget()
    const endpoint = await fixture.createEndpoint(target.url, { active: false })
    await fixture.sendMany(30)
    const held = holdAnswers(target)

    await fixture.change(endpoint, { active: true })
    await held.arrived(1)
    await stillness(fixture.app, () => target.requests.length)

    expect(target.requests).toHaveLength(1)
    target.answers(yes)
    held.release(200)
    await rest(fixture.app)
    expect(await tally(fixture)).toEqual({ succeeded: 30 })
  })

  test.each(['schedule', 'resend'])(
    'goes on once an attempt has failed that took up its room, made by %s',
    async (trigger) => {
      await using fixture = await bootRelay()
      await using target = startTarget(no)
      const endpoint = await fixture.createEndpoint(target.url)
      const waiting = await fixture.deliver()
      target.answers(yes)
      const before = await fixture.deliver()
      const held = holdAnswers(target)
      if (trigger === 'resend') await fixture.resend(await fixture.deliveryOf(before))
      else await fixture.send()
      await held.arrived(3)
      await fixture.change(endpoint, { active: false })
      await fixture.change(endpoint, { active: true })
      await stillness(fixture.app, () => target.requests.length)
      expect(target.requests).toHaveLength(3)

      target.answers(yes)
      held.release(500)
      await rest(fixture.app)

      expect(target.requests).toHaveLength(4)
      expect(await fixture.deliveryOf(waiting)).toMatchObject({
        status: 'succeeded',
        attempt_log: [{ trigger: 'schedule' }, { trigger: 'schedule' }],
      })
    },
  )

  test('goes on with the attempts where they were', async () => {
    await using fixture = await bootRelay()
    await using target = startTarget(no)
    const endpoint = await fixture.createEndpoint(target.url)
    const message = await fixture.deliver()
    await fixture.clock.advance(5 * SECOND)
    await fixture.change(endpoint, { active: false })
    await leap(fixture.app, DAY)

    await fixture.change(endpoint, { active: true })
    await rest(fixture.app)

    const { attempt_log, attempts, status } = await fixture.deliveryOf(message)
    expect({ attempts, status }).toEqual({ attempts: 3, status: 'retrying' })
    expect(Date.parse(attempt_log[2].next_attempt_at) - fixture.clock.now()).toBe(300 * SECOND)
  })

  test('loses what was held where that is asked for: cancelled, and counted', async () => {
    await using fixture = await bootRelay()
    await using target = startTarget(no)
    const endpoint = await fixture.createEndpoint(target.url)
    await fixture.deliver()
    await fixture.change(endpoint, { active: false })
    const [message] = await fixture.sendMany(10)

    await fixture.change(endpoint, { active: true, held: 'discard' })
    await rest(fixture.app)

    expect(await tally(fixture)).toEqual({ cancelled: 11 })
    expect(await fixture.deliveryOf(message)).toMatchObject({
      status: 'cancelled',
      ended_at: new Date(fixture.clock.now()).toISOString(),
    })
    expect(await fixture.statsOf(endpoint)).toMatchObject([{ failed: 1, cancelled: 11 }])
    target.answers(yes)
    await fixture.deliver()
    expect(target.requests).toHaveLength(2)
  })

  test('again and again ends up with everything delivered', async () => {
    await using fixture = await bootRelay()
    await using target = startTarget()
    const endpoint = await fixture.createEndpoint(target.url, { active: false })
    await fixture.sendMany(200)

    for (let n = 0; n < 10; n++) {
      const on = fixture.change(endpoint, { active: true })
      const off = fixture.change(endpoint, { active: false })
      await Promise.all([on, off])
    }
    await fixture.change(endpoint, { active: true })
    await fixture.clock.advance(10 * SECOND)
    await rest(fixture.app)

    expect(await tally(fixture)).toEqual({ succeeded: 200 })
    expect(target.requests).toHaveLength(200)
  })
})

describe('an attempt that fails when its endpoint takes no more', () => {
  /** Two deliveries that are under way at one endpoint. */
  async function underWay(fixture: Fixture, target: Target) {
    const held = holdAnswers(target)
    const endpoint = await fixture.createEndpoint(target.url)
    const messages = await fixture.sendMany(2)
    await held.arrived(2)
    return { endpoint, messages, release: held.release }
  }

  test('is held at once where that was paused', async () => {
    await using fixture = await bootRelay()
    await using target = startTarget()
    const { endpoint, messages, release } = await underWay(fixture, target)
    await fixture.change(endpoint, { active: false })

    release(500)
    await rest(fixture.app)

    for (const message of messages)
      expect(await fixture.deliveryOf(message)).toMatchObject({
        status: 'held',
        held_reason: 'inactive',
        attempts: 1,
        next_attempt_at: null,
        ended_at: null,
      })
  })

  test('is held at once where another was answered that it is gone', async () => {
    await using fixture = await bootRelay()
    await using target = startTarget()
    const { endpoint, release } = await underWay(fixture, target)
    release(410, 1)
    await until(async () => !(await fixture.readEndpoint(endpoint)).active)

    release(500)
    await rest(fixture.app)

    expect(await fixture.readEndpoint(endpoint)).toMatchObject({ disabled_reason: 'gone' })
    expect(await tally(fixture)).toEqual({ failed: 1, 'held: inactive': 1 })
  })

  test.each([
    [500, { cancelled: 2 }, 2],
    [200, { succeeded: 2 }, 0],
  ])('was discarded meanwhile: answered %i it comes to %j', async (status, end, cancelled) => {
    await using fixture = await bootRelay()
    await using target = startTarget()
    const { endpoint, release } = await underWay(fixture, target)
    await fixture.change(endpoint, { active: false })
    await fixture.change(endpoint, { active: true, held: 'discard' })

    release(status)
    await rest(fixture.app)

    expect(await tally(fixture)).toEqual(end)
    expect(await fixture.statsOf(endpoint)).toMatchObject([{ cancelled }])
    await leap(fixture.app, DAY)
    expect(target.requests).toHaveLength(2)
  })

  test('is cancelled where that was deleted', async () => {
    await using fixture = await bootRelay()
    await using target = startTarget()
    const { endpoint, release } = await underWay(fixture, target)
    await fixture.api.delete(`${ENDPOINTS}/${endpoint.id}`)

    release(500)
    await rest(fixture.app)

    expect(await tally(fixture)).toEqual({ cancelled: 2 })
  })
})

describe.each(['secrets', 'headers'])('an endpoint whose %s cannot be opened', (column) => {
  const MAX_PAUSE = 600 * SECOND

  function damage({ app }: Fixture, { id }: { id: string }) {
    const { client } = app.db
    const { intact } = client
      .query(`select ${column} as intact from endpoints where id = ?`)
      .get(id) as { intact: string }
    const write = (text: string) =>
      client.run(`update endpoints set ${column} = ? where id = ?`, [text, id])
    write(`${intact.slice(0, -4)}AAAA`)
    return { repair: () => write(intact) }
  }

  test('keeps no other waiting, and gets its own once it is repaired', async () => {
    await using fixture = await bootRelay()
    await using target = startTarget()
    await using other = startTarget()
    const endpoint = await fixture.createEndpoint(target.url)
    const well = await fixture.createEndpoint(other.url)
    const { repair } = damage(fixture, endpoint)

    const messages = await fixture.sendMany(20)
    await rest(fixture.app)

    expect(other.requests).toHaveLength(20)
    expect(await tally(fixture, `?endpoint_id=${well.id}`)).toEqual({ succeeded: 20 })
    expect(await tally(fixture, `?endpoint_id=${endpoint.id}`)).toEqual({ 'held: breaker': 20 })
    expect(fixture.app.log.join()).toContain('endpoint cannot be used')

    repair()
    await leap(fixture.app, MAX_PAUSE - 1)
    expect(target.requests).toHaveLength(0)
    await fixture.clock.advance(1)
    await rest(fixture.app)
    expect(await tally(fixture)).toEqual({ succeeded: 40 })
    const arrived = target.requests.map(({ headers }) => headers.get('webhook-id'))
    expect(arrived.toSorted()).toEqual(messages.map(({ id }) => id).toSorted())
  })

  test('is shown all the same, refuses other changes, and is mended by a rotation', async () => {
    await using fixture = await bootRelay()
    await using target = startTarget()
    const { api } = fixture
    const endpoint = await fixture.createEndpoint(target.url, { headers: { 'X-Team': 'blue' } })
    const path = `/v1/relay/endpoints/${endpoint.id}`
    damage(fixture, endpoint)
    const message = await fixture.deliver()

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
    await rest(fixture.app)

    expect(status).toBe(200)
    expect(await fixture.deliveryOf(message)).toMatchObject({ status: 'succeeded' })
    const [request] = target.requests as [ReceivedRequest]
    const signed = ['webhook-id', 'webhook-timestamp'].map((name) => request.headers.get(name))
    const key = Buffer.from(body.secret.slice('whsec_'.length), 'base64')
    const digest = createHmac('sha256', key).update([...signed, request.body].join('.'))
    expect(request.headers.get('webhook-signature')).toBe(`v1,${digest.digest('base64')}`)
  })

  test('is asked again each time that its pause is over', async () => {
    await using fixture = await bootRelay()
    await using target = startTarget()
    const endpoint = await fixture.createEndpoint(target.url)
    const { repair } = damage(fixture, endpoint)
    await fixture.deliver()

    await leap(fixture.app, MAX_PAUSE)
    await leap(fixture.app, MAX_PAUSE)
    expect(await tally(fixture)).toEqual({ 'held: breaker': 1 })
    repair()
    await leap(fixture.app, MAX_PAUSE)

    expect(await tally(fixture)).toEqual({ succeeded: 1 })
  })

  test.each([
    [200, { succeeded: 1 }],
    [500, { retrying: 1 }],
  ])('has the end of an attempt stored that is under way: %i', async (status, end) => {
    await using fixture = await bootRelay()
    await using target = startTarget()
    const held = holdAnswers(target)
    const endpoint = await fixture.createEndpoint(target.url)
    const other = await fixture.createEndpoint(target.url, { event_types: ['other'] })
    const message = await fixture.send()
    await held.arrived(1)
    damage(fixture, endpoint)
    // A change of any endpoint has them all read anew.
    await fixture.change(other, { description: 'changed' })

    held.release(status)
    await rest(fixture.app)

    expect(await tally(fixture)).toEqual(end)
    const { attempt_log } = await fixture.deliveryOf(message)
    expect(attempt_log).toMatchObject([{ response: { status } }])
  })
})

describe('an endpoint that is deleted', () => {
  test('has what waits and what is held cancelled', async () => {
    await using fixture = await bootRelay()
    await using target = startTarget(no)
    const endpoint = await fixture.createEndpoint(target.url)
    const waiting = await fixture.deliver()
    const paused = await fixture.createEndpoint(target.url, { active: false })
    const held = await fixture.deliver()

    for (const { id } of [endpoint, paused])
      expect(await fixture.api.delete(`${ENDPOINTS}/${id}`)).toMatchObject({ status: 204 })

    expect(await fixture.deliveryOf(waiting)).toMatchObject({ status: 'cancelled', attempts: 1 })
    expect(await fixture.deliveryOf(held, paused)).toMatchObject({ status: 'cancelled' })
    const before = target.requests.length
    await leap(fixture.app, DAY)
    expect(target.requests).toHaveLength(before)
    expect(await fixture.api.get(`${ENDPOINTS}/${endpoint.id}`)).toMatchObject({ status: 404 })
  })
})

describe('very many held deliveries', () => {
  const MANY = 6000

  test('are cancelled in slices when the endpoint goes, and requests are answered meanwhile', async () => {
    await using fixture = await bootRelay()
    const endpoint = await fixture.createEndpoint('http://127.0.0.1:9/', { active: false })
    await fixture.createEndpoint('http://127.0.0.1:9/', { event_types: ['never'] })
    pileUp(fixture, endpoint, MANY)

    const seen = await askMeanwhile(
      fixture,
      fixture.api.delete(`${ENDPOINTS}/${endpoint.id}`),
      () => inState(fixture, 'held'),
    )

    expect(seen.filter((left) => left > 0 && left < MANY).length).toBeGreaterThan(5)
    expect(inState(fixture, 'held')).toBe(0)
    expect(inState(fixture, 'cancelled')).toBeGreaterThanOrEqual(MANY)
  })

  test('are discarded in slices', async () => {
    await using fixture = await bootRelay()
    const endpoint = await fixture.createEndpoint('http://127.0.0.1:9/', {
      active: false,
      event_types: ['user.created'],
    })
    pileUp(fixture, endpoint, MANY)

    const seen = await askMeanwhile(
      fixture,
      fixture.change(endpoint, { active: true, held: 'discard' }),
      () => inState(fixture, 'held'),
    )

    expect(seen.filter((left) => left > 0 && left < MANY).length).toBeGreaterThan(5)
    expect(inState(fixture, 'cancelled')).toBe(MANY)
    const [hour] = await fixture.statsOf(endpoint)
    expect(hour).toMatchObject({ cancelled: MANY })
  })

  test('are let go a few at a time', async () => {
    await using fixture = await bootRelay()
    await using target = startTarget()
    const endpoint = await fixture.createEndpoint(target.url, { active: false })
    pileUp(fixture, endpoint, 600)
    let most = 0
    target.answers(() => {
      most = Math.max(most, inState(fixture, 'ready') + inState(fixture, 'leased'))
      return yes()
    })

    await fixture.change(endpoint, { active: true })
    await fixture.clock.advance(10 * SECOND)
    await rest(fixture.app)

    expect(inState(fixture, 'succeeded')).toBe(600)
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
    await using fixture = await bootRelay()
    await using target = startTarget()
    const endpoint = await fixture.createEndpoint(target.url)
    await using other = await bootBeside(fixture)
    await ask(other, fixture.key, 'one')
    await other.clock.settled()
    expect(await tally(fixture)).toEqual({ succeeded: 1 })

    await fixture.change(endpoint, { active: false })
    await ask(other, fixture.key, 'two')
    await other.clock.settled()
    expect(await tally(fixture)).toEqual({ succeeded: 1, 'held: inactive': 1 })

    await fixture.change(endpoint, { active: true })
    await rest(fixture.app)
    await ask(other, fixture.key, 'three')
    await other.clock.settled()
    await rest(fixture.app)
    expect(await tally(fixture)).toEqual({ succeeded: 3 })
    expect(target.requests).toHaveLength(3)
  })

  test('knows at once of an endpoint that is new, changed or gone', async () => {
    await using fixture = await bootRelay()
    await using target = startTarget()
    await using other = await bootBeside(fixture)
    await ask(other, fixture.key, 'early')
    const endpoint = await fixture.createEndpoint(target.url)
    await ask(other, fixture.key, 'heard')
    await other.clock.settled()
    await fixture.change(endpoint, { event_types: ['else'] })
    await ask(other, fixture.key, 'unheard')
    await other.clock.settled()
    await fixture.api.delete(`${ENDPOINTS}/${endpoint.id}`)
    await ask(other, fixture.key, 'else')
    await other.clock.settled()

    expect(await tally(fixture)).toEqual({ succeeded: 1 })
    expect(target.requests).toHaveLength(1)
  })
})
