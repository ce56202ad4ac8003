import type { Language, Message } from '../../model/flows.ts'

/** Of a text; enough for every address there is (RFC 5321: 254). */
const LONGEST = 300

/** Not cut through the middle of a character that takes two units. */
export const shortened = (text: string): string =>
  text.length > LONGEST ? `${text.slice(0, LONGEST).replace(/[\ud800-\udbff]$/, '')}…` : text

/** A value as it stands in a sentence: of a message its text, of several values all. */
export const asText = (value: unknown): string =>
  Array.isArray(value) ? value.map(oneAsText).join(', ') : oneAsText(value)

function oneAsText(value: unknown): string {
  if (typeof value === 'string') return shortened(value)
  if (isNumber(value)) return String(value)
  return isMessage(value) ? shortened(value.text) : '…'
}

const isMessage = (value: unknown): value is Pick<Message, 'text'> =>
  typeof value === 'object' && value !== null && 'text' in value && typeof value.text === 'string'

/** A number of seconds in words; rounded up, so that nobody comes back too early. */
export function duration(language: Language, time: unknown): string {
  if (!isNumber(time)) return asText(time)
  const seconds = Math.max(Math.ceil(time), 1)
  const [unit, count] = seconds < 60 ? ['second', seconds] : ['minute', Math.ceil(seconds / 60)]
  return new Intl.NumberFormat(language, { style: 'unit', unit, unitDisplay: 'long' }).format(count)
}

const isNumber = (value: unknown): value is number => Number.isFinite(value)
