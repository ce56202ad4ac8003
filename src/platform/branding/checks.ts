import { AppError, type FieldError, type Rule } from '../errors.ts'
import { UNSAFE_IN_LINE, UNSAFE_IN_NAME } from '../unsafe-characters.ts'
import { isColor } from './contrast.ts'

/** The maximum length of names, in characters. */
export const MAX_NAME_LENGTH = 64
const MAX_URL_LENGTH = 500

/** The settings of a tenant's branding in the form of the API. */
export interface BrandingInput {
  display_name?: string | null | undefined
  accent_color?: string | null | undefined
  support_url?: string | null | undefined
  terms_url?: string | null | undefined
  privacy_url?: string | null | undefined
  sender_name?: string | null | undefined
}

type Field = keyof BrandingInput

/** Normalizes the given fields: an empty text is null. Throws `invalid` with all their problems. */
export function checkedBranding(input: BrandingInput): BrandingInput {
  const errors: FieldError[] = []
  const checked: BrandingInput = {}
  for (const [field, check] of Object.entries(CHECKS) as [Field, Check][]) {
    const value = input[field]
    if (value === undefined) continue
    const text = value?.trim() || null
    const flaw = text === null ? undefined : check(text)
    if (flaw) errors.push({ field, rule: flaw[0], problem: flaw[1] })
    checked[field] = field === 'accent_color' ? (text?.toLowerCase() ?? null) : text
  }
  const [first, ...rest] = errors
  if (first) throw new AppError('invalid', [first, ...rest])
  return checked
}

type Flaw = readonly [rule: Rule, problem: string]
type Check = (text: string) => Flaw | undefined

const NOT_A_NAME: Flaw = [
  'characters',
  'must be one line without invisible characters or characters that change the text direction',
]

function nameFlaw(name: string): Flaw | undefined {
  if (isUnsafe(name)) return NOT_A_NAME
  if ([...name].length > MAX_NAME_LENGTH)
    return ['too_long', `must have at most ${MAX_NAME_LENGTH} characters`]
  return LINK.test(name) ? ['not_allowed', 'must not contain a link'] : undefined
}

/** What mail programs turn into a link. */
export const LINK = /:\/\/|\bwww\./i
const LINK_STARTS = /(?:\w*:\/\/|\bwww\.)+/gi

/** A tenant's name for its users, without anything that a display name must not have. */
export function displayNameFrom(tenantName: string): string {
  const name = tenantName
    .replaceAll(UNSAFE_IN_NAME, ' ')
    .replaceAll(LINK_STARTS, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim()
  const characters = [...name]
  if (characters.length > MAX_NAME_LENGTH)
    return `${characters.slice(0, MAX_NAME_LENGTH - 1).join('')}…`
  return name || '–'
}

const isUnsafe = (text: string) =>
  text.search(UNSAFE_IN_LINE) !== -1 || text.search(UNSAFE_IN_NAME) !== -1

/** A sender name must not look like an address, because mail programs show it in place of one. */
const senderFlaw: Check = (name) =>
  /[@<>"\\]/.test(name)
    ? [
        'characters',
        'must not contain @, <, >, " or \\: the address is the one of the installation',
      ]
    : nameFlaw(name)

const colorFlaw: Check = (color) =>
  isColor(color.toLowerCase())
    ? undefined
    : ['format', 'must be # and six hexadecimal digits, such as #2f6f5e']

const urlFlaw: Check = (text) => {
  if (text.length > MAX_URL_LENGTH)
    return ['too_long', `must have at most ${MAX_URL_LENGTH} characters`]
  const url = URL.parse(text)
  if (!url || !/^https:\/\//i.test(text)) return ['format', 'must be an https URL']
  if (url.username || url.password) return ['credentials', 'must not contain a user or password']
  return isUnsafe(text) || /[\s\\<>"']/.test(text)
    ? ['characters', 'must not contain spaces, quotes, backslashes or invisible characters']
    : undefined
}

/** Support can also be an email address. */
const supportFlaw: Check = (text) => {
  if (!/^mailto:/i.test(text)) {
    const [rule, problem] = urlFlaw(text) ?? []
    if (!rule || !problem) return undefined
    return rule === 'format' ? ['format', 'must be an https or mailto URL'] : [rule, problem]
  }
  // Mail programs decode %2C to a second recipient and cut the address at a #.
  return /^mailto:[\w.!$&'*+/=^`{|}~-]{1,64}@[a-z0-9.-]{1,253}$/i.test(text)
    ? undefined
    : ['format', 'must be one email address after mailto:, without parameters']
}

const CHECKS: Record<Field, Check> = {
  display_name: nameFlaw,
  accent_color: colorFlaw,
  support_url: supportFlaw,
  terms_url: urlFlaw,
  privacy_url: urlFlaw,
  sender_name: senderFlaw,
}
