import { describe, expect, test } from 'bun:test'
import { MessengerError } from '../../../../src/engines/passepartout/messenger.ts'
import {
  type BotApi,
  createTelegram,
} from '../../../../src/engines/passepartout/telegram/client.ts'
import { createTestClock } from '../../../support/clock.ts'
import { type ReceivedRequest, startTarget } from '../../../support/target.ts'

const SECRET = 'AAF-x_Y7ofsecretsofsecretsofsecrets'
const TOKEN = `123456789:${SECRET}`
const ME = { id: 123456789, is_bot: true, first_name: 'Acme', username: 'acme_bot' }
const ASK = { text: 'Sign in?', buttons: [[{ label: 'Deny', data: 'd:1' }]] }
const POLL = { limit: 100, holdSeconds: 30, signal: new AbortController().signal }

/** A bot, and the API that answers it. */
function botOf(
  answer: (request: ReceivedRequest) => Response | Promise<Response>,
  { token = TOKEN } = {},
) {
  const target = startTarget(answer)
  const clock = createTestClock('2026-03-01T12:00:00.000Z')
  const { origin, host } = new URL(target.url)
  return {
    bot: createTelegram({ clock, apiRoot: origin })(token),
    clock,
    host,
    origin,
    requests: target.requests,
    /** What the bot sent, once. */
    sent: () => {
      expect(target.requests).toHaveLength(1)
      const [{ method = '', path = '', headers = new Headers(), body = '' } = {}] = target.requests
      expect([method, headers.get('content-type')]).toEqual(['POST', 'application/json'])
      return [path, JSON.parse(body)]
    },
    stop: target.stop,
    [Symbol.asyncDispose]: target[Symbol.asyncDispose],
  }
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

describe('getMe', () => {
  test('says whose token it is', async () => {
    await using fixture = botOf(() => done({ ...ME, can_join_groups: true }))

    expect(await fixture.bot.getMe()).toEqual({
      id: '123456789',
      username: 'acme_bot',
      name: 'Acme',
    })
    expect(fixture.sent()).toEqual([`/bot${TOKEN}/getMe`, {}])
  })

  test('says a name without tricks', async () => {
    await using fixture = botOf(() => done({ ...ME, first_name: '\u202eAc\nme' }))

    expect(await fixture.bot.getMe()).toMatchObject({ name: 'Ac me' })
  })

  test.each<[string, object]>([
    ['a person', { is_bot: false }],
    ['nobody knows what', { is_bot: undefined }],
    ['a bot without a username', { username: undefined }],
    ['a bot that no link can lead to', { username: 'acme/../x' }],
  ])('refuses the token of %s', async (_, fields) => {
    await using fixture = botOf(() => done({ ...ME, ...fields }))

    expect(await errorOf(fixture.bot.getMe())).toMatchObject({ reason: 'refused' })
  })
})

describe('the webhook', () => {
  test('is told of as it is', async () => {
    const url = 'https://gatehouse.example/v1/hooks/1'
    await using fixture = botOf(() =>
      done({ url, pending_update_count: 2, last_error_message: 'Wrong response:\n502' }),
    )

    expect(await fixture.bot.getWebhookInfo()).toEqual({
      url,
      pending: 2,
      lastError: 'Wrong response: 502',
    })
    expect(fixture.sent()).toEqual([`/bot${TOKEN}/getWebhookInfo`, {}])
  })

  test('may be none', async () => {
    await using fixture = botOf(() => done({ url: '', pending_update_count: 0 }))

    expect(await fixture.bot.getWebhookInfo()).toEqual({ url: '', pending: 0, lastError: null })
  })

  test('of somebody who has the token in its path does not give it away', async () => {
    await using fixture = botOf(() =>
      done({ url: `https://other.example/${TOKEN}`, last_error_message: `404 at /${TOKEN}` }),
    )

    expect(await fixture.bot.getWebhookInfo()).toEqual({
      url: 'https://other.example/123456789:…',
      pending: 0,
      lastError: '404 at /123456789:…',
    })
  })

  test('is set for what concerns us, and keeps what is waiting', async () => {
    await using fixture = botOf(() => done(true))

    await fixture.bot.setWebhook({ url: 'https://gatehouse.example/hook', secret: 's-1' })

    expect(fixture.sent()).toEqual([
      `/bot${TOKEN}/setWebhook`,
      {
        url: 'https://gatehouse.example/hook',
        secret_token: 's-1',
        allowed_updates: ['message', 'callback_query'],
        drop_pending_updates: false,
      },
    ])
  })

  test('is deleted, and what is waiting is kept', async () => {
    await using fixture = botOf(() => done(true))

    await fixture.bot.deleteWebhook()

    expect(fixture.sent()).toEqual([`/bot${TOKEN}/deleteWebhook`, { drop_pending_updates: false }])
  })
})

describe('getUpdates', () => {
  test('asks for what concerns us, from where it is told', async () => {
    const updates = [{ update_id: 8 }, 'odd']
    await using fixture = botOf(() => done(updates))

    expect(await fixture.bot.getUpdates({ ...POLL, offset: 8 })).toEqual(updates)
    expect(fixture.sent()).toEqual([
      `/bot${TOKEN}/getUpdates`,
      { offset: 8, limit: 100, timeout: 30, allowed_updates: ['message', 'callback_query'] },
    ])
  })

  test('asks from wherever Telegram is, if nothing is known', async () => {
    await using fixture = botOf(() => done([]))

    expect(await fixture.bot.getUpdates({ ...POLL, holdSeconds: 0 })).toEqual([])
    expect(fixture.sent()[1]).toEqual({
      limit: 100,
      timeout: 0,
      allowed_updates: ['message', 'callback_query'],
    })
  })

  test('reads far more than other calls do, and not without end', async () => {
    const padding = (length: number) => done(['x'.repeat(length)])
    const lengths = [15_900_000, 16_000_000]
    await using fixture = botOf(() => padding(lengths.shift() ?? 0))

    expect(await fixture.bot.getUpdates(POLL)).toHaveLength(1)
    expect(await errorOf(fixture.bot.getUpdates(POLL))).toMatchObject({ reason: 'unavailable' })
  })

  test('ends at once when nobody wants to know any longer', async () => {
    const asked = Promise.withResolvers<void>()
    await using fixture = botOf(() => {
      asked.resolve()
      return new Promise<Response>(() => {})
    })
    const caller = new AbortController()

    const error = errorOf(fixture.bot.getUpdates({ ...POLL, signal: caller.signal }))
    await asked.promise
    caller.abort()

    expect(await error).toMatchObject({ reason: 'unavailable' })
  })

  test('asks nothing when nobody wants to know to begin with', async () => {
    await using fixture = botOf(() => done([]))

    const error = await errorOf(fixture.bot.getUpdates({ ...POLL, signal: AbortSignal.abort() }))

    expect(error).toMatchObject({ reason: 'unavailable' })
    expect(fixture.requests).toEqual([])
  })
})

describe('say', () => {
  test('sends plain text with buttons, and knows the message by its id', async () => {
    await using fixture = botOf(() => done({ message_id: 77, text: 'Sign in?' }))
    const buttons = [
      [
        { label: '41', data: 'n:41' },
        { label: '42', data: 'n:42' },
      ],
      [{ label: 'Deny', data: 'd' }],
    ]

    expect(await fixture.bot.say('7000000001', { text: '<b>*Sign in?*', buttons })).toBe('77')
    expect(fixture.sent()).toEqual([
      `/bot${TOKEN}/sendMessage`,
      {
        chat_id: 7_000_000_001,
        text: '<b>*Sign in?*',
        link_preview_options: { is_disabled: true },
        reply_markup: {
          inline_keyboard: [
            [
              { text: '41', callback_data: 'n:41' },
              { text: '42', callback_data: 'n:42' },
            ],
            [{ text: 'Deny', callback_data: 'd' }],
          ],
        },
      },
    ])
  })

  test('sends no keyboard when there are no buttons', async () => {
    await using fixture = botOf(() => done({ message_id: 77 }))

    await fixture.bot.say('7', { text: 'Hello', buttons: [] })

    expect(fixture.sent()[1]).toEqual({
      chat_id: 7,
      text: 'Hello',
      link_preview_options: { is_disabled: true },
    })
  })

  test.each([
    ['at the limit', `${'x'.repeat(4094)}😀y`, `${'x'.repeat(4094)}😀`],
    ['before a character that the limit would halve', `${'x'.repeat(4095)}😀`, 'x'.repeat(4095)],
    ['without halves of characters in it', 'a\ud800b', 'a\ufffdb'],
  ])('sends text %s', async (_, text, cut) => {
    await using fixture = botOf(() => done({ message_id: 77 }))

    await fixture.bot.say('7', { text, buttons: [] })

    expect(fixture.sent()[1]).toMatchObject({ text: cut })
  })

  test('takes data of 64 bytes for a button', async () => {
    await using fixture = botOf(() => done({ message_id: 77 }))
    const data = 'ü'.repeat(32)

    await fixture.bot.say('7', { text: 'x', buttons: [[{ label: 'x', data }]] })

    expect(fixture.sent()[1]).toMatchObject({
      reply_markup: { inline_keyboard: [[{ callback_data: data }]] },
    })
  })

  test('of a button with more data is a mistake of ours, and nothing is sent', async () => {
    await using fixture = botOf(() => done({ message_id: 77 }))
    const message = { text: 'x', buttons: [[{ label: 'x', data: `${'ü'.repeat(32)}x` }]] }

    await expect(fixture.bot.say('7', message)).rejects.toBeInstanceOf(RangeError)
    await expect(fixture.bot.edit('7', '77', message)).rejects.toBeInstanceOf(RangeError)
    expect(fixture.requests).toEqual([])
  })
})

describe('edit', () => {
  test('replaces text and buttons', async () => {
    await using fixture = botOf(() => done({ message_id: 77 }))

    await fixture.bot.edit('7000000001', '77', ASK)

    expect(fixture.sent()).toEqual([
      `/bot${TOKEN}/editMessageText`,
      {
        chat_id: 7_000_000_001,
        message_id: 77,
        text: 'Sign in?',
        link_preview_options: { is_disabled: true },
        reply_markup: { inline_keyboard: [[{ text: 'Deny', callback_data: 'd:1' }]] },
      },
    ])
  })

  test('takes the buttons away when there are none', async () => {
    await using fixture = botOf(() => done(true))

    await fixture.bot.edit('7', '77', { text: 'Denied', buttons: [] })

    expect(fixture.sent()[1]).toMatchObject({ reply_markup: { inline_keyboard: [] } })
  })

  test('is done when there is nothing to change', async () => {
    await using fixture = botOf(() =>
      refusal(
        400,
        'Bad Request: message is not modified: specified new message content and reply markup ' +
          'are exactly the same as a current content and reply markup of the message',
      ),
    )

    await fixture.bot.edit('7', '77', ASK)
  })

  test.each([
    [400, 'Bad Request: message to edit not found', 'refused'],
    [500, 'message is not modified', 'unavailable'],
  ])('is not done after %i: %s', async (status, description, reason) => {
    await using fixture = botOf(() => refusal(status, description))

    expect(await errorOf(fixture.bot.edit('7', '77', ASK))).toMatchObject({ reason })
  })
})

describe('answerCallback', () => {
  test('ends the wait with a notice', async () => {
    await using fixture = botOf(() => done(true))

    await fixture.bot.answerCallback('4382', 'Approved')

    expect(fixture.sent()).toEqual([
      `/bot${TOKEN}/answerCallbackQuery`,
      { callback_query_id: '4382', text: 'Approved' },
    ])
  })

  test('cuts the notice to what fits', async () => {
    await using fixture = botOf(() => done(true))

    await fixture.bot.answerCallback('4382', `${'x'.repeat(199)}😀`)

    expect(fixture.sent()[1]).toMatchObject({ text: 'x'.repeat(199) })
  })

  test.each([
    'Bad Request: query is too old and response timeout expired or query ID is invalid',
    'Bad Request: QUERY_ID_INVALID: query ID is invalid',
  ])('is done when nobody waits any longer: %s', async (description) => {
    await using fixture = botOf(() => refusal(400, description))

    await fixture.bot.answerCallback('4382', 'Approved')
  })

  test('is not done after any other refusal', async () => {
    await using fixture = botOf(() => refusal(400, 'Bad Request: MESSAGE_TOO_LONG'))

    const error = await errorOf(fixture.bot.answerCallback('4382', 'Approved'))

    expect(error).toMatchObject({ reason: 'refused' })
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
    ['when Telegram says', { retry_after: 35 }, 35_000],
    ['after an hour at the latest', { retry_after: 86_400 }, 3_600_000],
    ['after a while if nothing is said', undefined, 5000],
    ['after a while if what is said is no number', { retry_after: '35' }, 5000],
    ['after a while if what is said is no time', { retry_after: -1 }, 5000],
  ])('for being too fast is over %s', async (_, parameters, retryAfterMs) => {
    await using fixture = botOf(() => refusal(429, 'Too Many Requests', parameters))

    const error = await errorOf(fixture.bot.say('7', ASK))

    expect(error).toMatchObject({ reason: 'rate_limited', retryAfterMs })
  })

  test('is told on one line of at most 200 characters', async () => {
    await using fixture = botOf(() => refusal(400, `Bad\r\nRequest \u202e${'😀'.repeat(300)}`))

    const { message } = await errorOf(fixture.bot.deleteWebhook())

    expect(message).toStartWith('deleteWebhook: Bad Request  😀')
    expect([...message]).toHaveLength('deleteWebhook: '.length + 200)
  })

  test.each([
    ['is none', undefined],
    ['is no text', { toString: 1 }],
    ['is empty', ''],
  ])('whose description %s is told by its status', async (_, description) => {
    await using fixture = botOf(() => Response.json({ ok: false, description }, { status: 400 }))

    const error = await errorOf(fixture.bot.getMe())

    expect(error).toMatchObject({ reason: 'refused', message: 'getMe: status 400' })
  })

  test.each([
    ['as it is', TOKEN],
    ['encoded', encodeURIComponent(TOKEN)],
    ['by half', SECRET],
    ['in other letters', TOKEN.toLowerCase()],
  ])('that quotes the token %s does not give it away', async (_, quoted) => {
    const far = 'x'.repeat(185)
    await using fixture = botOf(() => refusal(400, `no ${quoted}, ${quoted} ${far} ${quoted}`))

    const { message } = await errorOf(fixture.bot.getMe())

    expect(message).toStartWith('getMe: no ')
    expect(message.toLowerCase()).not.toContain(SECRET.slice(0, 4).toLowerCase())
  })
})

describe('what is no answer of the Bot API makes it unavailable:', () => {
  const nested = '['.repeat(500_000)
  test.each<[string, () => Response]>([
    ['a page', () => new Response('<h1>Welcome</h1>')],
    ['a page about a path that is none', () => new Response('<h1>404</h1>', { status: 404 })],
    ['a page about a lack of rights', () => new Response('<h1>401</h1>', { status: 401 })],
    ['JSON of something else', () => Response.json({ error: 'not found' }, { status: 404 })],
    ['nothing', () => new Response(null, { status: 204 })],
    ['half of JSON', () => new Response('{"ok":true,"result":')],
    ['JSON of great depth', () => new Response(nested)],
    ['null', () => Response.json(null)],
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

  const odd = [undefined, null, 1, 'x', true, [], {}, { id: '7', message_id: '7', url: 7 }]
  test.each<[string, (bot: BotApi) => Promise<unknown>]>([
    ['getMe', (bot) => bot.getMe()],
    ['getWebhookInfo', (bot) => bot.getWebhookInfo()],
    ['sendMessage', (bot) => bot.say('7', ASK)],
  ])('an odd result of %s', async (method, call) => {
    const results = [...odd]
    await using fixture = botOf(() => done(results.shift()))

    for (const _ of odd)
      expect(await errorOf(call(fixture.bot))).toMatchObject({
        reason: 'unavailable',
        message: `${method}: invalid response`,
      })
  })

  test('updates that are no list', async () => {
    await using fixture = botOf(() => done({ length: 1, 0: { update_id: 1 } }))

    expect(await errorOf(fixture.bot.getUpdates(POLL))).toMatchObject({ reason: 'unavailable' })
  })
})

describe('when nobody answers', () => {
  test('it is unavailable, and the host is all that is told', async () => {
    const fixture = botOf(() => done(ME))
    await fixture.stop()

    expect(await errorOf(fixture.bot.getMe())).toMatchObject({
      reason: 'unavailable',
      message: `getMe: ${fixture.host} cannot be reached (ECONNREFUSED)`,
    })
  })

  test.each<[string, number, (bot: BotApi) => Promise<unknown>]>([
    ['a call', 10_000, (bot) => bot.say('7', ASK)],
    ['a poll, beyond what it is held', 40_000, (bot) => bot.getUpdates(POLL)],
  ])('%s is given up after a while', async (_, deadlineMs, call) => {
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

    expect(await error).toMatchObject({
      reason: 'unavailable',
      message: expect.stringMatching(/did not respond completely in time$/),
    })
  })
})

describe('a token', () => {
  test('may be of any length that is in use', async () => {
    for (const token of ['1:a', `${'9'.repeat(20)}:${'-'.repeat(64)}${'_'.repeat(64)}`]) {
      await using fixture = botOf(() => done(ME), { token })

      await fixture.bot.getMe()

      expect(fixture.requests[0]?.path).toBe(`/bot${token}/getMe`)
    }
  })

  test.each([
    ['empty', ''],
    ['without a secret', '123:'],
    ['without a number', ':abc'],
    ['a path', '1:a/../../x'],
    ['a query', '1:a?x='],
    ['a fragment', '1:a#'],
    ['encoded', '1:a%2f'],
    ['of two lines', '1:a\n'],
    ['of letters of other scripts', '1:\u0430'],
    ['of other digits', '\u0661:a'],
    ['too long', `1:${'a'.repeat(129)}`],
    ['of too long a number', `${'1'.repeat(21)}:a`],
  ])('that is %s goes nowhere', async (_, token) => {
    await using fixture = botOf(() => done(ME), { token })

    expect(await errorOf(fixture.bot.getMe())).toMatchObject({
      reason: 'unauthorized',
      message: 'getMe: the token is malformed',
    })
    expect(fixture.requests).toEqual([])
  })
})

test('the address of the Bot API may have a path of its own', async () => {
  await using fixture = botOf(() => done(ME))
  const clock = createTestClock('2026-03-01T12:00:00.000Z')

  await createTelegram({ clock, apiRoot: `${fixture.origin}/telegram` })(TOKEN).getMe()

  expect(fixture.sent()[0]).toBe(`/telegram/bot${TOKEN}/getMe`)
})
