import { describe, expect, test } from 'bun:test'
import { MessengerError } from '../../../../src/engines/passepartout/messenger.ts'
import {
  type BotApi,
  createTelegram,
} from '../../../../src/engines/passepartout/telegram/client.ts'
import { createTestClock } from '../../../support/clock.ts'
import { startTarget } from '../../../support/target.ts'

const SECRET = 'AAF-x_Y7ofsecretsofsecretsofsecrets'
const TOKEN = `123456789:${SECRET}`
const ME = { id: 123456789, is_bot: true, first_name: 'Acme', username: 'acme_bot' }
const ASK = { text: 'Sign in?', buttons: [[{ label: 'Deny', data: 'd:1' }]] }
const POLL = { limit: 100, holdSeconds: 30, signal: new AbortController().signal }
const PREVIEW = { link_preview_options: { is_disabled: true } }
const KINDS = ['message', 'callback_query']

/** A bot, and a Bot API server that answers so. */
function botOf(answer: () => Response | Promise<Response>, token = TOKEN, path = '') {
  const target = startTarget(answer)
  const clock = createTestClock('2026-03-01T12:00:00.000Z')
  const { origin, host } = new URL(target.url)
  const bot = createTelegram({ clock, apiRoot: origin + path })(token)
  const { requests, stop } = target
  return { bot, clock, host, requests, stop, [Symbol.asyncDispose]: stop }
}

const done = (result: unknown) => Response.json({ ok: true, result })

const refusal = (status: number, description: string, parameters?: object) =>
  Response.json({ ok: false, error_code: status, description, parameters }, { status })

async function errorOf(call: Promise<unknown>): Promise<MessengerError> {
  const error = await call.then(
    () => expect.unreachable('was answered'),
    (reason: unknown) => reason,
  )
  if (!(error instanceof MessengerError)) throw error
  expect(Bun.inspect(error)).not.toContain(SECRET)
  expect(error.cause).toBeUndefined()
  return error
}

const url = 'https://gatehouse.example/hook'
const HOOK = { url, secret: 's-1' }
const BUTTONS = [
  [
    { label: '41', data: 'n:41' },
    { label: '42', data: 'ü'.repeat(32) },
  ],
  [{ label: 'Deny', data: 'd' }],
]
const KEYBOARD = {
  inline_keyboard: [
    [
      { text: '41', callback_data: 'n:41' },
      { text: '42', callback_data: 'ü'.repeat(32) },
    ],
    [{ text: 'Deny', callback_data: 'd' }],
  ],
}
const HALVES = { text: `${'x'.repeat(4095)}😀`, buttons: [] }
const FULL = { text: `${'x'.repeat(4094)}😀y`, buttons: [] }
const LONE = { text: 'a\ud800b', buttons: [] }
const hooked = (fields: object) => ({ url, pending_update_count: 0, ...fields })
const quoting = hooked({
  url: `https://other.example/${TOKEN}`,
  last_error_message: `404 at ${TOKEN}`,
})

/** What a call sends, what Telegram answers, and what that is read as. */
type Case = [
  method: string,
  call: (bot: BotApi) => Promise<unknown>,
  sent: object,
  answer: unknown,
  read: unknown,
]

const info = (answer: object, read: object): Case => [
  'getWebhookInfo',
  (bot) => bot.getWebhookInfo(),
  {},
  answer,
  read,
]

const said = (message: typeof FULL, text: string): Case => [
  'sendMessage',
  (bot) => bot.say('7', message),
  { chat_id: 7, text, ...PREVIEW },
  { message_id: 77 },
  '77',
]

const edited = (buttons: typeof BUTTONS, reply_markup: object): Case => [
  'editMessageText',
  (bot) => bot.edit('7', '77', { text: 'Done', buttons }),
  { chat_id: 7, message_id: 77, text: 'Done', ...PREVIEW, reply_markup },
  true,
  undefined,
]

const me = { ...ME, first_name: '\u202eAc\nme', can_join_groups: true }
const lastError = '404 at 123456789:…'

describe('a call', () => {
  test.each<Case>([
    [
      'getMe',
      (bot) => bot.getMe(),
      {},
      me,
      { id: `${ME.id}`, username: 'acme_bot', name: 'Ac me' },
    ],
    info(hooked({ pending_update_count: 2, last_error_message: 'Wrong:\n502' }), {
      url,
      pending: 2,
      lastError: 'Wrong: 502',
    }),
    info(hooked({ url: '' }), { url: '', pending: 0, lastError: null }),
    info(quoting, { url: 'https://other.example/123456789:…', pending: 0, lastError }),
    [
      'setWebhook',
      (bot) => bot.setWebhook(HOOK),
      { url, secret_token: 's-1', allowed_updates: KINDS, drop_pending_updates: false },
      true,
      undefined,
    ],
    [
      'deleteWebhook',
      (bot) => bot.deleteWebhook(),
      { drop_pending_updates: false },
      true,
      undefined,
    ],
    [
      'getUpdates',
      (bot) => bot.getUpdates({ ...POLL, offset: 8 }),
      { offset: 8, limit: 100, timeout: 30, allowed_updates: KINDS },
      [{ update_id: 8 }, 'odd'],
      [{ update_id: 8 }, 'odd'],
    ],
    [
      'getUpdates',
      (bot) => bot.getUpdates({ ...POLL, holdSeconds: 0 }),
      { limit: 100, timeout: 0, allowed_updates: KINDS },
      [],
      [],
    ],
    [
      'sendMessage',
      (bot) => bot.say('7000000001', { text: '<b>*Sign in?*', buttons: BUTTONS }),
      { chat_id: 7_000_000_001, text: '<b>*Sign in?*', ...PREVIEW, reply_markup: KEYBOARD },
      { message_id: 77 },
      '77',
    ],
    said(FULL, `${'x'.repeat(4094)}😀`),
    said(HALVES, 'x'.repeat(4095)),
    said(LONE, 'a\ufffdb'),
    edited(BUTTONS, KEYBOARD),
    edited([], { inline_keyboard: [] }),
    [
      'answerCallbackQuery',
      (bot) => bot.answerCallback('4382', `${'x'.repeat(199)}😀`),
      { callback_query_id: '4382', text: 'x'.repeat(199) },
      true,
      undefined,
    ],
  ])('of %s sends JSON and reads the answer', async (method, call, sent, answer, read) => {
    await using fixture = botOf(() => done(answer))
    expect(await call(fixture.bot)).toEqual(read)
    const [request] = fixture.requests
    expect([request?.method, request?.path]).toEqual(['POST', `/bot${TOKEN}/${method}`])
    expect(request?.headers.get('content-type')).toBe('application/json')
    expect(JSON.parse(request?.body ?? '')).toEqual(sent)
  })

  test('keeps the path of the API root', async () => {
    await using fixture = botOf(() => done(ME), TOKEN, '/telegram')
    await fixture.bot.getMe()
    expect(fixture.requests[0]?.path).toBe(`/telegram/bot${TOKEN}/getMe`)
  })

  test('refuses data that no button holds before it is sent', async () => {
    await using fixture = botOf(() => done({ message_id: 77 }))
    const message = { text: 'x', buttons: [[{ label: 'x', data: `${'ü'.repeat(32)}x` }]] }
    await expect(fixture.bot.say('7', message)).rejects.toBeInstanceOf(RangeError)
    await expect(fixture.bot.edit('7', '77', message)).rejects.toBeInstanceOf(RangeError)
    expect(fixture.requests).toEqual([])
  })

  test.each<object>([
    ...[{ is_bot: false }, { is_bot: undefined }],
    ...[{ username: undefined }, { username: 'acme/../x' }],
  ])('of getMe refuses what is no bot: %j', async (fields) => {
    await using fixture = botOf(() => done({ ...ME, ...fields }))
    expect(await errorOf(fixture.bot.getMe())).toMatchObject({ reason: 'refused' })
  })

  test('of getUpdates reads up to 16 MB', async () => {
    const lengths = [15_900_000, 16_000_000]
    await using fixture = botOf(() => done(['x'.repeat(lengths.shift() ?? 0)]))
    expect(await fixture.bot.getUpdates(POLL)).toHaveLength(1)
    expect(await errorOf(fixture.bot.getUpdates(POLL))).toMatchObject({ reason: 'unavailable' })
  })

  test('ends with its signal', async () => {
    const asked = Promise.withResolvers<void>()
    await using fixture = botOf(() => {
      asked.resolve()
      return new Promise<Response>(() => {})
    })
    const aborted = fixture.bot.getUpdates({ ...POLL, signal: AbortSignal.abort() })
    expect(await errorOf(aborted)).toMatchObject({ reason: 'unavailable' })
    expect(fixture.requests).toEqual([])
    const caller = new AbortController()
    const error = errorOf(fixture.bot.getUpdates({ ...POLL, signal: caller.signal }))
    await asked.promise
    caller.abort()
    expect(await error).toMatchObject({ reason: 'unavailable' })
  })
})

describe('a refusal', () => {
  test.each([
    [400, 'refused', 'Bad Request: chat not found'],
    [401, 'unauthorized', 'Unauthorized'],
    [402, 'refused', 'Payment Required'],
    [403, 'forbidden', 'Forbidden: bot was blocked by the user'],
    [404, 'unauthorized', 'Not Found'],
    [409, 'conflict', 'Conflict: terminated by other getUpdates request'],
    [420, 'refused', 'Flood'],
    [500, 'unavailable', 'Internal Server Error'],
    [502, 'unavailable', 'Bad Gateway'],
  ] as const)('with %i is %s', async (status, reason, description) => {
    await using fixture = botOf(() => refusal(status, description))
    const error = await errorOf(fixture.bot.say('7', ASK))
    expect(error).toMatchObject({ reason, message: `sendMessage: ${description}` })
    expect(error.retryAfterMs).toBeUndefined()
  })

  test.each([
    [{ retry_after: 35 }, 35_000],
    [{ retry_after: 86_400 }, 3_600_000],
    [undefined, 5000],
    [{ retry_after: '35' }, 5000],
    [{ retry_after: -1 }, 5000],
  ])('with 429 and %j is waited for', async (parameters, retryAfterMs) => {
    await using fixture = botOf(() => refusal(429, 'Too Many Requests', parameters))
    const error = await errorOf(fixture.bot.say('7', ASK))
    expect(error).toMatchObject({ reason: 'rate_limited', retryAfterMs })
  })

  const edit = (bot: BotApi) => bot.edit('7', '77', ASK)
  const answer = (bot: BotApi) => bot.answerCallback('4382', 'Approved')
  const SAME = 'message is not modified'
  test.each([
    [edit, 400, `Bad Request: ${SAME}: specified new message content and reply markup are`, null],
    [edit, 400, 'Bad Request: message to edit not found', 'refused'],
    [edit, 500, SAME, 'unavailable'],
    [answer, 400, 'Bad Request: query is too old and response timeout expired or query', null],
    [answer, 400, 'Bad Request: QUERY_ID_INVALID: query ID is invalid', null],
    [answer, 400, 'Bad Request: MESSAGE_TOO_LONG', 'refused'],
  ] as const)('of %p with %d %s is %p', async (call, status, description, reason) => {
    await using fixture = botOf(() => refusal(status, description))
    if (reason === null) await call(fixture.bot)
    else expect(await errorOf(call(fixture.bot))).toMatchObject({ reason })
  })

  test('is told on one line of at most 200 characters, or by its status', async () => {
    const long = `Bad\r\nRequest \u202e${'😀'.repeat(300)}`
    await using wordy = botOf(() => refusal(400, long))
    const { message } = await errorOf(wordy.bot.deleteWebhook())
    expect(message).toStartWith('deleteWebhook: Bad Request  😀')
    expect([...message]).toHaveLength('deleteWebhook: '.length + 200)
    for (const description of [undefined, { toString: 1 }, '']) {
      await using silent = botOf(() => Response.json({ ok: false, description }, { status: 400 }))
      const error = await errorOf(silent.bot.getMe())
      expect(error).toMatchObject({ reason: 'refused', message: 'getMe: status 400' })
    }
  })

  test.each([TOKEN, encodeURIComponent(TOKEN), SECRET, TOKEN.toLowerCase()])(
    'that quotes the token as %s does not give it away',
    async (quoted) => {
      const far = 'x'.repeat(185)
      await using fixture = botOf(() => refusal(400, `no ${quoted}, ${quoted} ${far} ${quoted}`))
      const { message } = await errorOf(fixture.bot.getMe())
      expect(message).toStartWith('getMe: no ')
      expect(message.toLowerCase()).not.toContain(SECRET.slice(0, 4).toLowerCase())
    },
  )
})

describe('an invalid answer makes the API unavailable:', () => {
  test.each<[string, () => Response]>([
    ['a page', () => new Response('<h1>Welcome</h1>')],
    ['a page with 404', () => new Response('<h1>404</h1>', { status: 404 })],
    ['a page with 401', () => new Response('<h1>401</h1>', { status: 401 })],
    ['JSON of another API', () => Response.json({ error: 'not found' }, { status: 404 })],
    ['nothing', () => new Response(null, { status: 204 })],
    ['half of JSON', () => new Response('{"ok":true,"result":')],
    ['JSON of great depth', () => new Response('['.repeat(500_000))],
    ['null', () => Response.json(null)],
    ['a number', () => Response.json(7)],
    ['a list', () => Response.json([{ ok: true }])],
    ['success that is a text', () => Response.json({ ok: 'true', result: ME })],
    ['success with a failing status', () => Response.json({ ok: true }, { status: 400 })],
    ['failure with a good status', () => Response.json({ ok: false, description: 'x' })],
    ['a redirect', () => Response.redirect('/elsewhere', 302)],
    ['more than is read', () => done('x'.repeat(1_000_000))],
  ])('%s', async (_, answer) => {
    await using fixture = botOf(answer)
    const error = await errorOf(fixture.bot.deleteWebhook())
    expect(error).toMatchObject({ reason: 'unavailable' })
    expect(error.message).toStartWith('deleteWebhook: ')
    expect(error.message.length).toBeLessThan(250)
    expect(fixture.requests).toHaveLength(1)
  })

  const odd = [undefined, null, 1, 'x', true, {}, { id: '7', message_id: '7', url: 7, length: 1 }]
  test.each<[string, (bot: BotApi) => Promise<unknown>]>([
    ['getMe', (bot) => bot.getMe()],
    ['getWebhookInfo', (bot) => bot.getWebhookInfo()],
    ['sendMessage', (bot) => bot.say('7', ASK)],
    ['getUpdates', (bot) => bot.getUpdates(POLL)],
  ])('an odd result of %s', async (method, call) => {
    const results = [...odd]
    await using fixture = botOf(() => done(results.shift()))
    for (const _ of odd) {
      const error = await errorOf(call(fixture.bot))
      expect(error).toMatchObject({ reason: 'unavailable', message: `${method}: invalid response` })
    }
  })
})

describe('without an answer the API is unavailable', () => {
  test('at once where no server listens, told by its host alone', async () => {
    const fixture = botOf(() => done(ME))
    await fixture.stop()
    expect(await errorOf(fixture.bot.getMe())).toMatchObject({
      reason: 'unavailable',
      message: `getMe: ${fixture.host} cannot be reached (ECONNREFUSED)`,
    })
  })

  test.each<[string, number, (bot: BotApi) => Promise<unknown>]>([
    ['10 s', 10_000, (bot) => bot.say('7', ASK)],
    ['10 s more than it is held', 40_000, (bot) => bot.getUpdates(POLL)],
  ])('after %s', async (_, deadlineMs, call) => {
    const asked = Promise.withResolvers<void>()
    await using fixture = botOf(() => {
      asked.resolve()
      return new Promise<Response>(() => {})
    })
    let isOver = false
    const error = errorOf(call(fixture.bot)).finally(() => {
      isOver = true
    })
    await asked.promise
    await fixture.clock.advance(deadlineMs - 1)
    expect(isOver).toBe(false)
    await fixture.clock.advance(1)
    expect((await error).message).toEndWith('did not respond completely in time')
  })
})

test.each(['1:a', `${'9'.repeat(20)}:${'-'.repeat(64)}${'_'.repeat(64)}`])(
  'the token %s is used',
  async (token) => {
    await using fixture = botOf(() => done(ME), token)
    await fixture.bot.getMe()
    expect(fixture.requests[0]?.path).toBe(`/bot${token}/getMe`)
  },
)

test.each([
  ...['', '123:', ':abc', '1:a/../../x', '1:a?x=', '1:a#', '1:a%2f', '1:a\n', '1:\u0430'],
  ...['\u0661:a', `1:${'a'.repeat(129)}`, `${'1'.repeat(21)}:a`],
])('the malformed token %j is not sent', async (token) => {
  await using fixture = botOf(() => done(ME), token)
  expect(await errorOf(fixture.bot.getMe())).toMatchObject({
    reason: 'unauthorized',
    message: 'getMe: the token is malformed',
  })
  expect(fixture.requests).toEqual([])
})
