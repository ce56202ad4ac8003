import { describe, expect, test } from 'bun:test'
import {
  ACTOR,
  answerWith,
  DAY,
  DELIVERIES,
  ENDPOINTS,
  EVENT_TYPES,
  type Json,
  MESSAGES,
  MINUTE,
  type Party,
  refusal,
  refused,
  SECOND,
  useRelay,
} from './fixture.ts'

const { app, newTenant } = await useRelay()

const MAX_PAYLOAD_BYTES = 262_144
const UUID_V7 = /^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/
const EMPTY = { data: [], has_more: false, next_cursor: null }

const GOOD = { event_type: 'user.created', payload: { n: 1 } }
const textWith = (payload: string) => `{"event_type":"a.b","payload":${payload}}`
const channelsOf = (n: number) => Array.from({ length: n }, (_, i) => `channel-${i}`)

describe('an event', () => {
  test('is accepted with 202 and exactly id, type, status and time', async () => {
    const { api, read, at } = await newTenant()

    const { status, body, headers } = await api.post(MESSAGES, GOOD)

    expect(status).toBe(202)
    expect(Object.keys(body)).toEqual(['id', 'event_type', 'status', 'timestamp'])
    expect(body).toEqual({
      id: expect.stringMatching(UUID_V7),
      event_type: 'user.created',
      status: 'accepted',
      timestamp: at(0),
    })
    expect(headers.has('idempotency-mismatch')).toBe(false)
    expect(await read(MESSAGES)).toEqual({ data: [body], has_more: false, next_cursor: null })
  })

  test('that is sent twice is two events', async () => {
    const { send, listMessages } = await newTenant()
    const [first, second] = [await send(), await send()]
    expect(await listMessages()).toEqual([second, first])
  })

  test('has a dotted type and up to 10 channels, each of them once', async () => {
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

  test.each([
    ['unknown fields', { n: 1 }, { extra: true, status: 'x', id: 'mine' }],
    ['an empty payload', {}, {}],
    ['keys with a meaning in JavaScript', JSON.parse('{"__proto__":{"a":1},"toString":{}}'), {}],
    ['text of any kind', { ключ: 'ä漢😀', 'a\u0000b': '\u0000', '': null }, {}],
  ])('is read with its payload: %s', async (_, payload, more) => {
    const { send, readMessage } = await newTenant()
    const sent = await send({ payload, idempotency_key: 'k-1', ...more })

    const read = await readMessage(sent)

    expect(JSON.stringify(read.payload)).toBe(JSON.stringify(payload))
    expect(read).toEqual({
      ...sent,
      payload: read.payload,
      channels: [],
      idempotency_key: 'k-1',
      endpoints: [],
    })
  })

  test('is read with the headers that every answer has', async () => {
    const { api, send } = await newTenant()
    const { id } = await send()
    const list = await api.get(MESSAGES)
    const names = [...list.headers.keys()].toSorted()

    for (const path of [`${MESSAGES}/${id}`, `${EVENT_TYPES}/user.created`]) {
      const { headers } = await api.get(path)
      expect([...headers.keys()].toSorted()).toEqual(names)
      expect(headers.get('content-type')).toBe(list.headers.get('content-type'))
    }
  })

  test('goes to endpoints that listen on one of its channels; without channels, to all', async () => {
    const { createEndpoint, send, deliveriesOf } = await newTenant()
    const everything = await createEndpoint()
    const some = await createEndpoint({ channels: ['eu', 'us'] })
    const heardBy = async (channels?: string[]) =>
      (await deliveriesOf(await send({ channels }))).map(({ endpoint_id }) => endpoint_id)

    for (const channels of [['eu'], ['asia', 'us'], [], undefined])
      expect((await heardBy(channels)).toSorted()).toEqual([everything.id, some.id].toSorted())
    expect(await heardBy(['asia'])).toEqual([everything.id])
  })

  test('of a test key is accepted and delivered nowhere', async () => {
    const { createEndpoint, sandbox, clock, target, listDeliveries } = await newTenant()
    const test = await sandbox()
    const endpoint = await test.createEndpoint()
    await createEndpoint()

    const sent = await test.deliver()
    await clock.advance(MINUTE)

    expect(await test.listMessages()).toEqual([sent])
    expect((await test.readMessage(sent)).endpoints).toMatchObject([
      { endpoint_id: endpoint.id, delivery_id: null, verdict: 'sandbox' },
    ])
    expect([...(await test.listDeliveries()), ...(await listDeliveries())]).toEqual([])
    expect(target.requests).toEqual([])
  })
})

describe('an event is refused, and nothing of it stored,', () => {
  const REFUSED: [field: string, values: unknown[]][] = [
    ['event_type', [5, null, ['user.created'], '', '.user', 'user..created', 'user created']],
    ['event_type', ['user\u0000', 'user.*', '*', 'üser.created', 'user.१', 'x'.repeat(257)]],
    ['payload', [null, [], '', '{"n":1}', 0, true]],
    ['idempotency_key', ['', 'x'.repeat(257), null, 5]],
    ['channels', [null, 'eu', { 0: 'eu' }, channelsOf(11), Array(11).fill('same')]],
    ['channels', [[5], ['eu', null], [''], ['e u'], ['eu\n'], ['*'], ['x'.repeat(129)]]],
  ]

  test.each(REFUSED)('for its %s', async (field, values) => {
    const { api, read, createEndpoint } = await newTenant()
    await createEndpoint()
    for (const value of values) {
      const answer = await api.post(MESSAGES, { ...GOOD, [field]: value })
      expect({ value, ...answer }).toMatchObject({ value, ...refused(field) })
    }
    for (const list of [MESSAGES, EVENT_TYPES, DELIVERIES]) expect(await read(list)).toEqual(EMPTY)
  })

  test('if a field is missing, or is elsewhere', async () => {
    const { api, spelled } = await newTenant()
    for (const field of ['event_type', 'payload'])
      expect(await api.post(MESSAGES, { ...GOOD, [field]: undefined })).toMatchObject(
        refused(field),
      )
    for (const text of ['{"__proto__":{"event_type":"a.b","payload":{}}}', '{"Event_Type":"a"}'])
      expect(await spelled(text)).toMatchObject(refused('event_type'))
    expect(await spelled('{"event_type":"a","payload":{},"payload":[]}')).toMatchObject(
      refused('payload'),
    )
    expect(await spelled(textWith('{"\\udc00":1}'))).toMatchObject(refused('body'))
    expect(await spelled(textWith('{"n":01}'))).toMatchObject(refused('body'))
  })
})

describe('a payload reaches its subscriber byte for byte', () => {
  test.each([
    ['numbers', '{"a":1.0,"b":1e2,"c":-0,"d":12345678901234567890,"e":0.10,"f":1E+400}'],
    ['keys in their order', '{"b":1,"a":2,"10":3,"9":4,"B":5}'],
    ['the same key twice', '{"a":1,"a":2}'],
    ['escapes', '{"a":"\\u0041\\/\\u00e4\\ud83d\\ude00\\n","\\u0062":"\\"}{\\\\"}'],
    ['raw text', '{"a":"ä漢😀\u2028\u007f"}'],
    ['white space', '{ \t"a"\r\n:\n[ 1 ,\t2 ] , "b" : { } }'],
    ['literals', '{"a":null,"b":true,"c":[],"d":{},"e":""}'],
    ['names with a meaning in JavaScript', '{"__proto__":{"x":1},"toString":1}'],
    ['lists in 64 levels', `{"a":${'['.repeat(62)}${']'.repeat(62)}}`],
    ['objects in 64 levels', `${'{"a":'.repeat(63)}1${'}'.repeat(63)}`],
  ])('%s', async (_, payload) => {
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

  const envelope = (rest: string) => `{"event_type":"a.b",${rest}}`
  test.each([
    ['the last of several', envelope('"payload":{"a":1},"payload":{"b":1.0}')],
    ['the last although the first is none', envelope('"payload":5,"payload":{"b":1.0}')],
    ['with an escaped name', envelope('"p\\u0061yload":{"b":1.0}')],
    ['without the space around it', envelope('"payload" : \n{"b":1.0}\t ')],
    ['not a deeper one', envelope('"x":{"payload":{}},"payload":{"b":1.0}')],
    ['before the type', '{"payload":{"b":1.0},"event_type":"a.b"}'],
    ['behind a byte order mark', `\uFEFF${textWith('{"b":1.0}')}`],
  ])('%s', async (_, text) => {
    const { createEndpoint, spelled, rest, target } = await newTenant()
    await createEndpoint({ format: 'raw' })

    expect(await spelled(text)).toMatchObject({ status: 202 })
    await rest()

    expect(target.requests.map(({ body }) => body)).toEqual(['{"b":1.0}'])
  })

  test('up to 262,144 bytes, without the space around it', async () => {
    const { createEndpoint, spelled, rest, target, listMessages } = await newTenant()
    await createEndpoint({ format: 'raw' })
    const ofSize = (bytes: number) => `{"a":"${'x'.repeat(bytes - 8)}"}`
    const ofLetters = (bytes: number) => `{"a":"${'ä'.repeat((bytes - 8) / 2)}"}`
    const largest = [ofSize(MAX_PAYLOAD_BYTES), ofLetters(MAX_PAYLOAD_BYTES)]

    for (const payload of largest) {
      expect(await spelled(textWith(` \n${payload}\t `))).toMatchObject({ status: 202 })
      await rest()
      expect(target.requests.at(-1)?.body === payload).toBe(true)
    }
    const blank = `{${' '.repeat(MAX_PAYLOAD_BYTES - 1)}}`
    for (const payload of [ofSize(MAX_PAYLOAD_BYTES + 1), ofLetters(MAX_PAYLOAD_BYTES + 2), blank])
      expect(await spelled(textWith(payload))).toMatchObject(refused('payload'))
    expect(await listMessages()).toHaveLength(2)
  })
})

describe('a tenant in arrears', () => {
  test.each([
    ['billing', 'account_suspended'],
    ['renewal', 'renewal_unpaid'],
  ] as const)(
    'over %s is refused new events with 402 %s until it resumes',
    async (reason, code) => {
      const { id, api, send, sandbox, listMessages } = await newTenant()
      const { tenants } = app.platform
      const test = await sandbox()
      const known = await send({ idempotency_key: 'k' })
      await tenants.suspend(ACTOR, id, reason)

      for (const one of [api, test.api])
        expect(await one.post(MESSAGES, GOOD)).toMatchObject(refusal(402, code))
      expect(await api.post(MESSAGES, { ...GOOD, payload: 5 })).toMatchObject(refused('payload'))
      expect(await send({ idempotency_key: 'k' })).toEqual(known)
      expect(await listMessages()).toEqual([known])

      await tenants.resume(ACTOR, id)
      await send()
      expect(await listMessages()).toHaveLength(2)
    },
  )

  test('still gets its deliveries, and may read and manage', async () => {
    const { id, createEndpoint, change, remove, deliver, readMessage, target, clock } =
      await newTenant()
    target.answers(answerWith(500))
    const endpoint = await createEndpoint()
    const message = await deliver()
    await app.platform.tenants.suspend(ACTOR, id, 'billing')
    target.answers(answerWith(200))

    await clock.advance(10 * SECOND)

    expect((await readMessage(message)).endpoints).toMatchObject([{ verdict: 'succeeded' }])
    await change(endpoint, { active: false })
    await remove(endpoint)
  })
})

describe('the list of events', () => {
  /** Sends so many and returns them newest first. */
  async function sendMany({ send }: Party, n: number, fields = {}) {
    const sent: Json[] = []
    for (let i = 0; i < n; i++) sent.unshift(await send({ payload: { i }, ...fields }))
    return sent
  }

  /** The events of each page. */
  async function pagesOf({ read }: Party, query: string, afterEach = async () => {}) {
    const pages: Json[][] = []
    for (let cursor = ''; ; ) {
      const page = await read(`${MESSAGES}?${query}${cursor}`)
      pages.push(page.data)
      expect(page.has_more).toBe(page.next_cursor !== null)
      if (!page.has_more || pages.length > 30) return pages
      await afterEach()
      cursor = `&cursor=${page.next_cursor}`
    }
  }

  test('has 20 on a page unless told otherwise, and 100 at most', async () => {
    const party = await newTenant()
    expect(await party.read(MESSAGES)).toEqual(EMPTY)
    const sent = await sendMany(party, 101)

    for (const [query, size] of Object.entries({ '': 20, '?limit=1': 1, '?limit=1000': 100 })) {
      const { data, has_more, next_cursor } = await party.read(`${MESSAGES}${query}`)
      expect(data, query).toEqual(sent.slice(0, size))
      expect([has_more, next_cursor]).toEqual([true, expect.stringMatching(/^[\w-]+$/)])
    }
  })

  test('has each event once, whatever the size of its pages and whatever comes meanwhile', async () => {
    const party = await newTenant()
    const sent = await sendMany(party, 12)

    for (const limit of [1, 5, 6, 11, 12, 13]) {
      const pages = await pagesOf(party, `limit=${limit}`)
      expect(pages.flat()).toEqual(sent)
      expect(pages).toHaveLength(Math.ceil(12 / limit))
    }
    const pages = await pagesOf(party, 'limit=3', async () => void (await sendMany(party, 2)))
    expect(pages.flat()).toEqual(sent)
    expect(await party.all(MESSAGES)).toHaveLength(18)
  })

  test('is in the order of acceptance, in one millisecond and with a clock that is set back', async () => {
    const party = await newTenant()
    const sent = await party.sendMany(30)
    const listed = await party.all(MESSAGES)
    expect(listed.map(({ id }) => id).toSorted()).toEqual(sent.map(({ id }) => id).toSorted())
    expect(await party.all(MESSAGES)).toEqual(listed)

    party.clock.jump(-DAY)
    const late = await party.send()
    party.clock.jump(DAY)

    expect(await party.all(MESSAGES)).toEqual([late, ...listed])
  })

  test('shows the events of one type, page by page', async () => {
    const party = await newTenant()
    const paid: Json[] = []
    for (let n = 0; n < 5; n++) {
      paid.unshift(await party.send({ event_type: 'invoice.paid' }))
      await party.send({ event_type: 'invoice.paid.late' })
    }

    const pages = await pagesOf(party, 'event_type=invoice.paid&limit=3')
    expect(pages).toEqual([paid.slice(0, 3), paid.slice(3)])
    for (const type of ['invoice', 'invoice.*', '*', 'INVOICE.PAID', '', '%00', "'%20or%201=1"])
      expect(await party.read(`${MESSAGES}?event_type=${type}`)).toEqual(EMPTY)
  })
})

describe('lists', () => {
  test('accept no cursor of another list', async () => {
    const { api, createEndpoint, send, read } = await newTenant()
    for (let n = 0; n < 2; n++) {
      await createEndpoint({ active: false })
      await send({ event_type: `type.${n}` })
    }
    const lists = [MESSAGES, ENDPOINTS, DELIVERIES, EVENT_TYPES]
    const pages = await Promise.all(lists.map((path) => read(`${path}?limit=1`)))

    for (const path of lists)
      for (const [owner, { next_cursor }] of pages.entries()) {
        const { status } = await api.get(`${path}?cursor=${next_cursor}`)
        expect([path, lists[owner], status]).toEqual([
          path,
          lists[owner],
          path === lists[owner] ? 200 : 400,
        ])
      }
  })

  test('of deliveries have a status of the document, and are empty for an unknown endpoint', async () => {
    const { api, read } = await newTenant()
    for (const status of ['waiting', 'PENDING', '', 'pending,failed'])
      expect(await api.get(`${DELIVERIES}?status=${status}`)).toMatchObject(
        refused('status', 'invalid_request'),
      )
    for (const id of ['x', '', '%00'])
      expect(await read(`${DELIVERIES}?endpoint_id=${id}`)).toEqual(EMPTY)
  })
})

test('the API document allows null wherever it says nullable, and has media types as content', async () => {
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
