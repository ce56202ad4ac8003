import { afterAll, expect, test } from 'bun:test'
import { startBotApi } from './bot-api/index.ts'

/** Behavior of Telegram's Bot API that tests rely on. */

const api = startBotApi()
afterAll(() => api[Symbol.asyncDispose]())

/** A bot, and calls of its methods. */
function newBot() {
  const bot = api.bot()
  async function call(method: string, params: object = {}) {
    const init = { headers: { 'content-type': 'application/json' }, body: JSON.stringify(params) }
    const response = await fetch(`${api.url}/bot${bot.token}/${method}`, {
      method: 'POST',
      ...init,
    })
    return { status: response.status, ...(await response.json()) }
  }
  const updates = async (params: object) => (await call('getUpdates', params)).result
  return { bot, call, updates }
}

test('updates come again until an offset confirms them, to the latest poll', async () => {
  const { bot, call, updates } = newBot()
  const ada = api.person()
  for (const text of ['one', 'two', 'three']) ada.say(bot, text)
  const all = await updates({})
  expect(await updates({})).toEqual(all)
  for (const offset of [all[1].update_id, 0]) expect(await updates({ offset })).toHaveLength(2)
  const next = { offset: all[2].update_id + 1, timeout: 50 }
  const held = call('getUpdates', next)
  await api.waitForPoller(bot)
  const second = updates(next)
  expect((await held).description).toStartWith('Conflict: terminated by other getUpdates request')
  ada.say(bot, 'four')
  expect(await second).toMatchObject([{ message: { text: 'four' } }])
})

test('a webhook ends a poll, and a revoked token is refused', async () => {
  const { bot, call } = newBot()
  const held = call('getUpdates', { timeout: 50 })
  await api.waitForPoller(bot)
  bot.ownedByWebhook('https://other.example/hook')
  expect((await held).description).toBe('Conflict: terminated by setWebhook request')
  expect((await call('getUpdates')).status).toBe(409)
  const revoked = bot.token
  bot.revokeToken()
  expect((await fetch(`${api.url}/bot${revoked}/getMe`)).status).toBe(401)
})

test('messages go to people who have started and not blocked the bot', async () => {
  const { bot, call } = newBot()
  const ada = api.person()
  const message = { chat_id: ada.id, text: 'Sign in?' }
  expect((await call('sendMessage', message)).status).toBe(403)
  ada.start(bot)
  const { message_id } = (await call('sendMessage', message)).result
  const { description } = await call('editMessageText', { ...message, message_id })
  expect(description).toStartWith('Bad Request: message is not modified')
  ada.block(bot)
  expect((await call('sendMessage', message)).status).toBe(403)
})
