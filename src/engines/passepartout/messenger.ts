/** Where people have the account that they sign in with. */
export const PLATFORMS = ['telegram', 'sandbox'] as const
export type MessengerPlatform = (typeof PLATFORMS)[number]

/** Somebody, as their messenger tells of them; the texts are free of tricks, and may change. */
export interface Person {
  /** Theirs for good on this platform; in a private chat also the id of the chat. */
  id: string
  username: string | null
  firstName: string
  lastName: string | null
  /** IETF tag of their app's language. */
  languageCode: string | null
}

export interface Button {
  label: string
  /** Comes back when it is tapped, at most 64 bytes. */
  data: string
}

/** Plain text, never markup, and rows of buttons beneath it. */
export interface Message {
  text: string
  buttons: Button[][]
}

/** What somebody did in their private chat with a bot. */
export type Deed =
  /** Followed a link to the bot and pressed Start. */
  | { kind: 'started'; person: Person; payload: string }
  /** Wrote anything else. */
  | { kind: 'spoke'; person: Person }
  /** Tapped a button of a message, which may be too old to be told. `tapId` is for the answer to it. */
  | { kind: 'tapped'; person: Person; messageId: string | null; tapId: string; data: string }

/** A bot that can speak by itself. Each call rejects with `MessengerError`, and when cut short. */
export interface Voice {
  /** Resolves with the id of the message within the chat. */
  say(chatId: string, message: Message, signal?: AbortSignal): Promise<string>
  edit(chatId: string, messageId: string, message: Message, signal?: AbortSignal): Promise<void>
  /** Ends the wait of whoever tapped; `notice` is shown to them for a moment. */
  answerTap(tapId: string, notice: string): Promise<void>
}

/** Why a messenger did not do what was asked. `message` holds no secret. */
export class MessengerError extends Error {
  constructor(
    readonly reason: /** The token is not, or no longer, that of a bot. */
      | 'unauthorized'
      /** The person has blocked the bot or never spoke to it. */
      | 'forbidden'
      /** Somebody else receives the messages of the bot. */
      | 'conflict'
      | 'rate_limited'
      /** Not possible in the present state; to repeat it does not help. */
      | 'refused'
      /** No good answer: network, timeout, an error of the messenger itself. */
      | 'unavailable',
    message: string,
    /** When to try again, where that was said. */
    readonly retryAfterMs?: number,
  ) {
    super(message)
    this.name = 'MessengerError'
  }
}
