import { expect, test } from 'bun:test'
import { bootRelay, copyMessage, isoAt, type Json, type Relay, useRelay } from './fixture.ts'
import { DAY, DELIVERIES, SECOND } from './support.ts'

const { newTenant } = await useRelay()
const quick = await useRelay({
  flags: { 'relay-breaker-failures': '3', 'relay-retry-delays': '5s' },
})

/** The outcome of a message at its only endpoint. */
async function outcomeOf({ readMessage }: Pick<Relay, 'readMessage'>, message: Json) {
  const { endpoints } = await readMessage(message)
  expect(endpoints).toHaveLength(1)
  return endpoints[0]
}

/** Verdict and reason. */
async function toldOf(relay: Pick<Relay, 'readMessage'>, message: Json): Promise<string> {
  const { verdict, reason } = await outcomeOf(relay, message)
  return `${verdict}: ${reason}`
}

const SEEN = 'event_type: the endpoint was subscribed to'

test('The outcome of a message is told at each step, and again when it is resent', async () => {
  const relay = await newTenant()
  const { clock, resend, target, rest, at } = relay
  const endpoint = await relay.createEndpoint({ active: false })
  const message = await relay.deliver()
  const delivery = await relay.deliveryOf(message)
  const expectTold = async (told: string) => expect(await toldOf(relay, message)).toBe(told)
  expect(await outcomeOf(relay, message)).toEqual({
    ...{ endpoint_id: endpoint.id, url: endpoint.url, delivery_id: delivery.id },
    ...{ verdict: 'held', reason: 'held until the endpoint is resumed' },
  })
  const held = target.hold()
  await relay.change(endpoint, { active: true })
  await held.arrived(1)
  await expectTold('delivering: attempt in progress')
  target.answers(500)
  held.release(500)
  await rest()
  await expectTold(`retrying: 1 attempt failed; next attempt at ${at(5)}`)
  await clock.advance(5 * SECOND)
  await expectTold(`retrying: 2 attempts failed; next attempt at ${at(65)}`)
  target.answers(200)
  await clock.advance(60 * SECOND)
  await expectTold(`succeeded: delivered at ${at(65)} after 3 attempts`)

  target.answers(500)
  await resend(delivery)
  await rest()
  const arrived = `delivered at ${at(65)}, then sent again:`
  await expectTold(`retrying: ${arrived} 4 attempts in 2 runs; next attempt at ${at(70)}`)
  await relay.api.post(`${DELIVERIES}/${delivery.id}/cancel`)
  await expectTold(`cancelled: ${arrived} cancelled at ${at(65)}`)
  target.answers(200)
  await resend(delivery)
  await rest()
  await relay.remove(endpoint)
  expect(await outcomeOf(relay, message)).toMatchObject({ url: null, verdict: 'succeeded' })
  await expectTold(`succeeded: delivered at ${at(65)} after 5 attempts`)
})

test('A message has failed after all its attempts, and another is held by the breaker', async () => {
  const relay = await quick.newTenant()
  const { clock, at } = relay
  relay.target.answers(500)
  await relay.createEndpoint()
  const message = await relay.deliver()
  await clock.advance(5 * SECOND)
  expect(await toldOf(relay, message)).toBe(`failed: failed at ${at(5)} after 2 attempts`)
  for (let n = 0; n < 2; n++) await relay.deliver()
  const later = await relay.deliver()
  expect(await toldOf(relay, later)).toBe('held: held until the failing endpoint recovers')
})

test('A message waits for its turn in a replay, and only its first attempt is called so', async () => {
  const relay = await newTenant()
  const { at } = relay
  await relay.deliver()
  const message = await relay.deliver()
  const endpoint = await relay.createEndpoint()
  for (const told of [
    `pending: first attempt at ${at(1)}`,
    `pending: delivered at ${at(1)}, then sent again: next attempt at ${at(2)}`,
  ]) {
    await relay.replay(endpoint, { since: at(0), which: 'all', per_second: 1 })
    await relay.rest()
    expect(await toldOf(relay, message)).toBe(told)
    await relay.clock.advance(SECOND)
  }
})

test.each([
  ['discarded', ''],
  ['deleted', ': the endpoint was deleted'],
])('A message is cancelled if it is %s', async (_, why) => {
  const relay = await newTenant()
  const endpoint = await relay.createEndpoint({ active: false })
  const message = await relay.deliver()
  if (why) await relay.remove(endpoint)
  else await relay.change(endpoint, { active: true, held: 'discard' })
  expect(await toldOf(relay, message)).toBe(`cancelled: cancelled at ${relay.at(0)}${why}`)
})

const types = Array.from({ length: 30 }, (_, n) => `n.${n}`)
const first = types.slice(0, 10).join(', ')
const heard = 'channels: the endpoint listened on channels eu, us; the message was sent to asia'
const both = { event_types: ['a'], channels: ['eu'] }
test.each<[filter: Json, message: Json, told: string]>([
  [{ event_types: ['a.*', 'b'] }, {}, `${SEEN} a.*, b, not to user.created`],
  [{ event_types: types }, {}, `${SEEN} ${first} and 20 more, not to user.created`],
  [{ channels: ['eu', 'us'] }, { channels: ['asia'] }, heard],
  [both, { channels: ['us'] }, `${SEEN} a, not to user.created`],
])('A message does not go to an endpoint with the filter %j', async (filter, fields, told) => {
  const relay = await newTenant()
  await relay.createEndpoint(filter)
  const message = await relay.deliver(fields)
  expect(await outcomeOf(relay, message)).toMatchObject({ delivery_id: null })
  expect(await toldOf(relay, message)).toBe(told)
})

test('A message does not go to an endpoint that was created later, is deleted or has a test key', async () => {
  const relay = await newTenant()
  const message = await relay.deliver()
  const endpoint = await relay.createEndpoint()
  const later = 'later: the endpoint was created after the message; to send it, start a replay'
  expect(await toldOf(relay, message)).toBe(later)
  await relay.remove(endpoint)
  expect((await relay.readMessage(message)).endpoints).toEqual([])
  const test = await relay.sandbox()
  await test.createEndpoint({ event_types: ['user.*'] })
  const sandboxed =
    'sandbox: the endpoint matched, but events sent with a test key are not delivered'
  expect(await toldOf(test, await test.deliver())).toBe(sandboxed)
  const other = await test.deliver({ event_type: 'other' })
  expect(await outcomeOf(test, other)).toMatchObject({ verdict: 'event_type' })
})

test('The filter at the time of the message counts, also after changes of other fields or to the same', async () => {
  await using relay = await bootRelay()
  const { change, deliver } = relay
  await deliver()
  const endpoint = await relay.createEndpoint({ event_types: ['old'] })
  relay.clock.jump(31 * DAY)
  await relay.app.platform.retention.sweep()
  await change(endpoint, { event_types: ['new'] })
  const message = await deliver()
  await change(endpoint, { description: 'x', format: 'raw', active: false })
  for (let n = 0; n < 101; n++) {
    copyMessage(relay.app, message, 1)
    relay.app.db.client.run('update messages set id = ? where id = ?', [n, `${message.id}-1`])
    await change(endpoint, { event_types: ['new'] })
  }
  expect(await toldOf(relay, message)).toBe(`${SEEN} new, not to user.created`)
})

test('The filter at the time of the message counts, unless there were a hundred changes since', async () => {
  const relay = await newTenant()
  const { change, deliver } = relay
  const older = await deliver()
  await relay.clock.advance(SECOND)
  const endpoint = await relay.createEndpoint({ event_types: ['first'] })
  const message = await deliver()
  const changeOnce = async (n: number) => {
    await change(endpoint, { event_types: [`other.${n}`] })
    await relay.send({ event_type: 'unheard' })
  }
  for (let n = 1; n <= 99; n++) await changeOnce(n)
  expect(await toldOf(relay, message)).toBe(`${SEEN} first, not to user.created`)
  await changeOnce(100)

  const forgotten = 'forgotten: the filters that the endpoint had then are no longer stored'
  expect(await toldOf(relay, message)).toBe(forgotten)
  expect(await toldOf(relay, older)).toBe('later: the endpoint was created after the message')
  await change(endpoint, { event_types: null })
  for (const one of [message, older])
    expect(await toldOf(relay, one)).toEndWith('; to send it, start a replay')
})

test('A replay is suggested exactly where it would send the message', async () => {
  const relay = await newTenant()
  const { change, clock } = relay
  const messages: Json[] = []
  async function deliverAll() {
    for (const fields of [{}, { channels: ['eu'] }, { event_type: 'a.b' }]) {
      messages.push(await relay.deliver(fields))
      await clock.advance(SECOND)
    }
  }
  await deliverAll()
  const endpoint = await relay.createEndpoint({ event_types: ['other'] })
  for (const type of ['b', 'nothing']) await change(endpoint, { event_types: [type] })
  await deliverAll()
  await change(endpoint, { event_types: null, channels: ['us'] })
  await deliverAll()
  expect(await toldOf(relay, messages[3])).toStartWith(`${SEEN} nothing, not to user.created`)

  for (const [event_types, channels, suggested] of [
    [['nothing'], [], 0],
    [['user.*'], ['eu'], 5],
    [['a.b'], [], 2],
    [null, ['us'], 4],
    [null, [], 7],
  ]) {
    await change(endpoint, { event_types, channels })
    const told: number[] = []
    const counted: number[] = []
    for (const message of messages) {
      const until = isoAt(Date.parse(message.timestamp) + 1)
      told.push(Number((await toldOf(relay, message)).includes('replay')))
      counted.push(await relay.dryRun(endpoint, { since: message.timestamp, until }))
    }
    expect(told).toEqual(counted)
    expect(told.filter(Boolean)).toHaveLength(suggested as number)
  }
})
