const LONGEST = 200

/** Shortens an error message of the engine, which may quote long input. */
export const brief = (message: string): string =>
  message.length > LONGEST ? `${message.slice(0, LONGEST)}…`.toWellFormed() : message
