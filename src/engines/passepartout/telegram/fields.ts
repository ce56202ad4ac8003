/** The fields of a foreign object; none for any other value. */
export const fieldsOf = (value: unknown): Readonly<Record<string, unknown>> =>
  isObject(value) ? value : {}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null

/** Telegram's ids have at most 52 bits; those of users and private chats are positive. */
export const idOf = (value: unknown): string | undefined =>
  typeof value === 'number' && Number.isInteger(value) && value > 0 && value < 2 ** 52
    ? String(value)
    : undefined
