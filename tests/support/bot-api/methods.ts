import type { Bot, Fixture } from './fixture.ts'
import { keyboardOf, kindsOf, numberOf, type Params, textOf } from './params.ts'
import { deleteWebhook, setWebhook, webhookInfo } from './webhooks.ts'
import { badRequest, type Chat, conflict, Refusal, unixNow, type WireMessage } from './wire.ts'

const MAX_TEXT_LENGTH = 4096
const MAX_NOTICE_LENGTH = 200
const MAX_POLL_S = 50

export interface Answer {
  result: unknown
  description?: string
}

type Method = (bot: Bot, params: Params, gone: AbortSignal) => Answer | Promise<Answer>

/** The methods there are, under their names. */
export const methodsOf = (fixture: Fixture): Record<string, Method> => ({
  getMe: ({ user }) => ({
    result: {
      ...user,
      can_join_groups: true,
      can_read_all_group_messages: false,
      supports_inline_queries: false,
    },
  }),
  getUpdates,
  setWebhook,
  deleteWebhook,
  getWebhookInfo: webhookInfo,
  sendMessage: (bot, params) => ({ result: send(fixture, bot, params) }),
  editMessageText: (bot, params) => ({ result: edit(fixture, bot, params) }),
  answerCallbackQuery: (bot, params) => ({ result: answerTap(fixture, bot, params) }),
})

async function getUpdates(bot: Bot, params: Params, gone: AbortSignal): Promise<Answer> {
  if (bot.push.webhook())
    throw conflict(
      "can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first",
    )
  bot.allowedKinds = kindsOf(params) ?? bot.allowedKinds
  const asked = {
    offset: numberOf(params, 'offset', 0),
    limit: within(numberOf(params, 'limit', 100), 1, 100),
    timeoutS: within(numberOf(params, 'timeout', 0), 0, MAX_POLL_S),
  }
  return { result: await bot.poll.read(asked, gone) }
}

const within = (value: number, least: number, most: number) =>
  Math.min(Math.max(value, least), most)

function send(fixture: Fixture, bot: Bot, params: Params): WireMessage {
  const text = messageText(params)
  const keyboard = keyboardOf(params)
  const message: WireMessage = {
    chat: chatToSpeakIn(fixture, bot, params),
    message_id: bot.newMessageId(),
    from: bot.user,
    date: unixNow(),
    text,
    ...(keyboard && { reply_markup: keyboard }),
  }
  bot.sent.push({ message, edits: 0 })
  fixture.bell.ring()
  return message
}

function edit(fixture: Fixture, bot: Bot, params: Params): WireMessage {
  const text = messageText(params)
  const keyboard = keyboardOf(params)
  const chat = chatToSpeakIn(fixture, bot, params)
  const id = numberOf(params, 'message_id', 0)
  const sent = bot.sent.find(({ message: m }) => m.message_id === id && m.chat.id === chat.id)
  if (!sent) throw badRequest('message to edit not found')

  const { reply_markup: before, ...rest } = sent.message
  if (text === rest.text && JSON.stringify(keyboard) === JSON.stringify(before))
    throw badRequest(
      'message is not modified: specified new message content and reply markup are exactly the same as a current content and reply markup of the message',
    )
  sent.message = {
    ...rest,
    text,
    edit_date: unixNow(),
    ...(keyboard && { reply_markup: keyboard }),
  }
  sent.edits++
  fixture.bell.ring()
  return sent.message
}

function messageText(params: Params): string {
  const text = textOf(params, 'text').trim()
  if (text === '') throw badRequest('message text is empty')
  if ([...text].length > MAX_TEXT_LENGTH) throw badRequest('message is too long')
  return text
}

function chatToSpeakIn({ people }: Fixture, bot: Bot, params: Params): Chat {
  if (textOf(params, 'chat_id') === '') throw badRequest('chat_id is empty')
  const id = numberOf(params, 'chat_id', 0)
  if (bot.blockedBy.has(id)) throw new Refusal(403, 'Forbidden: bot was blocked by the user')
  const chat = bot.chats.get(id)
  if (chat) return chat
  if (people.has(id))
    throw new Refusal(403, "Forbidden: bot can't initiate conversation with a user")
  throw badRequest('chat not found')
}

function answerTap({ taps, bell }: Fixture, bot: Bot, params: Params): true {
  const tap = taps.get(textOf(params, 'callback_query_id'))
  const text = textOf(params, 'text')
  if (tap?.bot !== bot || !tap.isOpen)
    throw badRequest('query is too old and response timeout expired or query ID is invalid')
  if ([...text].length > MAX_NOTICE_LENGTH) throw badRequest('MESSAGE_TOO_LONG')
  tap.isOpen = false
  tap.answers.push({ text })
  bell.ring()
  return true
}
