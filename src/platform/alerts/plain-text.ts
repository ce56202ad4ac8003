import { UNSAFE_IN_LINE, UNSAFE_IN_NAME } from '../unsafe-characters.ts'

const MAX_TEXT_LENGTH = 300
const MAX_NAME_LENGTH = 100

/** One line without control and invisible characters, as names and errors may be hostile. */
function plain(text: string, most: number): string {
  const line = text
    .toWellFormed()
    .replace(UNSAFE_IN_LINE, ' ')
    .replace(UNSAFE_IN_NAME, '')
    .replace(/\s+/g, ' ')
    .trim()
  const characters = [...line]
  return characters.length <= most ? line : `${characters.slice(0, most - 1).join('')}…`
}

export const plainText = (text: string) => plain(text, MAX_TEXT_LENGTH)
export const plainName = (name: string) => plain(name, MAX_NAME_LENGTH)
