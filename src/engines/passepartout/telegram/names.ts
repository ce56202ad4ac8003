import { HEAPS, NAME_TRICKS } from '../../../platform/tricks.ts'

/** Where names end, in code points: Telegram's own limit. */
const LONGEST = 64
/** In UTF-16 units. What is further behind was not written as a name. */
const WORTH_LOOKING_AT = 1024

const LONGEST_TAG = 35

/** They would sit upon what stands before the name. */
const STRAY_MARKS = /(?<=^|\s)[\p{M}\p{Join_Control}]+/gu

/** What joiners matter to: emoji, and letters of the scripts that join. Elsewhere nobody sees them. */
const JOINED = String.raw`[\p{M}\p{Extended_Pictographic}\p{Emoji_Modifier}[\p{L}--[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}]]]`
const STRAY_JOINERS = new RegExp(
  String.raw`(?<!${JOINED})\p{Join_Control}|\p{Join_Control}(?!${JOINED})`,
  'gv',
)
const REPEATED_JOINERS = /(\p{Join_Control})\p{Join_Control}+/gu

/** People need one; whoever hides theirs has this. */
const NAMELESS = '…'

/** Somebody's first name, free of tricks. Anybody can have any name. */
export const firstNameOf = (value: unknown): string => tidied(value) || NAMELESS

/** The same for their last name, which not everybody has. */
export const lastNameOf = (value: unknown): string | null => tidied(value) || null

/** A name by which Telegram finds somebody; null for what cannot be one. */
export const usernameOf = (value: unknown): string | null =>
  typeof value === 'string' && /^[A-Za-z0-9_]{1,64}$/.test(value) ? value : null

/** An IETF tag; null for what does not look like one. */
export const languageCodeOf = (value: unknown): string | null =>
  typeof value === 'string' &&
  value.length <= LONGEST_TAG &&
  /^[A-Za-z]{2,8}(?:-[A-Za-z0-9]{1,8})*$/.test(value)
    ? value
    : null

function tidied(value: unknown): string {
  if (typeof value !== 'string') return ''
  const line = value
    .slice(0, WORTH_LOOKING_AT)
    .replaceAll(NAME_TRICKS, ' ')
    .replaceAll(HEAPS, '$1')
    .replaceAll(REPEATED_JOINERS, '$1')
    .replaceAll(STRAY_JOINERS, '')
    .replaceAll(STRAY_MARKS, '')
    .replaceAll(/\s+/g, ' ')
    .trim()
  return [...line]
    .slice(0, LONGEST)
    .join('')
    .replace(/[\s\p{Join_Control}]+$/u, '')
}
