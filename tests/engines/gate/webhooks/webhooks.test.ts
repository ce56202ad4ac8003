import { describe, expect, test } from 'bun:test'
import { HOUR, ID, type Json, plain, SECOND, typesTold, UNKNOWN_ID, WEBHOOKS } from '../fixture.ts'
import {
  ALL_EVENTS,
  eventIn,
  type Party,
  signersOf,
  useWebhooks,
  withoutSecret,
} from './fixture.ts'

// What webhooks share with endpoints of the relay is in tests/engines/relay and tests/delivery.
const newParty = await useWebhooks()

const SECRET = expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/)
const GIVEN = `whsec_${Buffer.alloc(24, 7).toString('base64')}`
const URL_OF = 'https://hooks.example.com/gate?tenant=1'

/** The secrets that sign the next event. */
async function signersNow({ createIdentity, rest, target }: Party, secrets: string[]) {
  const before = target.requests.length
  await createIdentity()
  await rest()
  return signersOf(target.requests[before], secrets)
}

test('A new webhook has the given fields, and shows its secret once', async () => {
  await using acme = await newParty()
  const events = ['identity.deleted', 'identity.created']
  const answer = await acme.api.post(WEBHOOKS, { url: URL_OF, events })
  const shown = { id: ID, url: URL_OF, events, active: true, created_at: acme.now() }
  expect([answer.status, answer.body]).toEqual([201, { ...shown, secret: SECRET }])

  const made = [answer.body]
  for (const [fields, expected] of <[Json, Json][]>[
    [{}, { events: ALL_EVENTS, active: true, secret: SECRET }],
    [
      { active: false, secret: GIVEN },
      { active: false, secret: GIVEN },
    ],
    [{ events: ['identity.login', 'identity.login'] }, { events: ['identity.login'] }],
    [{ event_types: ['identity.login'], headers: { 'X-A': 'b' } }, { events: ALL_EVENTS }],
  ]) {
    const created = await acme.createWebhook(URL_OF, { id: UNKNOWN_ID, ...fields })
    expect(created).toMatchObject(expected)
    expect(created.id).not.toBe(UNKNOWN_ID)
    made.push(created)
  }
  expect(new Set(made.map(({ secret }) => secret)).size).toBe(made.length)

  await using other = await acme.another()
  const foreign = await other.createWebhook(URL_OF)
  const sandbox = acme.withKey((await acme.newKey('gate', 'test')).key)
  for (const by of [acme, sandbox]) expect(await by.listWebhooks()).toEqual(made.map(withoutSecret))
  expect(await other.listWebhooks()).toEqual([withoutSecret(foreign)])
})

describe('Changing a webhook', () => {
  test('sets the given fields alone, but never the secret or unknown ones', async () => {
    await using acme = await newParty()
    const webhook = await acme.createWebhook(acme.target.url)
    const unknown = { id: UNKNOWN_ID, headers: { 'X-A': 'b' }, format: 'standard' }
    let expected = withoutSecret(webhook)
    for (const fields of [
      { url: URL_OF },
      { events: ['identity.email_verified'] },
      { active: false },
      {},
      { url: acme.target.url, events: ALL_EVENTS, active: true },
    ]) {
      expected = { ...expected, ...fields }
      expect(await acme.change(webhook, { ...unknown, ...fields })).toEqual(expected)
      expect(await acme.listWebhooks()).toEqual([expected])
    }
    for (const secret of [GIVEN, '', null]) {
      const answer = await acme.api.patch(`${WEBHOOKS}/${webhook.id}`, { secret, active: false })
      expect(answer).toMatchObject(plain(400, 'secret: '))
    }
    expect(await acme.listWebhooks()).toEqual([expected])
    expect(await signersNow(acme, [webhook.secret, GIVEN])).toEqual([webhook.secret])
    const [request] = acme.target.requests
    expect(request?.headers.get('x-a')).toBeNull()
    expect(eventIn(request).event_type).toBe('identity.created')
  })

  test('applies to later attempts and events', async () => {
    await using acme = await newParty()
    await using moved = await acme.another()
    acme.target.answers(500)
    const webhook = await acme.createWebhook(acme.target.url, { events: ['identity.created'] })
    const person = await acme.createIdentity()
    await acme.rest()
    await acme.change(webhook, { url: moved.target.url, events: ['identity.state_changed'] })
    await acme.setState(person, 'inactive')
    await acme.createIdentity()
    await acme.clock.advance(SECOND)
    await acme.rest()
    expect(acme.target.requests).toHaveLength(1)
    const expected = ['identity.created', 'identity.state_changed']
    expect(typesTold(moved.target).toSorted()).toEqual(expected)
    expect(moved.target.requests.map(({ body }) => body)).toContain(
      `${acme.target.requests[0]?.body}`,
    )
  })
})

test('A bad URL, event or secret is refused by name, without its value', async () => {
  // Not even loopback is allowed.
  await using acme = await newGuarded()
  const webhook = withoutSecret(await acme.createWebhook(URL_OF))
  const path = `${WEBHOOKS}/${webhook.id}`
  for (const [field, fields] of <[string, Json][]>[
    ['url', { url: 'ftp://example.com/' }],
    ['url', { url: 'http://169.254.169.254/latest' }],
    ['url', { url: 'https://u:p@example.com/' }],
    ['url', { url: `https://example.com/${'a'.repeat(8200)}` }],
    ['events', { events: [] }],
    ['events.1', { events: ['identity.created', 'identity.*'] }],
    ['events.0', { events: ['webhook.test'] }],
    ['secret', { secret: `whsec_${'!'.repeat(44)}` }],
    ['secret', { secret: `whsec_${Buffer.alloc(23).toString('base64')}` }],
  ]) {
    const refused = plain(400, `${field}: `)
    const answer = await acme.api.post(WEBHOOKS, { url: URL_OF, ...fields })
    if (fields.secret) expect(answer.body.error).not.toContain(fields.secret)
    expect(answer).toMatchObject(refused)
    expect(await acme.api.patch(path, { active: false, ...fields })).toMatchObject(refused)
    if (!fields.secret) continue
    expect(await acme.api.post(`${path}/rotate-secret`, fields)).toMatchObject(refused)
  }
  expect(await acme.listWebhooks()).toEqual([webhook])
  await acme.remove(webhook)

  await acme.createWebhook('https://inward.example.com/')
  await acme.createIdentity()
  await acme.rest()
  const error = { code: 'blocked', message: expect.stringContaining('10.0.0.1') }
  const [delivery] = await acme.listDeliveries()
  expect((await acme.readDelivery(delivery)).attempt_log).toMatchObject([{ address: null, error }])
})

const resolve = async () => [{ address: '10.0.0.1', family: 4 as const }]
const newGuarded = await useWebhooks({ allow: [], resolve })

test('A rotated secret signs beside the previous one for a day, or the given period', async () => {
  await using acme = await newParty()
  const webhook = await acme.createWebhook(acme.target.url)
  const path = `${WEBHOOKS}/${webhook.id}/rotate-secret`
  const endsIn = (hours: number) => new Date(acme.clock.now() + hours * HOUR).toISOString()
  const { body: next } = await acme.api.post(path)
  expect(next).toEqual({ secret: SECRET, previous_expires_at: endsIn(24) })
  expect(await acme.listWebhooks()).toEqual([withoutSecret(webhook)])
  const both = [next.secret, webhook.secret]
  acme.clock.jump(24 * HOUR - 1)
  expect(await signersNow(acme, both)).toEqual(both)
  acme.clock.jump(1)
  expect(await signersNow(acme, both)).toEqual([next.secret])

  const { body } = await acme.api.post(path, { grace_seconds: 3600 })
  expect(body.previous_expires_at).toBe(endsIn(1))
  const now = await acme.api.post(path, { grace_seconds: 0, secret: GIVEN })
  expect(now).toMatchObject({ status: 200, body: { secret: GIVEN, previous_expires_at: null } })
  expect(await signersNow(acme, [next.secret, GIVEN])).toEqual([GIVEN])
})

describe('A test event', () => {
  test('looks like a real one of each type, for an identity that does not exist', async () => {
    await using acme = await newParty()
    const { target, api } = acme
    const webhook = await acme.createWebhook(target.url, { events: ['identity.login'] })
    const email = 'test@example.com'
    for (const [event_type, payload] of <[string | undefined, Json][]>[
      ['identity.created', { email, method: 'password' }],
      ['identity.deleted', {}],
      ['identity.login', { email }],
      ['identity.password_changed', { method: 'password' }],
      ['identity.email_verified', {}],
      ['identity.state_changed', { state: 'inactive' }],
      [undefined, { email, method: 'password' }],
    ]) {
      const result = await acme.sendTest(webhook, event_type ? { event_type } : undefined)
      const request = target.requests.at(-1)
      const event = eventIn(request)
      expect(event).toEqual({
        ...{ event_id: ID, event_type: event_type ?? 'identity.created', tenant_id: acme.id },
        ...{ created_at: acme.now(), data: { identity_id: ID, payload } },
      })
      expect(result).toMatchObject({
        ...{ succeeded: true, error: null, response: { status: 200 } },
        request: { url: target.url, body: request?.body },
      })
      expect(request?.headers.get('webhook-id')).toBe(event.event_id)
      expect(signersOf(request, [webhook.secret])).toEqual([webhook.secret])
      const { status } = await api.get(`/v1/gate/identities/${event.data.identity_id}`)
      expect(status).toBe(404)
    }
    const answer = await api.post(`${WEBHOOKS}/${webhook.id}/test`, { event_type: 'webhook.test' })
    expect(answer).toMatchObject(plain(400, 'event_type: '))
  })

  test('is sent once, also to a paused webhook, not logged, and reports failures', async () => {
    await using acme = await newParty()
    const { target } = acme
    const webhook = await acme.createWebhook(target.url, { active: false })
    for (const [status, code] of [
      [307, 'redirect'],
      [410, 'status'],
      [500, 'status'],
    ] as const) {
      target.answers(status, { location: 'http://127.0.0.1:9/' })
      const result = { succeeded: false, response: { status }, error: { code } }
      expect(await acme.sendTest(webhook)).toMatchObject(result)
    }
    await acme.toTheEnd()
    expect(target.requests).toHaveLength(3)
    expect(await acme.listDeliveries()).toEqual([])
    expect(await acme.listWebhooks()).toMatchObject([{ active: false }])
  })
})
