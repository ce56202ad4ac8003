import { UNSAFE_IN_LINE } from '../unsafe-characters.ts'

/** The same text on one line, as Unicode that can be sent. */
export const oneLine = (text: string): string =>
  text.replaceAll(UNSAFE_IN_LINE, ' ').toWellFormed().trim()
