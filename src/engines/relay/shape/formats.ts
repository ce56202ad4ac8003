/** The recognized string formats, by their JSON Schema names. */
export const FORMATS = ['date-time', 'uuid', 'email', 'uri'] as const

export type Format = (typeof FORMATS)[number]

const UUID = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/i

const DATE_TIME =
  /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,9})?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/

const EMAIL =
  /^[\w!#$%&'*+=?^`{|}~-]+(?:\.[\w!#$%&'*+=?^`{|}~-]+)*@(?:[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?\.)+[a-z]{2,63}$/i

/** Requires an authority: `note:this` is formally a URI as well, but is rarely meant as one. */
const URI =
  /^[a-z][a-z\d+.-]{0,31}:\/\/[\w.~%-]*(?::\d{1,5})?(?:\/[\w.~!$&'()*+,;=:@%/-]*)?(?:\?[\w.~!$&'()*+,;=:@%/?-]*)?(?:#[\w.~!$&'()*+,;=:@%/?-]*)?$/i

const BROKEN_ESCAPE = /%(?![\da-f]{2})/i

const MAX_EMAIL_LENGTH = 254
const MAX_URI_LENGTH = 2048

/** The longest length of each month. */
const MONTH_LENGTHS = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]

/** Each check is narrower than its standard, so that validators agree; no text passes two. */
export const formatOf = (text: string): Format | undefined =>
  FORMATS.find((format) => hasFormat(text, format))

/** Checks lengths first, so that the sender can't control how long a regular expression takes. */
export function hasFormat(text: string, format: Format): boolean {
  if (format === 'uuid') return text.length === 36 && UUID.test(text)
  if (format === 'date-time') return isDateTime(text)
  if (format === 'email') return text.length <= MAX_EMAIL_LENGTH && EMAIL.test(text)
  return text.length <= MAX_URI_LENGTH && URI.test(text) && !BROKEN_ESCAPE.test(text)
}

function isDateTime(text: string): boolean {
  if (text.length < 20 || text.length > 35 || !DATE_TIME.test(text)) return false
  return numberAt(text, 8) <= 28 || isDate(text)
}

function isDate(text: string): boolean {
  const month = numberAt(text, 5)
  const day = numberAt(text, 8)
  if (month === 2 && day === 29) return isLeapYear(numberAt(text, 0) * 100 + numberAt(text, 2))
  return day <= (MONTH_LENGTHS[month - 1] as number)
}

const isLeapYear = (year: number) => year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)

/** The two-digit number at a position. */
const numberAt = (text: string, at: number) =>
  (text.charCodeAt(at) - 48) * 10 + text.charCodeAt(at + 1) - 48
