import { LINK } from '../../../../platform/branding/checks.ts'
import { AppError, type FieldError, invalid } from '../../../../platform/errors.ts'
import { UNSAFE_IN_LINE, UNSAFE_IN_NAME } from '../../../../platform/unsafe-characters.ts'

/** The placeholders that a tenant may use in the introduction of each kind of email. */
export const MAIL_KINDS = {
  verification: ['name', 'lifetime'],
  recovery: ['name', 'lifetime'],
  login_code: ['name', 'lifetime'],
  registration_code: ['name', 'lifetime'],
  email_change: ['name', 'lifetime'],
  email_change_notice: ['name', 'new_address'],
  email_changed_by_admin: ['name', 'new_address'],
  password_changed: ['name'],
  second_factor_enabled: ['name'],
  second_factor_disabled: ['name'],
} as const satisfies Record<string, readonly Placeholder[]>

export type MailKind = keyof typeof MAIL_KINDS
/** `lifetime` is that of the code in words, `new_address` an email address, partly hidden. */
export type Placeholder = 'name' | 'lifetime' | 'new_address'

/** The name alone: subjects are stored in plain text and shown on locked screens. */
export const SUBJECT_PLACEHOLDERS: readonly Placeholder[] = ['name']

/** What a tenant has written for an email; null for the default text. */
export interface MailText {
  subject: string | null
  intro: string | null
}

export const isMailKind = (text: string): text is MailKind => Object.hasOwn(MAIL_KINDS, text)

export const MAX_SUBJECT = 150
export const MAX_INTRO = 1000
const MAX_PARAGRAPHS = 5

const MARK = /\{\{\s*(\w*)\s*\}\}/g

/** Normalizes a text: an empty one is null. Throws `invalid` with all problems of both fields. */
export function checkedMailText(kind: MailKind, { subject, intro }: MailText): MailText {
  const text = { subject: subject?.trim() || null, intro: tidied(intro) }
  const errors = [
    ...(text.subject === null ? [] : subjectErrors(text.subject)),
    ...(text.intro === null ? [] : introErrors(text.intro, kind)),
  ]
  const [first, ...rest] = errors
  if (first) throw new AppError('invalid', [first, ...rest])
  return text
}

const tidied = (intro: string | null): string | null =>
  intro?.replaceAll(/\r\n?/g, '\n').trim() || null

function subjectErrors(subject: string): FieldError[] {
  if (subject.search(UNSAFE_IN_LINE) !== -1 || subject.search(UNSAFE_IN_NAME) !== -1)
    return [{ field: 'subject', rule: 'characters', problem: `must be one line ${UNSAFE}` }]
  return commonErrors('subject', subject, MAX_SUBJECT, SUBJECT_PLACEHOLDERS)
}

function introErrors(intro: string, kind: MailKind): FieldError[] {
  const field = 'intro'
  if (intro.replaceAll('\n', '').search(UNSAFE_IN_NAME) !== -1 || /[\u202a-\u202e]/.test(intro))
    return [{ field, rule: 'characters', problem: `must be text ${UNSAFE}` }]
  if (paragraphsOf(intro).length > MAX_PARAGRAPHS)
    return [{ field, rule: 'too_many', problem: `must have at most ${MAX_PARAGRAPHS} paragraphs` }]
  return commonErrors(field, intro, MAX_INTRO, MAIL_KINDS[kind])
}

const UNSAFE = 'without invisible characters or characters that change the text direction'

function commonErrors(
  field: keyof MailText,
  text: string,
  most: number,
  known: readonly Placeholder[],
): FieldError[] {
  if ([...text].length > most)
    return [{ field, rule: 'too_long', problem: `must have at most ${most} characters` }]
  if (LINK.test(text)) return [{ field, rule: 'not_allowed', problem: NO_LINKS }]
  const wrong = [...text.matchAll(MARK)].find(([, name]) => !known.some((one) => one === name))
  if (wrong) return [{ field, rule: 'unknown', problem: unknownMark(wrong[1] ?? '', known) }]
  const rest = text.replaceAll(MARK, '')
  return rest.includes('{{') || rest.includes('}}')
    ? [{ field, rule: 'format', problem: 'must close each placeholder, such as {{name}}' }]
    : []
}

const NO_LINKS =
  'must not contain a link, so that the only one is the one Gatehouse adds. Set a support link in the branding instead'

const unknownMark = (name: string, known: readonly Placeholder[]) =>
  `must not contain {{${name.slice(0, 40)}}}. Known placeholders: ${known.map((one) => `{{${one}}}`).join(', ')}`

/** Paragraphs have empty lines between them. */
export const paragraphsOf = (intro: string): string[] => intro.split(/\n\s*\n/)

/** Replaces the placeholders; those without a value stay, which only a newer version can store. */
export const filledIn = (text: string, values: Partial<Record<Placeholder, string>>): string =>
  text.replaceAll(MARK, (mark, name: Placeholder) => values[name] ?? mark)

/** For rows of an import. Throws `invalid` for an unknown kind, or a text that could not be saved. */
export function checkKeptText({ mail, ...text }: MailText & { mail: string }) {
  if (!isMailKind(mail))
    throw invalid('is not a known kind of email', { field: 'mail', rule: 'unknown' })
  checkedMailText(mail, text)
}
