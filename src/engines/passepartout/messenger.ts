/** The platforms of users' accounts. */
export const PLATFORMS = ['telegram', 'sandbox'] as const
export type MessengerPlatform = (typeof PLATFORMS)[number]

/** A user as reported by the messenger. Texts are sanitized and may change. */
export interface Person {
  /** Permanent on its platform; in a private chat also the id of the chat. */
  id: string
  username: string | null
  firstName: string
  lastName: string | null
  /** IETF language tag of the user's messenger. */
  languageCode: string | null
}

export interface Button {
  label: string
  /** Returned when the button is tapped; at most 64 bytes. */
  data: string
}

/** Plain text without markup, and rows of buttons below it. */
export interface Message {
  text: string
  buttons: Button[][]
}

/** An action of a user in the private chat with a bot. */
export type ChatUpdate =
  /** Followed a link to the bot and pressed Start. */
  | { kind: 'started'; person: Person; payload: string }
  /** Sent any other message. */
  | { kind: 'spoke'; person: Person }
  /** `messageId` is null if the message is too old; `callbackId` is needed for the answer. */
  | { kind: 'tapped'; person: Person; messageId: string | null; callbackId: string; data: string }

/** Sends messages as a bot. Calls reject with `MessengerError`, also when aborted. */
export interface MessengerClient {
  /** Resolves with the id of the message within the chat. */
  say(chatId: string, message: Message, signal?: AbortSignal): Promise<string>
  edit(chatId: string, messageId: string, message: Message, signal?: AbortSignal): Promise<void>
  /** Completes a callback; `notice` is shown to the user briefly. */
  answerCallback(callbackId: string, notice: string): Promise<void>
}

/** The reason why a messenger call failed. `message` contains no secret. */
export class MessengerError extends Error {
  constructor(
    readonly reason: /** The token is not, or no longer, that of a bot. */
      | 'unauthorized'
      /** The user has blocked the bot or never started it. */
      | 'forbidden'
      /** Another program receives the messages of the bot. */
      | 'conflict'
      | 'rate_limited'
      /** Not possible in the current state; retrying does not help. */
      | 'refused'
      /** No valid response: network error, timeout, or an error of the messenger. */
      | 'unavailable',
    message: string,
    /** When to retry, if the messenger specified it. */
    readonly retryAfterMs?: number,
  ) {
    super(message)
    this.name = 'MessengerError'
  }
}
