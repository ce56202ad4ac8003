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
import {
  ALL_EVENTS,
  answerWith,
  bootWebhooks,
  eventIn,
  type Party,
  signersOf,
  useWebhooks,
} from './fixture.ts'

// What the state route sends is in identities/state.test.ts, deletions in identities/deletion.test.ts.
const newParty = await useWebhooks()

/** The events that an action causes. */
async function eventsOf({ target, rest }: Party, act: () => Promise<unknown>): Promise<Json[]> {
  const before = target.requests.length
  await act()
  await rest()
  return told(target).slice(before)
}

test('An event has the envelope of the contract, and an identity only address and method', async () => {
  await using acme = await newParty()
  await acme.createWebhook(acme.target.url)
  const { id } = await acme.createIdentity({
    metadata_public: { roles: ['admin'] },
    traits: { email: 'Ada@Example.com', custom_data: { plan: 'pro' } },
    credentials: { password: { config: { password: 'correct horse 9' } } },
  })
  await acme.rest()

  const [request] = acme.target.requests
  const event = eventIn(request)
  const expected = {
    event_id: event.event_id,
    event_type: 'identity.created',
    tenant_id: acme.id,
    created_at: acme.now(),
    data: { identity_id: id, payload: { email: 'ada@example.com', method: 'password' } },
  }
  expect(request?.body).toBe(JSON.stringify(expected))
  expect(event.event_id).toEqual(ID)
})

test('A refused creation, deletion or change of state is not an event', async () => {
  await using acme = await newParty()
  await using other = await acme.another()
  const foreign = await other.createIdentity()
  const taken = 'taken@example.com'
  await acme.createIdentity({ traits: { email: taken } })
  const person = await acme.createIdentity()
  await acme.createWebhook(acme.target.url)
  const { api } = acme
  const creation = { schema_id: 'user', traits: { email: 'new@example.com' } }
  const setState = { op: 'replace', path: '/state', value: 'inactive' }

  const events = await eventsOf(acme, async () => {
    for (const [status, fields] of <[number, Json][]>[
      [409, { traits: { email: taken.toUpperCase() } }],
      [400, { schema_id: 'operator' }],
      [400, { traits: { email: 'new@example.com', color: 'red' } }],
      [400, { credentials: { password: { config: { password: '' } } } }],
    ])
      expect(await api.post(IDENTITIES, { ...creation, ...fields })).toMatchObject({ status })
    for (const [status, ...others] of [
      [400, { op: 'test', path: '/state', value: 'active' }],
      [409, { op: 'replace', path: '/traits/email', value: taken }],
      [400, { op: 'remove', path: '/state' }],
      [400, { op: 'replace', path: '/traits/tenant_id', value: 'x' }],
    ])
      expect(await acme.patch(person, [setState, ...others])).toMatchObject({ status })
    expect(await api.delete(personPath({ id: UNKNOWN_ID }))).toMatchObject({ status: 404 })
    expect(await api.delete(personPath(foreign))).toMatchObject({ status: 403 })
  })
  expect(events).toEqual([])
  expect(await acme.readIdentity(person)).toEqual(person)
})

test('Metadata, addresses, sessions and verification mails are not events', async () => {
  await using acme = await newParty()
  const person = await acme.createIdentity()
  await acme.createWebhook(acme.target.url)
  const { api } = acme
  const move = [{ op: 'replace', path: '/traits/email', value: 'moved@example.com' }]
  const events = await eventsOf(acme, async () => {
    for (const { status } of [
      await api.patch(personPath(person, '/metadata'), { plan: 'pro' }),
      await api.get(personPath(person)),
      await api.post(personPath(person, '/resend-verification')),
      await api.delete(personPath(person, '/sessions')),
      await acme.patch(person, move),
    ])
      expect(status).toBeLessThan(300)
  })
  expect(events).toEqual([])
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
  /** Creates an identity, changes its state twice and deletes it. */
  async function live({ createIdentity, setState, removeIdentity, rest }: Party) {
    const person = await createIdentity()
    await setState(person, 'inactive')
    await setState(person, 'active')
    await removeIdentity(person)
    await rest()
  }

  test('to the webhooks of the tenant that are subscribed to it', async () => {
    await using acme = await newParty()
    await using other = await acme.another()
    const { target } = acme
    for (const event of ALL_EVENTS)
      await acme.createWebhook(`${target.url}/${event}`, { events: [event] })
    await acme.createWebhook(`${target.url}/all`)
    await other.createWebhook(other.target.url)
    await live(acme)

    const arrived = target.requests.map((one) => `${one.path} ${eventIn(one).event_type}`)
    const sent = ['created', 'deleted', 'state_changed', 'state_changed'].map(
      (one) => `identity.${one}`,
    )
    const expected = sent.flatMap((type) => [`/hook/all ${type}`, `/hook/${type} ${type}`])
    expect(arrived.toSorted()).toEqual(expected.toSorted())
    expect(other.target.requests).toEqual([])
    expect(await other.listDeliveries()).toEqual([])
    const { id } = await other.createIdentity()
    await other.rest()
    expect(target.requests).toHaveLength(8)
    expect(told(other.target)).toMatchObject([{ tenant_id: other.id, data: { identity_id: id } }])
  })

  test('to all of them with the same id, each signed with its own secret', async () => {
    await using acme = await newParty()
    const { target } = acme
    const webhooks = []
    for (let n = 0; n < 3; n++) webhooks.push(await acme.createWebhook(`${target.url}/${n}`))
    await acme.createIdentity()
    await acme.rest()

    const paths = target.requests.map(({ path }) => path).toSorted()
    expect(paths).toEqual(['/hook/0', '/hook/1', '/hook/2'])
    expect(new Set(target.requests.map(({ body }) => body)).size).toBe(1)
    const secrets = webhooks.map(({ secret }) => secret)
    for (const request of target.requests)
      expect(signersOf(request, secrets)).toEqual([secrets[Number(request.path.at(-1))]])
  })

  test('whatever the environment of the key', async () => {
    await using acme = await newParty()
    const sandbox = acme.withKey((await acme.newKey('gate', 'test')).key)
    await sandbox.createWebhook(acme.target.url)
    await acme.createIdentity()
    await sandbox.createIdentity()
    await acme.rest()
    expect(typesTold(acme.target)).toEqual(['identity.created', 'identity.created'])
    expect(await sandbox.listDeliveries()).toEqual(await acme.listDeliveries())
  })

  test('only to webhooks that were subscribed when it happened', async () => {
    await using acme = await newParty()
    await acme.createIdentity()
    const webhook = await acme.createWebhook(acme.target.url, { events: ['identity.login'] })
    await acme.createIdentity()
    await acme.rest()
    await acme.change(webhook, { events: ALL_EVENTS })
    await acme.toTheEnd()
    expect(acme.target.requests).toEqual([])
  })

  test('for each of many changes at once', async () => {
    await using acme = await newParty()
    await acme.createWebhook(acme.target.url)
    const people = await Promise.all(Array.from({ length: 60 }, () => acme.createIdentity()))
    await acme.rest()
    const events = told(acme.target)
    const ids = events.map(({ data }) => data.identity_id)
    expect(ids.toSorted()).toEqual(people.map(({ id }) => id).toSorted())
    expect(new Set(events.map(({ event_id }) => event_id)).size).toBe(60)
  })
})

describe('A request', () => {
  test('is a POST of JSON, signed over its bytes with the whole secret, and contains no secrets', async () => {
    await using acme = await newParty()
    const { target } = acme
    const { secret } = await acme.createWebhook(`${target.url}?of=gate`)
    await acme.createIdentity({
      traits: { email: 'zoë@bücher.example' },
      credentials: { password: { config: { password: 'correct horse 9' } } },
    })
    await acme.rest()

    const [request] = target.requests as [ReceivedRequest]
    expect(request).toMatchObject({ method: 'POST', path: '/hook?of=gate' })
    expect(Object.fromEntries(request.headers)).toMatchObject({
      'content-type': 'application/json',
      'webhook-id': eventIn(request).event_id,
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

  test('is signed under the name of the brand', async () => {
    await using acme = await bootWebhooks({ flags: { 'brand-name': 'Acme' } })
    const { secret } = await acme.createWebhook(acme.target.url)
    await acme.createIdentity()
    await acme.rest()
    const [request] = acme.target.requests as [ReceivedRequest]
    expect(signersOf(request, [secret], 'x-acme-signature')).toEqual([secret])
    const names = [...request.headers.keys()].filter((one) => one.endsWith('-signature'))
    expect(names.toSorted()).toEqual(['webhook-signature', 'x-acme-signature'])
  })

  test('is the same for all attempts, except for time, signature and number', async () => {
    await using acme = await newParty()
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
      expect(headers.get('x-service-attempt')).toBe(`${n + 1}`)
      expect(headers.get('webhook-timestamp')).toBe(`${at}`)
      expect(headers.get('x-service-signature')).toStartWith(`t=${at},`)
      expect(signersOf(request, [secret])).toEqual([secret])
    }
  })
})
