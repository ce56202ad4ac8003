import type { Language, Message } from '../../model.ts'

/** Maximum length of an inserted text; longer than any address (RFC 5321: 254). */
const MAX_LENGTH = 300

/** Truncates without splitting a surrogate pair. */
export const shortened = (text: string): string =>
  text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH).replace(/[\ud800-\udbff]$/, '')}…` : text

/** A value for use in a sentence: the text of a message, or all values of a list. */
export const asText = (value: unknown): string =>
  Array.isArray(value) ? value.map(oneAsText).join(', ') : oneAsText(value)

function oneAsText(value: unknown): string {
  if (typeof value === 'string') return shortened(value)
  if (isNumber(value)) return String(value)
  return isMessage(value) ? shortened(value.text) : '…'
}

const isMessage = (value: unknown): value is Pick<Message, 'text'> =>
  typeof value === 'object' && value !== null && 'text' in value && typeof value.text === 'string'

/** A number of seconds in words, rounded up so that a retry is never too early. */
export function duration(language: Language, time: unknown): string {
  if (!isNumber(time)) return asText(time)
  const seconds = Math.max(Math.ceil(time), 1)
  const [unit, count] = seconds < 60 ? ['second', seconds] : ['minute', Math.ceil(seconds / 60)]
  return new Intl.NumberFormat(language, { style: 'unit', unit, unitDisplay: 'long' }).format(count)
}

const isNumber = (value: unknown): value is number => Number.isFinite(value)
