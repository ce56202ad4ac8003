import { describe, expect, test } from 'bun:test'
import { until } from '../../support/binary.ts'
import { breathe } from '../clockwork/support.ts'
import {
  bootBeside,
  bootRelay,
  count,
  DAY,
  DELIVERIES,
  ENDPOINTS,
  isoAt,
  type Json,
  MESSAGES,
  type Party,
  refusal,
  SECOND,
  signedWith,
  useRelay,
} from './fixture.ts'

const { app, newTenant } = await useRelay()
const { client } = app.db

const HELD = { status: 'held', held_reason: 'inactive', next_attempt_at: null, ended_at: null }

/** So many messages that are under way at an endpoint which has not answered yet. */
async function underWay(relay: Party, messages: number) {
  const held = relay.target.hold()
  const endpoint = await relay.createEndpoint()
  const sent = await relay.sendMany(messages)
  await held.arrived(Math.min(messages, 16))
  return { endpoint, sent, held }
}

describe('An inactive endpoint', () => {
  test('has its deliveries held, and refuses a resend', async () => {
    const relay = await newTenant()
    await relay.createEndpoint({ active: false })
    const message = await relay.deliver()
    await relay.leap(DAY)
    const { id, ...delivery } = await relay.deliveryOf(message)
    expect(delivery).toMatchObject({ ...HELD, attempts: 0 })
    const answer = await relay.api.post(`${DELIVERIES}/${id}/resend`)
    expect(answer).toMatchObject(refusal(409, 'conflict'))
    expect(relay.target.requests).toEqual([])
  })

  test('has held what waits for a retry, is ready or fails after the pause, and then rests', async () => {
    await using relay = await bootRelay()
    const { target } = relay
    target.answers(500)
    const endpoint = await relay.createEndpoint()
    const waiting = await relay.deliver()
    const held = target.hold()
    await relay.sendMany(20)
    await held.arrived(17)

    await relay.change(endpoint, { active: false })
    held.release(200, 10)
    held.release(500)
    await relay.rest()
    await relay.leap(DAY)

    expect(await relay.tally()).toEqual({ succeeded: 10, 'held: inactive': 11 })
    expect(await relay.deliveryOf(waiting)).toMatchObject({ ...HELD, attempts: 1 })
    expect(target.requests).toHaveLength(17)
    const { db } = relay.app
    const changes = () => db.client.query<{ n: number }, []>('select total_changes() as n').get()?.n
    // Retention may still be deleting what is a day old.
    await until(async () => {
      const before = changes()
      for (let round = 0; round < 4; round++) await breathe(relay.app)
      return changes() === before
    })
  })
})

describe('A resumed endpoint', () => {
  test.each([{}, { held: 'drain' }])('gets what was held, each once: %j', async (choice) => {
    const relay = await newTenant()
    relay.target.answers(500)
    const endpoint = await relay.createEndpoint()
    await relay.deliver()
    await relay.change(endpoint, { active: false })
    const messages = await relay.sendMany(50)
    relay.target.answers(200)

    const resumed = await relay.change(endpoint, { active: true, ...choice })
    expect(resumed).toMatchObject({ active: true, disabled_reason: null })
    await relay.clock.advance(10 * SECOND)
    await relay.rest()

    expect(await relay.tally()).toEqual({ succeeded: 51 })
    const arrived = relay.headers('webhook-id').slice(1)
    expect(new Set(arrived).size).toBe(51)
    const late = messages.map(({ id }, n) => Math.abs(arrived.indexOf(id) - n))
    expect(Math.max(...late)).toBeLessThan(16)
  })

  test.each(['schedule', 'resend'])('has room again after a failed %s', async (trigger) => {
    const relay = await newTenant()
    const { deliveryOf, target } = relay
    target.answers(500)
    const endpoint = await relay.createEndpoint()
    const waiting = await relay.deliver()
    target.answers(200)
    const before = await relay.deliver()
    const held = target.hold()
    if (trigger === 'resend') await relay.resend(await deliveryOf(before))
    else await relay.send()
    await held.arrived(3)
    for (const active of [false, true]) await relay.change(endpoint, { active })
    expect(await relay.underWay()).toBe(1)

    target.answers(200)
    held.release(500)
    await relay.rest()

    expect(target.requests).toHaveLength(4)
    const attempt_log = [{ trigger: 'schedule' }, { trigger: 'schedule' }]
    expect(await deliveryOf(waiting)).toMatchObject({ status: 'succeeded', attempt_log })
  })

  test('loses what was held if that is asked for: cancelled, and counted once', async () => {
    const relay = await newTenant()
    relay.target.answers(500)
    const endpoint = await relay.createEndpoint()
    await relay.deliver()
    await relay.change(endpoint, { active: false })
    const [message] = await relay.sendMany(60)

    await relay.change(endpoint, { active: true, held: 'discard' })
    await relay.rest()

    expect(await relay.tally()).toEqual({ cancelled: 61 })
    const ended_at = isoAt(relay.clock.now())
    expect(await relay.deliveryOf(message)).toMatchObject({ ended_at })
    const counts = { failed: 1, exhausted: 0, cancelled: 61 }
    expect(await relay.statsOf(endpoint)).toMatchObject([counts])
    await relay.deliver()
    expect(relay.target.requests).toHaveLength(2)
    const idle = await relay.createEndpoint({ active: false })
    await relay.change(idle, { active: true, held: 'discard' })
    expect(await relay.statsOf(idle)).toEqual([])
  })

  test('that is paused and resumed again and again gets everything once', async () => {
    const relay = await newTenant()
    const endpoint = await relay.createEndpoint({ active: false })
    await relay.sendMany(50)
    for (let n = 0; n < 5; n++)
      await Promise.all([true, false].map((active) => relay.change(endpoint, { active })))
    await relay.change(endpoint, { active: true })
    await relay.clock.advance(10 * SECOND)
    await relay.rest()
    expect(await relay.tally()).toEqual({ succeeded: 50 })
    expect(relay.target.requests).toHaveLength(50)
  })
})

describe('An attempt under way', () => {
  test('is held if it fails after another was answered with 410', async () => {
    const relay = await newTenant()
    const { endpoint, held } = await underWay(relay, 2)
    held.release(410, 1)
    await until(async () => !(await relay.readEndpoint(endpoint)).active)
    held.release(500)
    await relay.rest()
    expect(await relay.readEndpoint(endpoint)).toMatchObject({ disabled_reason: 'gone' })
    expect(await relay.tally()).toEqual({ failed: 1, 'held: inactive': 1 })
  })

  test.each([
    [500, { cancelled: 2 }, 2],
    [200, { succeeded: 2 }, 0],
  ])('ends after it was discarded: answered with %i', async (status, end, cancelled) => {
    const relay = await newTenant()
    const { endpoint, held } = await underWay(relay, 2)
    await relay.change(endpoint, { active: false })
    await relay.change(endpoint, { active: true, held: 'discard' })
    held.release(status)
    await relay.rest()
    expect(await relay.tally()).toEqual(end)
    expect(await relay.statsOf(endpoint)).toMatchObject([{ cancelled }])
    await relay.leap(DAY)
    expect(relay.target.requests).toHaveLength(2)
  })

  test('is cancelled if it fails after its endpoint was deleted', async () => {
    const relay = await newTenant()
    const { endpoint, sent, held } = await underWay(relay, 1)
    await relay.remove(endpoint)
    held.release(500)
    await relay.rest()
    const failed = { status: 'failed', response: { status: 500 }, next_attempt_at: null }
    const end = { status: 'cancelled', attempts: 1, attempt_log: [failed] }
    expect(await relay.deliveryOf(sent[0])).toMatchObject(end)
  })
})

describe.each(['secrets', 'headers'])('An endpoint whose %s cannot be decrypted', (column) => {
  const MAX_PAUSE = 600 * SECOND

  function damage({ id }: { id: string }) {
    const stored = client.query<{ text: string }, [string]>(
      `select ${column} as text from endpoints where id = ?`,
    )
    const { text = '' } = stored.get(id) ?? {}
    const write = (value: string) =>
      client.run(`update endpoints set ${column} = ? where id = ?`, [value, id])
    write(`${text.slice(0, -4)}AAAA`)
    return { repair: () => write(text) }
  }

  test('does not keep others waiting, and gets its own within a pause of its repair', async () => {
    const relay = await newTenant()
    const { target } = relay
    const [endpoint, well] = [
      await relay.createEndpoint(),
      await relay.createEndpoint(`${target.url}/well`),
    ]
    const { repair } = damage(endpoint)
    const messages = await relay.sendMany(10)
    await relay.rest()
    expect(await relay.tally(`?endpoint_id=${well.id}`)).toEqual({ succeeded: 10 })
    expect(await relay.tally(`?endpoint_id=${endpoint.id}`)).toEqual({ 'held: breaker': 10 })
    expect(app.log.join()).toContain('endpoint cannot be used')

    for (let n = 0; n < 2; n++) await relay.leap(MAX_PAUSE)
    repair()
    await relay.leap(MAX_PAUSE - 1)
    expect(target.requests).toHaveLength(10)
    await relay.clock.advance(1)
    await relay.rest()
    expect(await relay.tally()).toEqual({ succeeded: 20 })
    const ids = relay.headers('webhook-id').slice(10)
    expect(ids.toSorted()).toEqual(messages.map(({ id }) => id).toSorted())
  })

  test('is listed, refuses other changes, and is repaired by a new secret', async () => {
    const relay = await newTenant()
    const endpoint = await relay.createEndpoint({ headers: { 'X-Team': 'blue' } })
    const path = `${ENDPOINTS}/${endpoint.id}`
    damage(endpoint)
    const message = await relay.deliver()
    expect(await relay.listEndpoints()).toMatchObject([{ id: endpoint.id }])
    expect(await relay.readEndpoint(endpoint)).toMatchObject({ headers: {} })
    const conflict = refusal(409, 'conflict')
    expect(await relay.api.patch(path, { description: 'x' })).toMatchObject(conflict)
    expect(await relay.api.post(`${path}/test`)).toMatchObject(conflict)

    const { secret } = await relay.rotate(endpoint)
    await relay.rest()

    expect(await relay.deliveryOf(message)).toMatchObject({ status: 'succeeded' })
    expect(signedWith(relay.target.requests[0], [secret, endpoint.secret])).toEqual([secret])
  })

  test.each([
    [200, { succeeded: 1 }],
    [500, { retrying: 1 }],
  ])('has the end of an attempt under way stored: %i', async (status, end) => {
    const relay = await newTenant()
    const { endpoint, sent, held } = await underWay(relay, 1)
    const other = await relay.createEndpoint({ event_types: ['other'] })
    damage(endpoint)
    // A change of any endpoint has them all read anew.
    await relay.change(other, { description: 'changed' })
    held.release(status)
    await relay.rest()
    expect(await relay.tally()).toEqual(end)
    const { attempt_log } = await relay.deliveryOf(sent[0])
    expect(attempt_log).toMatchObject([{ response: { status } }])
  })
})

describe('Very many held deliveries', () => {
  const MANY = 4000

  /** Writes so many messages, each held for the endpoint, as if they had come one by one. */
  function pileUp(tenant: string, { id }: { id: string }, howMany: number) {
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
  }

  const inState = ({ id }: Party, ...states: string[]) =>
    count(app, `deliveries where tenant_id = '${id}' and state in ('${states.join("', '")}')`)

  test.each<[string, (relay: Party, endpoint: Json) => Promise<unknown>]>([
    ['cancelled when the endpoint is deleted', ({ remove }, endpoint) => remove(endpoint)],
    ['discarded', ({ change }, endpoint) => change(endpoint, { active: true, held: 'discard' })],
  ])('are %s in slices, and requests are answered meanwhile', async (_, discard) => {
    const relay = await newTenant()
    const endpoint = await relay.createEndpoint({ active: false, event_types: ['user.created'] })
    pileUp(relay.id, endpoint, MANY)
    const seen: number[] = []
    let isDone = false
    const work = discard(relay, endpoint).then(() => {
      isDone = true
    })
    while (!isDone) {
      await relay.send({ event_type: 'unheard' })
      seen.push(inState(relay, 'held'))
    }
    await work
    expect(seen.filter((left) => left > 0 && left < MANY).length).toBeGreaterThan(3)
    expect(inState(relay, 'cancelled')).toBe(MANY)
  })

  test('are sent a few at a time', async () => {
    const relay = await newTenant()
    const endpoint = await relay.createEndpoint({ active: false })
    pileUp(relay.id, endpoint, 200)
    let most = 0
    relay.target.answers(() => {
      most = Math.max(most, inState(relay, 'ready', 'leased'))
      return new Response('ok')
    })
    await relay.change(endpoint, { active: true })
    await relay.clock.advance(10 * SECOND)
    await relay.rest()
    expect(inState(relay, 'succeeded')).toBe(200)
    expect(relay.target.requests).toHaveLength(200)
    expect(most).toBeLessThanOrEqual(64)
  })
})

test('Another process knows immediately of an endpoint that is new, changed, paused or deleted', async () => {
  await using relay = await bootRelay()
  await using other = await bootBeside(relay)
  const authorization = `Bearer ${relay.live.key}`
  const headers = { authorization, 'content-type': 'application/json' }
  async function sendThere(event_type: string) {
    const body = JSON.stringify({ event_type, payload: {} })
    const url = `http://localhost${MESSAGES}`
    await other.app.handle(new Request(url, { method: 'POST', headers, body }))
    await other.clock.settled()
    await relay.rest()
    return relay.tally()
  }

  expect(await sendThere('early')).toEqual({})
  const endpoint = await relay.createEndpoint()
  expect(await sendThere('one')).toEqual({ succeeded: 1 })
  await relay.change(endpoint, { active: false })
  expect(await sendThere('two')).toEqual({ succeeded: 1, 'held: inactive': 1 })
  await relay.change(endpoint, { active: true })
  await relay.rest()
  expect(await sendThere('three')).toEqual({ succeeded: 3 })
  await relay.change(endpoint, { event_types: ['else'] })
  expect(await sendThere('unheard')).toEqual({ succeeded: 3 })
  await relay.remove(endpoint)
  expect(await sendThere('else')).toEqual({ succeeded: 3 })
})
