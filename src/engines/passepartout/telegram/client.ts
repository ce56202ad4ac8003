import { createBoundedFetch } from '../../../platform/bounded-fetch.ts'
import type { Clock } from '../../../platform/clock.ts'
import { type Button, type MessengerClient, MessengerError } from '../messenger.ts'
import { asMessengerError, type Hide, resultOf, tidied, unreadable } from './answers.ts'
import { fieldsOf, idOf } from './fields.ts'
import { firstNameOf, usernameOf } from './names.ts'

export interface Account {
  id: string
  /** Without the @; used in links to the bot. */
  username: string
  name: string
}

export interface WebhookInfo {
  /** Empty if there is no webhook. */
  url: string
  /** Number of updates waiting to be delivered. */
  pending: number
  /** The error of the last failed delivery. */
  lastError: string | null
}

/** A Bot API client for one bot. Each call rejects with `MessengerError`. */
export interface BotApi extends MessengerClient {
  /** The bot of the token; rejects if it is not a bot or has no username to link to. */
  getMe(signal?: AbortSignal): Promise<Account>
  getWebhookInfo(signal?: AbortSignal): Promise<WebhookInfo>
  setWebhook(webhook: { url: string; secret: string }, signal?: AbortSignal): Promise<void>
  deleteWebhook(signal?: AbortSignal): Promise<void>
  /** Waits up to `holdSeconds` for an update. Telegram deletes those before `offset`. */
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

/** Other update types are not used. */
const ALLOWED_UPDATES = ['message', 'callback_query']

/** Telegram's limits: texts in UTF-16 units, as Telegram counts them, and data in bytes. */
const MAX_TEXT_LENGTH = 4096
const MAX_NOTICE_LENGTH = 200
const MAX_DATA_BYTES = 64

const TIMEOUT_MS = 10_000
/** Fifty updates with long messages and entities take several megabytes. */
const UPDATES_BODY_BYTES = 16_000_000

const TOKEN = /^\d{1,20}:[\w-]{1,128}$/

/** Whether the token is safe in a URL path. Only Telegram knows whether it is valid. */
export const isTokenShaped = (text: string): boolean => TOKEN.test(text)

/** URLs contain the token, so they are never logged or returned; responses have it masked. */
export const createTelegram =
  ({ clock, apiRoot }: { clock: Clock; apiRoot: string }) =>
  (token: string): BotApi => {
    const hide = hiding(token)

    async function call(method: string, params: object, { signal, ...bounds }: Call = {}) {
      if (!isTokenShaped(token))
        throw new MessengerError('unauthorized', `${method}: the token is malformed`)
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
        if (is_bot !== true) throw new MessengerError('refused', 'getMe: the account is not a bot')
        if (!linked) throw new MessengerError('refused', 'getMe: the bot has no username')
        return { id: known, username: linked, name: firstNameOf(first_name) }
      },

      async getWebhookInfo(signal) {
        const info = fieldsOf(await call('getWebhookInfo', {}, { signal }))
        if (typeof info.url !== 'string') return unreadable('getWebhookInfo')
        const error = info.last_error_message
        return {
          // Many programs have the token in their webhook's path.
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
        // Channels have names as well.
        const chat_id = chatId.startsWith('@') ? chatId : Number(chatId)
        const params = { chat_id, ...plain(text), ...markup }
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

      async answerCallback(callbackId, notice) {
        await call('answerCallbackQuery', {
          callback_query_id: callbackId,
          text: cut(notice, MAX_NOTICE_LENGTH),
        }).catch(unlessRefusedAs(/query is too old|query id is invalid/i))
      },
    }
  }

/** No `parse_mode`, because the text contains names of users and tenants. */
const plain = (text: string) => ({
  text: cut(text, MAX_TEXT_LENGTH),
  link_preview_options: { is_disabled: true },
})

const keyboard = (rows: Button[][]) => ({
  inline_keyboard: rows.map((row) =>
    row.map(({ label, data }) => {
      if (Buffer.byteLength(data) > MAX_DATA_BYTES)
        throw new RangeError(`the data of a button has more than ${MAX_DATA_BYTES} bytes`)
      return { text: label, callback_data: data }
    }),
  ),
})

/** Truncates without splitting a surrogate pair, which Telegram would refuse. */
const cut = (text: string, length: number): string =>
  text
    .toWellFormed()
    .slice(0, length)
    .replace(/\p{Cs}$/u, '')

/** Ignores refusals that mean that nothing is left to do. */
const unlessRefusedAs = (harmless: RegExp) => (error: unknown) => {
  const isHarmless =
    error instanceof MessengerError && error.reason === 'refused' && harmless.test(error.message)
  if (!isHarmless) throw error
}

/** The part after the colon is the secret, however the token is repeated. */
function hiding(token: string): Hide {
  const anyCase = new RegExp(RegExp.escape(token.slice(token.indexOf(':') + 1)), 'giu')
  return (text) => text.replaceAll(anyCase, '…')
}
