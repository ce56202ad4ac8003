import { UNSAFE_IN_LINE } from '../unsafe-characters.ts'

/** Replaces line breaks and unsafe characters by spaces, and makes the text valid Unicode. */
export const oneLine = (text: string): string =>
  text.replaceAll(UNSAFE_IN_LINE, ' ').toWellFormed().trim()
