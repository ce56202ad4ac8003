import { describe, expect, test } from 'bun:test'
import { holdAnswers } from '../clockwork/support.ts'
import {
  answerWith,
  bootRelay,
  count,
  DAY,
  DELIVERIES,
  ENDPOINTS,
  type Json,
  MINUTE,
  type Party,
  refusal,
  SECOND,
  storyOf,
  useRelay,
  WITHOUT_RETRIES,
} from './fixture.ts'

const { newTenant } = await useRelay()

/** A delivery whose first attempt has failed: the next is due 5 s later. */
async function waiting({ createEndpoint, deliver, deliveriesOf, target, at }: Party) {
  const endpoint = await createEndpoint()
  target.answers(answerWith(500))
  const [delivery] = await deliveriesOf(await deliver())
  expect(delivery).toMatchObject({ status: 'retrying', attempts: 1, next_attempt_at: at(5) })
  return { endpoint, delivery }
}

/** A delivery whose first attempt is not answered yet. */
async function underWay({ createEndpoint, send, deliveriesOf, target }: Party) {
  const answers = holdAnswers(target)
  const endpoint = await createEndpoint()
  const message = await send()
  await answers.arrived(1)
  const [delivery] = await deliveriesOf(message)
  expect(delivery).toMatchObject({ status: 'delivering', attempts: 0 })
  return { endpoint, answers, delivery }
}

const storyIn = async ({ readDelivery }: Party, delivery: Json) =>
  storyOf(await readDelivery(delivery))

async function resendAndRest({ resend, rest }: Party, delivery: Json) {
  const answer = await resend(delivery)
  await rest()
  return answer
}

const cancel = ({ api }: Party, { id }: Json) => api.post(`${DELIVERIES}/${id}/cancel`)

describe('a resend of a delivery that waits for its retry', () => {
  test('leaves the schedule as it was if it fails, with Retry-After too', async () => {
    const party = await newTenant()
    const { clock, readDelivery, target, at } = party
    const { delivery } = await waiting(party)
    await clock.advance(2 * SECOND)
    target.answers(answerWith(429, { 'retry-after': '3600' }))

    const answer = await resendAndRest(party, delivery)

    expect(answer).toMatchObject({ id: delivery.id, run: 1, attempts: 1 })
    const { attempt_log, request_body: _, ...after } = await readDelivery(delivery)
    expect(after).toEqual({ ...delivery, attempts: 2 })
    expect(attempt_log.at(-1)).toMatchObject({
      run: 1,
      number: 2,
      trigger: 'resend',
      status: 'failed',
      next_attempt_at: at(5),
    })
    target.answers(answerWith(500))
    await clock.advance(70 * SECOND)
    expect(await storyIn(party, delivery)).toEqual([
      ['schedule', 0, 'failed'],
      ['resend', 2, 'failed'],
      ['schedule', 5, 'failed'],
      ['schedule', 65, 'failed'],
    ])
    expect(await readDelivery(delivery)).toMatchObject({ next_attempt_at: at(365) })
  })

  test('ends it if it succeeds', async () => {
    const party = await newTenant()
    const { clock, readDelivery, target, at } = party
    const { delivery } = await waiting(party)
    await clock.advance(2 * SECOND)
    target.answers(answerWith(200))

    await resendAndRest(party, delivery)

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

  test('costs no retry and does not open the breaker, however often it fails', async () => {
    await using relay = await bootRelay({ flags: { 'relay-breaker-failures': '2' } })
    const { clock, readDelivery, readEndpoint, at } = relay
    const { endpoint, delivery } = await waiting(relay)

    for (let n = 0; n < 12; n++) await resendAndRest(relay, delivery)

    expect((await readEndpoint(endpoint)).health).toMatchObject({
      breaker: 'closed',
      failures_in_a_row: 1,
    })
    expect(await readDelivery(delivery)).toMatchObject({ next_attempt_at: at(5), attempts: 13 })
    await clock.advance(5 * SECOND)
    expect((await storyIn(relay, delivery)).at(-1)).toEqual(['schedule', 5, 'failed'])
  })

  test('that lasts beyond the time of the retry puts that off', async () => {
    const party = await newTenant()
    const { clock, resend, target, rest } = party
    const { delivery } = await waiting(party)
    const held = holdAnswers(target)
    await resend(delivery)
    await held.arrived(2)
    clock.jump(8 * SECOND)
    target.answers(answerWith(200))

    held.release(500)
    await rest()
    await clock.advance(5 * SECOND)
    await rest()

    expect(await storyIn(party, delivery)).toEqual([
      ['schedule', 0, 'failed'],
      ['resend', 0, 'failed'],
      ['schedule', expect.any(Number), 'succeeded'],
    ])
  })

  test('ends it like any attempt if it is answered with 410', async () => {
    const party = await newTenant()
    const { clock, readDelivery, readEndpoint, target } = party
    const { endpoint, delivery } = await waiting(party)
    target.answers(answerWith(410))

    await resendAndRest(party, delivery)
    await clock.advance(10 * SECOND)

    expect(await readDelivery(delivery)).toMatchObject({ status: 'failed', attempts: 2 })
    expect(await readEndpoint(endpoint)).toMatchObject({ disabled_reason: 'gone' })
    expect(target.requests).toHaveLength(2)
  })
})

describe('a resend while an attempt is under way', () => {
  test('follows it immediately if it fails, and the schedule continues', async () => {
    const party = await newTenant()
    const { resend, readDelivery, clock, target, rest, at } = party
    const { answers, delivery } = await underWay(party)

    expect(await resend(delivery)).toMatchObject({ status: 'delivering' })
    target.answers(answerWith(500))
    answers.release(500)
    await rest()

    const next = { status: 'retrying', attempts: 2, next_attempt_at: at(5) }
    expect(await readDelivery(delivery)).toMatchObject(next)
    await clock.advance(5 * SECOND)
    expect(await storyIn(party, delivery)).toEqual([
      ['schedule', 0, 'failed'],
      ['resend', 0, 'failed'],
      ['schedule', 5, 'failed'],
    ])
  })

  test('is not made if that succeeds', async () => {
    const party = await newTenant()
    const { resend, readDelivery, clock, target, rest } = party
    const { answers, delivery } = await underWay(party)

    await resend(delivery)
    answers.release(200)
    await rest()
    await clock.advance(MINUTE)

    expect(await readDelivery(delivery)).toMatchObject({ status: 'succeeded', attempts: 1 })
    expect(target.requests).toHaveLength(1)
  })

  test('begins a new run if that was the last of the schedule', async () => {
    await using relay = await bootRelay(WITHOUT_RETRIES)
    const { resend, readDelivery, target, rest } = relay
    const { answers, delivery } = await underWay(relay)

    await resend(delivery)
    target.answers(answerWith(200))
    answers.release(500)
    await rest()

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

  test('follows another resend, too', async () => {
    const party = await newTenant()
    const { resend, readDelivery, target, rest, at } = party
    const { delivery } = await waiting(party)
    const answers = holdAnswers(target)
    await resend(delivery)
    await answers.arrived(2)

    await resend(delivery)
    target.answers(answerWith(500))
    answers.release(500)
    await rest()

    expect(await storyIn(party, delivery)).toEqual([
      ['schedule', 0, 'failed'],
      ['resend', 0, 'failed'],
      ['resend', 0, 'failed'],
    ])
    expect(await readDelivery(delivery)).toMatchObject({ next_attempt_at: at(5) })
  })
})

describe('a resend of a delivery that has ended begins a new run with its whole schedule', () => {
  test('after a success, as often as it is asked for, with the same bytes', async () => {
    const party = await newTenant()
    const { createEndpoint, deliver, deliveryOf, readDelivery, clock, target, at } = party
    await createEndpoint()
    const delivery = await deliveryOf(await deliver())
    await clock.advance(SECOND)
    expect(await resendAndRest(party, delivery)).toMatchObject({ run: 2, ended_at: null })
    expect(await readDelivery(delivery)).toMatchObject({ status: 'succeeded', run: 2, attempts: 2 })
    target.answers(answerWith(500))

    await resendAndRest(party, delivery)
    expect(await readDelivery(delivery)).toMatchObject({
      status: 'retrying',
      run: 3,
      attempts: 3,
      ended_at: null,
      next_attempt_at: at(6),
    })
    await clock.advance(65 * SECOND)

    expect(await storyIn(party, delivery)).toEqual([
      ['schedule', 0, 'succeeded'],
      ['resend', 1, 'succeeded'],
      ['resend', 1, 'failed'],
      ['schedule', 6, 'failed'],
      ['schedule', 66, 'failed'],
    ])
    expect(new Set(target.requests.map(({ body }) => body)).size).toBe(1)
  })

  test('after all attempts have failed', async () => {
    await using relay = await bootRelay({ flags: { 'relay-retry-delays': '5s' } })
    const { readDelivery, clock, target, at } = relay
    const { delivery } = await waiting(relay)
    await clock.advance(5 * SECOND)
    expect(await readDelivery(delivery)).toMatchObject({ status: 'failed', attempts: 2 })

    await resendAndRest(relay, delivery)
    const next = { status: 'retrying', run: 2, next_attempt_at: at(10) }
    expect(await readDelivery(delivery)).toMatchObject(next)
    target.answers(answerWith(200))
    await clock.advance(5 * SECOND)

    expect(await readDelivery(delivery)).toMatchObject({ status: 'succeeded', attempts: 4 })
  })

  test('after it was discarded or cancelled', async () => {
    const party = await newTenant()
    const { createEndpoint, change, deliver, deliveryOf, readDelivery } = party
    const endpoint = await createEndpoint({ active: false })
    const discarded = await deliveryOf(await deliver())
    await change(endpoint, { active: true, held: 'discard' })
    await change(endpoint, { active: false })
    const cancelled = await deliveryOf(await deliver())
    await cancel(party, cancelled)
    await change(endpoint, { active: true })

    for (const delivery of [discarded, cancelled]) {
      expect(await readDelivery(delivery)).toMatchObject({ status: 'cancelled' })
      await resendAndRest(party, delivery)
      const after = { status: 'succeeded', run: 2, attempts: 1 }
      expect(await readDelivery(delivery)).toMatchObject(after)
    }
  })
})

test.each(['paused', 'deleted'])('a resend to a %s endpoint is refused', async (what) => {
  const party = await newTenant()
  const { api, change, readDelivery, target, rest } = party
  const { endpoint, delivery } = await waiting(party)
  if (what === 'paused') await change(endpoint, { active: false })
  else await api.delete(`${ENDPOINTS}/${endpoint.id}`)
  const before = await readDelivery(delivery)

  const answer = await api.post(`${DELIVERIES}/${delivery.id}/resend`)

  expect(answer).toMatchObject(refusal(409, 'conflict'))
  await rest()
  expect(await readDelivery(delivery)).toEqual(before)
  expect(target.requests).toHaveLength(1)
})

test('a resend of an old delivery has a signature of its own time', async () => {
  await using relay = await bootRelay()
  const { createEndpoint, deliver, deliveryOf, clock, target } = relay
  await createEndpoint()
  const delivery = await deliveryOf(await deliver())
  clock.jump(20 * DAY)

  await resendAndRest(relay, delivery)

  const times = target.requests.map(({ headers }) => Number(headers.get('webhook-timestamp')))
  expect((times[1] ?? 0) - (times[0] ?? 0)).toBe((20 * DAY) / SECOND)
})

describe('cancelling', () => {
  test('ends what waits and what is held, and counts as cancelled', async () => {
    const party = await newTenant()
    const { clock, createEndpoint, change, deliver, deliveryOf, statsOf, target, at } = party
    const { endpoint, delivery } = await waiting(party)
    const paused = await createEndpoint({
      url: `${target.url}/b`,
      active: false,
      event_types: ['b'],
    })
    await change(endpoint, { event_types: ['a'] })
    const held = await deliveryOf(await deliver({ event_type: 'b' }))
    expect(held).toMatchObject({ status: 'held' })

    expect(await cancel(party, delivery)).toMatchObject({
      status: 200,
      body: { status: 'cancelled', attempts: 1, next_attempt_at: null, ended_at: at(0) },
    })
    expect(await cancel(party, held)).toMatchObject({ body: { status: 'cancelled' } })

    await change(paused, { active: true })
    await clock.advance(10 * MINUTE)
    expect(target.requests).toHaveLength(1)
    expect(await statsOf(endpoint)).toMatchObject([{ failed: 1, cancelled: 1, exhausted: 0 }])
  })

  test.each([
    [200, 'succeeded', 0],
    [500, 'cancelled', 1],
  ])('during an attempt answered with %i leaves it %s', async (status, end, cancelled) => {
    const party = await newTenant()
    const { clock, readDelivery, resend, statsOf, target, rest } = party
    const { endpoint, answers, delivery } = await underWay(party)
    await resend(delivery)

    expect(await cancel(party, delivery)).toMatchObject({ body: { status: 'delivering' } })
    answers.release(status)
    await rest()
    await clock.advance(MINUTE)

    expect(await readDelivery(delivery)).toMatchObject({ status: end, attempts: 1 })
    expect(await statsOf(endpoint)).toMatchObject([{ cancelled }])
    expect(target.requests).toHaveLength(1)
  })

  test('is refused once the delivery has ended', async () => {
    const party = await newTenant()
    const { createEndpoint, deliver, deliveryOf, readDelivery } = party
    await createEndpoint()
    const delivery = await deliveryOf(await deliver())

    expect(await cancel(party, delivery)).toMatchObject(refusal(409, 'conflict'))
    expect(await readDelivery(delivery)).toEqual(delivery)
  })
})

test('the last 100 attempts of a delivery are kept, and what they sent is shown once', async () => {
  await using relay = await bootRelay()
  const { app, createEndpoint, deliver, deliveryOf, readDelivery, target } = relay
  await createEndpoint()
  const delivery = await deliveryOf(await deliver({ payload: { mark: 'only-once' } }))

  for (let n = 2; n <= 100; n++) await resendAndRest(relay, delivery)
  expect((await readDelivery(delivery)).attempt_log).toHaveLength(100)
  for (let n = 101; n <= 103; n++) await resendAndRest(relay, delivery)

  const read = await readDelivery(delivery)
  expect(read).toMatchObject({ attempts: 103, request_body: target.requests[0]?.body })
  expect(read.attempt_log.map(({ number }: Json) => number)).toEqual(
    Array.from({ length: 100 }, (_, n) => 4 + n),
  )
  expect(count(app, 'attempts')).toBe(100)
  expect(JSON.stringify(read).split('only-once')).toHaveLength(2)
})

test('the audit log has who resent and cancelled, and nothing that was refused', async () => {
  const party = await newTenant()
  const { delivery } = await waiting(party)

  await resendAndRest(party, delivery)
  await cancel(party, delivery)
  expect(await cancel(party, delivery)).toMatchObject({ status: 409 })
  expect(await party.api.post(`${DELIVERIES}/nothing/resend`)).toMatchObject({ status: 404 })

  const rows = party.app.db.client
    .query(
      `select actor_kind, actor_id, action, object from audit_log
       where action like 'delivery.%' and tenant_id = ? order by seq`,
    )
    .all(party.id)
  const by = { actor_kind: 'key', actor_id: party.live.id, object: `delivery:${delivery.id}` }
  expect(rows).toEqual([
    { ...by, action: 'delivery.resent' },
    { ...by, action: 'delivery.cancelled' },
  ])
})
