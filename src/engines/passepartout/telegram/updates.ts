import type { Deed, Person } from '../messenger.ts'
import { fieldsOf, idOf } from './fields.ts'
import { firstNameOf, languageCodeOf, lastNameOf, usernameOf } from './names.ts'

export interface Update {
  id: number
  /** Undefined for what does not concern us. */
  deed: Deed | undefined
}

/** A payload that Telegram would put into a link. */
const START = /^\/start(?:@\w{1,64})? ([A-Za-z0-9_-]{1,64})$/

const LONGEST_TAP_ID = 128
const LONGEST_DATA_BYTES = 64

/**
 * What came of polling, or to the webhook; undefined for what cannot be an update. Nothing in it
 * is taken on trust, and whatever it is made of, this does not throw.
 */
export function readUpdate(raw: unknown): Update | undefined {
  const { update_id: id, message, callback_query: query } = fieldsOf(raw)
  if (typeof id !== 'number' || !Number.isSafeInteger(id)) return undefined
  return { id, deed: message === undefined ? tapIn(query) : wordsIn(message) }
}

function wordsIn(message: unknown): Deed | undefined {
  const { from, chat, text } = fieldsOf(message)
  const person = personAlone(from, chat)
  if (!person) return undefined
  const payload = typeof text === 'string' ? START.exec(text)?.[1] : undefined
  return payload === undefined ? { kind: 'spoke', person } : { kind: 'started', person, payload }
}

/** The message may be too old for Telegram to tell more of it than its chat. */
function tapIn(query: unknown): Deed | undefined {
  const { id: tapId, from, message, data } = fieldsOf(query)
  const { chat, message_id } = fieldsOf(message)
  const person = personAlone(from, chat)
  if (!person || !isTapId(tapId) || !isData(data)) return undefined
  return { kind: 'tapped', person, messageId: idOf(message_id) ?? null, tapId, data }
}

const isTapId = (value: unknown): value is string =>
  typeof value === 'string' && value !== '' && value.length <= LONGEST_TAP_ID

const isData = (value: unknown): value is string =>
  typeof value === 'string' && Buffer.byteLength(value) <= LONGEST_DATA_BYTES

/** Somebody human who is alone with the bot: in a group others would read along, and tap. */
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
