const LONGEST = 200

/** The engine quotes what it complains about, however long that is. */
export const brief = (message: string): string =>
  message.length > LONGEST ? `${message.slice(0, LONGEST)}…`.toWellFormed() : message
