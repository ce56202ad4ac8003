import { type FaultFields, newFaults } from './faults.ts'
import {
  addBot,
  type Bot,
  type BotFields,
  type BotMessage,
  type Call,
  messagesIn,
  newFixture,
  replaceToken,
  type TapAnswer,
  tell,
} from './fixture.ts'
import { newPerson, type Person, type Tap } from './people.ts'
import { serve } from './server.ts'
import { useWebhook } from './webhooks.ts'
import type { UpdateBody, User } from './wire.ts'

export type { BotMessage, Call, FaultFields, Person, Tap, TapAnswer }
export type BotApi = ReturnType<typeof startBotApi>
export type TestBot = ReturnType<BotApi['bot']>

type Named = { id: number }

/** Telegram's Bot API on loopback, with people who speak to the bots. */
export function startBotApi() {
  const closing = new AbortController()
  const fixture = newFixture(closing.signal)
  const faults = newFaults()
  const server = serve(fixture, faults)
  const { bell, calls } = fixture

  const known = ({ id }: Named): Bot => {
    const bot = fixture.bots.get(id)
    if (!bot) throw new Error(`there is no bot ${id}`)
    return bot
  }
  const answersTo = ({ id }: Tap): TapAnswer[] => fixture.taps.get(id)?.answers ?? []

  return {
    /** Root of the API, with no slash at its end. */
    url: server.url.origin,
    calls,
    callsOf: (method: string): Call[] => calls.filter((call) => call.method === method),

    /** Resolves with the first call that fits, which may be under way. */
    waitForCall: (method: string, fits: (call: Call) => boolean = () => true, withinMs?: number) =>
      bell.until(
        () => calls.find((call) => call.method === method && fits(call)),
        `call of ${method} that fits`,
        withinMs,
      ),

    bot: (fields: BotFields = {}) => handleOf(addBot(fixture, fields)),

    person: (fields: Partial<User> = {}): Person =>
      newPerson(fixture, {
        id: 5_200_000_000 + fixture.newId(),
        is_bot: false,
        first_name: 'Ada',
        ...fields,
      }),

    /** What the bot wrote in a chat, a group too, as it reads now. */
    messages: (bot: Named, chatId: number): BotMessage[] => messagesIn(known(bot), chatId),

    answersTo,
    waitForAnswer: (tap: Tap, withinMs?: number): Promise<TapAnswer> =>
      bell.until(() => answersTo(tap)[0], `answer to tap ${tap.id}`, withinMs),

    /** It is too late to answer those that were not answered. */
    expireTaps: () => {
      for (const tap of fixture.taps.values()) tap.isOpen = false
    },

    /** Calls go wrong from now on. Held ones end, so that pollers come and meet it at once. */
    fail: (fields: FaultFields) => {
      const fault = faults.add(fields)
      if ((fields.method ?? 'getUpdates') === 'getUpdates')
        for (const { user, poll } of fixture.bots.values())
          if (user.id === (fields.bot?.id ?? user.id)) poll.end()
      return fault
    },

    /** An update of any kind, such as no person of this API causes. */
    deliver: (bot: Named, body: UpdateBody) => {
      for (const [kind, about] of Object.entries(body)) tell(known(bot), kind, about)
    },

    /** Delivers the latest updates once more under their old ids, whatever was confirmed. */
    redeliver: (bot: Named, count = 1) => known(bot).queue.redeliver(count),

    /** Whether what waits is delivered with the latest first. */
    shuffle: (bot: Named, isOn: boolean) => known(bot).queue.shuffle(isOn),

    /** Telegram takes any id after a quiet week, a lower one too. */
    nextUpdateId: (bot: Named, id: number) => known(bot).queue.jumpTo(id),

    /** Keeps updates back until the release. */
    hold: (bot: Named) => known(bot).queue.hold(),
    release: (bot: Named) => known(bot).queue.release(),

    /** How many updates go to the webhook at the same time, one unless told. */
    pushAtOnce: (bot: Named, count: number) => known(bot).push.atOnce(count),

    /** How many calls of `getUpdates` are held. */
    pollers: (bot: Named): number => known(bot).poll.count(),
    waitForPoller: async (bot: Named, withinMs?: number): Promise<void> => {
      const { poll } = known(bot)
      await bell.until(() => poll.count() || undefined, `poller of ${bot.id}`, withinMs)
    },

    [Symbol.asyncDispose]: async () => {
      closing.abort()
      await server.stop(true)
    },
  }
}

const handleOf = (bot: Bot) => ({
  id: bot.user.id,

  get username() {
    return bot.user.username
  },

  get token() {
    return bot.token
  },

  get webhook() {
    const webhook = bot.push.webhook()
    return webhook && { url: webhook.url, secret: webhook.secret }
  },

  /** At BotFather's, as all that follows. */
  rename: (username: string) => {
    bot.user.username = username
  },

  /** Returns the new one. */
  revokeToken: () => replaceToken(bot),

  /** As if another system had set its webhook there; nothing is pushed. */
  ownedByWebhook: (url: string) => useWebhook(bot, { url, secret: undefined, goesTo: undefined }),
})
