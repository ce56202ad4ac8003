import { describe, expect, test } from 'bun:test'
import { closedPort } from '../../clockwork/raw-target.ts'
import { advanceWaiting, holdAnswers } from '../../clockwork/support.ts'
import { HOUR, ID, type Json, plain, SECOND, typesTold, UNKNOWN_ID, WEBHOOKS } from '../fixture.ts'
import {
  ALL_EVENTS,
  answerWith,
  besides,
  bootWebhooks,
  eventIn,
  type Party,
  signersOf,
  useWebhooks,
  withoutSecret,
} from './fixture.ts'

const newParty = await useWebhooks()

const SECRET = expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/)
const GIVEN = `whsec_${Buffer.alloc(24, 7).toString('base64')}`
const URL_OF = 'https://hooks.example.com/gate?tenant=1'
const FIELDS = ['id', 'url', 'events', 'active', 'created_at']

describe('A new webhook', () => {
  test('shows its secret once', async () => {
    await using acme = await newParty()
    const events = ['identity.deleted', 'identity.created']
    const answer = await acme.api.post(WEBHOOKS, { url: URL_OF, events })

    expect(answer.status).toBe(201)
    expect(Object.keys(answer.body)).toEqual([...FIELDS, 'secret'])
    const created_at = acme.now()
    const shown = { id: ID, url: URL_OF, events, active: true, created_at }
    expect(answer.body).toEqual({ ...shown, secret: SECRET })
    expect(await acme.read(WEBHOOKS)).toEqual({ webhooks: [shown] })
    expect(await acme.change(answer.body, {})).toEqual(withoutSecret(answer.body))
  })

  test.each<[Json, Json]>([
    [{}, { events: ALL_EVENTS, active: true }],
    [
      { active: false, secret: GIVEN },
      { active: false, secret: GIVEN },
    ],
    [{ events: ['identity.login', 'identity.login'] }, { events: ['identity.login'] }],
    ...ALL_EVENTS.map((event): [Json, Json] => [{ events: [event] }, { events: [event] }]),
  ])('with %j has %j', async (fields, expected) => {
    await using acme = await newParty()
    const created = await acme.createWebhook(URL_OF, fields)
    expect(created).toMatchObject(expected)
    expect(await acme.listWebhooks()).toEqual([withoutSecret(created)])
  })

  test('ignores fields that it does not have, also when it is changed', async () => {
    await using acme = await newParty()
    const foreign = {
      id: UNKNOWN_ID,
      created_at: '2020-01-01T00:00:00.000Z',
      headers: { 'X-A': 'b' },
      format: 'standard',
      event_types: ['identity.login'],
    }
    const created = await acme.createWebhook(acme.target.url, foreign)
    expect(created).toMatchObject({ events: ALL_EVENTS, created_at: acme.now() })
    expect(created.id).not.toBe(UNKNOWN_ID)
    expect(await acme.change(created, foreign)).toEqual(withoutSecret(created))

    await acme.createIdentity()
    await acme.rest()
    const [request] = acme.target.requests
    expect(signersOf(request, [created.secret])).toEqual([created.secret])
    expect(request?.headers.get('x-a')).toBeNull()
    expect(eventIn(request).event_type).toBe('identity.created')
  })
})

test('The list has all webhooks of the tenant, in both environments, oldest first', async () => {
  await using acme = await newParty()
  await using other = await acme.another()
  expect(await acme.listWebhooks()).toEqual([])
  const made = []
  for (let n = 0; n < 110; n++) made.push(await acme.createWebhook(URL_OF))
  const foreign = await other.createWebhook(URL_OF)

  expect(new Set(made.map(({ secret }) => secret)).size).toBe(110)
  const sandbox = acme.withKey((await acme.newKey('gate', 'test')).key)
  expect(await acme.listWebhooks()).toEqual(made.map(withoutSecret))
  expect(await sandbox.listWebhooks()).toEqual(made.map(withoutSecret))
  expect(await other.listWebhooks()).toEqual([withoutSecret(foreign)])
})

test('A change by another process is visible immediately', async () => {
  await using acme = await bootWebhooks()
  const webhook = await acme.createWebhook(acme.target.url)
  await using next = await besides(acme, acme.key)
  expect((await next.get(WEBHOOKS)).body.webhooks).toEqual([withoutSecret(webhook)])

  const { body: second } = await next.post(WEBHOOKS, { url: URL_OF })
  await next.patch(`${WEBHOOKS}/${webhook.id}`, { events: ['identity.login'] })
  const changed = { ...withoutSecret(webhook), events: ['identity.login'] }
  expect(await acme.listWebhooks()).toEqual([changed, withoutSecret(second)])
  await acme.remove(webhook)
  expect((await next.get(WEBHOOKS)).body.webhooks).toEqual([withoutSecret(second)])
})

/** The secrets that sign the next event. */
async function signersNow({ createIdentity, rest, target }: Party, secrets: string[]) {
  const before = target.requests.length
  await createIdentity()
  await rest()
  return signersOf(target.requests[before], secrets)
}

describe('Changing a webhook', () => {
  test('sets the given fields and leaves the others', async () => {
    await using acme = await newParty()
    const webhook = await acme.createWebhook(acme.target.url)
    let expected = withoutSecret(webhook)
    for (const fields of [
      { url: URL_OF },
      { events: ['identity.email_verified'] },
      { active: false },
      {},
      { url: acme.target.url, events: ['identity.login'], active: true },
    ]) {
      expected = { ...expected, ...fields }
      expect(await acme.change(webhook, fields)).toEqual(expected)
      expect(await acme.listWebhooks()).toEqual([expected])
    }
  })

  test('applies to later attempts and events', async () => {
    await using acme = await newParty()
    await using moved = await acme.another()
    acme.target.answers(answerWith(500))
    const webhook = await acme.createWebhook(acme.target.url, { events: ['identity.created'] })
    const person = await acme.createIdentity()
    await acme.rest()

    const events = ['identity.state_changed', 'identity.state_changed']
    await acme.change(webhook, { url: moved.target.url, events })
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

  test.each([GIVEN, '', null])('cannot set the secret to %j', async (secret) => {
    await using acme = await newParty()
    const webhook = await acme.createWebhook(acme.target.url)
    const answer = await acme.api.patch(`${WEBHOOKS}/${webhook.id}`, { secret, active: false })
    expect(answer).toMatchObject(plain(400, 'secret: '))
    expect(await acme.listWebhooks()).toEqual([withoutSecret(webhook)])
    expect(await signersNow(acme, [webhook.secret, GIVEN])).toEqual([webhook.secret])
  })
})

test('A deleted webhook is gone', async () => {
  await using acme = await newParty()
  const webhook = await acme.createWebhook(acme.target.url)
  const path = `${WEBHOOKS}/${webhook.id}`
  expect(await acme.remove(webhook)).toBe('')

  expect(await acme.listWebhooks()).toEqual([])
  await acme.createIdentity()
  await acme.rest()
  expect(acme.target.requests).toEqual([])
  for (const again of [
    await acme.api.delete(path),
    await acme.api.patch(path, { active: true }),
    await acme.api.post(`${path}/rotate-secret`, {}),
    await acme.api.post(`${path}/test`, {}),
  ])
    expect(again).toMatchObject(plain(404))
})

test.each<[Json, string]>([
  [{ url: undefined }, 'url'],
  [{ url: null }, 'url'],
  [{ url: 'example.com/hook' }, 'url'],
  [{ url: 'ftp://example.com/' }, 'url'],
  [{ url: 'http://localhost/' }, 'url'],
  [{ url: 'http://2130706433/' }, 'url'],
  [{ url: 'http://169.254.169.254/latest' }, 'url'],
  [{ url: 'http://[::ffff:10.0.0.1]/' }, 'url'],
  [{ url: 'https://user:pw@example.com/' }, 'url'],
  [{ url: 'https://example.com:0/' }, 'url'],
  [{ url: `https://example.com/${'a'.repeat(8200)}` }, 'url'],
  [{ url: 'https://example.com/\n' }, 'url'],
  [{ url: ' https://example.com/' }, 'url'],
  [{ url: 'https://example.com\\@evil.example/' }, 'url'],
  [{ events: [] }, 'events'],
  [{ events: null }, 'events'],
  [{ events: ['identity.created', 'identity.*'] }, 'events.1'],
  [{ events: ['webhook.test'] }, 'events.0'],
  [{ events: ['Identity.Created'] }, 'events.0'],
  [{ active: 'true' }, 'active'],
  [{ secret: '' }, 'secret'],
  [{ secret: `whsec_${'!'.repeat(44)}` }, 'secret'],
  [{ secret: `whsec_${Buffer.alloc(23).toString('base64')}` }, 'secret'],
  [{ secret: `whsec_${Buffer.alloc(76).toString('base64')}` }, 'secret'],
])('%j is refused, and named without its value', async (fields, field) => {
  // Not even loopback is allowed.
  const webhook = withoutSecret(await guarded.createWebhook(URL_OF))
  const refused = plain(400, `${field}: `)
  const path = `${WEBHOOKS}/${webhook.id}`
  const answer = await guarded.api.post(WEBHOOKS, { url: URL_OF, ...fields })
  if (fields.secret) expect(answer.body.error).not.toContain(fields.secret)
  expect(answer).toMatchObject(refused)
  if (fields.url !== undefined || !('url' in fields))
    expect(await guarded.api.patch(path, { active: false, ...fields })).toMatchObject(refused)
  if (fields.secret)
    expect(await guarded.api.post(`${path}/rotate-secret`, fields)).toMatchObject(refused)
  expect(await guarded.listWebhooks()).toEqual([webhook])
  await guarded.remove(webhook)
})

const guarded = await (await useWebhooks({ allow: [] }))()

test('A name that resolves to a private address is accepted, but not called', async () => {
  const resolve = async () => [{ address: '10.0.0.1', family: 4 as const }]
  await using acme = await bootWebhooks({ allow: [], resolve })
  await acme.createWebhook('https://inward.example.com/')
  await acme.createIdentity()
  await acme.rest()
  const error = { code: 'blocked', message: expect.stringContaining('10.0.0.1') }
  expect((await acme.theDelivery()).attempt_log).toMatchObject([
    { status: 'failed', address: null, error },
  ])
})

test('A tenant may have 1,000 webhooks', async () => {
  await using acme = await newParty()
  await using other = await acme.another()
  const create = () => acme.createWebhook(URL_OF, { active: false })
  const [first] = await Promise.all(Array.from({ length: 1000 }, create))
  expect(await acme.api.post(WEBHOOKS, { url: URL_OF })).toMatchObject(plain(409))
  expect(await acme.listWebhooks()).toHaveLength(1000)
  await other.createWebhook(URL_OF)
  await acme.remove(first)
  await create()
})

describe('Rotating a secret', () => {
  test('signs with both secrets until the grace period ends', async () => {
    await using acme = await newParty()
    const webhook = await acme.createWebhook(acme.target.url)
    const next = await acme.rotate(webhook, { grace_seconds: 3600 })
    const previous_expires_at = new Date(acme.clock.now() + HOUR).toISOString()
    expect(next).toEqual({ secret: SECRET, previous_expires_at })
    expect(await acme.listWebhooks()).toEqual([withoutSecret(webhook)])

    const both = [next.secret, webhook.secret]
    expect(new Set(both).size).toBe(2)
    expect(await signersNow(acme, both)).toEqual(both)
    acme.clock.jump(HOUR - 1)
    expect(await signersNow(acme, both)).toEqual(both)
    acme.clock.jump(1)
    expect(await signersNow(acme, both)).toEqual([next.secret])
  })

  test('has a grace period of a day by default, or none', async () => {
    await using acme = await newParty()
    const webhook = await acme.createWebhook(acme.target.url)
    const previous_expires_at = new Date(acme.clock.now() + 24 * HOUR).toISOString()
    const answer = await acme.api.post(`${WEBHOOKS}/${webhook.id}/rotate-secret`)
    expect(answer).toMatchObject({ status: 200, body: { previous_expires_at } })
    expect(await acme.rotate(webhook)).toMatchObject({ previous_expires_at })

    const next = await acme.rotate(webhook, { grace_seconds: 0, secret: GIVEN })
    expect(next).toEqual({ secret: GIVEN, previous_expires_at: null })
    expect(await signersNow(acme, [webhook.secret, GIVEN])).toEqual([GIVEN])
  })

  test('also signs later attempts of earlier events', async () => {
    await using acme = await newParty()
    const webhook = await acme.createWebhook(acme.target.url)
    acme.target.answers(answerWith(500))
    await acme.createIdentity()
    await acme.rest()
    const { secret } = await acme.rotate(webhook)
    await acme.clock.advance(SECOND)
    await acme.rest()

    const both = [secret, webhook.secret]
    const [first, second] = acme.target.requests
    expect(signersOf(first, both)).toEqual([webhook.secret])
    expect(signersOf(second, both)).toEqual(both)
  })

  test('is refused for a sixth secret and for other grace periods', async () => {
    await using acme = await newParty()
    const webhook = await acme.createWebhook(acme.target.url)
    const rotate = (fields: Json) =>
      acme.api.post(`${WEBHOOKS}/${webhook.id}/rotate-secret`, fields)
    for (const grace_seconds of [-1, 604_801, 1.5, '60', null])
      expect(await rotate({ grace_seconds })).toMatchObject(plain(400, 'grace_seconds: '))
    expect(await signersNow(acme, [webhook.secret])).toEqual([webhook.secret])
    for (let n = 0; n < 4; n++) await acme.rotate(webhook, { grace_seconds: 604_800 })
    expect(await rotate({})).toMatchObject(plain(409))
  })
})

describe('A test event', () => {
  test.each<[string, Json]>([
    ['identity.created', { email: 'test@example.com', method: 'password' }],
    ['identity.deleted', {}],
    ['identity.login', { email: 'test@example.com' }],
    ['identity.password_changed', { method: 'password' }],
    ['identity.email_verified', {}],
    ['identity.state_changed', { state: 'inactive' }],
  ])('%s looks like a real one', async (event_type, payload) => {
    await using acme = await newParty()
    const { target } = acme
    const webhook = await acme.createWebhook(target.url, { events: ['identity.login'] })
    const result = await acme.sendTest(webhook, { event_type })

    expect(result).toMatchObject({ succeeded: true, error: null, response: { status: 200 } })
    expect(target.requests).toHaveLength(1)
    const [request] = target.requests
    const event = eventIn(request)
    expect(event).toEqual({
      event_id: ID,
      event_type,
      tenant_id: acme.id,
      created_at: acme.now(),
      data: { identity_id: ID, payload },
    })
    expect(request?.headers.get('webhook-id')).toBe(event.event_id)
    expect(request?.headers.get('x-service-trigger')).toBe('test')
    expect(signersOf(request, [webhook.secret])).toEqual([webhook.secret])
    expect(result.request).toMatchObject({ url: target.url, body: request?.body })
    const identity = await acme.api.get(`/v1/gate/identities/${event.data.identity_id}`)
    expect(identity.status).toBe(404)
  })

  test('is a new creation each time by default, and has only the known types', async () => {
    await using acme = await newParty()
    const { target, api } = acme
    const webhook = await acme.createWebhook(target.url)
    await acme.sendTest(webhook)
    await acme.sendTest(webhook, {})
    for (const event_type of ['webhook.test', '', null]) {
      const answer = await api.post(`${WEBHOOKS}/${webhook.id}/test`, { event_type })
      expect(answer).toMatchObject(plain(400, 'event_type: '))
    }
    expect(typesTold(target)).toEqual(['identity.created', 'identity.created'])
    expect(new Set(target.requests.map(({ headers }) => headers.get('webhook-id'))).size).toBe(2)
  })

  test('is sent once, also to a paused webhook, and not logged', async () => {
    await using acme = await newParty()
    const { target } = acme
    target.answers(() => new Response('no', { status: 500 }))
    const webhook = await acme.createWebhook(target.url, { active: false })
    await acme.createWebhook(target.url)
    expect(await acme.sendTest(webhook)).toMatchObject({
      succeeded: false,
      response: { status: 500, body: 'no' },
      error: { code: 'status', message: 'status 500' },
    })
    await acme.toTheEnd()
    expect(target.requests).toHaveLength(1)
    expect(await acme.listDeliveries()).toEqual([])
    expect(await acme.listWebhooks()).toMatchObject([{ active: false }, { active: true }])
  })

  test('reports redirects, refusals and closed ports', async () => {
    await using acme = await newParty()
    const { target } = acme
    const webhook = await acme.createWebhook(target.url)
    for (const [status, headers, code] of [
      [307, { location: 'http://127.0.0.1:9/' }, 'redirect'],
      [410, {}, 'status'],
      [429, { 'retry-after': '60' }, 'status'],
    ] as const) {
      target.answers(answerWith(status, headers))
      const result = { succeeded: false, response: { status }, error: { code } }
      expect(await acme.sendTest(webhook)).toMatchObject(result)
    }
    await acme.change(webhook, { url: await closedPort() })
    const refused = { succeeded: false, response: null, error: { code: 'connect' } }
    expect(await acme.sendTest(webhook)).toMatchObject(refused)
    expect(await acme.listWebhooks()).toMatchObject([{ active: true }])
  })

  test('waits 10 s for its answer, and four run at once', async () => {
    await using acme = await newParty()
    const { app, target, api } = acme
    const held = holdAnswers(target)
    const webhook = await acme.createWebhook(target.url)
    const path = `${WEBHOOKS}/${webhook.id}/test`
    const tests = Array.from({ length: 4 }, () => api.post(path, {}))
    await held.arrived(4)

    const fifth = await api.post(path, {})
    expect(fifth).toMatchObject(plain(429))
    expect(fifth.headers.get('retry-after')).toBe('1')
    await advanceWaiting(app, 10 * SECOND)
    const result = { succeeded: false, duration_ms: 10 * SECOND, error: { code: 'timeout' } }
    for (const { body } of await Promise.all(tests)) expect(body).toMatchObject(result)
    held.release()
  })
})
