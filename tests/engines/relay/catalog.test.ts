import { Database } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import {
  bootRelay,
  count,
  DAY,
  EVENT_TYPES,
  MESSAGES,
  type Relay,
  SECOND,
  START,
} from './support.ts'

const iso = (ms: number) => new Date(ms).toISOString()

const TYPE = 'user.created'
const readType = ({ read }: Pick<Relay, 'read'>, name = TYPE) => read(`${EVENT_TYPES}/${name}`)

/** Sends payloads of one type, a second apart. */
async function teach(relay: Relay, ...payloads: unknown[]) {
  for (const payload of payloads) {
    await relay.send({ payload })
    await relay.clock.advance(SECOND)
  }
}

test('what a commit that failed has shown of a type is learned when it comes again', async () => {
  await using relay = await bootRelay()
  const { client } = relay.app.db
  await teach(relay, { a: 1 })
  const { pages } = client.query('select page_count as pages from pragma_page_count').get() as {
    pages: number
  }
  client.run(`PRAGMA max_page_count = ${pages + 20}`)
  const api = relay.app.client(relay.acme.liveKey)
  const send = (payload: unknown) => api.post(MESSAGES, { event_type: TYPE, payload })
  const payload = { a: 1, b: 'new' }

  // One commit: the first brings the field, the second reads it there, the third fails them all.
  const refused = await Promise.all([
    send(payload),
    send(payload),
    send({ ...payload, filling: 'x'.repeat(200_000) }),
  ])
  client.run('PRAGMA max_page_count = 1000000')
  expect(refused.map(({ status }) => status)).toEqual([503, 503, 503])
  expect((await readType(relay)).schema.properties).not.toHaveProperty('b')
  await relay.send({ payload })

  expect(await readType(relay)).toMatchObject({
    count: 2,
    schema: { properties: { b: { type: 'string' } } },
    drift: [{ path: 'b', change: 'added' }],
  })
})

test('a payload of 87,000 empty lists is taken, read back and learned like any other', async () => {
  await using relay = await bootRelay()
  const payload = { lists: Array.from({ length: 87_000 }, () => []) }

  const { id } = await relay.send({ payload })
  await relay.send({ payload: { lists: [[]] } })

  expect((await relay.read(`${MESSAGES}/${id}`)).payload).toEqual(payload)
  expect(await readType(relay)).toMatchObject({
    count: 2,
    schema: { properties: { lists: { type: 'array', items: { type: 'array' } } } },
    drift: [],
  })
})

describe('an event type', () => {
  test('is seen with its first message, with sample and schema', async () => {
    await using relay = await bootRelay()
    expect(await relay.get(`${EVENT_TYPES}/${TYPE}`)).toMatchObject({ status: 404 })

    await relay.send({ payload: { id: 7, name: 'Ada', tags: ['a'] } })

    expect(await readType(relay)).toEqual({
      name: TYPE,
      first_seen_at: iso(START),
      last_seen_at: iso(START),
      count: 1,
      breaking_changes: 0,
      sample: { id: 7, name: 'Ada', tags: ['a'] },
      schema: {
        $schema: 'https://json-schema.org/draft/2020-12/schema',
        type: 'object',
        properties: {
          id: { type: 'integer' },
          name: { type: 'string' },
          tags: { type: 'array', items: { type: 'string' } },
        },
        required: ['id', 'name', 'tags'],
      },
      drift: [],
    })
  })

  test('counts every message, and knows the times of the first and the last', async () => {
    await using relay = await bootRelay()
    await teach(relay, { a: 1 }, { a: 2 }, { a: 3 })

    expect(await readType(relay)).toMatchObject({
      first_seen_at: iso(START),
      last_seen_at: iso(START + 2 * SECOND),
      count: 3,
      breaking_changes: 0,
    })
  })

  test('counts messages of one commit, all of them', async () => {
    await using relay = await bootRelay()
    await Promise.all(Array.from({ length: 50 }, (_, n) => relay.send({ payload: { n } })))

    expect(await readType(relay)).toMatchObject({ count: 50, drift: [] })
  })

  test('does not count what is repeated or refused', async () => {
    await using relay = await bootRelay()
    for (let n = 0; n < 3; n++) await relay.send({ idempotency_key: 'k', payload: { n } })
    await relay.post(MESSAGES, { event_type: TYPE, payload: [] })

    expect(await readType(relay)).toMatchObject({ count: 1, sample: { n: 0 }, drift: [] })
  })

  test('is told apart by every letter of its name', async () => {
    await using relay = await bootRelay()
    const names = ['User.created', 'user', 'user.created', 'user.created.v2', 'x'.repeat(256)]
    for (const event_type of names) await relay.send({ event_type })

    expect((await relay.read(EVENT_TYPES)).data.map(({ name }: { name: string }) => name)).toEqual(
      names,
    )
    for (const name of names) expect(await readType(relay, name)).toMatchObject({ name, count: 1 })
  })

  test('seen with a test key is not seen by a live one', async () => {
    await using relay = await bootRelay()
    await relay.acme.test.send({ payload: { a: 'test' } })
    expect(await relay.get(`${EVENT_TYPES}/${TYPE}`)).toMatchObject({ status: 404 })

    await relay.send({ payload: { a: 1 } })

    expect(await readType(relay)).toMatchObject({ count: 1, sample: { a: 1 }, drift: [] })
    expect(await readType(relay.acme.test)).toMatchObject({ count: 1, sample: { a: 'test' } })
  })

  test('keeps its sample until a message teaches something new', async () => {
    await using relay = await bootRelay()
    await teach(relay, { a: 1 }, { a: 2 })
    expect((await readType(relay)).sample).toEqual({ a: 1 })

    await teach(relay, { a: 3, b: 1 }, { a: 4, b: 2 })

    expect((await readType(relay)).sample).toEqual({ a: 3, b: 1 })
  })

  test('has no sample when all are larger than 16 KB, and keeps a smaller one', async () => {
    await using relay = await bootRelay()
    const large = { text: 'x'.repeat(16_384) }
    await relay.send({ payload: large })
    expect((await readType(relay)).sample).toBeNull()

    await relay.send({ payload: { text: 'small', more: 1 } })
    await relay.send({ payload: { ...large, evenMore: 1 } })

    expect((await readType(relay)).sample).toEqual({ text: 'small', more: 1 })
  })

  test('shows its sample spelled as it was sent', async () => {
    await using relay = await bootRelay()
    const payload = '{ "id":12345678901234567890, "huge":1e400, "price":1.10 }'
    await relay.spelled(`{"event_type":"${TYPE}","payload":${payload}}`)
    const headers = { authorization: `Bearer ${relay.acme.liveKey}` }
    const url = `http://localhost${EVENT_TYPES}/${TYPE}`

    const answer = await relay.app.app.handle(new Request(url, { headers }))

    expect(await answer.text()).toContain(`"sample":${payload}`)
  })

  test('may have any key, those that mean something in JavaScript included', async () => {
    await using relay = await bootRelay()
    const payload = '{"__proto__":{"a":1},"constructor":2,"":3,"toString":null}'
    await relay.spelled(`{"event_type":"${TYPE}","payload":${payload}}`)
    await relay.spelled(`{"event_type":"${TYPE}","payload":${payload}}`)

    const { sample, schema, drift } = await readType(relay)
    expect(JSON.stringify(sample)).toBe(payload)
    expect(Object.keys(schema.properties)).toEqual(['__proto__', 'constructor', '', 'toString'])
    expect(drift).toEqual([])
  })

  test('that another process has forgotten begins anew', async () => {
    await using relay = await bootRelay()
    await teach(relay, { a: 1 }, { a: 2 })
    const other = new Database(relay.app.db.client.filename)
    other.run('delete from relay_event_types')
    other.close()

    await teach(relay, { a: 'x' })

    expect(await readType(relay)).toMatchObject({ count: 1, sample: { a: 'x' }, drift: [] })
  })
})

describe('a change in what payloads look like', () => {
  test.each([
    [
      'another type',
      { a: 1 },
      { a: 'x' },
      { path: 'a', change: 'retyped', was: 'integer', now: 'string', breaking: true },
    ],
    [
      'null',
      { a: 1 },
      { a: null },
      { path: 'a', change: 'retyped', was: 'integer', now: 'null', breaking: true },
    ],
    [
      'a field that is missing',
      { a: 1, b: 1 },
      { b: 2 },
      { path: 'a', change: 'missing', was: 'integer', breaking: true },
    ],
    [
      'a new field',
      { a: 1 },
      { a: 2, b: [] },
      { path: 'b', change: 'added', now: 'array', breaking: false },
    ],
    [
      'one deep inside',
      { a: { b: [{ c: 1 }] } },
      { a: { b: [{ c: true }] } },
      { path: 'a.b[].c', change: 'retyped', was: 'integer', now: 'boolean', breaking: true },
    ],
  ])('is noted once, with its time: %s', async (_, first, second, drift) => {
    await using relay = await bootRelay()
    await teach(relay, first, second, second, first)

    const type = await readType(relay)

    expect(type.drift).toEqual([{ ...drift, at: iso(START + SECOND) }])
    expect(type.breaking_changes).toBe(drift.breaking ? 1 : 0)
    expect(type.count).toBe(4)
    const [listed] = (await relay.read(EVENT_TYPES)).data
    expect(listed).toEqual({
      name: type.name,
      first_seen_at: type.first_seen_at,
      last_seen_at: type.last_seen_at,
      count: type.count,
      breaking_changes: type.breaking_changes,
    })
  })

  test('is none where only values differ', async () => {
    await using relay = await bootRelay()
    await teach(
      relay,
      { a: 1, b: 'x', c: [1] },
      { a: -5, b: '', c: [] },
      { c: [9, 9], b: 'y', a: 0 },
    )

    expect(await readType(relay)).toMatchObject({ drift: [], breaking_changes: 0, count: 3 })
  })

  test('makes the schema one that all messages so far fit', async () => {
    await using relay = await bootRelay()
    await teach(relay, { a: 1, b: 1 }, { a: 1.5 }, { a: null, b: 'x' })

    expect((await readType(relay)).schema).toEqual({
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      properties: { a: { type: ['number', 'null'] }, b: { type: ['integer', 'string'] } },
      required: ['a'],
    })
  })

  test('is one of the last 50', async () => {
    await using relay = await bootRelay()
    const payload: Record<string, number> = {}
    for (let n = 0; n <= 60; n++) {
      payload[`field${n}`] = n
      await relay.send({ payload })
    }

    const { drift } = await readType(relay)
    expect(drift).toHaveLength(50)
    expect([drift[0].path, drift.at(-1).path]).toEqual(['field11', 'field60'])
  })
})

describe('of event types', () => {
  const writeTypes = ({ app, acme }: Relay, n: number, environment = 'live') => {
    const insert = app.db.client.prepare(
      `insert into relay_event_types
         (tenant_id, environment, name, first_seen_at, last_seen_at, count, shape, drift)
       values (?, ?, ?, ?, ?, 1, '{"types":64}', '[]')`,
    )
    app.db.client.transaction(() => {
      for (let at = 0; at < n; at++)
        insert.run(acme.id, environment, `bulk.${`${at}`.padStart(4, '0')}`, START, START)
    })()
    insert.finalize()
  }

  test('the list is by name, page by page, without gap or repeat', async () => {
    await using relay = await bootRelay()
    const names = ['b', 'a', 'c', 'a.b', 'a-b', 'B', '0']
    for (const event_type of names) await relay.send({ event_type })
    const byName = names.toSorted()

    for (const limit of [1, 2, 3, 6, 7, 8]) {
      const seen: string[] = []
      let cursor = ''
      while (true) {
        const page = await relay.read(`${EVENT_TYPES}?limit=${limit}${cursor}`)
        seen.push(...page.data.map(({ name }: { name: string }) => name))
        expect(seen.length).toBeLessThanOrEqual(names.length)
        expect(page.has_more).toBe(page.next_cursor !== null)
        if (!page.has_more) break
        cursor = `&cursor=${page.next_cursor}`
      }
      expect(seen).toEqual(byName)
    }
  })

  test('2,000 are kept account of, each environment by itself', async () => {
    await using relay = await bootRelay()
    writeTypes(relay, 1999)

    await relay.send({ event_type: 'the.2000th' })
    const further = await relay.send({ event_type: 'the.2001st' })
    await relay.send({ event_type: 'the.2000th' })
    await relay.acme.test.send({ event_type: 'the.2001st' })

    expect((await readType(relay, 'the.2000th')).count).toBe(2)
    expect(await relay.get(`${EVENT_TYPES}/the.2001st`)).toMatchObject({ status: 404 })
    expect((await readType(relay.acme.test, 'the.2001st')).count).toBe(1)
    expect(await relay.listAll(EVENT_TYPES)).toHaveLength(2000)
    expect((await relay.read(`${MESSAGES}?event_type=the.2001st`)).data).toEqual([further])
  })

  test('a message of a further one is delivered like any other', async () => {
    await using relay = await bootRelay()
    writeTypes(relay, 2000)
    await relay.createEndpoint()

    const { id } = await relay.send({ event_type: 'the.2001st', idempotency_key: 'k' })
    await relay.delivered()

    expect(relay.target.requests).toHaveLength(1)
    expect((await relay.read(`${MESSAGES}/${id}`)).endpoints).toMatchObject([
      { verdict: 'succeeded' },
    ])
    expect(await relay.send({ event_type: 'the.2001st', idempotency_key: 'k' })).toMatchObject({
      id,
    })
    expect(count(relay.app, 'relay_event_types')).toBe(2000)
  })

  test('those that nobody sent for a year are forgotten', async () => {
    await using relay = await bootRelay()
    await relay.send({ event_type: 'old' })
    relay.clock.jump(DAY)
    await relay.send({ event_type: 'young' })

    relay.clock.jump(364 * DAY)
    await relay.app.platform.retention.sweep()
    expect(await relay.listAll(EVENT_TYPES)).toHaveLength(2)

    relay.clock.jump(1)
    await relay.app.platform.retention.sweep()
    expect(await relay.listAll(EVENT_TYPES)).toMatchObject([{ name: 'young' }])
  })

  test('one that was forgotten and comes again is there again, as new', async () => {
    await using relay = await bootRelay()
    await teach(relay, { a: 1 }, { a: 2 })
    relay.clock.jump(366 * DAY)
    await relay.app.platform.retention.sweep()
    expect(await relay.listAll(EVENT_TYPES)).toEqual([])

    await relay.send({ payload: { a: 'x' } })

    expect(await readType(relay)).toMatchObject({
      first_seen_at: iso(relay.clock.now()),
      count: 1,
      drift: [],
      sample: { a: 'x' },
    })
  })
})
