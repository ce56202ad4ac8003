import { failed } from './errors.ts'

/** The claims of a provider about a user: any JSON object. */
export type Claims = Readonly<Record<string, unknown>>

const MAX_SUBJECT_LENGTH = 255
const MAX_EMAIL_LENGTH = 320
const MAX_NAME_LENGTH = 200
const MAX_LOCALE_LENGTH = 35

/** Throws unless `value` is an object. */
export function asClaims(value: unknown, what: string): Claims {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
  return isObject ? (value as Claims) : failed(`${what} is not an object`)
}

/** A string claim, or undefined if there is none. Throws for other types. */
export function textIn(claims: Claims, name: string): string | undefined {
  const value = claims[name]
  if (value === undefined || value === null || value === '') return undefined
  return typeof value === 'string' ? value : failed(`${name} is not a string`)
}

/** The subject of a user: visible ASCII. Throws if it is missing or invalid. */
export function subjectIn(claims: Claims, name: string): string {
  const value = textIn(claims, name) ?? failed(`${name} is missing`)
  return checkedSubject(value)
}

/** The same for providers that use numeric ids. */
export function numberedSubjectIn(claims: Claims, name: string): string {
  const value = claims[name]
  const isNumber = typeof value === 'number' && Number.isSafeInteger(value) && value > 0
  return isNumber ? String(value) : failed(`${name} is not a valid numeric user ID`)
}

/** Throws for a subject that cannot be stored or compared. */
export function checkedSubject(subject: string): string {
  const isSound = /^[\x21-\x7e]+$/.test(subject) && subject.length <= MAX_SUBJECT_LENGTH
  return isSound ? subject : failed('the subject is too long or has invalid characters')
}

/** The email address as the provider spells it; not validated. */
export function emailIn(claims: Claims, name = 'email'): string | undefined {
  const email = textIn(claims, name)
  if (email === undefined) return undefined
  const isSound = email.length <= MAX_EMAIL_LENGTH && !/[\p{Cc}\s]/u.test(email)
  return isSound ? email : failed(`${name} is not an email address`)
}

/** The first of the claims `names` that is present, on one line and limited in length. */
export function nameIn(claims: Claims, ...names: string[]): string | undefined {
  for (const name of names) {
    const tidy = tidyName(textIn(claims, name) ?? '')
    if (tidy !== '') return tidy
  }
  return undefined
}

/** Removes characters that break or reverse a line, and unpaired surrogates. */
export const tidyName = (text: string): string =>
  [...text.toWellFormed().replaceAll(/[\p{Cc}\p{Bidi_Control}]+/gu, ' ')]
    .slice(0, MAX_NAME_LENGTH)
    .join('')
    .trim()

/** A language tag such as `de` or `pt-BR`; undefined if invalid. */
export function localeIn(claims: Claims, name = 'locale'): string | undefined {
  const locale = textIn(claims, name)?.replaceAll('_', '-')
  const isTag = locale !== undefined && /^[a-z]{2,3}(-[a-z0-9]{1,8})*$/i.test(locale)
  return isTag && locale.length <= MAX_LOCALE_LENGTH ? locale : undefined
}

/** Only `true`, not truthy values. */
export const isTrue = (value: unknown): boolean => value === true

/** Some providers send strings. The string `false` is not true. */
export const isTrueOrTheWord = (value: unknown): boolean => value === true || value === 'true'
