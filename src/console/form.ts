import type { FormError } from '../../views/console/form/error-summary.tsx'
import type { Fields } from '../http/body.ts'
import { AppError, type ErrorKind } from '../platform/errors.ts'

/** What was typed into a field, as text; empty where it is not there. */
export function typed(fields: Fields, name: string): string {
  const value = fields[name]
  return typeof value === 'string' ? value.trim() : ''
}

/** The same of what must come as it was typed, such as a password. */
export function asTyped(fields: Fields, name: string): string {
  const value = fields[name]
  return typeof value === 'string' ? value : ''
}

/** What was ticked of a group of boxes, which leave nothing behind where none of them is. */
export function ticked(fields: Fields, name: string): string[] {
  const values = fields[name]
  return Array.isArray(values) ? values.filter((value) => typeof value === 'string') : []
}

/** The fields of a form as it sent them, by the names that `readFields` takes apart. */
export const pairsIn = (fields: Fields, prefix = ''): [name: string, value: string][] =>
  Object.entries(fields).flatMap(([name, value]): [string, string][] => {
    const whole = `${prefix}${name}`
    if (typeof value === 'string') return [[whole, value]]
    if (Array.isArray(value)) return value.map((one) => [`${whole}[]`, String(one)])
    return typeof value === 'object' && value !== null ? pairsIn(value as Fields, `${whole}.`) : []
  })

/** What a person can put right in the form itself. */
const CORRECTABLE: ReadonlySet<ErrorKind> = new Set<ErrorKind>(['invalid', 'conflict'])

/**
 * What came of a form: the answer, or what is wrong with it, to be shown beside its fields.
 * Messages begin with the name that the API has for a field; `names` says what the form calls it.
 * Everything else that goes wrong is thrown on.
 */
export async function submitted<T>(
  work: () => Promise<T>,
  names: Readonly<Record<string, string>> = {},
): Promise<{ value: T; errors?: undefined } | { value?: undefined; errors: FormError[] }> {
  try {
    return { value: await work() }
  } catch (error) {
    if (!(error instanceof AppError && CORRECTABLE.has(error.kind))) throw error
    return { errors: [errorOf(error.message, names)] }
  }
}

function errorOf(message: string, names: Readonly<Record<string, string>>): FormError {
  const [, place = '', rule = ''] = /^([\w. ]+?): (.+)$/s.exec(message) ?? []
  const name = names[place]
  return name === undefined ? { message } : { name, message: sentence(rule) }
}

const sentence = (rule: string): string => `${rule.charAt(0).toUpperCase()}${rule.slice(1)}.`

/** What is wrong with one field, for beside it. */
export const errorAt = (errors: readonly FormError[] | undefined, name: string) =>
  errors?.find((error) => error.name === name)?.message
