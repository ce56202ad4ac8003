import { afterAll, describe, expect, test } from 'bun:test'
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

type Call = (bot: BotApi) => Promise<unknown>

const target = startTarget()
const { requests } = target
const { origin } = new URL(target.url)
afterAll(target.stop)

/** A bot whose calls are answered so. */
function botOf(reply: () => Response | Promise<Response>, token = TOKEN, path = '') {
  target.answers(reply)
  requests.length = 0
  const clock = createTestClock('2026-03-01T12:00:00.000Z')
  return { clock, bot: createTelegram({ clock, apiRoot: origin + path })(token) }
}

const done = (result: unknown) => Response.json({ ok: true, result })
const refusal = (status: number, description: unknown, parameters?: object) =>
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

/** How a call fails that is answered so. */
const failureOf = (reply: () => Response, call: Call = (bot) => bot.say('7', ASK)) =>
  errorOf(call(botOf(reply).bot))

/** Expects the call to send this, and to be read as that when Telegram gives the result. */
async function expectCall(
  call: Call,
  method: string,
  sent: object,
  result: unknown,
  read?: unknown,
) {
  expect(await call(botOf(() => done(result)).bot)).toEqual(read)
  const [request] = requests
  expect([request?.method, request?.path]).toEqual(['POST', `/bot${TOKEN}/${method}`])
  expect(request?.headers.get('content-type')).toBe('application/json')
  expect(JSON.parse(request?.body ?? '')).toEqual(sent)
}

test('A call of getMe reads the bot, and refuses what is none', async () => {
  const me = { ...ME, first_name: '\u202eAc\nme', can_join_groups: true }
  const read = { id: `${ME.id}`, username: 'acme_bot', name: 'Ac me' }
  await expectCall((bot) => bot.getMe(), 'getMe', {}, me, read)
  for (const odd of [{ is_bot: false }, { username: undefined }, { username: 'acme/../x' }]) {
    const reply = () => done({ ...ME, ...odd })
    expect(await failureOf(reply, (bot) => bot.getMe())).toMatchObject({ reason: 'refused' })
  }
})

test('A call of webhooks sets, reads and deletes them', async () => {
  const url = 'https://gatehouse.example/hook'
  const allowed_updates = ['message', 'callback_query']
  const drop = { drop_pending_updates: false }
  const sent = { url, secret_token: 's-1', allowed_updates, ...drop }
  await expectCall((bot) => bot.setWebhook({ url, secret: 's-1' }), 'setWebhook', sent, true)
  await expectCall((bot) => bot.deleteWebhook(), 'deleteWebhook', drop, true)
  const get: Call = (bot) => bot.getWebhookInfo()
  const read = { url, pending: 2, lastError: null }
  await expectCall(get, 'getWebhookInfo', {}, { url, pending_update_count: 2 }, read)
  const quoting = { url: `https://x.example/${TOKEN}`, last_error_message: `404 at\n${TOKEN}` }
  const hidden = { url: 'https://x.example/123456789:…', lastError: '404 at 123456789:…' }
  await expectCall(get, 'getWebhookInfo', {}, quoting, { ...hidden, pending: 0 })
})

test('A call of getUpdates names its offset, and reads up to 16 MB', async () => {
  const poll = { limit: 100, timeout: 30, allowed_updates: ['message', 'callback_query'] }
  const updates = [{ update_id: 8 }, 'odd']
  const get = (more: object) => (bot: BotApi) => bot.getUpdates({ ...POLL, ...more })
  await expectCall(get({ offset: 8 }), 'getUpdates', { ...poll, offset: 8 }, updates, updates)
  await expectCall(get({ holdSeconds: 0 }), 'getUpdates', { ...poll, timeout: 0 }, [], [])
  const large = (length: number) => botOf(() => done(['x'.repeat(length)])).bot.getUpdates(POLL)
  expect(await large(2_000_000)).toHaveLength(1)
  expect(await errorOf(large(16_000_000))).toMatchObject({ reason: 'unavailable' })
})

test('A call of messages sends plain text of a length that Telegram takes, and buttons', async () => {
  const data = 'ü'.repeat(32)
  const buttons = [[{ label: '42', data }], [{ label: 'Deny', data: 'd' }]]
  const inline_keyboard = [
    [{ text: '42', callback_data: data }],
    [{ text: 'Deny', callback_data: 'd' }],
  ]
  const shown = { link_preview_options: { is_disabled: true } }
  const message = { message_id: 77 }
  for (const [text, sent] of [
    ['<b>*Sign in?*', '<b>*Sign in?*'],
    [`${'x'.repeat(4094)}😀y`, `${'x'.repeat(4094)}😀`],
    [`${'x'.repeat(4095)}😀`, 'x'.repeat(4095)],
    ['a\ud800b', 'a\ufffdb'],
  ] as const) {
    const params = { chat_id: 7_000_000_001, text: sent, ...shown }
    const say: Call = (bot) => bot.say('7000000001', { text, buttons: [] })
    await expectCall(say, 'sendMessage', params, message, '77')
  }
  const asked = { chat_id: 7, text: 'Sign in?', ...shown, reply_markup: { inline_keyboard } }
  const ask: Call = (bot) => bot.say('7', { text: 'Sign in?', buttons })
  await expectCall(ask, 'sendMessage', asked, message, '77')
  const params = { chat_id: 7, message_id: 77, text: 'Done', ...shown }
  const edit: Call = (bot) => bot.edit('7', '77', { text: 'Done', buttons: [] })
  const bare = { ...params, reply_markup: { inline_keyboard: [] } }
  await expectCall(edit, 'editMessageText', bare, true)
  const notice = { callback_query_id: '4382', text: 'x'.repeat(199) }
  const answer: Call = (bot) => bot.answerCallback('4382', `${'x'.repeat(199)}😀`)
  await expectCall(answer, 'answerCallbackQuery', notice, true)

  const { bot } = botOf(() => done(message))
  const long = { text: 'x', buttons: [[{ label: 'x', data: `${data}x` }]] }
  for (const call of [bot.say('7', long), bot.edit('7', '77', long)])
    await expect(call).rejects.toBeInstanceOf(RangeError)
  expect(requests).toEqual([])
})

test('A call uses any valid token and the path of the API root; a malformed token is not sent', async () => {
  for (const token of ['1:a', `${'9'.repeat(20)}:${'-'.repeat(64)}${'_'.repeat(64)}`]) {
    await botOf(() => done(ME), token, '/telegram').bot.getMe()
    expect(requests[0]?.path).toBe(`/telegram/bot${token}/getMe`)
  }
  for (const token of [
    ...['', '123:', ':abc', '1:a/../../x', '1:a?x=', '1:a#', '1:a%2f', '1:a\n', '1:\u0430'],
    ...['\u0661:a', `1:${'a'.repeat(129)}`, `${'1'.repeat(21)}:a`, '1:(', '1:[a'],
  ]) {
    const { bot } = botOf(() => done(ME), token)
    const malformed = { reason: 'unauthorized', message: 'getMe: the token is malformed' }
    expect(await errorOf(bot.getMe())).toMatchObject(malformed)
    expect(requests).toEqual([])
  }
})

test('A refusal has a reason by its status, and is told on one line of at most 200 characters', async () => {
  for (const [status, reason] of [
    ...[400, 402, 420].map((status) => [status, 'refused'] as const),
    ...[401, 404].map((status) => [status, 'unauthorized'] as const),
    [403, 'forbidden'],
    [409, 'conflict'],
    ...[500, 502].map((status) => [status, 'unavailable'] as const),
  ] as const) {
    const error = await failureOf(() => refusal(status, `Status ${status}`))
    expect(error).toMatchObject({ reason, message: `sendMessage: Status ${status}` })
    expect(error.retryAfterMs).toBeUndefined()
  }
  const hostile = `Bad\r\nRequest \u202e${'😀'.repeat(300)}`
  const { message } = await failureOf(() => refusal(400, hostile))
  expect(message).toStartWith('sendMessage: Bad Request  😀')
  expect([...message]).toHaveLength('sendMessage: '.length + 200)
  for (const description of [undefined, { toString: 1 }, '']) {
    const error = await failureOf(() => refusal(400, description))
    expect(error).toMatchObject({ reason: 'refused', message: 'sendMessage: status 400' })
  }
})

test('A refusal with 429 is waited for as long as it says, up to an hour', async () => {
  for (const [parameters, retryAfterMs] of [
    [{ retry_after: 35 }, 35_000],
    [{ retry_after: 86_400 }, 3_600_000],
    [undefined, 5000],
    [{ retry_after: '35' }, 5000],
    [{ retry_after: -1 }, 5000],
  ] as const) {
    const error = await failureOf(() => refusal(429, 'Too Many Requests', parameters))
    expect(error).toMatchObject({ reason: 'rate_limited', retryAfterMs })
  }
})

test('A refusal is ignored if nothing is left to do', async () => {
  const edit: Call = (bot) => bot.edit('7', '77', ASK)
  const answer: Call = (bot) => bot.answerCallback('4382', 'Approved')
  const same = 'message is not modified'
  for (const [call, description] of [
    [edit, `Bad Request: ${same}: specified new message content and reply markup are`],
    [answer, 'Bad Request: query is too old and response timeout expired or query'],
    [answer, 'Bad Request: QUERY_ID_INVALID: query ID is invalid'],
  ] as const)
    await call(botOf(() => refusal(400, description)).bot)
  for (const [call, status, description, reason] of [
    [edit, 400, 'Bad Request: message to edit not found', 'refused'],
    [edit, 500, same, 'unavailable'],
    [answer, 400, 'Bad Request: MESSAGE_TOO_LONG', 'refused'],
  ] as const)
    expect(await failureOf(() => refusal(status, description), call)).toMatchObject({ reason })
})

test('A refusal that quotes the token does not give it away', async () => {
  const far = 'x'.repeat(185)
  for (const quoted of [TOKEN, encodeURIComponent(TOKEN), SECRET, TOKEN.toLowerCase()]) {
    const description = `no ${quoted}, ${quoted} ${far} ${quoted}`
    const { message } = await failureOf(() => refusal(400, description))
    expect(message).toStartWith('sendMessage: no ')
    expect(message.toLowerCase()).not.toContain(SECRET.slice(0, 4).toLowerCase())
  }
})

describe('Telegram is unavailable', () => {
  test.each<[string, () => Response]>([
    ['a page', () => new Response('<h1>Welcome</h1>')],
    ['a page with 401', () => new Response('<h1>401</h1>', { status: 401 })],
    ['JSON of another API', () => Response.json({ error: 'not found' }, { status: 404 })],
    ['nothing', () => new Response(null, { status: 204 })],
    ['half of JSON', () => new Response('{"ok":true,"result":')],
    ['JSON of great depth', () => new Response('['.repeat(500_000))],
    ['a list', () => Response.json([{ ok: true }])],
    ['no true success', () => Response.json({ ok: 'true', result: ME })],
    ['a refusal without a code', () => Response.json({ ok: false, description: 'x' })],
    ['success with a failing status', () => Response.json({ ok: true }, { status: 400 })],
    ['a redirect', () => Response.redirect('/elsewhere', 302)],
    ['more than is read', () => done('x'.repeat(1_000_000))],
  ])('after %s', async (_, reply) => {
    const error = await failureOf(reply, (bot) => bot.deleteWebhook())
    expect(error).toMatchObject({ reason: 'unavailable' })
    expect(error.message).toStartWith('deleteWebhook: ')
    expect(error.message.length).toBeLessThan(250)
    expect(requests).toHaveLength(1)
  })

  test.each<[string, Call]>([
    ['getMe', (bot) => bot.getMe()],
    ['getWebhookInfo', (bot) => bot.getWebhookInfo()],
    ['sendMessage', (bot) => bot.say('7', ASK)],
    ['getUpdates', (bot) => bot.getUpdates(POLL)],
  ])('after an odd result of %s', async (method, call) => {
    const message = `${method}: invalid response`
    for (const odd of [undefined, null, 'x', {}, { id: '7', message_id: '7', url: 7, length: 1 }])
      expect(await failureOf(() => done(odd), call)).toMatchObject({
        reason: 'unavailable',
        message,
      })
  })

  test('at once where no server listens, told by its host alone', async () => {
    const stopped = startTarget(() => done(ME))
    await stopped.stop()
    const { origin: apiRoot, host } = new URL(stopped.url)
    const bot = createTelegram({ clock: createTestClock('2026-03-01T12:00:00Z'), apiRoot })(TOKEN)
    const message = `getMe: ${host} cannot be reached (ECONNREFUSED)`
    expect(await errorOf(bot.getMe())).toMatchObject({ reason: 'unavailable', message })
  })

  test.each<[number, Call]>([
    [10_000, (bot) => bot.say('7', ASK)],
    [40_000, (bot) => bot.getUpdates(POLL)],
  ])('after %d ms without an answer, or once the caller gives up', async (deadlineMs, call) => {
    let asked = Promise.withResolvers<void>()
    const { bot, clock } = botOf(() => {
      asked.resolve()
      return new Promise<Response>(() => {})
    })
    let isOver = false
    const error = errorOf(call(bot)).finally(() => {
      isOver = true
    })
    await asked.promise
    await clock.advance(deadlineMs - 1)
    expect(isOver).toBe(false)
    await clock.advance(1)
    expect((await error).message).toEndWith('did not respond completely in time')

    const get = (signal: AbortSignal) => errorOf(bot.getUpdates({ ...POLL, signal }))
    expect(await get(AbortSignal.abort())).toMatchObject({ reason: 'unavailable' })
    expect(requests).toHaveLength(1)
    asked = Promise.withResolvers<void>()
    const caller = new AbortController()
    const left = get(caller.signal)
    await asked.promise
    caller.abort()
    expect(await left).toMatchObject({ reason: 'unavailable' })
  })
})
