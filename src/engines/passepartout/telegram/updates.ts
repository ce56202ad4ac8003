import type { ChatUpdate, Person } from '../messenger.ts'
import { fieldsOf, idOf } from './fields.ts'
import { firstNameOf, languageCodeOf, lastNameOf, usernameOf } from './names.ts'

export interface Update {
  id: number
  /** Undefined for updates that are not relevant. */
  update: ChatUpdate | undefined
}

/** A payload that Telegram could have taken from a link. */
const START = /^\/start(?:@\w{1,64})? ([A-Za-z0-9_-]{1,64})$/

const MAX_CALLBACK_ID_LENGTH = 128
const MAX_DATA_BYTES = 64

/**
 * Reads an update from polling or from the webhook; undefined if it cannot be one. Its content is
 * not trusted, and this never throws.
 */
export function readUpdate(raw: unknown): Update | undefined {
  const { update_id: id, message, callback_query: query } = fieldsOf(raw)
  if (typeof id !== 'number' || !Number.isSafeInteger(id)) return undefined
  return { id, update: message === undefined ? callbackIn(query) : wordsIn(message) }
}

function wordsIn(message: unknown): ChatUpdate | undefined {
  const { from, chat, text } = fieldsOf(message)
  const person = personAlone(from, chat)
  if (!person) return undefined
  const payload = typeof text === 'string' ? START.exec(text)?.[1] : undefined
  return payload === undefined ? { kind: 'spoke', person } : { kind: 'started', person, payload }
}

/** For old messages, Telegram reports only the chat. */
function callbackIn(query: unknown): ChatUpdate | undefined {
  const { id: callbackId, from, message, data } = fieldsOf(query)
  const { chat, message_id } = fieldsOf(message)
  const person = personAlone(from, chat)
  if (!person || !isCallbackId(callbackId) || !isData(data)) return undefined
  return { kind: 'tapped', person, messageId: idOf(message_id) ?? null, callbackId, data }
}

const isCallbackId = (value: unknown): value is string =>
  typeof value === 'string' && value !== '' && value.length <= MAX_CALLBACK_ID_LENGTH

const isData = (value: unknown): value is string =>
  typeof value === 'string' && Buffer.byteLength(value) <= MAX_DATA_BYTES

/** A human user in a private chat with the bot. In a group, others could read the message and tap its buttons. */
function personAlone(from: unknown, chat: unknown): Person | undefined {
  const user = fieldsOf(from)
  const { id: chatId, type } = fieldsOf(chat)
  const id = idOf(user.id)
  if (id === undefined || user.is_bot || type !== 'private' || chatId !== user.id) return undefined
  return {
    id,
    username: usernameOf(user.username),
    firstName: firstNameOf(user.first_name),
    lastName: lastNameOf(user.last_name),
    languageCode: languageCodeOf(user.language_code),
  }
}
