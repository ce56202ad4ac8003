import type { Bot, Ring } from './bot.ts'
import {
  badRequest,
  type Chat,
  conflict,
  type Keyboard,
  Refusal,
  type Update,
  type User,
  unixNow,
  type WireMessage,
} from './wire.ts'

/** The parameters of a call, texts if they are from the query. */
export type Params = Record<string, unknown>

/** A tap on a button, and what was told to the person who tapped. */
export interface TapRecord {
  bot: Bot
  isOpen: boolean
  answers: { text: string }[]
}

interface World {
  people: Map<number, User>
  taps: Map<string, TapRecord>
  ring: Ring
}

type Result = boolean | object | Promise<Update[]>
type Method = (bot: Bot, params: Params, gone: AbortSignal) => Result

const textOf = (params: Params, name: string): string => {
  const value = params[name]
  return typeof value === 'string' || typeof value === 'number' ? String(value) : ''
}

const numberOf = (params: Params, name: string, otherwise: number): number => {
  const value = Number.parseInt(textOf(params, name), 10)
  return Number.isNaN(value) ? otherwise : value
}

/** Undefined where none is named; an empty list stands for what is usual. */
const kindsOf = ({ allowed_updates: kinds }: Params) =>
  Array.isArray(kinds) ? kinds.map(String) : undefined

const within = (value: number, least: number, most: number) =>
  Math.min(Math.max(value, least), most)

/** The methods there are, under their names. */
export const methodsOf = (world: World): Record<string, Method> => ({
  getMe: ({ user }) => ({ ...user, can_join_groups: true, supports_inline_queries: false }),
  getUpdates,
  setWebhook,
  getWebhookInfo,
  deleteWebhook: (bot) => {
    bot.webhook = undefined
    return true
  },
  sendMessage: (bot, params) => send(world, bot, params),
  editMessageText: (bot, params) => edit(world, bot, params),
  answerCallbackQuery: (bot, params) => answerTap(world, bot, params),
})

function getUpdates(bot: Bot, params: Params, gone: AbortSignal) {
  if (bot.webhook) throw conflict("can't use getUpdates method while webhook is active")
  bot.allowedKinds = kindsOf(params) ?? bot.allowedKinds
  const limit = within(numberOf(params, 'limit', 100), 1, 100)
  const timeoutS = within(numberOf(params, 'timeout', 0), 0, 50)
  return bot.poll.read(numberOf(params, 'offset', 0), limit, timeoutS, gone)
}

/** Reaches no other machine. */
function setWebhook(bot: Bot, params: Params) {
  const [url, secret] = [textOf(params, 'url'), textOf(params, 'secret_token')]
  if (!['127.0.0.1', 'localhost'].includes(URL.parse(url)?.hostname ?? ''))
    throw badRequest('bad webhook: Failed to resolve host: Name or service not known')
  if (!/^[\w-]{0,256}$/.test(secret)) throw badRequest('secret token contains unallowed characters')
  bot.allowedKinds = kindsOf(params) ?? bot.allowedKinds
  bot.setWebhook({ url, secret: secret || undefined })
  return true
}

function getWebhookInfo({ queue, webhook }: Bot) {
  const { url = '', lastError } = webhook ?? {}
  const error = lastError && { last_error_date: unixNow(), last_error_message: lastError }
  return { url, has_custom_certificate: false, pending_update_count: queue.size(), ...error }
}

function send(world: World, bot: Bot, params: Params): WireMessage {
  const message: WireMessage = {
    text: messageText(params),
    ...keyboardOf(params),
    chat: chatToSpeakIn(world, bot, params),
    message_id: bot.newMessageId(),
    from: bot.user,
    date: unixNow(),
  }
  bot.sent.push({ message, edits: 0 })
  world.ring()
  return message
}

function edit(world: World, bot: Bot, params: Params): WireMessage {
  const changed = { text: messageText(params), ...keyboardOf(params) }
  const chat = chatToSpeakIn(world, bot, params)
  const id = numberOf(params, 'message_id', 0)
  const sent = bot.sent.find(({ message: m }) => m.message_id === id && m.chat.id === chat.id)
  if (!sent) throw badRequest('message to edit not found')
  const { reply_markup: before, ...rest } = sent.message
  const isSameKeyboard = JSON.stringify(changed.reply_markup) === JSON.stringify(before)
  if (changed.text === rest.text && isSameKeyboard)
    throw badRequest('message is not modified: specified new message content and reply markup are')
  sent.message = { ...rest, ...changed, edit_date: unixNow() }
  sent.edits++
  world.ring()
  return sent.message
}

function messageText(params: Params): string {
  const text = textOf(params, 'text').trim()
  if (text === '') throw badRequest('message text is empty')
  if ([...text].length > 4096) throw badRequest('message is too long')
  return text
}

function keyboardOf({ reply_markup }: Params): { reply_markup?: Keyboard } {
  if (reply_markup === undefined) return {}
  const rows = (reply_markup as Keyboard).inline_keyboard.filter((row) => row.length > 0)
  for (const { text, callback_data: data, url } of rows.flat()) {
    if (!text || (data ?? url) === undefined)
      throw badRequest("can't parse inline keyboard button: Text buttons are unallowed")
    const bytes = Buffer.byteLength(data ?? 'x')
    if (bytes < 1 || bytes > 64) throw badRequest('BUTTON_DATA_INVALID')
  }
  return rows.length === 0 ? {} : { reply_markup: { inline_keyboard: rows } }
}

function chatToSpeakIn({ people }: World, bot: Bot, params: Params): Chat {
  const id = numberOf(params, 'chat_id', 0)
  if (bot.blockedBy.has(id)) throw new Refusal(403, 'Forbidden: bot was blocked by the user')
  const chat = bot.chats.get(id)
  if (chat) return chat
  if (people.has(id))
    throw new Refusal(403, "Forbidden: bot can't initiate conversation with a user")
  throw badRequest('chat not found')
}

function answerTap({ taps, ring }: World, bot: Bot, params: Params): true {
  const tap = taps.get(textOf(params, 'callback_query_id'))
  const text = textOf(params, 'text')
  if (tap?.bot !== bot || !tap.isOpen)
    throw badRequest('query is too old and response timeout expired or query ID is invalid')
  if ([...text].length > 200) throw badRequest('MESSAGE_TOO_LONG')
  tap.isOpen = false
  tap.answers.push({ text })
  ring()
  return true
}
