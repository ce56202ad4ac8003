import { expect, test } from 'bun:test'
import { type Json, type Party, refusal, refused, useRelay } from './fixture.ts'
import { ACTOR, DAY, DELIVERIES, EVENT_TYPES, MESSAGES, SECOND } from './support.ts'

// Bodies that can't be read are in tests/contract/bodies.test.ts and tests/http/body.test.ts.

const { app, newTenant } = await useRelay()
const small = await useRelay({ flags: { 'server-max-body': '2KB' } })

const MAX_PAYLOAD_BYTES = 262_144
const UUID_V7 = /^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/
const EMPTY = { data: [], has_more: false, next_cursor: null }

const GOOD = { event_type: 'user.created', payload: { n: 1 } }
const textWith = (payload: string) => `{"event_type":"a.b","payload":${payload}}`
const channelsOf = (n: number) => Array.from({ length: n }, (_, i) => `channel-${i}`)

test('An event is accepted with 202 and exactly id, type, status and time, also a second time', async () => {
  const { api, listMessages, at } = await newTenant()
  const { status, body, headers } = await api.post(MESSAGES, GOOD)
  expect(status).toBe(202)
  expect(Object.keys(body)).toEqual(['id', 'event_type', 'status', 'timestamp'])
  const accepted = { event_type: 'user.created', status: 'accepted', timestamp: at(0) }
  expect(body).toEqual({ id: expect.stringMatching(UUID_V7), ...accepted })
  expect(headers.has('idempotency-mismatch')).toBe(false)
  const second = (await api.post(MESSAGES, GOOD)).body
  expect(await listMessages()).toEqual([second, body])
})

test('An event has a dotted type and up to 10 channels, each of them once', async () => {
  const { send, readMessage, listMessages } = await newTenant()
  for (const event_type of ['a', 'User_Created-2.v1', '-._.-', 'x'.repeat(256)]) {
    const sent = await send({ event_type })
    expect(await listMessages(`?event_type=${event_type}`)).toEqual([sent])
  }
  for (const channels of [[], ['eu:west', 'A_B.-', 'x'.repeat(128)], channelsOf(10)])
    expect(await readMessage(await send({ channels }))).toMatchObject({ channels })
  const twice = await send({ channels: ['b', 'a', 'b'] })
  expect(await readMessage(twice)).toMatchObject({ channels: ['b', 'a'] })
})

test('An event is read with its payload and the usual headers, without unknown fields', async () => {
  const { api, send, readMessage } = await newTenant()
  for (const payload of [{}, { ключ: 'ä漢😀', 'a\u0000b': '\u0000', '': null }]) {
    const sent = await send({ payload, extra: true, status: 'x', id: 'mine' })
    const read = await readMessage(sent)
    expect(JSON.stringify(read.payload)).toBe(JSON.stringify(payload))
    const others = { channels: [], idempotency_key: null, endpoints: [] }
    expect(read).toEqual({ ...sent, payload: read.payload, ...others })
  }
  const { id } = await send()
  const namesOf = async (path: string) => {
    const { headers } = await api.get(path)
    return [headers.get('content-type'), ...[...headers.keys()].toSorted()]
  }
  for (const path of [`${MESSAGES}/${id}`, `${EVENT_TYPES}/user.created`])
    expect([...(await namesOf(path)), 'etag'].toSorted()).toEqual(
      (await namesOf(MESSAGES)).toSorted(),
    )
})

test('An event goes to endpoints that listen on one of its channels; without channels, to all', async () => {
  const { createEndpoint, send, deliveriesOf } = await newTenant()
  const everything = await createEndpoint()
  const some = await createEndpoint({ channels: ['eu', 'us'] })
  const heardBy = async (channels?: string[]) =>
    (await deliveriesOf(await send({ channels }))).map(({ endpoint_id }) => endpoint_id)
  for (const channels of [['eu'], ['asia', 'us'], [], undefined])
    expect((await heardBy(channels)).toSorted()).toEqual([everything.id, some.id].toSorted())
  expect(await heardBy(['asia'])).toEqual([everything.id])
})

test.each<[field: string, values: unknown[]]>([
  ['event_type', [undefined, '', '.user', 'user created', 'user.*']],
  ['payload', [undefined, null, [], '{"n":1}']],
  ['channels', [Array(11).fill('same'), [5], ['eu', null], [''], ['*'], ['x'.repeat(129)]]],
])('An event with a wrong %s is refused, and nothing of it stored', async (field, values) => {
  const { api, read, createEndpoint } = await newTenant()
  await createEndpoint()
  for (const value of values) {
    const answer = await api.post(MESSAGES, { ...GOOD, [field]: value })
    expect({ value, ...answer }).toMatchObject({ value, ...refused(field) })
  }
  for (const list of [MESSAGES, EVENT_TYPES, DELIVERIES]) expect(await read(list)).toEqual(EMPTY)
})

test.each([
  ['{"__proto__":{"event_type":"a.b","payload":{}}}', 'event_type'],
  ['{"Event_Type":"a"}', 'event_type'],
  ['{"event_type":"a","payload":{},"payload":[]}', 'payload'],
  [`${textWith('{}')} // done`, 'body'],
  [textWith('{"n":01}'), 'body'],
  [textWith('{"\\udc00":1}'), 'body'],
  [textWith(`{"a":${'['.repeat(63)}${']'.repeat(63)}}`), 'body'],
  [textWith('['.repeat(100_000)), 'body'],
])('An event with the text %.60s is refused', async (text, field) => {
  const { spelled } = await newTenant()
  expect(await spelled(text)).toMatchObject(refused(field))
})

test('An event with more bytes than server.max_body is refused', async () => {
  const { spelled } = await small.newTenant()
  const ofSize = (bytes: number) => textWith(`{"n":"${'x'.repeat(bytes - 39)}"}`)
  expect(ofSize(2048)).toHaveLength(2048)
  expect(await spelled(ofSize(2048))).toMatchObject({ status: 202 })
  expect(await spelled(ofSize(2049))).toMatchObject(refusal(413, 'payload_too_large'))
})

test.each([
  ['numbers', '{"a":1.0,"b":1e2,"c":-0,"d":12345678901234567890,"e":0.10,"f":1E+400}'],
  ['keys in their order', '{"b":1,"a":2,"10":3,"9":4,"B":5,"a":1,"__proto__":{"x":1}}'],
  ['escapes', '{"a":"\\u0041\\/\\u00e4\\ud83d\\ude00\\n","\\u0062":"\\"}{\\\\"}'],
  ['raw text', '{"a":"ä漢😀\u2028\u007f","b":null,"c":true,"d":[],"e":{},"f":""}'],
  ['white space', '{ \t"a"\r\n:\n[ 1 ,\t2 ] , "b" : { } }'],
  ['lists in 64 levels', `{"a":${'['.repeat(62)}${']'.repeat(62)}}`],
])('A payload reaches its subscriber byte for byte: %s', async (_, payload) => {
  const { createEndpoint, deliveryOf, spelled, rest, target, textOf } = await newTenant()
  await createEndpoint({ format: 'standard' })
  const raw = await createEndpoint({ format: 'raw' })
  await createEndpoint({ format: 'cloudevents' })
  const { status, body } = await spelled(textWith(payload))
  await rest()
  expect(status).toBe(202)
  const bodies = target.requests.map((request) => request.body)
  expect(bodies).toHaveLength(3)
  expect(bodies).toContain(payload)
  expect(bodies).toContain(`{"type":"a.b","timestamp":"${body.timestamp}","data":${payload}}`)
  expect(bodies.filter((text) => text.endsWith(`"data":${payload}}`))).toHaveLength(2)
  expect((await deliveryOf(body, raw)).request_body).toBe(payload)
  expect(await textOf(`${MESSAGES}/${body.id}`)).toContain(`"payload":${payload}`)
})

test('A payload is found wherever it is in the body, up to 262,144 bytes, without the space around it', async () => {
  const { createEndpoint, spelled, rest, target } = await newTenant()
  await createEndpoint({ format: 'raw' })
  const envelope = (rest: string) => `{"event_type":"a.b",${rest}}`
  for (const text of [
    envelope('"payload":5,"payload":{"a":1},"payload":{"b":1.0}'),
    envelope('"p\\u0061yload":{"b":1.0}'),
    envelope('"payload" : \n{"b":1.0}\t '),
    envelope('"x":{"payload":{}},"payload":{"b":1.0}'),
    '{"payload":{"b":1.0},"event_type":"a.b"}',
    `\uFEFF${textWith('{"b":1.0}')}`,
  ])
    expect(await spelled(text)).toMatchObject({ status: 202 })
  await rest()
  expect(target.requests.map(({ body }) => body)).toEqual(Array(6).fill('{"b":1.0}'))
  const ofSize = (bytes: number) => `{"a":"${'x'.repeat(bytes - 8)}"}`
  const ofLetters = (bytes: number) => `{"a":"${'ä'.repeat((bytes - 8) / 2)}"}`
  for (const payload of [ofSize(MAX_PAYLOAD_BYTES), ofLetters(MAX_PAYLOAD_BYTES)]) {
    expect(await spelled(textWith(` \n${payload}\t `))).toMatchObject({ status: 202 })
    await rest()
    expect(target.requests.at(-1)?.body === payload).toBe(true)
  }
  const blank = `{${' '.repeat(MAX_PAYLOAD_BYTES - 1)}}`
  for (const payload of [ofSize(MAX_PAYLOAD_BYTES + 1), ofLetters(MAX_PAYLOAD_BYTES + 2), blank])
    expect(await spelled(textWith(payload))).toMatchObject(refused('payload'))
  expect(target.requests).toHaveLength(8)
})

test('A tenant in arrears is refused new events, and still gets deliveries, reads and manages', async () => {
  const relay = await newTenant()
  const { id, api, send, listMessages } = relay
  const test = await relay.sandbox()
  const endpoint = await relay.createEndpoint()
  relay.target.answers(500)
  const known = await relay.deliver({ idempotency_key: 'k' })
  relay.target.answers(200)
  for (const [reason, code] of [
    ['billing', 'account_suspended'],
    ['renewal', 'renewal_unpaid'],
  ] as const) {
    await app.platform.tenants.suspend(ACTOR, id, reason)
    for (const one of [api, test.api])
      expect(await one.post(MESSAGES, GOOD)).toMatchObject(refusal(402, code))
    expect(await api.post(MESSAGES, { ...GOOD, payload: 5 })).toMatchObject(refused('payload'))
    expect(await send({ idempotency_key: 'k' })).toEqual(known)
    expect(await listMessages()).toEqual([known])
    await relay.clock.advance(10 * SECOND)
    expect((await relay.readMessage(known)).endpoints).toMatchObject([{ verdict: 'succeeded' }])
    await relay.change(endpoint, { active: false })
    await app.platform.tenants.resume(ACTOR, id)
  }
  await send()
  expect(await listMessages()).toHaveLength(2)
})

/** The events of each page. */
async function pagesOf({ read }: Party, path: string, afterEach = async () => {}) {
  const pages: Json[][] = []
  for (let cursor = ''; ; ) {
    const page = await read(path + cursor)
    pages.push(page.data)
    expect(page.has_more).toBe(page.next_cursor !== null)
    if (!page.has_more || pages.length > 30) return pages
    await afterEach()
    cursor = `&cursor=${page.next_cursor}`
  }
}

test('The list of events has each once, on pages of 20, whatever comes meanwhile', async () => {
  const relay = await newTenant()
  expect(await relay.read(MESSAGES)).toEqual(EMPTY)
  const sent: Json[] = []
  for (let n = 0; n < 21; n++) sent.unshift(await relay.send())
  expect((await relay.read(MESSAGES)).data).toEqual(sent.slice(0, 20))
  expect(await pagesOf(relay, `${MESSAGES}?limit=7`)).toHaveLength(3)
  const pages = await pagesOf(relay, `${MESSAGES}?limit=8`, async () => void (await relay.send()))
  expect(pages.flat()).toEqual(sent)
  expect(await relay.all(MESSAGES)).toHaveLength(23)
})

test('The list of events is in the order of acceptance, also after the clock is set back', async () => {
  const relay = await newTenant()
  const sent = await relay.sendMany(101)
  expect((await relay.listMessages('?limit=1000')).length).toBe(100)
  const listed = await relay.all(MESSAGES)
  expect(listed.map(({ id }) => id).toSorted()).toEqual(sent.map(({ id }) => id).toSorted())
  relay.clock.jump(-DAY)
  const late = await relay.send()
  relay.clock.jump(DAY)
  expect(await relay.all(MESSAGES)).toEqual([late, ...listed])
})

test('The list of events shows the events of one type, page by page', async () => {
  const relay = await newTenant()
  const paid: Json[] = []
  for (let n = 0; n < 5; n++) {
    paid.unshift(await relay.send({ event_type: 'invoice.paid' }))
    await relay.send({ event_type: 'invoice.paid.late' })
  }
  const pages = await pagesOf(relay, `${MESSAGES}?event_type=invoice.paid&limit=3`)
  expect(pages).toEqual([paid.slice(0, 3), paid.slice(3)])
  for (const type of ['invoice', 'invoice.*', '*', 'INVOICE.PAID', '', '%00', "'%20or%201=1"])
    expect(await relay.read(`${MESSAGES}?event_type=${type}`)).toEqual(EMPTY)
})

test('The lists of deliveries of an event, of an endpoint or that failed have each once', async () => {
  const relay = await newTenant()
  relay.target.answers(410)
  const endpoints: Json[] = []
  for (let n = 0; n < 3; n++) endpoints.unshift(await relay.createEndpoint())
  const message = await relay.deliver()
  const idsOn = async (path: string) =>
    (await pagesOf(relay, path)).flat().map(({ endpoint_id }) => endpoint_id)
  const ids = endpoints.map(({ id }) => id)
  for (const path of [`${MESSAGES}/${message.id}/deliveries?`, `${DELIVERIES}?status=failed&`])
    expect((await idsOn(`${path}limit=1`)).toSorted()).toEqual(ids.toSorted())
  expect(await idsOn(`${DELIVERIES}?endpoint_id=${ids[0]}&limit=1`)).toEqual([ids[0]])
  for (const status of ['waiting', 'PENDING', '', 'pending,failed'])
    expect(await relay.api.get(`${DELIVERIES}?status=${status}`)).toMatchObject(
      refused('status', 'invalid_request'),
    )
  for (const id of ['x', '', '%00'])
    expect(await relay.read(`${DELIVERIES}?endpoint_id=${id}`)).toEqual(EMPTY)
})

test('The API document allows null wherever it says nullable, and has media types as content', async () => {
  const wrong: string[] = []
  const walk = (part: Json, at: string) => {
    if (typeof part !== 'object' || part === null) return
    if (part.nullable === true && part.enum && !part.enum.includes(null)) wrong.push(at)
    const types = at.endsWith(' content') ? Object.keys(part) : []
    if (types.some((type) => !/^[a-z]+\/\S+$/.test(type))) wrong.push(at)
    for (const [key, inner] of Object.entries(part)) walk(inner, `${at} ${key}`)
  }
  walk((await app.raw('/openapi.json')).body.paths, '')
  expect(wrong).toEqual([])
})
