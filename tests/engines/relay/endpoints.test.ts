import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import {
  answerWith,
  bootRelay,
  copyEndpoint,
  ENDPOINTS,
  EVENT_TYPES,
  type Json,
  MESSAGES,
  type Party,
  refusal,
  refused,
  SECOND,
  signedWith,
  typesOf,
  useRelay,
} from './fixture.ts'

const { newTenant } = await useRelay()

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

/** Fields that do not exist or that only the server sets. */
const FOREIGN = {
  color: 'red',
  id: 'mine',
  created_at: '2020-01-01T00:00:00.000Z',
  updated_at: '2020-01-01T00:00:00.000Z',
  disabled_reason: 'gone',
  health: { breaker: 'open' },
}

const secretOf = (bytes: number) => `whsec_${Buffer.alloc(bytes, 1).toString('base64')}`
const named = (n: number, name: (at: number) => string) =>
  Array.from({ length: n }, (_, i) => name(i))
const manyHeaders = (n: number) => Object.fromEntries(named(n, (i) => `X-${i}`).map((x) => [x, x]))

describe('a new endpoint', () => {
  test('needs only a URL, and is answered with a secret of its own', async () => {
    const { createEndpoint, target, at } = await newTenant()

    const { id, secret, ...rest } = await createEndpoint()

    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/)
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
    expect((await createEndpoint()).secret).not.toBe(secret)
    expect(rest).toEqual({ url: target.url, ...DEFAULTS, created_at: at(0), updated_at: at(0) })
  })

  test('keeps every field, and ignores those that only the server sets', async () => {
    const { createEndpoint, readEndpoint } = await newTenant()

    const { secret: _, ...created } = await createEndpoint({
      ...FOREIGN,
      ...FULL,
      held: 'nonsense',
    })

    expect(created).toMatchObject({ ...DEFAULTS, ...FULL, disabled_reason: 'manual' })
    expect(created.id).not.toBe('mine')
    expect(created).not.toHaveProperty('color')
    expect(await readEndpoint(created)).toEqual(created)
  })

  test('may have values up to each limit', async () => {
    const { createEndpoint, readEndpoint } = await newTenant()
    for (const fields of [
      { event_types: ['*'] },
      { event_types: ['ping', 'a'.repeat(256)] },
      { event_types: named(100, (n) => `a.b${n}`) },
      { channels: named(10, (n) => `c${n}`) },
      { channels: ['aZ0_.:-'.padEnd(128, 'x')] },
      { description: 'ä'.repeat(500) },
      { format: 'cloudevents' },
      { headers: manyHeaders(50) },
      { headers: { 'X-Long': 'x'.repeat(4096), 'X-Latin': 'Grün', 'X-Empty': '' } },
      { url: 'http://example.com/' },
      { url: 'https://example.com:8443/' },
      { url: 'https://93.184.216.34/hook' },
    ])
      expect(await readEndpoint(await createEndpoint(fields))).toMatchObject(fields)
  })
})

const REFUSED: [field: string, values: unknown[]][] = [
  ['url', ['ftp://a.com/', 'a.com', '', 7, null, `https://a.com/${'a'.repeat(8200)}`]],
  ['url', ['http://api.localhost./', 'http://intranet/', 'http://0x0a.1/', 'http://[::1]/']],
  ['url', ['http://169.254.169.254/', 'https://user:pw@a.com/', 'https://a.com:0/']],
  ['url', ['https://a\nb.com/', 'https://a.com/\x7f', '\thttps://a.com/', 'https://a.com/a\\b']],
  ['description', ['a'.repeat(501), null]],
  ['event_types', [[], named(101, () => 'a'), 'user.created', [5], ['ok', 'a'.repeat(257)]]],
  ['event_types', [[''], ['user.'], ['user*'], ['*.a'], ['a b']]],
  ['channels', [null, named(11, (n) => `c${n}`), 'eu', [''], ['a b'], ['a'.repeat(129)]]],
  ['format', ['xml', null]],
  ['headers', [[], null, 'X-A: b', { 'X-A': 5 }, { 'X A': 'b' }, { '': 'b' }]],
  ['headers', [{ 'X-A': 'b\r\nX-B: c' }, { 'X-A': 'Ł' }, { 'X-A': '1', 'x-a': '2' }]],
  ['headers', [manyHeaders(51), { 'X-A': 'x'.repeat(4097) }, { webhook_signature: 'x' }]],
  ['headers', [{ 'X-Service-Any': 'x' }, { Authorization: MASK }]],
  ['active', ['yes', null]],
]

describe('a refused endpoint', () => {
  test.each(REFUSED)('has no such %s, new or changed', async (field, values) => {
    const { api, createEndpoint, readEndpoint, target } = await newTenant()
    const { secret: _, ...endpoint } = await createEndpoint()

    for (const value of values) {
      const created = await api.post(ENDPOINTS, { url: target.url, [field]: value })
      expect({ value, ...created }).toMatchObject({ value, ...refused(field) })
      const change = { description: 'new', [field]: value }
      expect(await api.patch(`${ENDPOINTS}/${endpoint.id}`, change)).toMatchObject(refused(field))
    }
    expect(await readEndpoint(endpoint)).toEqual(endpoint)
  })

  test('has no URL, or a secret that is none', async () => {
    const { api, target, listEndpoints } = await newTenant()

    expect(await api.post(ENDPOINTS, { description: 'x' })).toMatchObject(refused('url'))
    for (const secret of ['abc', secretOf(23), secretOf(76), null])
      expect(await api.post(ENDPOINTS, { url: target.url, secret })).toMatchObject(
        refused('secret'),
      )
    expect(await listEndpoints()).toEqual([])
  })

  test('is not left half changed, and nothing held is discarded', async () => {
    const { api, createEndpoint, deliver, deliveriesOf } = await newTenant()
    const { id } = await createEndpoint({ active: false })
    const message = await deliver()
    const discard = { active: true, held: 'discard' }

    for (const fields of [
      { headers: { Authorization: MASK } },
      { url: 'http://10.0.0.1/' },
      { channels: ['a b'] },
      { event_types: ['a b'] },
    ]) {
      const answer = await api.patch(`${ENDPOINTS}/${id}`, { ...discard, ...fields })
      expect(answer).toMatchObject(refused(Object.keys(fields)[0] as string))
    }
    expect(await deliveriesOf(message)).toMatchObject([{ status: 'held', ended_at: null }])
  })

  test('must be activated by a change that says what happens to held deliveries', async () => {
    const { api, createEndpoint } = await newTenant()
    const { id } = await createEndpoint()

    for (const fields of [
      { held: 'drain' },
      { held: 'discard', active: false },
      { held: 'keep', active: true },
      { held: null, active: true },
    ])
      expect(await api.patch(`${ENDPOINTS}/${id}`, fields)).toMatchObject(refused('held'))
  })
})

test('a name that resolves to a private address is accepted, since that may change, and never called', async () => {
  await using relay = await bootRelay({
    allow: [],
    resolve: async () => [{ address: '10.0.0.1', family: 4 }],
  })
  await relay.createEndpoint('https://inward.example.com/')

  const { attempt_log } = await relay.deliveryOf(await relay.deliver())

  expect(attempt_log).toMatchObject([{ status: 'failed', error: { code: 'blocked' } }])
})

describe('a change', () => {
  test('of one field leaves all others', async () => {
    const { createEndpoint, change, readEndpoint, clock } = await newTenant()
    const recovering = { ...DEFAULTS.health, breaker: 'recovering' }
    const changes = {
      url: 'https://other.example.com/',
      description: 'Shop',
      event_types: ['order.*'],
      channels: ['us'],
      format: 'cloudevents',
      headers: { 'X-Other': '1' },
      active: true,
    }

    for (const [field, value] of Object.entries(changes)) {
      const { secret: _, ...before } = await createEndpoint(FULL)
      await clock.advance(SECOND)
      const after = await change(before, { [field]: value })
      expect(after).toEqual({
        ...before,
        [field]: value,
        ...(field === 'active' && { disabled_reason: null, health: recovering }),
        updated_at: new Date(clock.now()).toISOString(),
      })
      expect(await readEndpoint(before)).toEqual(after)
    }
  })

  test('brings each field back to its default', async () => {
    const { createEndpoint, change, readEndpoint } = await newTenant()
    const endpoint = await createEndpoint(FULL)

    for (const [field, value] of Object.entries(DEFAULTS).filter(([name]) => name in FULL)) {
      await change(endpoint, { [field]: value })
      expect(await readEndpoint(endpoint)).toHaveProperty(field, value)
    }
  })

  test('of nothing, or of fields that only the server sets, changes nothing', async () => {
    const { createEndpoint, change } = await newTenant()
    for (const active of [true, false]) {
      const { secret: _, ...before } = await createEndpoint({ ...FULL, active })
      expect(await change(before, {})).toEqual(before)
      expect(await change(before, FOREIGN)).toEqual(before)
    }
  })

  test('does not replace the secret', async () => {
    const { api, createEndpoint, deliver, target } = await newTenant()
    const { secret, id } = await createEndpoint()

    const answer = await api.patch(`${ENDPOINTS}/${id}`, { secret: secretOf(32) })

    expect(answer).toMatchObject(refused('secret'))
    await deliver()
    expect(signedWith(target.requests[0], [secret, secretOf(32)])).toEqual([secret])
  })

  test('decides where the next attempt goes', async () => {
    const { createEndpoint, change, deliver, target, clock } = await newTenant()
    const endpoint = await createEndpoint(`${target.url}/old`)
    target.answers(({ path }) => new Response('', { status: path === '/hook/old' ? 500 : 200 }))
    await deliver()

    await change(endpoint, { url: `${target.url}/new` })
    await clock.advance(10 * SECOND)

    expect(target.requests.map(({ path }) => path)).toEqual(['/hook/old', '/hook/new'])
  })

  test('of the filter applies to later messages', async () => {
    const { createEndpoint, change, deliver, target } = await newTenant()
    const endpoint = await createEndpoint({ event_types: ['a.*'], channels: ['eu'] })
    await deliver({ event_type: 'a.b', channels: ['eu'] })
    await deliver({ event_type: 'a.c', channels: ['us'] })
    await deliver({ event_type: 'b.b', channels: ['eu'] })

    await change(endpoint, { channels: [] })
    await deliver({ event_type: 'a.d', channels: ['us'] })
    await change(endpoint, { event_types: null })
    await deliver({ event_type: 'c' })

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
  }
  const hidden = Object.fromEntries(Object.keys(HEADERS).map((name) => [name, MASK]))
  const SHOWN = { ...hidden, 'X-Team': 'blue' }

  test('are masked in every answer, and kept by writing back what was read', async () => {
    const { createEndpoint, readEndpoint, listEndpoints, change, deliver, target } =
      await newTenant()
    const created = await createEndpoint({ headers: HEADERS })
    expect(created.headers).toEqual(SHOWN)
    expect((await listEndpoints())[0].headers).toEqual(SHOWN)
    const read = await readEndpoint(created)
    expect(read.headers).toEqual(SHOWN)

    expect(await change(created, read)).toEqual(read)
    await deliver()

    for (const [name, value] of Object.entries(HEADERS))
      expect(target.requests[0]?.headers.get(name)).toBe(value)
  })

  test('keep the stored value where the mask is written in another case', async () => {
    const { createEndpoint, change, deliver, target } = await newTenant()
    const endpoint = await createEndpoint({ headers: HEADERS })

    await change(endpoint, { headers: { AUTHORIZATION: MASK, 'X-Api-Key': 'k-2', 'X-Team': MASK } })
    await deliver()

    const headers = target.requests[0]?.headers
    const names = ['authorization', 'x-api-key', 'x-team', 'cookie']
    expect(names.map((name) => headers?.get(name))).toEqual(['Bearer t0p', 'k-2', 'blue', null])
  })
})

test('secrets are in no answer but the first, and in neither log nor database files', async () => {
  const party = await newTenant()
  const { app, api, createEndpoint, rotate, deliver, sendTest, deliveryOf, change } = party
  const token = 'Bearer a-very-private-token'
  const fields = { headers: { Authorization: token } }
  const endpoint = await createEndpoint(fields)
  const { secret } = await rotate(endpoint)
  const imported = `whsec_${Buffer.from('imported secret of a receiver, long').toString('base64')}`
  const other = await createEndpoint({ ...fields, secret: imported })
  const message = await deliver()
  await sendTest(endpoint)
  const delivery = await deliveryOf(message)

  const answers: unknown[] = []
  for (const path of [
    ENDPOINTS,
    MESSAGES,
    `${MESSAGES}/${message.id}`,
    `${MESSAGES}/${message.id}/deliveries`,
    `/v1/relay/deliveries`,
    `/v1/relay/deliveries/${delivery.id}`,
    EVENT_TYPES,
    `${EVENT_TYPES}/user.created`,
    ...[endpoint, other].map(({ id }) => `${ENDPOINTS}/${id}`),
  ])
    answers.push(await party.read(path))
  for (const one of [endpoint, other]) {
    answers.push(await change(one, { description: 'x' }), await sendTest(one))
    answers.push((await api.delete(`${ENDPOINTS}/${one.id}`)).body)
  }

  const files = [app.db.file, `${app.db.file}-wal`].map((path) => readFileSync(path, 'latin1'))
  const texts = { answers: JSON.stringify(answers), log: app.log.join('\n'), files: files.join() }
  expect(texts.files).toContain('user.created')
  expect(texts.answers).toContain(endpoint.id)
  for (const [where, text] of Object.entries(texts))
    for (const hidden of [token, ...[endpoint.secret, secret, imported].flatMap(spellings)])
      expect(`${where} ${text.includes(hidden)}`).toBe(`${where} false`)
})

/** A secret, its base64 alone, and the bytes that this stands for. */
function spellings(secret: string): string[] {
  const base64 = secret.slice('whsec_'.length)
  return [secret, base64, Buffer.from(base64, 'base64').toString('latin1')]
}

test('the list shows the newest first, and its pages are stable while endpoints come and go', async () => {
  const { createEndpoint, read, remove } = await newTenant()
  expect(await read(ENDPOINTS)).toEqual({ data: [], has_more: false, next_cursor: null })
  const created: Json[] = []
  for (let n = 0; n < 5; n++) created.unshift(await createEndpoint())
  const ids = created.map(({ id }) => id)
  const idsOf = ({ data }: Json) => data.map(({ id }: Json) => id)

  const first = await read(`${ENDPOINTS}?limit=2`)
  await createEndpoint()
  await remove(created[0])
  const second = await read(`${ENDPOINTS}?limit=2&cursor=${first.next_cursor}`)
  const third = await read(`${ENDPOINTS}?limit=2&cursor=${second.next_cursor}`)

  expect([first, second, third].flatMap(idsOf)).toEqual(ids)
  expect([first, second, third].map(({ has_more }) => has_more)).toEqual([true, true, false])
  expect(third.next_cursor).toBeNull()
})

test('a tenant may have 1,000 endpoints in each environment', async () => {
  const { app, api, createEndpoint, remove, sandbox, target } = await newTenant()
  const first = await createEndpoint()
  copyEndpoint(app, first, 998)
  await createEndpoint()

  expect(await api.post(ENDPOINTS, { url: target.url })).toMatchObject(refusal(409, 'conflict'))
  await (await sandbox()).createEndpoint()
  await (await newTenant()).createEndpoint()

  await remove(first)
  await createEndpoint()
})

describe('an inactive endpoint', () => {
  test('that is paused again does not change', async () => {
    const { createEndpoint, change } = await newTenant()
    const endpoint = await createEndpoint()
    const paused = await change(endpoint, { active: false })
    expect(paused).toMatchObject({ active: false, disabled_reason: 'manual' })
    expect(await change(endpoint, { active: false })).toEqual(paused)
  })

  test('keeps the reason why it was disabled until it is resumed', async () => {
    const { createEndpoint, change, deliver, readEndpoint, target } = await newTenant()
    const endpoint = await createEndpoint()
    target.answers(answerWith(410))
    await deliver()
    expect(await readEndpoint(endpoint)).toMatchObject({ active: false, disabled_reason: 'gone' })

    expect(await change(endpoint, { active: false })).toMatchObject({ disabled_reason: 'gone' })
    expect(await change(endpoint, { active: true })).toMatchObject({ disabled_reason: null })
    expect(await change(endpoint, { active: false })).toMatchObject({ disabled_reason: 'manual' })
  })
})

test('a deleted endpoint is not found, gets nothing more, and leaves others alone', async () => {
  const { api, createEndpoint, remove, deliver, deliveriesOf, target, clock, at } =
    await newTenant()
  const endpoint = await createEndpoint()
  const held = await createEndpoint({ active: false })
  const staying = await createEndpoint({ active: false })
  target.answers(answerWith(500))
  const message = await deliver()

  await remove(endpoint)
  await remove(held)
  await clock.advance(30 * SECOND)

  const deliveries = await deliveriesOf(message)
  const of = ({ id }: Json) => deliveries.find(({ endpoint_id }) => endpoint_id === id)
  expect(of(endpoint)).toMatchObject({ status: 'cancelled', attempts: 1, ended_at: at(0) })
  expect(of(held)).toMatchObject({ status: 'cancelled', attempts: 0 })
  expect(of(staying)).toMatchObject({ status: 'held' })
  expect(await deliveriesOf(await deliver())).toHaveLength(1)
  expect(target.requests).toHaveLength(1)
  const path = `${ENDPOINTS}/${endpoint.id}`
  for (const answer of [
    await api.get(path),
    await api.patch(path, {}),
    await api.delete(path),
    await api.post(`${path}/test`, {}),
    await api.post(`${path}/rotate-secret`, {}),
    await api.get(`${path}/stats`),
    await api.post(`${path}/replay`, { since: at(0) }),
  ])
    expect(answer).toMatchObject(refusal(404, 'not_found'))
})

describe('the audit log', () => {
  const rowsOf = ({ app, id }: Party) =>
    app.db.client
      .query<Json, [string]>(
        `select actor_kind, actor_id, action, object, detail from audit_log
         where action like 'endpoint.%' and tenant_id = ? order by seq`,
      )
      .all(id)
      .map(({ detail, ...row }: Json) => ({ ...row, detail: JSON.parse(detail) }))

  test('has who did what to an endpoint, without secrets', async () => {
    const party = await newTenant()
    const { live, createEndpoint, change, rotate, remove } = party
    const endpoint = await createEndpoint({ headers: { Authorization: 'Bearer t0p' } })
    await change(endpoint, { event_types: ['a'], headers: { Authorization: 'Bearer n3w' } })
    const { secret } = await rotate(endpoint)
    await remove(endpoint)

    const rows = rowsOf(party)

    const by = { actor_kind: 'key', actor_id: live.id, object: `endpoint:${endpoint.id}` }
    expect(rows).toMatchObject([
      { ...by, action: 'endpoint.created', detail: { host: new URL(endpoint.url).host } },
      { ...by, action: 'endpoint.updated', detail: { fields: ['eventTypes', 'headers'] } },
      { ...by, action: 'endpoint.secret_rotated' },
      { ...by, action: 'endpoint.deleted' },
    ])
    const text = JSON.stringify(rows)
    for (const hidden of [endpoint.secret, secret, 't0p', 'n3w']) expect(text).not.toContain(hidden)
  })

  test('says why the system disabled an endpoint', async () => {
    const party = await newTenant()
    const endpoint = await party.createEndpoint()
    party.target.answers(answerWith(410))

    await party.deliver()

    expect(rowsOf(party)[1]).toEqual({
      action: 'endpoint.disabled',
      actor_kind: 'system',
      actor_id: null,
      object: `endpoint:${endpoint.id}`,
      detail: { reason: 'gone' },
    })
  })

  test('has no row for what was refused', async () => {
    const party = await newTenant()
    await party.api.post(ENDPOINTS, { url: 'http://10.0.0.1/' })
    await party.api.patch(`${ENDPOINTS}/nothing`, { format: 'raw' })
    await party.api.delete(`${ENDPOINTS}/nothing`)
    expect(rowsOf(party)).toEqual([])
  })
})
