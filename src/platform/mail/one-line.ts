import { LINE_TRICKS } from '../tricks.ts'

/** The same text on one line, as Unicode that can be sent. */
export const oneLine = (text: string): string =>
  text.replaceAll(LINE_TRICKS, ' ').toWellFormed().trim()
