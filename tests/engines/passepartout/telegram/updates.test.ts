import { describe, expect, test } from 'bun:test'
import type { ChatUpdate } from '../../../../src/engines/passepartout/messenger.ts'
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
const ALONE = { id: ADA.id, type: 'private' }
const CHAT = { ...ALONE, first_name: 'Ada' }

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

const MAX_PAYLOAD_LENGTH = `${'Az09_-'.repeat(10)}abcd`

describe('a link was followed', () => {
  test.each([
    ['/start abc', 'abc'],
    [`/start ${MAX_PAYLOAD_LENGTH}`, MAX_PAYLOAD_LENGTH],
    ['/start@gatehouse_bot abc', 'abc'],
  ])('with %s', (text, payload) => {
    expect(readUpdate(message({ text }))).toEqual({
      id: 10,
      update: { kind: 'started', person, payload },
    })
  })

  test.each([
    ['alone', '/start'],
    ['with nothing behind the space', '/start '],
    ['with a payload that is too long', `/start ${MAX_PAYLOAD_LENGTH}x`],
    ['with signs that no link has', '/start a.b'],
    ['with letters of other scripts', '/start \u0430bc'],
    ['with two payloads', '/start abc def'],
    ['with a line behind it', '/start abc\n'],
    ['in the midst of a text', 'press /start abc'],
    ['as another command', '/starts abc'],
    ['in capitals', '/START abc'],
  ])('but not %s: then it is only words', (_, text) => {
    expect(readUpdate(message({ text }))).toEqual({ id: 10, update: { kind: 'spoke', person } })
  })
})

test.each<[string, object]>([
  ['a picture', { text: undefined, photo: [{ file_id: 'x' }] }],
  ['a text that is none', { text: ['/start abc'] }],
  ['something forwarded', { text: 'x', forward_origin: { type: 'user' } }],
])('%s is somebody speaking', (_, fields) => {
  expect(readUpdate(message(fields))).toEqual({ id: 10, update: { kind: 'spoke', person } })
})

describe('a button was tapped', () => {
  const tapped: ChatUpdate = {
    kind: 'tapped',
    person,
    messageId: '5',
    callbackId: '4382bfdwdsb323b2d9',
    data: 'approve:1',
  }

  test('under a message of ours', () => {
    expect(readUpdate(tap())).toEqual({ id: 11, update: tapped })
  })

  test('under a message that Telegram does not tell more of', () => {
    const inaccessible = { chat: CHAT, message_id: 5, date: 0 }

    expect(readUpdate(tap({ message: inaccessible }))).toEqual({ id: 11, update: tapped })
  })

  test('with as much data as a button holds', () => {
    const data = 'ü'.repeat(32)

    expect(readUpdate(tap({ data }))).toMatchObject({ update: { data } })
  })

  test.each<[string, object]>([
    ['more data than a button holds', { data: 'ü'.repeat(33) }],
    ['no data, as a game has', { data: undefined, game_short_name: 'x' }],
    ['data that is no text', { data: 1 }],
    ['no id to answer to', { id: undefined }],
    ['an id that is a number', { id: 4382 }],
    ['an empty id', { id: '' }],
    ['an id of any length', { id: 'x'.repeat(129) }],
    ['no message, as inline ones have', { message: undefined, inline_message_id: 'x' }],
    ['a message in a group', { message: { chat: { id: -5, type: 'group' }, date: 0 } }],
    ['a message to somebody else', { message: { chat: { id: 8, type: 'private' }, date: 0 } }],
    ['a bot that taps', { from: { ...ADA, is_bot: true } }],
    ['nobody who taps', { from: undefined }],
  ])('but not with %s', (_, fields) => {
    expect(readUpdate(tap(fields))).toEqual({ id: 11, update: undefined })
  })
})

describe('nothing that concerns us is', () => {
  const { message: said } = message()
  const { callback_query: tapped } = tap()

  test.each([
    ['a message in a group', message({ chat: { id: -1001, type: 'group' } })],
    ['a message in a supergroup', message({ chat: { id: -1001, type: 'supergroup' } })],
    ['a group with the id of a person', message({ chat: { id: ADA.id, type: 'group' } })],
    ['a message in a channel', message({ chat: { id: -1001, type: 'channel' }, from: undefined })],
    ['a chat of some other type', message({ chat: { id: ADA.id, type: 'Private' } })],
    ['a private chat with somebody else', message({ chat: { id: 8, type: 'private' } })],
    ['an id as text', message({ from: { ...ADA, id: '7' }, chat: { id: '7', type: 'private' } })],
    ['a negative id', message({ from: { ...ADA, id: -7 }, chat: { id: -7, type: 'private' } })],
    ['no id', message({ from: { ...ADA, id: 0 }, chat: { id: 0, type: 'private' } })],
    ['half an id', message({ from: { ...ADA, id: 1.5 }, chat: { id: 1.5, type: 'private' } })],
    [
      'an id of 53 bits',
      message({ from: { ...ADA, id: 2 ** 52 }, chat: { id: 2 ** 52, type: 'private' } }),
    ],
    ['a bot', message({ from: { ...ADA, is_bot: true } })],
    ['perhaps a bot', message({ from: { ...ADA, is_bot: 'yes' } })],
    ['a message from nobody', message({ from: undefined })],
    ['a message from a text', message({ from: 'Ada' })],
    ['a message nowhere', message({ chat: undefined })],
    ['an edited message', { update_id: 10, edited_message: said }],
    ['a channel post', { update_id: 10, channel_post: said }],
    ['a business message', { update_id: 10, business_message: said }],
    ['an inline query', { update_id: 10, inline_query: { id: '1', from: ADA, query: '' } }],
    ['somebody who blocks the bot', { update_id: 10, my_chat_member: { from: ADA, chat: CHAT } }],
    ['an update without anything', { update_id: 10 }],
    ['a message of null', { update_id: 10, message: null }],
    ['a list of messages', { update_id: 10, message: [said] }],
    ['a tap in a list', { update_id: 10, callback_query: [tapped] }],
    ['a tap of null', { update_id: 10, callback_query: null }],
    ['something new', { update_id: 10, telepathy: said }],
  ])('%s, whose update still counts as received', (_, update) => {
    expect(readUpdate(update)).toEqual({ id: 10, update: undefined })
  })
})

describe('no update is', () => {
  test.each([
    ['nothing', undefined],
    ['null', null],
    ['a number', 0],
    ['a text', 'update_id'],
    ['a list', [{ update_id: 1 }]],
    ['an object without an id', { message: message().message }],
    ['one whose id is a text', { update_id: '1' }],
    ['one whose id is null', { update_id: null }],
    ['one whose id is no integer', { update_id: 1.5 }],
    ['one whose id is no number', { update_id: Number.NaN }],
    ['one whose id is not safe', { update_id: 2 ** 53 }],
  ])('%s', (_, raw) => {
    expect(readUpdate(raw)).toBeUndefined()
  })
})

describe('a person', () => {
  const personOf = (from: object) =>
    readUpdate(message({ from: { ...ADA, ...from } }))?.update?.person

  test('with all the bits that an id may have is known by them', () => {
    const id = 2 ** 52 - 1

    expect(
      readUpdate(message({ from: { ...ADA, id }, chat: { id, type: 'private' } })),
    ).toMatchObject({ update: { person: { id: '4503599627370495' } } })
  })

  test('needs no more than an id', () => {
    const { id } = ADA

    expect(readUpdate(message({ from: { id } }))).toMatchObject({
      update: { person: { id: '7000000001', username: null, lastName: null, languageCode: null } },
    })
  })

  test('has names free of tricks', () => {
    expect(
      personOf({
        first_name: '\u202eadA\nYour code is 000',
        last_name: '\u200b',
        username: 'ada/../x',
        language_code: '<script>',
      }),
    ).toEqual({
      id: '7000000001',
      username: null,
      firstName: 'adA Your code is 000',
      lastName: null,
      languageCode: null,
    })
  })

  test('does not borrow names from what every object has', () => {
    const update = JSON.parse(
      `{"update_id":1,"message":{"__proto__":{"from":{"id":7},"chat":{"id":7,"type":"private"}}}}`,
    )

    expect(readUpdate(update)).toEqual({ id: 1, update: undefined })
  })
})

describe('whatever an update is made of', () => {
  const random = seeded(20261122)
  const pick = <T>(values: readonly T[]): T => values[random(values.length)] as T
  const ODD = [
    undefined,
    null,
    true,
    false,
    0,
    -1,
    1.5,
    2 ** 53,
    Number.NaN,
    '',
    '/start abc',
    'private',
    '\ud800',
    '\u202e\n',
    [],
    [[]],
    {},
    { id: {} },
    { length: -1 },
    { toString: null, valueOf: null },
    JSON.parse('{"__proto__":1,"constructor":null,"toString":1}'),
    Object.create(null),
  ]

  /** The same with something odd in places. */
  const spoilt = (value: unknown): unknown => {
    if (random(12) === 0) return pick(ODD)
    if (Array.isArray(value)) return value.map(spoilt)
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([key, field]) => [key, spoilt(field)]))
  }

  test('it is read without an error, and no update comes of it but by somebody in private', () => {
    const kinds = new Set<string | undefined>()

    for (let round = 0; round < 20_000; round++) {
      const raw = spoilt(pick([message(), message({ text: '/start abc' }), tap()]))
      const update = readUpdate(raw)?.update

      kinds.add(update?.kind)
      if (!update) continue
      expect(raw).toMatchObject(
        update.kind === 'tapped'
          ? { callback_query: { from: { id: ADA.id }, message: { chat: ALONE } } }
          : { message: { from: { id: ADA.id }, chat: ALONE } },
      )
      expect(update.person.id).toBe('7000000001')
      expect(update.person.firstName).toMatch(/^[^\p{Cc}\p{Cs}\u202e]+$/u)
    }

    expect(kinds).toEqual(new Set([undefined, 'started', 'spoke', 'tapped']))
  })
})
