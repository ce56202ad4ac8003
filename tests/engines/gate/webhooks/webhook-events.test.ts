import { describe, expect, test } from 'bun:test'
import { until } from '../../../support/binary.ts'
import type { ReceivedRequest } from '../../../support/target.ts'
import { holdAnswers } from '../../clockwork/support.ts'
import { signedWith } from '../../relay/fixture.ts'
import {
  ID,
  IDENTITIES,
  type Json,
  MINUTE,
  personPath,
  SECOND,
  told,
  typesTold,
  UNKNOWN_ID,
} from '../fixture.ts'
import { ALL_EVENTS, answerWith, bootWebhooks, eventIn, signersOf, useWebhooks } from './fixture.ts'

// What the state route sends is in identities/state.test.ts, deletions in identities/deletion.test.ts.
const newParty = await useWebhooks()

test('Refused changes, and changes of other things, are not events', async () => {
  await using acme = await newParty()
  await using other = await acme.another()
  const foreign = await other.createIdentity()
  const taken = 'taken@example.com'
  await acme.createIdentity({ traits: { email: taken } })
  const person = await acme.createIdentity()
  await acme.createWebhook(acme.target.url)
  const { api } = acme
  const creation = { schema_id: 'user', traits: { email: 'new@example.com' } }
  for (const [status, fields] of <[number, Json][]>[
    [409, { traits: { email: taken.toUpperCase() } }],
    [400, { schema_id: 'operator' }],
    [400, { traits: { email: 'new@example.com', color: 'red' } }],
    [400, { credentials: { password: { config: { password: '' } } } }],
  ])
    expect(await api.post(IDENTITIES, { ...creation, ...fields })).toMatchObject({ status })
  const setState = { op: 'replace', path: '/state', value: 'inactive' }
  const move = (value: string) => ({ op: 'replace', path: '/traits/email', value })
  for (const [status, ...others] of [
    [400, { op: 'test', path: '/state', value: 'active' }],
    [409, move(taken)],
    [400, { op: 'remove', path: '/state' }],
    [400, { op: 'replace', path: '/traits/tenant_id', value: 'x' }],
  ])
    expect(await acme.patch(person, [setState, ...others])).toMatchObject({ status })
  expect(await api.delete(personPath({ id: UNKNOWN_ID }))).toMatchObject({ status: 404 })
  expect(await api.delete(personPath(foreign))).toMatchObject({ status: 403 })
  expect(await acme.readIdentity(person)).toEqual(person)
  for (const { status } of [
    await api.patch(personPath(person, '/metadata'), { plan: 'pro' }),
    await api.post(personPath(person, '/resend-verification')),
    await api.delete(personPath(person, '/sessions')),
    await acme.patch(person, [move('moved@example.com')]),
  ])
    expect(status).toBeLessThan(300)
  await acme.rest()
  expect(acme.target.requests).toEqual([])
})

test('A pending event is delivered after the identity is deleted', async () => {
  await using acme = await bootWebhooks()
  const { target, clock } = acme
  const held = holdAnswers(target)
  await acme.createWebhook(target.url)
  const person = await acme.createIdentity()
  await held.arrived(1)
  await acme.removeIdentity(person)
  await held.arrived(2)
  target.answers(() => new Response())
  held.release(500, 1)
  held.release(200)
  await acme.rest()
  await clock.advance(SECOND)
  await acme.rest()
  expect(typesTold(target)).toEqual(['identity.created', 'identity.deleted', 'identity.created'])
  expect(target.requests[2]?.body).toBe(`${target.requests[0]?.body}`)
  await clock.advance(MINUTE)
  await until(async () => (await acme.listDeliveries()).length === 1)
  expect(await acme.theDelivery()).toMatchObject({ event_type: 'identity.deleted' })
})

describe('An event is sent', () => {
  test('to the webhooks of the tenant that are subscribed to it, whatever the key', async () => {
    await using acme = await newParty()
    await using other = await acme.another()
    const { target } = acme
    const sandbox = acme.withKey((await acme.newKey('gate', 'test')).key)
    for (const event of ALL_EVENTS)
      await acme.createWebhook(`${target.url}/${event}`, { events: [event] })
    await sandbox.createWebhook(`${target.url}/all`)
    await other.createWebhook(other.target.url)
    const person = await sandbox.createIdentity()
    await acme.setState(person, 'inactive')
    await acme.setState(person, 'active')
    await acme.removeIdentity(person)
    await acme.rest()
    const arrived = target.requests.map((one) => `${one.path} ${eventIn(one).event_type}`)
    const expected = ['created', 'deleted', 'state_changed', 'state_changed'].flatMap((name) =>
      ['all', `identity.${name}`].map((webhook) => `/hook/${webhook} identity.${name}`),
    )
    expect(arrived.toSorted()).toEqual(expected.toSorted())
    expect(await sandbox.listDeliveries()).toEqual(await acme.listDeliveries())
    expect(await other.listDeliveries()).toEqual([])

    const { id } = await other.createIdentity()
    await other.rest()
    expect(target.requests).toHaveLength(8)
    expect(told(other.target)).toMatchObject([{ tenant_id: other.id, data: { identity_id: id } }])
  })

  test('only to webhooks that were subscribed when it happened, for each of many changes', async () => {
    await using acme = await newParty()
    await acme.createIdentity()
    const webhook = await acme.createWebhook(acme.target.url, { events: ['identity.login'] })
    await acme.createIdentity()
    await acme.rest()
    await acme.change(webhook, { events: ALL_EVENTS })
    await acme.toTheEnd()
    expect(acme.target.requests).toEqual([])
    const people = await Promise.all(Array.from({ length: 20 }, () => acme.createIdentity()))
    await acme.rest()
    const events = told(acme.target)
    const ids = events.map(({ data }) => data.identity_id)
    expect(ids.toSorted()).toEqual(people.map(({ id }) => id).toSorted())
    expect(new Set(events.map(({ event_id }) => event_id)).size).toBe(20)
  })
})

describe('A request', () => {
  test('has the envelope of the contract, is signed over its bytes, and contains no secrets', async () => {
    await using acme = await newParty()
    const { target } = acme
    const { secret } = await acme.createWebhook(`${target.url}?of=gate`)
    const { id } = await acme.createIdentity({
      metadata_public: { roles: ['admin'] },
      traits: { email: 'Zoë@bücher.example', custom_data: { plan: 'pro' } },
      credentials: { password: { config: { password: 'correct horse 9' } } },
    })
    await acme.rest()

    const [request] = target.requests as [ReceivedRequest]
    const { event_id } = eventIn(request)
    const payload = { email: 'zoë@bücher.example', method: 'password' }
    const envelope = {
      ...{ event_id, event_type: 'identity.created', tenant_id: acme.id },
      ...{ created_at: acme.now(), data: { identity_id: id, payload } },
    }
    expect(event_id).toEqual(ID)
    expect(request.body).toBe(JSON.stringify(envelope))
    expect(request).toMatchObject({ method: 'POST', path: '/hook?of=gate' })
    expect(Object.fromEntries(request.headers)).toMatchObject({
      'content-type': 'application/json',
      'webhook-id': event_id,
      'webhook-timestamp': `${Math.floor(acme.clock.now() / 1000)}`,
      'x-service-event-type': 'identity.created',
      'x-service-attempt': '1',
    })
    expect(signersOf(request, [secret])).toEqual([secret])
    expect(signersOf({ ...request, body: `${request.body} ` }, [secret])).toEqual(['unknown'])
    const decoded = Buffer.from(secret.slice(6), 'base64').toString('latin1')
    expect(signersOf(request, [secret.slice(6), decoded])).toEqual(['unknown'])
    expect(signedWith(request, [secret])).toEqual([secret])
    const whole = JSON.stringify([...request.headers]) + request.body
    for (const hidden of [secret, acme.key, 'correct horse', 'argon2', 'cookie', 'authorization'])
      expect(whole).not.toContain(hidden)
  })

  test('is the same for all attempts except time and number, signed under the brand', async () => {
    await using acme = await bootWebhooks({ flags: { 'brand-name': 'Acme' } })
    const { target } = acme
    target.answers(answerWith(500))
    const { secret } = await acme.createWebhook(target.url)
    const begun = Math.floor(acme.clock.now() / 1000)
    await acme.createIdentity()
    await acme.toTheEnd()
    const [first] = target.requests as [ReceivedRequest]
    expect(target.requests).toHaveLength(3)
    for (const [n, request] of target.requests.entries()) {
      const at = begun + ([0, 1, 3][n] as number)
      const { body, headers } = request
      expect(body).toBe(first.body)
      expect(headers.get('webhook-id')).toBe(eventIn(first).event_id)
      expect(headers.get('x-acme-attempt')).toBe(`${n + 1}`)
      expect(headers.get('webhook-timestamp')).toBe(`${at}`)
      expect(headers.get('x-acme-signature')).toStartWith(`t=${at},`)
      expect(signersOf(request, [secret], 'x-acme-signature')).toEqual([secret])
      const names = [...headers.keys()].filter((one) => one.endsWith('-signature'))
      expect(names.toSorted()).toEqual(['webhook-signature', 'x-acme-signature'])
    }
  })
})
