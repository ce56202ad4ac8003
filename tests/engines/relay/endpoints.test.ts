import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { copyEndpoint, type Json, refusal, refused, typesOf, useRelay } from './fixture.ts'
import { DELIVERIES, ENDPOINTS, EVENT_TYPES, MESSAGES, SECOND } from './support.ts'

// Headers are in tests/delivery/custom-headers.test.ts, event types and channels in matching.test.ts.

const { app, newTenant } = await useRelay()
const outside = await useRelay({
  allow: [],
  resolve: async () => [{ address: '10.0.0.1', family: 4 }],
})

const MASK = '********'

const DEFAULTS = {
  ...{ description: '', event_types: null, channels: [], format: 'standard', headers: {} },
  ...{ active: true, disabled_reason: null },
  health: { breaker: 'closed', open_until: null, failures_in_a_row: 0, failing_since: null },
}

/** Every field, with a value that is not the default. */
const FULL = {
  ...{ url: 'https://hooks.example.com/a?b=c', description: 'Billing', format: 'raw' },
  ...{ event_types: ['invoice.paid', 'user.*'], channels: ['eu', 'team:7'] },
  ...{ headers: { 'X-Team': 'blue' }, active: false },
}

/** Fields that do not exist or that only the server sets. */
const FOREIGN = {
  ...{ color: 'red', id: 'mine', disabled_reason: 'gone', health: { breaker: 'open' } },
  ...{ created_at: '2020-01-01T00:00:00.000Z', updated_at: '2020-01-01T00:00:00.000Z' },
}

const secretOf = (bytes: number) => `whsec_${Buffer.alloc(bytes, 1).toString('base64')}`
const named = (n: number, name: (at: number) => string) =>
  Array.from({ length: n }, (_, i) => name(i))
const manyHeaders = (n: number) => Object.fromEntries(named(n, (i) => `X-${i}`).map((x) => [x, x]))

test('A new endpoint needs only a URL, and is answered with a secret of its own', async () => {
  const { createEndpoint, target, at } = await newTenant()
  const { id, secret, ...rest } = await createEndpoint()
  expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/)
  expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
  expect((await createEndpoint()).secret).not.toBe(secret)
  expect(rest).toEqual({ url: target.url, ...DEFAULTS, created_at: at(0), updated_at: at(0) })
})

test('A new endpoint keeps every field, and ignores those that only the server sets', async () => {
  const { createEndpoint, readEndpoint } = await newTenant()
  const fields = { ...FOREIGN, ...FULL, held: 'nonsense' }
  const { secret: _, ...created } = await createEndpoint(fields)
  expect(created).toMatchObject({ ...DEFAULTS, ...FULL, disabled_reason: 'manual' })
  expect(created.id).not.toBe('mine')
  expect(created).not.toHaveProperty('color')
  expect(await readEndpoint(created)).toEqual(created)
})

test('A new endpoint may have values up to each limit', async () => {
  const { createEndpoint, readEndpoint } = await newTenant()
  for (const fields of [
    { event_types: ['*'], channels: named(10, (n) => `c${n}`), headers: manyHeaders(50) },
    { event_types: ['ping', 'a'.repeat(256)], channels: ['aZ0_.:-'.padEnd(128, 'x')] },
    { event_types: named(100, (n) => `a.b${n}`), description: 'ä'.repeat(500) },
    { headers: { 'X-Long': 'x'.repeat(4096), 'X-Latin': 'Grün', 'X-Empty': '' } },
    { format: 'cloudevents', url: 'http://example.com/' },
    { url: 'https://example.com:8443/' },
    { url: 'https://93.184.216.34/hook' },
  ])
    expect(await readEndpoint(await createEndpoint(fields))).toMatchObject(fields)
})

// Types and bounds are in tests/contract/bodies.test.ts.
test.each<[field: string, values: unknown[]]>([
  ['url', ['ftp://a.com/', 'a.com', '', `https://a.com/${'a'.repeat(8200)}`, 'https://a.com:0/']],
  ['url', ['http://api.localhost./', 'http://0x0a.1/', 'http://[::1]/', 'https://user:pw@a.com/']],
  ['url', ['https://a\nb.com/', 'https://a.com/\x7f', '\thttps://a.com/', 'https://a.com/a\\b']],
  ['event_types', [[], ['ok', 'a'.repeat(257)]]],
  ['channels', [[''], ['a b'], ['a'.repeat(129)]]],
  ['headers', [{ 'X-A': 5 }, { 'X A': 'b' }, { 'X-A': 'b\r\nX-B: c' }, manyHeaders(51)]],
  ['headers', [{ 'X-A': '1', 'x-a': '2' }, { 'X-Service-Any': 'x' }, { Authorization: MASK }]],
  ['secret', ['abc', secretOf(23), secretOf(76)]],
])('A wrong %s is refused, and changes nothing', async (field, values) => {
  const { api, createEndpoint, listEndpoints, target } = await newTenant()
  const { secret: _, ...endpoint } = await createEndpoint()
  for (const value of values) {
    const created = await api.post(ENDPOINTS, { url: target.url, [field]: value })
    expect({ value, ...created }).toMatchObject({ value, ...refused(field) })
    const change = { description: 'new', [field]: value }
    expect(await api.patch(`${ENDPOINTS}/${endpoint.id}`, change)).toMatchObject(refused(field))
  }
  expect(await listEndpoints()).toEqual([endpoint])
})

test('A refused change discards nothing held', async () => {
  const { api, createEndpoint, deliver, deliveriesOf } = await newTenant()
  const path = `${ENDPOINTS}/${(await createEndpoint({ active: false })).id}`
  const message = await deliver()
  for (const [field, value] of Object.entries({
    ...{ headers: { Authorization: MASK }, url: 'http://10.0.0.1/' },
    ...{ channels: ['a b'], event_types: ['a b'] },
  })) {
    const answer = await api.patch(path, { active: true, held: 'discard', [field]: value })
    expect(answer).toMatchObject(refused(field))
  }
  // Only a change that resumes the endpoint says what happens to held deliveries.
  for (const fields of [{ held: 'drain' }, { held: 'discard', active: false }])
    expect(await api.patch(path, fields)).toMatchObject(refused('held'))
  expect(await deliveriesOf(message)).toMatchObject([{ status: 'held', ended_at: null }])
})

test('A name that resolves to a private address is accepted, and never called', async () => {
  const relay = await outside.newTenant()
  await relay.createEndpoint('https://inward.example.com/')
  const { attempt_log } = await relay.deliveryOf(await relay.deliver())
  expect(attempt_log).toMatchObject([{ status: 'failed', error: { code: 'blocked' } }])
})

test('A change of one field leaves all others', async () => {
  const { createEndpoint, change, readEndpoint, clock } = await newTenant()
  const recovering = { ...DEFAULTS.health, breaker: 'recovering' }
  for (const [field, value] of Object.entries({
    ...{ url: 'https://other.example.com/', description: 'Shop', event_types: ['order.*'] },
    ...{ channels: ['us'], format: 'cloudevents', headers: { 'X-Other': '1' }, active: true },
  })) {
    const { secret: _, ...before } = await createEndpoint(FULL)
    await clock.advance(SECOND)
    const after = await change(before, { [field]: value })
    const resumed = field === 'active' && { disabled_reason: null, health: recovering }
    const updated_at = new Date(clock.now()).toISOString()
    expect(after).toEqual({ ...before, [field]: value, ...resumed, updated_at })
    expect(await readEndpoint(before)).toEqual(after)
  }
})

test('A change of nothing, of fields of the server or of the secret changes nothing', async () => {
  const { api, createEndpoint, change, readEndpoint } = await newTenant()
  for (const active of [true, false]) {
    const { secret: _, ...before } = await createEndpoint({ ...FULL, active })
    expect(await change(before, {})).toEqual(before)
    expect(await change(before, FOREIGN)).toEqual(before)
    const answer = await api.patch(`${ENDPOINTS}/${before.id}`, { secret: secretOf(32) })
    expect(answer).toMatchObject(refused('secret'))
    expect(await readEndpoint(before)).toEqual(before)
  }
})

test('A change of the URL applies to the next attempt, and of the filter to later messages', async () => {
  const { createEndpoint, change, deliver, target, clock } = await newTenant()
  const url = `${target.url}/old`
  const endpoint = await createEndpoint({ url, event_types: ['a.*'], channels: ['eu'] })
  target.answers(({ path }) => new Response('', { status: path === '/hook/old' ? 500 : 200 }))
  await deliver({ event_type: 'a.b', channels: ['eu'] })
  await change(endpoint, { url: `${target.url}/new` })
  await clock.advance(10 * SECOND)
  expect(target.requests.map(({ path }) => path)).toEqual(['/hook/old', '/hook/new'])
  await deliver({ event_type: 'a.c', channels: ['us'] })
  await deliver({ event_type: 'b.b', channels: ['eu'] })
  await change(endpoint, { channels: [] })
  await deliver({ event_type: 'a.d', channels: ['us'] })
  await change(endpoint, { event_types: null })
  await deliver({ event_type: 'c' })
  expect(typesOf(target.requests)).toEqual(['a.b', 'a.b', 'a.d', 'c'])
})

test('A change that meets a deletion answers 404', async () => {
  const { api, createEndpoint, listEndpoints } = await newTenant()
  const path = `${ENDPOINTS}/${(await createEndpoint()).id}`
  const [deleted, changed] = await Promise.all([
    api.delete(path),
    api.patch(path, { url: 'https://a.com/' }),
  ])
  expect(deleted.status).toBe(204)
  expect(changed).toMatchObject(refusal(404, 'not_found'))
  expect(await listEndpoints()).toEqual([])
})

test('Sensitive header values are masked in every answer, and kept by writing back what was read', async () => {
  const relay = await newTenant()
  const headers = { Authorization: 'Bearer t0p', 'X-Api-Key': 'k-1', 'X-Team': 'blue' }
  const shown = { Authorization: MASK, 'X-Api-Key': MASK, 'X-Team': 'blue' }
  const created = await relay.createEndpoint({ headers })
  const read = await relay.readEndpoint(created)
  for (const one of [created, read, (await relay.listEndpoints())[0]])
    expect(one.headers).toEqual(shown)
  expect(await relay.change(created, read)).toEqual(read)
  await relay.deliver()
  for (const [name, value] of Object.entries(headers)) expect(relay.headers(name)).toEqual([value])
})

test('Secrets are in no answer but the first, and in neither log nor database files', async () => {
  const relay = await newTenant()
  const token = 'Bearer a-very-private-token'
  const fields = { headers: { Authorization: token } }
  const endpoint = await relay.createEndpoint(fields)
  const { secret } = await relay.rotate(endpoint)
  const imported = `whsec_${Buffer.from('imported secret of a receiver, long').toString('base64')}`
  const other = await relay.createEndpoint({ ...fields, secret: imported })
  const message = await relay.deliver()
  await relay.sendTest(endpoint)
  const delivery = await relay.deliveryOf(message)

  const answers: unknown[] = []
  for (const path of [
    ...[ENDPOINTS, MESSAGES, DELIVERIES, EVENT_TYPES, `${EVENT_TYPES}/user.created`],
    ...[`${MESSAGES}/${message.id}`, `${MESSAGES}/${message.id}/deliveries`],
    ...[`${DELIVERIES}/${delivery.id}`, `${ENDPOINTS}/${endpoint.id}`, `${ENDPOINTS}/${other.id}`],
  ])
    answers.push(await relay.read(path))
  for (const one of [endpoint, other]) {
    answers.push(await relay.change(one, { description: 'x' }), await relay.sendTest(one))
    answers.push((await relay.api.delete(`${ENDPOINTS}/${one.id}`)).body)
  }

  const files = [app.db.file, `${app.db.file}-wal`].map((path) => readFileSync(path, 'latin1'))
  const texts = { answers: JSON.stringify(answers), log: app.log.join('\n'), files: files.join() }
  expect(texts.files).toContain('user.created')
  expect(texts.answers).toContain(endpoint.id)
  /** Its base64 alone, as it is part of the secret, and the bytes for which this stands. */
  const spellings = (text: string) => {
    const base64 = text.slice('whsec_'.length)
    return [base64, Buffer.from(base64, 'base64').toString('latin1')]
  }
  for (const [where, text] of Object.entries(texts))
    for (const hidden of [token, ...[endpoint.secret, secret, imported].flatMap(spellings)])
      expect(`${where} ${text.includes(hidden)}`).toBe(`${where} false`)
})

test('The list shows the newest first, and its pages are stable while endpoints come and go', async () => {
  const { createEndpoint, read, remove } = await newTenant()
  const created: Json[] = []
  for (let n = 0; n < 4; n++) created.unshift(await createEndpoint())
  const idsOf = ({ data }: Json) => data.map(({ id }: Json) => id)
  const first = await read(`${ENDPOINTS}?limit=2`)
  await createEndpoint()
  await remove(created[0])
  const second = await read(`${ENDPOINTS}?limit=2&cursor=${first.next_cursor}`)
  expect([first, second].flatMap(idsOf)).toEqual(created.map(({ id }) => id))
  expect(second).toMatchObject({ has_more: false, next_cursor: null })
})

test('A tenant may have 1,000 endpoints in each environment', async () => {
  const { api, createEndpoint, remove, sandbox, target } = await newTenant()
  const first = await createEndpoint()
  copyEndpoint(app, first, 998)
  await createEndpoint()
  expect(await api.post(ENDPOINTS, { url: target.url })).toMatchObject(refusal(409, 'conflict'))
  await (await sandbox()).createEndpoint()
  await (await newTenant()).createEndpoint()
  await remove(first)
  await createEndpoint()
})

test('A deleted endpoint is not found, gets nothing more, and leaves others alone', async () => {
  const relay = await newTenant()
  const { api, at, createEndpoint, deliver, deliveriesOf } = relay
  const endpoint = await createEndpoint()
  const held = await createEndpoint({ active: false })
  const staying = await createEndpoint({ active: false })
  relay.target.answers(500)
  const message = await deliver()
  await relay.remove(endpoint)
  await relay.remove(held)
  await relay.clock.advance(30 * SECOND)

  const deliveries = await deliveriesOf(message)
  const of = ({ id }: Json) => deliveries.find(({ endpoint_id }) => endpoint_id === id)
  expect(of(endpoint)).toMatchObject({ status: 'cancelled', attempts: 1, ended_at: at(0) })
  expect(of(held)).toMatchObject({ status: 'cancelled', attempts: 0 })
  expect(of(staying)).toMatchObject({ status: 'held' })
  expect(await deliveriesOf(await deliver())).toHaveLength(1)
  expect(relay.target.requests).toHaveLength(1)
  const path = `${ENDPOINTS}/${endpoint.id}`
  const asked = [api.get(path), api.patch(path, {}), api.delete(path), api.get(`${path}/stats`)]
  for (const [action, body] of [['test'], ['rotate-secret'], ['replay', { since: at(0) }]] as const)
    asked.push(api.post(`${path}/${action}`, body))
  for (const answer of await Promise.all(asked))
    expect(answer).toMatchObject(refusal(404, 'not_found'))
})

test('The audit log has who did what, without secrets, dry runs and refusals', async () => {
  const relay = await newTenant()
  const { api } = relay
  await relay.send()
  const endpoint = await relay.createEndpoint({ headers: { Authorization: 'Bearer t0p' } })
  const fields = { event_types: ['a', 'user.*'], headers: { Authorization: 'Bearer n3w' } }
  await relay.change(endpoint, fields)
  const { secret } = await relay.rotate(endpoint)
  const ever = { since: relay.at(0) }
  await relay.dryRun(endpoint, ever)
  await relay.replay(endpoint, ever)
  await relay.rest()
  const [delivery] = await relay.listDeliveries()
  await relay.resend(delivery)
  await api.post(`${DELIVERIES}/${delivery.id}/cancel`)
  await relay.rest()
  await relay.remove(endpoint)
  for (const answer of await Promise.all([
    api.post(ENDPOINTS, { url: 'http://10.0.0.1/' }),
    api.patch(`${ENDPOINTS}/nothing`, { format: 'raw' }),
    api.delete(`${ENDPOINTS}/nothing`),
    api.post(`${ENDPOINTS}/${endpoint.id}/replay`, ever),
    api.post(`${DELIVERIES}/${delivery.id}/resend`),
    api.post(`${DELIVERIES}/${delivery.id}/cancel`),
  ]))
    expect(answer.status).toBeGreaterThanOrEqual(400)

  const rows = [...relay.auditLog('endpoint.%'), ...relay.auditLog('delivery.%')]
  const by = { actor_kind: 'key', actor_id: relay.live.id, object: `endpoint:${endpoint.id}` }
  const object = `delivery:${delivery.id}`
  expect(rows).toMatchObject([
    { ...by, action: 'endpoint.created', detail: { host: new URL(endpoint.url).host } },
    { ...by, action: 'endpoint.updated', detail: { fields: ['eventTypes', 'headers'] } },
    { ...by, action: 'endpoint.secret_rotated' },
    { ...by, action: 'endpoint.replayed', detail: { count: 1 } },
    { ...by, action: 'endpoint.deleted' },
    { ...by, object, action: 'delivery.resent' },
    { ...by, object, action: 'delivery.cancelled' },
  ])
  const text = JSON.stringify(rows)
  for (const hidden of [endpoint.secret, secret, 't0p', 'n3w']) expect(text).not.toContain(hidden)
})
