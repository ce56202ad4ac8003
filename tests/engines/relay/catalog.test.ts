import { Database } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import {
  bootRelay,
  count,
  DAY,
  EVENT_TYPES,
  type Json,
  MESSAGES,
  type Party,
  type Relay,
  refusal,
  SECOND,
  START,
  useRelay,
} from './fixture.ts'

const { app, newTenant } = await useRelay()

const TYPE = 'user.created'
const DRAFT = 'https://json-schema.org/draft/2020-12/schema'
const readType = ({ read }: Pick<Relay, 'read'>, name = TYPE) => read(`${EVENT_TYPES}/${name}`)
const namesOf = async ({ all }: Pick<Relay, 'all'>) =>
  (await all(EVENT_TYPES)).map(({ name }: Json) => name)

/** Sends payloads of one type, a second apart. */
async function teach({ send, clock }: Party, ...payloads: unknown[]) {
  for (const payload of payloads) {
    await send({ payload })
    await clock.advance(SECOND)
  }
}

describe('an event type', () => {
  test('is there with its first message, with sample and schema', async () => {
    const party = await newTenant()
    const { api, at, send } = party
    expect(await api.get(`${EVENT_TYPES}/${TYPE}`)).toMatchObject(refusal(404, 'not_found'))

    await send({ payload: { id: 7, name: 'Ada', tags: ['a'] } })

    const string = { type: 'string' }
    const properties = {
      id: { type: 'integer' },
      name: string,
      tags: { type: 'array', items: string },
    }
    expect(await readType(party)).toEqual({
      name: TYPE,
      first_seen_at: at(0),
      last_seen_at: at(0),
      count: 1,
      breaking_changes: 0,
      sample: { id: 7, name: 'Ada', tags: ['a'] },
      schema: { $schema: DRAFT, type: 'object', properties, required: ['id', 'name', 'tags'] },
      drift: [],
    })
  })

  test('counts every message, also those of one commit, and no repeated or refused ones', async () => {
    const party = await newTenant()
    await teach(party, { n: 1 }, { n: 2 })
    await party.sendMany(50)
    for (let n = 0; n < 3; n++) await party.send({ idempotency_key: 'k', payload: { n } })
    await party.api.post(MESSAGES, { event_type: TYPE, payload: [] })

    expect(await readType(party)).toMatchObject({
      first_seen_at: party.at(0),
      last_seen_at: party.at(2),
      count: 53,
      drift: [],
    })
  })

  test('is told apart by every letter, and listed by name, page by page', async () => {
    const party = await newTenant()
    const names = ['b', 'a', 'user.created', 'User.created', 'a.b', 'a-b', '0', 'x'.repeat(256)]
    for (const event_type of names) await party.send({ event_type })

    for (const limit of [1, 3, 8, 9]) {
      const seen: string[] = []
      for (let cursor = ''; ; ) {
        const page = await party.read(`${EVENT_TYPES}?limit=${limit}${cursor}`)
        seen.push(...page.data.map(({ name }: Json) => name))
        if (!page.has_more) break
        cursor = `&cursor=${page.next_cursor}`
      }
      expect(seen).toEqual(names.toSorted())
    }
    for (const name of names) expect(await readType(party, name)).toMatchObject({ name, count: 1 })
  })

  test('of a test key is not that of a live key', async () => {
    const party = await newTenant()
    const test = await party.sandbox()
    await test.send({ payload: { a: 'test' } })
    expect(await namesOf(party)).toEqual([])

    await party.send({ payload: { a: 1 } })

    expect(await readType(party)).toMatchObject({ count: 1, sample: { a: 1 }, drift: [] })
    expect(await readType(test)).toMatchObject({ count: 1, sample: { a: 'test' } })
  })

  test('has the sample that last taught something, if it is at most 16 KB', async () => {
    const party = await newTenant()
    const large = { text: 'x'.repeat(16_384) }
    const sampleAfter = async (payload: unknown) => {
      await party.send({ payload })
      return (await readType(party)).sample
    }

    expect(await sampleAfter(large)).toBeNull()
    expect(await sampleAfter({ text: 'a', b: 1 })).toEqual({ text: 'a', b: 1 })
    expect(await sampleAfter({ text: 'other', b: 2 })).toEqual({ text: 'a', b: 1 })
    expect(await sampleAfter({ ...large, c: 1 })).toEqual({ text: 'a', b: 1 })
    expect(await sampleAfter({ text: 'b', d: 2 })).toEqual({ text: 'b', d: 2 })
  })

  test.each([
    '{ "id":12345678901234567890, "huge":1e400, "price":1.10 }',
    '{"__proto__":{"a":1},"constructor":2,"":3,"toString":null}',
  ])('shows its sample as it was sent: %s', async (payload) => {
    const party = await newTenant()
    for (let n = 0; n < 2; n++) await party.spelled(`{"event_type":"${TYPE}","payload":${payload}}`)

    expect(await party.textOf(`${EVENT_TYPES}/${TYPE}`)).toContain(`"sample":${payload}`)
    const { schema, drift } = await readType(party)
    expect(Object.keys(schema.properties)).toEqual(Object.keys(JSON.parse(payload)))
    expect(drift).toEqual([])
  })

  test('begins again if another process has deleted it', async () => {
    const party = await newTenant()
    await teach(party, { a: 1 }, { a: 2 })
    const other = new Database(app.db.client.filename)
    other.run('delete from relay_event_types where tenant_id = ?', [party.id])
    other.close()

    await teach(party, { a: 'x' })

    expect(await readType(party)).toMatchObject({ count: 1, sample: { a: 'x' }, drift: [] })
  })
})

describe('a change of payloads', () => {
  test.each<[first: Json, second: Json, drift: Json[]]>([
    [
      { a: 1 },
      { a: 'x' },
      [{ path: 'a', change: 'retyped', was: 'integer', now: 'string', breaking: true }],
    ],
    [{ a: 1, b: 1 }, { b: 2 }, [{ path: 'a', change: 'missing', was: 'integer', breaking: true }]],
    [{ a: 1 }, { a: 2, b: [] }, [{ path: 'b', change: 'added', now: 'array', breaking: false }]],
    [{ a: 1, b: 'x', c: [1] }, { c: [], b: '', a: -5 }, []],
  ])('from %j to %j is noted once, with its time', async (first, second, drift) => {
    const party = await newTenant()
    await teach(party, first, second, second, first)

    const { sample: _, schema: __, drift: noted, ...type } = await readType(party)

    expect(noted).toEqual(drift.map((one) => ({ ...one, at: party.at(1) })))
    const breaking_changes = drift.filter(({ breaking }) => breaking).length
    expect(type).toMatchObject({ count: 4, breaking_changes })
    expect(await party.all(EVENT_TYPES)).toEqual([type])
  })

  test('makes the schema one that all messages so far fit', async () => {
    const party = await newTenant()
    await teach(party, { a: 1, b: 1 }, { a: 1.5 }, { a: null, b: 'x' })

    const properties = { a: { type: ['number', 'null'] }, b: { type: ['integer', 'string'] } }
    const schema = { $schema: DRAFT, type: 'object', properties, required: ['a'] }
    expect((await readType(party)).schema).toEqual(schema)
  })

  test('is one of the last 50', async () => {
    const party = await newTenant()
    const payload: Record<string, number> = {}
    for (let n = 0; n <= 60; n++) {
      payload[`field${n}`] = n
      await party.send({ payload })
    }

    const { drift } = await readType(party)
    expect(drift).toHaveLength(50)
    expect([drift[0].path, drift.at(-1).path]).toEqual(['field11', 'field60'])
  })
})

test('2,000 types are kept in each environment, and messages of others are delivered all the same', async () => {
  await using relay = await bootRelay()
  const { api, createEndpoint, deliver, readMessage, sandbox, send } = relay
  const { client } = relay.app.db
  await createEndpoint({ event_types: ['the.2001st'] })
  client.run(
    `with recursive n(i) as (select 1 union all select i + 1 from n where i < 1999)
     insert into relay_event_types
       (tenant_id, environment, name, first_seen_at, last_seen_at, count, shape, drift)
     select ?, 'live', 'bulk.' || i, ?2, ?2, 1, '{"types":64}', '[]' from n`,
    [relay.id, START],
  )

  await send({ event_type: 'the.2000th' })
  const further = await deliver({ event_type: 'the.2001st', idempotency_key: 'k' })
  await send({ event_type: 'the.2000th' })
  const test = await sandbox()
  await test.send({ event_type: 'the.2001st' })

  expect(await readType(relay, 'the.2000th')).toMatchObject({ count: 2 })
  expect(await api.get(`${EVENT_TYPES}/the.2001st`)).toMatchObject({ status: 404 })
  expect(await readType(test, 'the.2001st')).toMatchObject({ count: 1 })
  expect((await readMessage(further)).endpoints).toMatchObject([{ verdict: 'succeeded' }])
  expect(await send({ event_type: 'the.2001st', idempotency_key: 'k' })).toEqual(further)
  expect(count(relay.app, "relay_event_types where environment = 'live'")).toBe(2000)
})

test('a type that was not sent for a year is deleted, and begins again when it comes', async () => {
  await using relay = await bootRelay()
  const { clock, send } = relay
  const sweepAfter = async (ms: number) => {
    clock.jump(ms)
    await relay.app.platform.retention.sweep()
    return namesOf(relay)
  }
  await send({ event_type: 'old', payload: { a: 1 } })
  clock.jump(DAY)
  await send({ event_type: 'young' })

  expect(await sweepAfter(364 * DAY)).toEqual(['old', 'young'])
  expect(await sweepAfter(1)).toEqual(['young'])
  await send({ event_type: 'old', payload: { a: 'x' } })

  expect(await readType(relay, 'old')).toMatchObject({
    first_seen_at: new Date(clock.now()).toISOString(),
    count: 1,
    drift: [],
    sample: { a: 'x' },
  })
})

test('what a failed commit has shown of a type is learned when it comes again', async () => {
  await using relay = await bootRelay()
  const { client } = relay.app.db
  await teach(relay, { a: 1 })
  const pages = client.query('select page_count as n from pragma_page_count').get() as { n: number }
  client.run(`PRAGMA max_page_count = ${pages.n + 20}`)
  const send = (payload: unknown) => relay.api.post(MESSAGES, { event_type: TYPE, payload })
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

test('a payload of 87,000 empty lists is accepted, read and learned like any other', async () => {
  const party = await newTenant()
  const payload = { lists: Array.from({ length: 87_000 }, () => []) }

  const message = await party.send({ payload })
  await party.send({ payload: { lists: [[]] } })

  expect((await party.readMessage(message)).payload).toEqual(payload)
  expect(await readType(party)).toMatchObject({
    count: 2,
    schema: { properties: { lists: { type: 'array', items: { type: 'array' } } } },
    drift: [],
  })
})
