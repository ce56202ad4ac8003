const MAX_LENGTH = 200

/** Shortens an error message of the engine, which may quote long input. */
export const brief = (message: string): string =>
  message.length > MAX_LENGTH ? `${message.slice(0, MAX_LENGTH)}…`.toWellFormed() : message
