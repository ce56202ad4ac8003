import { describe, expect, test } from 'bun:test'
import { holdAnswers } from '../clockwork/support.ts'
import {
  answerWith,
  bootFixture,
  copyMessage,
  DAY,
  type Fixture,
  isoAt,
  type Json,
  MESSAGES,
  manage,
  SECOND,
  START,
  WITHOUT_RETRIES,
} from './management.ts'

const at = (seconds: number) => isoAt(START + seconds * SECOND)

/** Of a message, the only endpoint's. */
async function verdictOf({ readMessage }: Pick<Fixture, 'readMessage'>, message: Json) {
  const { endpoints } = await readMessage(message)
  expect(endpoints).toHaveLength(1)
  return endpoints[0]
}

const reasonOf = async (fixture: Pick<Fixture, 'readMessage'>, message: Json): Promise<string> =>
  (await verdictOf(fixture, message)).reason

describe('a message that is on its way to an endpoint', () => {
  test('succeeded: when, and with how many attempts', async () => {
    await using fixture = await bootFixture()
    const { createEndpoint, publish, deliveriesOf } = fixture
    const endpoint = await createEndpoint()
    const message = await publish()
    const [delivery] = await deliveriesOf(message)

    expect(await verdictOf(fixture, message)).toEqual({
      endpoint_id: endpoint.id,
      url: endpoint.url,
      delivery_id: delivery.id,
      verdict: 'succeeded',
      reason: `delivered at ${at(0)} after 1 attempt`,
    })
  })

  test('retrying: how many attempts failed, and when the next is due', async () => {
    await using fixture = await bootFixture()
    const { createEndpoint, publish, clock, target } = fixture
    await createEndpoint()
    target.answers(answerWith(500))
    const message = await publish()
    expect(await verdictOf(fixture, message)).toMatchObject({
      verdict: 'retrying',
      reason: `1 attempt failed; next attempt at ${at(5)}`,
    })

    await clock.advance(5 * SECOND)
    expect(await reasonOf(fixture, message)).toBe(`2 attempts failed; next attempt at ${at(65)}`)
  })

  test('failed: given up when, after how many attempts', async () => {
    await using fixture = await bootFixture({ flags: { 'relay-retry-delays': '5s' } })
    const { createEndpoint, publish, clock, target } = fixture
    await createEndpoint()
    target.answers(answerWith(500))
    const message = await publish()
    await clock.advance(5 * SECOND)

    expect(await verdictOf(fixture, message)).toMatchObject({
      verdict: 'failed',
      reason: `failed at ${at(5)} after 2 attempts`,
    })
  })

  test('delivering: an attempt is under way', async () => {
    await using fixture = await bootFixture()
    const { createEndpoint, accept, settle, target } = fixture
    const answers = holdAnswers(target)
    await createEndpoint()
    const message = await accept()
    await answers.arrived(1)

    expect(await verdictOf(fixture, message)).toMatchObject({
      verdict: 'delivering',
      reason: 'attempt in progress',
    })
    answers.release()
    await settle()
  })

  test('pending: when its first attempt is due', async () => {
    await using fixture = await bootFixture()
    const { createEndpoint, publish, replay, settle } = fixture
    await publish()
    const message = await publish()
    await replay(await createEndpoint(), { since: at(0), per_second: 1 })
    await settle()

    expect(await verdictOf(fixture, message)).toMatchObject({
      verdict: 'pending',
      reason: `first attempt at ${at(1)}`,
    })
  })

  test('held: until its endpoint takes deliveries again', async () => {
    await using fixture = await bootFixture()
    const { createEndpoint, publish } = fixture
    await createEndpoint({ active: false })

    expect(await verdictOf(fixture, await publish())).toMatchObject({
      verdict: 'held',
      reason: 'held until the endpoint is resumed',
    })
  })

  test('cancelled: when, by somebody who discarded it', async () => {
    await using fixture = await bootFixture()
    const { createEndpoint, change, publish } = fixture
    const endpoint = await createEndpoint({ active: false })
    const message = await publish()
    await change(endpoint, { active: true, held: 'discard' })

    expect(await verdictOf(fixture, message)).toMatchObject({
      verdict: 'cancelled',
      url: endpoint.url,
      reason: `cancelled at ${at(0)}`,
    })
  })

  test('cancelled, because its endpoint was deleted', async () => {
    await using fixture = await bootFixture()
    const { createEndpoint, remove, publish, target } = fixture
    const endpoint = await createEndpoint()
    target.answers(answerWith(500))
    const message = await publish()
    await remove(endpoint)

    expect(await verdictOf(fixture, message)).toMatchObject({
      endpoint_id: endpoint.id,
      url: null,
      verdict: 'cancelled',
      reason: expect.stringContaining('the endpoint was deleted'),
    })
  })

  test('what arrived before its endpoint was deleted has arrived', async () => {
    await using fixture = await bootFixture()
    const { createEndpoint, remove, publish } = fixture
    const endpoint = await createEndpoint()
    const message = await publish()
    await remove(endpoint)

    expect(await verdictOf(fixture, message)).toMatchObject({ url: null, verdict: 'succeeded' })
  })
})

describe('a second run is told as what it is', () => {
  test('while it waits, no attempt is called the first', async () => {
    await using fixture = await bootFixture()
    const { createEndpoint, publish, replay, settle } = fixture
    const endpoint = await createEndpoint()
    await publish()
    const message = await publish()
    await replay(endpoint, { since: at(0), which: 'all', per_second: 1 })
    await settle()

    const { verdict, reason } = await verdictOf(fixture, message)
    expect(verdict).toBe('pending')
    expect(reason).toContain(at(1))
    expect(reason).not.toContain('first')
  })

  test('while it is retried, what succeeded before does not count as failed', async () => {
    await using fixture = await bootFixture()
    const { createEndpoint, publish, deliveriesOf, resend, settle, target } = fixture
    await createEndpoint()
    const message = await publish()
    const [delivery] = await deliveriesOf(message)
    target.answers(answerWith(500))
    await resend(delivery)
    await settle()

    const { verdict, reason } = await verdictOf(fixture, message)
    expect(verdict).toBe('retrying')
    expect(reason).toContain(at(5))
    expect(reason).not.toContain('2 attempts failed')
  })
})

describe('a message that has arrived has arrived', () => {
  const ARRIVED = `delivered at ${at(0)}, then sent again: `

  test('whatever becomes of it when it is sent again', async () => {
    await using fixture = await bootFixture({ flags: { 'relay-retry-delays': '5s' } })
    const { createEndpoint, publish, deliveriesOf, resend, settle, clock, target } = fixture
    await createEndpoint()
    const message = await publish()
    const [delivery] = await deliveriesOf(message)
    await clock.advance(10 * SECOND)
    target.answers(answerWith(500))

    await resend(delivery)
    await settle()
    expect(await verdictOf(fixture, message)).toMatchObject({
      verdict: 'retrying',
      reason: `${ARRIVED}2 attempts in 2 runs; next attempt at ${at(15)}`,
    })

    await clock.advance(5 * SECOND)
    expect(await verdictOf(fixture, message)).toMatchObject({
      verdict: 'failed',
      reason: `${ARRIVED}failed at ${at(15)} after 3 attempts`,
    })

    target.answers(answerWith(200))
    await resend(delivery)
    await settle()
    const { verdict, reason } = await verdictOf(fixture, message)
    expect(verdict).toBe('succeeded')
    expect(reason).toBe(`delivered at ${at(15)} after 4 attempts`)
  })

  test('and not where it never did, however often it was sent', async () => {
    await using fixture = await bootFixture(WITHOUT_RETRIES)
    const { createEndpoint, publish, deliveriesOf, resend, settle, target } = fixture
    target.answers(answerWith(500))
    await createEndpoint()
    const message = await publish()
    const [delivery] = await deliveriesOf(message)
    await resend(delivery)
    await settle()

    expect(await reasonOf(fixture, message)).toBe(`failed at ${at(0)} after 2 attempts`)
  })
})

describe('a message that never was to go to an endpoint', () => {
  test('event_type: what it listened to, and what came', async () => {
    await using fixture = await bootFixture()
    const { createEndpoint, publish } = fixture
    const endpoint = await createEndpoint({ event_types: ['invoice.*', 'user.deleted'] })

    expect(await verdictOf(fixture, await publish())).toEqual({
      endpoint_id: endpoint.id,
      url: endpoint.url,
      delivery_id: null,
      verdict: 'event_type',
      reason: 'the endpoint was subscribed to invoice.*, user.deleted, not to user.created',
    })
  })

  test('event_type: of a long list the beginning', async () => {
    await using fixture = await bootFixture()
    const { createEndpoint, publish } = fixture
    await createEndpoint({ event_types: Array.from({ length: 30 }, (_, n) => `n.${n}`) })

    const reason = await reasonOf(fixture, await publish())

    expect(reason).toContain('n.0, n.1,')
    expect(reason).toContain('and 20 more')
    expect(reason).not.toContain('n.10')
  })

  test('channels: what both of them name', async () => {
    await using fixture = await bootFixture()
    const { createEndpoint, publish } = fixture
    await createEndpoint({ channels: ['eu', 'us'] })

    expect(await verdictOf(fixture, await publish({ channels: ['asia'] }))).toMatchObject({
      delivery_id: null,
      verdict: 'channels',
      reason: 'the endpoint listened on channels eu, us; the message was sent to asia',
    })
  })

  test('event_type comes before channels where neither fits', async () => {
    await using fixture = await bootFixture()
    const { createEndpoint, publish } = fixture
    await createEndpoint({ event_types: ['a'], channels: ['eu'] })

    expect(await verdictOf(fixture, await publish({ channels: ['us'] }))).toMatchObject({
      verdict: 'event_type',
    })
  })

  test('later: the endpoint is younger', async () => {
    await using fixture = await bootFixture()
    const { createEndpoint, publish } = fixture
    const message = await publish()
    await createEndpoint()

    expect(await verdictOf(fixture, message)).toMatchObject({
      delivery_id: null,
      verdict: 'later',
      reason: expect.stringMatching(/created after the message.*replay/),
    })
  })

  test('sandbox: a live key would have delivered it', async () => {
    await using fixture = await bootFixture()
    const { app, acme, target } = fixture
    const sandbox = manage(app, (await acme.key('relay', 'test')).key, target.url)
    await sandbox.createEndpoint({ event_types: ['user.*'] })

    const verdict = await verdictOf(sandbox, await sandbox.publish())
    const other = await verdictOf(sandbox, await sandbox.publish({ event_type: 'other' }))

    expect(verdict).toMatchObject({
      delivery_id: null,
      verdict: 'sandbox',
      reason: 'the endpoint matched, but events sent with a test key are not delivered',
    })
    expect(other).toMatchObject({ verdict: 'event_type' })
    expect(target.requests).toHaveLength(0)
  })

  test('an endpoint that was deleted, and was sent nothing, is not told of', async () => {
    await using fixture = await bootFixture()
    const { createEndpoint, remove, publish, readMessage } = fixture
    const endpoint = await createEndpoint({ event_types: ['a'] })
    const message = await publish()
    await remove(endpoint)

    expect((await readMessage(message)).endpoints).toEqual([])
  })
})

describe('the filter of that time is what counts', () => {
  test('where it has come to match since', async () => {
    await using fixture = await bootFixture()
    const { createEndpoint, change, publish } = fixture
    const endpoint = await createEndpoint({ event_types: ['old'] })
    const first = await publish()
    await change(endpoint, { event_types: ['older'] })
    const second = await publish()
    await change(endpoint, { event_types: null, channels: ['eu'] })
    const third = await publish({ channels: ['us'] })
    await change(endpoint, { channels: [] })
    const fourth = await publish()

    const again = '; to send it, start a replay'
    expect(await reasonOf(fixture, first)).toBe(
      `the endpoint was subscribed to old, not to user.created${again}`,
    )
    expect(await reasonOf(fixture, second)).toBe(
      `the endpoint was subscribed to older, not to user.created${again}`,
    )
    expect(await verdictOf(fixture, third)).toMatchObject({ verdict: 'channels' })
    expect(await verdictOf(fixture, fourth)).toMatchObject({ verdict: 'succeeded' })
  })

  test('where it has ceased to match since', async () => {
    await using fixture = await bootFixture()
    const { createEndpoint, change, publish } = fixture
    const endpoint = await createEndpoint()
    const message = await publish()
    await change(endpoint, { event_types: ['other'] })

    expect(await verdictOf(fixture, message)).toMatchObject({ verdict: 'succeeded' })
  })

  test('where several changes lie between two messages, the last', async () => {
    await using fixture = await bootFixture()
    const { createEndpoint, change, publish } = fixture
    const endpoint = await createEndpoint({ event_types: ['a'] })
    await publish({ event_type: 'a' })
    for (const type of ['b', 'c', 'd']) await change(endpoint, { event_types: [type] })

    expect(await reasonOf(fixture, await publish())).toBe(
      'the endpoint was subscribed to d, not to user.created',
    )
  })

  test('where all messages before it have been cleared away', async () => {
    await using fixture = await bootFixture()
    const { app, createEndpoint, change, publish, clock } = fixture
    await publish()
    const endpoint = await createEndpoint({ event_types: ['old'] })
    clock.jump(31 * DAY)
    await app.platform.retention.sweep()

    await change(endpoint, { event_types: ['new'] })

    expect(await reasonOf(fixture, await publish())).toBe(
      'the endpoint was subscribed to new, not to user.created',
    )
  })

  test('where the same filter has been written again and again', async () => {
    await using fixture = await bootFixture()
    const { app, createEndpoint, change, publish } = fixture
    const endpoint = await createEndpoint({ event_types: ['a'] })
    const message = await publish()
    for (let n = 0; n < 101; n++) {
      copyMessage(app, message, 1)
      app.db.client.run(`update messages set id = ? where id = ?`, [`n-${n}`, `${message.id}-1`])
      await change(endpoint, { event_types: ['a'] })
    }

    expect(await verdictOf(fixture, message)).toMatchObject({ verdict: 'event_type' })
  })

  test('no change of anything else is taken for one of the filter', async () => {
    await using fixture = await bootFixture()
    const { createEndpoint, change, publish } = fixture
    const endpoint = await createEndpoint({ event_types: ['a'] })
    const message = await publish()
    await change(endpoint, { description: 'x', format: 'raw', active: false })

    expect(await verdictOf(fixture, message)).toMatchObject({ verdict: 'event_type' })
  })
})

test('after a hundred changes the first filter is forgotten, and older messages are told apart', async () => {
  await using fixture = await bootFixture()
  const { createEndpoint, change, publish, clock } = fixture
  const older = await publish()
  await clock.advance(SECOND)
  const endpoint = await createEndpoint({ event_types: ['first'] })
  const message = await publish()
  const changeOnce = async (n: number) => {
    await change(endpoint, { event_types: [`other.${n}`] })
    await publish({ event_type: 'unheard' })
  }

  for (let n = 1; n <= 99; n++) await changeOnce(n)
  expect(await verdictOf(fixture, message)).toMatchObject({
    verdict: 'event_type',
    reason: 'the endpoint was subscribed to first, not to user.created',
  })
  await changeOnce(100)

  expect(await verdictOf(fixture, message)).toMatchObject({
    delivery_id: null,
    verdict: 'forgotten',
    reason: 'the filters that the endpoint had then are no longer stored',
  })
  expect(await verdictOf(fixture, older)).toMatchObject({
    verdict: 'later',
    reason: 'the endpoint was created after the message',
  })
  await change(endpoint, { event_types: null })
  for (const one of [message, older])
    expect(await reasonOf(fixture, one)).toEndWith('; to send it, start a replay')
})

test('a replay is spoken of exactly where it would send the message', async () => {
  await using fixture = await bootFixture()
  const { createEndpoint, change, publish, dryRun, clock } = fixture
  const messages: Json[] = []
  async function publishAll() {
    for (const fields of [{}, { channels: ['eu'] }, { event_type: 'a.b' }]) {
      messages.push(await publish(fields))
      await clock.advance(SECOND)
    }
  }
  await publishAll()
  const endpoint = await createEndpoint({ event_types: ['nothing'] })
  await publishAll()
  await change(endpoint, { event_types: null, channels: ['us'] })
  await publishAll()

  const spokenOf: number[] = []
  for (const filter of [
    { event_types: ['nothing'], channels: [] },
    { event_types: ['user.*'], channels: [] },
    { event_types: ['user.*'], channels: ['eu'] },
    { event_types: ['a.b'], channels: [] },
    { event_types: null, channels: ['us'] },
    { event_types: null, channels: [] },
  ]) {
    await change(endpoint, filter)
    const told = await Promise.all(
      messages.map(async (message) => (await reasonOf(fixture, message)).includes('replay')),
    )
    const counted = await Promise.all(
      messages.map(({ timestamp }) =>
        dryRun(endpoint, { since: timestamp, until: isoAt(Date.parse(timestamp) + 1) }),
      ),
    )
    expect(told.map(Number)).toEqual(counted)
    spokenOf.push(told.filter(Boolean).length)
  }

  expect(spokenOf).toEqual([0, 5, 5, 2, 4, 7])
})

test('every endpoint of the environment has its verdict, and of nobody else', async () => {
  await using fixture = await bootFixture(WITHOUT_RETRIES)
  const { app, acme, createEndpoint, publish, readMessage, target } = fixture
  const other = manage(app, (await (await app.tenant('Other')).key('relay')).key, target.url)
  const sandbox = manage(app, (await acme.key('relay', 'test')).key, target.url)
  await other.createEndpoint()
  await sandbox.createEndpoint()
  target.answers(({ path }) => new Response('', { status: path === '/hook/bad' ? 500 : 200 }))
  const expected = {
    [(await createEndpoint()).id]: 'succeeded',
    [(await createEndpoint({ url: `${target.url}/bad` })).id]: 'failed',
    [(await createEndpoint({ active: false })).id]: 'held',
    [(await createEndpoint({ event_types: ['a'] })).id]: 'event_type',
    [(await createEndpoint({ channels: ['a'] })).id]: 'channels',
  }
  const message = await publish({ channels: ['b'] })
  expected[(await createEndpoint()).id] = 'later'

  const { endpoints } = await readMessage(message)

  expect(
    Object.fromEntries(endpoints.map(({ endpoint_id, verdict }: Json) => [endpoint_id, verdict])),
  ).toEqual(expected)
})

test('a message is read with its payload, channels and idempotency key', async () => {
  await using fixture = await bootFixture()
  const { publish, readMessage } = fixture
  const message = await publish({
    payload: { a: [1, { b: null }] },
    channels: ['eu', 'eu', 'us'],
    idempotency_key: 'k-1',
  })

  expect(await readMessage(message)).toEqual({
    ...message,
    payload: { a: [1, { b: null }] },
    channels: ['eu', 'us'],
    idempotency_key: 'k-1',
    endpoints: [],
  })
  expect(await readMessage(await publish())).toMatchObject({ channels: [], idempotency_key: null })
})

test('a message of another tenant or environment, or none at all, is not found', async () => {
  await using fixture = await bootFixture()
  const { app, acme, api, publish, target } = fixture
  const { id } = await publish()
  const other = manage(app, (await (await app.tenant('Other')).key('relay')).key, target.url)
  const sandbox = manage(app, (await acme.key('relay', 'test')).key, target.url)

  for (const answer of [
    await other.api.get(`${MESSAGES}/${id}`),
    await sandbox.api.get(`${MESSAGES}/${id}`),
    await api.get(`${MESSAGES}/nothing`),
    await other.api.get(`${MESSAGES}/${id}/deliveries`),
  ])
    expect(answer).toMatchObject({ status: 404, body: { error: { code: 'not_found' } } })
})
