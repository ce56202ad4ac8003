import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { startTarget } from '../../../support/target.ts'
import { closedPort } from '../../clockwork/raw-target.ts'
import { advanceWaiting, HOUR, holdAnswers, SECOND } from '../../clockwork/support.ts'
import { misfits } from '../../relay/support.ts'
import { type Json, WEBHOOKS } from '../fixture.ts'
import {
  ALL_EVENTS,
  besides,
  bootWebhooks,
  eventIn,
  type Fixture,
  refusal,
  signersOf,
  typesAt,
  UNKNOWN_ID,
  WEBHOOK_DELIVERIES,
} from './webhook-fixture.ts'

const START = '2026-03-01T12:00:30.000Z'
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
const SECRET = /^whsec_[A-Za-z0-9+/]{43}=$/
const GIVEN = `whsec_${Buffer.alloc(24, 7).toString('base64')}`
const URL_OF = 'https://hooks.example.com/gate?tenant=1'

/** The fields of the contract, without the secret. */
const FIELDS = ['id', 'url', 'events', 'active', 'created_at']

describe('a new webhook', () => {
  test('has exactly the fields of the contract, and its secret this once', async () => {
    await using fixture = await bootWebhooks()
    const events = ['identity.deleted', 'identity.created']

    const answer = await fixture.api.post(WEBHOOKS, { url: URL_OF, events })

    expect(answer.status).toBe(201)
    expect(Object.keys(answer.body)).toEqual([...FIELDS, 'secret'])
    expect(answer.body).toEqual({
      id: expect.stringMatching(UUID),
      url: URL_OF,
      events,
      active: true,
      created_at: START,
      secret: expect.stringMatching(SECRET),
    })
    const { secret, ...shown } = answer.body
    expect(await fixture.read(WEBHOOKS)).toEqual({ webhooks: [shown] })
    for (const again of [await fixture.change(shown, {}), await fixture.change(shown, { events })])
      expect(again).toEqual(shown)
    expect(JSON.stringify(await fixture.listDeliveries())).not.toContain(secret)
  })

  test('is told of all six events unless some are named', async () => {
    await using fixture = await bootWebhooks()
    const { events } = await fixture.createWebhook(URL_OF)
    expect(events).toEqual(ALL_EVENTS)
    expect(await fixture.listWebhooks()).toMatchObject([{ events: ALL_EVENTS }])
  })

  test.each(ALL_EVENTS)('can be for %s alone', async (event) => {
    await using fixture = await bootWebhooks()
    expect((await fixture.createWebhook(URL_OF, { events: [event] })).events).toEqual([event])
    expect(await fixture.listWebhooks()).toMatchObject([{ events: [event] }])
  })

  test('that names an event twice is told of it once', async () => {
    await using fixture = await bootWebhooks()
    const twice = ['identity.login', 'identity.created', 'identity.login', 'identity.created']
    const { events } = await fixture.createWebhook(fixture.target.url, { events: twice })
    expect(events).toEqual(['identity.login', 'identity.created'])

    await fixture.createIdentity()
    await fixture.rest()

    expect(fixture.target.requests).toHaveLength(1)
  })

  test('can be paused from the start, and may bring its secret', async () => {
    await using fixture = await bootWebhooks()
    const created = await fixture.createWebhook(URL_OF, { active: false, secret: GIVEN })
    expect(created).toMatchObject({ active: false, secret: GIVEN })
  })

  test('gets what is ours from us, and fields there are not are left out', async () => {
    await using fixture = await bootWebhooks()
    const created = await fixture.createWebhook(URL_OF, {
      id: UNKNOWN_ID,
      created_at: '2020-01-01T00:00:00.000Z',
      description: 'x',
      headers: { 'X-A': 'b' },
      format: 'standard',
      event_types: ['identity.login'],
    })
    expect(Object.keys(created)).toEqual([...FIELDS, 'secret'])
    expect(created).toMatchObject({ events: ALL_EVENTS, created_at: START })
    expect(created.id).not.toBe(UNKNOWN_ID)
  })

  test('has a secret and an id of its own, also for the same URL', async () => {
    await using fixture = await bootWebhooks()
    const made = []
    for (let n = 0; n < 20; n++) made.push(await fixture.createWebhook(URL_OF))
    expect(new Set(made.map(({ secret }) => secret)).size).toBe(20)
    expect(new Set(made.map(({ id }) => id)).size).toBe(20)
    expect((await fixture.listWebhooks()).map(({ id }) => id)).toEqual(made.map(({ id }) => id))
  })
})

/** With another tenant's, whose own must stay out of everything. */
async function bootTwo() {
  const fixture = await bootWebhooks()
  const other = await fixture.party()
  const webhook = await fixture.createWebhook(fixture.target.url)
  const foreign = await other.createWebhook(fixture.target.url, { events: ['identity.deleted'] })
  return { fixture, other, webhook, foreign, [Symbol.asyncDispose]: () => fixture.end() }
}

const withoutSecret = ({ secret: _, ...shown }: Json): Json => shown

describe('the list of webhooks', () => {
  test('is empty as it comes, and whole: it has no pages', async () => {
    await using fixture = await bootWebhooks()
    expect(await fixture.read(WEBHOOKS)).toEqual({ webhooks: [] })

    const made = await Promise.all(
      Array.from({ length: 150 }, (_, n) => fixture.createWebhook(`${URL_OF}${n}`)),
    )

    const listed = await fixture.listWebhooks()
    expect(listed).toHaveLength(150)
    expect(new Set(listed.map(({ id }) => id))).toEqual(new Set(made.map(({ id }) => id)))
  })

  test('has those of the tenant alone, the same for its live and its test key', async () => {
    await using two = await bootTwo()
    const { fixture, other, webhook, foreign } = two
    const test = fixture.speak((await fixture.acme.key('gate', 'test')).key)
    const second = await test.createWebhook(URL_OF)

    const own = [webhook, second].map(withoutSecret)
    expect(await fixture.listWebhooks()).toEqual(own)
    expect(await test.listWebhooks()).toEqual(own)
    expect(await other.listWebhooks()).toEqual([withoutSecret(foreign)])
    expect(await test.change(webhook, { active: false })).toMatchObject({ active: false })
    expect(await fixture.remove(second)).toBe('')
  })

  test('is what another process has made it, at once', async () => {
    await using two = await bootTwo()
    const { fixture, webhook } = two
    await using next = await besides(fixture, fixture.key)
    expect((await next.get(WEBHOOKS)).body.webhooks).toEqual([withoutSecret(webhook)])

    const { body: second } = await next.post(WEBHOOKS, { url: URL_OF })
    await next.patch(`${WEBHOOKS}/${webhook.id}`, { events: ['identity.login'] })

    const changed = { ...withoutSecret(webhook), events: ['identity.login'] }
    expect(await fixture.listWebhooks()).toEqual([changed, withoutSecret(second)])
    await fixture.remove(webhook)
    expect((await next.get(WEBHOOKS)).body.webhooks).toEqual([withoutSecret(second)])
  })
})

/** Which of the secrets sign what is sent now. */
async function signersNow({ createIdentity, rest, target }: Fixture, secrets: string[]) {
  const before = target.requests.length
  await createIdentity()
  await rest()
  return signersOf(target.requests[before] as never, secrets)
}

describe('a change of a webhook', () => {
  test.each<[string, Json]>([
    ['url', 'https://hooks.example.com/other'],
    ['events', ['identity.email_verified']],
    ['active', false],
  ])('sets its %s, and leaves the rest', async (field, value) => {
    await using two = await bootTwo()
    const { fixture, other, webhook, foreign } = two
    await fixture.clock.advance(HOUR)

    const changed = { ...withoutSecret(webhook), [field]: value }

    expect(await fixture.change(webhook, { [field]: value })).toEqual(changed)
    expect(await fixture.listWebhooks()).toEqual([changed])
    expect(await other.listWebhooks()).toEqual([withoutSecret(foreign)])
  })

  test('takes all fields at once, and nothing at all', async () => {
    await using fixture = await bootWebhooks()
    const webhook = await fixture.createWebhook(fixture.target.url)
    const all = { url: URL_OF, events: ['identity.login'], active: false }

    const changed = await fixture.change(webhook, all)

    expect(changed).toEqual({ id: webhook.id, created_at: START, ...all })
    expect(await fixture.change(webhook, {})).toEqual(changed)
    expect(await fixture.change(webhook, { active: true })).toEqual({ ...changed, active: true })
  })

  test('replaces the list of events: what is not on it is no longer told', async () => {
    await using fixture = await bootWebhooks()
    const { target } = fixture
    const webhook = await fixture.createWebhook(target.url, { events: ['identity.created'] })
    await fixture.change(webhook, { events: ['identity.state_changed', 'identity.state_changed'] })

    await fixture.setState(await fixture.createIdentity(), 'inactive')
    await fixture.rest()

    expect(typesAt(target)).toEqual(['identity.state_changed'])
    expect(await fixture.listWebhooks()).toMatchObject([{ events: ['identity.state_changed'] }])
  })

  test('leaves what is ours alone: id and time of creation, format and headers', async () => {
    await using fixture = await bootWebhooks()
    const { target } = fixture
    const webhook = await fixture.createWebhook(target.url)

    const changed = await fixture.change(webhook, {
      id: UNKNOWN_ID,
      created_at: '2020-01-01T00:00:00.000Z',
      headers: { 'X-A': 'b' },
      format: 'standard',
    })

    expect(changed).toEqual(withoutSecret(webhook))
    await fixture.createIdentity()
    await fixture.rest()
    const [request] = target.requests
    expect(signersOf(request as never, [webhook.secret])).toEqual([webhook.secret])
    expect(request?.headers.get('x-a')).toBeNull()
    expect(eventIn(request as never).event_type).toBe('identity.created')
  })

  test.each([GIVEN, 'abc', '', null])('cannot set the secret, as %j', async (secret) => {
    await using fixture = await bootWebhooks()
    const webhook = await fixture.createWebhook(fixture.target.url)

    const answer = await fixture.api.patch(`${WEBHOOKS}/${webhook.id}`, { secret, active: false })

    expect(answer).toMatchObject(refusal(400, 'secret: ', 'rotate-secret'))
    expect(await fixture.listWebhooks()).toEqual([withoutSecret(webhook)])
    expect(await signersNow(fixture, [webhook.secret, GIVEN])).toEqual([webhook.secret])
  })

  test('of the URL moves what is sent from then on, also what is tried again', async () => {
    await using fixture = await bootWebhooks()
    const { target, clock } = fixture
    await using moved = startTarget()
    target.answers(() => new Response('', { status: 500 }))
    const webhook = await fixture.createWebhook(target.url)
    await fixture.createIdentity()
    await fixture.rest()
    expect(target.requests).toHaveLength(1)

    await fixture.change(webhook, { url: moved.url })
    await clock.advance(SECOND)
    await fixture.rest()

    expect(target.requests).toHaveLength(1)
    expect(moved.requests.map(({ body }) => body)).toEqual([target.requests[0]?.body as string])
  })
})

const NOT_FOUND = { status: 404, body: { error: expect.stringContaining('not found') } }

describe('a deleted webhook', () => {
  test('is gone: 204 with nothing, then 404 for whatever is asked of it', async () => {
    await using two = await bootTwo()
    const { fixture, other, webhook, foreign } = two
    const path = `${WEBHOOKS}/${webhook.id}`

    const answer = await fixture.api.delete(path)

    expect({ status: answer.status, body: answer.body }).toEqual({ status: 204, body: '' })
    expect(await fixture.listWebhooks()).toEqual([])
    expect(await other.listWebhooks()).toEqual([withoutSecret(foreign)])
    const { api } = fixture
    for (const again of [
      await api.delete(path),
      await api.patch(path, { active: true }),
      await api.post(`${path}/rotate-secret`, {}),
      await api.post(`${path}/test`, {}),
    ])
      expect({ status: again.status, body: again.body }).toEqual(NOT_FOUND)
  })

  test('is told nothing any more', async () => {
    await using two = await bootTwo()
    const { fixture, webhook } = two
    await fixture.remove(webhook)

    await fixture.createIdentity()
    await fixture.rest()

    expect(fixture.target.requests).toEqual([])
  })
})

describe('404 answers what asks for', () => {
  let fixture: Fixture
  let other: Awaited<ReturnType<Fixture['party']>>
  let foreign: Json
  let before: Json
  beforeAll(async () => {
    fixture = await bootWebhooks()
    other = await fixture.party()
    foreign = await other.createWebhook(fixture.target.url)
    before = await other.listWebhooks()
  })
  afterAll(() => fixture.end())

  test.each<[string, (id: string) => string]>([
    ['the webhook of another tenant', (id) => id],
    ['one that there is not', () => UNKNOWN_ID],
    ['a word', () => 'nothing'],
    ['NUL', () => '%00'],
    ['a broken escape', () => '%zz'],
    ['half a letter', () => '%c3'],
    ['SQL', () => "'%20or%201=1--"],
    ['a long text', () => 'x'.repeat(5000)],
    ['a name of JavaScript', () => '__proto__'],
  ])('%s', async (_, idOf) => {
    const path = `${WEBHOOKS}/${idOf(foreign.id)}`
    const answers = [
      await fixture.app.client(fixture.key).delete(path),
      await fixture.app.client(fixture.key).patch(path, { active: false }),
      await fixture.app.client(fixture.key).post(`${path}/rotate-secret`, {}),
      await fixture.app.client(fixture.key).post(`${path}/test`, {}),
    ]

    for (const { status, body } of answers) expect({ status, body }).toEqual(NOT_FOUND)
    expect(await other.listWebhooks()).toEqual(before)
    expect(fixture.target.requests).toEqual([])
    await other.createIdentity()
    await fixture.rest()
    const [request] = fixture.target.requests.splice(0)
    expect(signersOf(request as never, [foreign.secret])).toEqual([foreign.secret])
  })
})

const URLS: [Json, ...string[]][] = [
  [null, 'url: must be an http or https URL'],
  [5, 'url: must be an http or https URL'],
  [['https://example.com/'], 'url: must be an http or https URL'],
  ['', 'url', 'must be an absolute http or https URL'],
  ['example.com/hook', 'url', 'must be an absolute http or https URL'],
  ['ftp://example.com/', 'url', 'must start with http or https, not ftp'],
  ['javascript:alert(1)', 'url', 'must start with http or https'],
  ['http://localhost/', 'url', 'loopback hostname'],
  ['http://api.localhost./', 'url', 'loopback hostname'],
  ['http://intranet/', 'url', 'single-label hostname'],
  ['http://127.0.0.1/', 'url', '127.0.0.1'],
  ['http://2130706433/', 'url', '127.0.0.1'],
  ['http://0x7f.1/', 'url', '127.0.0.1'],
  ['http://10.1.2.3/', 'url', '10.1.2.3'],
  ['http://172.16.0.1/', 'url', '172.16.0.1'],
  ['http://192.168.1.1/', 'url', '192.168.1.1'],
  ['http://100.64.0.1/', 'url', '100.64.0.1'],
  ['http://169.254.169.254/latest', 'url', '169.254.169.254'],
  ['http://0.0.0.0/', 'url', '0.0.0.0'],
  ['http://[::1]/', 'url', '::1'],
  ['http://[::ffff:10.0.0.1]/', 'url', '::ffff:a00:1'],
  ['http://[fd00::1]/', 'url', 'fd00::1'],
  ['http://[fe80::1]/', 'url', 'fe80::1'],
  ['https://user:pw@example.com/', 'url', 'credentials'],
  ['https://@example.com/', 'url', 'credentials'],
  ['https://example.com:0/', 'url', 'port 0'],
  [`https://example.com/${'a'.repeat(8200)}`, 'url', 'at most 8192'],
  ['https://example.com/\n', 'url', 'must not contain spaces, control characters or backslashes'],
  [' https://example.com/', 'url', 'must not contain spaces, control characters or backslashes'],
  [
    'https://example.com\\@evil.example/',
    'url',
    'must not contain spaces, control characters or backslashes',
  ],
]

const AT_LEAST_ONE = 'at least 1 of identity.created, identity.deleted'
const ONE_OF = 'one of identity.created, identity.deleted'
const EVENTS: [Json, ...string[]][] = [
  [[], 'events: must be', AT_LEAST_ONE],
  [null, 'events: must be', AT_LEAST_ONE],
  ['identity.created', 'events: must be', AT_LEAST_ONE],
  [{ 0: 'identity.created' }, 'events: must be', AT_LEAST_ONE],
  ...[
    'identity.updated',
    'identity.*',
    '*',
    'identity',
    'Identity.Created',
    'identity.created ',
    'webhook.test',
    '',
    null,
    5,
    ['identity.created'],
  ].map((unknown): [Json, ...string[]] => [
    ['identity.created', unknown],
    'events.1: must be',
    ONE_OF,
  ]),
]

describe('refused on creation and on change, naming field and rule', () => {
  let fixture: Fixture
  let webhook: Json
  beforeAll(async () => {
    fixture = await bootWebhooks({ allow: [] })
    webhook = withoutSecret(await fixture.createWebhook(URL_OF, { events: ['identity.login'] }))
  })
  afterAll(() => fixture.end())

  const cases: [Json, string[]][] = [
    ...URLS.map(([url, ...words]): [Json, string[]] => [{ url }, words]),
    ...EVENTS.map(([events, ...words]): [Json, string[]] => [{ events }, words]),
    ...[null, 0, 'true', []].map((active): [Json, string[]] => [
      { active },
      ['active: must be true or false'],
    ]),
  ]
  const titled = cases.map(
    ([fields, words]) => [JSON.stringify(fields).slice(0, 80), fields, words] as const,
  )

  test.each(titled)('%s', async (_, fields, words) => {
    const { api } = fixture
    expect(await api.post(WEBHOOKS, { url: URL_OF, ...fields })).toMatchObject(
      refusal(400, ...words),
    )
    const change = { active: false, ...fields }
    expect(await api.patch(`${WEBHOOKS}/${webhook.id}`, change)).toMatchObject(
      refusal(400, ...words),
    )
    expect(await fixture.listWebhooks()).toEqual([webhook])
  })

  test('a creation without a URL', async () => {
    expect(await fixture.api.post(WEBHOOKS, { events: ALL_EVENTS })).toMatchObject(
      refusal(400, 'url: is required and must be an http or https URL'),
    )
  })

  test.each([[undefined], [null], [[]], ['x'], [5]])('%j in the place of a body', async (body) => {
    const refused = refusal(400, 'body: must be a JSON object')
    expect(await fixture.api.post(WEBHOOKS, body)).toMatchObject(refused)
    expect(await fixture.api.patch(`${WEBHOOKS}/${webhook.id}`, body)).toMatchObject(refused)
  })

  test.each<[Json, string]>([
    [null, 'whsec_'],
    [5, 'whsec_'],
    ['', 'whsec_'],
    ['abc', 'whsec_'],
    [`whsec_${'!'.repeat(44)}`, 'standard base64'],
    [`whsec_${Buffer.alloc(23).toString('base64')}`, '24 to 75'],
    [`whsec_${Buffer.alloc(76).toString('base64')}`, '24 to 75'],
  ])('the secret %j, on creation and rotation', async (secret, words) => {
    const { api } = fixture
    for (const answer of [
      await api.post(WEBHOOKS, { url: URL_OF, secret }),
      await api.post(`${WEBHOOKS}/${webhook.id}/rotate-secret`, { secret }),
    ]) {
      if (typeof secret === 'string' && secret.length > 10)
        expect(answer.body.error).not.toContain(secret)
      expect(answer).toMatchObject(refusal(400, 'secret:', words))
    }
    expect(await fixture.listWebhooks()).toEqual([webhook])
  })
})

test('a name that leads inward is taken, since that may change, and never called', async () => {
  await using fixture = await bootWebhooks({
    allow: [],
    resolve: async () => [{ address: '10.0.0.1', family: 4 }],
  })
  await fixture.createWebhook('https://inward.example.com/')

  await fixture.createIdentity()
  await fixture.rest()

  expect((await fixture.theDelivery()).attempt_log).toMatchObject([
    {
      status: 'failed',
      address: null,
      error: { code: 'blocked', message: expect.stringContaining('10.0.0.1') },
    },
  ])
})

test('a tenant may have 1,000 webhooks, and no more until one is deleted', async () => {
  await using fixture = await bootWebhooks()
  const other = await fixture.party()
  const [first] = await Promise.all(
    Array.from({ length: 1000 }, () => fixture.createWebhook(URL_OF, { active: false })),
  )

  const answer = await fixture.api.post(WEBHOOKS, { url: URL_OF })

  expect(answer).toMatchObject(refusal(409, 'limit reached: 1000'))
  expect(await fixture.listWebhooks()).toHaveLength(1000)
  await other.createWebhook(URL_OF)
  await fixture.remove(first)
  await fixture.createWebhook(URL_OF)
  expect(await fixture.api.post(WEBHOOKS, { url: URL_OF })).toMatchObject({ status: 409 })
})

describe('a rotated secret', () => {
  test('signs first, and the one before beside it until the grace time is over', async () => {
    await using fixture = await bootWebhooks()
    const { clock } = fixture
    const webhook = await fixture.createWebhook(fixture.target.url)

    const next = await fixture.rotate(webhook, { grace_seconds: 3600 })

    expect(next).toEqual({
      secret: expect.stringMatching(SECRET),
      previous_expires_at: new Date(clock.now() + HOUR).toISOString(),
    })
    const both = [next.secret, webhook.secret]
    expect(new Set(both).size).toBe(2)
    expect(await signersNow(fixture, both)).toEqual(both)
    clock.jump(HOUR - 1)
    expect(await signersNow(fixture, both)).toEqual(both)
    clock.jump(1)
    expect(await signersNow(fixture, both)).toEqual([next.secret])
  })

  test('has a day of grace unless told otherwise, with and without a body', async () => {
    await using fixture = await bootWebhooks()
    const { clock, api } = fixture
    const webhook = await fixture.createWebhook(URL_OF)
    const tomorrow = new Date(clock.now() + 24 * HOUR).toISOString()

    const answer = await api.post(`${WEBHOOKS}/${webhook.id}/rotate-secret`)

    expect(answer).toMatchObject({ status: 200, body: { previous_expires_at: tomorrow } })
    expect(await fixture.rotate(webhook)).toMatchObject({ previous_expires_at: tomorrow })
  })

  test('without grace signs alone at once', async () => {
    await using fixture = await bootWebhooks()
    const webhook = await fixture.createWebhook(fixture.target.url)
    const next = await fixture.rotate(webhook, { grace_seconds: 0, secret: GIVEN })
    expect(next).toEqual({ secret: GIVEN, previous_expires_at: null })
    expect(await signersNow(fixture, [webhook.secret, GIVEN])).toEqual([GIVEN])
  })

  test('signs further attempts too, at what was first sent before it', async () => {
    await using fixture = await bootWebhooks()
    const { target, clock } = fixture
    const webhook = await fixture.createWebhook(target.url)
    target.answers(() => new Response('', { status: 500 }))
    await fixture.createIdentity()
    await fixture.rest()

    const { secret } = await fixture.rotate(webhook)
    await clock.advance(SECOND)
    await fixture.rest()

    const [first, second] = target.requests
    expect(signersOf(first as never, [secret, webhook.secret])).toEqual([webhook.secret])
    expect(signersOf(second as never, [secret, webhook.secret])).toEqual([secret, webhook.secret])
  })

  test('is not shown again, and the webhook is otherwise what it was', async () => {
    await using fixture = await bootWebhooks()
    const webhook = await fixture.createWebhook(URL_OF, { events: ['identity.login'] })
    const { secret } = await fixture.rotate(webhook)
    const listed = await fixture.read(WEBHOOKS)
    expect(listed).toEqual({ webhooks: [withoutSecret(webhook)] })
    expect(JSON.stringify(listed)).not.toContain(secret)
  })

  test('can be changed while five are in use, and not further', async () => {
    await using fixture = await bootWebhooks()
    const webhook = await fixture.createWebhook(URL_OF)
    for (let n = 0; n < 4; n++) await fixture.rotate(webhook)
    const answer = await fixture.api.post(`${WEBHOOKS}/${webhook.id}/rotate-secret`, {})
    expect(answer).toMatchObject(refusal(409, '5 secrets are in use'))
  })

  test.each([-1, 604_801, 1.5, '60', null])('is refused with a grace of %j', async (seconds) => {
    await using fixture = await bootWebhooks()
    const webhook = await fixture.createWebhook(fixture.target.url)
    const path = `${WEBHOOKS}/${webhook.id}/rotate-secret`
    expect(await fixture.api.post(path, { grace_seconds: seconds })).toMatchObject(
      refusal(400, 'grace_seconds: must be a whole number of 0 to 604800'),
    )
    expect(await signersNow(fixture, [webhook.secret])).toEqual([webhook.secret])
  })
})

/** What each event says besides whom it is about. */
const PAYLOADS: Record<string, Json> = {
  'identity.created': { email: 'test@example.com', method: 'password' },
  'identity.deleted': {},
  'identity.login': { email: 'test@example.com' },
  'identity.password_changed': { method: 'password' },
  'identity.email_verified': {},
  'identity.state_changed': { state: 'inactive' },
}

describe('a test event', () => {
  test.each(ALL_EVENTS)('%s has every field of a real one, and is signed', async (type) => {
    await using fixture = await bootWebhooks()
    const { target } = fixture
    const webhook = await fixture.createWebhook(target.url, { events: ['identity.login'] })

    const result = await fixture.sendTest(webhook, { event_type: type })

    expect(result).toMatchObject({ succeeded: true, error: null, response: { status: 200 } })
    const [request, ...others] = target.requests
    expect(others).toEqual([])
    const event = eventIn(request as never)
    expect(event).toEqual({
      event_id: expect.stringMatching(UUID),
      event_type: type,
      tenant_id: fixture.acme.id,
      created_at: START,
      data: { identity_id: expect.stringMatching(UUID), payload: PAYLOADS[type] },
    })
    expect(request?.headers.get('webhook-id')).toBe(event.event_id)
    expect(request?.headers.get('x-service-trigger')).toBe('test')
    expect(signersOf(request as never, [webhook.secret])).toEqual([webhook.secret])
    expect(result.request).toMatchObject({ url: target.url, body: request?.body })
    const { api } = fixture
    expect(await api.get(`/v1/gate/identities/${event.data.identity_id}`)).toMatchObject({
      status: 404,
    })
  })

  test('is a creation unless told otherwise, also without a body, and new each time', async () => {
    await using fixture = await bootWebhooks()
    const webhook = await fixture.createWebhook(fixture.target.url)

    await fixture.sendTest(webhook)
    await fixture.sendTest(webhook, {})

    expect(typesAt(fixture.target)).toEqual(['identity.created', 'identity.created'])
    const ids = fixture.target.requests.map(({ headers }) => headers.get('webhook-id'))
    expect(new Set(ids).size).toBe(2)
  })

  test('is written down nowhere and tried once, and reaches one that is paused', async () => {
    await using fixture = await bootWebhooks()
    const { target } = fixture
    target.answers(() => new Response('no', { status: 500 }))
    const webhook = await fixture.createWebhook(target.url, { active: false })
    await fixture.createWebhook(target.url)

    expect(await fixture.sendTest(webhook)).toMatchObject({
      succeeded: false,
      response: { status: 500, body: 'no' },
      error: { code: 'status', message: 'status 500' },
    })
    await fixture.toTheEnd()

    expect(target.requests).toHaveLength(1)
    expect(await fixture.listDeliveries()).toEqual([])
    expect(await fixture.listWebhooks()).toMatchObject([{ active: false }, { active: true }])
  })

  test.each<[string, number, Record<string, string>, string]>([
    ['a redirect', 307, { location: 'http://127.0.0.1:9/' }, 'redirect'],
    ['410', 410, {}, 'status'],
    ['429', 429, { 'retry-after': '60' }, 'status'],
  ])('that is answered with %s says so, and switches nothing off', async (...given) => {
    const [, status, headers, code] = given
    await using fixture = await bootWebhooks()
    fixture.target.answers(() => new Response('', { status, headers }))
    const webhook = await fixture.createWebhook(fixture.target.url)

    expect(await fixture.sendTest(webhook)).toMatchObject({
      succeeded: false,
      response: { status },
      error: { code },
    })
    expect(await fixture.listWebhooks()).toMatchObject([{ active: true }])
  })

  test('tells of a port on which nobody listens', async () => {
    await using fixture = await bootWebhooks()
    const webhook = await fixture.createWebhook(await closedPort())
    expect(await fixture.sendTest(webhook)).toMatchObject({
      succeeded: false,
      response: null,
      error: { code: 'connect' },
    })
  })

  test('waits 10 s for its answer, and one beyond four at once is turned away', async () => {
    await using fixture = await bootWebhooks()
    const { app, target, api } = fixture
    const held = holdAnswers(target)
    const webhook = await fixture.createWebhook(target.url)
    const path = `${WEBHOOKS}/${webhook.id}/test`
    const tests = Array.from({ length: 4 }, () => api.post(path, {}))
    await held.arrived(4)

    const fifth = await api.post(path, {})
    await advanceWaiting(app, 10 * SECOND)

    expect(fifth).toMatchObject(refusal(429, '4 tests are running'))
    expect(fifth.headers.get('retry-after')).toBe('1')
    for (const { body } of await Promise.all(tests))
      expect(body).toMatchObject({
        succeeded: false,
        duration_ms: 10 * SECOND,
        error: { code: 'timeout', message: expect.stringContaining('10 s') },
      })
    held.release()
  })

  test.each(['webhook.test', 'identity.*', '', null, 5])(
    'cannot be of the type %j',
    async (type) => {
      await using fixture = await bootWebhooks()
      const webhook = await fixture.createWebhook(fixture.target.url)
      expect(
        await fixture.api.post(`${WEBHOOKS}/${webhook.id}/test`, { event_type: type }),
      ).toMatchObject(refusal(400, 'event_type: must be', ONE_OF))
      expect(fixture.target.requests).toEqual([])
    },
  )
})

test('the document knows each field of a webhook, and where the secret is', async () => {
  await using fixture = await bootWebhooks()
  const schemaOf = (path: string, method: string, status: number): Json =>
    fixture.document.paths[path][method].responses[status].content['application/json'].schema

  const created = schemaOf(WEBHOOKS, 'post', 201)
  const listed = schemaOf(WEBHOOKS, 'get', 200).properties.webhooks.items

  expect(Object.keys(created.properties)).toEqual([...FIELDS, 'secret'])
  expect(created.required.toSorted()).toEqual([...FIELDS, 'secret'].toSorted())
  expect(Object.keys(listed.properties)).toEqual(FIELDS)
  const webhook = await fixture.createWebhook(URL_OF)
  expect(misfits(listed, webhook, 'webhook')).toEqual(['webhook.secret is not described'])
  expect(fixture.document.paths[WEBHOOK_DELIVERIES]).toBeDefined()
})
