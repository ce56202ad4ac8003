import {
  type Bot,
  badRequest,
  conflict,
  type Keyboard,
  Refusal,
  type User,
  unixNow,
  type WireMessage,
} from './bot.ts'
import type { Update } from './queue.ts'

export type Params = Record<string, unknown>

/** A tap on a button, and what was told to the person who tapped. */
export interface TapRecord {
  bot: Bot
  answers: { text: string }[]
}

interface World {
  people: Map<number, User>
  taps: Map<string, TapRecord>
}

type Result = boolean | object | Promise<Update[]>
type Method = (bot: Bot, params: Params, gone: AbortSignal) => Result

const textOf = (params: Params, name: string) => String(params[name] ?? '')
const numberOf = (params: Params, name: string) => Number(params[name] ?? 0)

/** The methods there are, under their names. */
export const methodsOf = (world: World): Record<string, Method> => ({
  getMe: ({ user }) => user,
  getUpdates: ({ webhook, poll }, params, gone) => {
    if (webhook) throw conflict("can't use getUpdates method while webhook is active")
    const [limit, timeoutS] = [numberOf(params, 'limit'), numberOf(params, 'timeout')]
    return poll.read(numberOf(params, 'offset'), limit, timeoutS, gone)
  },
  /** Reaches no other machine. */
  setWebhook: (bot, params) => {
    const [url, secret] = [textOf(params, 'url'), textOf(params, 'secret_token')]
    if (!['127.0.0.1', 'localhost'].includes(URL.parse(url)?.hostname ?? ''))
      throw badRequest('bad webhook: Failed to resolve host: Name or service not known')
    if (!/^[\w-]{1,256}$/.test(secret))
      throw badRequest('secret token contains unallowed characters')
    bot.setWebhook({ url, secret })
    return true
  },
  getWebhookInfo: ({ queue, webhook }) => {
    const { url = '', lastError } = webhook ?? {}
    return { url, pending_update_count: queue.size(), last_error_message: lastError }
  },
  deleteWebhook: (bot) => {
    bot.webhook = undefined
    return true
  },
  sendMessage: (bot, params) => send(world, bot, params),
  editMessageText: (bot, params) => edit(world, bot, params),
  answerCallbackQuery: (bot, params) => answerTap(world, bot, params),
})

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
  return message
}

function edit(world: World, bot: Bot, params: Params): WireMessage {
  const changed = { text: messageText(params), ...keyboardOf(params) }
  const chat = chatToSpeakIn(world, bot, params)
  const id = numberOf(params, 'message_id')
  const sent = bot.sent.find(({ message: m }) => m.message_id === id && m.chat.id === chat.id)
  if (!sent) throw badRequest('message to edit not found')
  const { reply_markup: before, ...rest } = sent.message
  const isSameKeyboard = JSON.stringify(changed.reply_markup) === JSON.stringify(before)
  if (changed.text === rest.text && isSameKeyboard)
    throw badRequest('message is not modified: specified new message content and reply markup are')
  sent.message = { ...rest, ...changed }
  sent.edits++
  return sent.message
}

function messageText(params: Params): string {
  const text = textOf(params, 'text').trim()
  if (text === '') throw badRequest('message text is empty')
  if ([...text].length > 4096) throw badRequest('message is too long')
  return text
}

function keyboardOf({ reply_markup }: Params): { reply_markup?: Keyboard } {
  const rows = (reply_markup as Keyboard | undefined)?.inline_keyboard ?? []
  for (const { text, callback_data = '' } of rows.flat()) {
    if (!text) throw badRequest("can't parse inline keyboard button: Text buttons are unallowed")
    const bytes = Buffer.byteLength(callback_data)
    if (bytes < 1 || bytes > 64) throw badRequest('BUTTON_DATA_INVALID')
  }
  return rows.length === 0 ? {} : { reply_markup: { inline_keyboard: rows } }
}

function chatToSpeakIn({ people }: World, bot: Bot, params: Params) {
  const id = numberOf(params, 'chat_id')
  if (bot.blockedBy.has(id)) throw new Refusal(403, 'Forbidden: bot was blocked by the user')
  if (bot.chats.has(id)) return { id, type: 'private' } as const
  if (people.has(id))
    throw new Refusal(403, "Forbidden: bot can't initiate conversation with a user")
  throw badRequest('chat not found')
}

function answerTap({ taps }: World, bot: Bot, params: Params): true {
  const tap = taps.get(textOf(params, 'callback_query_id'))
  const text = textOf(params, 'text')
  if (tap?.bot !== bot || tap.answers.length > 0)
    throw badRequest('query is too old and response timeout expired or query ID is invalid')
  if ([...text].length > 200) throw badRequest('MESSAGE_TOO_LONG')
  tap.answers.push({ text })
  return true
}
