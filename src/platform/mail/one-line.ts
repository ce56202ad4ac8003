import { UNSAFE_IN_LINE } from '../unsafe-characters.ts'

/** Replaces line breaks and unsafe characters by spaces, and makes the text valid Unicode. */
export const oneLine = (text: string): string =>
  text.replaceAll(UNSAFE_IN_LINE, ' ').toWellFormed().trim()

/** One line for a header of a mail, without the start of an encoded word (RFC 2047): programs would decode it to any text. */
export const headerLine = (text: string): string => oneLine(text).replaceAll('=?', '= ?')
