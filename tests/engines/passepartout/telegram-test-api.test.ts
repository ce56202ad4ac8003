import { expect, test } from 'bun:test'
import TelegramServer from 'telegram-test-api'
import { bootTestApp } from '../../support/app.ts'
import { freePort } from '../../support/port.ts'
import { CLIENT, type Json, START, statusOf } from './fixture.ts'

const ACTOR = { kind: 'cli', source: 'test' } as const
const TOKEN = `666:${'A'.repeat(35)}`

/** Answers of Telegram that this server does not have. */
const MISSING: Record<string, object> = {
  getMe: { id: 666, is_bot: true, first_name: 'Test', username: 'TestNameBot' },
  getWebhookInfo: { url: '' },
}

test('A sign-in works with a Bot API server by other authors', async () => {
  await using stack = new AsyncDisposableStack()
  const server = new TelegramServer({ port: freePort(), host: '127.0.0.1' })
  await server.start()
  stack.defer(() => void server.stop())
  const proxy = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: async (request) => {
      const { pathname } = new URL(request.url)
      const result = MISSING[pathname.split('/').at(-1) ?? '']
      if (result) return Response.json({ ok: true, result })
      const headers = { 'content-type': 'application/json' }
      const init = { method: 'POST', headers, body: await request.text() }
      return await fetch(server.config.apiURL + pathname, init)
    },
  })
  stack.defer(() => proxy.stop(true))
  const flags = { 'passepartout-telegram-api-root': proxy.url.origin }
  const app = stack.use(await bootTestApp({ flags }))
  const { id: tenantId, key } = await app.tenant()
  const owner = { tenantId, environment: 'live' } as const
  await app.passepartout.bots.set(ACTOR, owner, { token: TOKEN })
  await app.passepartout.bots.enable(ACTOR, owner)
  const live = app.client((await key('passepartout', 'live')).key)
  const names = { firstName: 'Ada', userName: 'ada' }
  const ada = server.getClient(TOKEN, { userId: 77, chatId: 77, ...names, timeout: 2000 })

  /** Turns the clock meanwhile: this server does not hold polls, so the next one is due in 1 s. */
  async function turnUntil(happening: Promise<unknown>) {
    let hasHappened = false
    void happening.then(() => {
      hasHappened = true
    })
    while (!hasHappened) {
      await app.clock.advance(250)
      await Bun.sleep(5)
    }
  }

  const { nonce, deep_link, match_code } = (await live.post(START, { client: CLIENT })).body
  expect(deep_link).toStartWith('https://t.me/TestNameBot?start=')
  const said = server.waitBotMessage()
  await ada.sendCommand(ada.makeCommand(`/start ${deep_link.slice(-43)}`))
  await turnUntil(said)
  const { messageId: message_id, message }: Json = (await ada.getUpdates()).result.at(-1)
  expect(message).toMatchObject({ chat_id: 77, text: expect.stringMatching(/^Sign in to Acme\?/) })
  const [numbers, [deny]] = message.reply_markup.inline_keyboard
  expect(deny).toEqual({ text: 'Deny', callback_data: expect.stringMatching(/^deny\./) })
  const right = numbers.find(({ text }: Json) => text === match_code)
  const edited = server.waitBotEdits()
  await ada.sendCallback(ada.makeCallbackQuery(right.callback_data, { message: { message_id } }))
  await turnUntil(edited)
  const asked = server.storage.botMessages.find(({ messageId }) => messageId === message_id)
  expect(asked?.message.text).toStartWith('You signed in to Acme')
  const { body } = await live.get(statusOf(nonce))
  const user = { platform: 'telegram', platform_user_id: '77', username: 'ada', first_name: 'Ada' }
  expect(body).toMatchObject({ status: 'completed', user })
})
