import { describe, expect, test } from 'bun:test'
import { startTarget } from '../../../support/target.ts'
import { holdAnswers } from '../../clockwork/support.ts'
import { relayOf } from '../../relay/fixture.ts'
import {
  HOUR,
  IDENTITIES,
  type Json,
  MINUTE,
  plain,
  SECOND,
  UNKNOWN_ID,
  WEBHOOKS,
} from '../fixture.ts'
import {
  answerWith,
  besides,
  bootWebhooks,
  eventIn,
  type Party,
  signersOf,
  storyOf,
  THREE_FAILURES,
  useWebhooks,
  WEBHOOK_DELIVERIES,
} from './fixture.ts'

const newParty = await useWebhooks()

/** The number of deliveries of each status. */
async function tally({ listDeliveries }: Party, query = {}) {
  const counts: Record<string, number> = {}
  for (const { status } of await listDeliveries(query)) counts[status] = (counts[status] ?? 0) + 1
  return counts
}

/** Three webhooks: one that succeeds, one that fails, and a paused one. */
async function createThree(acme: Party, failing: Party) {
  failing.target.answers(answerWith(500))
  return {
    well: await acme.createWebhook(acme.target.url),
    ill: await acme.createWebhook(failing.target.url),
    paused: await acme.createWebhook(acme.target.url, { active: false }),
  }
}

describe('The log', () => {
  test('has a delivery per webhook, newest first', async () => {
    await using acme = await newParty()
    await using failing = await acme.another()
    const { well, ill, paused } = await createThree(acme, failing)
    const created_at = acme.now()
    const failed_at = new Date(acme.clock.now() + 3 * SECOND).toISOString()
    const person = await acme.createIdentity()
    await acme.toTheEnd()
    await acme.clock.advance(HOUR)
    await acme.setState(person, 'inactive')
    await acme.toTheEnd()

    const rows = await acme.listDeliveries()
    expect(rows.map(({ event_type }) => event_type)).toEqual([
      ...Array(3).fill('identity.state_changed'),
      ...Array(3).fill('identity.created'),
    ])
    const of = ({ id }: Json) => rows.findLast(({ endpoint_id }) => endpoint_id === id)
    const { event_id, data } = eventIn(acme.target.requests[0])
    expect(data.identity_id).toBe(person.id)
    const shared = {
      id: expect.any(String),
      message_id: event_id,
      event_type: 'identity.created',
      held_reason: null,
      run: 1,
      next_attempt_at: null,
      created_at,
    }
    const succeeded = { status: 'succeeded', attempts: 1, ended_at: created_at }
    expect(of(well)).toEqual({ ...shared, endpoint_id: well.id, ...succeeded })
    const failed = { status: 'failed', attempts: 3, ended_at: failed_at }
    expect(of(ill)).toEqual({ ...shared, endpoint_id: ill.id, ...failed })
    const held = { status: 'held', held_reason: 'inactive', attempts: 0, ended_at: null }
    expect(of(paused)).toEqual({ ...shared, endpoint_id: paused.id, ...held })
  })

  test('shows what is being delivered and when it is tried next', async () => {
    await using acme = await newParty()
    const { target, clock } = acme
    const held = holdAnswers(target)
    await acme.createWebhook(target.url)
    await acme.createIdentity()
    await held.arrived(1)
    const open = { next_attempt_at: null, ended_at: null }
    expect(await acme.theDelivery()).toMatchObject({ status: 'delivering', attempts: 0, ...open })

    target.answers(() => new Response())
    held.release(500)
    await acme.rest()
    const next = new Date(clock.now() + SECOND).toISOString()
    const retrying = { status: 'retrying', attempts: 1, next_attempt_at: next, ended_at: null }
    expect(await acme.theDelivery()).toMatchObject(retrying)
    await clock.advance(SECOND)
    const done = { status: 'succeeded', attempts: 2, next_attempt_at: null, ended_at: next }
    expect(await acme.theDelivery()).toMatchObject(done)
  })

  test('can be filtered by status and webhook, and read page by page', async () => {
    await using acme = await newParty()
    await using failing = await acme.another()
    const { well, ill, paused } = await createThree(acme, failing)
    for (let n = 0; n < 3; n++) await acme.createIdentity()
    await acme.toTheEnd()

    expect(await tally(acme)).toEqual({ succeeded: 3, failed: 3, held: 3 })
    for (const [status, { id }] of [
      ['succeeded', well],
      ['failed', ill],
      ['held', paused],
    ]) {
      for (const query of [{ status }, { endpoint_id: id }, { endpoint_id: id, status }])
        expect(await tally(acme, query)).toEqual({ [status]: 3 })
      expect(await tally(failing, { endpoint_id: id })).toEqual({})
    }
    for (const status of ['pending', 'delivering', 'retrying', 'cancelled'])
      expect(await tally(acme, { status })).toEqual({})
    expect(await tally(acme, { endpoint_id: well.id, status: 'failed' })).toEqual({})
    expect(await tally(acme, { endpoint_id: UNKNOWN_ID })).toEqual({})
    for (const status of ['done', '', 'Failed']) {
      const answer = await acme.api.get(`${WEBHOOK_DELIVERIES}?status=${status}`)
      expect(answer).toMatchObject(plain(400, 'status: '))
    }

    for (const query of <Record<string, string>[]>[
      {},
      { status: 'failed' },
      { endpoint_id: well.id },
    ]) {
      const idsOf = (list: Json[]) => list.map(({ id }) => id)
      const whole = idsOf(await acme.listDeliveries(query))
      const walked: string[] = []
      for (let cursor = ''; walked.length < whole.length; ) {
        const search = new URLSearchParams({ ...query, limit: '2', ...(cursor && { cursor }) })
        const page = await acme.read(`${WEBHOOK_DELIVERIES}?${search}`)
        walked.push(...idsOf(page.data))
        cursor = page.next_cursor
        await acme.createIdentity()
      }
      expect(walked).toEqual(whole)
      await acme.toTheEnd()
    }
  })

  test('of another process is the same', async () => {
    await using acme = await bootWebhooks()
    await acme.createWebhook(acme.target.url)
    await using next = await besides(acme, acme.key)
    const traits = { email: 'a@example.com' }
    await next.post(IDENTITIES, { schema_id: 'user', traits })
    const [delivery] = await acme.listDeliveries()
    expect((await next.get(WEBHOOK_DELIVERIES)).body.data).toMatchObject([{ id: delivery.id }])
    await next.clock.settled()
    await acme.rest()
  })
})

describe('A delivery in the log', () => {
  test('has the requests and answers of all attempts, but not the secret', async () => {
    await using acme = await newParty()
    const { target, clock } = acme
    let calls = 0
    target.answers(() => {
      const status = ++calls === 1 ? 503 : 201
      return new Response(`answer ${calls}`, { status, headers: { 'x-trace': `t${calls}` } })
    })
    const { secret } = await acme.createWebhook(target.url)
    await acme.createIdentity()
    await acme.rest()
    const next_attempt_at = new Date(clock.now() + SECOND).toISOString()
    await clock.advance(SECOND)

    const delivery = await acme.theDelivery()
    const { request_body, attempt_log, ...head } = delivery
    expect([head]).toEqual(await acme.listDeliveries())
    expect(target.requests.map(({ body }) => body)).toEqual([request_body, request_body])
    expect(JSON.stringify(delivery)).not.toContain(secret)
    for (const [n, { request, response }] of attempt_log.entries()) {
      const { 'X-Service-Signature': signature, ...others } = request.headers
      expect(signature).toMatch(/^t=\d{10},v1=[0-9a-f]{64}$/)
      for (const [name, value] of Object.entries({ ...others, 'X-Service-Signature': signature }))
        expect([name, target.requests[n]?.headers.get(name)]).toEqual([name, value as string])
      expect(response.body).toBe(`answer ${n + 1}`)
      expect(new Headers(response.headers).get('x-trace')).toBe(`t${n + 1}`)
    }
    const request = { method: 'POST', url: target.url }
    const shared = { run: 1, trigger: 'schedule', address: '127.0.0.1', request }
    expect(attempt_log).toMatchObject([
      {
        ...shared,
        number: 1,
        status: 'failed',
        response: { status: 503 },
        error: { code: 'status', message: 'status 503' },
        next_attempt_at,
      },
      { ...shared, number: 2, status: 'succeeded', response: { status: 201 }, error: null },
    ])
  })

  test('has at most 16 KB of an answer', async () => {
    await using acme = await newParty()
    acme.target.answers(() => new Response('x'.repeat(100_000)))
    await acme.createWebhook(acme.target.url)
    await acme.createIdentity()
    await acme.rest()
    const [attempt] = (await acme.theDelivery()).attempt_log
    expect(attempt.status).toBe('succeeded')
    expect(attempt.response.body).toBe('x'.repeat(16_384))
  })

  test('is erased with its identity, except for the deletion', async () => {
    await using acme = await bootWebhooks()
    await acme.createWebhook(acme.target.url)
    const [person, kept] = [await acme.createIdentity(), await acme.createIdentity()]
    await acme.setState(person, 'inactive')
    await acme.rest()
    const before = await acme.listDeliveries()
    await acme.removeIdentity(person)
    await acme.rest()
    expect(await acme.listDeliveries()).toHaveLength(2)
    await acme.clock.advance(MINUTE)
    // Retention runs its rules one per turn.
    for (let turn = 0; turn < 20; turn++) await acme.rest()

    const rows = await Promise.all((await acme.listDeliveries()).map(acme.readDelivery))
    expect(rows.map(({ request_body }) => JSON.parse(request_body))).toMatchObject([
      { event_type: 'identity.deleted', data: { identity_id: person.id, payload: {} } },
      { event_type: 'identity.created', data: { identity_id: kept.id } },
    ])
    const answers = before.map(({ id }) => acme.api.get(`${WEBHOOK_DELIVERIES}/${id}`))
    const statuses = (await Promise.all(answers)).map(({ status }) => status)
    expect(statuses.toSorted()).toEqual([200, 404, 404])
  })
})

describe('Resending', () => {
  test('a success sends the same event again, with a new signature', async () => {
    await using acme = await newParty()
    const { target, clock } = acme
    const { secret } = await acme.createWebhook(target.url)
    await acme.createIdentity()
    await acme.rest()
    await clock.advance(HOUR)
    const { id, message_id } = await acme.theDelivery()
    expect(await acme.resend({ id })).toMatchObject({ id, message_id, run: 2 })
    await acme.rest()

    const [before, again] = target.requests
    expect(again?.body).toBe(`${before?.body}`)
    expect(again?.headers.get('webhook-id')).toBe(message_id)
    expect(again?.headers.get('x-service-trigger')).toBe('resend')
    expect(again?.headers.get('webhook-timestamp')).toBe(`${Math.floor(clock.now() / 1000)}`)
    expect(signersOf(again, [secret])).toEqual([secret])
    const delivery = await acme.theDelivery()
    expect(delivery).toMatchObject({ status: 'succeeded', attempts: 2, run: 2 })
    expect(delivery.attempt_log).toMatchObject([
      { run: 1, trigger: 'schedule' },
      { run: 2, trigger: 'resend' },
    ])
    // The route takes no body and ignores one.
    for (const body of [{}, { run: 7 }]) {
      const answer = await acme.api.post(`${WEBHOOK_DELIVERIES}/${id}/resend`, body)
      expect(answer).toMatchObject({ status: 202 })
    }
    await acme.rest()
  })

  test('a failure makes three attempts again', async () => {
    await using acme = await newParty()
    acme.target.answers(answerWith(500))
    await acme.createWebhook(acme.target.url)
    await acme.createIdentity()
    await acme.toTheEnd()
    const failed = await acme.theDelivery()
    const begun = acme.clock.now() - Date.parse(failed.created_at)
    await acme.resend(failed)
    await acme.toTheEnd()
    const delivery = await acme.theDelivery()
    expect(delivery).toMatchObject({ status: 'failed', attempts: 6, run: 2 })
    const again = THREE_FAILURES.map(([number, ms]) => [number + 3, begun + ms, 'failed'])
    expect(storyOf(delivery)).toEqual([...THREE_FAILURES, ...again] as never)
  })

  test('a waiting delivery makes an additional attempt, and leaves the schedule', async () => {
    await using acme = await newParty()
    acme.target.answers(answerWith(500))
    await acme.createWebhook(acme.target.url)
    await acme.createIdentity()
    await acme.rest()
    await acme.clock.advance(500)
    await acme.resend(await acme.theDelivery())
    await acme.toTheEnd()
    const delivery = await acme.theDelivery()
    const times = storyOf(delivery).map(([, ms]) => ms)
    expect(times).toEqual([0, 500, 1000, 3000])
    expect(delivery).toMatchObject({ status: 'failed', run: 1 })
  })
})

describe('The relay of the same tenant', () => {
  const RELAY = '/v1/relay'

  async function withRelay(acme: Party) {
    const relay = relayOf(acme.app, acme.app.client((await acme.newKey('relay', 'live')).key))
    const ofRelay = startTarget()
    const webhook = await acme.createWebhook(acme.target.url)
    const endpoint = await relay.createEndpoint(ofRelay.url)
    const person = await acme.createIdentity()
    const message = await relay.send({ event_type: 'identity.created', payload: { of: 'relay' } })
    await acme.rest()
    return { relay, ofRelay, webhook, endpoint, person, message }
  }

  test('has its own events, endpoints and log', async () => {
    await using acme = await newParty()
    const { relay, ofRelay, webhook, endpoint, person, message } = await withRelay(acme)
    await using _ = ofRelay
    const read = async (path: string) => (await relay.api.get(`${RELAY}${path}`)).body.data

    expect(acme.target.requests).toHaveLength(1)
    expect(ofRelay.requests.map(({ body }) => JSON.parse(body).data)).toEqual([{ of: 'relay' }])
    expect(await acme.listWebhooks()).toMatchObject([{ id: webhook.id }])
    expect(await acme.listDeliveries()).toMatchObject([{ endpoint_id: webhook.id }])
    expect(await relay.listDeliveries()).toMatchObject([
      { endpoint_id: endpoint.id, message_id: message.id },
    ])
    expect(await read('/endpoints')).toMatchObject([{ id: endpoint.id }])
    expect(await read('/messages')).toMatchObject([{ id: message.id }])
    await acme.removeIdentity(person)
    await acme.rest()
    expect(await read('/event-types')).toMatchObject([{ name: 'identity.created' }])
  })

  test("can't be reached with the ids or cursors of gate, nor gate with its own", async () => {
    await using acme = await newParty()
    const { relay, ofRelay, webhook, endpoint, person, message } = await withRelay(acme)
    await using _ = ofRelay
    const { api } = acme
    const { id, message_id } = await acme.theDelivery()
    for (const foreign of [endpoint.id, message.id, (await relay.deliveryOf(message)).id]) {
      for (const { status } of [
        await api.patch(`${WEBHOOKS}/${foreign}`, { active: false }),
        await api.delete(`${WEBHOOKS}/${foreign}`),
        await api.post(`${WEBHOOKS}/${foreign}/rotate-secret`, {}),
        await api.post(`${WEBHOOKS}/${foreign}/test`, {}),
        await api.get(`${WEBHOOK_DELIVERIES}/${foreign}`),
        await api.post(`${WEBHOOK_DELIVERIES}/${foreign}/resend`),
      ])
        expect(status).toBe(404)
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
    expect(acme.target.requests).toHaveLength(2)
    expect(ofRelay.requests).toHaveLength(2)
  })

  test('replays and counts only its own', async () => {
    await using acme = await newParty()
    const { relay, ofRelay, endpoint } = await withRelay(acme)
    await using _ = ofRelay
    const replay = { since: '2026-03-01T00:00:00Z', which: 'all' }
    const answer = await relay.api.post(`${RELAY}/endpoints/${endpoint.id}/replay`, replay)
    expect(answer).toMatchObject({ status: 202, body: { count: 1 } })
    await acme.toTheEnd()
    expect(ofRelay.requests).toHaveLength(2)
    expect(acme.target.requests).toHaveLength(1)

    const { url } = acme.target
    const create = () => acme.createWebhook(url, { active: false })
    await Promise.all(Array.from({ length: 999 }, create))
    expect(await acme.api.post(WEBHOOKS, { url })).toMatchObject({ status: 409 })
    await relay.createEndpoint(url, { event_types: ['none'] })
  })
})
