import { expect, test } from 'bun:test'
import TelegramServer from 'telegram-test-api'
import { bootTestApp, type TestApp } from '../../support/app.ts'
import {
  CLIENT,
  expectNobody,
  type Login,
  rowsOf,
  startLogin,
  startProxy,
  turnUntil,
} from './walk.ts'

const ACTOR = { kind: 'cli', source: 'test' } as const
const TOKEN = `666:${'A'.repeat(35)}`

/** It takes no port 0 for one that is free. */
async function freePort(): Promise<number> {
  const server = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => new Response() })
  const { port } = server
  await server.stop(true)
  if (port === undefined) throw new Error('there is no port')
  return port
}

/** What every bot is told by Telegram, and by this server is not. */
const MISSING: Record<string, object> = {
  getMe: { id: 666, is_bot: true, first_name: 'Test', username: 'TestNameBot' },
  getWebhookInfo: { url: '' },
}

/** The application on somebody else's idea of the Bot API. */
async function boot() {
  const server = new TelegramServer({ port: await freePort(), host: '127.0.0.1' })
  await server.start()
  const proxy = startProxy(
    () => server.config.apiURL,
    (method) => {
      const result = MISSING[method]
      return result && { body: JSON.stringify({ ok: true, result }) }
    },
  )
  const app = await bootTestApp({ flags: { 'passepartout-telegram-api-root': proxy.url } })
  const tenant = await app.tenant()
  const owner = { tenantId: tenant.id, environment: 'live' } as const
  await app.passepartout.bots.set(ACTOR, owner, { token: TOKEN })
  await app.passepartout.bots.enable(ACTOR, owner)
  const live = app.client((await tenant.key('passepartout', 'live')).key)
  const ada = server.getClient(TOKEN, {
    userId: 77,
    chatId: 77,
    firstName: 'Ada',
    userName: 'ada',
    timeout: 2000,
  })

  /** Its empty answers are not held: the next question is put a second later. */
  const turnWhile = async (app: TestApp, happening: Promise<unknown>) => {
    let hasHappened = false
    void happening.then(() => {
      hasHappened = true
    })
    await turnUntil({ app }, () => hasHappened)
  }

  /** What the bot says to a link that is opened. */
  async function opened({ payload }: Login) {
    const said = server.waitBotMessage()
    await ada.sendCommand(ada.makeCommand(`/start ${payload}`))
    await turnWhile(app, said)
    const message = (await ada.getUpdates()).result.at(-1)
    if (!message || !('messageId' in message)) throw new Error('the bot says nothing')
    return message
  }

  /** What the question says once somebody has tapped. */
  async function tapped(message_id: number, data: string) {
    const edited = server.waitBotEdits()
    await ada.sendCallback(ada.makeCallbackQuery(data, { message: { message_id } }))
    await turnWhile(app, edited)
    const message = server.storage.botMessages.find(({ messageId }) => messageId === message_id)
    return message?.message.text
  }

  return {
    fixture: { app },
    app,
    live,
    opened,
    tapped,
    [Symbol.asyncDispose]: async () => {
      await app.stop()
      await proxy[Symbol.asyncDispose]()
      await server.stop()
    },
  }
}

test('a sign-in completes by way of a Bot API server that is not ours', async () => {
  await using here = await boot()
  const { fixture, app, live, opened, tapped } = here
  const login = await startLogin(fixture, live, { client: CLIENT })
  expect(login.link).toStartWith('https://t.me/TestNameBot?start=')

  const { messageId, message } = await opened(login)
  expect(message).toMatchObject({
    chat_id: 77,
    text: expect.stringMatching(/^Sign in to Acme\?/),
    reply_markup: {
      inline_keyboard: [
        expect.arrayContaining([
          { text: login.code, callback_data: `${login.code}.${login.attemptId}` },
        ]),
        [{ text: 'Deny', callback_data: `deny.${login.attemptId}` }],
      ],
    },
  })
  await expectNobody(fixture, login)
  const outcome = await tapped(messageId, `${login.code}.${login.attemptId}`)
  expect(outcome).toStartWith('You signed in to Acme')
  const completed = (await login.status()).body
  expect(completed).toMatchObject({
    status: 'completed',
    user: { platform: 'telegram', platform_user_id: '77', username: 'ada', first_name: 'Ada' },
  })
  const { access_token } = completed
  const { body } = await live.post('/v1/passepartout/tokens/introspect', { access_token })
  expect(body).toMatchObject({ active: true, subject: completed.user.id })
  await app.passepartout.idle()
  expect(rowsOf(app, 'prompts')).toEqual([])
})

test('a denial there signs nobody in', async () => {
  await using here = await boot()
  const { fixture, live, opened, tapped } = here
  const login = await startLogin(fixture, live)

  const { messageId } = await opened(login)
  const outcome = await tapped(messageId, `deny.${login.attemptId}`)
  expect(outcome).toStartWith('You denied a sign-in to Acme')
  await expectNobody(fixture, login, 'login_denied')
})
