import { describe, expect, test } from 'bun:test'
import { until } from '../../../support/binary.ts'
import { type ReceivedRequest, startTarget } from '../../../support/target.ts'
import { closedPort, startRawTarget } from '../../clockwork/raw-target.ts'
import { advanceWaiting, breathe, DAY, HOUR, holdAnswers, SECOND } from '../../clockwork/support.ts'
import { leap, stillness, turnUntil } from '../../relay/fixture.ts'
import {
  drippingBody,
  drippingHead,
  hangingUp,
  pouring,
  resetting,
  resettingAfterHead,
  silent,
} from '../../relay/receivers.ts'
import { IDENTITIES, type Json, WEBHOOKS } from '../fixture.ts'
import {
  bootWebhooks,
  eventsAt,
  type Fixture,
  refusal,
  storyOf,
  THREE_FAILURES,
  typesAt,
} from './webhook-fixture.ts'

const answerWith =
  (status: number, headers: Record<string, string> = {}) =>
  () =>
    new Response(null, { status, headers })

/** Fails so many times, and is well from then on. */
const failing = (times: number) => {
  let left = times
  return () => new Response('', { status: left-- > 0 ? 500 : 200 })
}

/** A webhook, an event on its way to it, and what came of all attempts. */
async function deliverTo(fixture: Fixture, url: string) {
  const webhook = await fixture.createWebhook(url)
  const person = await fixture.createIdentity()
  await fixture.toTheEnd()
  return { webhook, person, delivery: await fixture.theDelivery() }
}

describe('a receiver that fails', () => {
  test('is called at once, 1 s after that and 2 s after that, to the millisecond', async () => {
    await using fixture = await bootWebhooks({ jitter: 0.999 })
    const { target, clock } = fixture
    target.answers(failing(2))
    await fixture.createWebhook(target.url)
    await fixture.createIdentity()
    await fixture.rest()
    const calls = () => target.requests.length

    expect(calls()).toBe(1)
    await clock.advance(SECOND - 1)
    expect(calls()).toBe(1)
    await clock.advance(1)
    expect(calls()).toBe(2)
    expect((await fixture.theDelivery()).status).toBe('retrying')
    await clock.advance(2 * SECOND - 1)
    expect(calls()).toBe(2)
    await clock.advance(1)
    expect(calls()).toBe(3)

    const delivery = await fixture.theDelivery()
    expect(storyOf(delivery)).toEqual([
      [1, 0, 'failed'],
      [2, 1000, 'failed'],
      [3, 3000, 'succeeded'],
    ])
    expect(delivery).toMatchObject({ status: 'succeeded', attempts: 3, next_attempt_at: null })
    await leap(fixture.app, DAY)
    expect(calls()).toBe(3)
  })

  test('three times loses the event, which the log shows as failed', async () => {
    await using fixture = await bootWebhooks()
    const { target } = fixture
    target.answers(failing(3))

    const { delivery } = await deliverTo(fixture, target.url)

    expect(storyOf(delivery)).toEqual(THREE_FAILURES)
    expect(delivery).toMatchObject({
      status: 'failed',
      attempts: 3,
      next_attempt_at: null,
      ended_at: '2026-03-01T12:00:33.000Z',
    })
    await leap(fixture.app, DAY)
    expect(target.requests).toHaveLength(3)
  })

  test('for a week stays subscribed and is called three times for each event', async () => {
    await using fixture = await bootWebhooks()
    const { target } = fixture
    target.answers(answerWith(500))
    await fixture.createWebhook(target.url)

    for (let day = 0; day < 7; day++) {
      await fixture.createIdentity()
      await fixture.toTheEnd()
      await leap(fixture.app, DAY)
    }

    expect(target.requests).toHaveLength(21)
    expect(await fixture.listWebhooks()).toMatchObject([{ active: true }])
    expect((await fixture.listDeliveries()).map(({ status }) => status)).toEqual(
      Array(7).fill('failed'),
    )
  })

  test('is called as the configuration says', async () => {
    await using fixture = await bootWebhooks({ flags: { 'gate-webhook-delays': '2s,3s' } })
    fixture.target.answers(answerWith(500))
    const { delivery } = await deliverTo(fixture, fixture.target.url)
    expect(storyOf(delivery)).toEqual([
      [1, 2000, 'failed'],
      [2, 5000, 'failed'],
    ])
    expect(delivery.status).toBe('failed')
  })
})

test.each([200, 201, 202, 204, 206, 226, 299])(
  'an answer of %i has taken the event',
  async (status) => {
    await using fixture = await bootWebhooks()
    fixture.target.answers(answerWith(status))

    const { delivery } = await deliverTo(fixture, fixture.target.url)

    expect(delivery).toMatchObject({ status: 'succeeded', attempts: 1 })
    expect(delivery.attempt_log).toMatchObject([{ response: { status }, error: null }])
    expect(fixture.target.requests).toHaveLength(1)
  },
)

describe('three attempts and no more, on the usual schedule, are made', () => {
  test.each<[number, Record<string, string>]>([
    [300, {}],
    [301, { location: 'http://127.0.0.1:9/' }],
    [302, { location: '/hook' }],
    [303, { location: '/hook' }],
    [304, {}],
    [307, { location: '/hook' }],
    [308, { location: '/hook' }],
    [400, {}],
    [401, {}],
    [404, {}],
    [408, {}],
    [410, {}],
    [422, {}],
    [429, { 'retry-after': '600' }],
    [500, { 'webhook-delivery': 'disable' }],
    [503, { 'retry-after': 'Sun, 01 Mar 2026 13:00:00 GMT' }],
    [599, {}],
  ])('of an answer of %i %j', async (status, headers) => {
    await using fixture = await bootWebhooks()
    const { target } = fixture
    target.answers(answerWith(status, headers))

    const { delivery } = await deliverTo(fixture, target.url)

    expect(storyOf(delivery)).toEqual(THREE_FAILURES)
    expect(delivery.status).toBe('failed')
    for (const { response } of delivery.attempt_log) expect(response.status).toBe(status)
    expect(target.requests).toHaveLength(3)
    expect(await fixture.listWebhooks()).toMatchObject([{ active: true }])
  })

  test.each([
    ['hangs up', hangingUp, 'reset'],
    ['resets the connection', resetting, 'reset'],
    ['resets after the head of a refusal', resettingAfterHead('500 No'), 'status'],
    ['pours out a refusal without end', pouring('500 No'), 'status'],
  ] as const)('at a receiver that %s', async (_, behave, code) => {
    await using fixture = await bootWebhooks()
    await using target = await startRawTarget(behave)
    const webhook = await fixture.createWebhook(target.url)
    await fixture.createIdentity()
    await turnUntil(fixture.app, async () => (await fixture.theDelivery()).status === 'failed')

    const delivery = await fixture.theDelivery()
    expect(delivery.attempts).toBe(3)
    expect(target.requests).toHaveLength(3)
    for (const { status, error } of delivery.attempt_log)
      expect({ status, code: error.code }).toEqual({ status: 'failed', code })
    expect(await fixture.listWebhooks()).toMatchObject([{ id: webhook.id, active: true }])
  })

  test('at a port on which nobody listens', async () => {
    await using fixture = await bootWebhooks()
    const { delivery } = await deliverTo(fixture, await closedPort())
    expect(storyOf(delivery)).toEqual(THREE_FAILURES)
    for (const { error, response } of delivery.attempt_log) {
      expect(error.code).toBe('connect')
      expect(response).toBeNull()
    }
  })

  test.each([
    ['answers nothing', silent],
    ['never ends its head', drippingHead],
  ])('at a receiver that %s, each 10 s long, counted from its end', async (_, behave) => {
    await using fixture = await bootWebhooks()
    await using target = await startRawTarget(behave)
    await fixture.createWebhook(target.url)
    await fixture.createIdentity()
    const attempts = async () => (await fixture.theDelivery()).attempts

    for (const [n, delay] of [0, 1, 2].entries()) {
      await advanceWaiting(fixture.app, delay * SECOND)
      await until(() => target.requests.length === n + 1)
      await advanceWaiting(fixture.app, 10 * SECOND - 1)
      expect(await attempts()).toBe(n)
      await advanceWaiting(fixture.app, 1)
      await until(async () => (await attempts()) === n + 1)
    }

    const delivery = await fixture.theDelivery()
    expect(storyOf(delivery)).toEqual([
      [1, 0, 'failed'],
      [2, 11_000, 'failed'],
      [3, 23_000, 'failed'],
    ])
    expect(delivery.status).toBe('failed')
    for (const { error, duration_ms } of delivery.attempt_log) {
      expect(error).toMatchObject({ code: 'timeout', message: expect.stringContaining('10 s') })
      expect(duration_ms).toBe(10 * SECOND)
    }
  })
})

test.each([
  ['never ends', drippingBody('200 OK')],
  ['breaks off', resettingAfterHead('200 OK')],
  ['has no end and comes fast', pouring('202 Accepted')],
] as const)('an answer of 2xx has taken the event although its body %s', async (_, behave) => {
  await using fixture = await bootWebhooks()
  await using target = await startRawTarget(behave)
  await fixture.createWebhook(target.url)
  await fixture.createIdentity()

  await turnUntil(fixture.app, async () => (await fixture.theDelivery()).attempts === 1)

  expect(await fixture.theDelivery()).toMatchObject({ status: 'succeeded', attempts: 1 })
  expect(target.requests).toHaveLength(1)
})

describe('a webhook that is paused', () => {
  test('has its events held, and is sent each of them once it is resumed', async () => {
    await using fixture = await bootWebhooks()
    const { target } = fixture
    const webhook = await fixture.createWebhook(target.url)
    await fixture.change(webhook, { active: false })
    const people: string[] = []
    for (let n = 0; n < 3; n++) people.push((await fixture.createIdentity()).id)
    await leap(fixture.app, HOUR)

    expect(target.requests).toEqual([])
    for (const delivery of await fixture.listDeliveries())
      expect(delivery).toMatchObject({
        event_type: 'identity.created',
        status: 'held',
        held_reason: 'inactive',
        attempts: 0,
        ended_at: null,
      })
    await fixture.change(webhook, { active: true })
    await fixture.toTheEnd()

    expect(eventsAt(target).map(({ data }) => data.identity_id)).toEqual(people)
    const statuses = (await fixture.listDeliveries()).map(({ status }) => status)
    expect(statuses).toEqual(['succeeded', 'succeeded', 'succeeded'])
  })

  test('goes on where it stood with what had failed before', async () => {
    await using fixture = await bootWebhooks()
    const { target } = fixture
    target.answers(answerWith(500))
    const webhook = await fixture.createWebhook(target.url)
    await fixture.createIdentity()
    await fixture.rest()

    await fixture.change(webhook, { active: false })
    await leap(fixture.app, HOUR)
    expect(await fixture.theDelivery()).toMatchObject({ status: 'held', attempts: 1 })
    await fixture.change(webhook, { active: true })
    await fixture.toTheEnd()

    expect(await fixture.theDelivery()).toMatchObject({ status: 'failed', attempts: 3 })
    expect(target.requests).toHaveLength(3)
  })

  test('while an attempt is under way has what it takes, and what fails is held', async () => {
    await using fixture = await bootWebhooks()
    const { target } = fixture
    const held = holdAnswers(target)
    const webhook = await fixture.createWebhook(target.url)
    await fixture.createIdentity()
    await fixture.createIdentity()
    await held.arrived(2)

    await fixture.change(webhook, { active: false })
    held.release(200, 1)
    held.release(500, 1)
    await fixture.toTheEnd()

    expect(target.requests).toHaveLength(2)
    const statuses = (await fixture.listDeliveries()).map(({ status }) => status)
    expect(statuses.toSorted()).toEqual(['held', 'succeeded'])
  })

  test('refuses a resend until it is resumed', async () => {
    await using fixture = await bootWebhooks()
    const { target, api } = fixture
    await fixture.createWebhook(target.url, { active: false })
    await fixture.createIdentity()
    const { id } = await fixture.theDelivery()

    expect(await api.post(`${WEBHOOKS}/deliveries/${id}/resend`)).toMatchObject(
      refusal(409, 'not active'),
    )
  })

  test('is never sent what was held about a person who is deleted, but the deletion', async () => {
    await using fixture = await bootWebhooks()
    const { target } = fixture
    const webhook = await fixture.createWebhook(target.url, { active: false })
    const { id } = await fixture.createIdentity()

    expect((await fixture.api.delete(`${IDENTITIES}/${id}`)).status).toBe(204)
    expect(await fixture.theDelivery()).toMatchObject({ event_type: 'identity.deleted' })
    await fixture.change(webhook, { active: true })
    await fixture.toTheEnd()

    expect(typesAt(target)).toEqual(['identity.deleted'])
  })

  test('and then deleted has what was held cancelled', async () => {
    await using fixture = await bootWebhooks()
    const { target } = fixture
    const webhook = await fixture.createWebhook(target.url, { active: false })
    await fixture.createIdentity()

    await fixture.remove(webhook)
    await fixture.toTheEnd()

    expect(await fixture.theDelivery()).toMatchObject({ status: 'cancelled', attempts: 0 })
    expect(target.requests).toEqual([])
  })
})

describe('a webhook that is deleted', () => {
  test('between two attempts gets no further one, and the log keeps what was', async () => {
    await using fixture = await bootWebhooks()
    const { target } = fixture
    target.answers(answerWith(500))
    const webhook = await fixture.createWebhook(target.url)
    await fixture.createIdentity()
    await fixture.rest()

    await fixture.remove(webhook)
    await fixture.toTheEnd()

    expect(target.requests).toHaveLength(1)
    const delivery = await fixture.theDelivery()
    expect(delivery).toMatchObject({ status: 'cancelled', attempts: 1, endpoint_id: webhook.id })
    expect(storyOf(delivery)).toEqual([[1, 0, 'failed']])
    const answer = await fixture.api.post(`${WEBHOOKS}/deliveries/${delivery.id}/resend`)
    expect(answer).toMatchObject(refusal(409, 'has been deleted'))
  })

  test('while an attempt is under way gets no further one', async () => {
    await using fixture = await bootWebhooks()
    const { target } = fixture
    const held = holdAnswers(target)
    const webhook = await fixture.createWebhook(target.url)
    await fixture.createIdentity()
    await held.arrived(1)

    await fixture.remove(webhook)
    held.release(500)
    await fixture.toTheEnd()

    expect(target.requests).toHaveLength(1)
    expect(await fixture.theDelivery()).toMatchObject({ status: 'cancelled', attempts: 1 })
  })

  test('takes nothing along that is for another', async () => {
    await using fixture = await bootWebhooks()
    const { target } = fixture
    await using other = startTarget(answerWith(500))
    target.answers(answerWith(500))
    const webhook = await fixture.createWebhook(target.url)
    await fixture.createWebhook(other.url)
    await fixture.createIdentity()
    await fixture.rest()

    await fixture.remove(webhook)
    await fixture.toTheEnd()

    expect(target.requests).toHaveLength(1)
    expect(other.requests).toHaveLength(3)
  })
})

describe('an event and what it reports', () => {
  const fill = ({ app: { db } }: Fixture, pagesLeft: number) => {
    const { page_count } = db.client.query('PRAGMA page_count').get() as { page_count: number }
    db.client.run(`PRAGMA max_page_count = ${page_count + pagesLeft}`)
  }
  const makeRoom = ({ app: { db } }: Fixture) => db.client.run('PRAGMA max_page_count = 1000000')

  const FULL = { status: 503, body: { error: 'storage: the disk is full' } }
  const emailAt = (n: number) => `person-${n}@example.com`

  /** Somebody of 20 KB. */
  const creation = (n: number) => ({
    schema_id: 'user',
    traits: { email: emailAt(n), custom_data: { filling: 'x'.repeat(20_000) } },
  })

  const emailsTold = ({ target }: Fixture): string[] =>
    eventsAt(target).map(({ data }) => data.payload.email)

  test('are stored together or not at all: on a full disk neither is there', async () => {
    await using fixture = await bootWebhooks()
    const { api } = fixture
    await fixture.createWebhook(fixture.target.url, { events: ['identity.created'] })
    fill(fixture, 60)

    let n = 0
    let answer = await api.post(IDENTITIES, creation(n))
    while (answer.status === 201) answer = await api.post(IDENTITIES, creation(++n))

    expect({ status: answer.status, body: answer.body }).toEqual(FULL)
    expect(answer.headers.get('retry-after')).toBe('1')
    expect(n).toBeGreaterThan(0)
    makeRoom(fixture)
    await fixture.toTheEnd()
    const stored = await fixture.read(`${IDENTITIES}?limit=100`)
    expect(stored.data).toHaveLength(n)
    const first = Array.from({ length: n }, (_, at) => emailAt(at))
    expect(emailsTold(fixture).toSorted()).toEqual(first.toSorted())

    expect(await api.post(IDENTITIES, creation(n))).toMatchObject({ status: 201 })
    await fixture.toTheEnd()
    expect(emailsTold(fixture).toSorted()).toEqual([...first, emailAt(n)].toSorted())
  })

  test('of a change that finds no room are both missing, and both there at the next try', async () => {
    await using fixture = await bootWebhooks()
    const { target, api } = fixture
    await fixture.createWebhook(target.url, { events: ['identity.state_changed'] })
    const person = await fixture.createIdentity()
    await fixture.rest()
    const patch = [
      { op: 'replace', path: '/state', value: 'inactive' },
      { op: 'add', path: '/metadata_public/filling', value: 'x'.repeat(60_000) },
    ]
    fill(fixture, 0)

    const answer = await api.patch(`${IDENTITIES}/${person.id}`, patch)

    expect({ status: answer.status, body: answer.body }).toEqual(FULL)
    expect(await fixture.readIdentity(person)).toEqual(person)
    expect(await fixture.listDeliveries()).toEqual([])
    makeRoom(fixture)
    expect(await api.patch(`${IDENTITIES}/${person.id}`, patch)).toMatchObject({ status: 200 })
    await fixture.toTheEnd()
    expect(typesAt(target)).toEqual(['identity.state_changed'])
  })

  test('are stored when the answer is there, though nobody has been called yet', async () => {
    await using fixture = await bootWebhooks()
    const { target } = fixture
    const held = holdAnswers(target)
    await fixture.createWebhook(target.url)

    const { id } = await fixture.createIdentity()

    const delivery = await fixture.theDelivery()
    expect(JSON.parse(delivery.request_body).data.identity_id).toBe(id)
    await held.arrived(1)
    held.release()
    await fixture.rest()
  })
})

describe('a receiver that never answers', () => {
  const identitiesIn = (requests: ReceivedRequest[]): string[] =>
    eventsAt({ requests }).map(({ data }) => data.identity_id)

  /** Some people, created at the same time. */
  const create = ({ createIdentity }: Pick<Fixture, 'createIdentity'>, count: number) =>
    Promise.all(Array.from({ length: count }, () => createIdentity()))

  const idsOf = (people: Json[]): string[] => people.map(({ id }) => id).toSorted()

  test('takes nothing from another tenant', async () => {
    await using fixture = await bootWebhooks()
    const { target: dead } = fixture
    await using theirs = startTarget()
    const held = holdAnswers(dead)
    for (let n = 0; n < 10; n++)
      await fixture.createWebhook(dead.url, { events: ['identity.created'] })
    const own = await create(fixture, 60)
    await stillness(fixture.app, () => dead.requests.length)
    const taken = dead.requests.length
    expect(taken).toBeGreaterThan(16)
    const other = await fixture.party()
    await other.createWebhook(theirs.url)

    const people = await create(other, 40)
    await until(() => theirs.requests.length === 40)

    expect(identitiesIn(theirs.requests).toSorted()).toEqual(idsOf(people))
    expect(dead.requests).toHaveLength(taken)
    expect(fixture.clock.now()).toBe(Date.parse('2026-03-01T12:00:30.000Z'))
    dead.answers(() => new Response())
    held.release()
    await fixture.rest()
    expect(new Set(identitiesIn(dead.requests))).toEqual(new Set(idsOf(own)))
  })

  test('leaves another webhook of the tenant its turn', async () => {
    await using fixture = await bootWebhooks()
    const { target: dead } = fixture
    await using good = startTarget()
    const held = holdAnswers(dead)
    await fixture.createWebhook(dead.url)
    await fixture.createWebhook(good.url)

    const people = await create(fixture, 60)
    await until(() => good.requests.length === 60)

    expect(identitiesIn(good.requests).toSorted()).toEqual(idsOf(people))
    expect(dead.requests).toHaveLength(16)
    dead.answers(() => new Response())
    held.release()
    await fixture.rest()
    expect(identitiesIn(dead.requests).toSorted()).toEqual(idsOf(people))
  })

  test('is called in the order of events as far as it is called at all', async () => {
    await using fixture = await bootWebhooks()
    const { target } = fixture
    const held = holdAnswers(target)
    await fixture.createWebhook(target.url)
    const people = []
    for (let n = 0; n < 30; n++) people.push((await fixture.createIdentity()).id)
    await held.arrived(16)
    for (let n = 16; n < 30; n++) {
      held.release(200, 1)
      await held.arrived(n + 1)
    }
    held.release()
    await fixture.rest()

    const told = identitiesIn(target.requests)
    expect(told.slice(0, 16).toSorted()).toEqual(people.slice(0, 16).toSorted())
    expect(told.slice(16)).toEqual(people.slice(16))
    await breathe(fixture.app)
  })
})
