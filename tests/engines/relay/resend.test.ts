import { describe, expect, test } from 'bun:test'
import { holdAnswers } from '../clockwork/support.ts'
import {
  answerWith,
  bootFixture,
  count,
  DELIVERIES,
  type Fixture,
  HOUR,
  isoAt,
  type Json,
  MINUTE,
  manage,
  refusal,
  SECOND,
  START,
  typesOf,
  WITHOUT_RETRIES,
} from './management.ts'

const at = (seconds: number) => isoAt(START + seconds * SECOND)

const theDelivery = async ({ deliveriesOf }: Fixture, message: Json) =>
  (await deliveriesOf(message))[0]

/** A delivery whose first attempt has failed: the next is due 5 s later. */
async function waiting(fixture: Fixture) {
  const { createEndpoint, publish, target } = fixture
  const endpoint = await createEndpoint()
  target.answers(answerWith(500))
  const delivery = await theDelivery(fixture, await publish())
  expect(delivery).toMatchObject({ status: 'retrying', attempts: 1, next_attempt_at: at(5) })
  return { endpoint, delivery }
}

/** `[trigger, seconds, result]` of each attempt, oldest first. */
async function storyOf({ readDelivery }: Fixture, delivery: Json) {
  const { attempt_log } = await readDelivery(delivery)
  return attempt_log.map(({ trigger, started_at, status }: Json) => [
    trigger,
    (Date.parse(started_at) - START) / SECOND,
    status,
  ])
}

describe('of a delivery that waits for its retry', () => {
  test('a failure leaves the schedule exactly as it was', async () => {
    await using fixture = await bootFixture()
    const { clock, resend, readDelivery, settle } = fixture
    const { delivery } = await waiting(fixture)
    await clock.advance(2 * SECOND)

    await resend(delivery)
    await settle()

    const { attempt_log, request_body: _, ...after } = await readDelivery(delivery)
    expect(after).toEqual({ ...delivery, attempts: 2 })
    expect(attempt_log.at(-1)).toMatchObject({
      run: 1,
      number: 2,
      trigger: 'resend',
      status: 'failed',
      next_attempt_at: at(5),
    })
    await clock.advance(70 * SECOND)
    expect(await storyOf(fixture, delivery)).toEqual([
      ['schedule', 0, 'failed'],
      ['resend', 2, 'failed'],
      ['schedule', 5, 'failed'],
      ['schedule', 65, 'failed'],
    ])
    expect(await readDelivery(delivery)).toMatchObject({ next_attempt_at: at(365) })
  })

  test('a success ends it', async () => {
    await using fixture = await bootFixture()
    const { clock, resend, readDelivery, settle, target } = fixture
    const { delivery } = await waiting(fixture)
    await clock.advance(2 * SECOND)
    target.answers(answerWith(200))

    await resend(delivery)
    await settle()

    expect(await readDelivery(delivery)).toMatchObject({
      status: 'succeeded',
      run: 1,
      attempts: 2,
      next_attempt_at: null,
      ended_at: at(2),
    })
    await clock.advance(10 * MINUTE)
    expect(target.requests).toHaveLength(2)
  })

  test('Retry-After of a failure does not move the schedule either', async () => {
    await using fixture = await bootFixture()
    const { resend, readDelivery, settle, target } = fixture
    const { delivery } = await waiting(fixture)
    target.answers(answerWith(429, { 'retry-after': '3600' }))

    await resend(delivery)
    await settle()

    expect(await readDelivery(delivery)).toMatchObject({ next_attempt_at: at(5) })
  })

  test('any number of failures costs no retry of the schedule', async () => {
    await using fixture = await bootFixture({ flags: { 'relay-breaker-failures': '100' } })
    const { clock, resend, readDelivery, settle, target } = fixture
    const { delivery } = await waiting(fixture)
    for (let n = 0; n < 12; n++) {
      await resend(delivery)
      await settle()
    }
    expect(target.requests).toHaveLength(13)
    expect(await readDelivery(delivery)).toMatchObject({ next_attempt_at: at(5), attempts: 13 })

    await clock.advance(70 * SECOND)

    expect((await storyOf(fixture, delivery)).slice(-2)).toEqual([
      ['schedule', 5, 'failed'],
      ['schedule', 65, 'failed'],
    ])
  })

  test('the schedule stands still where the attempt lasts beyond the time of the retry', async () => {
    await using fixture = await bootFixture()
    const { app, clock, resend, settle, target } = fixture
    const { delivery } = await waiting(fixture)
    const held = holdAnswers(target)
    await resend(delivery)
    await held.arrived(2)
    clock.jump(8 * SECOND)
    target.answers(answerWith(200))

    held.release(500)
    await settle()
    await clock.advance(5 * SECOND)
    await app.delivery.idle()

    expect(await storyOf(fixture, delivery)).toEqual([
      ['schedule', 0, 'failed'],
      ['resend', 0, 'failed'],
      ['schedule', expect.any(Number), 'succeeded'],
    ])
  })

  test('410 ends it like any other', async () => {
    await using fixture = await bootFixture()
    const { clock, resend, readDelivery, readEndpoint, settle, target } = fixture
    const { endpoint, delivery } = await waiting(fixture)
    target.answers(answerWith(410))

    await resend(delivery)
    await settle()
    await clock.advance(10 * SECOND)

    expect(await readDelivery(delivery)).toMatchObject({ status: 'failed', attempts: 2 })
    expect(await readEndpoint(endpoint)).toMatchObject({ disabled_reason: 'gone' })
    expect(target.requests).toHaveLength(2)
  })

  test('answers with the delivery as it stands in line', async () => {
    await using fixture = await bootFixture()
    const { resend, settle } = fixture
    const { delivery } = await waiting(fixture)

    expect(await resend(delivery)).toMatchObject({
      id: delivery.id,
      message_id: delivery.message_id,
      endpoint_id: delivery.endpoint_id,
      run: 1,
      attempts: 1,
    })
    await settle()
  })
})

describe('of a delivery that the breaker holds', () => {
  /** The breaker is open for 30 s, and one more message has come. */
  async function held(fixture: Fixture) {
    const { createEndpoint, publish, readEndpoint, target } = fixture
    const endpoint = await createEndpoint()
    target.answers(answerWith(500))
    await publish({ event_type: 'first' })
    const delivery = await theDelivery(fixture, await publish({ event_type: 'second' }))
    const { health } = await readEndpoint(endpoint)
    expect(delivery).toMatchObject({ status: 'held', held_reason: 'breaker' })
    expect(health).toMatchObject({ breaker: 'open', open_until: at(30) })
    return { endpoint, delivery }
  }

  const options = { flags: { 'relay-breaker-failures': '1' } }

  test('a failure leaves it held, and the breaker open as long as before', async () => {
    await using fixture = await bootFixture(options)
    const { resend, readDelivery, readEndpoint, settle, clock, target } = fixture
    const { endpoint, delivery } = await held(fixture)

    await resend(delivery)
    await settle()
    await clock.advance(20 * SECOND)

    const { attempt_log, request_body: _, ...after } = await readDelivery(delivery)
    expect(after).toEqual({ ...delivery, attempts: 1 })
    expect(attempt_log).toMatchObject([{ trigger: 'resend', status: 'failed' }])
    expect((await readEndpoint(endpoint)).health).toMatchObject({ open_until: at(30) })
    expect(target.requests).toHaveLength(2)
  })

  test('a success closes the breaker and lets the others go', async () => {
    await using fixture = await bootFixture(options)
    const { resend, readDelivery, readEndpoint, settle, clock, target } = fixture
    const { endpoint, delivery } = await held(fixture)
    await clock.advance(10 * SECOND)
    target.answers(answerWith(200))

    await resend(delivery)
    await settle()
    await clock.advance(SECOND)

    expect(await readDelivery(delivery)).toMatchObject({ status: 'succeeded', attempts: 1 })
    expect((await readEndpoint(endpoint)).health.breaker).not.toBe('open')
    expect(typesOf(target.requests)).toEqual(['first', 'second', 'first'])
  })
})

describe('while an attempt is under way', () => {
  /** The first attempt has arrived and is not answered. */
  async function underWay(fixture: Fixture) {
    const { createEndpoint, accept, target } = fixture
    const answers = holdAnswers(target)
    await createEndpoint()
    const message = await accept()
    await answers.arrived(1)
    const delivery = await theDelivery(fixture, message)
    expect(delivery).toMatchObject({ status: 'delivering', attempts: 0 })
    return { answers, delivery }
  }

  test('another follows at once should that one fail, and the schedule after it', async () => {
    await using fixture = await bootFixture()
    const { resend, readDelivery, settle, clock, target } = fixture
    const { answers, delivery } = await underWay(fixture)

    expect(await resend(delivery)).toMatchObject({ status: 'delivering' })
    target.answers(answerWith(500))
    answers.release(500)
    await settle()

    expect(await readDelivery(delivery)).toMatchObject({
      status: 'retrying',
      attempts: 2,
      next_attempt_at: at(5),
    })
    await clock.advance(5 * SECOND)
    expect(await storyOf(fixture, delivery)).toEqual([
      ['schedule', 0, 'failed'],
      ['resend', 0, 'failed'],
      ['schedule', 5, 'failed'],
    ])
  })

  test('none follows should that one succeed', async () => {
    await using fixture = await bootFixture()
    const { resend, readDelivery, settle, clock, target } = fixture
    const { answers, delivery } = await underWay(fixture)

    await resend(delivery)
    answers.release(200)
    await settle()
    await clock.advance(MINUTE)

    expect(await readDelivery(delivery)).toMatchObject({ status: 'succeeded', attempts: 1 })
    expect(target.requests).toHaveLength(1)
  })

  test('that was the last of the schedule, another run begins', async () => {
    await using fixture = await bootFixture(WITHOUT_RETRIES)
    const { resend, readDelivery, settle, target } = fixture
    const { answers, delivery } = await underWay(fixture)

    await resend(delivery)
    target.answers(answerWith(200))
    answers.release(500)
    await settle()

    expect(await readDelivery(delivery)).toMatchObject({
      status: 'succeeded',
      run: 2,
      attempts: 2,
      attempt_log: [
        { run: 1, trigger: 'schedule', status: 'failed' },
        { run: 2, trigger: 'resend', status: 'succeeded' },
      ],
    })
  })

  test('that was resent itself, another follows all the same', async () => {
    await using fixture = await bootFixture()
    const { resend, readDelivery, settle, target } = fixture
    const { delivery } = await waiting(fixture)
    const answers = holdAnswers(target)
    await resend(delivery)
    await answers.arrived(2)

    await resend(delivery)
    target.answers(answerWith(500))
    answers.release(500)
    await settle()

    expect(await storyOf(fixture, delivery)).toEqual([
      ['schedule', 0, 'failed'],
      ['resend', 0, 'failed'],
      ['resend', 0, 'failed'],
    ])
    expect(await readDelivery(delivery)).toMatchObject({ next_attempt_at: at(5) })
  })
})

describe('of a delivery that has ended, a new run begins with its whole schedule', () => {
  test('after a success', async () => {
    await using fixture = await bootFixture()
    const { createEndpoint, publish, resend, readDelivery, settle, clock, target } = fixture
    await createEndpoint()
    const delivery = await theDelivery(fixture, await publish())
    expect(delivery).toMatchObject({ status: 'succeeded' })
    target.answers(answerWith(500))
    await clock.advance(SECOND)

    await resend(delivery)
    await settle()
    expect(await readDelivery(delivery)).toMatchObject({
      status: 'retrying',
      run: 2,
      attempts: 2,
      ended_at: null,
      next_attempt_at: at(6),
    })
    await clock.advance(65 * SECOND)

    expect(await storyOf(fixture, delivery)).toEqual([
      ['schedule', 0, 'succeeded'],
      ['resend', 1, 'failed'],
      ['schedule', 6, 'failed'],
      ['schedule', 66, 'failed'],
    ])
  })

  test('after all attempts have failed', async () => {
    await using fixture = await bootFixture({ flags: { 'relay-retry-delays': '5s' } })
    const { resend, readDelivery, settle, clock, target } = fixture
    const { delivery } = await waiting(fixture)
    await clock.advance(5 * SECOND)
    expect(await readDelivery(delivery)).toMatchObject({ status: 'failed', attempts: 2 })

    await resend(delivery)
    await settle()
    expect(await readDelivery(delivery)).toMatchObject({
      status: 'retrying',
      run: 2,
      next_attempt_at: at(10),
    })
    target.answers(answerWith(200))
    await clock.advance(5 * SECOND)

    expect(await readDelivery(delivery)).toMatchObject({ status: 'succeeded', attempts: 4 })
  })

  test('after it was cancelled', async () => {
    await using fixture = await bootFixture()
    const { createEndpoint, change, publish, resend, readDelivery, settle } = fixture
    const endpoint = await createEndpoint({ active: false })
    const delivery = await theDelivery(fixture, await publish())
    await change(endpoint, { active: true, held: 'discard' })
    expect(await readDelivery(delivery)).toMatchObject({ status: 'cancelled' })

    await resend(delivery)
    await settle()

    expect(await readDelivery(delivery)).toMatchObject({ status: 'succeeded', run: 2, attempts: 1 })
  })

  test('twice over, both are sent', async () => {
    await using fixture = await bootFixture()
    const { createEndpoint, publish, resend, readDelivery, settle, target } = fixture
    await createEndpoint()
    const delivery = await theDelivery(fixture, await publish())

    for (const run of [2, 3]) {
      await resend(delivery)
      await settle()
      expect(await readDelivery(delivery)).toMatchObject({ run, attempts: run })
    }
    expect(new Set(target.requests.map(({ body }) => body)).size).toBe(1)
    expect(target.requests).toHaveLength(3)
  })

  test('it says until then that nothing has ended', async () => {
    await using fixture = await bootFixture()
    const { createEndpoint, publish, resend, settle } = fixture
    await createEndpoint()
    const delivery = await theDelivery(fixture, await publish())

    expect(await resend(delivery)).toMatchObject({ run: 2, ended_at: null })
    await settle()
  })
})

describe('a conflict that changes nothing', () => {
  test('where the endpoint is inactive', async () => {
    await using fixture = await bootFixture()
    const { api, change, readDelivery, settle, target } = fixture
    const { endpoint, delivery } = await waiting(fixture)
    await change(endpoint, { active: false })
    const before = await readDelivery(delivery)

    expect(await api.post(`${DELIVERIES}/${delivery.id}/resend`)).toMatchObject(
      refusal(409, 'conflict', 'not active'),
    )

    await settle()
    expect(await readDelivery(delivery)).toEqual(before)
    expect(target.requests).toHaveLength(1)
  })

  test('where the endpoint was deleted', async () => {
    await using fixture = await bootFixture()
    const { api, remove, readDelivery, settle, target } = fixture
    const { endpoint, delivery } = await waiting(fixture)
    await remove(endpoint)

    expect(await api.post(`${DELIVERIES}/${delivery.id}/resend`)).toMatchObject(
      refusal(409, 'conflict', 'deleted'),
    )

    await settle()
    expect(await readDelivery(delivery)).toMatchObject({ status: 'cancelled' })
    expect(target.requests).toHaveLength(1)
  })
})

test('a delivery of another tenant or environment, or none at all, is not found', async () => {
  await using fixture = await bootFixture()
  const { app, acme, api, target } = fixture
  const { delivery } = await waiting(fixture)
  const other = manage(app, (await (await app.tenant('Other')).key('relay')).key, target.url)
  const sandbox = manage(app, (await acme.key('relay', 'test')).key, target.url)

  for (const answer of [
    await other.api.post(`${DELIVERIES}/${delivery.id}/resend`),
    await sandbox.api.post(`${DELIVERIES}/${delivery.id}/resend`),
    await api.post(`${DELIVERIES}/nothing/resend`),
  ])
    expect(answer).toMatchObject(refusal(404, 'not_found', 'delivery'))
  expect(target.requests).toHaveLength(1)
})

test('failed resends, however many, do not open the breaker, which would move the schedule', async () => {
  await using fixture = await bootFixture({ flags: { 'relay-breaker-failures': '2' } })
  const { resend, readEndpoint, readDelivery, settle } = fixture
  const { endpoint, delivery } = await waiting(fixture)

  for (let n = 0; n < 5; n++) {
    await resend(delivery)
    await settle()
  }

  expect((await readEndpoint(endpoint)).health).toMatchObject({
    breaker: 'closed',
    failures_in_a_row: 1,
  })
  expect(await readDelivery(delivery)).toMatchObject({
    attempts: 6,
    next_attempt_at: delivery.next_attempt_at,
  })
})

test('an old delivery is sent with a signature of now', async () => {
  await using fixture = await bootFixture()
  const { createEndpoint, publish, resend, settle, clock, target } = fixture
  await createEndpoint()
  const delivery = await theDelivery(fixture, await publish())
  clock.jump(20 * 24 * HOUR)

  await resend(delivery)
  await settle()

  const seconds = target.requests.map(({ headers }) => Number(headers.get('webhook-timestamp')))
  expect((seconds[1] ?? 0) - (seconds[0] ?? 0)).toBe(20 * 24 * 3600)
  expect(target.requests[1]?.body).toBe(target.requests[0]?.body as string)
})

describe('cancelling instead', () => {
  const cancel = ({ api }: Fixture, { id }: Json) => api.post(`${DELIVERIES}/${id}/cancel`)

  test('ends what waits: no further attempt is made, and it counts as cancelled', async () => {
    await using fixture = await bootFixture()
    const { clock, readDelivery, statsOf, target } = fixture
    const { endpoint, delivery } = await waiting(fixture)

    expect(await cancel(fixture, delivery)).toMatchObject({
      status: 200,
      body: { status: 'cancelled', attempts: 1, next_attempt_at: null, ended_at: at(0) },
    })

    await clock.advance(10 * MINUTE)
    expect(target.requests).toHaveLength(1)
    expect(await readDelivery(delivery)).toMatchObject({ status: 'cancelled' })
    expect(await statsOf(endpoint)).toMatchObject([{ failed: 1, cancelled: 1, exhausted: 0 }])
  })

  test('ends what is held', async () => {
    await using fixture = await bootFixture()
    const { createEndpoint, change, publish, settle, target } = fixture
    const endpoint = await createEndpoint({ active: false })
    const delivery = await theDelivery(fixture, await publish())

    expect(await cancel(fixture, delivery)).toMatchObject({ body: { status: 'cancelled' } })
    await change(endpoint, { active: true })
    await settle()

    expect(target.requests).toHaveLength(0)
  })

  test.each([
    [200, 'succeeded', 0],
    [500, 'cancelled', 1],
  ])('an attempt under way that is answered %i leaves it %s', async (status, end, cancelled) => {
    await using fixture = await bootFixture()
    const { createEndpoint, accept, settle, clock, readDelivery, statsOf, target } = fixture
    const answers = holdAnswers(target)
    const endpoint = await createEndpoint()
    const message = await accept()
    await answers.arrived(1)
    const delivery = await theDelivery(fixture, message)

    expect(await cancel(fixture, delivery)).toMatchObject({ body: { status: 'delivering' } })
    answers.release(status)
    await settle()
    await clock.advance(MINUTE)

    expect(await readDelivery(delivery)).toMatchObject({ status: end, attempts: 1 })
    expect(await statsOf(endpoint)).toMatchObject([{ cancelled }])
    expect(target.requests).toHaveLength(1)
  })

  test('takes back a resend that was asked for meanwhile', async () => {
    await using fixture = await bootFixture()
    const { createEndpoint, accept, settle, resend, readDelivery, target } = fixture
    const answers = holdAnswers(target)
    await createEndpoint()
    const message = await accept()
    await answers.arrived(1)
    const delivery = await theDelivery(fixture, message)
    await resend(delivery)

    await cancel(fixture, delivery)
    answers.release(500)
    await settle()

    expect(await readDelivery(delivery)).toMatchObject({ status: 'cancelled', attempts: 1 })
  })

  test('is a conflict once it has ended, and not found where there is none', async () => {
    await using fixture = await bootFixture()
    const { createEndpoint, publish, readDelivery } = fixture
    await createEndpoint()
    const delivery = await theDelivery(fixture, await publish())

    expect(await cancel(fixture, delivery)).toMatchObject(refusal(409, 'conflict', 'succeeded'))
    expect(await readDelivery(delivery)).toMatchObject({ status: 'succeeded' })
    expect(await cancel(fixture, { id: 'nothing' })).toMatchObject(refusal(404, 'not_found'))
  })

  test('may be thought better of: a resend begins a new run', async () => {
    await using fixture = await bootFixture()
    const { readDelivery, resend, settle, target } = fixture
    const { delivery } = await waiting(fixture)
    await cancel(fixture, delivery)
    target.answers(answerWith(200))

    await resend(delivery)
    await settle()

    expect(await readDelivery(delivery)).toMatchObject({ status: 'succeeded', run: 2 })
  })
})

test('of the attempts at one delivery the last 100 are kept, and what they sent is shown once', async () => {
  await using fixture = await bootFixture()
  const { app, createEndpoint, publish, resend, settle, readDelivery, target } = fixture
  await createEndpoint()
  const delivery = await theDelivery(fixture, await publish({ payload: { mark: 'only-once' } }))
  const kept = async () =>
    (await readDelivery(delivery)).attempt_log.map(({ number }: Json) => number)
  const numbers = (from: number, to: number) =>
    Array.from({ length: to - from + 1 }, (_, n) => from + n)

  for (let n = 2; n <= 100; n++) {
    await resend(delivery)
    await settle()
  }
  expect(await kept()).toEqual(numbers(1, 100))
  for (let n = 101; n <= 103; n++) {
    await resend(delivery)
    await settle()
  }

  expect(await kept()).toEqual(numbers(4, 103))
  expect(count(app, 'attempts')).toBe(100)
  const read = await readDelivery(delivery)
  expect(read).toMatchObject({ attempts: 103, request_body: target.requests[0]?.body })
  expect(JSON.stringify(read).split('only-once')).toHaveLength(2)
})

test('who resends and who cancels is in the audit log, and nobody for what was refused', async () => {
  await using fixture = await bootFixture()
  const { app, acme, live, api, resend, settle } = fixture
  const { delivery } = await waiting(fixture)

  await resend(delivery)
  await settle()
  await api.post(`${DELIVERIES}/${delivery.id}/cancel`)
  expect(await api.post(`${DELIVERIES}/${delivery.id}/cancel`)).toMatchObject({ status: 409 })
  expect(await api.post(`${DELIVERIES}/nothing/resend`)).toMatchObject({ status: 404 })

  const rows = app.db.client
    .query(
      `select tenant_id, actor_kind, actor_id, action, object from audit_log
       where action like 'delivery.%' order by seq`,
    )
    .all()
  const by = {
    tenant_id: acme.id,
    actor_kind: 'key',
    actor_id: live.id,
    object: `delivery:${delivery.id}`,
  }
  expect(rows).toEqual([
    { ...by, action: 'delivery.resent' },
    { ...by, action: 'delivery.cancelled' },
  ])
})
