/** Text that would end a line, or turn the rest of it round, is somebody's trick. */
const TRICKS = /[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]+/gu

/** The same text on one line, as Unicode that can be sent. */
export const oneLine = (text: string): string => text.replaceAll(TRICKS, ' ').toWellFormed().trim()
