import { type Bot, type User, unixNow } from './bot.ts'
import type { TapRecord } from './methods.ts'

/** A message of a bot as it reads now. */
export type BotMessage = ReturnType<Bot['messagesIn']>[number]
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
  const privateChat = { id, type: 'private', first_name }
  const chat = (bot: Named) => botOf(bot).messagesIn(id)

  function say(to: Named, text: string) {
    const bot = botOf(to)
    bot.blockedBy.delete(id)
    bot.chats.add(id)
    const written = { message_id: bot.newMessageId(), from: user, date: unixNow(), text }
    bot.queue.add('message', { ...written, chat: privateChat })
  }

  function tapData({ bot: botId, message_id }: BotMessage, data: string) {
    const bot = botOf({ id: botId })
    const message = bot.sent.find(({ message: m }) => m.message_id === message_id)?.message
    const tapId = `${user.id}${String(taps.size).padStart(8, '0')}`
    taps.set(tapId, { bot, answers: [] })
    bot.queue.add('callback_query', { id: tapId, from: user, message, data })
    return { id: tapId }
  }

  return {
    ...user,
    ...{ say, chat },

    /** Opens the private chat with the bot and presses Start, as from a link with `payload`. */
    start: (bot: Named, payload: string) => say(bot, `/start ${payload}`),

    /** Follows a link such as `https://t.me/some_bot?start=payload`. */
    follow: (link: string) => {
      const { pathname, searchParams } = new URL(link)
      const bot = [...bots.values()].find((one) => `/${one.user.username}` === pathname)
      if (!bot) throw new Error(`there is no bot at ${link}`)
      say(bot, `/start ${searchParams.get('start')}`)
    },

    /** Taps a button of the message as it was read, by its label or by its place. */
    tap: (message: BotMessage, button: string | number) => {
      const place = typeof button === 'number' ? button : message.buttons.flat().indexOf(button)
      const data = message.data.flat()[place]
      if (data === undefined) throw new Error(`no button ${button} among ${message.buttons.flat()}`)
      return tapData(message, data)
    },

    /** Taps a button that is not there. */
    tapData,

    block: (bot: Named) => void botOf(bot).blockedBy.add(id),

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
