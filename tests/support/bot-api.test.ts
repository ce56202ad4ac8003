import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { until } from './binary.ts'
import { type BotApi, startBotApi, type TestBot } from './bot-api/index.ts'

let api: BotApi
let bot: TestBot

beforeEach(() => {
  api = startBotApi()
  bot = api.bot({ username: 'door_bot' })
})

afterEach(() => api[Symbol.asyncDispose]())

async function call(method: string, params: object = {}, token = bot.token, signal?: AbortSignal) {
  const response = await fetch(`${api.url}/bot${token}/${method}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(params),
    signal,
  })
  return { status: response.status, headers: response.headers, ...(await response.json()) }
}

const updates = async (params: object = {}) => (await call('getUpdates', params)).result
const texts = (found: { message: { text: string } }[]) => found.map(({ message }) => message.text)
const keyboard = (...labels: string[]) => ({
  inline_keyboard: [labels.map((label) => ({ text: label, callback_data: label.toLowerCase() }))],
})

/** Somebody who has spoken to the bot, of which nothing is left in its queue. */
async function acquaintance() {
  const person = api.person()
  person.start(bot)
  const [latest] = await updates()
  await updates({ offset: latest.update_id + 1 })
  return person
}

describe('calls', () => {
  test('getMe tells who the bot is', async () => {
    expect((await call('getMe')).result).toMatchObject({
      id: bot.id,
      is_bot: true,
      username: 'door_bot',
    })
  })

  test.each([
    ['a query', () => fetch(`${api.url}/bot${bot.token}/sendMessage?chat_id=7&text=hello`)],
    [
      'a form',
      () =>
        fetch(`${api.url}/bot${bot.token}/sendMessage`, {
          method: 'POST',
          body: new URLSearchParams({ chat_id: '7', text: 'hello' }),
        }),
    ],
    ['JSON', () => call('sendMessage', { chat_id: '7', text: 'hello' })],
    ['another case', () => call('SENDmessage', { chat_id: '7', text: 'hello' })],
  ])('parameters are taken from %s, and calls are kept', async (_, send) => {
    api.person({ id: 7 }).start(bot)
    expect((await send()).status).toBe(200)
    expect(api.callsOf('sendMessage')).toEqual([
      {
        method: 'sendMessage',
        token: bot.token,
        params: { chat_id: '7', text: 'hello' },
        at: expect.any(Number),
        status: 200,
      },
    ])
  })

  test('a method that does not exist is not found', async () => {
    expect(await call('sendMassage')).toMatchObject({
      ok: false,
      status: 404,
      error_code: 404,
      description: 'Not Found: method not found',
    })
  })

  test('an unknown token is unauthorized, a malformed one not found', async () => {
    expect(await call('getMe', {}, '99:AAno')).toMatchObject({
      ok: false,
      status: 401,
      error_code: 401,
      description: 'Unauthorized',
    })
    expect(await call('getMe', {}, 'nonsense')).toMatchObject({
      status: 404,
      description: 'Not Found',
    })
  })

  test('a revoked token is unauthorized, also for the held call; the new one works', async () => {
    const old = bot.token
    const held = call('getUpdates', { timeout: 50 })
    await api.waitForPoller(bot)
    const next = bot.revokeToken()
    expect((await held).status).toBe(401)
    expect((await call('getMe', {}, old)).status).toBe(401)
    expect((await call('getMe', {}, next)).result.id).toBe(bot.id)
  })
})

describe('getUpdates', () => {
  test('tells of a start with its payload as a command in the private chat', async () => {
    const person = api.person({ first_name: 'Ada', last_name: 'L', language_code: 'de' })
    person.start(bot, 'some-payload')
    const [update] = await updates()
    expect(update.message).toMatchObject({
      text: '/start some-payload',
      from: { id: person.id, is_bot: false, last_name: 'L', language_code: 'de' },
      chat: { id: person.id, type: 'private' },
      entities: [{ type: 'bot_command', offset: 0, length: 6 }],
    })
  })

  test('a link is followed to the bot that it names, and no link carries any text', async () => {
    api.person().follow('https://t.me/door_bot?start=abc')
    expect(texts(await updates())).toEqual(['/start abc'])
    expect(() => api.person().follow('https://t.me/no_bot?start=abc')).toThrow('no bot')
    expect(() => api.person().start(bot, 'a b')).toThrow('no link')
  })

  test('a start in a group addresses the bot by its name', async () => {
    const chat = api.person().startInGroup(bot, 'abc')
    const [update] = await updates()
    expect(update.message).toMatchObject({
      text: '/start@door_bot abc',
      chat: { id: chat, type: 'supergroup' },
      entities: [{ length: '/start@door_bot'.length }],
    })
    await call('sendMessage', { chat_id: chat, text: 'Not here' })
    expect(api.messages(bot, chat).map(({ text }) => text)).toEqual(['Not here'])
  })

  test('repeats what was not confirmed, and forgets for good what was', async () => {
    const person = api.person()
    for (const text of ['one', 'two', 'three']) person.say(bot, text)
    const [first, second] = await updates()
    expect(second.update_id).toBe(first.update_id + 1)
    expect(texts(await updates())).toEqual(['one', 'two', 'three'])
    expect(texts(await updates({ offset: second.update_id }))).toEqual(['two', 'three'])
    expect(texts(await updates({ offset: 0 }))).toEqual(['two', 'three'])
  })

  test('a negative offset counts from the end and forgets the rest', async () => {
    const person = api.person()
    for (const text of ['one', 'two', 'three']) person.say(bot, text)
    expect(texts(await updates({ offset: -2 }))).toEqual(['two', 'three'])
    expect(texts(await updates())).toEqual(['two', 'three'])
  })

  test('gives 100 updates at most, or fewer where asked', async () => {
    const person = api.person()
    for (let i = 0; i < 101; i++) person.say(bot, 'hello')
    expect(await updates()).toHaveLength(100)
    expect(await updates({ limit: 1000 })).toHaveLength(100)
    expect(await updates({ limit: 2 })).toHaveLength(2)
  })

  test('a held call ends at once with a new update', async () => {
    const held = updates({ timeout: 50 })
    await api.waitForPoller(bot)
    expect(api.pollers(bot)).toBe(1)
    api.person().say(bot, 'hello')
    expect(texts(await held)).toEqual(['hello'])
    expect(api.pollers(bot)).toBe(0)
  })

  test('a held call ends with nothing after its time', async () => {
    expect(await updates({ timeout: 1 })).toEqual([])
  })

  test('a second call ends the first', async () => {
    const first = call('getUpdates', { timeout: 50 })
    await api.waitForPoller(bot)
    const second = updates({ timeout: 50 })
    expect(await first).toMatchObject({
      status: 409,
      description:
        'Conflict: terminated by other getUpdates request; make sure that only one bot instance is running',
    })
    api.person().say(bot, 'hello')
    expect(texts(await second)).toEqual(['hello'])
  })

  test('two bots are polled at the same time', async () => {
    const other = api.bot()
    const [one, two] = [updates({ timeout: 50 }), call('getUpdates', { timeout: 50 }, other.token)]
    await api.waitForPoller(bot)
    await api.waitForPoller(other)
    api.person().say(bot, 'to one')
    api.person().say(other, 'to other')
    expect(texts(await one)).toEqual(['to one'])
    expect(texts((await two).result)).toEqual(['to other'])
  })

  test('a client that leaves is no poller any more', async () => {
    const client = new AbortController()
    const held = call('getUpdates', { timeout: 50 }, bot.token, client.signal)
    await api.waitForPoller(bot)
    client.abort()
    await held.catch(() => {})
    await until(() => api.pollers(bot) === 0)
    expect(api.callsOf('getUpdates')[0]?.status).toBeUndefined()
  })

  test('the end of the server ends held calls', async () => {
    const ending = startBotApi()
    const { token } = ending.bot()
    const held = fetch(`${ending.url}/bot${token}/getUpdates?timeout=50`).then(
      (response) => response.text(),
      () => 'cut',
    )
    await until(() => ending.callsOf('getUpdates').length === 1)
    await ending[Symbol.asyncDispose]()
    await held
  })

  test('kinds that were not asked for never come; the wish is kept until another', async () => {
    const person = await acquaintance()
    await updates({ allowed_updates: ['callback_query'] })
    person.say(bot, 'unheard')
    expect(await updates()).toEqual([])
    await updates({ allowed_updates: [] })
    person.say(bot, 'heard')
    expect(texts(await updates())).toEqual(['heard'])
  })

  test('is refused while there is a webhook', async () => {
    bot.ownedByWebhook('https://other.example/hook')
    expect(await call('getUpdates')).toMatchObject({
      status: 409,
      description:
        "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first",
    })
    expect((await call('getWebhookInfo')).result.url).toBe('https://other.example/hook')
  })

  test('a webhook ends the held call', async () => {
    const held = call('getUpdates', { timeout: 50 })
    await api.waitForPoller(bot)
    bot.ownedByWebhook('https://other.example/hook')
    expect(await held).toMatchObject({
      status: 409,
      description: 'Conflict: terminated by setWebhook request',
    })
  })
})

describe('odd delivery', () => {
  test('an update comes again under its id although it was confirmed', async () => {
    api.person().say(bot, 'hello')
    const [first] = await updates()
    await updates({ offset: first.update_id + 1 })
    api.redeliver(bot)
    expect(await updates({ offset: first.update_id + 1 })).toEqual([first])
    expect(await updates({ offset: first.update_id + 1 })).toEqual([])
  })

  test('nothing can come again before anything came', () => {
    expect(() => api.redeliver(bot)).toThrow('nothing to deliver again')
  })

  test('a shuffled batch has the latest first', async () => {
    const person = api.person()
    person.say(bot, 'one')
    person.say(bot, 'two')
    api.shuffle(bot, true)
    expect(texts(await updates())).toEqual(['two', 'one'])
  })

  test('ids may jump up or down, and an offset far beyond them confirms nothing', async () => {
    const person = api.person()
    api.nextUpdateId(bot, 900_000_000)
    person.say(bot, 'high')
    const [high] = await updates()
    expect(high.update_id).toBe(900_000_000)
    expect(await updates({ offset: 900_000_001 })).toEqual([])
    api.nextUpdateId(bot, 1_000)
    person.say(bot, 'low')
    const [low] = await updates({ offset: 900_000_001 })
    expect(low.update_id).toBe(1_000)
    expect(await updates({ offset: 1_001 })).toEqual([])
  })

  test('held updates come with the release', async () => {
    api.hold(bot)
    api.person().say(bot, 'hello')
    expect(await updates()).toEqual([])
    const held = updates({ timeout: 50 })
    await api.waitForPoller(bot)
    api.release(bot)
    expect(texts(await held)).toEqual(['hello'])
  })

  test('an update of any kind can be delivered', async () => {
    api.deliver(bot, { edited_message: { text: 'edited' } })
    expect(await updates()).toMatchObject([{ edited_message: { text: 'edited' } }])
  })
})

describe('webhooks', () => {
  /** Answers with each of `statuses` once, and from then on with the last of them. */
  function receiver(...statuses: number[]) {
    const received: { text: string; secret: string | null; id: number }[] = []
    const server = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      fetch: async (request) => {
        const update = await request.json()
        received.push({
          text: update.message.text,
          secret: request.headers.get('x-telegram-bot-api-secret-token'),
          id: update.update_id,
        })
        const status = statuses.length > 1 ? statuses.shift() : statuses[0]
        return new Response(null, { status: status ?? 200 })
      },
    })
    return { url: `${server.url}hook`, received, [Symbol.dispose]: () => void server.stop(true) }
  }

  test('what waits and what is new is pushed with the secret, one after the other', async () => {
    using hook = receiver()
    const person = api.person()
    person.say(bot, 'one')
    expect(await call('setWebhook', { url: hook.url, secret_token: 's3cret' })).toMatchObject({
      result: true,
      description: 'Webhook was set',
    })
    expect(bot.webhook).toEqual({ url: hook.url, secret: 's3cret' })
    person.say(bot, 'two')
    person.say(bot, 'three')
    await until(() => hook.received.length === 3)
    expect(hook.received.map(({ text }) => text)).toEqual(['one', 'two', 'three'])
    expect(hook.received.map(({ secret }) => secret)).toEqual(['s3cret', 's3cret', 's3cret'])
  })

  test('what is not taken is pushed again under its id, and the error is told', async () => {
    using hook = receiver(500, 302, 200)
    await call('setWebhook', { url: hook.url })
    api.person().say(bot, 'hello')
    await until(async () => (await call('getWebhookInfo')).result.pending_update_count === 0)
    expect(new Set(hook.received.map(({ id }) => id)).size).toBe(1)
    expect(hook.received).toHaveLength(3)
    expect((await call('getWebhookInfo')).result).toMatchObject({
      url: hook.url,
      last_error_message: expect.stringContaining('302'),
    })
  })

  test('a deleted webhook gets nothing more, and what it did not take stays', async () => {
    using hook = receiver(500)
    await call('setWebhook', { url: hook.url })
    api.person().say(bot, 'hello')
    await until(() => hook.received.length > 0)
    expect(await call('deleteWebhook')).toMatchObject({
      result: true,
      description: 'Webhook was deleted',
    })
    expect(bot.webhook).toBeUndefined()
    expect(texts(await updates())).toEqual(['hello'])
    expect((await call('getWebhookInfo')).result.url).toBe('')
  })

  test('what waits is dropped where that is asked for', async () => {
    api.person().say(bot, 'hello')
    await call('deleteWebhook', { drop_pending_updates: true })
    expect(await updates()).toEqual([])
  })

  test('several updates are under way at the same time where that is told', async () => {
    let [underWay, most] = [0, 0]
    const both = Promise.withResolvers<void>()
    using server = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      fetch: async () => {
        most = Math.max(most, ++underWay)
        if (underWay === 2) both.resolve()
        await both.promise
        underWay--
        return new Response()
      },
    })
    api.pushAtOnce(bot, 2)
    await call('setWebhook', { url: String(server.url) })
    for (const text of ['one', 'two', 'three']) api.person().say(bot, text)
    await until(async () => (await call('getWebhookInfo')).result.pending_update_count === 0)
    expect(most).toBe(2)
  })

  test('a public address is reached where the test says', async () => {
    using hook = receiver()
    await using elsewhere = startBotApi({ reach: () => hook.url })
    const its = elsewhere.bot()
    const set = new URLSearchParams({ url: 'https://gate.example/hook' })
    await fetch(`${elsewhere.url}/bot${its.token}/setWebhook?${set}`)
    expect(its.webhook?.url).toBe('https://gate.example/hook')
    elsewhere.person().say(its, 'hello')
    await until(() => hook.received.length === 1)
  })

  test.each([
    ['nonsense', 'invalid webhook URL specified'],
    ['http://gate.example/', 'bad webhook: An HTTPS URL must be provided for webhook'],
    [
      'https://gate.example:3000/',
      'bad webhook: Webhook can be set up only on ports 80, 88, 443 or 8443',
    ],
    ['https://gate.example/', 'bad webhook: Failed to resolve host: Name or service not known'],
  ])('%s is no webhook', async (url, why) => {
    expect(await call('setWebhook', { url })).toMatchObject({
      status: 400,
      description: `Bad Request: ${why}`,
    })
  })

  test('a secret is of letters, digits, _ and - alone', async () => {
    const refused = await call('setWebhook', { url: 'http://127.0.0.1:1/', secret_token: 'a b' })
    expect(refused.description).toBe('Bad Request: secret token contains unallowed characters')
  })
})

describe('messages', () => {
  test('a person reads a message with its buttons, as it is now', async () => {
    const person = await acquaintance()
    const { result } = await call('sendMessage', {
      chat_id: person.id,
      text: 'Sign in?',
      reply_markup: keyboard('Deny', 'Approve'),
    })
    expect(result).toMatchObject({ from: { id: bot.id }, chat: { id: person.id } })
    expect(person.chat(bot)).toEqual([
      {
        message_id: result.message_id,
        text: 'Sign in?',
        buttons: [['Deny', 'Approve']],
        data: [['deny', 'approve']],
        edits: 0,
        bot: bot.id,
        chat: person.id,
      },
    ])
    await call('editMessageText', {
      chat_id: person.id,
      message_id: result.message_id,
      text: 'Signed in',
    })
    expect(person.chat(bot)).toHaveLength(1)
    expect(person.lastMessage(bot)).toMatchObject({ text: 'Signed in', buttons: [], edits: 1 })
  })

  test('waiting ends as soon as a message fits, also by an edit', async () => {
    const person = await acquaintance()
    const first = person.waitForMessage(bot)
    const second = person.waitForMessage(bot, ({ text }) => text === 'after')
    const { result } = await call('sendMessage', { chat_id: person.id, text: 'before' })
    expect((await first).text).toBe('before')
    const { message_id } = result
    await call('editMessageText', { chat_id: person.id, message_id, text: 'after' })
    expect((await second).edits).toBe(1)
    expect(person.waitForMessage(bot, () => false, 1)).rejects.toThrow('no message that fits')
  })

  test.each([
    ['an empty text', { text: ' ' }, 'message text is empty'],
    ['more than 4096 characters', { text: 'a'.repeat(4097) }, 'message is too long'],
    ['no chat', { text: 'hello', chat_id: '' }, 'chat_id is empty'],
    ['an unknown chat', { text: 'hello', chat_id: 42 }, 'chat not found'],
    [
      'data of more than 64 bytes',
      {
        text: 'hello',
        reply_markup: { inline_keyboard: [[{ text: 'x', callback_data: 'ü'.repeat(33) }]] },
      },
      'BUTTON_DATA_INVALID',
    ],
    [
      'a button that does nothing',
      { text: 'hello', reply_markup: { inline_keyboard: [[{ text: 'x' }]] } },
      "can't parse inline keyboard button: Text buttons are unallowed in the inline keyboard",
    ],
  ])('%s is refused', async (_, params, why) => {
    const person = await acquaintance()
    expect(await call('sendMessage', { chat_id: person.id, ...params })).toMatchObject({
      ok: false,
      status: 400,
      description: `Bad Request: ${why}`,
    })
    expect(person.chat(bot)).toEqual([])
  })

  test('4096 characters and data of 64 bytes are taken', async () => {
    const person = await acquaintance()
    const inline_keyboard = [[{ text: 'x', callback_data: 'a'.repeat(64) }]]
    const params = {
      chat_id: person.id,
      text: '😀'.repeat(4096),
      reply_markup: { inline_keyboard },
    }
    expect((await call('sendMessage', params)).status).toBe(200)
  })

  test('an edit that changes nothing is refused, one of the buttons alone is not', async () => {
    const person = await acquaintance()
    const params = { chat_id: person.id, text: 'hello', reply_markup: keyboard('Yes') }
    const { message_id } = (await call('sendMessage', params)).result
    expect(await call('editMessageText', { ...params, message_id })).toMatchObject({
      status: 400,
      description: expect.stringContaining('Bad Request: message is not modified: '),
    })
    const others = { ...params, message_id, reply_markup: keyboard('No') }
    expect((await call('editMessageText', others)).status).toBe(200)
  })

  test('a message that is not there cannot be edited', async () => {
    const person = await acquaintance()
    expect(
      await call('editMessageText', { chat_id: person.id, message_id: 99, text: 'hello' }),
    ).toMatchObject({ status: 400, description: 'Bad Request: message to edit not found' })
  })

  test('who blocked the bot gets nothing until they speak to it again', async () => {
    const person = await acquaintance()
    const { result } = await call('sendMessage', { chat_id: person.id, text: 'hello' })
    person.block(bot)
    const refusal = { status: 403, description: 'Forbidden: bot was blocked by the user' }
    const to = { chat_id: person.id, message_id: result.message_id, text: 'again' }
    expect(await call('sendMessage', to)).toMatchObject(refusal)
    expect(await call('editMessageText', to)).toMatchObject(refusal)
    expect(await updates()).toMatchObject([
      { my_chat_member: { new_chat_member: { status: 'kicked' } } },
    ])
    person.start(bot)
    expect((await call('sendMessage', to)).status).toBe(200)
  })

  test('who never spoke to the bot gets nothing', async () => {
    expect(await call('sendMessage', { chat_id: api.person().id, text: 'hello' })).toMatchObject({
      status: 403,
      description: "Forbidden: bot can't initiate conversation with a user",
    })
  })
})

describe('taps', () => {
  async function prompt() {
    const person = await acquaintance()
    const reply_markup = keyboard('Deny', 'Approve')
    await call('sendMessage', { chat_id: person.id, text: 'Sign in?', reply_markup })
    return { person, message: await person.waitForMessage(bot) }
  }
  const answer = (callback_query_id: string, text?: string) =>
    call('answerCallbackQuery', { callback_query_id, text })

  test('a tap tells who tapped what', async () => {
    const { person, message } = await prompt()
    const tap = person.tap(message, 'Approve')
    person.tap(message, 0)
    const [first, second] = await updates()
    expect(first.callback_query).toMatchObject({
      id: tap.id,
      from: { id: person.id },
      data: 'approve',
      message: { message_id: message.message_id, text: 'Sign in?', chat: { id: person.id } },
    })
    expect(second.callback_query.data).toBe('deny')
    expect(() => person.tap(message, 'Maybe')).toThrow('no button Maybe')
  })

  test('a tap is forged, or made by somebody else', async () => {
    const { message } = await prompt()
    const other = api.person()
    other.tapData(message, 'forged')
    expect(await updates()).toMatchObject([
      { callback_query: { data: 'forged', from: { id: other.id } } },
    ])
  })

  test('a tap is answered once', async () => {
    const { person, message } = await prompt()
    const tap = person.tap(message, 'Approve')
    const answered = api.waitForAnswer(tap)
    expect((await answer(tap.id, 'Done')).result).toBe(true)
    expect(await answered).toEqual({ text: 'Done', isAlert: false })
    expect((await answer(tap.id)).status).toBe(400)
    expect(api.answersTo(tap)).toHaveLength(1)
  })

  test('a tap that expired, or another bot received, or nobody made, cannot be answered', async () => {
    const refusal = {
      status: 400,
      description:
        'Bad Request: query is too old and response timeout expired or query ID is invalid',
    }
    const { person, message } = await prompt()
    const tap = person.tap(message, 'Approve')
    const other = api.bot()
    const asOther = call('answerCallbackQuery', { callback_query_id: tap.id }, other.token)
    expect(await asOther).toMatchObject(refusal)
    api.expireTaps()
    expect(await answer(tap.id)).toMatchObject(refusal)
    expect(await answer('123')).toMatchObject(refusal)
  })
})

describe('faults', () => {
  test('a call fails as often as told, with what is told', async () => {
    const fault = api.fail({ method: 'getMe', times: 2, status: 502 })
    expect(await call('getMe')).toMatchObject({ status: 502, description: 'Bad Gateway' })
    expect((await call('getWebhookInfo')).status).toBe(200)
    expect((await call('getMe')).status).toBe(502)
    expect((await call('getMe')).status).toBe(200)
    expect(fault.hits()).toBe(2)
    expect(api.callsOf('getMe').map(({ status }) => status)).toEqual([502, 502, 200])
  })

  test('one bot may be told to wait while others are not', async () => {
    using _fault = api.fail({ bot, retryAfter: 7 })
    const refusal = await call('getMe')
    expect(refusal).toMatchObject({
      ok: false,
      status: 429,
      error_code: 429,
      description: 'Too Many Requests: retry after 7',
      parameters: { retry_after: 7 },
    })
    expect(refusal.headers.get('retry-after')).toBe('7')
    expect((await call('getMe', {}, api.bot().token)).status).toBe(200)
  })

  test('a fault ends when it is ended', async () => {
    const fault = api.fail({ status: 500 })
    expect((await call('getMe')).status).toBe(500)
    fault.end()
    expect((await call('getMe')).status).toBe(200)
  })

  test('a fault is met at once by who polls', async () => {
    const held = updates({ timeout: 50 })
    await api.waitForPoller(bot)
    api.fail({ method: 'getMe', status: 500 })
    expect(api.pollers(bot)).toBe(1)
    api.fail({ method: 'getUpdates', bot, status: 502 })
    expect(await held).toEqual([])
    expect((await call('getUpdates', { timeout: 50 })).status).toBe(502)
  })

  test('a connection is cut', async () => {
    api.fail({ times: 1, drop: true })
    expect(call('getMe')).rejects.toThrow('closed unexpectedly')
    await api.waitForCall('getMe', ({ status }) => status === 0)
    expect((await call('getMe')).status).toBe(200)
  })

  test('a reply is lost although the message was sent', async () => {
    const person = await acquaintance()
    const to = { chat_id: person.id, text: 'hello' }
    api.fail({ method: 'sendMessage', times: 1, drop: true })
    expect(call('sendMessage', to)).rejects.toThrow()
    await api.waitForCall('sendMessage', ({ status }) => status === 0)
    expect(person.chat(bot)).toEqual([])
    api.fail({ method: 'sendMessage', times: 1, status: 500, worksAnyway: true })
    expect((await call('sendMessage', to)).status).toBe(500)
    expect(person.chat(bot)).toHaveLength(1)
  })

  test('a page comes in place of JSON', async () => {
    api.fail({ times: 1, garbage: true, status: 502 })
    const response = await fetch(`${api.url}/bot${bot.token}/getMe`)
    expect(response.status).toBe(502)
    expect(await response.text()).toStartWith('<html>')
  })

  test('a reply is slow and right', async () => {
    api.fail({ times: 1, delayMs: 30 })
    const before = performance.now()
    expect((await call('getMe')).status).toBe(200)
    expect(performance.now() - before).toBeGreaterThanOrEqual(29)
  })

  test('a client that does not wait for a slow reply has sent nothing', async () => {
    const person = await acquaintance()
    api.fail({ times: 1, delayMs: 60_000 })
    const client = new AbortController()
    const to = { chat_id: person.id, text: 'hello' }
    const slow = call('sendMessage', to, bot.token, client.signal)
    await api.waitForCall('sendMessage')
    client.abort()
    expect(slow).rejects.toThrow()
    expect((await call('getMe')).status).toBe(200)
    expect(person.chat(bot)).toEqual([])
  })
})
