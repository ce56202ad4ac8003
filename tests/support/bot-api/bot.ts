import { randomBytes } from 'node:crypto'
import { newQueue, type Update } from './queue.ts'

export interface User {
  id: number
  is_bot: boolean
  first_name: string
  last_name?: string
  username?: string
  language_code?: string
}

export interface Keyboard {
  inline_keyboard: { text: string; callback_data?: string }[][]
}

export interface WireMessage {
  message_id: number
  from: User
  chat: { id: number; type: 'private' }
  date: number
  text: string
  reply_markup?: Keyboard
}

/** A call that is refused the way Telegram does it. */
export class Refusal extends Error {
  constructor(
    readonly status: number,
    description: string,
    readonly retryAfter?: number,
  ) {
    super(description)
  }
}

export const badRequest = (why: string) => new Refusal(400, `Bad Request: ${why}`)
export const conflict = (why: string) => new Refusal(409, `Conflict: ${why}`)
export const unixNow = () => Math.floor(Date.now() / 1000)

const newToken = (id: number) => `${id}:AA${randomBytes(24).toString('base64url')}H`

export type Bot = ReturnType<typeof newBot>

/** `lastError` says why it was not reached. Tests bring its updates themselves. */
interface Webhook {
  url: string
  secret?: string
  lastError?: string
}

/** A bot as Telegram knows it. */
export function newBot(fields: { id: number; username?: string; name?: string }) {
  const { id, username = `door_${id}_bot`, name = 'Door' } = fields
  const queue = newQueue(() => poll.look())
  const poll = newPoll(queue)
  let lastMessageId = 0

  const bot = {
    ...{ id, queue, poll },
    webhook: undefined as Webhook | undefined,
    user: { id, is_bot: true, first_name: name, username },
    token: newToken(id),
    /** People who have spoken to it. */
    chats: new Set<number>(),
    blockedBy: new Set<number>(),
    sent: [] as { message: WireMessage; edits: number }[],
    newMessageId: () => ++lastMessageId,

    get username(): string {
      return bot.user.username
    },
    rename: (username: string) => {
      bot.user.username = username
    },

    /** Ends polling. */
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

    messagesIn: (chatId: number) =>
      bot.sent
        .filter(({ message }) => message.chat.id === chatId)
        .map(({ message: { message_id, text, reply_markup }, edits }) => {
          const rows = reply_markup?.inline_keyboard ?? []
          return {
            ...{ message_id, text, edits, bot: id, chat: chatId },
            buttons: rows.map((row) => row.map((button) => button.text)),
            data: rows.map((row) => row.map(({ callback_data }) => callback_data ?? '')),
          }
        }),
  }
  return bot
}

/** The one call of `getUpdates` that may be held for a bot. */
function newPoll(queue: ReturnType<typeof newQueue>) {
  let held: { look: () => void; leave: () => void; refuse: (refusal: Refusal) => void } | undefined

  function hold(offset: number, limit: number, timeoutS: number, gone: AbortSignal) {
    return new Promise<Update[]>((resolve, reject) => {
      const end = (finish: () => void) => {
        clearTimeout(timer)
        gone.removeEventListener('abort', leave)
        if (held === own) held = undefined
        finish()
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
    })
  }

  return {
    count: () => (held ? 1 : 0),
    look: () => held?.look(),
    /** Ends the held call, if there is one, with nothing new. */
    end: () => held?.leave(),
    refuse: (refusal: Refusal) => held?.refuse(refusal),

    read: async (offset: number, limit: number, timeoutS: number, gone: AbortSignal) => {
      const updates = queue.read(offset, limit)
      if (updates.length > 0 || timeoutS === 0 || gone.aborted) return updates
      held?.refuse(conflict('terminated by other getUpdates request'))
      return await hold(offset, limit, timeoutS, gone)
    },
  }
}
