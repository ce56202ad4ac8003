import { HEAPS, UNSAFE_IN_NAME } from '../../../platform/unsafe-characters.ts'

/** Maximum length of a name in code points; Telegram's own limit. */
const MAX_LENGTH = 64
/** In UTF-16 units; longer input is cut before it is processed. */
const MAX_NAME_INPUT = 1024

const MAX_TAG_LENGTH = 35

/** Combining marks that would attach to the text before the name. */
const STRAY_MARKS = /(?<=^|\s)[\p{M}\p{Join_Control}]+/gu

/** Characters that joiners affect: emoji and joining scripts. Elsewhere joiners are invisible. */
const JOINED = String.raw`[\p{M}\p{Extended_Pictographic}\p{Emoji_Modifier}[\p{L}--[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}]]]`
const STRAY_JOINERS = new RegExp(
  String.raw`(?<!${JOINED})\p{Join_Control}|\p{Join_Control}(?!${JOINED})`,
  'gv',
)
const REPEATED_JOINERS = /(\p{Join_Control})\p{Join_Control}+/gu

/** Replaces a name without visible characters. */
const NAMELESS = '…'

/** A user's first name, sanitized. Any text can be a name. */
export const firstNameOf = (value: unknown): string => tidied(value) || NAMELESS

/** A user's last name, sanitized; null if there is none. */
export const lastNameOf = (value: unknown): string | null => tidied(value) || null

/** A Telegram username; null if it is invalid. */
export const usernameOf = (value: unknown): string | null =>
  typeof value === 'string' && /^[A-Za-z0-9_]{1,64}$/.test(value) ? value : null

/** An IETF language tag; null if it is malformed. */
export const languageCodeOf = (value: unknown): string | null =>
  typeof value === 'string' &&
  value.length <= MAX_TAG_LENGTH &&
  /^[A-Za-z]{2,8}(?:-[A-Za-z0-9]{1,8})*$/.test(value)
    ? value
    : null

function tidied(value: unknown): string {
  if (typeof value !== 'string') return ''
  const line = value
    .slice(0, MAX_NAME_INPUT)
    .replaceAll(UNSAFE_IN_NAME, ' ')
    .replaceAll(HEAPS, '$1')
    .replaceAll(REPEATED_JOINERS, '$1')
    .replaceAll(STRAY_JOINERS, '')
    .replaceAll(STRAY_MARKS, '')
    .replaceAll(/\s+/g, ' ')
    .trim()
  return [...line]
    .slice(0, MAX_LENGTH)
    .join('')
    .replace(/[\s\p{Join_Control}]+$/u, '')
}
