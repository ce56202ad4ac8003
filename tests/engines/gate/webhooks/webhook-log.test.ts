import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { startTarget } from '../../../support/target.ts'
import { HOUR, holdAnswers, MINUTE, SECOND } from '../../clockwork/support.ts'
import { relayOf } from '../../relay/fixture.ts'
import { isTime } from '../../relay/support.ts'
import { IDENTITIES, type Json, WEBHOOKS } from '../fixture.ts'
import {
  besides,
  bootWebhooks,
  eventIn,
  type Fixture,
  type Party,
  refusal,
  signersOf,
  storyOf,
  THREE_FAILURES,
  UNKNOWN_ID,
  WEBHOOK_DELIVERIES,
} from './webhook-fixture.ts'

const NOW = '2026-03-01T12:00:30.000Z'

/** How many deliveries there are of each status. */
async function tally({ listDeliveries }: Pick<Party, 'listDeliveries'>, query = {}) {
  const counts: Record<string, number> = {}
  for (const { status } of await listDeliveries(query)) counts[status] = (counts[status] ?? 0) + 1
  return counts
}

/** A webhook that takes everything, one that takes nothing and one that is paused. */
async function bootThree() {
  const fixture = await bootWebhooks()
  const bad = startTarget(() => new Response('no', { status: 500 }))
  const webhooks = {
    well: await fixture.createWebhook(fixture.target.url),
    ill: await fixture.createWebhook(bad.url),
    paused: await fixture.createWebhook(fixture.target.url, { active: false }),
  }
  async function end() {
    await bad.stop()
    await fixture.end()
  }
  return { ...fixture, bad, webhooks, end, [Symbol.asyncDispose]: end }
}

describe('the log', () => {
  test('is empty as it comes', async () => {
    await using fixture = await bootWebhooks()
    expect(await fixture.read(WEBHOOK_DELIVERIES)).toEqual({
      data: [],
      has_more: false,
      next_cursor: null,
    })
  })

  test('has one row for each webhook that an event is for, newest first', async () => {
    await using fixture = await bootThree()
    const { well, ill, paused } = fixture.webhooks
    const person = await fixture.createIdentity()
    await fixture.toTheEnd()
    await fixture.clock.advance(HOUR)
    await fixture.setState(person, 'inactive')
    await fixture.toTheEnd()

    const rows = await fixture.listDeliveries()
    expect(rows.map(({ event_type }) => event_type)).toEqual([
      ...Array(3).fill('identity.state_changed'),
      ...Array(3).fill('identity.created'),
    ])
    const of = (webhook: Json) => rows.findLast(({ endpoint_id }) => endpoint_id === webhook.id)
    const shared = {
      id: expect.any(String),
      message_id: expect.any(String),
      event_type: 'identity.created',
      held_reason: null,
      run: 1,
      next_attempt_at: null,
      created_at: NOW,
    }
    const [succeeded, failed, held] = [of(well), of(ill), of(paused)]
    expect(new Set([succeeded, failed, held].map(({ message_id }) => message_id)).size).toBe(1)
    expect(eventIn(fixture.target.requests[0] as never)).toMatchObject({
      event_id: succeeded.message_id,
      data: { identity_id: person.id },
    })
    expect(succeeded).toEqual({
      ...shared,
      endpoint_id: well.id,
      status: 'succeeded',
      attempts: 1,
      ended_at: NOW,
    })
    expect(failed).toEqual({
      ...shared,
      endpoint_id: ill.id,
      status: 'failed',
      attempts: 3,
      ended_at: '2026-03-01T12:00:33.000Z',
    })
    expect(held).toEqual({
      ...shared,
      endpoint_id: paused.id,
      status: 'held',
      held_reason: 'inactive',
      attempts: 0,
      ended_at: null,
    })
  })

  test('shows what goes on: under way, waiting for the next attempt, ended', async () => {
    await using fixture = await bootWebhooks()
    const { target, clock } = fixture
    const held = holdAnswers(target)
    await fixture.createWebhook(target.url)
    await fixture.createIdentity()
    await held.arrived(1)
    const row = async () => {
      const { status, attempts, next_attempt_at, ended_at } = await fixture.theDelivery()
      return { status, attempts, next_attempt_at, ended_at }
    }

    const open = { next_attempt_at: null, ended_at: null }
    expect(await row()).toEqual({ status: 'delivering', attempts: 0, ...open })
    target.answers(() => new Response())
    held.release(500)
    await fixture.rest()
    const next = new Date(clock.now() + SECOND).toISOString()
    expect(await row()).toEqual({
      status: 'retrying',
      attempts: 1,
      next_attempt_at: next,
      ended_at: null,
    })
    await clock.advance(SECOND)
    expect(await row()).toEqual({
      status: 'succeeded',
      attempts: 2,
      next_attempt_at: null,
      ended_at: next,
    })
  })

  test('can be asked for one status, one webhook, or both', async () => {
    await using fixture = await bootThree()
    const { well, ill, paused } = fixture.webhooks
    for (let n = 0; n < 3; n++) await fixture.createIdentity()
    await fixture.toTheEnd()

    expect(await tally(fixture)).toEqual({ succeeded: 3, failed: 3, held: 3 })
    for (const [status, webhook] of [
      ['succeeded', well],
      ['failed', ill],
      ['held', paused],
    ] as const) {
      expect(await tally(fixture, { status })).toEqual({ [status]: 3 })
      expect(await tally(fixture, { endpoint_id: webhook.id })).toEqual({ [status]: 3 })
      expect(await tally(fixture, { endpoint_id: webhook.id, status })).toEqual({ [status]: 3 })
    }
    for (const status of ['pending', 'delivering', 'retrying', 'cancelled'])
      expect(await tally(fixture, { status })).toEqual({})
    expect(await tally(fixture, { endpoint_id: well.id, status: 'failed' })).toEqual({})
    expect(await tally(fixture, { endpoint_id: UNKNOWN_ID })).toEqual({})
  })

  test.each([{}, { status: 'succeeded' }, { status: 'failed' }, { well: true }])(
    'is walked page by page, each row once, whatever comes meanwhile: %j',
    async ({ well, ...status }: Json) => {
      await using fixture = await bootThree()
      const filter = { ...status, ...(well && { endpoint_id: fixture.webhooks.well.id }) }
      for (let n = 0; n < 7; n++) await fixture.createIdentity()
      await fixture.toTheEnd()
      const whole = (await fixture.listDeliveries(filter)).map(({ id }) => id)
      expect(whole).toHaveLength(well || status.status ? 7 : 21)

      const walked: string[] = []
      for (let cursor = ''; ; ) {
        const search = new URLSearchParams({ ...filter, limit: '2', ...(cursor && { cursor }) })
        const page = await fixture.read(`${WEBHOOK_DELIVERIES}?${search}`)
        expect(page.data.length).toBeLessThanOrEqual(2)
        walked.push(...page.data.map(({ id }: Json) => id))
        expect(page.has_more).toBe(page.next_cursor !== null)
        if (!page.has_more) break
        cursor = page.next_cursor
        await fixture.createIdentity()
      }

      expect(walked).toEqual(whole)
    },
  )

  test.each([
    ['?limit=0', 'limit: must be a whole number of at least 1'],
    ['?limit=-1', 'limit'],
    ['?limit=x', 'limit'],
    ['?limit=1e2', 'limit'],
    ['?cursor=nonsense', 'cursor'],
    ['?cursor=', 'cursor'],
    ['?status=done', 'status: must be one of pending'],
    ['?status=', 'status: must be one of pending'],
    ['?status=Failed', 'status: must be one of pending'],
  ])('refuses %s', async (query, words) => {
    await using fixture = await bootWebhooks()
    expect(await fixture.api.get(`${WEBHOOK_DELIVERIES}${query}`)).toMatchObject(
      refusal(400, words),
    )
  })

  test('is what another process has made of it, at once', async () => {
    await using fixture = await bootThree()
    await using next = await besides(fixture, fixture.key)
    await next.post(IDENTITIES, { schema_id: 'user', traits: { email: 'a@example.com' } })

    const here = await fixture.listDeliveries()
    expect(here).toHaveLength(3)
    expect((await next.get(WEBHOOK_DELIVERIES)).body.data.map(({ id }: Json) => id)).toEqual(
      here.map(({ id }) => id),
    )
    await next.clock.settled()
    await fixture.rest()
  })
})

describe('a delivery in the log', () => {
  test('has the body, and of each attempt the request and the answer as they went', async () => {
    await using fixture = await bootWebhooks()
    const { target, clock } = fixture
    let calls = 0
    target.answers(() => {
      const status = ++calls === 1 ? 503 : 201
      return new Response(`answer ${calls}`, { status, headers: { 'X-Trace': `t${calls}` } })
    })
    const { secret } = await fixture.createWebhook(target.url)
    await fixture.createIdentity()
    await fixture.rest()
    await clock.advance(SECOND)

    const delivery = await fixture.theDelivery()
    const { request_body, attempt_log, ...head } = delivery

    expect([head]).toEqual(await fixture.listDeliveries())
    expect(target.requests.map(({ body }) => body)).toEqual([request_body, request_body])
    expect(head.message_id).toBe(JSON.parse(request_body).event_id)
    expect(attempt_log).toHaveLength(2)
    for (const [n, attempt] of attempt_log.entries()) {
      const sent = target.requests[n] as never as { headers: Headers }
      expect(Object.keys(attempt)).toEqual([
        'id',
        'run',
        'number',
        'trigger',
        'status',
        'started_at',
        'duration_ms',
        'timings',
        'address',
        'request',
        'response',
        'error',
        'next_attempt_at',
      ])
      expect(isTime(attempt.started_at)).toBe(true)
      const { method, url, headers } = attempt.request
      expect({ method, url }).toEqual({ method: 'POST', url: target.url })
      expect(headers['X-Service-Signature']).toMatch(/^t=\d{10},v1=[0-9a-f]{64}$/)
      for (const [name, value] of Object.entries(headers))
        expect([name, sent.headers.get(name)]).toEqual([name, value as string])
      expect(attempt.response.body).toBe(`answer ${n + 1}`)
      const traces = attempt.response.headers.filter(
        ([name]: [string]) => name.toLowerCase() === 'x-trace',
      )
      expect(traces.map(([, value]: [string, string]) => value)).toEqual([`t${n + 1}`])
      expect(attempt.address).toBe('127.0.0.1')
    }
    expect(attempt_log).toMatchObject([
      {
        run: 1,
        number: 1,
        trigger: 'schedule',
        status: 'failed',
        response: { status: 503 },
        error: { code: 'status', message: 'status 503' },
        next_attempt_at: '2026-03-01T12:00:31.000Z',
      },
      { number: 2, status: 'succeeded', response: { status: 201 }, error: null },
    ])
    expect(JSON.stringify(delivery)).not.toContain(secret)
  })

  test('keeps no more than 16 KB of an answer', async () => {
    await using fixture = await bootWebhooks()
    fixture.target.answers(() => new Response('x'.repeat(100_000)))
    await fixture.createWebhook(fixture.target.url)
    await fixture.createIdentity()
    await fixture.rest()

    const [attempt] = (await fixture.theDelivery()).attempt_log
    expect(attempt.status).toBe('succeeded')
    expect(attempt.response.body).toBe('x'.repeat(16_384))
  })

  test('is gone when the person is, save that of the deletion', async () => {
    await using fixture = await bootWebhooks()
    await fixture.createWebhook(fixture.target.url)
    const [person, kept] = [await fixture.createIdentity(), await fixture.createIdentity()]
    await fixture.setState(person, 'inactive')
    await fixture.rest()
    const before = await fixture.listDeliveries()
    expect(before).toHaveLength(3)

    await fixture.removeIdentity(person)
    await fixture.rest()
    expect(await fixture.listDeliveries()).toHaveLength(2)
    await fixture.clock.advance(MINUTE)
    // As many turns as the clean-up, which nobody waits for, has rules, and more.
    for (let turn = 0; turn < 20; turn++) await fixture.rest()

    const rows = await Promise.all((await fixture.listDeliveries()).map(fixture.readDelivery))
    const told = rows.map(({ request_body }) => JSON.parse(request_body))
    expect(told).toMatchObject([
      { event_type: 'identity.deleted', data: { identity_id: person.id, payload: {} } },
      { event_type: 'identity.created', data: { identity_id: kept.id } },
    ])
    const answers = await Promise.all(
      before.map(({ id }) => fixture.api.get(`${WEBHOOK_DELIVERIES}/${id}`)),
    )
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 404, 404])
  })
})

describe('a resend', () => {
  test('of what has arrived sends the same event once more, signed anew', async () => {
    await using fixture = await bootWebhooks()
    const { target, clock } = fixture
    const { secret } = await fixture.createWebhook(target.url)
    await fixture.createIdentity()
    await fixture.rest()
    await clock.advance(HOUR)
    const first = await fixture.theDelivery()

    const answer = await fixture.resend(first)
    await fixture.rest()

    expect(answer).toMatchObject({ id: first.id, message_id: first.message_id, run: 2 })
    expect(target.requests).toHaveLength(2)
    const [before, again] = target.requests as [never, never]
    expect((again as Json).body).toBe((before as Json).body)
    const sent = (again as Json).headers
    expect(sent.get('webhook-id')).toBe(first.message_id)
    expect(sent.get('x-service-trigger')).toBe('resend')
    expect(sent.get('webhook-timestamp')).toBe(`${Math.floor(clock.now() / 1000)}`)
    expect(signersOf(again, [secret])).toEqual([secret])
    const delivery = await fixture.theDelivery()
    expect(delivery).toMatchObject({ status: 'succeeded', attempts: 2, run: 2 })
    expect(delivery.attempt_log).toMatchObject([
      { run: 1, trigger: 'schedule' },
      { run: 2, trigger: 'resend' },
    ])
  })

  test('of what has failed has three attempts before it', async () => {
    await using fixture = await bootWebhooks()
    const { target } = fixture
    target.answers(() => new Response('', { status: 500 }))
    await fixture.createWebhook(target.url)
    await fixture.createIdentity()
    await fixture.toTheEnd()
    const failed = await fixture.theDelivery()
    const begun = fixture.clock.now() - Date.parse(failed.created_at)

    await fixture.resend(failed)
    await fixture.toTheEnd()

    const delivery = await fixture.theDelivery()
    expect(delivery).toMatchObject({ status: 'failed', attempts: 6, run: 2 })
    expect(storyOf(delivery)).toEqual([
      ...THREE_FAILURES,
      [4, begun, 'failed'],
      [5, begun + 1000, 'failed'],
      [6, begun + 3000, 'failed'],
    ])
  })

  test('of what waits is sent at once, and leaves its schedule alone should that fail', async () => {
    await using fixture = await bootWebhooks()
    const { target, clock } = fixture
    target.answers(() => new Response('', { status: 500 }))
    await fixture.createWebhook(target.url)
    await fixture.createIdentity()
    await fixture.rest()
    await clock.advance(500)

    await fixture.resend(await fixture.theDelivery())
    await fixture.rest()
    await clock.advance(5 * SECOND)

    const delivery = await fixture.theDelivery()
    expect(storyOf(delivery)).toEqual([
      [1, 0, 'failed'],
      [2, 500, 'failed'],
      [3, 1000, 'failed'],
      [4, 3000, 'failed'],
    ])
    expect(delivery).toMatchObject({ status: 'failed', run: 1 })
  })

  test('takes no body, and minds none', async () => {
    await using fixture = await bootWebhooks()
    await fixture.createWebhook(fixture.target.url)
    await fixture.createIdentity()
    await fixture.rest()
    const { id } = await fixture.theDelivery()
    for (const body of [undefined, {}, { run: 7 }])
      expect(await fixture.api.post(`${WEBHOOK_DELIVERIES}/${id}/resend`, body)).toMatchObject({
        status: 202,
      })
    await fixture.rest()
    expect((await fixture.theDelivery()).status).toBe('succeeded')
  })
})

describe('404 answers what asks the log for', () => {
  let fixture: Fixture
  let other: Party
  let foreign: Json
  beforeAll(async () => {
    fixture = await bootWebhooks()
    other = await fixture.party()
    await other.createWebhook(fixture.target.url)
    await other.createIdentity()
    await fixture.rest()
    foreign = await other.theDelivery()
  })
  afterAll(() => fixture.end())

  test.each<[string, () => string]>([
    ['a delivery of another tenant', () => foreign.id],
    ['an event of another tenant', () => foreign.message_id],
    ['a webhook of another tenant', () => foreign.endpoint_id],
    ['one that there is not', () => UNKNOWN_ID],
    ['a word', () => 'nothing'],
    ['NUL', () => '%00'],
    ['a broken escape', () => '%zz'],
    ['half a letter', () => '%c3'],
    ['SQL', () => "'%20or%201=1--"],
    ['a long text', () => 'x'.repeat(5000)],
  ])('%s', async (_, id) => {
    const path = `${WEBHOOK_DELIVERIES}/${id()}`
    const client = fixture.app.client(fixture.key)
    const expected = { status: 404, body: { error: 'delivery not found' } }
    for (const { status, body } of [await client.get(path), await client.post(`${path}/resend`)])
      expect({ status, body }).toEqual(expected)
    await fixture.rest()
    expect(fixture.target.requests).toHaveLength(1)
    expect(await other.theDelivery()).toEqual(foreign)
  })

  test('and to what filters for a webhook of another tenant there is nothing', async () => {
    expect(await fixture.listDeliveries({ endpoint_id: foreign.endpoint_id })).toEqual([])
    const failed = { endpoint_id: foreign.endpoint_id, status: 'succeeded' }
    expect(await fixture.listDeliveries(failed)).toEqual([])
  })

  test('while a cursor of another tenant is none', async () => {
    await other.createIdentity()
    await fixture.rest()
    const { next_cursor } = await other.read(`${WEBHOOK_DELIVERIES}?limit=1`)
    expect(next_cursor).toBeString()
    expect(await fixture.api.get(`${WEBHOOK_DELIVERIES}?cursor=${next_cursor}`)).toMatchObject(
      refusal(400, 'cursor'),
    )
  })
})

describe('beside the relay of the same tenant', () => {
  const RELAY = '/v1/relay'

  /** Both with an endpoint that takes, one that does not and an event each. */
  async function bootBoth() {
    const fixture = await bootWebhooks()
    const { app, acme, target } = fixture
    const { key } = await acme.key('relay', 'live')
    const relay = relayOf(app, app.client(key))
    const ofRelay = startTarget()
    const webhook = await fixture.createWebhook(target.url)
    const endpoint = await relay.createEndpoint(ofRelay.url)
    const person = await fixture.createIdentity()
    const message = await relay.send({ event_type: 'identity.created', payload: { of: 'relay' } })
    await fixture.rest()
    async function end() {
      await ofRelay.stop()
      await fixture.end()
    }
    return {
      ...fixture,
      relay,
      ofRelay,
      webhook,
      endpoint,
      person,
      message,
      [Symbol.asyncDispose]: end,
    }
  }

  test('each has its own: events, receivers, lists and logs', async () => {
    await using both = await bootBoth()
    const { relay, webhook, endpoint, message } = both

    expect(both.target.requests).toHaveLength(1)
    expect(both.ofRelay.requests).toHaveLength(1)
    expect(both.ofRelay.requests[0]?.body).toContain('{"of":"relay"}')
    expect((await both.listWebhooks()).map(({ id }) => id)).toEqual([webhook.id])
    expect(await both.listDeliveries()).toMatchObject([{ endpoint_id: webhook.id }])
    expect(await relay.listDeliveries()).toMatchObject([
      { endpoint_id: endpoint.id, message_id: message.id },
    ])
    const read = async (path: string) => (await relay.api.get(`${RELAY}${path}`)).body.data
    expect(await read('/endpoints')).toMatchObject([{ id: endpoint.id }])
    expect(await read('/messages')).toMatchObject([{ id: message.id }])
  })

  test('gate\u2019s events are none that the relay has seen', async () => {
    await using both = await bootBoth()
    await both.removeIdentity(both.person)
    await both.rest()
    const { body } = await both.relay.api.get(`${RELAY}/event-types`)
    expect(body.data.map(({ name }: Json) => name)).toEqual(['identity.created'])
  })

  test('no id of the relay leads anywhere in gate', async () => {
    await using both = await bootBoth()
    const { relay, endpoint, message, app, key } = both
    const delivery = await relay.deliveryOf(message)
    const client = app.client(key)

    for (const id of [endpoint.id, message.id, delivery.id]) {
      for (const answer of [
        await client.patch(`${WEBHOOKS}/${id}`, { active: false }),
        await client.delete(`${WEBHOOKS}/${id}`),
        await client.post(`${WEBHOOKS}/${id}/rotate-secret`, {}),
        await client.post(`${WEBHOOKS}/${id}/test`, {}),
        await client.get(`${WEBHOOK_DELIVERIES}/${id}`),
        await client.post(`${WEBHOOK_DELIVERIES}/${id}/resend`),
      ])
        expect(answer.status).toBe(404)
      expect(await both.listDeliveries({ endpoint_id: id })).toEqual([])
    }
    await both.rest()
    expect(both.ofRelay.requests).toHaveLength(1)
    expect(await relay.readEndpoint(endpoint)).toMatchObject({ active: true })
  })

  test('no id of gate leads anywhere in the relay', async () => {
    await using both = await bootBoth()
    const { relay, webhook } = both
    const { api } = relay
    const { id: deliveryId, message_id: eventId } = await both.theDelivery()

    for (const id of [webhook.id, deliveryId, eventId, both.person.id]) {
      for (const answer of [
        await api.get(`${RELAY}/endpoints/${id}`),
        await api.patch(`${RELAY}/endpoints/${id}`, { active: false }),
        await api.delete(`${RELAY}/endpoints/${id}`),
        await api.post(`${RELAY}/endpoints/${id}/rotate-secret`, {}),
        await api.post(`${RELAY}/endpoints/${id}/test`, {}),
        await api.get(`${RELAY}/endpoints/${id}/stats`),
        await api.post(`${RELAY}/endpoints/${id}/replay`, {
          since: '2026-03-01T00:00:00Z',
          dry_run: true,
        }),
        await api.get(`${RELAY}/messages/${id}`),
        await api.get(`${RELAY}/messages/${id}/deliveries`),
        await api.get(`${RELAY}/deliveries/${id}`),
        await api.post(`${RELAY}/deliveries/${id}/resend`),
        await api.post(`${RELAY}/deliveries/${id}/cancel`),
      ])
        expect(answer.status).toBe(404)
      expect(await relay.listDeliveries(`?endpoint_id=${id}`)).toEqual([])
    }
    await both.rest()
    expect(both.target.requests).toHaveLength(1)
    expect(await both.listWebhooks()).toMatchObject([{ id: webhook.id, active: true }])
  })

  test('a replay of the relay sends nothing of gate', async () => {
    await using both = await bootBoth()
    const { relay, endpoint } = both
    const answer = await relay.api.post(`${RELAY}/endpoints/${endpoint.id}/replay`, {
      since: '2026-03-01T00:00:00Z',
      which: 'all',
    })
    expect(answer).toMatchObject({ status: 202, body: { count: 1 } })
    await both.toTheEnd()
    expect(both.ofRelay.requests).toHaveLength(2)
    for (const { body } of both.ofRelay.requests) expect(body).toContain('{"of":"relay"}')
    expect(both.target.requests).toHaveLength(1)
  })

  test('a cursor of one list is none of the other', async () => {
    await using both = await bootBoth()
    const { relay, api } = both
    await both.createIdentity()
    await relay.send()
    await both.rest()
    const ofGate = (await both.read(`${WEBHOOK_DELIVERIES}?limit=1`)).next_cursor
    const ofRelay = (await relay.api.get(`${RELAY}/deliveries?limit=1`)).body.next_cursor
    expect([typeof ofGate, typeof ofRelay]).toEqual(['string', 'string'])

    expect(await api.get(`${WEBHOOK_DELIVERIES}?cursor=${ofRelay}`)).toMatchObject(
      refusal(400, 'cursor'),
    )
    expect(await relay.api.get(`${RELAY}/deliveries?cursor=${ofGate}`)).toMatchObject({
      status: 400,
    })
  })

  test('a key of one is refused by the other', async () => {
    await using both = await bootBoth()
    expect(await both.relay.api.get(WEBHOOK_DELIVERIES)).toMatchObject(
      refusal(403, 'this is a relay key; the route needs a gate key'),
    )
    expect(await both.app.client(both.key).get(`${RELAY}/deliveries`)).toMatchObject({
      status: 403,
    })
  })

  test('1,000 webhooks leave the relay its endpoints', async () => {
    await using both = await bootBoth()
    const { target, relay } = both
    await Promise.all(
      Array.from({ length: 999 }, () => both.createWebhook(target.url, { active: false })),
    )
    expect(await both.api.post(WEBHOOKS, { url: target.url })).toMatchObject({ status: 409 })
    await relay.createEndpoint(target.url, { event_types: ['none'] })
  })
})
