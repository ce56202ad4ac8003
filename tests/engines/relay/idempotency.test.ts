import { describe, expect, test } from 'bun:test'
import { type Api, bootRelay, count, DAY, HOUR, MESSAGES, type Relay, SECOND } from './support.ts'

const KEY = 'order-1'
const MISMATCH = 'idempotency-mismatch'

const message = (more: Record<string, unknown> = {}) => ({
  event_type: 'user.created',
  payload: { n: 1, deep: { a: [1, 2] } },
  idempotency_key: KEY,
  ...more,
})

/** The answer to one message, with what it says of a mismatch. */
async function answerTo(api: Api, body: unknown) {
  const answer = await api.post(MESSAGES, body)
  expect(answer.status).toBe(202)
  return { sent: answer.body, mismatch: answer.headers.get(MISMATCH) }
}

const listed = async ({ read }: Pick<Api, 'read'>) => (await read(MESSAGES)).data

describe('a key used again', () => {
  test('is answered with the message of the first time, and makes none', async () => {
    await using relay = await bootRelay()
    await relay.createEndpoint()
    const first = await answerTo(relay, message())
    await relay.delivered()
    await relay.clock.advance(SECOND)

    for (let n = 0; n < 3; n++) expect(await answerTo(relay, message())).toEqual(first)
    await relay.delivered()

    expect(first.mismatch).toBeNull()
    expect(await listed(relay)).toEqual([first.sent])
    expect(count(relay.app, 'deliveries')).toBe(1)
    expect(relay.target.requests).toHaveLength(1)
    expect(await relay.read(`${MESSAGES}/${first.sent.id}`)).toMatchObject({ idempotency_key: KEY })
    expect((await relay.read('/v1/relay/event-types/user.created')).count).toBe(1)
  })

  test('is known for 24 hours to the millisecond, and is as new after that', async () => {
    await using relay = await bootRelay()
    const first = await answerTo(relay, message())

    relay.clock.jump(DAY - 1)
    expect(await answerTo(relay, message())).toEqual(first)

    relay.clock.jump(1)
    const second = await answerTo(relay, message())
    expect(second.mismatch).toBeNull()
    expect(second.sent.id).not.toBe(first.sent.id)
    expect(second.sent.timestamp).toBe('2026-03-02T12:00:30.000Z')
    expect(await answerTo(relay, message())).toEqual(second)
    expect(await listed(relay)).toEqual([second.sent, first.sent])
  })

  test('counts its 24 hours from the first use, however often it is repeated', async () => {
    await using relay = await bootRelay()
    const first = await answerTo(relay, message())
    for (let n = 0; n < 23; n++) {
      relay.clock.jump(HOUR)
      expect(await answerTo(relay, message())).toEqual(first)
    }

    relay.clock.jump(HOUR)

    expect((await answerTo(relay, message())).sent.id).not.toBe(first.sent.id)
  })

  test('after its 24 hours may come with another message, which is no mismatch', async () => {
    await using relay = await bootRelay()
    await answerTo(relay, message())
    relay.clock.jump(DAY)

    const other = message({ event_type: 'other', payload: {} })
    const second = await answerTo(relay, other)

    expect(second).toMatchObject({ sent: { event_type: 'other' }, mismatch: null })
    expect(await answerTo(relay, other)).toEqual(second)
    expect(await answerTo(relay, message())).toEqual({ ...second, mismatch: 'true' })
  })

  test('survives the clean-up until its time, and is cleaned up then', async () => {
    await using relay = await bootRelay()
    const first = await answerTo(relay, message())
    relay.clock.jump(DAY - 1)
    await relay.app.platform.retention.sweep()
    expect(await answerTo(relay, message())).toEqual(first)
    expect(count(relay.app, 'relay_idempotency_keys')).toBe(1)

    relay.clock.jump(1)
    await relay.app.platform.retention.sweep()

    expect(count(relay.app, 'relay_idempotency_keys')).toBe(0)
    expect((await answerTo(relay, message())).sent.id).not.toBe(first.sent.id)
  })

  test('is answered with the original even when that is no longer kept', async () => {
    await using relay = await bootRelay({ flags: { 'retention-deliveries': '1h' } })
    const first = await answerTo(relay, message())
    relay.clock.jump(2 * HOUR)
    await relay.app.platform.retention.sweep()
    expect(await listed(relay)).toEqual([])

    expect(await answerTo(relay, message())).toEqual(first)
    expect(await answerTo(relay, message({ payload: {} }))).toEqual({ ...first, mismatch: 'true' })
    expect(await listed(relay)).toEqual([])
  })

  test('after a refused message is as good as new', async () => {
    await using relay = await bootRelay()
    expect(await relay.post(MESSAGES, message({ payload: [] }))).toMatchObject({ status: 400 })

    expect((await answerTo(relay, message())).mismatch).toBeNull()
    expect(await listed(relay)).toHaveLength(1)
  })

  test('with a message that is refused is refused as well', async () => {
    await using relay = await bootRelay()
    await answerTo(relay, message())

    expect(await relay.post(MESSAGES, message({ event_type: 'a..b' }))).toMatchObject({
      status: 400,
    })
  })
})

describe('two equal keys in flight at once', () => {
  const sendAtOnce = (relay: Relay, bodies: unknown[]) =>
    Promise.all(bodies.map((body) => answerTo(relay, body)))

  test.each([2, 20])('make one message, all %d answers being the same', async (n) => {
    await using relay = await bootRelay()
    await relay.createEndpoint()

    const answers = await sendAtOnce(relay, Array(n).fill(message()))
    await relay.delivered()

    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1)
    expect(answers[0]?.mismatch).toBeNull()
    expect(await listed(relay)).toEqual([answers[0]?.sent])
    expect(relay.target.requests).toHaveLength(1)
  })

  test('with other messages: one wins, and the others learn of it', async () => {
    await using relay = await bootRelay()

    const bodies = Array.from({ length: 20 }, (_, n) => message({ payload: { n } }))
    const answers = await sendAtOnce(relay, bodies)

    expect(new Set(answers.map(({ sent }) => sent.id)).size).toBe(1)
    expect(answers.filter(({ mismatch }) => mismatch === null)).toHaveLength(1)
    expect(answers.filter(({ mismatch }) => mismatch === 'true')).toHaveLength(19)
    expect(await listed(relay)).toHaveLength(1)
    const winner = answers.findIndex(({ mismatch }) => mismatch === null)
    const [{ sent }] = answers as [(typeof answers)[number]]
    expect((await relay.read(`${MESSAGES}/${sent.id}`)).payload).toEqual({ n: winner })
  })

  test('each beside others, make one message a key', async () => {
    await using relay = await bootRelay()

    const bodies = Array.from({ length: 40 }, (_, n) => message({ idempotency_key: `k${n % 8}` }))
    const answers = await sendAtOnce(relay, bodies)

    expect(new Set(answers.map(({ sent }) => sent.id)).size).toBe(8)
    for (const [n, { sent }] of answers.entries()) expect(sent).toEqual(answers[n % 8]?.sent)
    expect(await listed(relay)).toHaveLength(8)
  })

  test('just as the old use of the key ends, make one new message', async () => {
    await using relay = await bootRelay()
    const first = await answerTo(relay, message())
    relay.clock.jump(DAY)

    const answers = await sendAtOnce(relay, Array(20).fill(message()))

    expect(new Set(answers.map(({ sent }) => sent.id)).size).toBe(1)
    expect(answers[0]?.sent.id).not.toBe(first.sent.id)
    expect(await listed(relay)).toHaveLength(2)
  })
})

describe('what counts as another message', () => {
  const CHANNELS = { channels: ['a', 'b'] }

  test.each([
    ['another type', message({ event_type: 'user.deleted' })],
    ['another value', message({ payload: { n: 2, deep: { a: [1, 2] } } })],
    ['one field less', message({ payload: { n: 1 } })],
    ['one field more', message({ payload: { n: 1, deep: { a: [1, 2] }, x: null } })],
    ['another order of a list', message({ payload: { n: 1, deep: { a: [2, 1] } } })],
    ['text for a number', message({ payload: { n: '1', deep: { a: [1, 2] } } })],
    ['channels', message({ channels: ['a'] })],
  ])('%s: still the original, with a header', async (_, other) => {
    await using relay = await bootRelay()
    await relay.createEndpoint()
    const first = await answerTo(relay, message())

    expect(await answerTo(relay, other)).toEqual({ ...first, mismatch: 'true' })
    await relay.delivered()

    expect(await listed(relay)).toEqual([first.sent])
    expect(relay.target.requests).toHaveLength(1)
    expect(await answerTo(relay, message())).toEqual(first)
  })

  test.each([
    ['other channels', ['a', 'c']],
    ['fewer channels', ['a']],
    ['more channels', ['a', 'b', 'c']],
    ['no channels', []],
    ['no list of channels', undefined],
  ])('%s: the same', async (_, channels) => {
    await using relay = await bootRelay()
    const first = await answerTo(relay, message(CHANNELS))
    expect(await answerTo(relay, message({ channels }))).toEqual({ ...first, mismatch: 'true' })
  })

  test.each([
    ['channels in another order', CHANNELS, { channels: ['b', 'a'] }],
    ['a channel named twice', CHANNELS, { channels: ['a', 'b', 'a'] }],
    ['an empty list of channels and none', { channels: [] }, {}],
    ['a field that we do not know', {}, { note: 'second try' }],
  ])('not %s', async (_, one, other) => {
    await using relay = await bootRelay()
    const first = await answerTo(relay, message(one))
    expect(await answerTo(relay, message(other))).toEqual({ ...first, mismatch: null })
  })

  const spelled = (payload: string) =>
    `{"event_type":"a.b","idempotency_key":"${KEY}","payload":${payload}}`

  test.each([
    ['between', '{ "a" : 1 ,\n"b" : [ ] }'],
    ['around', ' \t{"a":1,"b":[]}\r\n'],
  ])('not the same one with white space %s', async (_, payload) => {
    await using relay = await bootRelay()
    const { body } = await relay.spelled(spelled('{"a":1,"b":[]}'))

    const again = await relay.spelled(spelled(payload))

    expect(again).toMatchObject({ status: 202, body })
    expect(again.headers.has(MISMATCH)).toBe(false)
  })

  test('nor a large one that is all escapes, of which one more blank is another message', async () => {
    await using relay = await bootRelay()
    const large = (space: string) => `{"a":${space}"${'\\n'.repeat(131_000)}${space}"}`
    await relay.spelled(spelled(large('')))

    const spaced = await relay.spelled(spelled(large('').replace(':', ' :\t')))
    const other = await relay.spelled(spelled(large(' ')))

    expect(spaced.headers.has(MISMATCH)).toBe(false)
    expect(other.headers.get(MISMATCH)).toBe('true')
  })

  test('white space within text does, too', async () => {
    await using relay = await bootRelay()
    await relay.spelled(spelled('{"a":"x y"}'))

    const again = await relay.spelled(spelled('{"a":"xy"}'))

    expect(again.headers.get(MISMATCH)).toBe('true')
  })

  test.each([
    ['12345678901234567890', '12345678901234567891'],
    ['1e400', 'null'],
  ])('numbers beyond what JavaScript tells apart: %s and %s', async (one, other) => {
    await using relay = await bootRelay()
    const { body } = await relay.spelled(spelled(`{"a":${one}}`))

    const again = await relay.spelled(spelled(`{"a":${other}}`))

    expect(again).toMatchObject({ status: 202, body })
    expect(again.headers.get(MISMATCH)).toBe('true')
  })
})

describe('a key', () => {
  test.each(['x', 'x'.repeat(256), ' ', ' x ', 'ä漢', 'a\u0000b', "' or 1=1", '__proto__', '%00'])(
    'may be %j',
    async (idempotency_key) => {
      await using relay = await bootRelay()
      const first = await answerTo(relay, message({ idempotency_key }))
      expect(await answerTo(relay, message({ idempotency_key }))).toEqual(first)
      const read = await relay.read(`${MESSAGES}/${first.sent.id}`)
      expect(read.idempotency_key).toBe(idempotency_key)
    },
  )

  test('is another one with another case, space or accent', async () => {
    await using relay = await bootRelay()
    const keys = ['key', 'KEY', ' key', 'key ', 'ke\u0301y', 'k\u00e9y', 'key\u0000', 'key\u0000x']
    const ids = new Set<string>()
    for (const idempotency_key of keys)
      ids.add((await answerTo(relay, message({ idempotency_key }))).sent.id)

    expect(ids.size).toBe(keys.length)
  })

  test('of a test key is another than the same of a live one', async () => {
    await using relay = await bootRelay()
    const { live, test } = relay.acme
    const [one, other] = [
      await answerTo(live, message()),
      await answerTo(test, message({ payload: {} })),
    ]

    expect(other.mismatch).toBeNull()
    expect(other.sent.id).not.toBe(one.sent.id)
    expect(await answerTo(live, message())).toEqual(one)
    expect(await answerTo(test, message({ payload: {} }))).toEqual(other)
    expect(await listed(live)).toEqual([one.sent])
    expect(await listed(test)).toEqual([other.sent])
  })

  test('of one tenant is another than the same of the next', async () => {
    await using relay = await bootRelay()
    const next = await relay.party('Next')
    const [one, other] = [
      await answerTo(relay, message()),
      await answerTo(next.live, message({ payload: {} })),
    ]

    expect(other.mismatch).toBeNull()
    expect(other.sent.id).not.toBe(one.sent.id)
    expect(await answerTo(relay, message())).toEqual(one)
    expect(await listed(next.live)).toEqual([other.sent])
  })

  test('is shared by all keys of a tenant and environment', async () => {
    await using relay = await bootRelay()
    const { key } = await relay.acme.key('relay', 'live')
    const first = await answerTo(relay, message())

    expect(await answerTo(relay.speak(key), message())).toEqual(first)
  })
})

test('how long keys are known can be set', async () => {
  await using relay = await bootRelay({ flags: { 'relay-idempotency-window': '1h' } })
  const first = await answerTo(relay, message())
  relay.clock.jump(HOUR - 1)
  expect(await answerTo(relay, message())).toEqual(first)

  relay.clock.jump(1)

  expect((await answerTo(relay, message())).sent.id).not.toBe(first.sent.id)
})
