import { createBoundedFetch } from '../../../platform/bounded-fetch.ts'
import type { Clock } from '../../../platform/clock.ts'
import { type Button, MessengerError, type Voice } from '../messenger.ts'
import { asMessengerError, type Hide, resultOf, tidied, unreadable } from './answers.ts'
import { fieldsOf, idOf } from './fields.ts'
import { firstNameOf, usernameOf } from './names.ts'

export interface Account {
  id: string
  /** Without the @; the name in links to it. */
  username: string
  name: string
}

export interface WebhookInfo {
  /** Empty where there is none. */
  url: string
  /** How many updates wait to be brought. */
  pending: number
  /** Why the last of those that could not be brought was not. */
  lastError: string | null
}

/** The Bot API, for one bot. Each call rejects with `MessengerError`. */
export interface BotApi extends Voice {
  /** Whose token it is; refused for what is no bot, or cannot be linked to. */
  getMe(signal?: AbortSignal): Promise<Account>
  getWebhookInfo(signal?: AbortSignal): Promise<WebhookInfo>
  setWebhook(webhook: { url: string; secret: string }, signal?: AbortSignal): Promise<void>
  deleteWebhook(signal?: AbortSignal): Promise<void>
  /** Waits up to `holdSeconds` for the first; what is before `offset` is gone for good. */
  getUpdates(poll: {
    offset?: number
    limit: number
    holdSeconds: number
    signal: AbortSignal
  }): Promise<unknown[]>
}

interface Call {
  timeoutMs?: number
  maxBodyBytes?: number
  signal?: AbortSignal | undefined
}

/** All else would be sent and thrown away. */
const ALLOWED_UPDATES = ['message', 'callback_query']

/** Telegram's limits: texts in UTF-16 units, as it counts them, and data in bytes. */
const LONGEST_TEXT = 4096
const LONGEST_NOTICE = 200
const LONGEST_DATA_BYTES = 64

const TIMEOUT_MS = 10_000
/** Fifty updates with long messages and entities in them come to some megabytes. */
const UPDATES_BODY_BYTES = 16_000_000

const TOKEN = /^\d{1,20}:[\w-]{1,128}$/

/** Whether it can stand in a path without changing it; whether it is a token, Telegram knows. */
export const isTokenShaped = (text: string): boolean => TOKEN.test(text)

/**
 * Makes clients of the Bot API. Every URL that they call holds the token of the bot, so none is
 * ever told, and a token that comes back in an answer is hidden.
 */
export const createTelegram =
  ({ clock, apiRoot }: { clock: Clock; apiRoot: string }) =>
  (token: string): BotApi => {
    const hide = hiding(token)

    async function call(method: string, params: object, { signal, ...bounds }: Call = {}) {
      if (!isTokenShaped(token))
        throw new MessengerError('unauthorized', `${method}: a token that cannot be one`)
      const post = createBoundedFetch({ clock, timeoutMs: TIMEOUT_MS, ...bounds })
      const response = await post(`${apiRoot}/bot${token}/${method}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(params),
        signal,
      }).catch((error: unknown) => {
        throw asMessengerError(method, error)
      })
      return await resultOf(method, response, hide)
    }

    return {
      async getMe(signal) {
        const { id, is_bot, username, first_name } = fieldsOf(await call('getMe', {}, { signal }))
        const known = idOf(id) ?? unreadable('getMe')
        const linked = usernameOf(username)
        if (is_bot !== true) throw new MessengerError('refused', 'getMe: not a bot')
        if (!linked) throw new MessengerError('refused', 'getMe: a bot without a username')
        return { id: known, username: linked, name: firstNameOf(first_name) }
      },

      async getWebhookInfo(signal) {
        const info = fieldsOf(await call('getWebhookInfo', {}, { signal }))
        if (typeof info.url !== 'string') return unreadable('getWebhookInfo')
        const error = info.last_error_message
        return {
          // Many have the token in the path of their webhook.
          url: hide(info.url),
          pending: typeof info.pending_update_count === 'number' ? info.pending_update_count : 0,
          lastError: typeof error === 'string' ? tidied(error, hide) : null,
        }
      },

      async setWebhook({ url, secret }, signal) {
        const webhook = { url, secret_token: secret, allowed_updates: ALLOWED_UPDATES }
        await call('setWebhook', { ...webhook, drop_pending_updates: false }, { signal })
      },

      async deleteWebhook(signal) {
        await call('deleteWebhook', { drop_pending_updates: false }, { signal })
      },

      async getUpdates({ offset, limit, holdSeconds, signal }) {
        const updates = await call(
          'getUpdates',
          { offset, limit, timeout: holdSeconds, allowed_updates: ALLOWED_UPDATES },
          { timeoutMs: holdSeconds * 1000 + TIMEOUT_MS, maxBodyBytes: UPDATES_BODY_BYTES, signal },
        )
        return Array.isArray(updates) ? updates : unreadable('getUpdates')
      },

      async say(chatId, { text, buttons }, signal) {
        const markup = buttons.length > 0 && { reply_markup: keyboard(buttons) }
        const params = { chat_id: Number(chatId), ...plain(text), ...markup }
        const said = await call('sendMessage', params, { signal })
        return idOf(fieldsOf(said).message_id) ?? unreadable('sendMessage')
      },

      async edit(chatId, messageId, { text, buttons }, signal) {
        const message = { chat_id: Number(chatId), message_id: Number(messageId) }
        const params = { ...message, ...plain(text), reply_markup: keyboard(buttons) }
        await call('editMessageText', params, { signal }).catch(
          unlessRefusedAs(/message is not modified/i),
        )
      },

      async answerTap(tapId, notice) {
        await call('answerCallbackQuery', {
          callback_query_id: tapId,
          text: cut(notice, LONGEST_NOTICE),
        }).catch(unlessRefusedAs(/query is too old|query id is invalid/i))
      },
    }
  }

/** No `parse_mode`: names of people and tenants stand in the text. */
const plain = (text: string) => ({
  text: cut(text, LONGEST_TEXT),
  link_preview_options: { is_disabled: true },
})

const keyboard = (rows: Button[][]) => ({
  inline_keyboard: rows.map((row) =>
    row.map(({ label, data }) => {
      if (Buffer.byteLength(data) > LONGEST_DATA_BYTES)
        throw new RangeError(`the data of a button has more than ${LONGEST_DATA_BYTES} bytes`)
      return { text: label, callback_data: data }
    }),
  ),
})

/** Telegram refuses halves of characters, so none is left at the end. */
const cut = (text: string, length: number): string =>
  text
    .toWellFormed()
    .slice(0, length)
    .replace(/\p{Cs}$/u, '')

/** For refusals which say that nothing is left to be done. */
const unlessRefusedAs = (harmless: RegExp) => (error: unknown) => {
  const isHarmless =
    error instanceof MessengerError && error.reason === 'refused' && harmless.test(error.message)
  if (!isHarmless) throw error
}

/** The half behind the colon is the secret, in whatever form the whole comes back. */
function hiding(token: string): Hide {
  const anyCase = new RegExp(RegExp.escape(token.slice(token.indexOf(':') + 1)), 'giu')
  return (text) => text.replaceAll(anyCase, '…')
}
