import { describe, expect, test } from 'bun:test'
import { holdAnswers } from '../clockwork/support.ts'
import {
  answerWith,
  bootRelay,
  copyMessage,
  DAY,
  DELIVERIES,
  isoAt,
  type Json,
  type Relay,
  SECOND,
  useRelay,
} from './fixture.ts'

const { newTenant } = await useRelay()

type Reader = Pick<Relay, 'readMessage'>

/** The outcome of a message at its only endpoint. */
async function outcomeOf({ readMessage }: Reader, message: Json) {
  const { endpoints } = await readMessage(message)
  expect(endpoints).toHaveLength(1)
  return endpoints[0]
}

/** Verdict and reason. */
async function toldOf(reader: Reader, message: Json): Promise<string> {
  const { verdict, reason } = await outcomeOf(reader, message)
  return `${verdict}: ${reason}`
}

const SEEN = 'event_type: the endpoint was subscribed to'

describe('a message on its way to an endpoint', () => {
  test('is told at each step, and again when it is resent', async () => {
    const party = await newTenant()
    const { api, clock, change, createEndpoint, deliver, deliveryOf, remove, resend } = party
    const { target, rest, at } = party
    const endpoint = await createEndpoint({ active: false })
    const message = await deliver()
    const delivery = await deliveryOf(message)
    const told = () => toldOf(party, message)
    expect(await outcomeOf(party, message)).toEqual({
      endpoint_id: endpoint.id,
      url: endpoint.url,
      delivery_id: delivery.id,
      verdict: 'held',
      reason: 'held until the endpoint is resumed',
    })

    const answers = holdAnswers(target)
    await change(endpoint, { active: true })
    await answers.arrived(1)
    expect(await told()).toBe('delivering: attempt in progress')
    target.answers(answerWith(500))
    answers.release(500)
    await rest()
    expect(await told()).toBe(`retrying: 1 attempt failed; next attempt at ${at(5)}`)
    await clock.advance(5 * SECOND)
    expect(await told()).toBe(`retrying: 2 attempts failed; next attempt at ${at(65)}`)
    target.answers(answerWith(200))
    await clock.advance(60 * SECOND)
    expect(await told()).toBe(`succeeded: delivered at ${at(65)} after 3 attempts`)

    target.answers(answerWith(500))
    await resend(delivery)
    await rest()
    const arrived = `delivered at ${at(65)}, then sent again:`
    const retried = `4 attempts in 2 runs; next attempt at ${at(70)}`
    expect(await told()).toBe(`retrying: ${arrived} ${retried}`)
    await api.post(`${DELIVERIES}/${delivery.id}/cancel`)
    expect(await told()).toBe(`cancelled: ${arrived} cancelled at ${at(65)}`)
    target.answers(answerWith(200))
    await resend(delivery)
    await rest()
    await remove(endpoint)
    expect(await outcomeOf(party, message)).toMatchObject({ url: null, verdict: 'succeeded' })
    expect(await told()).toBe(`succeeded: delivered at ${at(65)} after 5 attempts`)
  })

  test('has failed after all its attempts, however often it was resent', async () => {
    await using relay = await bootRelay({ flags: { 'relay-retry-delays': '5s' } })
    const { clock, createEndpoint, deliver, deliveryOf, resend, target, rest, at } = relay
    target.answers(answerWith(500))
    await createEndpoint()
    const message = await deliver()
    await clock.advance(5 * SECOND)
    expect(await toldOf(relay, message)).toBe(`failed: failed at ${at(5)} after 2 attempts`)

    await resend(await deliveryOf(message))
    await rest()
    await clock.advance(5 * SECOND)
    expect(await toldOf(relay, message)).toBe(`failed: failed at ${at(10)} after 4 attempts`)
  })

  test('is held by a breaker until the endpoint recovers', async () => {
    await using relay = await bootRelay({ flags: { 'relay-breaker-failures': '1' } })
    relay.target.answers(answerWith(500))
    await relay.createEndpoint()
    await relay.deliver()
    const message = await relay.deliver()
    expect(await toldOf(relay, message)).toBe('held: held until the failing endpoint recovers')
  })

  test('waits for its turn in a replay, and only its first attempt is called so', async () => {
    const party = await newTenant()
    const { createEndpoint, clock, deliver, replay, rest, at } = party
    await deliver()
    const message = await deliver()
    const endpoint = await createEndpoint()
    const slowly = { since: at(0), which: 'all', per_second: 1 }
    await replay(endpoint, slowly)
    await rest()
    expect(await toldOf(party, message)).toBe(`pending: first attempt at ${at(1)}`)
    await clock.advance(SECOND)

    await replay(endpoint, slowly)
    await rest()

    const next = `pending: delivered at ${at(1)}, then sent again: next attempt at ${at(2)}`
    expect(await toldOf(party, message)).toBe(next)
  })

  test.each(['discarded', 'deleted'])('is cancelled if it is %s', async (how) => {
    const party = await newTenant()
    const { change, createEndpoint, deliver, remove, at } = party
    const endpoint = await createEndpoint({ active: false })
    const message = await deliver()
    if (how === 'discarded') await change(endpoint, { active: true, held: 'discard' })
    else await remove(endpoint)

    const why = how === 'deleted' ? ': the endpoint was deleted' : ''
    expect(await toldOf(party, message)).toBe(`cancelled: cancelled at ${at(0)}${why}`)
  })
})

describe('a message that does not go to an endpoint', () => {
  test.each<[filter: Json, message: Json, told: string]>([
    [
      { event_types: ['invoice.*', 'user.deleted'] },
      {},
      `${SEEN} invoice.*, user.deleted, not to user.created`,
    ],
    [
      { event_types: Array.from({ length: 30 }, (_, n) => `n.${n}`) },
      {},
      `${SEEN} n.0, n.1, n.2, n.3, n.4, n.5, n.6, n.7, n.8, n.9 and 20 more, not to user.created`,
    ],
    [
      { channels: ['eu', 'us'] },
      { channels: ['asia'] },
      'channels: the endpoint listened on channels eu, us; the message was sent to asia',
    ],
    [
      { event_types: ['a'], channels: ['eu'] },
      { channels: ['us'] },
      `${SEEN} a, not to user.created`,
    ],
  ])('because of its filter %j', async (filter, fields, told) => {
    const party = await newTenant()
    await party.createEndpoint(filter)
    const message = await party.deliver(fields)
    expect(await outcomeOf(party, message)).toMatchObject({ delivery_id: null })
    expect(await toldOf(party, message)).toBe(told)
  })

  test('because that was created later, or because of a test key', async () => {
    const party = await newTenant()
    const message = await party.deliver()
    await party.createEndpoint()
    expect(await toldOf(party, message)).toBe(
      'later: the endpoint was created after the message; to send it, start a replay',
    )
    const test = await party.sandbox()
    await test.createEndpoint({ event_types: ['user.*'] })
    expect(await toldOf(test, await test.deliver())).toBe(
      'sandbox: the endpoint matched, but events sent with a test key are not delivered',
    )
    const other = await test.deliver({ event_type: 'other' })
    expect(await outcomeOf(test, other)).toMatchObject({ verdict: 'event_type' })
  })

  test('has no outcome at one that was deleted', async () => {
    const { createEndpoint, deliver, readMessage, remove } = await newTenant()
    const endpoint = await createEndpoint({ event_types: ['a'] })
    const message = await deliver()
    await remove(endpoint)
    expect((await readMessage(message)).endpoints).toEqual([])
  })
})

describe('the filter at the time of the message counts', () => {
  test('after it was changed, also several times between two messages', async () => {
    const party = await newTenant()
    const { change, createEndpoint, deliver } = party
    const endpoint = await createEndpoint({ event_types: ['old'] })
    const first = await deliver()
    for (const type of ['b', 'c', 'd']) await change(endpoint, { event_types: [type] })
    const second = await deliver()
    await change(endpoint, { event_types: null, channels: ['eu'] })
    const third = await deliver({ channels: ['us'] })
    await change(endpoint, { channels: [] })
    const fourth = await deliver()
    const again = 'not to user.created; to send it, start a replay'
    expect(await toldOf(party, first)).toBe(`${SEEN} old, ${again}`)
    expect(await toldOf(party, second)).toBe(`${SEEN} d, ${again}`)
    expect(await outcomeOf(party, third)).toMatchObject({ verdict: 'channels' })

    await change(endpoint, { event_types: ['other'] })
    expect(await outcomeOf(party, fourth)).toMatchObject({ verdict: 'succeeded' })
  })

  test('also without older messages, and when only other fields or nothing was changed since', async () => {
    await using relay = await bootRelay()
    const { change, clock, createEndpoint, deliver } = relay
    await deliver()
    const endpoint = await createEndpoint({ event_types: ['old'] })
    clock.jump(31 * DAY)
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

  test('unless there were a hundred changes since', async () => {
    const party = await newTenant()
    const { change, clock, createEndpoint, deliver } = party
    const older = await deliver()
    await clock.advance(SECOND)
    const endpoint = await createEndpoint({ event_types: ['first'] })
    const message = await deliver()
    const changeOnce = async (n: number) => {
      await change(endpoint, { event_types: [`other.${n}`] })
      await party.send({ event_type: 'unheard' })
    }

    for (let n = 1; n <= 99; n++) await changeOnce(n)
    expect(await toldOf(party, message)).toBe(`${SEEN} first, not to user.created`)
    await changeOnce(100)

    expect(await toldOf(party, message)).toBe(
      'forgotten: the filters that the endpoint had then are no longer stored',
    )
    expect(await toldOf(party, older)).toBe('later: the endpoint was created after the message')
    await change(endpoint, { event_types: null })
    for (const one of [message, older])
      expect(await toldOf(party, one)).toEndWith('; to send it, start a replay')
  })
})

test('a replay is suggested exactly where it would send the message', async () => {
  const party = await newTenant()
  const { change, clock, createEndpoint, deliver, dryRun } = party
  const messages: Json[] = []
  async function deliverAll() {
    for (const fields of [{}, { channels: ['eu'] }, { event_type: 'a.b' }]) {
      messages.push(await deliver(fields))
      await clock.advance(SECOND)
    }
  }
  await deliverAll()
  const endpoint = await createEndpoint({ event_types: ['nothing'] })
  await deliverAll()
  await change(endpoint, { event_types: null, channels: ['us'] })
  await deliverAll()

  const suggested: number[] = []
  for (const filter of [
    { event_types: ['nothing'], channels: [] },
    { event_types: ['user.*'], channels: [] },
    { event_types: ['user.*'], channels: ['eu'] },
    { event_types: ['a.b'], channels: [] },
    { event_types: null, channels: ['us'] },
    { event_types: null, channels: [] },
  ]) {
    await change(endpoint, filter)
    const told: number[] = []
    const counted: number[] = []
    for (const message of messages) {
      const until = isoAt(Date.parse(message.timestamp) + 1)
      told.push(Number((await toldOf(party, message)).includes('replay')))
      counted.push(await dryRun(endpoint, { since: message.timestamp, until }))
    }
    expect(told).toEqual(counted)
    suggested.push(told.filter(Boolean).length)
  }

  expect(suggested).toEqual([0, 5, 5, 2, 4, 7])
})

test('a message has an outcome at every endpoint of its own tenant and environment', async () => {
  const party = await newTenant()
  const { createEndpoint, deliver, readMessage, sandbox, target } = party
  await (await newTenant()).createEndpoint()
  await (await sandbox()).createEndpoint()
  target.answers(({ path }) => new Response('', { status: path === '/hook/bad' ? 500 : 200 }))
  const expected = {
    [(await createEndpoint()).id]: 'succeeded',
    [(await createEndpoint(`${target.url}/bad`)).id]: 'retrying',
    [(await createEndpoint({ active: false })).id]: 'held',
    [(await createEndpoint({ event_types: ['a'] })).id]: 'event_type',
    [(await createEndpoint({ channels: ['a'] })).id]: 'channels',
  }
  const message = await deliver({ channels: ['b'] })
  expected[(await createEndpoint()).id] = 'later'

  const { endpoints } = await readMessage(message)

  expect(
    Object.fromEntries(endpoints.map(({ endpoint_id, verdict }: Json) => [endpoint_id, verdict])),
  ).toEqual(expected)
})
