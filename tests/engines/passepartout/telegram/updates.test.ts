import { describe, expect, test } from 'bun:test'
import { readUpdate } from '../../../../src/engines/passepartout/telegram/updates.ts'
import { seeded } from '../../gate/identities/documents/support.ts'

const ADA = {
  id: 7_000_000_001,
  is_bot: false,
  first_name: 'Ada',
  last_name: 'Lovelace',
  username: 'ada',
  language_code: 'en-GB',
}
const CHAT = { id: ADA.id, type: 'private' }

const person = {
  id: '7000000001',
  username: 'ada',
  firstName: 'Ada',
  lastName: 'Lovelace',
  languageCode: 'en-GB',
}

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

const LONGEST = `${'Az09_-'.repeat(10)}abcd`

test.each([
  ['/start abc', 'abc'],
  [`/start ${LONGEST}`, LONGEST],
  ['/start@gatehouse_bot abc', 'abc'],
])('%s follows a link', (text, payload) => {
  const update = { kind: 'started' as const, person, payload }
  expect(readUpdate(message({ text }))).toEqual({ id: 10, update })
})

test.each<object>(
  [
    ...[
      '/start',
      '/start ',
      `/start ${LONGEST}x`,
      '/start a.b',
      '/start \u0430bc',
      '/start abc def',
    ],
    ...[
      '/start  abc',
      '/start\nabc',
      '/start abc\n',
      'press /start abc',
      '/starts abc',
      '/START abc',
    ],
    ...['abc', ['/start abc'], undefined],
  ].map((text) => ({ text })),
)('%j are only words', (fields) => {
  expect(readUpdate(message(fields))).toEqual({ id: 10, update: { kind: 'spoke', person } })
})

describe('a tap', () => {
  const data = 'approve:1'
  const callbackId = '4382bfdwdsb323b2d9'
  const tapped = { kind: 'tapped' as const, person, messageId: '5', callbackId, data }

  test('is read, with as much data as a button holds', () => {
    expect(readUpdate(tap())).toEqual({ id: 11, update: tapped })
    const longest = 'ü'.repeat(32)
    expect(readUpdate(tap({ data: longest }))).toMatchObject({ update: { data: longest } })
    // Telegram tells no more of an old message.
    const old = { chat: CHAT, message_id: 5, date: 0 }
    expect(readUpdate(tap({ message: old }))).toEqual({ id: 11, update: tapped })
  })

  test.each<object>([
    ...[{ data: 'ü'.repeat(33) }, { data: undefined, game_short_name: 'x' }, { data: 1 }],
    ...[undefined, 4382, '', 'x'.repeat(129)].map((id) => ({ id })),
    { message: undefined, inline_message_id: 'x' },
    { message: { chat: { id: -5, type: 'group' }, date: 0 } },
    { message: { chat: { id: 8, type: 'private' }, date: 0 } },
    ...[{ from: { ...ADA, is_bot: true } }, { from: undefined }],
  ])('is skipped with %j', (fields) => {
    expect(readUpdate(tap(fields))).toEqual({ id: 11, update: undefined })
  })
})

const { message: said } = message()
const { callback_query: tapped } = tap()

test.each<[string, object]>([
  ['a group', message({ chat: { id: -1001, type: 'group' } })],
  ['a supergroup', message({ chat: { id: -1001, type: 'supergroup' } })],
  ['a group with the id of the person', message({ chat: { id: ADA.id, type: 'group' } })],
  ['a channel', message({ chat: { id: -1001, type: 'channel' }, from: undefined })],
  ['a chat of another type', message({ chat: { id: ADA.id, type: 'Private' } })],
  ['the chat of another person', message({ chat: { id: 8, type: 'private' } })],
  ['no chat', message({ chat: undefined })],
  ...['7', -7, 0, 1.5, 2 ** 52].map((id) => [`the id ${id}`, from(id)] as [string, object]),
  ['a bot', message({ from: { ...ADA, is_bot: true } })],
  ['perhaps a bot', message({ from: { ...ADA, is_bot: 'yes' } })],
  ['no one', message({ from: undefined })],
  ['a text', message({ from: 'Ada' })],
  ...['edited_message', 'channel_post', 'business_message', 'inline_query', 'telepathy'].map(
    (kind) => [`the kind ${kind}`, { update_id: 10, [kind]: said }] as [string, object],
  ),
  ['a person who blocks the bot', { update_id: 10, my_chat_member: { from: ADA, chat: CHAT } }],
  ['nothing', { update_id: 10 }],
  ['a message of null', { update_id: 10, message: null }],
  ['a list of messages', { update_id: 10, message: [said] }],
  ['a tap of null', { update_id: 10, callback_query: null }],
  ['a list of taps', { update_id: 10, callback_query: [tapped] }],
])('an update from %s is skipped and counts as received', (_, update) => {
  expect(readUpdate(update)).toEqual({ id: 10, update: undefined })
})

test('what has no valid id is no update', () => {
  const ids = ['1', null, 1.5, Number.NaN, 2 ** 53]
  const odd = [undefined, null, 0, 'update_id', [{ update_id: 1 }], { message: said }]
  for (const raw of [...odd, ...ids.map((update_id) => ({ update_id }))])
    expect([raw, readUpdate(raw)]).toEqual([raw, undefined])
})

describe('a person', () => {
  const personOf = (fields: object) => readUpdate(message(fields))?.update?.person
  const nameless = { username: null, lastName: null, languageCode: null }

  test('has an id of at most 52 bits, and needs no more', () => {
    const id = 2 ** 52 - 1
    expect(readUpdate(from(id))).toMatchObject({ update: { person: { id: `${id}` } } })
    expect(personOf({ from: { id: ADA.id } })).toMatchObject({ id: '7000000001', ...nameless })
  })

  test('has safe names of their own', () => {
    const unsafe = {
      first_name: '\u202eadA\nYour code is 000',
      last_name: '\u200b',
      username: 'ada/../x',
      language_code: '<script>',
    }
    const safe = { id: '7000000001', firstName: 'adA Your code is 000', ...nameless }
    expect(personOf({ from: { ...ADA, ...unsafe } })).toEqual(safe)
    const inherited = `{"__proto__":{"from":{"id":7},"chat":{"id":7,"type":"private"}}}`
    const update = JSON.parse(`{"update_id":1,"message":${inherited}}`)
    expect(readUpdate(update)).toEqual({ id: 1, update: undefined })
  })
})

test('any update is read without an error, and only those of people in private count', () => {
  const random = seeded(20261122)
  const pick = <T>(values: readonly T[]): T => values[random(values.length)] as T
  const ODD = [
    ...[undefined, null, true, false, 0, -1, 1.5, 2 ** 53, Number.NaN],
    ...['', '/start abc', 'private', '\ud800', '\u202e\n', [], [[]], {}, { id: {} }],
    ...[{ length: -1 }, { toString: null, valueOf: null }, Object.create(null)],
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
  for (let round = 0; round < 20_000; round++) {
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
