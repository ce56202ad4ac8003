import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { bootRelay, type Json, type Party, type Relay, refusal, useRelay } from './fixture.ts'
import {
  count,
  DAY,
  DELIVERIES,
  ENDPOINTS,
  EVENT_TYPES,
  MESSAGES,
  SECOND,
  START,
} from './support.ts'

// What a schema says and what counts as drift is in shape.test.ts.

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

test('Live and test keys, and two tenants, have their own messages, endpoints, deliveries and types', async () => {
  const live = await newTenant()
  const parties = { live, test: await live.sandbox(), other: await newTenant() }
  const idsIn = async ({ all }: Relay, path: string, key = 'id') =>
    (await all(path)).map((one) => one[key])
  const made: Record<string, Json> = {}
  for (const [name, relay] of Object.entries(parties))
    made[name] = {
      endpoint: await relay.createEndpoint(),
      message: await relay.deliver({ payload: { name } }),
    }
  for (const [name, relay] of Object.entries(parties)) {
    const { endpoint, message } = made[name]
    expect(await idsIn(relay, ENDPOINTS)).toEqual([endpoint.id])
    expect(await idsIn(relay, MESSAGES)).toEqual([message.id])
    expect(await relay.listMessages(`?event_type=${TYPE}`)).toEqual([message])
    expect(await readType(relay)).toMatchObject({ count: 1, sample: { name }, drift: [] })
    const sent = name === 'test' ? [] : [endpoint.id]
    expect(await idsIn(relay, DELIVERIES, 'endpoint_id')).toEqual(sent)
    const verdict = name === 'test' ? 'sandbox' : 'succeeded'
    const { endpoints } = await relay.readMessage(message)
    expect(endpoints).toMatchObject([{ endpoint_id: endpoint.id, verdict }])
  }
  expect(live.headers('webhook-id')).toEqual([made.live.message.id])
})

test('An event type is there with its first message, with sample and schema', async () => {
  const relay = await newTenant()
  const unknown = await relay.api.get(`${EVENT_TYPES}/${TYPE}`)
  expect(unknown).toMatchObject(refusal(404, 'not_found'))
  const sample = { id: 7, name: 'Ada', tags: ['a'] }
  await relay.send({ payload: sample })

  const string = { type: 'string' }
  const tags = { type: 'array', items: string }
  const properties = { id: { type: 'integer' }, name: string, tags }
  const seen = { first_seen_at: relay.at(0), last_seen_at: relay.at(0), count: 1 }
  const schema = { $schema: DRAFT, type: 'object', properties, required: ['id', 'name', 'tags'] }
  const learned = {
    name: TYPE,
    ...seen,
    breaking_changes: 0,
    built_in: false,
    sample,
    schema,
    drift: [],
  }
  expect(await readType(relay)).toEqual(learned)
})

test('An event type counts every message of a commit, and no repeated or refused ones', async () => {
  const relay = await newTenant()
  await teach(relay, { n: 1 }, { n: 2 })
  await relay.sendMany(50)
  for (let n = 0; n < 3; n++) await relay.send({ idempotency_key: 'k', payload: { n } })
  await relay.api.post(MESSAGES, { event_type: TYPE, payload: [] })
  const seen = { first_seen_at: relay.at(0), last_seen_at: relay.at(2), count: 53, drift: [] }
  expect(await readType(relay)).toMatchObject(seen)
})

test('An event type has the sample that last taught something, if it is at most 16 KB', async () => {
  const relay = await newTenant()
  const large = { text: 'x'.repeat(16_384) }
  const first = { text: 'a', b: 1 }
  const last = { text: 'b', d: 2 }
  for (const [payload, sample] of [
    [large, null],
    [first, first],
    [{ text: 'other', b: 2 }, first],
    [{ ...large, c: 1 }, first],
    [last, last],
  ]) {
    await relay.send({ payload })
    expect((await readType(relay)).sample).toEqual(sample)
  }
})

test('An event type shows its sample as it was sent', async () => {
  const relay = await newTenant()
  const payload = '{ "id":12345678901234567890, "huge":1e400, "price":1.10, "__proto__":{"":1} }'
  for (let n = 0; n < 2; n++) await relay.spelled(`{"event_type":"${TYPE}","payload":${payload}}`)
  expect(await relay.textOf(`${EVENT_TYPES}/${TYPE}`)).toContain(`"sample":${payload}`)
  const { schema, drift } = await readType(relay)
  expect(Object.keys(schema.properties)).toEqual(Object.keys(JSON.parse(payload)))
  expect(drift).toEqual([])
})

test('An event type begins again if another process has deleted it', async () => {
  const relay = await newTenant()
  await teach(relay, { a: 1 }, { a: 2 })
  const other = new Database(app.db.client.filename)
  other.run('delete from relay_event_types where tenant_id = ?', [relay.id])
  other.close()
  await teach(relay, { a: 'x' })
  expect(await readType(relay)).toMatchObject({ count: 1, sample: { a: 'x' }, drift: [] })
})

test('An event type is deleted after a year without messages, and begins again when it comes', async () => {
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
  const first_seen_at = new Date(clock.now()).toISOString()
  const again = { first_seen_at, count: 1, drift: [], sample: { a: 'x' } }
  expect(await readType(relay, 'old')).toMatchObject(again)
})

test('A change of payloads is noted once, with its time', async () => {
  const relay = await newTenant()
  const [first, second] = [
    { a: 1, b: 1 },
    { a: 'x', c: [] },
  ]
  await teach(relay, first, second, second, first)
  const { sample: _, schema: __, drift, ...type } = await readType(relay)
  const at = relay.at(1)
  expect(drift).toEqual([
    { path: 'a', change: 'retyped', was: 'integer', now: 'string', breaking: true, at },
    { path: 'b', change: 'missing', was: 'integer', breaking: true, at },
    { path: 'c', change: 'added', now: 'array', breaking: false, at },
  ])
  expect(type).toMatchObject({ count: 4, breaking_changes: 2 })
  expect(await relay.all(EVENT_TYPES)).toEqual([type])
})

test('The last 50 changes of payloads are kept', async () => {
  const relay = await newTenant()
  const payload: Record<string, number> = {}
  for (let n = 0; n <= 51; n++) {
    payload[`field${n}`] = n
    await relay.send({ payload })
  }
  const { drift } = await readType(relay)
  expect(drift).toHaveLength(50)
  expect([drift[0].path, drift.at(-1).path]).toEqual(['field2', 'field51'])
})

test('A change of payloads that a failed commit has shown is learned when it comes again', async () => {
  await using relay = await bootRelay()
  const { client } = relay.app.db
  await teach(relay, { a: 1 })
  const [pages] = client.query('select page_count from pragma_page_count').values()[0] as number[]
  client.run(`PRAGMA max_page_count = ${Number(pages) + 20}`)
  const payload = { a: 1, b: 'new' }
  // One commit: the first brings the field, the second reads it there, the third fails them all.
  const payloads = [payload, payload, { ...payload, filling: 'x'.repeat(200_000) }]
  const send = (payload: object) => relay.api.post(MESSAGES, { event_type: TYPE, payload })
  const refused = await Promise.all(payloads.map(send))
  client.run('PRAGMA max_page_count = 1000000')
  expect(refused.map(({ status }) => status)).toEqual([503, 503, 503])
  expect((await readType(relay)).schema.properties).not.toHaveProperty('b')
  await relay.send({ payload })
  const schema = { properties: { b: { type: 'string' } } }
  const learned = { count: 2, schema, drift: [{ path: 'b', change: 'added' }] }
  expect(await readType(relay)).toMatchObject(learned)
})

test('2,000 types are kept in each environment, and messages of others are delivered all the same', async () => {
  await using relay = await bootRelay()
  const { send } = relay
  await relay.createEndpoint({ event_types: ['the.2001st'] })
  relay.app.db.client.run(
    `with recursive n(i) as (select 1 union all select i + 1 from n where i < 1999)
     insert into relay_event_types
       (tenant_id, environment, name, first_seen_at, last_seen_at, count, shape, drift)
     select ?, 'live', 'bulk.' || i, ?2, ?2, 1, '{"types":64}', '[]' from n`,
    [relay.id, START],
  )
  await send({ event_type: 'the.2000th' })
  const further = await relay.deliver({ event_type: 'the.2001st', idempotency_key: 'k' })
  await send({ event_type: 'the.2000th' })
  const test = await relay.sandbox()
  await test.send({ event_type: 'the.2001st' })

  expect(await readType(relay, 'the.2000th')).toMatchObject({ count: 2 })
  expect(await relay.api.get(`${EVENT_TYPES}/the.2001st`)).toMatchObject({ status: 404 })
  expect(await readType(test, 'the.2001st')).toMatchObject({ count: 1 })
  expect((await relay.readMessage(further)).endpoints).toMatchObject([{ verdict: 'succeeded' }])
  expect(await send({ event_type: 'the.2001st', idempotency_key: 'k' })).toEqual(further)
  expect(count(relay.app, "relay_event_types where environment = 'live'")).toBe(2000)
})

test('A payload of 87,000 empty lists is accepted, read and learned like any other', async () => {
  const relay = await newTenant()
  const payload = { lists: Array.from({ length: 87_000 }, () => []) }
  const message = await relay.send({ payload })
  await relay.send({ payload: { lists: [[]] } })
  expect((await relay.readMessage(message)).payload).toEqual(payload)
  const schema = { properties: { lists: { type: 'array', items: { type: 'array' } } } }
  expect(await readType(relay)).toMatchObject({ count: 2, schema, drift: [] })
})
