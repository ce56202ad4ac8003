import { expect, test } from 'bun:test'
import { bootRelay, type Party, useRelay } from './fixture.ts'
import { DAY, EVENT_TYPES, HOUR, MESSAGES } from './support.ts'

const { newTenant } = await useRelay()

const KEY = 'order-1'
const MISMATCH = 'idempotency-mismatch'

type Fields = Record<string, unknown>

const message = (more: Fields = {}) => ({
  event_type: 'user.created',
  payload: { n: 1, deep: { a: [1, 2] } },
  idempotency_key: KEY,
  ...more,
})

/** The answer to a message, and whether it says that the key belongs to another one. */
async function answerTo({ api }: Pick<Party, 'api'>, body: unknown = message()) {
  const answer = await api.post(MESSAGES, body)
  expect(answer.status).toBe(202)
  return { sent: answer.body, mismatch: answer.headers.get(MISMATCH) }
}

const sendAtOnce = (relay: Party, bodies: unknown[]) =>
  Promise.all(bodies.map((body) => answerTo(relay, body)))

test('A key that is used again is answered with the first message, and makes none', async () => {
  const relay = await newTenant()
  await relay.createEndpoint()
  const first = await answerTo(relay)
  for (let n = 0; n < 2; n++) expect(await answerTo(relay)).toEqual(first)
  await relay.rest()
  expect(first.mismatch).toBeNull()
  expect(await relay.listMessages()).toEqual([first.sent])
  expect(relay.target.requests).toHaveLength(1)
  expect(await relay.readMessage(first.sent)).toMatchObject({ idempotency_key: KEY })
  expect((await relay.read(`${EVENT_TYPES}/user.created`)).count).toBe(1)
})

test.each([
  ['24 hours', DAY, {}],
  ['as long as configured', 4 * HOUR, { 'relay-idempotency-window': '4h' }],
])('A key is known for %s since its first use, also if its message is deleted', async (...row) => {
  const [, window, flags] = row
  await using relay = await bootRelay({ flags: { ...flags, 'retention-deliveries': '1h' } })
  const first = await answerTo(relay)
  for (const wait of [window / 2, window / 2 - 1]) {
    relay.clock.jump(wait)
    await relay.app.platform.retention.sweep()
    expect(await relay.listMessages()).toEqual([])
    expect(await answerTo(relay)).toEqual(first)
    expect(await answerTo(relay, message({ payload: {} }))).toEqual({ ...first, mismatch: 'true' })
  }
  relay.clock.jump(1)
  const other = message({ event_type: 'other', payload: {} })
  const second = await answerTo(relay, other)
  expect(second).toMatchObject({ sent: { event_type: 'other' }, mismatch: null })
  expect(await answerTo(relay, other)).toEqual(second)
  expect(await answerTo(relay)).toEqual({ ...second, mismatch: 'true' })
  expect(await relay.listMessages()).toEqual([second.sent])
})

test('Equal keys at the same time make one message, also just as an older use expires', async () => {
  const relay = await newTenant()
  await relay.createEndpoint()
  for (const made of [1, 2]) {
    const answers = await sendAtOnce(relay, Array(10).fill(message()))
    await relay.rest()
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1)
    expect(answers[0]?.mismatch).toBeNull()
    expect((await relay.listMessages())[0]).toEqual(answers[0]?.sent)
    expect(relay.target.requests).toHaveLength(made)
    relay.clock.jump(DAY)
  }
})

test('Different messages at the same time make one for each key, and the others are told', async () => {
  const relay = await newTenant()
  const bodies = Array.from({ length: 10 }, (_, n) => message({ payload: { n } }))
  const other = message({ idempotency_key: 'other' })
  const [apart, ...answers] = await sendAtOnce(relay, [other, ...bodies])
  expect(apart?.mismatch).toBeNull()
  expect(new Set(answers.map(({ sent }) => sent.id)).size).toBe(1)
  expect(answers.filter(({ mismatch }) => mismatch === 'true')).toHaveLength(9)
  const winner = answers.findIndex(({ mismatch }) => mismatch === null)
  expect(await relay.listMessages()).toHaveLength(2)
  const payload = { n: winner }
  expect(await relay.readMessage(answers[winner]?.sent)).toMatchObject({ payload })
})

const AB = { channels: ['a', 'b'] }
const payload = (more: object) => ({ payload: { n: 1, deep: { a: [1, 2] }, ...more } })

test.each<[first: Fields, second: Fields, mismatch: boolean]>([
  [{}, { event_type: 'user.deleted' }, true],
  [{}, payload({ n: '1' }), true],
  [{}, payload({ deep: undefined }), true],
  [{}, payload({ x: null }), true],
  [{}, payload({ deep: { a: [2, 1] } }), true],
  [{}, { channels: ['a'] }, true],
  [AB, { channels: ['a', 'b', 'c'] }, true],
  [AB, {}, true],
  [AB, { channels: ['b', 'a', 'b'] }, false],
  [{ channels: [] }, { note: 'second try' }, false],
])('A mismatch between %j and %j: %p', async (one, other, mismatch) => {
  const relay = await newTenant()
  const first = await answerTo(relay, message(one))
  const expected = { ...first, mismatch: mismatch ? 'true' : null }
  expect(await answerTo(relay, message(other))).toEqual(expected)
  expect(await answerTo(relay, message(one))).toEqual(first)
  expect(await relay.listMessages()).toEqual([first.sent])
})

const large = (space: string) => `{"a":${space}"${'\\n'.repeat(131_000)}${space}"}`
test.each<[first: string, second: string, mismatch: boolean]>([
  ['{"a":1,"b":[]}', ' \t{ "a" : 1 ,\n"b" : [ ] }\r\n', false],
  ['{"a":"x y"}', '{"a":"xy"}', true],
  ['{"a":12345678901234567890}', '{"a":12345678901234567891}', true],
  ['{"a":1e400}', '{"a":null}', true],
  [large(''), large('').replace(':', ' :\t'), false],
  [large(''), large(' '), true],
])('A mismatch between the payloads %.40s and %.40s: %p', async (one, other, mismatch) => {
  const { spelled } = await newTenant()
  const send = (payload: string) =>
    spelled(`{"event_type":"a.b","idempotency_key":"${KEY}","payload":${payload}}`)
  const { body } = await send(one)
  const again = await send(other)
  expect(again).toMatchObject({ status: 202, body })
  expect(again.headers.get(MISMATCH)).toBe(mismatch ? 'true' : null)
})

test('A key is any text, and differs by case, space and accent', async () => {
  const relay = await newTenant()
  const ids = new Set<string>()
  const keys = ['key', 'KEY', ' key', 'ke\u0301y', 'k\u00e9y', 'key\u0000', 'key\u0000x']
  keys.push('x'.repeat(256), ' ', "' or 1=1", '__proto__', '%00')
  for (const idempotency_key of keys) {
    const first = await answerTo(relay, message({ idempotency_key }))
    expect(await answerTo(relay, message({ idempotency_key }))).toEqual(first)
    expect(await relay.readMessage(first.sent)).toMatchObject({ idempotency_key })
    ids.add(first.sent.id)
  }
  expect(ids.size).toBe(keys.length)
})

test('A key is shared by the API keys of a tenant and environment, and by no others', async () => {
  const relay = await newTenant()
  const first = await answerTo(relay)
  for (const other of [await newTenant(), await relay.sandbox()]) {
    const own = await answerTo(other, message({ payload: {} }))
    expect(own.mismatch).toBeNull()
    expect(await answerTo(other, message({ payload: {} }))).toEqual(own)
    expect(await other.listMessages()).toEqual([own.sent])
  }
  const { key } = await relay.newKey('relay', 'live')
  expect(await answerTo({ api: relay.app.client(key) })).toEqual(first)
})
