import { failed } from './errors.ts'

/** What a provider says of somebody: any JSON object. */
export type Claims = Readonly<Record<string, unknown>>

const LONGEST_SUBJECT = 255
const LONGEST_EMAIL = 320
const LONGEST_NAME = 200
const LONGEST_LOCALE = 35

/** Throws when `value` is anything but an object. */
export function asClaims(value: unknown, what: string): Claims {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
  return isObject ? (value as Claims) : failed(`${what} is not an object`)
}

/** A text, or undefined where there is none. Throws where there is something else. */
export function textIn(claims: Claims, name: string): string | undefined {
  const value = claims[name]
  if (value === undefined || value === null || value === '') return undefined
  return typeof value === 'string' ? value : failed(`${name} is not a text`)
}

/** By what somebody is known: visible ASCII. Throws where it is missing or something else. */
export function subjectIn(claims: Claims, name: string): string {
  const value = textIn(claims, name) ?? failed(`${name} is missing`)
  return checkedSubject(value)
}

/** The same for providers that number people. */
export function numberedSubjectIn(claims: Claims, name: string): string {
  const value = claims[name]
  const isNumber = typeof value === 'number' && Number.isSafeInteger(value) && value > 0
  return isNumber ? String(value) : failed(`${name} is not a number that names somebody`)
}

/** Throws for a subject that could not be kept or compared. */
export function checkedSubject(subject: string): string {
  const isSound = /^[\x21-\x7e]+$/.test(subject) && subject.length <= LONGEST_SUBJECT
  return isSound ? subject : failed('the subject has characters that it must not have, or too many')
}

/** As the provider spells it; whether it is an address is for others to say. */
export function emailIn(claims: Claims, name = 'email'): string | undefined {
  const email = textIn(claims, name)
  if (email === undefined) return undefined
  const isSound = email.length <= LONGEST_EMAIL && !/[\p{Cc}\s]/u.test(email)
  return isSound ? email : failed(`${name} is not an address`)
}

/** The first of `names` that is there, on one line and not too long for a page. */
export function nameIn(claims: Claims, ...names: string[]): string | undefined {
  for (const name of names) {
    const tidy = tidyName(textIn(claims, name) ?? '')
    if (tidy !== '') return tidy
  }
  return undefined
}

/** Without what would break or turn a line, nor halves of characters. */
export const tidyName = (text: string): string =>
  [...text.toWellFormed().replaceAll(/[\p{Cc}\p{Bidi_Control}]+/gu, ' ')]
    .slice(0, LONGEST_NAME)
    .join('')
    .trim()

/** A language tag such as `de` or `pt-BR`. One that is none is as good as missing. */
export function localeIn(claims: Claims, name = 'locale'): string | undefined {
  const locale = textIn(claims, name)?.replaceAll('_', '-')
  const isTag = locale !== undefined && /^[a-z]{2,3}(-[a-z0-9]{1,8})*$/i.test(locale)
  return isTag && locale.length <= LONGEST_LOCALE ? locale : undefined
}

/** True and nothing that is merely like it. */
export const isTrue = (value: unknown): boolean => value === true

/** Some send the word. The word `false` is not true, as it would be to JavaScript. */
export const isTrueOrTheWord = (value: unknown): boolean => value === true || value === 'true'
