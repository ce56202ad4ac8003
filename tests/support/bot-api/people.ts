import { type Bot, type BotMessage, type Fixture, messagesIn, tell } from './fixture.ts'
import { type Chat, type User, unixNow, type WireMessage } from './wire.ts'

/** A tap on a button; tests ask with it for the answer. */
export interface Tap {
  id: string
}

export type Person = ReturnType<typeof newPerson>

/** Somebody with the app in their hand. */
export function newPerson(fixture: Fixture, user: User) {
  fixture.people.set(user.id, user)
  const { id, first_name, last_name, username } = user
  const privateChat: Chat = { id, type: 'private', first_name, last_name, username }

  const botOf = (bot: { id: number }): Bot => {
    const found = fixture.bots.get(bot.id)
    if (!found) throw new Error(`there is no bot ${bot.id}`)
    return found
  }

  function write(bot: Bot, chat: Chat, text: string): number {
    bot.chats.set(chat.id, chat)
    const command = /^\/\w+(@\w+)?/.exec(text)?.[0]
    const message: WireMessage = {
      message_id: bot.newMessageId(),
      from: user,
      chat,
      date: unixNow(),
      text,
      ...(command && { entities: [{ type: 'bot_command', offset: 0, length: command.length }] }),
    }
    tell(bot, 'message', message)
    return chat.id
  }

  function say(to: { id: number }, text: string) {
    const bot = botOf(to)
    if (bot.blockedBy.delete(id)) tellOfBlock(bot, 'kicked', 'member')
    write(bot, privateChat, text)
  }

  function start(bot: { id: number }, payload?: string) {
    if (payload !== undefined && !/^[\w-]{1,64}$/.test(payload))
      throw new Error(`no link can carry «${payload}»; whoever types it says it`)
    say(bot, payload === undefined ? '/start' : `/start ${payload}`)
  }

  function tellOfBlock(bot: Bot, from: string, to: string) {
    tell(bot, 'my_chat_member', {
      chat: privateChat,
      from: user,
      date: unixNow(),
      old_chat_member: { user: bot.user, status: from },
      new_chat_member: { user: bot.user, status: to },
    })
  }

  function tapData({ bot: botId, chat, message_id }: BotMessage, data: string): Tap {
    const bot = botOf({ id: botId })
    const sent = bot.sent.find(
      ({ message: m }) => m.message_id === message_id && m.chat.id === chat,
    )
    const tapId = `${user.id}${String(fixture.newId()).padStart(8, '0')}`
    fixture.taps.set(tapId, { bot, isOpen: true, answers: [] })
    tell(bot, 'callback_query', {
      id: tapId,
      from: user,
      message: sent?.message,
      chat_instance: String(chat),
      data,
    })
    return { id: tapId }
  }

  const chat = (bot: { id: number }) => messagesIn(botOf(bot), id)

  return {
    ...user,

    /** Opens the private chat with the bot and presses Start, as from a link with `payload`. */
    start,

    /** Follows a link such as `https://t.me/some_bot?start=payload`. */
    follow: (link: string) => {
      const { pathname, searchParams } = new URL(link)
      const bot = [...fixture.bots.values()].find((one) => `/${one.user.username}` === pathname)
      if (!bot) throw new Error(`there is no bot at ${link}`)
      start(bot.user, searchParams.get('start') ?? undefined)
    },

    say,

    /** Adds the bot to a new group with a start link. Returns the id of the chat. */
    startInGroup: (to: { id: number }, payload: string): number => {
      const bot = botOf(to)
      const group: Chat = {
        id: -1_002_000_000_000 - fixture.newId(),
        type: 'supergroup',
        title: 'Neighbours',
      }
      return write(bot, group, `/start@${bot.user.username} ${payload}`)
    },

    /** Taps a button of the message as it was read, by its label or by its place. */
    tap: (message: BotMessage, button: string | number): Tap => {
      const place = typeof button === 'number' ? button : message.buttons.flat().indexOf(button)
      const data = message.data.flat()[place]
      if (data === undefined)
        throw new Error(`no button ${button} among ${message.buttons.flat().join(', ')}`)
      return tapData(message, data)
    },

    /** Taps a button that is not there. */
    tapData,

    block: (from: { id: number }) => {
      const bot = botOf(from)
      bot.blockedBy.add(id)
      tellOfBlock(bot, 'member', 'kicked')
    },

    /** What the bot wrote in the private chat, as it reads now. */
    chat,

    lastMessage: (bot: { id: number }): BotMessage | undefined => chat(bot).at(-1),

    /** Resolves with the latest message that fits, as soon as one does. */
    waitForMessage: (
      bot: { id: number },
      fits: (message: BotMessage) => boolean = () => true,
      withinMs?: number,
    ): Promise<BotMessage> =>
      fixture.bell.until(() => chat(bot).findLast(fits), `message that fits for ${id}`, withinMs),
  }
}
