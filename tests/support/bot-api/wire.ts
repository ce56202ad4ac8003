import { type Static, Type } from '@sinclair/typebox'

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
  last_name?: string
  username?: string
}

export const InlineKeyboard = Type.Object({
  inline_keyboard: Type.Array(
    Type.Array(
      Type.Object({
        text: Type.String({ minLength: 1 }),
        callback_data: Type.Optional(Type.String()),
        url: Type.Optional(Type.String()),
      }),
    ),
  ),
})
export type InlineKeyboard = Static<typeof InlineKeyboard>

export interface WireMessage {
  message_id: number
  from: User
  chat: Chat
  date: number
  edit_date?: number
  text: string
  entities?: { type: 'bot_command'; offset: number; length: number }[]
  reply_markup?: InlineKeyboard
}

/** What an update is about, under the name of its kind. */
export type UpdateBody = Record<string, unknown>

export type Update = UpdateBody & { update_id: number }

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

export function refused({ status, message, retryAfter }: Refusal): Response {
  return Response.json(
    {
      ok: false,
      error_code: status,
      description: message,
      ...(retryAfter !== undefined && { parameters: { retry_after: retryAfter } }),
    },
    { status, headers: retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) } },
  )
}

/** Ends the connection without a word. */
export const cut = () => new Response(new ReadableStream({ start: (stream) => stream.error() }))

export const unixNow = () => Math.floor(Date.now() / 1000)
