import { expect, test } from 'bun:test'
import { readUpdate } from '../../../../src/engines/passepartout/telegram/updates.ts'
import { seeded } from '../../gate/identities/documents/support.ts'

const NAMES = { first_name: 'Ada', last_name: 'Lovelace', username: 'ada', language_code: 'en-GB' }
const ADA = { id: 7_000_000_001, is_bot: false, ...NAMES }
const CHAT = { id: ADA.id, type: 'private' }

const named = { username: 'ada', firstName: 'Ada', lastName: 'Lovelace', languageCode: 'en-GB' }
const person = { id: '7000000001', ...named }
const nameless = { username: null, lastName: null, languageCode: null }

const message = (fields: object = {}) => ({
  update_id: 10,
  message: { message_id: 5, date: 1_772_366_400, from: ADA, chat: CHAT, text: 'Hello', ...fields },
})

const tap = (fields: object = {}) => ({
  update_id: 11,
  callback_query: {
    id: '4382bfdwdsb323b2d9',
    from: ADA,
    message: { message_id: 5, date: 1_772_366_400, chat: CHAT, text: 'Sign in?' },
    chat_instance: '1',
    data: 'approve:1',
    ...fields,
  },
})

/** From a person with this id, to whom the chat belongs. */
const from = (id: unknown) => message({ from: { ...ADA, id }, chat: { id, type: 'private' } })

test('A start with a payload follows a link, and anything else is only words', () => {
  const longest = `${'Az09_-'.repeat(10)}abcd`
  for (const [text, payload] of [
    ['/start abc', 'abc'],
    [`/start ${longest}`, longest],
    ['/start@gatehouse_bot abc', 'abc'],
  ]) {
    const update = { kind: 'started', person, payload }
    expect(readUpdate(message({ text }))).toEqual({ id: 10, update } as never)
  }
  for (const text of [
    ...['/start', `/start ${longest}x`, '/start a.b', '/start \u0430bc', '/start a b'],
    ...[
      '/start\nabc',
      '/start abc\n',
      'press /start abc',
      '/starts abc',
      ['/start abc'],
      undefined,
    ],
  ]) {
    const read = { id: 10, update: { kind: 'spoke' as const, person } }
    expect([text, readUpdate(message({ text }))]).toEqual([text, read])
  }
})

test('A tap is read with as much data as a button holds', () => {
  const known = { person, messageId: '5', callbackId: '4382bfdwdsb323b2d9', data: 'approve:1' }
  const update = { kind: 'tapped' as const, ...known }
  // Telegram tells no more of an old message.
  for (const old of [{}, { message: { chat: CHAT, message_id: 5, date: 0 } }])
    expect(readUpdate(tap(old))).toEqual({ id: 11, update })
  const longest = 'ü'.repeat(32)
  expect(readUpdate(tap({ data: longest }))).toMatchObject({ update: { data: longest } })
})

test('Updates from groups, bots and other kinds are skipped and count as received', () => {
  const { message: said } = message()
  const { callback_query: tapped } = tap()
  const chats = [
    ...['group', 'supergroup', 'channel'].map((type) => ({ id: -1001, type })),
    ...[{ id: ADA.id, type: 'Private' }, { id: 8, type: 'private' }, undefined],
  ]
  const senders = [{ ...ADA, is_bot: true }, { ...ADA, is_bot: 'yes' }, undefined, 'Ada']
  const kinds = ['edited_message', 'channel_post', 'business_message', 'telepathy']
  for (const update of [
    ...chats.map((chat) => message({ chat })),
    ...senders.map((sender) => message({ from: sender })),
    ...['7', -7, 0, 1.5, 2 ** 52].map(from),
    ...kinds.map((kind) => ({ [kind]: said })),
    ...[{}, { message: null }, { message: [said] }, { callback_query: [tapped] }],
    ...['ü'.repeat(33), undefined, 1].map((data) => tap({ data })),
    ...[undefined, 4382, '', 'x'.repeat(129)].map((id) => tap({ id })),
    ...[undefined, { chat: { id: -5, type: 'group' }, date: 0 }].map((at) => tap({ message: at })),
    tap({ message: { chat: { id: 8, type: 'private' }, date: 0 } }),
    ...[{ ...ADA, is_bot: true }, undefined].map((sender) => tap({ from: sender })),
  ])
    expect([update, readUpdate({ ...update, update_id: 10 })]).toEqual([
      update,
      { id: 10, update: undefined },
    ])
})

test('What has no valid id is no update', () => {
  const ids = ['1', null, 1.5, Number.NaN, 2 ** 53].map((update_id) => ({ update_id }))
  for (const raw of [undefined, null, 0, 'update_id', [{ update_id: 1 }], ...ids])
    expect([raw, readUpdate(raw)]).toEqual([raw, undefined])
})

const personOf = (sender: object) => readUpdate(message({ from: sender }))?.update?.person

test('A person has an id of at most 52 bits, safe names of their own, and needs no more', () => {
  const id = 2 ** 52 - 1
  expect(readUpdate(from(id))).toMatchObject({ update: { person: { id: `${id}` } } })
  expect(personOf({ id: ADA.id })).toMatchObject({ id: '7000000001', ...nameless })
  const hostile = { first_name: '\u202eadA\nYour code is 000', last_name: '\u200b' }
  const unsafe = { ...hostile, username: 'ada/../x', language_code: '<script>' }
  const safe = { id: '7000000001', firstName: 'adA Your code is 000', ...nameless }
  expect(personOf({ ...ADA, ...unsafe })).toEqual(safe)
  const inherited = `{"__proto__":{"from":{"id":7},"chat":{"id":7,"type":"private"}}}`
  const update = JSON.parse(`{"update_id":1,"message":${inherited}}`)
  expect(readUpdate(update)).toEqual({ id: 1, update: undefined })
})

test('Any update is read without an error, and only those of people in private count', () => {
  const random = seeded(20261122)
  const pick = <T>(values: readonly T[]): T => values[random(values.length)] as T
  const ODD = [
    ...[undefined, null, true, 0, -1, 1.5, 2 ** 53, Number.NaN, '', '/start abc', 'private'],
    ...['\ud800', '\u202e\n', [], {}, { id: {} }, { toString: null }, Object.create(null)],
    JSON.parse('{"__proto__":1,"constructor":null,"toString":1}'),
  ]
  /** The same with odd values in places. */
  const spoilt = (value: unknown): unknown => {
    if (random(12) === 0) return pick(ODD)
    if (Array.isArray(value)) return value.map(spoilt)
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([key, field]) => [key, spoilt(field)]))
  }
  const kinds = new Set<string | undefined>()
  for (let round = 0; round < 2000; round++) {
    const raw = spoilt(pick([message(), message({ text: '/start abc' }), tap()]))
    const update = readUpdate(raw)?.update
    kinds.add(update?.kind)
    if (!update) continue
    const by = { from: { id: ADA.id } }
    expect(raw).toMatchObject(
      update.kind === 'tapped'
        ? { callback_query: { ...by, message: { chat: CHAT } } }
        : { message: { ...by, chat: CHAT } },
    )
    expect(update.person.id).toBe('7000000001')
    expect(update.person.firstName).toMatch(/^[^\p{Cc}\p{Cs}\u202e]+$/u)
  }
  expect(kinds).toEqual(new Set([undefined, 'started', 'spoke', 'tapped']))
})
