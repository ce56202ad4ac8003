const CALLBACK_DATA = /^(deny|approve|\d{2})\.([0-9a-f-]{36})$/

/** The data of a button: at most 44 bytes of the 64 that messengers allow. */
export const callbackData = (choice: string, attemptId: string): string => `${choice}.${attemptId}`

/** `choice` is `deny`, `approve`, or a two-digit number. */
interface CallbackData {
  choice: string
  attemptId: string
}

/** Parses the data of a callback, which may be forged; undefined if it is not from one of our buttons. */
export function readCallbackData(data: string): CallbackData | undefined {
  const [, choice, attemptId] = CALLBACK_DATA.exec(data) ?? []
  return choice === undefined || attemptId === undefined ? undefined : { choice, attemptId }
}
