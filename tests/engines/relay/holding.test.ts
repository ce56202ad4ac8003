import { describe, expect, test } from 'bun:test'
import { until } from '../../support/binary.ts'
import { breathe } from '../clockwork/support.ts'
import {
  bootBeside,
  bootRelay,
  copyDelivery,
  isoAt,
  type Json,
  type Party,
  refusal,
  signedWith,
  useRelay,
} from './fixture.ts'
import { count, DAY, ENDPOINTS, HOUR, MESSAGES, SECOND } from './support.ts'

const { app, newTenant } = await useRelay()
const { client } = app.db

const HELD = { status: 'held', held_reason: 'inactive', next_attempt_at: null, ended_at: null }

const inState = ({ id }: Party, ...states: string[]) =>
  count(app, `deliveries where tenant_id = '${id}' and state in ('${states.join("', '")}')`)

/** So many messages that are under way at an endpoint which has not answered yet. */
async function underWay(relay: Party, messages: number) {
  const held = relay.target.hold()
  const endpoint = await relay.createEndpoint()
  const sent = await relay.sendMany(messages)
  await held.arrived(Math.min(messages, 16))
  return { endpoint, sent, held }
}

test('What waits for an inactive endpoint, is ready or fails is held, and then all rests', async () => {
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
  await relay.leap(HOUR)

  expect(await relay.tally()).toEqual({ succeeded: 10, 'held: inactive': 11 })
  expect(await relay.deliveryOf(waiting)).toMatchObject({ ...HELD, attempts: 1 })
  expect(target.requests).toHaveLength(17)
  const changes = () => relay.app.db.client.query('select total_changes()').values()
  // Retention may still be at work.
  await until(async () => {
    const before = changes()
    for (let round = 0; round < 4; round++) await breathe(relay.app)
    return Bun.deepEquals(changes(), before)
  })
})

test('A resumed endpoint gets what was held, each once and a few at a time', async () => {
  const relay = await newTenant()
  relay.target.answers(500)
  const endpoint = await relay.createEndpoint()
  await relay.deliver()
  await relay.change(endpoint, { active: false })
  const messages = await relay.sendMany(100)
  let most = 0
  relay.target.answers(() => {
    most = Math.max(most, inState(relay, 'ready', 'leased'))
    return new Response('ok')
  })

  const resumed = await relay.change(endpoint, { active: true, held: 'drain' })
  expect(resumed).toMatchObject({ active: true, disabled_reason: null })
  await relay.clock.advance(10 * SECOND)
  await relay.rest()

  expect(await relay.tally()).toEqual({ succeeded: 101 })
  expect(most).toBeLessThanOrEqual(64)
  const arrived = relay.headers('webhook-id').slice(1)
  expect(new Set(arrived).size).toBe(101)
  const late = messages.map(({ id }, n) => Math.abs(arrived.indexOf(id) - n))
  expect(Math.max(...late)).toBeLessThan(16)
})

test.each(['schedule', 'resend'])('A failed %s leaves its room to a retry', async (trigger) => {
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

test('A resumed endpoint loses what was held if the request says so, counted once', async () => {
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

test('A resumed endpoint that is paused and resumed again and again gets everything once', async () => {
  const relay = await newTenant()
  const endpoint = await relay.createEndpoint({ active: false })
  await relay.sendMany(30)
  for (let n = 0; n < 5; n++)
    await Promise.all([true, false].map((active) => relay.change(endpoint, { active })))
  await relay.change(endpoint, { active: true })
  await relay.clock.advance(10 * SECOND)
  await relay.rest()
  expect(await relay.tally()).toEqual({ succeeded: 30 })
  expect(relay.target.requests).toHaveLength(30)
})

test.each<[string, number, Record<string, number>]>([
  ['discarded', 500, { cancelled: 2 }],
  ['discarded', 200, { succeeded: 2 }],
  ['deleted', 500, { cancelled: 2 }],
  ['disabled', 500, { failed: 1, 'held: inactive': 1 }],
])('An attempt under way that is %s and answered with %i ends as %j', async (how, status, end) => {
  const relay = await newTenant()
  const { endpoint, held } = await underWay(relay, 2)
  if (how === 'deleted') await relay.remove(endpoint)
  else if (how === 'disabled') held.release(410, 1)
  else await relay.change(endpoint, { active: false })
  await until(async () => !(await relay.listEndpoints())[0]?.active)
  if (how === 'discarded') await relay.change(endpoint, { active: true, held: 'discard' })
  held.release(status)
  await relay.rest()
  expect(await relay.tally()).toEqual(end)
  const counts = { cancelled: end.cancelled ?? 0 }
  if (how === 'discarded') expect(await relay.statsOf(endpoint)).toMatchObject([counts])
  await relay.leap(DAY)
  expect(relay.target.requests).toHaveLength(2)
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
    const endpoint = await relay.createEndpoint()
    const well = await relay.createEndpoint(`${target.url}/well`)
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

  test('recovers after its repair if it was failing before', async () => {
    const relay = await newTenant()
    const endpoint = await relay.createEndpoint()
    const open = () => app.platform.alerts.openCount(relay.id, 9)
    relay.target.answers(500)
    await relay.sendMany(5)
    await relay.rest()
    const { repair } = damage(endpoint)
    // Any change of an endpoint reads all of them again.
    await relay.createEndpoint({ event_types: ['other'] })
    await relay.leap(MAX_PAUSE)
    expect(open()).toBe(1)
    repair()
    relay.target.answers(200)
    for (let n = 0; n < 2; n++) await relay.leap(MAX_PAUSE)
    expect([open(), await relay.tally()]).toEqual([0, { succeeded: 5 }])
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

  test('has the end of an attempt under way stored', async () => {
    const relay = await newTenant()
    const { endpoint, held } = await underWay(relay, 1)
    const other = await relay.createEndpoint({ event_types: ['other'] })
    damage(endpoint)
    // A change of any endpoint has them all read anew.
    await relay.change(other, { description: 'changed' })
    held.release(500)
    await relay.rest()
    expect(await relay.tally()).toEqual({ retrying: 1 })
  })
})

test.each<[string, (relay: Party, endpoint: Json) => Promise<unknown>]>([
  ['cancelled when the endpoint is deleted', ({ remove }, endpoint) => remove(endpoint)],
  ['discarded', ({ change }, endpoint) => change(endpoint, { active: true, held: 'discard' })],
])('Many held deliveries are %s in slices, beside requests', async (_, discard) => {
  const relay = await newTenant()
  const endpoint = await relay.createEndpoint({ active: false, event_types: ['user.created'] })
  copyDelivery(app, await relay.deliver(), endpoint, 2499)
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
  expect(seen.filter((left) => left > 0 && left < 2500).length).toBeGreaterThan(3)
  expect(inState(relay, 'cancelled')).toBe(2500)
})

test('Another process knows immediately of an endpoint that is new, changed, paused or deleted', async () => {
  await using relay = await bootRelay()
  await using other = await bootBeside(relay)
  const authorization = `Bearer ${relay.live.key}`
  const headers = { authorization, 'content-type': 'application/json' }
  async function sendThere(event_type: string) {
    const body = JSON.stringify({ event_type, payload: {} })
    const url = `http://localhost${MESSAGES}`
    await other.app.fetch(new Request(url, { method: 'POST', headers, body }))
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
