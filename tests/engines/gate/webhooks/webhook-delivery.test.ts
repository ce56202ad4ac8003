import { describe, expect, test } from 'bun:test'
import { until } from '../../../support/binary.ts'
import { startTarget } from '../../../support/target.ts'
import { startRawTarget } from '../../clockwork/raw-target.ts'
import { advanceWaiting } from '../../clockwork/support.ts'
import { copyEndpoint, leap, relayOf } from '../../relay/fixture.ts'
import { silent } from '../../relay/receivers.ts'
import {
  HOUR,
  type Json,
  MINUTE,
  plain,
  SECOND,
  told,
  typesTold,
  UNKNOWN_ID,
  WEBHOOKS,
} from '../fixture.ts'
import {
  besides,
  eventIn,
  type Party,
  signersOf,
  useWebhooks,
  WEBHOOK_DELIVERIES,
} from './fixture.ts'

// How receivers can misbehave is in tests/engines/relay/receivers-that-fail.test.ts.
const newParty = await useWebhooks({ jitter: 0.999 })

/** `[number, milliseconds since the event, status]` of each attempt. */
const storyOf = ({ created_at, attempt_log }: Json): [number, number, string][] =>
  attempt_log.map(({ number, started_at, status }: Json) => [
    number,
    Date.parse(started_at) - Date.parse(created_at),
    status,
  ])

const THREE_FAILURES: [number, number, string][] = [
  [1, 0, 'failed'],
  [2, 1000, 'failed'],
  [3, 3000, 'failed'],
]

/** An event, and its delivery after all attempts. */
async function deliver(acme: Party): Promise<Json> {
  await acme.createWebhook(acme.target.url)
  await acme.createIdentity()
  await acme.toTheEnd()
  return acme.theDelivery()
}

/** The number of deliveries of each status. */
async function tally({ listDeliveries }: Party, query = {}) {
  const counts: Record<string, number> = {}
  for (const { status } of await listDeliveries(query)) counts[status] = (counts[status] ?? 0) + 1
  return counts
}

test('An answer below 300 is a success, whatever its headers', async () => {
  await using acme = await newParty()
  acme.target.answers(299, { 'webhook-delivery': 'disable' })
  const delivery = await deliver(acme)
  expect(delivery).toMatchObject({ status: 'succeeded', attempts: 1 })
  expect(delivery.attempt_log).toMatchObject([{ response: { status: 299 }, error: null }])
  expect(await acme.listWebhooks()).toMatchObject([{ active: true }])
})

test.each<[number, Record<string, string>]>([
  [410, {}],
  [429, { 'retry-after': '600' }],
  [500, { 'webhook-delivery': 'abort-message' }],
])('An answer of %i %j is tried again after 1 s and 2 s', async (status, headers) => {
  await using acme = await newParty()
  acme.target.answers(status, headers)
  const delivery = await deliver(acme)
  expect(storyOf(delivery)).toEqual(THREE_FAILURES)
  expect(delivery).toMatchObject({ status: 'failed', next_attempt_at: null })
  for (const { response } of delivery.attempt_log) expect(response.status).toBe(status)
  expect(await acme.listWebhooks()).toMatchObject([{ active: true }])
})

test('A receiver has 10 s to answer', async () => {
  await using acme = await newParty()
  await using target = await startRawTarget(silent)
  await acme.createWebhook(target.url)
  await acme.createIdentity()
  const attempts = async () => (await acme.theDelivery()).attempts
  await until(() => target.requests.length === 1)
  await advanceWaiting(acme.app, 10 * SECOND - 1)
  expect(await attempts()).toBe(0)
  await advanceWaiting(acme.app, 1)
  await until(async () => (await attempts()) === 1)
  const attempt = { error: { code: 'timeout' }, duration_ms: 10 * SECOND }
  expect((await acme.theDelivery()).attempt_log).toMatchObject([attempt])
})

describe('A paused webhook', () => {
  test('has its events held, and receives them from the oldest on when it is resumed', async () => {
    await using acme = await newParty()
    const { target } = acme
    const webhook = await acme.createWebhook(target.url)
    await acme.change(webhook, { active: false })
    const people: string[] = []
    for (let n = 0; n < 3; n++) people.push((await acme.createIdentity()).id)
    await leap(acme.app, HOUR)
    expect(target.requests).toEqual([])
    const rows = await acme.listDeliveries()
    const held = { status: 'held', held_reason: 'inactive', attempts: 0, ended_at: null }
    expect(rows).toMatchObject([held, held, held])
    const resent = await acme.api.post(`${WEBHOOK_DELIVERIES}/${rows[0].id}/resend`)
    expect(resent).toMatchObject(plain(409))
    await acme.change(webhook, { active: true })
    await acme.toTheEnd()
    const received = told(target).map(({ data }) => data.identity_id)
    // The others are sent at the same time, one of them on the connection of the first.
    expect(received[0]).toBe(people[0])
    expect(received.toSorted()).toEqual(people.toSorted())
    expect(await acme.listDeliveries({ status: 'succeeded' })).toHaveLength(3)
  })

  test('receives nothing about a deleted identity but the deletion', async () => {
    await using acme = await newParty()
    const webhook = await acme.createWebhook(acme.target.url, { active: false })
    await acme.removeIdentity(await acme.createIdentity())
    expect(await acme.theDelivery()).toMatchObject({ event_type: 'identity.deleted' })
    await acme.change(webhook, { active: true })
    await acme.toTheEnd()
    expect(typesTold(acme.target)).toEqual(['identity.deleted'])
  })
})

test('Deleting a webhook cancels its pending and held deliveries, and no others', async () => {
  await using acme = await newParty()
  await using other = await acme.another()
  for (const { target } of [acme, other]) target.answers(500)
  const failing = await acme.createWebhook(acme.target.url)
  const paused = await acme.createWebhook(acme.target.url, { active: false })
  await acme.createWebhook(other.target.url)
  await acme.createIdentity()
  await acme.rest()
  for (const webhook of [failing, paused]) expect(await acme.remove(webhook)).toBe('')
  await acme.createIdentity()
  await acme.toTheEnd()
  expect(await acme.listWebhooks()).toMatchObject([{ url: other.target.url }])
  const path = `${WEBHOOKS}/${failing.id}`
  for (const again of [
    await acme.api.delete(path),
    await acme.api.patch(path, { active: true }),
    await acme.api.post(`${path}/rotate-secret`, {}),
    await acme.api.post(`${path}/test`, {}),
  ])
    expect(again).toMatchObject(plain(404))
  for (const [webhook, attempts] of [
    [failing, 1],
    [paused, 0],
  ]) {
    const [delivery] = await acme.listDeliveries({ endpoint_id: webhook.id })
    expect(delivery).toMatchObject({ status: 'cancelled', attempts })
    const resent = await acme.api.post(`${WEBHOOK_DELIVERIES}/${delivery.id}/resend`)
    expect(resent).toMatchObject(plain(409))
  }
  expect([acme.target.requests.length, other.target.requests.length]).toEqual([1, 6])
})

describe('The log', () => {
  test('has a delivery per webhook, newest first, by status and webhook', async () => {
    await using acme = await newParty()
    await using failing = await acme.another()
    failing.target.answers(500)
    const well = await acme.createWebhook(acme.target.url)
    const ill = await acme.createWebhook(failing.target.url)
    const paused = await acme.createWebhook(acme.target.url, { active: false })
    const created_at = acme.now()
    const failed_at = new Date(acme.clock.now() + 3 * SECOND).toISOString()
    const person = await acme.createIdentity()
    await acme.toTheEnd()
    await acme.setState(person, 'inactive')
    await acme.toTheEnd()

    const rows = await acme.listDeliveries()
    const types = rows.map(({ event_type }) => event_type)
    const [changed, created] = ['identity.state_changed', 'identity.created']
    expect(types).toEqual([...Array(3).fill(changed), ...Array(3).fill(created)])
    const { event_id } = eventIn(acme.target.requests[0])
    for (const [{ id: endpoint_id }, fields] of [
      [well, { status: 'succeeded', attempts: 1, ended_at: created_at, held_reason: null }],
      [ill, { status: 'failed', attempts: 3, ended_at: failed_at, held_reason: null }],
      [paused, { status: 'held', attempts: 0, ended_at: null, held_reason: 'inactive' }],
    ]) {
      expect(rows.findLast((row) => row.endpoint_id === endpoint_id)).toEqual({
        ...{ id: expect.any(String), message_id: event_id, event_type: created, endpoint_id },
        ...{ run: 1, next_attempt_at: null, created_at, ...fields },
      })
      const { status } = fields
      for (const query of [{ status }, { endpoint_id }, { endpoint_id, status }])
        expect(await tally(acme, query)).toEqual({ [status]: 2 })
      expect(await tally(failing, { endpoint_id })).toEqual({})
    }
    expect(await tally(acme)).toEqual({ succeeded: 2, failed: 2, held: 2 })
    for (const query of [
      { status: 'pending' },
      { endpoint_id: well.id, status: 'failed' },
      { endpoint_id: UNKNOWN_ID },
    ])
      expect(await tally(acme, query)).toEqual({})
    for (const status of ['done', '', 'Failed']) {
      const answer = await acme.api.get(`${WEBHOOK_DELIVERIES}?status=${status}`)
      expect(answer).toMatchObject(plain(400, 'status: '))
    }
  })

  test('shows what is being delivered and when it is tried next, also of another process', async () => {
    await using acme = await newParty()
    const { target, clock } = acme
    const held = target.hold()
    await acme.createWebhook(target.url)
    await using next = await besides(acme, acme.key)
    await acme.createIdentity()
    await held.arrived(1)
    const open = { status: 'delivering', attempts: 0, next_attempt_at: null, ended_at: null }
    const { id } = await acme.theDelivery()
    expect((await next.get(WEBHOOK_DELIVERIES)).body.data).toMatchObject([{ id, ...open }])
    target.answers(() => new Response())
    held.release(500)
    await acme.rest()
    const next_attempt_at = new Date(clock.now() + SECOND).toISOString()
    const retrying = { status: 'retrying', attempts: 1, next_attempt_at, ended_at: null }
    expect(await acme.theDelivery()).toMatchObject(retrying)
    await clock.advance(SECOND)
    await acme.rest()
    const done = { status: 'succeeded', attempts: 2, ended_at: next_attempt_at }
    expect(await acme.theDelivery()).toMatchObject(done)
  })

  test('has no deliveries of a deleted identity, except for the deletion', async () => {
    await using acme = await newParty()
    await acme.createWebhook(acme.target.url)
    const [person, kept] = [await acme.createIdentity(), await acme.createIdentity()]
    await acme.rest()
    const [, { id: old }] = await acme.listDeliveries()
    await acme.removeIdentity(person)
    await acme.rest()
    await acme.clock.advance(MINUTE)
    await until(async () => (await acme.listDeliveries()).length === 2)
    const rows = await Promise.all((await acme.listDeliveries()).map(acme.readDelivery))
    expect(rows.map(({ request_body }) => JSON.parse(request_body))).toMatchObject([
      { event_type: 'identity.deleted', data: { identity_id: person.id, payload: {} } },
      { event_type: 'identity.created', data: { identity_id: kept.id } },
    ])
    expect(await acme.api.get(`${WEBHOOK_DELIVERIES}/${old}`)).toMatchObject({ status: 404 })
  })
})

test('Resending a failure makes three attempts again', async () => {
  await using acme = await newParty()
  acme.target.answers(500)
  const { secret } = await acme.createWebhook(acme.target.url)
  await acme.createIdentity()
  await acme.toTheEnd()
  const failed = await acme.theDelivery()
  expect(JSON.stringify(failed)).not.toContain(secret)
  const begun = acme.clock.now() - Date.parse(failed.created_at)
  const { id, message_id } = failed
  const resent = await acme.api.post(`${WEBHOOK_DELIVERIES}/${id}/resend`)
  expect(resent).toMatchObject({ status: 202, body: { id, message_id, run: 2 } })
  await acme.toTheEnd()
  const delivery = await acme.theDelivery()
  expect(delivery).toMatchObject({ status: 'failed', attempts: 6, run: 2 })
  const again = THREE_FAILURES.map(([number, ms]) => [number + 3, begun + ms, 'failed'])
  expect(storyOf(delivery)).toEqual([...THREE_FAILURES, ...again] as never)
  expect(acme.target.requests[3]?.headers.get('x-service-trigger')).toBe('resend')
  expect(signersOf(acme.target.requests[3], [secret])).toEqual([secret])
})

test('Gate and the relay of a tenant have their own events, endpoints, logs, ids and limits', async () => {
  await using acme = await newParty()
  await using ofRelay = startTarget()
  const { api, target } = acme
  const RELAY = '/v1/relay'
  const relay = relayOf(acme.app, acme.app.client((await acme.newKey('relay', 'live')).key))
  const webhook = await acme.createWebhook(target.url)
  const endpoint = await relay.createEndpoint(ofRelay.url)
  const person = await acme.createIdentity()
  const message = await relay.send({ event_type: 'identity.created', payload: { of: 'relay' } })
  await acme.rest()
  const { id, message_id } = await acme.theDelivery()
  const sent = await relay.deliveryOf(message)

  expect(target.requests).toHaveLength(1)
  expect(ofRelay.requests.map(({ body }) => JSON.parse(body).data)).toEqual([{ of: 'relay' }])
  expect(await acme.listWebhooks()).toMatchObject([{ id: webhook.id }])
  expect(await acme.listDeliveries()).toMatchObject([{ endpoint_id: webhook.id }])
  const deliveries = [{ endpoint_id: endpoint.id, message_id: message.id }]
  expect(await relay.listDeliveries()).toMatchObject(deliveries)
  for (const [path, expected] of [
    ['endpoints', { id: endpoint.id }],
    ['messages', { id: message.id }],
    ['event-types', { name: 'identity.created' }],
  ] as const)
    expect((await relay.api.get(`${RELAY}/${path}`)).body.data).toMatchObject([expected])

  for (const foreign of [endpoint.id, message.id, sent.id]) {
    for (const [method, path, body] of [
      ['patch', `/${foreign}`, { active: false }],
      ['delete', `/${foreign}`],
      ['post', `/${foreign}/rotate-secret`, {}],
      ['post', `/${foreign}/test`, {}],
      ['get', `/deliveries/${foreign}`],
      ['post', `/deliveries/${foreign}/resend`],
    ] as const)
      expect(await api[method](WEBHOOKS + path, body)).toMatchObject({ status: 404 })
    expect(await acme.listDeliveries({ endpoint_id: foreign })).toEqual([])
  }
  const since = '2026-03-01T00:00:00Z'
  for (const foreign of [webhook.id, id, message_id, person.id]) {
    for (const [method, path, body] of [
      ['get', `endpoints/${foreign}`],
      ['patch', `endpoints/${foreign}`, { active: false }],
      ['delete', `endpoints/${foreign}`],
      ['post', `endpoints/${foreign}/rotate-secret`, {}],
      ['post', `endpoints/${foreign}/test`, {}],
      ['get', `endpoints/${foreign}/stats`],
      ['post', `endpoints/${foreign}/replay`, { since, dry_run: true }],
      ['get', `messages/${foreign}`],
      ['get', `messages/${foreign}/deliveries`],
      ['get', `deliveries/${foreign}`],
      ['post', `deliveries/${foreign}/resend`],
      ['post', `deliveries/${foreign}/cancel`],
    ] as const)
      expect(await relay.api[method](`${RELAY}/${path}`, body)).toMatchObject({ status: 404 })
    expect(await relay.listDeliveries(`?endpoint_id=${foreign}`)).toEqual([])
  }

  const replay = { since, which: 'all' }
  const replayed = await relay.api.post(`${RELAY}/endpoints/${endpoint.id}/replay`, replay)
  expect(replayed).toMatchObject({ status: 202, body: { count: 1 } })
  await acme.toTheEnd()
  expect([ofRelay.requests.length, target.requests.length]).toEqual([2, 1])
  await acme.createIdentity()
  await relay.send()
  await acme.rest()
  const ofGate = (await acme.read(`${WEBHOOK_DELIVERIES}?limit=1`)).next_cursor
  const theirs = (await relay.api.get(`${RELAY}/deliveries?limit=1`)).body.next_cursor
  for (const { status } of [
    await api.get(`${WEBHOOK_DELIVERIES}?cursor=${theirs}`),
    await relay.api.get(`${RELAY}/deliveries?cursor=${ofGate}`),
  ])
    expect(status).toBe(400)

  copyEndpoint(acme.app, webhook, 998)
  await acme.createWebhook(target.url)
  expect(await api.post(WEBHOOKS, { url: target.url })).toMatchObject(plain(409))
  await relay.createEndpoint(target.url, { event_types: ['none'] })
})
