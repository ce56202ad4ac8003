import { randomBytes } from 'node:crypto'
import { type Bell, newBell } from './bell.ts'
import type { Params } from './params.ts'
import { newPoll, type Poll } from './poll.ts'
import { newPush, type Push } from './push.ts'
import { newQueue, type Queue } from './queue.ts'
import { type Chat, Refusal, type User, type WireMessage } from './wire.ts'

const NOT_USUAL = ['chat_member', 'message_reaction', 'message_reaction_count']

export interface Call {
  /** As it is written in the documentation, however it was written in the call. */
  method: string
  token: string
  params: Params
  at: number
  /** Undefined as long as it is under way, 0 where the connection was cut. */
  status: number | undefined
}

interface Sent {
  message: WireMessage
  edits: number
}

export interface Bot {
  user: User & { username: string }
  token: string
  queue: Queue
  poll: Poll
  push: Push
  /** Undefined for those that are usual. */
  allowedKinds: string[] | undefined
  /** Those in which it was spoken to. */
  chats: Map<number, Chat>
  blockedBy: Set<number>
  sent: Sent[]
  newMessageId: () => number
}

/** What was told to whoever tapped. */
export interface TapAnswer {
  text: string
}

interface TapRecord {
  bot: Bot
  isOpen: boolean
  answers: TapAnswer[]
}

export interface Fixture {
  bots: Map<number, Bot>
  people: Map<number, User>
  taps: Map<string, TapRecord>
  calls: Call[]
  bell: Bell
  closing: AbortSignal
  newId: () => number
}

export function newFixture(closing: AbortSignal): Fixture {
  let lastId = 0
  return {
    bots: new Map(),
    people: new Map(),
    taps: new Map(),
    calls: [],
    bell: newBell(),
    closing,
    newId: () => ++lastId,
  }
}

export interface BotFields {
  id?: number
  username?: string
  name?: string
  token?: string
}

export const newToken = (id: number) => `${id}:AA${randomBytes(24).toString('base64url')}H`

export function addBot({ bots, bell, closing, newId }: Fixture, fields: BotFields): Bot {
  const id = fields.id ?? 7_100_000_000 + newId()
  const username = fields.username ?? `door_${id}_bot`
  let lastMessageId = 0

  const queue = newQueue(() => {
    poll.look()
    push.look()
  })
  const poll = newPoll(queue, bell)
  const push = newPush(queue, bell, closing)

  const bot: Bot = {
    user: { id, is_bot: true, first_name: fields.name ?? 'Door', username },
    token: fields.token ?? newToken(id),
    queue,
    poll,
    push,
    allowedKinds: undefined,
    chats: new Map(),
    blockedBy: new Set(),
    sent: [],
    newMessageId: () => ++lastMessageId,
  }
  bots.set(id, bot)
  return bot
}

/** The old one is of no use from now on, neither for calls nor for the webhook. */
export function replaceToken(bot: Bot): string {
  bot.token = newToken(bot.user.id)
  bot.poll.refuse(new Refusal(401, 'Unauthorized'))
  bot.push.set(undefined)
  return bot.token
}

/** Something happened that the bot hears of, if it wants to. */
export function tell(bot: Bot, kind: string, about: unknown) {
  const { allowedKinds } = bot
  const isWanted = allowedKinds?.length ? allowedKinds.includes(kind) : !NOT_USUAL.includes(kind)
  if (isWanted) bot.queue.add({ [kind]: about })
}

export type BotMessage = ReturnType<typeof viewOf>

/** A message of the bot as it reads now. */
const viewOf = ({ user }: Bot, { message, edits }: Sent) => {
  const rows = message.reply_markup?.inline_keyboard ?? []
  return {
    message_id: message.message_id,
    text: message.text,
    buttons: rows.map((row) => row.map(({ text }) => text)),
    data: rows.map((row) => row.map(({ callback_data }) => callback_data ?? '')),
    edits,
    bot: user.id,
    chat: message.chat.id,
  }
}

export const messagesIn = (bot: Bot, chatId: number): BotMessage[] =>
  bot.sent.filter(({ message }) => message.chat.id === chatId).map((sent) => viewOf(bot, sent))
