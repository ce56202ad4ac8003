import { describe, expect, test } from 'bun:test'
import { until } from '../../../support/binary.ts'
import { closedPort, startRawTarget } from '../../clockwork/raw-target.ts'
import { advanceWaiting, holdAnswers } from '../../clockwork/support.ts'
import { leap, stillness } from '../../relay/fixture.ts'
import { silent } from '../../relay/receivers.ts'
import {
  DAY,
  HOUR,
  IDENTITIES,
  type Json,
  plain,
  SECOND,
  told,
  typesTold,
  WEBHOOKS,
} from '../fixture.ts'
import {
  answerWith,
  bootWebhooks,
  type Party,
  storyOf,
  THREE_FAILURES,
  useWebhooks,
} from './fixture.ts'

// How receivers can misbehave is in tests/engines/relay/receivers-that-fail.test.ts.
const newParty = await useWebhooks({ jitter: 0.999 })

/** A webhook, one event for it, and the delivery after all attempts. */
async function deliverTo(acme: Party, url: string): Promise<Json> {
  await acme.createWebhook(url)
  await acme.createIdentity()
  await acme.toTheEnd()
  return acme.theDelivery()
}

describe('A failed delivery', () => {
  test('is tried again after 1 s and 2 s, whatever the jitter, and no more', async () => {
    await using acme = await newParty()
    const { target, clock } = acme
    target.answers(answerWith(500))
    await acme.createWebhook(target.url)
    await acme.createIdentity()
    await acme.rest()
    for (const [ms, requests] of [
      [999, 1],
      [1, 2],
      [1999, 2],
      [1, 3],
    ] as const) {
      await clock.advance(ms)
      expect(target.requests).toHaveLength(requests)
    }
    const delivery = await acme.theDelivery()
    expect(storyOf(delivery)).toEqual(THREE_FAILURES)
    const ended = { status: 'failed', next_attempt_at: null, ended_at: acme.now() }
    expect(delivery).toMatchObject(ended)
    for (let day = 0; day < 2; day++) {
      await leap(acme.app, DAY)
      expect(target.requests).toHaveLength(3 * (day + 1))
      await acme.createIdentity()
      await acme.toTheEnd()
    }
    expect(await acme.listWebhooks()).toMatchObject([{ active: true }])
  })

  test('is tried as configured', async () => {
    await using acme = await bootWebhooks({ flags: { 'gate-webhook-delays': '2s,3s' } })
    acme.target.answers(answerWith(500))
    const delivery = await deliverTo(acme, acme.target.url)
    expect(storyOf(delivery)).toEqual([
      [1, 2000, 'failed'],
      [2, 5000, 'failed'],
    ])
    expect(delivery.status).toBe('failed')
  })
})

test.each<[number, Record<string, string>]>([
  [200, {}],
  [204, { 'webhook-delivery': 'disable' }],
  [299, {}],
])('An answer of %i %j is a success', async (status, headers) => {
  await using acme = await newParty()
  acme.target.answers(answerWith(status, headers))
  const delivery = await deliverTo(acme, acme.target.url)
  expect(delivery).toMatchObject({ status: 'succeeded', attempts: 1 })
  expect(delivery.attempt_log).toMatchObject([{ response: { status }, error: null }])
  expect(await acme.listWebhooks()).toMatchObject([{ active: true }])
})

test.each<[number, Record<string, string>]>([
  [300, {}],
  [307, { location: 'http://127.0.0.1:9/' }],
  [410, {}],
  [429, { 'retry-after': '600' }],
  [500, { 'webhook-delivery': 'disable' }],
  [500, { 'webhook-delivery': 'abort-message' }],
  [503, { 'retry-after': 'Sun, 01 Mar 2026 13:00:00 GMT' }],
])('An answer of %i %j is tried three times on the usual schedule', async (status, headers) => {
  await using acme = await newParty()
  acme.target.answers(answerWith(status, headers))
  const delivery = await deliverTo(acme, acme.target.url)
  expect(storyOf(delivery)).toEqual(THREE_FAILURES)
  for (const { response } of delivery.attempt_log) expect(response.status).toBe(status)
  expect(await acme.listWebhooks()).toMatchObject([{ active: true }])
})

test('A closed port is tried three times', async () => {
  await using acme = await newParty()
  const delivery = await deliverTo(acme, await closedPort())
  expect(storyOf(delivery)).toEqual(THREE_FAILURES)
  const attempt = { response: null, error: { code: 'connect' } }
  expect(delivery.attempt_log).toMatchObject(Array(3).fill(attempt))
})

test('A receiver that never answers gets 10 s each time', async () => {
  await using acme = await newParty()
  await using target = await startRawTarget(silent)
  await acme.createWebhook(target.url)
  await acme.createIdentity()
  const attempts = async () => (await acme.theDelivery()).attempts
  for (const [n, delay] of [0, 1, 2].entries()) {
    await advanceWaiting(acme.app, delay * SECOND)
    await until(() => target.requests.length === n + 1)
    await advanceWaiting(acme.app, 10 * SECOND - 1)
    expect(await attempts()).toBe(n)
    await advanceWaiting(acme.app, 1)
    await until(async () => (await attempts()) === n + 1)
  }
  const delivery = await acme.theDelivery()
  expect(storyOf(delivery).map(([, ms]) => ms)).toEqual([0, 11_000, 23_000])
  const attempt = { error: { code: 'timeout' }, duration_ms: 10 * SECOND }
  expect(delivery.attempt_log).toMatchObject(Array(3).fill(attempt))
})

describe('A paused webhook', () => {
  test('has its events held, and receives them in order when it is resumed', async () => {
    await using acme = await newParty()
    const { target } = acme
    const webhook = await acme.createWebhook(target.url)
    await acme.change(webhook, { active: false })
    const people: string[] = []
    for (let n = 0; n < 3; n++) people.push((await acme.createIdentity()).id)
    await leap(acme.app, HOUR)
    expect(target.requests).toEqual([])
    const held = { status: 'held', held_reason: 'inactive', attempts: 0, ended_at: null }
    const rows = await acme.listDeliveries()
    expect(rows).toMatchObject([held, held, held])
    const resent = await acme.api.post(`${WEBHOOKS}/deliveries/${rows[0].id}/resend`)
    expect(resent).toMatchObject(plain(409))
    await acme.change(webhook, { active: true })
    await acme.toTheEnd()
    expect(told(target).map(({ data }) => data.identity_id)).toEqual(people)
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
  await using busy = await acme.another()
  for (const { target } of [acme, other]) target.answers(answerWith(500))
  const held = holdAnswers(busy.target)
  const failing = await acme.createWebhook(acme.target.url)
  const paused = await acme.createWebhook(acme.target.url, { active: false })
  const delivering = await acme.createWebhook(busy.target.url)
  await acme.createWebhook(other.target.url)
  await acme.createIdentity()
  await held.arrived(1)
  await until(() => acme.target.requests.length === 1)
  for (const webhook of [failing, paused, delivering]) await acme.remove(webhook)
  held.release(500)
  await acme.toTheEnd()

  expect(other.target.requests).toHaveLength(3)
  for (const [webhook, attempts] of [
    [failing, 1],
    [delivering, 1],
    [paused, 0],
  ]) {
    const [delivery] = await acme.listDeliveries({ endpoint_id: webhook.id })
    expect(delivery).toMatchObject({ status: 'cancelled', attempts })
    const resent = await acme.api.post(`${WEBHOOKS}/deliveries/${delivery.id}/resend`)
    expect(resent).toMatchObject(plain(409))
  }
  for (const { target } of [acme, busy]) expect(target.requests).toHaveLength(1)
})

test('An event and its change are stored together, so a full disk refuses both', async () => {
  await using acme = await bootWebhooks()
  const { api, app, target } = acme
  const limitPages = (pages: number) => app.db.client.run(`PRAGMA max_page_count = ${pages}`)
  const pages = () =>
    (app.db.client.query('PRAGMA page_count').get() as { page_count: number }).page_count
  const FULL = { status: 503, body: { error: 'storage: the disk is full' } }
  const creation = (n: number) => ({
    schema_id: 'user',
    traits: { email: `n${n}@example.com`, custom_data: { filling: 'x'.repeat(20_000) } },
  })
  await acme.createWebhook(target.url)
  const person = await acme.createIdentity()
  await acme.toTheEnd()
  limitPages(pages() + 20)
  let created = 0
  let answer = await api.post(IDENTITIES, creation(created))
  while (answer.status === 201) answer = await api.post(IDENTITIES, creation(++created))
  expect(answer).toMatchObject(FULL)
  expect(answer.headers.get('retry-after')).toBe('1')
  expect(created).toBeGreaterThan(0)
  const change = [
    { op: 'replace', path: '/state', value: 'inactive' },
    { op: 'add', path: '/metadata_public/filling', value: 'x'.repeat(60_000) },
  ]
  limitPages(pages())
  expect(await acme.patch(person, change)).toMatchObject(FULL)
  expect(await acme.readIdentity(person)).toEqual(person)

  limitPages(1_000_000)
  await acme.toTheEnd()
  expect((await acme.read(`${IDENTITIES}?limit=100`)).data).toHaveLength(created + 1)
  expect(typesTold(target)).toEqual(Array(created + 1).fill('identity.created'))
  expect(await acme.patch(person, change)).toMatchObject({ status: 200 })
  await acme.toTheEnd()
  expect(typesTold(target).at(-1)).toBe('identity.state_changed')
})

test('An event is stored before the answer, whether or not it is sent yet', async () => {
  await using acme = await newParty()
  const held = holdAnswers(acme.target)
  await acme.createWebhook(acme.target.url)
  const { id } = await acme.createIdentity()
  expect(JSON.parse((await acme.theDelivery()).request_body).data.identity_id).toBe(id)
  await held.arrived(1)
  held.release()
  await acme.rest()
})

// In an application of its own, because it occupies the capacity for deliveries.
test("A receiver that never answers has at most 16 requests, and doesn't delay others", async () => {
  await using dead = await bootWebhooks()
  await using other = await dead.another()
  await using beside = await dead.another()
  const idsAt = ({ target }: Party): string[] => told(target).map(({ data }) => data.identity_id)
  const held = holdAnswers(dead.target)
  await dead.createWebhook(dead.target.url)
  await dead.createWebhook(beside.target.url)
  await other.createWebhook(other.target.url)
  const people: string[] = []
  for (let n = 0; n < 20; n++) people.push((await dead.createIdentity()).id)
  const { id } = await other.createIdentity()
  await until(() => beside.target.requests.length === 20 && other.target.requests.length === 1)
  expect(idsAt(beside).toSorted()).toEqual(people.toSorted())
  expect(idsAt(other)).toEqual([id])
  await stillness(dead.app, () => dead.target.requests.length)
  expect(dead.target.requests).toHaveLength(16)
  for (let n = 16; n < 20; n++) {
    held.release(200, 1)
    await held.arrived(n + 1)
  }
  held.release()
  await dead.rest()
  expect(idsAt(dead).slice(0, 16).toSorted()).toEqual(people.slice(0, 16).toSorted())
  expect(idsAt(dead).slice(16)).toEqual(people.slice(16))
})
