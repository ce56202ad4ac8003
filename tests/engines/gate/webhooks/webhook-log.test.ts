import { describe, expect, test } from 'bun:test'
import { startTarget } from '../../../support/target.ts'
import { holdAnswers } from '../../clockwork/support.ts'
import { copyEndpoint, relayOf } from '../../relay/fixture.ts'
import { type Json, MINUTE, plain, SECOND, UNKNOWN_ID, WEBHOOKS } from '../fixture.ts'
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

const idsOf = (list: Json[]): string[] => list.map(({ id }) => id)

describe('The log', () => {
  test('has a delivery per webhook, newest first, by status and webhook, page by page', async () => {
    await using acme = await newParty()
    await using failing = await acme.another()
    failing.target.answers(answerWith(500))
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
    ])
      expect(rows.findLast((row) => row.endpoint_id === endpoint_id)).toEqual({
        ...{ id: expect.any(String), message_id: event_id, event_type: created, endpoint_id },
        ...{ run: 1, next_attempt_at: null, created_at, ...fields },
      })

    expect(await tally(acme)).toEqual({ succeeded: 2, failed: 2, held: 2 })
    for (const [status, { id: endpoint_id }] of [
      ['succeeded', well],
      ['failed', ill],
      ['held', paused],
    ]) {
      for (const query of [{ status }, { endpoint_id }, { endpoint_id, status }])
        expect(await tally(acme, query)).toEqual({ [status]: 2 })
      expect(await tally(failing, { endpoint_id })).toEqual({})
    }
    for (const status of ['pending', 'delivering', 'retrying', 'cancelled'])
      expect(await tally(acme, { status })).toEqual({})
    expect(await tally(acme, { endpoint_id: well.id, status: 'failed' })).toEqual({})
    expect(await tally(acme, { endpoint_id: UNKNOWN_ID })).toEqual({})
    for (const status of ['done', '', 'Failed']) {
      const answer = await acme.api.get(`${WEBHOOK_DELIVERIES}?status=${status}`)
      expect(answer).toMatchObject(plain(400, 'status: '))
    }
  })

  test('shows what is being delivered and when it is tried next, also of another process', async () => {
    await using acme = await bootWebhooks()
    const { target, clock } = acme
    const held = holdAnswers(target)
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
    await using acme = await bootWebhooks()
    await acme.createWebhook(acme.target.url)
    const [person, kept] = [await acme.createIdentity(), await acme.createIdentity()]
    await acme.setState(person, 'inactive')
    await acme.rest()
    const before = await acme.listDeliveries()
    await acme.removeIdentity(person)
    await acme.rest()
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

test('Resending a failure makes three attempts again', async () => {
  await using acme = await newParty()
  acme.target.answers(answerWith(500))
  const { secret } = await acme.createWebhook(acme.target.url)
  await acme.createIdentity()
  await acme.toTheEnd()
  const failed = await acme.theDelivery()
  expect(JSON.stringify(failed)).not.toContain(secret)
  const begun = acme.clock.now() - Date.parse(failed.created_at)
  const { id, message_id } = failed
  expect(await acme.resend(failed)).toMatchObject({ id, message_id, run: 2 })
  await acme.toTheEnd()
  const delivery = await acme.theDelivery()
  expect(delivery).toMatchObject({ status: 'failed', attempts: 6, run: 2 })
  const again = THREE_FAILURES.map(([number, ms]) => [number + 3, begun + ms, 'failed'])
  expect(storyOf(delivery)).toEqual([...THREE_FAILURES, ...again] as never)
  const resent = acme.target.requests[3]
  expect(resent?.headers.get('x-service-trigger')).toBe('resend')
  expect(signersOf(resent, [secret])).toEqual([secret])
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
  expect(idsOf(await acme.listWebhooks())).toEqual([webhook.id])
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

  copyEndpoint(acme.app, webhook, 999)
  expect(await api.post(WEBHOOKS, { url: target.url })).toMatchObject({ status: 409 })
  await relay.createEndpoint(target.url, { event_types: ['none'] })
})
