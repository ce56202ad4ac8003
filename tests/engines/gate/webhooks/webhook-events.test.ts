import { describe, expect, test } from 'bun:test'
import { until } from '../../../support/binary.ts'
import { type ReceivedRequest, startTarget } from '../../../support/target.ts'
import { holdAnswers, MINUTE, SECOND } from '../../clockwork/support.ts'
import { signedWith } from '../../relay/management.ts'
import { IDENTITIES, type Json } from '../fixture.ts'
import {
  ALL_EVENTS,
  bootWebhooks,
  eventIn,
  eventsAt,
  type Fixture,
  signedAt,
  signersOf,
  typesAt,
  UNKNOWN_ID,
} from './webhook-fixture.ts'

const START = '2026-03-01T12:00:30.000Z'
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

/** The envelope of the contract, with no key more or less, in its order. */
function expectEnvelope(
  request: ReceivedRequest | undefined,
  expected: { type: string; tenantId: string; identityId: string; at: string; payload: Json },
) {
  const event = eventIn(request as ReceivedRequest)
  expect(Object.keys(event)).toEqual(['event_id', 'event_type', 'tenant_id', 'created_at', 'data'])
  expect(Object.keys(event.data)).toEqual(['identity_id', 'payload'])
  expect(Object.keys(event.data.payload)).toEqual(Object.keys(expected.payload))
  expect(event.event_id).toMatch(UUID)
  expect(event).toEqual({
    event_id: event.event_id,
    event_type: expected.type,
    tenant_id: expected.tenantId,
    created_at: expected.at,
    data: { identity_id: expected.identityId, payload: expected.payload },
  })
  expect(JSON.stringify(event)).toBe(request?.body as string)
}

/** A person of whom nothing is told yet, and a webhook that is told all there is. */
async function bootWithPerson(fields: Json = {}) {
  const fixture = await bootWebhooks()
  const person = await fixture.createIdentity(fields)
  const webhook = await fixture.createWebhook(fixture.target.url)
  return { ...fixture, person, webhook }
}

/** What has arrived since `act` began, once nothing is under way any more. */
async function told(
  { target, rest }: Pick<Fixture, 'target' | 'rest'>,
  act: () => Promise<unknown>,
) {
  const before = target.requests.length
  await act()
  await rest()
  return target.requests.slice(before)
}

describe('identity.created', () => {
  test.each<[string, Json]>([
    ['without a password', {}],
    ['with a password', { credentials: { password: { config: { password: 'correct horse 9' } } } }],
    ['inactive', { state: 'inactive' }],
    [
      'with everything else',
      {
        metadata_public: { roles: ['admin'] },
        traits: { email: 'Ada@Example.com', custom_data: { plan: 'pro' } },
        verifiable_addresses: [{ value: 'ada@example.com', verified: true }],
      },
    ],
  ])('is told of somebody created %s, with address and method and nothing else', async (...of) => {
    await using fixture = await bootWebhooks()
    const { target, acme } = fixture
    await fixture.createWebhook(target.url)
    const fields = { ...of[1], traits: { email: 'ada@example.com', ...of[1].traits } }

    const { id } = await fixture.createIdentity(fields)
    await fixture.rest()

    expect(target.requests).toHaveLength(1)
    expectEnvelope(target.requests[0], {
      type: 'identity.created',
      tenantId: acme.id,
      identityId: id,
      at: START,
      payload: { email: 'ada@example.com', method: 'password' },
    })
  })

  test('is not told of a creation that is refused', async () => {
    await using fixture = await bootWithPerson({ traits: { email: 'ada@example.com' } })
    const creation = { schema_id: 'user', traits: { email: 'new@example.com' } }
    const unusable = { password: { config: { password: '' } } }

    const requests = await told(fixture, async () => {
      for (const [status, body] of [
        [409, { ...creation, traits: { email: 'ADA@example.com' } }],
        [400, { ...creation, schema_id: 'operator' }],
        [400, { ...creation, traits: {} }],
        [400, { ...creation, traits: { email: 'new@example.com', color: 'red' } }],
        [400, { ...creation, state: 'asleep' }],
        [400, { ...creation, credentials: unusable }],
      ] as const)
        expect(await fixture.api.post(IDENTITIES, body)).toMatchObject({ status })
    })

    expect(requests).toEqual([])
    expect(await fixture.listDeliveries()).toEqual([])
  })

  test('is told once of two creations with one address at the same time', async () => {
    await using fixture = await bootWebhooks()
    await fixture.createWebhook(fixture.target.url)
    const body = { schema_id: 'user', traits: { email: 'ada@example.com' } }

    const answers = await Promise.all(
      Array.from({ length: 8 }, () => fixture.api.post(IDENTITIES, body)),
    )
    await fixture.rest()

    const made = answers.filter(({ status }) => status === 201)
    expect(made).toHaveLength(1)
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(7)
    expect(eventsAt(fixture.target).map(({ data }) => data.identity_id)).toEqual([made[0]?.body.id])
  })
})

describe('identity.deleted', () => {
  test('is told of a deletion, with nothing but the id', async () => {
    await using fixture = await bootWithPerson()
    const { person, acme } = fixture

    const [request, ...others] = await told(fixture, () => fixture.removeIdentity(person))

    expect(others).toEqual([])
    expectEnvelope(request, {
      type: 'identity.deleted',
      tenantId: acme.id,
      identityId: person.id,
      at: START,
      payload: {},
    })
  })

  test('is told once: what is not there any more, or was another tenant\u2019s, is not deleted', async () => {
    await using fixture = await bootWithPerson()
    const other = await fixture.party()
    const theirs = await other.createIdentity()
    await fixture.removeIdentity(fixture.person)
    await fixture.rest()

    const requests = await told(fixture, async () => {
      const { api } = fixture
      for (const [id, status] of [
        [fixture.person.id, 404],
        [UNKNOWN_ID, 404],
        [theirs.id, 403],
      ])
        expect(await api.delete(`${IDENTITIES}/${id}`)).toMatchObject({ status })
    })

    expect(requests).toEqual([])
  })

  test('does not take the events before it along: what is on its way arrives all the same', async () => {
    await using fixture = await bootWebhooks()
    const { target, clock } = fixture
    const held = holdAnswers(target)
    await fixture.createWebhook(target.url, { events: ['identity.created', 'identity.deleted'] })
    const person = await fixture.createIdentity({ traits: { email: 'ada@example.com' } })
    await held.arrived(1)

    await fixture.removeIdentity(person)
    await held.arrived(2)
    target.answers(() => new Response())
    held.release(500, 1)
    held.release(200)
    await fixture.rest()
    await clock.advance(SECOND)
    await fixture.rest()

    expect(typesAt(target)).toEqual(['identity.created', 'identity.deleted', 'identity.created'])
    expect(target.requests[2]?.body).toBe(target.requests[0]?.body as string)
    expect(eventIn(target.requests[2] as never).data.payload.email).toBe('ada@example.com')
    await clock.advance(MINUTE)
    await until(async () => (await fixture.listDeliveries()).length === 1)
    expect(await fixture.theDelivery()).toMatchObject({ event_type: 'identity.deleted' })
  })
})

describe('identity.state_changed', () => {
  const moves: [string, (fixture: Fixture, person: Json, state: string) => Promise<unknown>][] = [
    ['the state route', (fixture, person, state) => fixture.setState(person, state)],
    [
      'a JSON Patch',
      (fixture, person, state) =>
        fixture.patch(person, [{ op: 'replace', path: '/state', value: state }]),
    ],
  ]

  test.each(moves)('is told of each change by %s, with the new state', async (_, move) => {
    await using fixture = await bootWithPerson()
    const { person, acme, clock } = fixture
    const about = { type: 'identity.state_changed', tenantId: acme.id, identityId: person.id }

    const [down] = await told(fixture, () => move(fixture, person, 'inactive'))
    await clock.advance(90 * SECOND)
    const [up, ...others] = await told(fixture, () => move(fixture, person, 'active'))

    expect(others).toEqual([])
    expectEnvelope(down, { ...about, at: START, payload: { state: 'inactive' } })
    const later = '2026-03-01T12:02:00.000Z'
    expectEnvelope(up, { ...about, at: later, payload: { state: 'active' } })
    expect(eventIn(up as never).event_id).not.toBe(eventIn(down as never).event_id)
  })

  test.each(moves)(
    'is told of the state that there is, set by %s, and nothing is changed',
    async (_, move) => {
      await using fixture = await bootWithPerson()
      await fixture.clock.advance(SECOND)
      const events = await told(fixture, () => move(fixture, fixture.person, 'active'))
      expect(events.map(eventIn)).toMatchObject([
        { event_type: 'identity.state_changed', data: { payload: { state: 'active' } } },
      ])
      expect(await fixture.readIdentity(fixture.person)).toEqual(fixture.person)
    },
  )

  test('is told once of a patch that changes other things too', async () => {
    await using fixture = await bootWithPerson()
    const operations = [
      { op: 'add', path: '/metadata_public/plan', value: 'pro' },
      { op: 'replace', path: '/traits/email', value: 'moved@example.com' },
      { op: 'replace', path: '/state', value: 'inactive' },
    ]

    const requests = await told(fixture, () => fixture.patch(fixture.person, operations))

    expect(requests.map(eventIn)).toMatchObject([
      { event_type: 'identity.state_changed', data: { payload: { state: 'inactive' } } },
    ])
  })

  test.each<[string, Json]>([
    ['leaves it alone', [{ path: '/metadata_public/a', op: 'add', value: 1 }]],
    ['moves the address', [{ path: '/traits/email', value: 'other@example.com' }]],
  ])('is not told of a patch that %s', async (_, operations) => {
    await using fixture = await bootWithPerson()
    const patch = operations.map((one: Json) => ({ op: 'replace', path: '/state', ...one }))

    const requests = await told(fixture, async () => {
      expect(await fixture.patch(fixture.person, patch)).toMatchObject({ status: 200 })
    })

    expect(requests).toEqual([])
  })

  test.each<[string, number, Json]>([
    ['fails at a later operation', 400, [{}, { op: 'test', path: '/state', value: 'active' }]],
    [
      'takes an address that is taken',
      409,
      [{}, { path: '/traits/email', value: 'b@example.com' }],
    ],
    ['sets a state that there is not', 400, [{ value: 'asleep' }]],
    ['removes the state', 400, [{ op: 'remove' }]],
    ['reaches for what may not be set', 400, [{}, { path: '/traits/tenant_id', value: 'x' }]],
  ])('is not told of a patch that %s, and the state stays', async (_, status, operations) => {
    await using fixture = await bootWithPerson()
    await fixture.createIdentity({ traits: { email: 'b@example.com' } })
    await fixture.rest()
    const defaults = { op: 'replace', path: '/state', value: 'inactive' }
    const patch = operations.map((one: Json) => ({ ...defaults, ...one }))

    const requests = await told(fixture, async () => {
      expect(await fixture.patch(fixture.person, patch)).toMatchObject({ status })
    })

    expect(requests).toEqual([])
    expect(await fixture.readIdentity(fixture.person)).toMatchObject({ state: 'active' })
  })

  test('is told of each request where many ask for the same change at once', async () => {
    await using fixture = await bootWithPerson()
    const { person } = fixture

    const requests = await told(fixture, () =>
      Promise.all(Array.from({ length: 8 }, () => fixture.setState(person, 'inactive'))),
    )

    expect(requests.map((one) => eventIn(one).data.payload)).toEqual(
      Array(8).fill({ state: 'inactive' }),
    )
  })
})

test('nobody is told of metadata, of sessions that end, or of another verification mail', async () => {
  await using fixture = await bootWithPerson()
  const { person, api } = fixture
  const path = `${IDENTITIES}/${person.id}`

  const requests = await told(fixture, async () => {
    for (const { status } of [
      await api.patch(`${path}/metadata`, { plan: 'pro' }),
      await api.get(path),
      await api.post(`${path}/resend-verification`),
      await api.delete(`${path}/sessions`),
    ])
      expect(status).toBeLessThan(300)
  })

  expect(requests).toEqual([])
})

describe('who is told', () => {
  /** A creation, two changes of state and a deletion. */
  async function aLife({ createIdentity, setState, removeIdentity }: Fixture) {
    const person = await createIdentity()
    await setState(person, 'inactive')
    await setState(person, 'active')
    await removeIdentity(person)
  }

  test('is each webhook that has the event on its list, and no other', async () => {
    await using fixture = await bootWebhooks()
    const targets = new Map<string, Awaited<ReturnType<typeof startTarget>>>()
    for (const event of ALL_EVENTS) {
      const target = startTarget()
      targets.set(event, target)
      await fixture.createWebhook(target.url, { events: [event] })
    }
    await fixture.createWebhook(fixture.target.url)

    await aLife(fixture)
    await fixture.rest()

    const arrived = Object.fromEntries([...targets].map(([event, at]) => [event, typesAt(at)]))
    expect(arrived).toEqual({
      'identity.created': ['identity.created'],
      'identity.deleted': ['identity.deleted'],
      'identity.state_changed': ['identity.state_changed', 'identity.state_changed'],
      'identity.login': [],
      'identity.password_changed': [],
      'identity.email_verified': [],
    })
    expect(typesAt(fixture.target).toSorted()).toEqual([
      'identity.created',
      'identity.deleted',
      'identity.state_changed',
      'identity.state_changed',
    ])
    for (const target of targets.values()) await target.stop()
  })

  test('are all webhooks that want it, with the same event under the same id', async () => {
    await using fixture = await bootWebhooks()
    const { target } = fixture
    const webhooks = []
    for (let n = 0; n < 3; n++)
      webhooks.push(await fixture.createWebhook(`${target.url}/${n}`, { active: true }))

    await fixture.createIdentity()
    await fixture.rest()

    expect(target.requests.map(({ path }) => path).toSorted()).toEqual([
      '/hook/0',
      '/hook/1',
      '/hook/2',
    ])
    expect(new Set(target.requests.map(({ body }) => body)).size).toBe(1)
    const secrets = webhooks.map(({ secret }) => secret)
    for (const request of target.requests)
      expect(signersOf(request, secrets)).toEqual([secrets[Number(request.path.at(-1))]])
  })

  test('is nobody of another tenant', async () => {
    await using fixture = await bootWebhooks()
    await using theirs = startTarget()
    const other = await fixture.party()
    await fixture.createWebhook(fixture.target.url)
    await other.createWebhook(theirs.url)

    await aLife(fixture)
    await fixture.rest()
    expect(theirs.requests).toEqual([])
    expect(await other.listDeliveries()).toEqual([])
    const before = fixture.target.requests.length
    const { id } = await other.createIdentity()
    await fixture.rest()

    expect(fixture.target.requests).toHaveLength(before)
    expect(eventsAt(theirs)).toMatchObject([
      { tenant_id: other.tenant.id, data: { identity_id: id } },
    ])
  })

  test('does not depend on the environment of the key that makes the change', async () => {
    await using fixture = await bootWebhooks()
    const test = fixture.speak((await fixture.acme.key('gate', 'test')).key)
    await test.createWebhook(fixture.target.url)

    await fixture.createIdentity()
    await test.createIdentity()
    await fixture.rest()

    expect(typesAt(fixture.target)).toEqual(['identity.created', 'identity.created'])
    expect(await test.listDeliveries()).toEqual(await fixture.listDeliveries())
  })

  test('is nobody of what happened before a webhook was there, or wanted it', async () => {
    await using fixture = await bootWebhooks()
    await fixture.createIdentity()
    const webhook = await fixture.createWebhook(fixture.target.url, { events: ['identity.login'] })
    await fixture.createIdentity()
    await fixture.rest()

    await fixture.change(webhook, { events: ALL_EVENTS })
    await fixture.toTheEnd()

    expect(fixture.target.requests).toEqual([])
  })

  test('hears of every event of many that come at once', async () => {
    await using fixture = await bootWebhooks()
    await fixture.createWebhook(fixture.target.url)

    const people = await Promise.all(Array.from({ length: 60 }, () => fixture.createIdentity()))
    await fixture.rest()

    const events = eventsAt(fixture.target)
    expect(events.map(({ data }) => data.identity_id).toSorted()).toEqual(
      people.map(({ id }) => id).toSorted(),
    )
    expect(new Set(events.map(({ event_id }) => event_id)).size).toBe(60)
  })
})

describe('a request', () => {
  test('is a POST of JSON whose signature is over its very bytes, with the whole secret', async () => {
    await using fixture = await bootWebhooks()
    const { target, clock } = fixture
    const { secret } = await fixture.createWebhook(`${target.url}?of=gate`)
    await fixture.createIdentity({ traits: { email: 'zoë@bücher.example' } })
    await fixture.rest()

    const [request] = target.requests as [ReceivedRequest]
    const { headers } = request
    expect({ method: request.method, path: request.path }).toEqual({
      method: 'POST',
      path: '/hook?of=gate',
    })
    expect(headers.get('content-type')).toBe('application/json')
    expect(headers.get('webhook-id')).toBe(eventIn(request).event_id)
    expect(headers.get('x-service-event-type')).toBe('identity.created')
    expect(headers.get('x-service-attempt')).toBe('1')
    const now = Math.floor(clock.now() / 1000)
    expect(headers.get('webhook-timestamp')).toBe(`${now}`)
    expect(signedAt(request)).toBe(now)
    expect(signersOf(request, [secret])).toEqual([secret])
    expect(signersOf({ ...request, body: `${request.body} ` }, [secret])).toEqual(['nobody'])
    const decoded = Buffer.from(secret.slice(6), 'base64').toString('latin1')
    expect(signersOf(request, [secret.slice(6), decoded])).toEqual(['nobody'])
    expect(signedWith(request, [secret])).toEqual([secret])
  })

  test('carries no cookie, no key and nothing else of ours that a receiver could misuse', async () => {
    await using fixture = await bootWebhooks()
    const { secret } = await fixture.createWebhook(fixture.target.url)
    await fixture.createIdentity({
      credentials: { password: { config: { password: 'correct horse 9' } } },
    })
    await fixture.rest()

    const [request] = fixture.target.requests as [ReceivedRequest]
    const whole = JSON.stringify([...request.headers]) + request.body
    for (const hidden of [
      secret,
      fixture.key,
      'correct horse 9',
      'argon2',
      'cookie',
      'authorization',
    ])
      expect(whole).not.toContain(hidden)
  })

  test.each([
    ['Service', 'x-service-signature'],
    ['Acme', 'x-acme-signature'],
  ])('of the brand %s is signed in %s, and under no other name', async (name, header) => {
    await using fixture = await bootWebhooks({ flags: { 'brand-name': name } })
    const { secret } = await fixture.createWebhook(fixture.target.url)
    await fixture.createIdentity()
    await fixture.rest()

    const [request] = fixture.target.requests as [ReceivedRequest]
    expect(signersOf(request, [secret], header)).toEqual([secret])
    const names = [...request.headers.keys()].filter((one) => one.endsWith('-signature'))
    expect(names.toSorted()).toEqual([header, 'webhook-signature'].toSorted())
  })

  test('is the same on all attempts but for the time and what follows from it', async () => {
    await using fixture = await bootWebhooks()
    const { target } = fixture
    target.answers(() => new Response('', { status: 500 }))
    const { secret } = await fixture.createWebhook(target.url)
    await fixture.createIdentity()
    await fixture.toTheEnd()

    const [first] = target.requests as [ReceivedRequest]
    expect(target.requests).toHaveLength(3)
    const begun = Math.floor(Date.parse(START) / 1000)
    for (const [n, request] of target.requests.entries()) {
      const at = begun + ([0, 1, 3][n] as number)
      expect(request.body).toBe(first.body)
      expect(request.headers.get('webhook-id')).toBe(eventIn(first).event_id)
      expect(request.headers.get('x-service-attempt')).toBe(`${n + 1}`)
      expect(request.headers.get('webhook-timestamp')).toBe(`${at}`)
      expect(signedAt(request)).toBe(at)
      expect(signersOf(request, [secret])).toEqual([secret])
    }
    const signatures = target.requests.map(({ headers }) => headers.get('x-service-signature'))
    expect(new Set(signatures).size).toBe(3)
  })
})
