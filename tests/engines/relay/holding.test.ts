import { describe, expect, test } from 'bun:test'
import { until } from '../../support/binary.ts'
import { advanceWaiting, breathe, holdAnswers } from '../clockwork/support.ts'
import {
  answerWith,
  bootBeside,
  bootRelay,
  count,
  DAY,
  DELIVERIES,
  ENDPOINTS,
  isoAt,
  type Json,
  leap,
  MESSAGES,
  type Party,
  refusal,
  SECOND,
  signedWith,
  stillness,
  tally,
  useRelay,
} from './fixture.ts'

const { newTenant } = await useRelay()

const idsOf = ({ target }: Party) => target.requests.map(({ headers }) => headers.get('webhook-id'))
const HELD = { status: 'held', held_reason: 'inactive', next_attempt_at: null, ended_at: null }

/** So many messages that are under way at an endpoint which has not answered yet. */
async function underWay(party: Party, messages: number) {
  const held = holdAnswers(party.target)
  const endpoint = await party.createEndpoint()
  const sent = await party.sendMany(messages)
  await held.arrived(Math.min(messages, 16))
  return { endpoint, sent, held }
}

describe('an inactive endpoint', () => {
  test('has its deliveries held, and refuses a resend', async () => {
    const { app, api, createEndpoint, deliver, deliveryOf, target } = await newTenant()
    await createEndpoint({ active: false })

    const message = await deliver()
    await leap(app, DAY)

    const { id, ...delivery } = await deliveryOf(message)
    expect(delivery).toMatchObject({ ...HELD, attempts: 0 })
    expect(await api.post(`${DELIVERIES}/${id}/resend`)).toMatchObject(refusal(409, 'conflict'))
    expect(target.requests).toEqual([])
  })

  test('has what waits for a retry or is ready held when it is paused', async () => {
    const party = await newTenant()
    const { app, createEndpoint, change, deliver, deliveryOf, sendMany, target, rest } = party
    target.answers(answerWith(500))
    const endpoint = await createEndpoint()
    const waiting = await deliver()
    const held = holdAnswers(target)
    await sendMany(20)
    await held.arrived(17)

    await change(endpoint, { active: false })
    held.release(200)
    await rest()
    await leap(app, DAY)

    expect(await tally(party)).toEqual({ succeeded: 16, 'held: inactive': 5 })
    expect(await deliveryOf(waiting)).toMatchObject({ ...HELD, attempts: 1 })
    expect(target.requests).toHaveLength(17)
  })

  test('has attempts held that fail after it was paused, and is not looked at any more', async () => {
    await using relay = await bootRelay()
    const { app, change, sendMany, target } = relay
    const held = holdAnswers(target)
    const endpoint = await relay.createEndpoint()
    await sendMany(40)
    await held.arrived(16)
    await change(endpoint, { active: false })
    held.release(500)
    await relay.rest()

    await advanceWaiting(app, 40 * SECOND)
    await breathe(app)

    const changes = () => app.db.client.query('select total_changes() as n').get() as { n: number }
    const before = changes()
    await breathe(app)
    await breathe(app)
    expect(changes()).toEqual(before)
    expect(await tally(relay)).toEqual({ 'held: inactive': 40 })
    expect(target.requests).toHaveLength(16)
  })
})

describe('a resumed endpoint', () => {
  test.each([{}, { held: 'drain' }])('gets what was held, each once: %j', async (choice) => {
    const party = await newTenant()
    const { createEndpoint, change, clock, deliver, sendMany, target, rest } = party
    target.answers(answerWith(500))
    const endpoint = await createEndpoint()
    await deliver()
    await change(endpoint, { active: false })
    const messages = await sendMany(100)
    target.answers(answerWith(200))

    expect(await change(endpoint, { active: true, ...choice })).toMatchObject({
      active: true,
      disabled_reason: null,
    })
    await clock.advance(10 * SECOND)
    await rest()

    expect(await tally(party)).toEqual({ succeeded: 101 })
    const arrived = idsOf(party).slice(1)
    expect(new Set(arrived).size).toBe(101)
    const late = messages.map(({ id }, n) => Math.abs(arrived.indexOf(id) - n))
    expect(Math.max(...late)).toBeLessThan(16)
  })

  test('gets one at a time first', async () => {
    const party = await newTenant()
    const { app, createEndpoint, change, sendMany, target, rest } = party
    const endpoint = await createEndpoint({ active: false })
    await sendMany(30)
    const held = holdAnswers(target)

    await change(endpoint, { active: true })
    await held.arrived(1)
    await stillness(app, () => target.requests.length)

    expect(target.requests).toHaveLength(1)
    target.answers(answerWith(200))
    held.release(200)
    await rest()
    expect(await tally(party)).toEqual({ succeeded: 30 })
  })

  test.each(['schedule', 'resend'])('has room again after a failed %s', async (trigger) => {
    const party = await newTenant()
    const { app, createEndpoint, change, deliver, deliveryOf, resend, send, target, rest } = party
    target.answers(answerWith(500))
    const endpoint = await createEndpoint()
    const waiting = await deliver()
    target.answers(answerWith(200))
    const before = await deliver()
    const held = holdAnswers(target)
    if (trigger === 'resend') await resend(await deliveryOf(before))
    else await send()
    await held.arrived(3)
    await change(endpoint, { active: false })
    await change(endpoint, { active: true })
    await stillness(app, () => target.requests.length)
    expect(target.requests).toHaveLength(3)

    target.answers(answerWith(200))
    held.release(500)
    await rest()

    expect(target.requests).toHaveLength(4)
    expect(await deliveryOf(waiting)).toMatchObject({
      status: 'succeeded',
      attempt_log: [{ trigger: 'schedule' }, { trigger: 'schedule' }],
    })
  })

  test('continues the schedule of each delivery', async () => {
    const { app, createEndpoint, change, clock, deliver, deliveryOf, target, rest } =
      await newTenant()
    target.answers(answerWith(500))
    const endpoint = await createEndpoint()
    const message = await deliver()
    await clock.advance(5 * SECOND)
    await change(endpoint, { active: false })
    await leap(app, DAY)

    await change(endpoint, { active: true })
    await rest()

    expect(await deliveryOf(message)).toMatchObject({
      attempts: 3,
      status: 'retrying',
      next_attempt_at: isoAt(clock.now() + 300 * SECOND),
    })
  })

  test('loses what was held if that is asked for: cancelled, and counted', async () => {
    const party = await newTenant()
    const { createEndpoint, change, clock, deliver, deliveryOf, sendMany, statsOf, target } = party
    target.answers(answerWith(500))
    const endpoint = await createEndpoint()
    await deliver()
    await change(endpoint, { active: false })
    const [message] = await sendMany(650)

    await change(endpoint, { active: true, held: 'discard' })
    await party.rest()

    expect(await tally(party)).toEqual({ cancelled: 651 })
    expect(await deliveryOf(message)).toMatchObject({ ended_at: isoAt(clock.now()) })
    expect(await statsOf(endpoint)).toMatchObject([{ failed: 1, exhausted: 0, cancelled: 651 }])
    await deliver()
    expect(target.requests).toHaveLength(2)
  })

  test('that is paused and resumed again and again gets everything once', async () => {
    const party = await newTenant()
    const { createEndpoint, change, clock, sendMany, target, rest } = party
    const endpoint = await createEndpoint({ active: false })
    await sendMany(200)

    for (let n = 0; n < 10; n++)
      await Promise.all([true, false].map((active) => change(endpoint, { active })))
    await change(endpoint, { active: true })
    await clock.advance(10 * SECOND)
    await rest()

    expect(await tally(party)).toEqual({ succeeded: 200 })
    expect(target.requests).toHaveLength(200)
  })
})

describe('an attempt under way fails', () => {
  test('and is held if its endpoint was paused since', async () => {
    const party = await newTenant()
    const { endpoint, sent, held } = await underWay(party, 2)
    await party.change(endpoint, { active: false })

    held.release(500)
    await party.rest()

    for (const message of sent)
      expect(await party.deliveryOf(message)).toMatchObject({ ...HELD, attempts: 1 })
  })

  test('and is held if another was answered with 410', async () => {
    const party = await newTenant()
    const { endpoint, held } = await underWay(party, 2)
    held.release(410, 1)
    await until(async () => !(await party.readEndpoint(endpoint)).active)

    held.release(500)
    await party.rest()

    expect(await party.readEndpoint(endpoint)).toMatchObject({ disabled_reason: 'gone' })
    expect(await tally(party)).toEqual({ failed: 1, 'held: inactive': 1 })
  })

  test.each([
    [500, { cancelled: 2 }, 2],
    [200, { succeeded: 2 }, 0],
  ])('after it was discarded: answered with %i', async (status, end, cancelled) => {
    const party = await newTenant()
    const { endpoint, held } = await underWay(party, 2)
    await party.change(endpoint, { active: false })
    await party.change(endpoint, { active: true, held: 'discard' })

    held.release(status)
    await party.rest()

    expect(await tally(party)).toEqual(end)
    expect(await party.statsOf(endpoint)).toMatchObject([{ cancelled }])
    await leap(party.app, DAY)
    expect(party.target.requests).toHaveLength(2)
  })

  test('and is cancelled if its endpoint was deleted since', async () => {
    const party = await newTenant()
    const { endpoint, sent, held } = await underWay(party, 2)
    await party.remove(endpoint)

    held.release(500)
    await party.rest()

    for (const message of sent)
      expect(await party.deliveryOf(message)).toMatchObject({
        status: 'cancelled',
        attempts: 1,
        attempt_log: [{ status: 'failed', response: { status: 500 }, next_attempt_at: null }],
      })
  })
})

describe.each(['secrets', 'headers'])('an endpoint whose %s cannot be decrypted', (column) => {
  const MAX_PAUSE = 600 * SECOND

  function damage({ app }: Party, { id }: { id: string }) {
    const { client } = app.db
    const { intact } = client
      .query(`select ${column} as intact from endpoints where id = ?`)
      .get(id) as { intact: string }
    const write = (text: string) =>
      client.run(`update endpoints set ${column} = ? where id = ?`, [text, id])
    write(`${intact.slice(0, -4)}AAAA`)
    return { repair: () => write(intact) }
  }

  test('does not keep others waiting, and gets its own within a pause of its repair', async () => {
    const party = await newTenant()
    const { app, clock, createEndpoint, sendMany, target, rest } = party
    const [endpoint, well] = [await createEndpoint(), await createEndpoint(`${target.url}/well`)]
    const { repair } = damage(party, endpoint)

    const messages = await sendMany(20)
    await rest()

    expect(await tally(party, `?endpoint_id=${well.id}`)).toEqual({ succeeded: 20 })
    expect(await tally(party, `?endpoint_id=${endpoint.id}`)).toEqual({ 'held: breaker': 20 })
    expect(app.log.join()).toContain('endpoint cannot be used')

    await leap(app, MAX_PAUSE)
    await leap(app, MAX_PAUSE)
    repair()
    await leap(app, MAX_PAUSE - 1)
    expect(target.requests).toHaveLength(20)
    await clock.advance(1)
    await rest()
    expect(await tally(party)).toEqual({ succeeded: 40 })
    expect(idsOf(party).slice(20).toSorted()).toEqual(messages.map(({ id }) => id).toSorted())
  })

  test('is listed, refuses other changes, and is repaired by a new secret', async () => {
    const party = await newTenant()
    const { api, createEndpoint, deliver, deliveryOf, listEndpoints, readEndpoint, rotate } = party
    const endpoint = await createEndpoint({ headers: { 'X-Team': 'blue' } })
    const path = `${ENDPOINTS}/${endpoint.id}`
    damage(party, endpoint)
    const message = await deliver()

    expect(await listEndpoints()).toMatchObject([{ id: endpoint.id }])
    expect(await readEndpoint(endpoint)).toMatchObject({ headers: {} })
    for (const answer of [
      await api.patch(path, { description: 'x' }),
      await api.post(`${path}/test`),
    ])
      expect(answer).toMatchObject(refusal(409, 'conflict'))
    const { secret } = await rotate(endpoint)
    await party.rest()

    expect(await deliveryOf(message)).toMatchObject({ status: 'succeeded' })
    expect(signedWith(party.target.requests[0], [secret, endpoint.secret])).toEqual([secret])
  })

  test.each([
    [200, { succeeded: 1 }],
    [500, { retrying: 1 }],
  ])('has the end of an attempt under way stored: %i', async (status, end) => {
    const party = await newTenant()
    const { endpoint, sent, held } = await underWay(party, 1)
    const other = await party.createEndpoint({ event_types: ['other'] })
    damage(party, endpoint)
    // A change of any endpoint has them all read anew.
    await party.change(other, { description: 'changed' })

    held.release(status)
    await party.rest()

    expect(await tally(party)).toEqual(end)
    expect((await party.deliveryOf(sent[0])).attempt_log).toMatchObject([{ response: { status } }])
  })
})

describe('very many held deliveries', () => {
  const MANY = 6000

  /** Writes so many messages, each held for the endpoint, as if they had come one by one. */
  function pileUp({ app, id: tenant }: Party, { id }: { id: string }, howMany: number) {
    const { client } = app.db
    client.transaction(() => {
      client.run(
        `with recursive n(i) as (select 1 union all select i + 1 from n where i < ?1)
         insert into messages (id, tenant_id, stream, type, payload, accepted_at)
         select ?2 || i, ?2, 'relay.live', 'user.created', '{}', ?3 + i from n`,
        [howMany, tenant, app.clock.now() - DAY],
      )
      client.run(
        `insert into deliveries (id, tenant_id, stream, message_seq, endpoint_id, format, state,
           line, run, attempts, tries, trigger, due_at, created_at)
         select 'd' || id, tenant_id, stream, seq, ?1, 'standard', 'held', 0, 1, 0, 0, 'schedule',
           accepted_at, accepted_at from messages where tenant_id = ?2`,
        [id, tenant],
      )
    })()
  }

  const inState = ({ app, id }: Party, ...states: string[]) =>
    count(app, `deliveries where tenant_id = '${id}' and state in ('${states.join("', '")}')`)

  const UNUSED = 'http://127.0.0.1:9/'

  test.each<[string, (party: Party, endpoint: Json) => Promise<unknown>]>([
    ['cancelled when the endpoint is deleted', ({ remove }, endpoint) => remove(endpoint)],
    ['discarded', ({ change }, endpoint) => change(endpoint, { active: true, held: 'discard' })],
  ])('are %s in slices, and requests are answered meanwhile', async (_, discard) => {
    const party = await newTenant()
    const only = { url: UNUSED, active: false, event_types: ['user.created'] }
    const endpoint = await party.createEndpoint(only)
    pileUp(party, endpoint, MANY)
    const seen: number[] = []
    let isDone = false

    const work = discard(party, endpoint).then(() => {
      isDone = true
    })
    while (!isDone) {
      await party.send({ event_type: 'unheard' })
      seen.push(inState(party, 'held'))
    }
    await work

    expect(seen.filter((left) => left > 0 && left < MANY).length).toBeGreaterThan(5)
    expect(inState(party, 'cancelled')).toBe(MANY)
  })

  test('are sent a few at a time', async () => {
    const party = await newTenant()
    const endpoint = await party.createEndpoint({ active: false })
    pileUp(party, endpoint, 600)
    let most = 0
    party.target.answers(() => {
      most = Math.max(most, inState(party, 'ready', 'leased'))
      return new Response('ok')
    })

    await party.change(endpoint, { active: true })
    await party.clock.advance(10 * SECOND)
    await party.rest()

    expect(inState(party, 'succeeded')).toBe(600)
    expect(party.target.requests).toHaveLength(600)
    expect(most).toBeLessThanOrEqual(64)
  })
})

test('another process knows immediately of an endpoint that is new, changed, paused, resumed or deleted', async () => {
  await using relay = await bootRelay()
  await using other = await bootBeside(relay)
  async function sendThere(type: string) {
    const headers = {
      authorization: `Bearer ${relay.live.key}`,
      'content-type': 'application/json',
    }
    const body = JSON.stringify({ event_type: type, payload: {} })
    const url = `http://localhost${MESSAGES}`
    await other.app.handle(new Request(url, { method: 'POST', headers, body }))
    await other.clock.settled()
  }

  await sendThere('early')
  const endpoint = await relay.createEndpoint()
  await sendThere('one')
  expect(await tally(relay)).toEqual({ succeeded: 1 })
  await relay.change(endpoint, { active: false })
  await sendThere('two')
  expect(await tally(relay)).toEqual({ succeeded: 1, 'held: inactive': 1 })
  await relay.change(endpoint, { active: true })
  await relay.rest()
  await sendThere('three')
  await relay.rest()
  expect(await tally(relay)).toEqual({ succeeded: 3 })
  await relay.change(endpoint, { event_types: ['else'] })
  await sendThere('unheard')
  await relay.remove(endpoint)
  await sendThere('else')

  expect(await tally(relay)).toEqual({ succeeded: 3 })
  expect(relay.target.requests).toHaveLength(3)
})
