export interface User {
  id: number
  is_bot: boolean
  first_name: string
  last_name?: string
  username?: string
  language_code?: string
}

export interface Chat {
  id: number
  type: 'private' | 'supergroup'
  title?: string
  first_name?: string
}

export interface Keyboard {
  inline_keyboard: { text: string; callback_data?: string; url?: string }[][]
}

export interface WireMessage {
  message_id: number
  from: User
  chat: Chat
  date: number
  edit_date?: number
  text: string
  entities?: { type: 'bot_command'; offset: number; length: number }[]
  reply_markup?: Keyboard
}

/** What it is about stands under the name of its kind. */
export type Update = Record<string, unknown> & { update_id: number }

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
