import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import {
  bootFixture,
  copyEndpoint,
  count,
  ENDPOINTS,
  type Fixture,
  isoAt,
  type Json,
  manage,
  refusal,
  SECOND,
  START,
  signedWith,
  typesOf,
} from './management.ts'

const MASK = '********'

const DEFAULTS = {
  description: '',
  event_types: null,
  channels: [],
  format: 'standard',
  headers: {},
  active: true,
  disabled_reason: null,
  health: { breaker: 'closed', open_until: null, failures_in_a_row: 0, failing_since: null },
  created_at: isoAt(START),
  updated_at: isoAt(START),
}

/** Every field, with a value that is not the default. */
const FULL = {
  url: 'https://hooks.example.com/a?b=c',
  description: 'Billing',
  event_types: ['invoice.paid', 'user.*'],
  channels: ['eu', 'team:7'],
  format: 'raw',
  headers: { 'X-Team': 'blue' },
  active: false,
}

describe('creation', () => {
  test('needs no more than a URL, and answers with the secret', async () => {
    await using fixture = await bootFixture()

    const { id, secret, ...rest } = await fixture.createEndpoint()

    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/)
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
    expect(rest).toEqual({ url: fixture.target.url, ...DEFAULTS })
  })

  test('takes every field', async () => {
    await using fixture = await bootFixture()
    const { createEndpoint, readEndpoint } = fixture

    const { id, secret: _, ...rest } = await createEndpoint(FULL)

    expect(rest).toEqual({ ...DEFAULTS, ...FULL, disabled_reason: 'manual' })
    expect(await readEndpoint({ id })).toEqual({ id, ...rest })
  })

  test('gives each endpoint a secret of its own', async () => {
    await using fixture = await bootFixture()
    const secrets = new Set<string>()
    for (let n = 0; n < 20; n++) secrets.add((await fixture.createEndpoint()).secret)
    expect(secrets.size).toBe(20)
  })

  test('ignores fields that there are not, and those that are ours', async () => {
    await using fixture = await bootFixture()
    const { createEndpoint, readEndpoint } = fixture

    const created = await createEndpoint({
      color: 'red',
      id: 'mine',
      created_at: '2020-01-01T00:00:00.000Z',
      disabled_reason: 'gone',
      health: { breaker: 'open' },
      held: 'nonsense',
    })

    expect(created.id).not.toBe('mine')
    expect(await readEndpoint(created)).toEqual({
      id: created.id,
      url: fixture.target.url,
      ...DEFAULTS,
    })
  })

  test('of an inactive endpoint holds what comes until it is switched on', async () => {
    await using fixture = await bootFixture()
    const { createEndpoint, change, publish, settle, deliveriesOf, target } = fixture
    const endpoint = await createEndpoint({ active: false })
    const message = await publish()
    expect(await deliveriesOf(message)).toMatchObject([
      { status: 'held', held_reason: 'inactive', attempts: 0, next_attempt_at: null },
    ])
    expect(target.requests).toHaveLength(0)

    expect(await change(endpoint, { active: true })).toMatchObject({
      active: true,
      disabled_reason: null,
    })
    await settle()

    expect(target.requests).toHaveLength(1)
    expect(await deliveriesOf(message)).toMatchObject([{ status: 'succeeded', held_reason: null }])
  })
})

describe('creation takes', () => {
  let fixture: Fixture
  beforeAll(async () => {
    fixture = await bootFixture()
  })
  afterAll(() => fixture.end())

  test.each([
    ['null, for all types', { event_types: null }],
    ['a star, for all types', { event_types: ['*'] }],
    ['a word without a dot', { event_types: ['ping'] }],
    ['100 types', { event_types: Array.from({ length: 100 }, (_, n) => `a.b${n}`) }],
    ['a type of 256 characters', { event_types: ['a'.repeat(256)] }],
    ['no channels, for all', { channels: [] }],
    ['10 channels', { channels: Array.from({ length: 10 }, (_, n) => `c${n}`) }],
    ['a channel of 128 characters', { channels: ['aZ0_.:-'.padEnd(128, 'x')] }],
    ['a description of 500 characters', { description: 'ä'.repeat(500) }],
    ['an empty description', { description: '' }],
    ['each format', { format: 'cloudevents' }],
    ['50 headers', { headers: manyHeaders(50) }],
    ['a header of 4 KB', { headers: { 'X-Long': 'x'.repeat(4096) } }],
    ['a header in Latin-1', { headers: { 'X-Team': 'Grün' } }],
    ['an empty header', { headers: { 'X-Empty': '' } }],
    ['http', { url: 'http://example.com/' }],
    ['a port', { url: 'https://example.com:8443/' }],
    ['a public address', { url: 'https://93.184.216.34/hook' }],
  ])('%s', async (_, fields) => {
    const { createEndpoint, readEndpoint } = fixture

    const created = await createEndpoint(fields)

    expect(await readEndpoint(created)).toMatchObject(fields)
  })
})

function manyHeaders(n: number): Record<string, string> {
  return Object.fromEntries(Array.from({ length: n }, (_, i) => [`X-${i}`, `${i}`]))
}

const BAD_FIELDS: [fields: Json, ...words: string[]][] = [
  [{ url: 'ftp://example.com/' }, 'url', 'must start with http or https, not ftp'],
  [{ url: 'example.com' }, 'url', 'must be an absolute http or https URL'],
  [{ url: '' }, 'url', 'must be an absolute http or https URL'],
  [{ url: 7 }, 'url', 'an http or https URL'],
  [{ url: null }, 'url', 'an http or https URL'],
  [{ url: 'http://localhost/' }, 'url', 'loopback hostname'],
  [{ url: 'http://api.localhost./' }, 'url', 'loopback hostname'],
  [{ url: 'http://intranet/' }, 'url', 'single-label hostname'],
  [{ url: 'http://10.1.2.3/' }, 'url', '10.1.2.3'],
  [{ url: 'http://0x0a.1/' }, 'url', '10.0.0.1'],
  [{ url: 'http://192.168.1.1/' }, 'url', '192.168.1.1'],
  [{ url: 'http://169.254.169.254/latest' }, 'url', '169.254.169.254'],
  [{ url: 'http://[::1]/' }, 'url', '::1'],
  [{ url: 'http://[fd00::1]/' }, 'url', 'fd00::1'],
  [{ url: 'https://user:pw@example.com/' }, 'url', 'credentials'],
  [{ url: 'https://example.com:0/' }, 'url', 'port 0'],
  [{ url: `https://example.com/${'a'.repeat(8200)}` }, 'url', 'at most 8192'],
  ...['\n', '\t', '\r\n', '\x00', '\x7f', ' ', '\\'].flatMap((unseen): [Json, ...string[]][] =>
    [
      `https://exa${unseen}mple.com/`,
      `https://example.com/a${unseen}b`,
      `https://example.com/${unseen}`,
    ]
      .concat(`${unseen}https://example.com/`)
      .map((url) => [{ url }, 'url', 'must not contain spaces, control characters or backslashes']),
  ),
  [{ description: 'a'.repeat(501) }, 'description', 'up to 500 characters'],
  [{ description: null }, 'description', 'string'],
  [{ event_types: [] }, 'event_types', '1 to 100'],
  [{ event_types: Array(101).fill('a') }, 'event_types', '1 to 100'],
  [{ event_types: 'user.created' }, 'event_types', 'list'],
  [{ event_types: [5] }, 'event_types', 'type'],
  [{ event_types: [''] }, 'event_types', 'must be a type'],
  [{ event_types: ['user..created'] }, 'event_types', 'must be a type'],
  [{ event_types: ['user.'] }, 'event_types', 'must be a type'],
  [{ event_types: ['user*'] }, 'event_types', 'must be a type'],
  [{ event_types: ['*.created'] }, 'event_types', 'must be a type'],
  [{ event_types: ['user.*.x'] }, 'event_types', 'must be a type'],
  [{ event_types: ['a b'] }, 'event_types', 'must be a type'],
  [{ event_types: ['ok', 'a'.repeat(257)] }, 'event_types', '256'],
  [{ channels: null }, 'channels', 'up to 10 channels'],
  [{ channels: Array.from({ length: 11 }, (_, n) => `c${n}`) }, 'channels', 'up to 10'],
  [{ channels: 'eu' }, 'channels', 'list'],
  [{ channels: [''] }, 'channels', '1 to 128'],
  [{ channels: ['a b'] }, 'channels', '1 to 128'],
  [{ channels: ['a'.repeat(129)] }, 'channels', '1 to 128'],
  [{ format: 'xml' }, 'format', 'one of standard, raw, cloudevents'],
  [{ format: null }, 'format', 'one of standard'],
  [{ headers: [] }, 'headers', 'object'],
  [{ headers: null }, 'headers', 'object'],
  [{ headers: 'X-A: b' }, 'headers', 'object'],
  [{ headers: { 'X-A': 5 } }, 'headers.X-A', 'string'],
  [{ headers: { 'X A': 'b' } }, 'headers', 'X A'],
  [{ headers: { '': 'b' } }, 'headers', 'without a name'],
  [{ headers: { 'X-A': 'b\r\nX-B: c' } }, 'headers', 'X-A'],
  [{ headers: { 'X-A': 'Ł' } }, 'headers', 'X-A'],
  [{ headers: { 'X-A': '1', 'x-a': '2' } }, 'headers', 'x-a', 'twice'],
  [{ headers: manyHeaders(51) }, 'headers', '50'],
  [{ headers: { 'X-A': 'x'.repeat(4097) } }, 'headers', 'X-A', '4 KB'],
  [{ active: 'yes' }, 'active', 'true or false'],
  [{ active: null }, 'active', 'true or false'],
  ...[
    'Content-Type',
    'content-length',
    'Host',
    'User-Agent',
    'Transfer-Encoding',
    'Webhook-Id',
    'webhook_signature',
    'svix-id',
    'X-Service-Signature',
    'x-service-anything',
  ].map((name): [Json, ...string[]] => [{ headers: { [name]: 'x' } }, 'headers', name, 'reserved']),
]

describe('refused on creation and on change, naming field and rule', () => {
  let fixture: Fixture
  let endpoint: Json
  beforeAll(async () => {
    fixture = await bootFixture()
    const { secret: _, ...created } = await fixture.createEndpoint()
    endpoint = created
  })
  afterAll(() => fixture.end())

  test.each(BAD_FIELDS.map(([fields, ...words]) => [short(fields), fields, words] as const))(
    '%s',
    async (_, fields, words) => {
      const { api, target } = fixture
      const expected = refusal(400, 'invalid_payload', ...words)
      expect(await api.post(ENDPOINTS, { url: target.url, ...fields })).toMatchObject(expected)
      expect(await api.patch(`${ENDPOINTS}/${endpoint.id}`, fields)).toMatchObject(expected)
      expect((await fixture.listEndpoints()).data).toEqual([endpoint])
    },
  )

  test('all that is wrong with one field keeps the others from being changed', async () => {
    const answer = await fixture.api.patch(`${ENDPOINTS}/${endpoint.id}`, {
      description: 'new',
      channels: ['a b'],
    })
    expect(answer).toMatchObject(refusal(400, 'invalid_payload', 'channels'))
    expect(await fixture.readEndpoint(endpoint)).toEqual(endpoint)
  })

  test('a creation without a URL', async () => {
    expect(await fixture.api.post(ENDPOINTS, { description: 'x' })).toMatchObject(
      refusal(400, 'invalid_payload', 'url: is required'),
    )
  })

  test.each([
    ['nothing', undefined],
    ['null', null],
    ['a list', []],
    ['a string', 'https://example.com'],
  ])('%s instead of an object', async (_, body) => {
    const { api } = fixture
    const expected = refusal(400, 'invalid_payload', 'object')
    expect(await api.post(ENDPOINTS, body)).toMatchObject(expected)
    expect(await api.patch(`${ENDPOINTS}/${endpoint.id}`, body)).toMatchObject(expected)
  })

  test.each([
    [{ secret: 'abc' }, 'whsec_'],
    [{ secret: `whsec_${Buffer.alloc(23).toString('base64')}` }, '24 to 75'],
    [{ secret: `whsec_${Buffer.alloc(76).toString('base64')}` }, '24 to 75'],
    [{ secret: null }, 'whsec_'],
  ])('an imported secret: %j', async (fields, words) => {
    const { api, target } = fixture
    const answer = await api.post(ENDPOINTS, { url: target.url, ...fields })
    expect(answer).toMatchObject(refusal(400, 'invalid_payload', 'secret', words))
    expect((await fixture.listEndpoints()).data).toHaveLength(1)
  })

  test.each([
    [{ held: 'drain' }, 'must be sent together with active: true'],
    [{ held: 'discard', active: false }, 'must be sent together with active: true'],
    [{ held: 'keep', active: true }, 'one of drain, discard'],
    [{ held: null, active: true }, 'one of drain, discard'],
  ])('held: %j', async (fields, words) => {
    expect(await fixture.api.patch(`${ENDPOINTS}/${endpoint.id}`, fields)).toMatchObject(
      refusal(400, 'invalid_payload', 'held', words),
    )
  })

  test('a mask for a sensitive header that has no stored value', async () => {
    const { api, target } = fixture
    const headers = { Authorization: MASK }
    const expected = refusal(400, 'invalid_payload', 'headers', 'Authorization', MASK)
    expect(await api.post(ENDPOINTS, { url: target.url, headers })).toMatchObject(expected)
    expect(await api.patch(`${ENDPOINTS}/${endpoint.id}`, { headers })).toMatchObject(expected)
  })
})

function short(fields: Json): string {
  const text = JSON.stringify(fields)
  return text.length > 80 ? `${text.slice(0, 80)}…` : text
}

test('a name that resolves inward is taken, since that may change, and never called', async () => {
  await using fixture = await bootFixture({
    allow: [],
    resolve: async () => [{ address: '10.0.0.1', family: 4 }],
  })
  const { createEndpoint, publish, deliveriesOf, readDelivery } = fixture
  await createEndpoint({ url: 'https://inward.example.com/' })

  const [delivery] = await deliveriesOf(await publish())

  expect((await readDelivery(delivery)).attempt_log).toMatchObject([
    { status: 'failed', error: { code: 'blocked', message: expect.stringContaining('10.0.0.1') } },
  ])
})

/** What has just been switched on begins with one attempt at a time. */
const RECOVERING = { ...DEFAULTS.health, breaker: 'recovering' }

describe('a change', () => {
  const CHANGES: Record<string, unknown> = {
    url: 'https://other.example.com/',
    description: 'Shop',
    event_types: ['order.*'],
    channels: ['us'],
    format: 'cloudevents',
    headers: { 'X-Other': '1' },
    active: true,
  }

  test.each(Object.keys(CHANGES))('of %s alone leaves all the others', async (field) => {
    await using fixture = await bootFixture()
    const { createEndpoint, change, readEndpoint, clock } = fixture
    const { secret: _, ...before } = await createEndpoint(FULL)
    await clock.advance(SECOND)

    const after = await change(before, { [field]: CHANGES[field] })

    expect(after).toEqual({
      ...before,
      [field]: CHANGES[field],
      ...(field === 'active' && { disabled_reason: null, health: RECOVERING }),
      updated_at: isoAt(START + SECOND),
    })
    expect(await readEndpoint(before)).toEqual(after)
  })

  test('of a field back to its default', async () => {
    await using fixture = await bootFixture()
    const { createEndpoint, change, readEndpoint } = fixture
    const endpoint = await createEndpoint(FULL)

    for (const [field, value] of Object.entries(DEFAULTS).filter(([name]) => name in FULL)) {
      await change(endpoint, { [field]: value })
      expect(await readEndpoint(endpoint)).toHaveProperty(field, value)
    }
  })

  test('of nothing changes nothing', async () => {
    await using fixture = await bootFixture()
    const { createEndpoint, change } = fixture
    const { secret: _, ...before } = await createEndpoint(FULL)

    expect(await change(before, {})).toEqual(before)
  })

  test('of an active endpoint of nothing keeps it active', async () => {
    await using fixture = await bootFixture()
    const { createEndpoint, change } = fixture
    const { secret: _, ...before } = await createEndpoint({ ...FULL, active: true })

    expect(await change(before, {})).toEqual(before)
    expect(await change(before, { description: 'x' })).toMatchObject({ active: true })
  })

  test('ignores what there is not and what is ours', async () => {
    await using fixture = await bootFixture()
    const { createEndpoint, change } = fixture
    const { secret: _, ...before } = await createEndpoint()

    const after = await change(before, {
      color: 'red',
      id: 'mine',
      disabled_reason: 'gone',
      created_at: isoAt(0),
      updated_at: isoAt(0),
      health: { breaker: 'open' },
    })

    expect(after).toEqual(before)
  })

  test('refuses a secret, which is not replaced like this', async () => {
    await using fixture = await bootFixture()
    const { api, createEndpoint, publish, target } = fixture
    const { secret, id } = await createEndpoint()
    const other = `whsec_${Buffer.alloc(32, 1).toString('base64')}`

    const answer = await api.patch(`${ENDPOINTS}/${id}`, { secret: other, description: 'new' })

    expect(answer).toMatchObject(refusal(400, 'invalid_payload', 'secret', 'rotate-secret'))
    await publish()
    expect(signedWith(target.requests[0], [secret, other])).toEqual([secret])
  })

  test('may write back what was read', async () => {
    await using fixture = await bootFixture()
    const { createEndpoint, change, readEndpoint, publish, target } = fixture
    const endpoint = await createEndpoint({ headers: { 'X-Api-Key': 'k-1', 'X-Team': 'blue' } })
    const read = await readEndpoint(endpoint)

    expect(await change(endpoint, read)).toEqual(read)

    await publish()
    expect(target.requests[0]?.headers.get('x-api-key')).toBe('k-1')
  })

  test('decides where the next attempt goes', async () => {
    await using fixture = await bootFixture()
    const { createEndpoint, change, publish, target, clock } = fixture
    const endpoint = await createEndpoint({ url: `${target.url}/old` })
    target.answers(({ path }) => new Response('', { status: path === '/hook/old' ? 500 : 200 }))
    await publish()

    await change(endpoint, { url: `${target.url}/new` })
    await clock.advance(10 * SECOND)

    expect(target.requests.map(({ path }) => path)).toEqual(['/hook/old', '/hook/new'])
  })

  test('of the filter holds for messages that come after it', async () => {
    await using fixture = await bootFixture()
    const { createEndpoint, change, publish, target } = fixture
    const endpoint = await createEndpoint({ event_types: ['a.*'], channels: ['eu'] })
    await publish({ event_type: 'a.b', channels: ['eu'] })
    await publish({ event_type: 'a.c', channels: ['us'] })
    await publish({ event_type: 'b.b', channels: ['eu'] })
    expect(typesOf(target.requests)).toEqual(['a.b'])

    await change(endpoint, { channels: [] })
    await publish({ event_type: 'a.d', channels: ['us'] })
    await change(endpoint, { event_types: null })
    await publish({ event_type: 'c' })

    expect(typesOf(target.requests)).toEqual(['a.b', 'a.d', 'c'])
  })
})

describe('headers with sensitive values', () => {
  const HEADERS = {
    Authorization: 'Bearer t0p',
    Cookie: 'a=b',
    'X-Api-Key': 'k-1',
    'X-Auth-Token': 't-1',
    'X-Signature': 's-1',
    'X-Team': 'blue',
    'X-Region': 'eu',
  }
  const SHOWN = {
    ...Object.fromEntries(Object.keys(HEADERS).map((name) => [name, MASK])),
    'X-Team': 'blue',
    'X-Region': 'eu',
  }

  test('are masked in every answer, other values are not', async () => {
    await using fixture = await bootFixture()
    const { createEndpoint, readEndpoint, listEndpoints, change } = fixture

    const created = await createEndpoint({ headers: HEADERS })

    expect(created.headers).toEqual(SHOWN)
    expect((await readEndpoint(created)).headers).toEqual(SHOWN)
    expect((await listEndpoints()).data[0].headers).toEqual(SHOWN)
    expect((await change(created, { description: 'x' })).headers).toEqual(SHOWN)
  })

  test('keep the stored value where the mask is written back, in whatever case', async () => {
    await using fixture = await bootFixture()
    const { createEndpoint, change, publish, target } = fixture
    const endpoint = await createEndpoint({ headers: HEADERS })

    await change(endpoint, { headers: { AUTHORIZATION: MASK, 'X-Api-Key': 'k-2', 'X-Team': MASK } })
    await publish()

    const headers = target.requests[0]?.headers
    expect(headers?.get('authorization')).toBe('Bearer t0p')
    expect(headers?.get('x-api-key')).toBe('k-2')
    expect(headers?.get('x-team')).toBe('blue')
    expect(headers?.has('cookie')).toBe(false)
  })
})

describe('the secret is never seen again', () => {
  const HEADER_VALUE = 'Bearer a-very-private-token'

  test('in an answer, in the log or in the files of the database', async () => {
    await using fixture = await bootFixture()
    const { app, createEndpoint, rotate, publish, sendTest, deliveriesOf, resend, settle } = fixture
    const fields = { headers: { Authorization: HEADER_VALUE } }
    const endpoint = await createEndpoint(fields)
    const { secret } = await rotate(endpoint)
    const imported = `whsec_${Buffer.from('imported secret of a receiver, long').toString('base64')}`
    const other = await createEndpoint({ ...fields, secret: imported })
    const message = await publish()
    await sendTest(endpoint)
    const [delivery] = await deliveriesOf(message)
    await resend(delivery)
    await settle()
    const secrets = [endpoint.secret, secret, imported]
    const traces = [...secrets, ...secrets.flatMap(decoded), HEADER_VALUE]

    const answers = await everythingReadable(fixture, message, delivery, endpoint, other)

    const texts = { answers, log: app.log.join('\n'), files: filesOf(fixture) }
    for (const [where, text] of Object.entries(texts))
      for (const trace of traces) expect(`${where} ${text.includes(trace)}`).toBe(`${where} false`)
    expect(texts.files).toContain('user.created')
    expect(texts.answers).toContain(endpoint.id)
  })

  /** Its base64 alone, and the bytes that this stands for. */
  const decoded = (secret: string): string[] => {
    const base64 = secret.slice('whsec_'.length)
    return [base64, Buffer.from(base64, 'base64').toString('latin1')]
  }

  async function everythingReadable({ api, change }: Fixture, ...things: { id: string }[]) {
    const [message, delivery, ...endpoints] = things.map(({ id }) => id)
    const paths = [
      ENDPOINTS,
      '/v1/relay/messages',
      `/v1/relay/messages/${message}`,
      `/v1/relay/messages/${message}/deliveries`,
      '/v1/relay/deliveries',
      `/v1/relay/deliveries/${delivery}`,
      '/v1/relay/event-types',
      '/v1/relay/event-types/user.created',
      ...endpoints.flatMap((id) => [`${ENDPOINTS}/${id}`, `${ENDPOINTS}/${id}/stats`]),
    ]
    const answers: unknown[] = []
    for (const path of paths) {
      const { status, body } = await api.get(path)
      expect(`${path} ${status}`).toBe(`${path} 200`)
      answers.push(body)
    }
    for (const id of endpoints) {
      answers.push(await change({ id: `${id}` }, { description: 'x' }))
      answers.push((await api.post(`${ENDPOINTS}/${id}/test`, {})).body)
      answers.push((await api.delete(`${ENDPOINTS}/${id}`)).body)
    }
    return JSON.stringify(answers)
  }

  /** The bytes of the database and of its log. */
  function filesOf({ app }: Fixture): string {
    return [app.db.file, `${app.db.file}-wal`]
      .map((file) => readFileSync(file).toString('latin1'))
      .join('')
  }
})

describe('the list', () => {
  test('shows the newest first, page by page', async () => {
    await using fixture = await bootFixture()
    const { createEndpoint, listEndpoints } = fixture
    const ids: string[] = []
    for (let n = 0; n < 5; n++) ids.unshift((await createEndpoint()).id)
    const idsOf = ({ data }: Json) => data.map(({ id }: Json) => id)

    expect(idsOf(await listEndpoints())).toEqual(ids)
    const first = await listEndpoints('?limit=2')
    const second = await listEndpoints(`?limit=2&cursor=${first.next_cursor}`)
    const third = await listEndpoints(`?limit=2&cursor=${second.next_cursor}`)

    expect([first, second, third].flatMap(idsOf)).toEqual(ids)
    expect([first, second, third].map(({ has_more }) => has_more)).toEqual([true, true, false])
    expect(third.next_cursor).toBeNull()
  })

  test('goes on where it was when endpoints come and go in between', async () => {
    await using fixture = await bootFixture()
    const { createEndpoint, listEndpoints, remove } = fixture
    const [oldest, old, recent] = [
      await createEndpoint(),
      await createEndpoint(),
      await createEndpoint(),
    ]
    const first = await listEndpoints('?limit=1')

    await createEndpoint()
    await remove(recent)
    const rest = await listEndpoints(`?cursor=${first.next_cursor}`)

    expect(rest.data.map(({ id }: Json) => id)).toEqual([old.id, oldest.id])
  })

  test('is empty without endpoints', async () => {
    await using fixture = await bootFixture()
    expect(await fixture.listEndpoints()).toEqual({ data: [], has_more: false, next_cursor: null })
  })

  test.each([
    ['limit=0', 'limit'],
    ['limit=-1', 'limit'],
    ['limit=abc', 'limit'],
    ['limit=1.5', 'limit'],
    ['limit=', 'limit'],
    ['cursor=abc', 'cursor'],
    ['cursor=', 'cursor'],
  ])('refuses ?%s', async (query, field) => {
    await using fixture = await bootFixture()
    expect(await fixture.api.get(`${ENDPOINTS}?${query}`)).toMatchObject(
      refusal(400, 'invalid_request', field),
    )
  })

  test('takes no cursor of another list', async () => {
    await using fixture = await bootFixture()
    const { api, createEndpoint, publish } = fixture
    await createEndpoint()
    await publish()
    await publish()
    const { body } = await api.get('/v1/relay/messages?limit=1')

    expect(await api.get(`${ENDPOINTS}?cursor=${body.next_cursor}`)).toMatchObject(
      refusal(400, 'invalid_request', 'cursor'),
    )
  })
})

describe('a tenant may have 1,000 endpoints', () => {
  test('and one more only after one has gone', async () => {
    await using fixture = await bootFixture()
    const { app, api, createEndpoint, remove, target } = fixture
    const first = await createEndpoint()
    copyEndpoint(app, first, 998)
    await createEndpoint()

    expect(await api.post(ENDPOINTS, { url: target.url })).toMatchObject(
      refusal(409, 'conflict', '1000 endpoints'),
    )

    await remove(first)
    await createEndpoint()
    expect(count(app, 'endpoints')).toBe(1000)
  })

  test('in each environment, and another tenant as many again', async () => {
    await using fixture = await bootFixture()
    const { app, acme, createEndpoint, target } = fixture
    copyEndpoint(app, await createEndpoint(), 999)
    const sandbox = await acme.key('relay', 'test')
    const other = await (await app.tenant('Other')).key('relay', 'live')

    await manage(app, sandbox.key, target.url).createEndpoint()
    await manage(app, other.key, target.url).createEndpoint()
  })
})

describe('pausing', () => {
  test('holds what is still to come; switching on sends it, oldest first', async () => {
    await using fixture = await bootFixture()
    const { createEndpoint, change, publish, target, settle } = fixture
    const endpoint = await createEndpoint()
    expect(await change(endpoint, { active: false })).toMatchObject({
      active: false,
      disabled_reason: 'manual',
    })
    for (const n of [1, 2, 3]) await publish({ event_type: `n.${n}` })
    expect(target.requests).toHaveLength(0)

    await change(endpoint, { active: true, held: 'drain' })
    await settle()

    expect(typesOf(target.requests)).toEqual(['n.1', 'n.2', 'n.3'])
  })

  test('holds what waits for a retry, which goes on when its time comes', async () => {
    await using fixture = await bootFixture()
    const { createEndpoint, change, publish, deliveriesOf, target, clock, settle } = fixture
    const endpoint = await createEndpoint()
    target.answers(() => new Response('', { status: 500 }))
    const message = await publish()
    expect(await deliveriesOf(message)).toMatchObject([{ status: 'retrying' }])

    await change(endpoint, { active: false })
    expect(await deliveriesOf(message)).toMatchObject([{ status: 'held', attempts: 1 }])
    await clock.advance(30 * SECOND)
    expect(target.requests).toHaveLength(1)

    target.answers(() => new Response('ok'))
    await change(endpoint, { active: true })
    await settle()
    expect(await deliveriesOf(message)).toMatchObject([{ status: 'succeeded', attempts: 2 }])
  })

  test('may end in discarding what was held', async () => {
    await using fixture = await bootFixture()
    const { createEndpoint, change, publish, deliveriesOf, target, settle, statsOf } = fixture
    const endpoint = await createEndpoint({ active: false })
    const messages = [await publish(), await publish()]

    await change(endpoint, { active: true, held: 'discard' })
    await settle()

    for (const message of messages)
      expect(await deliveriesOf(message)).toMatchObject([
        { status: 'cancelled', attempts: 0, ended_at: isoAt(START) },
      ])
    expect(target.requests).toHaveLength(0)
    expect(await statsOf(endpoint)).toMatchObject([{ cancelled: 2, exhausted: 0 }])
    await publish()
    expect(target.requests).toHaveLength(1)
  })

  test('discards in slices, without a single one left over', async () => {
    await using fixture = await bootFixture()
    const { app, createEndpoint, change, accept } = fixture
    const endpoint = await createEndpoint({ active: false })
    await Promise.all(Array.from({ length: 650 }, () => accept()))

    await change(endpoint, { active: true, held: 'discard' })

    expect(count(app, `deliveries where state = 'cancelled'`)).toBe(650)
  })

  test.each([
    [{ headers: { Authorization: MASK } }, 'headers'],
    [{ url: 'http://10.0.0.1/' }, 'url'],
    [{ url: 'https://example.com/\t' }, 'url'],
    [{ channels: ['a b'] }, 'channels'],
    [{ event_types: ['a b'] }, 'event_types'],
  ])('discards nothing together with a change that is refused: %j', async (fields, name) => {
    await using fixture = await bootFixture()
    const { api, createEndpoint, change, readEndpoint, publish, deliveriesOf, settle } = fixture
    const endpoint = await createEndpoint({ active: false })
    const messages = [await publish(), await publish()]

    const answer = await api.patch(`${ENDPOINTS}/${endpoint.id}`, {
      active: true,
      held: 'discard',
      ...fields,
    })

    expect(answer).toMatchObject(refusal(400, 'invalid_payload', name))
    expect(await readEndpoint(endpoint)).toMatchObject({ active: false, headers: {} })
    for (const message of messages)
      expect(await deliveriesOf(message)).toMatchObject([{ status: 'held', ended_at: null }])
    await change(endpoint, { active: true })
    await settle()
    for (const message of messages)
      expect(await deliveriesOf(message)).toMatchObject([{ status: 'succeeded' }])
  })

  test('twice changes nothing more', async () => {
    await using fixture = await bootFixture()
    const { createEndpoint, change } = fixture
    const endpoint = await createEndpoint()
    const paused = await change(endpoint, { active: false })
    expect(await change(endpoint, { active: false })).toEqual(paused)
  })

  test('does not hide why an endpoint was disabled before', async () => {
    await using fixture = await bootFixture()
    const { createEndpoint, change, publish, readEndpoint, target } = fixture
    const endpoint = await createEndpoint()
    target.answers(() => new Response('', { status: 410 }))
    await publish()
    expect(await readEndpoint(endpoint)).toMatchObject({ active: false, disabled_reason: 'gone' })

    expect(await change(endpoint, { active: false })).toMatchObject({ disabled_reason: 'gone' })
    expect(await change(endpoint, { active: true })).toMatchObject({ disabled_reason: null })
    expect(await change(endpoint, { active: false })).toMatchObject({ disabled_reason: 'manual' })
  })
})

describe('deleting', () => {
  test('cancels what is still to come and tells nobody any more', async () => {
    await using fixture = await bootFixture()
    const { api, createEndpoint, remove, publish, deliveriesOf, target, listEndpoints, clock } =
      fixture
    const endpoint = await createEndpoint()
    target.answers(() => new Response('', { status: 500 }))
    const message = await publish()

    await remove(endpoint)
    await clock.advance(30 * SECOND)

    expect(await deliveriesOf(message)).toMatchObject([
      { status: 'cancelled', attempts: 1, endpoint_id: endpoint.id, ended_at: isoAt(START) },
    ])
    expect(await deliveriesOf(await publish())).toEqual([])
    expect(target.requests).toHaveLength(1)
    expect((await listEndpoints()).data).toEqual([])
    for (const answer of [
      await api.get(`${ENDPOINTS}/${endpoint.id}`),
      await api.patch(`${ENDPOINTS}/${endpoint.id}`, {}),
      await api.delete(`${ENDPOINTS}/${endpoint.id}`),
      await api.post(`${ENDPOINTS}/${endpoint.id}/test`, {}),
      await api.get(`${ENDPOINTS}/${endpoint.id}/stats`),
      await api.post(`${ENDPOINTS}/${endpoint.id}/replay`, { since: isoAt(0) }),
    ])
      expect(answer).toMatchObject(refusal(404, 'not_found', 'endpoint'))
  })

  test('cancels what was held, and leaves other endpoints alone', async () => {
    await using fixture = await bootFixture()
    const { createEndpoint, remove, publish, deliveriesOf } = fixture
    const [going, staying] = [
      await createEndpoint({ active: false }),
      await createEndpoint({ active: false }),
    ]
    const message = await publish()

    await remove(going)

    const states = (await deliveriesOf(message)).map(({ endpoint_id, status }) => [
      endpoint_id,
      status,
    ])
    expect(Object.fromEntries(states)).toEqual({ [going.id]: 'cancelled', [staying.id]: 'held' })
  })
})

test('the endpoints of a test key and those of a live key do not know each other', async () => {
  await using fixture = await bootFixture()
  const { app, acme, api, createEndpoint, listEndpoints, target } = fixture
  const endpoint = await createEndpoint()
  const sandbox = manage(app, (await acme.key('relay', 'test')).key, target.url)
  const tried = await sandbox.createEndpoint()

  expect((await listEndpoints()).data).toMatchObject([{ id: endpoint.id }])
  expect((await sandbox.listEndpoints()).data).toMatchObject([{ id: tried.id }])
  expect(await api.get(`${ENDPOINTS}/${tried.id}`)).toMatchObject({ status: 404 })
  expect(await sandbox.api.delete(`${ENDPOINTS}/${endpoint.id}`)).toMatchObject({ status: 404 })
})

describe('the audit log', () => {
  const rowsOf = ({ app }: Fixture) =>
    app.db.client
      .query<Json, []>(
        `select tenant_id, actor_kind, actor_id, action, object, detail from audit_log
         where action like 'endpoint.%' order by seq`,
      )
      .all()
      .map(({ detail, ...row }: Json) => ({ ...row, detail: JSON.parse(detail) }))

  test('has who did what to an endpoint, and never a secret', async () => {
    await using fixture = await bootFixture()
    const { acme, live, createEndpoint, change, rotate, remove } = fixture
    const endpoint = await createEndpoint({ headers: { Authorization: 'Bearer t0p' } })
    await change(endpoint, { event_types: ['a'], headers: { Authorization: 'Bearer n3w' } })
    const { secret } = await rotate(endpoint)
    await remove(endpoint)

    const rows = rowsOf(fixture)

    const by = {
      tenant_id: acme.id,
      actor_kind: 'key',
      actor_id: live.id,
      object: `endpoint:${endpoint.id}`,
    }
    expect(rows).toMatchObject([
      { ...by, action: 'endpoint.created', detail: { host: new URL(endpoint.url).host } },
      { ...by, action: 'endpoint.updated', detail: { fields: ['eventTypes', 'headers'] } },
      { ...by, action: 'endpoint.secret_rotated' },
      { ...by, action: 'endpoint.deleted' },
    ])
    const text = JSON.stringify(rows)
    for (const hidden of [endpoint.secret, secret, 't0p', 'n3w']) expect(text).not.toContain(hidden)
  })

  test('says that the system disabled an endpoint, and why', async () => {
    await using fixture = await bootFixture()
    const { createEndpoint, publish, target } = fixture
    const endpoint = await createEndpoint()
    target.answers(() => new Response('', { status: 410 }))

    await publish()

    expect(rowsOf(fixture)).toMatchObject([
      { action: 'endpoint.created' },
      {
        action: 'endpoint.disabled',
        actor_kind: 'system',
        object: `endpoint:${endpoint.id}`,
        detail: { reason: 'gone' },
      },
    ])
  })

  test('has no row for what was refused', async () => {
    await using fixture = await bootFixture()
    const { api, target } = fixture

    await api.post(ENDPOINTS, { url: 'http://10.0.0.1/' })
    await api.post(ENDPOINTS, { url: target.url, format: 'xml' })
    await api.patch(`${ENDPOINTS}/nothing`, { format: 'raw' })
    await api.delete(`${ENDPOINTS}/nothing`)

    expect(rowsOf(fixture)).toEqual([])
  })
})
