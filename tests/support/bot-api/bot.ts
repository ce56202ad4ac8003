import { randomBytes } from 'node:crypto'
import { newQueue } from './queue.ts'
import { type Chat, conflict, Refusal, type Update, type WireMessage } from './wire.ts'

const NOT_USUAL = ['chat_member', 'message_reaction', 'message_reaction_count']

export interface Webhook {
  url: string
  secret?: string
  /** Why it was not reached. Tests bring its updates themselves. */
  lastError?: string
}

export type Bot = ReturnType<typeof newBot>
/** Something happened: those who wait look again. */
export type Ring = () => void

const newToken = (id: number) => `${id}:AA${randomBytes(24).toString('base64url')}H`

/** A bot as Telegram knows it. */
export function newBot(
  {
    id,
    username = `door_${id}_bot`,
    name = 'Door',
  }: { id: number; username?: string; name?: string },
  ring: Ring,
) {
  const queue = newQueue(() => poll.look())
  const poll = newPoll(queue, ring)
  let lastMessageId = 0

  const bot = {
    ...{ id, queue, poll },
    webhook: undefined as Webhook | undefined,
    user: { id, is_bot: true, first_name: name, username },
    token: newToken(id),
    /** Undefined for those that are usual. */
    allowedKinds: undefined as string[] | undefined,
    /** Those in which it was spoken to. */
    chats: new Map<number, Chat>(),
    blockedBy: new Set<number>(),
    sent: [] as { message: WireMessage; edits: number }[],
    newMessageId: () => ++lastMessageId,

    /** Something happened that the bot hears of, if it wants to. */
    tell: (kind: string, about: unknown) => {
      const kinds = bot.allowedKinds
      if (kinds?.length ? kinds.includes(kind) : !NOT_USUAL.includes(kind)) queue.add(kind, about)
    },

    get username(): string {
      return bot.user.username
    },
    rename: (username: string) => {
      bot.user.username = username
    },

    /** Ends polling. Tests bring the updates of a webhook themselves. */
    setWebhook: (webhook: Webhook) => {
      bot.webhook = webhook
      poll.refuse(conflict('terminated by setWebhook request'))
    },

    /** As if another system had set its webhook there. */
    ownedByWebhook: (url: string) => bot.setWebhook({ url }),

    /** The old token is of no use from now on, neither for calls nor for the webhook. */
    revokeToken: () => {
      bot.token = newToken(id)
      poll.refuse(new Refusal(401, 'Unauthorized'))
      bot.webhook = undefined
      return bot.token
    },

    /** The messages in a chat, as they read now. */
    messagesIn: (chatId: number) =>
      bot.sent
        .filter(({ message }) => message.chat.id === chatId)
        .map(({ message, edits }) => {
          const rows = message.reply_markup?.inline_keyboard ?? []
          return {
            message_id: message.message_id,
            text: message.text,
            buttons: rows.map((row) => row.map(({ text }) => text)),
            data: rows.map((row) => row.map(({ callback_data }) => callback_data ?? '')),
            edits,
            bot: id,
            chat: chatId,
          }
        }),
  }
  return bot
}

type Queue = ReturnType<typeof newQueue>

/** The one call of `getUpdates` that may be held for a bot. */
function newPoll(queue: Queue, ring: Ring) {
  let held: { look: () => void; leave: () => void; refuse: (refusal: Refusal) => void } | undefined

  function hold(offset: number, limit: number, timeoutS: number, gone: AbortSignal) {
    return new Promise<Update[]>((resolve, reject) => {
      const end = (finish: () => void) => {
        clearTimeout(timer)
        gone.removeEventListener('abort', leave)
        if (held === own) held = undefined
        finish()
        ring()
      }
      const leave = () => end(() => resolve([]))
      const look = () => {
        const updates = queue.read(Math.max(offset, 0), limit)
        if (updates.length > 0) end(() => resolve(updates))
      }
      const own = { leave, look, refuse: (refusal: Refusal) => end(() => reject(refusal)) }
      const timer = setTimeout(leave, timeoutS * 1000)
      gone.addEventListener('abort', leave)
      held = own
      ring()
    })
  }

  const taken =
    'terminated by other getUpdates request; make sure that only one bot instance is running'

  return {
    count: () => (held ? 1 : 0),
    /** There may be something new. */
    look: () => held?.look(),
    /** Ends the held call, if there is one, with nothing new. */
    end: () => held?.leave(),
    refuse: (refusal: Refusal) => held?.refuse(refusal),

    read: async (offset: number, limit: number, timeoutS: number, gone: AbortSignal) => {
      const updates = queue.read(offset, limit)
      if (updates.length > 0 || timeoutS === 0 || gone.aborted) return updates
      held?.refuse(conflict(taken))
      return await hold(offset, limit, timeoutS, gone)
    },
  }
}
