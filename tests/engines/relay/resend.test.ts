import { expect, test } from 'bun:test'
import { copyRows, type Json, type Party, refusal, storyOf, useRelay } from './fixture.ts'
import { count, DELIVERIES, MINUTE, SECOND } from './support.ts'

// Steps between states are in tests/delivery/transitions.test.ts.

const { newTenant } = await useRelay()

/** A delivery whose first attempt has failed: the next is due 5 s later. */
async function waiting(relay: Party) {
  const endpoint = await relay.createEndpoint()
  relay.target.answers(500)
  const [delivery] = await relay.deliveriesOf(await relay.deliver())
  const next_attempt_at = relay.at(5)
  expect(delivery).toMatchObject({ status: 'retrying', attempts: 1, next_attempt_at })
  return { endpoint, delivery }
}

/** A delivery whose first attempt is not answered yet. */
async function underWay(relay: Party) {
  const held = relay.target.hold()
  const endpoint = await relay.createEndpoint()
  const message = await relay.send()
  await held.arrived(1)
  const [delivery] = await relay.deliveriesOf(message)
  expect(delivery).toMatchObject({ status: 'delivering', attempts: 0 })
  return { endpoint, held, delivery }
}

const storyIn = async ({ readDelivery }: Party, delivery: Json) =>
  storyOf(await readDelivery(delivery))

async function resendAndRest({ resend, rest }: Party, delivery: Json) {
  const answer = await resend(delivery)
  await rest()
  return answer
}

const cancel = ({ api }: Party, { id }: Json) => api.post(`${DELIVERIES}/${id}/cancel`)

test('A resend before a retry leaves the schedule as it was if it fails, and ends it if not', async () => {
  const relay = await newTenant()
  const { clock, readDelivery, target, at } = relay
  const { delivery } = await waiting(relay)
  await clock.advance(2 * SECOND)
  target.answers(429, { 'retry-after': '3600' })

  const answer = await resendAndRest(relay, delivery)
  expect(answer).toMatchObject({ id: delivery.id, run: 1, attempts: 1 })
  const { attempt_log, request_body: _, ...after } = await readDelivery(delivery)
  expect(after).toEqual({ ...delivery, attempts: 2 })
  const resent = { run: 1, number: 2, trigger: 'resend', status: 'failed' }
  expect(attempt_log.at(-1)).toMatchObject({ ...resent, next_attempt_at: at(5) })

  target.answers(500)
  await clock.advance(10 * SECOND)
  expect(await readDelivery(delivery)).toMatchObject({ next_attempt_at: at(65) })
  target.answers(200)
  await resendAndRest(relay, delivery)
  await clock.advance(10 * MINUTE)
  expect(await storyIn(relay, delivery)).toEqual([
    ['schedule', 0, 'failed'],
    ['resend', 2, 'failed'],
    ['schedule', 5, 'failed'],
    ['resend', 12, 'succeeded'],
  ])
  const end = { status: 'succeeded', run: 1, attempts: 4, ended_at: at(12) }
  expect(await readDelivery(delivery)).toMatchObject({ ...end, next_attempt_at: null })
})

test('A retry that is due during a resend follows it', async () => {
  const relay = await newTenant()
  const { delivery } = await waiting(relay)
  const held = relay.target.hold()
  await relay.resend(delivery)
  await held.arrived(2)
  relay.clock.spend(8 * SECOND)
  relay.target.answers(500)
  held.release(500)
  await relay.rest()
  await relay.clock.advance(0)
  expect(await storyIn(relay, delivery)).toEqual([
    ['schedule', 0, 'failed'],
    ['resend', 0, 'failed'],
    ['schedule', 8, 'failed'],
  ])
})

test('A resend costs no retry and does not open the breaker, however often it fails', async () => {
  const relay = await newTenant()
  const { endpoint, delivery } = await waiting(relay)
  for (let n = 0; n < 5; n++) await resendAndRest(relay, delivery)
  const health = { breaker: 'closed', failures_in_a_row: 1 }
  expect(await relay.healthOf(endpoint)).toMatchObject(health)
  const after = { next_attempt_at: relay.at(5), attempts: 6 }
  expect(await relay.readDelivery(delivery)).toMatchObject(after)
})

test('A resend during an attempt follows it immediately if it fails, and the schedule continues', async () => {
  const relay = await newTenant()
  const { held, delivery } = await underWay(relay)
  expect(await relay.resend(delivery)).toMatchObject({ status: 'delivering' })
  relay.target.answers(500)
  held.release(500)
  await relay.rest()
  const next = { status: 'retrying', attempts: 2, next_attempt_at: relay.at(5) }
  expect(await relay.readDelivery(delivery)).toMatchObject(next)
  await relay.clock.advance(5 * SECOND)
  expect(await storyIn(relay, delivery)).toEqual([
    ['schedule', 0, 'failed'],
    ['resend', 0, 'failed'],
    ['schedule', 5, 'failed'],
  ])
})

test('A resend after a success begins a new run with its whole schedule, and the same bytes', async () => {
  const relay = await newTenant()
  const { clock, readDelivery, target, at } = relay
  await relay.createEndpoint()
  const delivery = await relay.deliveryOf(await relay.deliver())
  await clock.advance(SECOND)
  expect(await resendAndRest(relay, delivery)).toMatchObject({ run: 2, ended_at: null })
  expect(await readDelivery(delivery)).toMatchObject({ status: 'succeeded', run: 2, attempts: 2 })
  target.answers(500)
  await resendAndRest(relay, delivery)
  const third = { status: 'retrying', run: 3, attempts: 3, ended_at: null }
  expect(await readDelivery(delivery)).toMatchObject({ ...third, next_attempt_at: at(6) })
  await clock.advance(65 * SECOND)
  const triggers = ['schedule', 'resend', 'resend', 'schedule', 'schedule']
  expect(relay.headers('x-service-trigger')).toEqual(triggers)
  expect(await storyIn(relay, delivery)).toEqual([
    ['schedule', 0, 'succeeded'],
    ['resend', 1, 'succeeded'],
    ['resend', 1, 'failed'],
    ['schedule', 6, 'failed'],
    ['schedule', 66, 'failed'],
  ])
  expect(new Set(target.requests.map(({ body }) => body)).size).toBe(1)
})

test('A resend after a delivery was discarded or cancelled begins a new run', async () => {
  const relay = await newTenant()
  const { change, deliver, deliveryOf, readDelivery } = relay
  const endpoint = await relay.createEndpoint({ active: false })
  const discarded = await deliveryOf(await deliver())
  await change(endpoint, { active: true, held: 'discard' })
  await change(endpoint, { active: false })
  const cancelled = await deliveryOf(await deliver())
  await cancel(relay, cancelled)
  await change(endpoint, { active: true })
  const after = { status: 'succeeded', run: 2, attempts: 1 }
  for (const delivery of [discarded, cancelled]) {
    expect(await readDelivery(delivery)).toMatchObject({ status: 'cancelled' })
    await resendAndRest(relay, delivery)
    expect(await readDelivery(delivery)).toMatchObject(after)
  }
})

test('A resend to a paused or deleted endpoint is refused', async () => {
  const relay = await newTenant()
  const { endpoint, delivery } = await waiting(relay)
  for (const stop of [
    () => relay.change(endpoint, { active: false }),
    () => relay.remove(endpoint),
  ]) {
    await stop()
    const before = await relay.readDelivery(delivery)
    const answer = await relay.api.post(`${DELIVERIES}/${delivery.id}/resend`)
    expect(answer).toMatchObject(refusal(409, 'conflict'))
    await relay.rest()
    expect(await relay.readDelivery(delivery)).toEqual(before)
  }
  expect(relay.target.requests).toHaveLength(1)
})

test('Cancelling ends what waits and what is held, and counts as cancelled', async () => {
  const relay = await newTenant()
  const { change, target, at } = relay
  const { endpoint, delivery } = await waiting(relay)
  const paused = await relay.createEndpoint({ active: false })
  await change(endpoint, { event_types: ['a'] })
  const held = await relay.deliveryOf(await relay.deliver())
  expect(held).toMatchObject({ status: 'held' })

  const body = { status: 'cancelled', attempts: 1, next_attempt_at: null, ended_at: at(0) }
  expect(await cancel(relay, delivery)).toMatchObject({ status: 200, body })
  expect(await cancel(relay, held)).toMatchObject({ body: { status: 'cancelled' } })
  const ended = await relay.readDelivery(delivery)
  expect(await cancel(relay, delivery)).toMatchObject(refusal(409, 'conflict'))
  expect(await relay.readDelivery(delivery)).toEqual(ended)

  await change(paused, { active: true })
  await relay.clock.advance(10 * MINUTE)
  expect(target.requests).toHaveLength(1)
  const counts = { failed: 1, cancelled: 1, exhausted: 0 }
  expect(await relay.statsOf(endpoint)).toMatchObject([counts])
})

test.each([
  [200, 'succeeded', 0],
  [500, 'cancelled', 1],
])('Cancelling during an attempt answered with %i leaves it %s', async (status, end, cancelled) => {
  const relay = await newTenant()
  const { endpoint, held, delivery } = await underWay(relay)
  await relay.resend(delivery)
  expect(await cancel(relay, delivery)).toMatchObject({ body: { status: 'delivering' } })
  held.release(status)
  await relay.rest()
  await relay.clock.advance(MINUTE)
  expect(await relay.readDelivery(delivery)).toMatchObject({ status: end, attempts: 1 })
  expect(await relay.statsOf(endpoint)).toMatchObject([{ cancelled }])
  expect(relay.target.requests).toHaveLength(1)
})

test('The last 100 attempts of a delivery are kept, and what they sent is shown once', async () => {
  const relay = await newTenant()
  await relay.createEndpoint()
  const delivery = await relay.deliveryOf(await relay.deliver({ payload: { mark: 'only-once' } }))
  const { seq } = relay.app.db.client.query('select max(seq) as seq from attempts').get() as Json
  const changed = { number: 'i + 1' }
  copyRows(relay.app, 'attempts', 99, changed, `seq = ${seq}`)
  relay.app.db.client.run(`update deliveries set attempts = 100 where id = '${delivery.id}'`)
  await resendAndRest(relay, delivery)

  const { attempt_log, ...read } = await relay.readDelivery(delivery)
  expect(read).toMatchObject({ attempts: 101, request_body: relay.target.requests[0]?.body })
  const numbers = attempt_log.map(({ number }: Json) => number)
  expect(numbers).toEqual(Array.from({ length: 100 }, (_, n) => 2 + n))
  expect(count(relay.app, `attempts where tenant_id = '${relay.id}'`)).toBe(100)
  expect(JSON.stringify({ attempt_log, read }).split('only-once')).toHaveLength(2)
})
