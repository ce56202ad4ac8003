import { describe, expect, test } from 'bun:test'
import {
  ACTOR,
  bootRelay,
  count,
  DAY,
  isTime,
  MESSAGES,
  MINUTE,
  type Relay,
  START,
} from './support.ts'

const MAX_PAYLOAD_BYTES = 262_144
const UUID_V7 = /^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/

const TEXT = (payload: string) => `{"event_type":"a.b","payload":${payload}}`

describe('an event is accepted', () => {
  test('with 202 and exactly id, type, status and time', async () => {
    await using relay = await bootRelay()

    const { status, body, headers } = await relay.post(MESSAGES, {
      event_type: 'invoice.paid',
      payload: { amount: 5 },
    })

    expect(status).toBe(202)
    expect(Object.keys(body)).toEqual(['id', 'event_type', 'status', 'timestamp'])
    expect(body).toEqual({
      id: expect.stringMatching(UUID_V7),
      event_type: 'invoice.paid',
      status: 'accepted',
      timestamp: new Date(START).toISOString(),
    })
    expect(headers.get('content-type')).toStartWith('application/json')
    expect(headers.get('x-request-id')).toBeString()
    expect(headers.has('idempotency-mismatch')).toBe(false)
    expect(await relay.read(MESSAGES)).toEqual({ data: [body], has_more: false, next_cursor: null })
  })

  test('and each is another one, the same body twice included', async () => {
    await using relay = await bootRelay()
    const ids = new Set<string>()
    for (let n = 0; n < 5; n++) ids.add((await relay.send()).id)

    expect(ids.size).toBe(5)
    expect((await relay.read(MESSAGES)).data).toHaveLength(5)
  })

  test.each([
    'created',
    'a',
    'user.created',
    'a.b.c.d.e.f',
    'User_Created-2.v1',
    '0',
    '-._.-',
    'x'.repeat(256),
    `${'a.'.repeat(127)}ab`,
  ])('with the type %s', async (event_type) => {
    await using relay = await bootRelay()
    expect((await relay.send({ event_type })).event_type).toBe(event_type)
    expect((await relay.read(`${MESSAGES}?event_type=${event_type}`)).data).toHaveLength(1)
  })

  test.each([
    [[]],
    [['a']],
    [Array.from({ length: 10 }, (_, n) => `channel-${n}`)],
    [['eu:west', 'a.b', 'A_B', '-', 'x'.repeat(128)]],
  ])('for the channels %j', async (channels) => {
    await using relay = await bootRelay()
    const { id } = await relay.send({ channels })
    expect((await relay.read(`${MESSAGES}/${id}`)).channels).toEqual(channels)
  })

  test('for each channel once, however often it is named', async () => {
    await using relay = await bootRelay()
    const { id } = await relay.send({ channels: ['b', 'a', 'b'] })
    expect((await relay.read(`${MESSAGES}/${id}`)).channels).toEqual(['b', 'a'])
  })

  test.each([
    ['no field more', { n: 1 }, { extra: true, status: 'x', id: 'mine' }],
    ['an empty payload', {}, {}],
    ['a key that is no ordinary one', JSON.parse('{"__proto__":{"a":1},"constructor":{}}'), {}],
    ['text of any kind', { ключ: 'ä漢😀', 'a\u0000b': '\u0000', '': null }, {}],
  ])('and read again with its payload: %s', async (_, payload, more) => {
    await using relay = await bootRelay()
    const sent = await relay.send({ payload, ...more })

    const read = await relay.read(`${MESSAGES}/${sent.id}`)

    expect(JSON.stringify(read.payload)).toBe(JSON.stringify(payload))
    expect(read).toEqual({
      ...sent,
      payload: read.payload,
      channels: [],
      idempotency_key: null,
      endpoints: [],
    })
  })

  test('and read with the headers that every answer has', async () => {
    await using relay = await bootRelay()
    const { id } = await relay.send()
    const [list, one] = [await relay.get(MESSAGES), await relay.get(`${MESSAGES}/${id}`)]
    const type = await relay.get('/v1/relay/event-types/user.created')

    const names = [...list.headers.keys()].toSorted()
    const ownOfEach = ['x-request-id', 'ratelimit']
    for (const name of ownOfEach) expect(names).toContain(name)
    for (const { headers } of [one, type]) {
      expect([...headers.keys()].toSorted()).toEqual(names)
      for (const name of names.filter((name) => !ownOfEach.includes(name)))
        expect(headers.get(name)?.replace('; ', ';')).toBe(
          list.headers.get(name)?.replace('; ', ';') as string,
        )
    }
  })

  test('for endpoints that listen on one of its channels; without any, for all', async () => {
    await using relay = await bootRelay()
    const everybody = await relay.createEndpoint()
    const channel = await relay.createEndpoint({ channels: ['eu', 'us'] })
    const heardBy = async (channels?: string[]) => {
      const { id } = await relay.send({ channels })
      const { data } = await relay.read(`${MESSAGES}/${id}/deliveries`)
      return data.map(({ endpoint_id }: { endpoint_id: string }) => endpoint_id).toSorted()
    }

    expect(await heardBy(['eu'])).toEqual([everybody.id, channel.id].toSorted())
    expect(await heardBy(['asia', 'us'])).toEqual([everybody.id, channel.id].toSorted())
    expect(await heardBy(['asia'])).toEqual([everybody.id])
    expect(await heardBy([])).toEqual([everybody.id, channel.id].toSorted())
    expect(await heardBy()).toEqual([everybody.id, channel.id].toSorted())
  })

  test('by a test key as by a live one, and is delivered to nobody', async () => {
    await using relay = await bootRelay()
    const { test } = relay.acme
    const endpoint = await test.createEndpoint()
    await relay.createEndpoint()

    const sent = await test.send()
    await relay.delivered()
    await relay.clock.advance(MINUTE)

    expect(sent.status).toBe('accepted')
    expect((await test.read(MESSAGES)).data).toEqual([sent])
    expect((await test.read(`${MESSAGES}/${sent.id}/deliveries`)).data).toEqual([])
    expect((await test.read(`${MESSAGES}/${sent.id}`)).endpoints).toMatchObject([
      { endpoint_id: endpoint.id, delivery_id: null, verdict: 'sandbox' },
    ])
    expect((await test.read('/v1/relay/deliveries')).data).toEqual([])
    expect(count(relay.app, 'deliveries')).toBe(0)
    expect(relay.target.requests).toEqual([])
  })
})

describe('a payload reaches its subscriber byte for byte', () => {
  const SPELLINGS = [
    ['numbers', '{"a":1.0,"b":1e2,"c":-0,"d":12345678901234567890,"e":0.10,"f":1E+400}'],
    ['keys in their order', '{"b":1,"a":2,"10":3,"9":4,"B":5}'],
    ['the same key twice', '{"a":1,"a":2}'],
    ['escapes', '{"a":"\\u0041\\/\\u00e4\\ud83d\\ude00\\n","\\u0062":"\\"}{\\\\"}'],
    ['raw text', '{"a":"ä漢😀\u2028\u007f"}'],
    ['white space', '{ \t"a"\r\n:\n[ 1 ,\t2 ] , "b" : { } }'],
    ['literals', '{"a":null,"b":true,"c":[],"d":{},"e":""}'],
    ['names that mean something in JavaScript', '{"__proto__":{"x":1},"toString":1}'],
  ] as const

  test.each(SPELLINGS)('%s', async (_, payload) => {
    await using relay = await bootRelay()
    await relay.createEndpoint({ format: 'standard' })
    await relay.createEndpoint({ format: 'raw' })
    await relay.createEndpoint({ format: 'cloudevents' })

    const { status, body } = await relay.spelled(TEXT(payload))
    await relay.delivered()

    expect(status).toBe(202)
    const bodies = relay.target.requests.map((request) => request.body)
    expect(bodies).toHaveLength(3)
    expect(bodies).toContain(payload)
    expect(bodies).toContain(`{"type":"a.b","timestamp":"${body.timestamp}","data":${payload}}`)
    expect(bodies.filter((text) => text.endsWith(`"data":${payload}}`))).toHaveLength(2)
  })

  test.each(SPELLINGS)('and stays so in the log of attempts: %s', async (_, payload) => {
    await using relay = await bootRelay()
    await relay.createEndpoint({ format: 'raw' })
    const { body } = await relay.spelled(TEXT(payload))
    await relay.delivered()

    const [delivery] = (await relay.read(`${MESSAGES}/${body.id}/deliveries`)).data
    const detail = await relay.read(`/v1/relay/deliveries/${delivery.id}`)

    expect(detail.request_body).toBe(payload)
  })

  const envelope = (rest: string) => `{"event_type":"a.b",${rest}}`
  test.each([
    ['the last of several', envelope('"payload":{"a":1},"payload":{"b":1.0}'), '{"b":1.0}'],
    ['also when the first is none', envelope('"payload":5,"payload":{"b":1.0}'), '{"b":1.0}'],
    ['under an escaped name', envelope('"p\\u0061yload":{"b":1.0}'), '{"b":1.0}'],
    ['without the space around it', envelope('"payload" : \n{"b":1.0}\t '), '{"b":1.0}'],
    ['not one that lies deeper', envelope('"x":{"payload":{}},"payload":{"b":1.0}'), '{"b":1.0}'],
    ['before the type', '{"payload":{"b":1.0},"event_type":"a.b"}', '{"b":1.0}'],
    ['behind a byte order mark', `\uFEFF${TEXT('{"b":1.0}')}`, '{"b":1.0}'],
  ])('%s', async (_, text, payload) => {
    await using relay = await bootRelay()
    await relay.createEndpoint({ format: 'raw' })

    expect(await relay.spelled(text)).toMatchObject({ status: 202 })
    await relay.delivered()

    expect(relay.target.requests.map(({ body }) => body)).toEqual([payload])
  })
})

describe('of numbers that JavaScript does not have, reading an event', () => {
  test('shows them as they were sent', async () => {
    await using relay = await bootRelay()
    const { body } = await relay.spelled(TEXT('{"id":12345678901234567890,"huge":1e400}'))

    const text = await textOf(relay, `${MESSAGES}/${body.id}`)

    expect(text).toContain('12345678901234567890')
    expect(text).toContain('1e400')
  })
})

async function textOf(relay: Relay, path: string): Promise<string> {
  const headers = { authorization: `Bearer ${relay.acme.liveKey}` }
  const answer = await relay.app.app.handle(new Request(`http://localhost${path}`, { headers }))
  return await answer.text()
}

describe('a payload has 262,144 bytes at most', () => {
  const ofSize = (bytes: number) => `{"a":"${'x'.repeat(bytes - 8)}"}`
  /** Two bytes a letter. */
  const ofLetters = (bytes: number) => `{"a":"${'ä'.repeat((bytes - 8) / 2)}"}`

  test('and reaches its subscriber whole', async () => {
    await using relay = await bootRelay()
    await relay.createEndpoint({ format: 'raw' })
    for (const payload of [ofSize(MAX_PAYLOAD_BYTES), ofLetters(MAX_PAYLOAD_BYTES)]) {
      expect(Buffer.byteLength(payload)).toBe(MAX_PAYLOAD_BYTES)
      expect(await relay.spelled(TEXT(payload))).toMatchObject({ status: 202 })
      await relay.delivered()
      expect(relay.target.requests.at(-1)?.body === payload).toBe(true)
    }
  })

  test('one byte more is refused', async () => {
    await using relay = await bootRelay()
    const spaced = `{${' '.repeat(MAX_PAYLOAD_BYTES - 1)}}`
    for (const payload of [
      ofSize(MAX_PAYLOAD_BYTES + 1),
      ofLetters(MAX_PAYLOAD_BYTES + 2),
      spaced,
    ]) {
      const { status, body } = await relay.spelled(TEXT(payload))
      expect(status).toBe(400)
      expect(body.error.code).toBe('invalid_payload')
      expect(body.error.message).toMatch(
        /^payload: must be at most 262144 bytes; this one has 26214[56]$/,
      )
    }
    expect((await relay.read(MESSAGES)).data).toEqual([])
  })

  test('space around it does not count, nor do other fields', async () => {
    await using relay = await bootRelay()
    const text = `{"event_type":"a.b","note":"${'x'.repeat(1000)}","payload": \n${ofSize(MAX_PAYLOAD_BYTES)}\t }`
    expect(await relay.spelled(text)).toMatchObject({ status: 202 })
  })
})

describe('a tenant in arrears', () => {
  test.each([
    ['billing', 'account_suspended'],
    ['renewal', 'renewal_unpaid'],
  ] as const)('over %s sends nothing, with 402 %s, until it is resumed', async (reason, code) => {
    await using relay = await bootRelay()
    const { tenants } = relay.app.platform
    const known = await relay.send({ idempotency_key: 'k' })
    await tenants.suspend(ACTOR, relay.acme.id, reason)

    for (const api of [relay.acme.live, relay.acme.test]) {
      const { status, body } = await api.post(MESSAGES, { event_type: 'a', payload: {} })
      expect([status, body.error.code]).toEqual([402, code])
      expect(body.error.request_id).toBeString()
    }
    expect((await relay.read(MESSAGES)).data).toEqual([known])
    expect((await relay.acme.test.read(MESSAGES)).data).toEqual([])

    await tenants.resume(ACTOR, relay.acme.id)
    await relay.send()
    expect((await relay.read(MESSAGES)).data).toHaveLength(2)
  })

  test('is told first what is wrong with the message', async () => {
    await using relay = await bootRelay()
    await relay.app.platform.tenants.suspend(ACTOR, relay.acme.id, 'billing')
    expect(await relay.post(MESSAGES, { event_type: '.', payload: {} })).toMatchObject({
      status: 400,
    })
  })

  test('gets the original for a key that it used before', async () => {
    await using relay = await bootRelay()
    const known = await relay.send({ idempotency_key: 'k' })
    await relay.app.platform.tenants.suspend(ACTOR, relay.acme.id, 'billing')

    expect(await relay.send({ idempotency_key: 'k' })).toEqual(known)
    expect(
      await relay.post(MESSAGES, { event_type: 'a', payload: {}, idempotency_key: 'other' }),
    ).toMatchObject({ status: 402 })
  })

  test('goes on reading, managing and being delivered to', async () => {
    await using relay = await bootRelay()
    relay.target.answers(() => new Response('no', { status: 500 }))
    const endpoint = await relay.createEndpoint()
    const { id } = await relay.send()
    await relay.delivered()
    await relay.app.platform.tenants.suspend(ACTOR, relay.acme.id, 'billing')
    relay.target.answers(() => new Response('ok'))

    await relay.clock.advance(10_000)

    expect((await relay.read(`${MESSAGES}/${id}`)).endpoints).toMatchObject([
      { verdict: 'succeeded' },
    ])
    expect(
      await relay.patch(`/v1/relay/endpoints/${endpoint.id}`, { active: false }),
    ).toMatchObject({ status: 200 })
    expect(await relay.delete(`/v1/relay/endpoints/${endpoint.id}`)).toMatchObject({ status: 204 })
  })
})

describe('the list of messages', () => {
  /** Sends so many and gives them newest first, as the list does. */
  async function sendMany(relay: Relay, n: number, event_type = 'user.created') {
    const sent = []
    for (let i = 0; i < n; i++) sent.unshift(await relay.send({ event_type, payload: { i } }))
    return sent
  }

  test('is empty at first', async () => {
    await using relay = await bootRelay()
    const { status, body } = await relay.get(MESSAGES)
    expect(status).toBe(200)
    expect(Object.keys(body)).toEqual(['data', 'has_more', 'next_cursor'])
    expect(body).toEqual({ data: [], has_more: false, next_cursor: null })
  })

  test('has 20 on a page unless asked otherwise, and 100 at most', async () => {
    await using relay = await bootRelay()
    const sent = await sendMany(relay, 101)
    const sizes = { '': 20, '?limit=1': 1, '?limit=20': 20, '?limit=99': 99, '?limit=100': 100 }
    const clamped = { '?limit=101': 100, '?limit=1000': 100, '?limit=99999999999999999999': 100 }

    for (const [query, size] of Object.entries({ ...sizes, ...clamped })) {
      const { data, has_more, next_cursor } = await relay.read(`${MESSAGES}${query}`)
      expect(data, query).toEqual(sent.slice(0, size))
      expect(has_more, query).toBe(true)
      expect(next_cursor, query).toMatch(/^[\w-]+$/)
    }
  })

  test.each([1, 2, 3, 4, 5, 6, 7, 12, 13])(
    'is walked to its end in pages of %d, each message once',
    async (limit) => {
      await using relay = await bootRelay()
      const sent = await sendMany(relay, 12)
      const seen = []
      let pages = 0
      let cursor = ''
      while (true) {
        const page = await relay.read(`${MESSAGES}?limit=${limit}${cursor}`)
        seen.push(...page.data)
        pages++
        expect(pages).toBeLessThanOrEqual(Math.ceil(12 / limit))
        expect(page.data.length).toBe(page.has_more ? limit : 12 - limit * (pages - 1))
        expect(page.has_more).toBe(page.next_cursor !== null)
        if (!page.has_more) break
        cursor = `&cursor=${page.next_cursor}`
      }

      expect(seen).toEqual(sent)
      expect(pages).toBe(Math.ceil(12 / limit))
    },
  )

  test('is walked without gap or repeat while messages come in', async () => {
    await using relay = await bootRelay()
    const sent = await sendMany(relay, 10)
    const seen = []
    let cursor = ''
    do {
      const page = await relay.read(`${MESSAGES}?limit=3${cursor}`)
      seen.push(...page.data)
      expect(seen.length).toBeLessThanOrEqual(sent.length)
      await sendMany(relay, 2)
      cursor = page.has_more ? `&cursor=${page.next_cursor}` : ''
    } while (cursor !== '')

    expect(seen).toEqual(sent)
    expect(await relay.listAll(MESSAGES)).toHaveLength(18)
  })

  test('keeps the order of messages of the same millisecond', async () => {
    await using relay = await bootRelay()
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, n) => relay.send({ payload: { n } })),
    )
    expect(new Set(answers.map(({ timestamp }) => timestamp)).size).toBe(1)

    const listed = await relay.listAll(MESSAGES)
    const again = await relay.listAll(MESSAGES)

    expect(listed).toEqual(again)
    expect(listed.map(({ id }) => id).toSorted()).toEqual(answers.map(({ id }) => id).toSorted())
  })

  test('goes by the order of acceptance, the clock set back or not', async () => {
    await using relay = await bootRelay()
    const first = await relay.send()
    relay.clock.jump(-DAY)
    const second = await relay.send()

    expect((await relay.read(MESSAGES)).data).toEqual([second, first])
    expect(isTime(second.timestamp)).toBe(true)
  })

  test('shows one type when asked, page by page', async () => {
    await using relay = await bootRelay()
    const paid = []
    for (let n = 0; n < 5; n++) {
      paid.unshift(await relay.send({ event_type: 'invoice.paid' }))
      await relay.send({ event_type: 'invoice.paid.late' })
    }

    expect((await relay.read(`${MESSAGES}?event_type=invoice.paid`)).data).toEqual(paid)
    const first = await relay.read(`${MESSAGES}?event_type=invoice.paid&limit=3`)
    expect(first.data).toEqual(paid.slice(0, 3))
    const rest = `${MESSAGES}?event_type=invoice.paid&limit=2&cursor=${first.next_cursor}`
    expect(await relay.read(rest)).toEqual({
      data: paid.slice(3),
      has_more: false,
      next_cursor: null,
    })
  })

  test.each(['nobody.sent.this', 'user', 'user.*', '*', 'USER.CREATED', '', '%00', "'%20or%201=1"])(
    'is empty for the type %j, which no message has',
    async (type) => {
      await using relay = await bootRelay()
      await relay.send()
      expect(await relay.read(`${MESSAGES}?event_type=${type}`)).toEqual({
        data: [],
        has_more: false,
        next_cursor: null,
      })
    },
  )

  test('is there for a suspended tenant, too', async () => {
    await using relay = await bootRelay()
    const sent = await relay.send()
    await relay.app.platform.tenants.suspend(ACTOR, relay.acme.id, 'billing')
    expect((await relay.read(MESSAGES)).data).toEqual([sent])
  })
})

describe('the document of the API', () => {
  // biome-ignore lint/suspicious/noExplicitAny: a document is of any shape
  type Part = any

  /** Each part of the document that `isWrong` finds, by its place. */
  async function wrongParts(isWrong: (part: Part, name: string) => boolean): Promise<string[]> {
    await using relay = await bootRelay()
    const wrong: string[] = []
    const walk = (part: Part, at: string, name: string) => {
      if (typeof part !== 'object' || part === null) return
      if (isWrong(part, name)) wrong.push(at)
      for (const [key, inner] of Object.entries(part)) walk(inner, `${at} ${key}`, key)
    }
    walk(relay.document.paths, '', '')
    return wrong
  }

  test('says null where it names the words that a field may be, if it may be null', async () => {
    const isWrong = ({ nullable, enum: words }: Part) =>
      nullable === true && Array.isArray(words) && !words.includes(null)
    expect(await wrongParts(isWrong)).toEqual([])
  })

  test('has media types, and nothing else, where content goes', async () => {
    const isWrong = (content: Part, name: string) =>
      name === 'content' && !Object.keys(content).every((type) => /^[a-z]+\/\S+$/.test(type))
    expect(await wrongParts(isWrong)).toEqual([])
  })
})
