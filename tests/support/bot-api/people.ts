import type { Bot } from './bot.ts'
import type { TapRecord } from './methods.ts'
import { type Chat, type User, unixNow } from './wire.ts'

/** A message of a bot as it reads now. */
export type BotMessage = ReturnType<Bot['messagesIn']>[number]
/** A tap on a button; tests ask with it for the answer. */
export type Tap = { id: string }
export type Person = ReturnType<typeof newPerson>

type Named = { id: number }

interface World {
  bots: Map<number, Bot>
  people: Map<number, User>
  taps: Map<string, TapRecord>
  botOf: (bot: Named) => Bot
  until: <T>(find: () => T | undefined, what: string, withinMs?: number) => Promise<T>
}

/** A person with the app in their hand. */
export function newPerson({ bots, people, taps, botOf, until }: World, user: User) {
  people.set(user.id, user)
  const { id, first_name } = user
  const privateChat: Chat = { id, type: 'private', first_name }

  function write(bot: Bot, chat: Chat, text: string): number {
    bot.chats.set(chat.id, chat)
    const command = /^\/\w+(@\w+)?/.exec(text)?.[0]
    const written = { message_id: bot.newMessageId(), from: user, chat, date: unixNow(), text }
    const entities = [{ type: 'bot_command', offset: 0, length: command?.length }]
    bot.tell('message', { ...written, ...(command && { entities }) })
    return chat.id
  }

  function say(to: Named, text: string) {
    const bot = botOf(to)
    if (bot.blockedBy.delete(id)) tellOfBlock(bot, 'kicked', 'member')
    write(bot, privateChat, text)
  }

  function start(bot: Named, payload?: string) {
    if (payload !== undefined && !/^[\w-]{1,64}$/.test(payload))
      throw new Error(`no link can carry «${payload}»`)
    say(bot, payload === undefined ? '/start' : `/start ${payload}`)
  }

  function tellOfBlock(bot: Bot, from: string, to: string) {
    const member = (status: string) => ({ user: bot.user, status })
    const change = { old_chat_member: member(from), new_chat_member: member(to) }
    bot.tell('my_chat_member', { chat: privateChat, from: user, date: unixNow(), ...change })
  }

  function tapData({ bot: botId, chat, message_id }: BotMessage, data: string): Tap {
    const bot = botOf({ id: botId })
    const isTapped = ({ message: m }: Bot['sent'][number]) =>
      m.message_id === message_id && m.chat.id === chat
    const message = bot.sent.find(isTapped)?.message
    const tapId = `${user.id}${String(taps.size).padStart(8, '0')}`
    taps.set(tapId, { bot, isOpen: true, answers: [] })
    const chat_instance = String(chat)
    bot.tell('callback_query', { id: tapId, from: user, message, chat_instance, data })
    return { id: tapId }
  }

  const chat = (bot: Named) => botOf(bot).messagesIn(id)

  return {
    ...user,
    ...{ say, chat },

    /** Opens the private chat with the bot and presses Start, as from a link with `payload`. */
    start,

    /** Follows a link such as `https://t.me/some_bot?start=payload`. */
    follow: (link: string) => {
      const { pathname, searchParams } = new URL(link)
      const bot = [...bots.values()].find((one) => `/${one.user.username}` === pathname)
      if (!bot) throw new Error(`there is no bot at ${link}`)
      start(bot.user, searchParams.get('start') ?? undefined)
    },

    /** Adds the bot to a new group with a start link. Returns the id of the chat. */
    startInGroup: (to: Named, payload: string): number => {
      const bot = botOf(to)
      const group = { id: -1_002_000_000_000 - id, type: 'supergroup', title: 'Neighbors' } as const
      return write(bot, group, `/start@${bot.user.username} ${payload}`)
    },

    /** Taps a button of the message as it was read, by its label or by its place. */
    tap: (message: BotMessage, button: string | number): Tap => {
      const place = typeof button === 'number' ? button : message.buttons.flat().indexOf(button)
      const data = message.data.flat()[place]
      if (data === undefined) throw new Error(`no button ${button} among ${message.buttons.flat()}`)
      return tapData(message, data)
    },

    /** Taps a button that is not there. */
    tapData,

    block: (from: Named) => {
      const bot = botOf(from)
      bot.blockedBy.add(id)
      tellOfBlock(bot, 'member', 'kicked')
    },

    lastMessage: (bot: Named): BotMessage | undefined => chat(bot).at(-1),

    /** Resolves with the latest message that fits, as soon as one does. */
    waitForMessage: (
      bot: Named,
      fits: (message: BotMessage) => boolean = () => true,
      withinMs?: number,
    ): Promise<BotMessage> =>
      until(() => chat(bot).findLast(fits), `message that fits for ${id}`, withinMs),
  }
}
