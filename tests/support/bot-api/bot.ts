import { randomBytes } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { newQueue } from './queue.ts'
import { type Chat, conflict, Refusal, type Update, type WireMessage } from './wire.ts'

const NOT_USUAL = ['chat_member', 'message_reaction', 'message_reaction_count']
const PAUSES_MS = [20, 50, 100, 200, 400, 800, 1600, 1600]
const SECRET_HEADER = 'x-telegram-bot-api-secret-token'

export interface Webhook {
  url: string
  secret?: string
  /** It belongs to another system, which is sent nothing. */
  isForeign?: boolean
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
  closing: AbortSignal,
) {
  const queue = newQueue(() => {
    poll.look()
    push.look()
  })
  const poll = newPoll(queue, ring)
  const push = newPush(queue, ring, closing)
  let lastMessageId = 0

  const bot = {
    ...{ queue, poll, push },
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

    /** Ends polling. */
    setWebhook: (webhook: Webhook) => {
      push.set(webhook)
      poll.refuse(conflict('terminated by setWebhook request'))
    },

    /** The old token is of no use from now on, neither for calls nor for the webhook. */
    revokeToken: () => {
      bot.token = newToken(id)
      poll.refuse(new Refusal(401, 'Unauthorized'))
      push.set(undefined)
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

/** Sends the updates of a bot to its webhook, each again until it was taken. */
function newPush(queue: Queue, ring: Ring, closing: AbortSignal) {
  const underWay = new Set<Update>()
  let webhook: Webhook | undefined
  let atOnce = 1

  function look() {
    while (webhook && !webhook.isForeign && !closing.aborted && underWay.size < atOnce) {
      const update = queue.nextBeside(underWay)
      if (!update) return
      underWay.add(update)
      void deliver(update, webhook).then(() => {
        underWay.delete(update)
        ring()
        look()
      })
    }
  }

  /** Gives up in the end; what was not taken before another webhook was set stays for that one. */
  async function deliver(update: Update, to: Webhook) {
    for (const pauseMs of PAUSES_MS) {
      const error = await post(update, to)
      if (error === undefined) return queue.settle(update)
      to.lastError = error
      ring()
      await pause(pauseMs, undefined, { signal: closing }).catch(() => {})
      if (webhook !== to || closing.aborted) return
    }
    queue.settle(update)
  }

  async function post(update: Update, { url, secret }: Webhook) {
    const headers = {
      'content-type': 'application/json',
      ...(secret !== undefined && { [SECRET_HEADER]: secret }),
    }
    const signal = AbortSignal.any([closing, AbortSignal.timeout(10_000)])
    const init = { method: 'POST', headers, body: JSON.stringify(update), signal }
    try {
      const response = await fetch(url, { ...init, redirect: 'manual' })
      await response.body?.cancel()
      if (response.ok) return undefined
      return `Wrong response from the webhook: ${response.status} ${response.statusText}`
    } catch (error) {
      return `${error}`
    }
  }

  function set(next: Webhook | undefined) {
    webhook = next
    look()
  }

  /** How many updates are under way at the same time. */
  function sendAtOnce(count: number) {
    atOnce = count
    look()
  }

  return { webhook: () => webhook, set, sendAtOnce, look }
}
