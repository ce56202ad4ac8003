import type { FormError } from '../../views/console/form/error-summary.tsx'
import type { Fields } from '../http/body.ts'
import { AppError, type ErrorKind, type FieldError } from '../platform/errors.ts'

/** The text typed into a field; empty if the field is missing. */
export function typed(fields: Fields, name: string): string {
  const value = fields[name]
  return typeof value === 'string' ? value.trim() : ''
}

/** The same of what must come as it was typed, such as a password. */
export function asTyped(fields: Fields, name: string): string {
  const value = fields[name]
  return typeof value === 'string' ? value : ''
}

/** The selected values of a group of checkboxes. Browsers send nothing if none is selected. */
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

/** The kinds of errors that a user can correct in the form. */
const CORRECTABLE: ReadonlySet<ErrorKind> = new Set<ErrorKind>(['invalid', 'conflict'])

/**
 * The result of a form, or the errors to show beside its fields. `names` maps field names of the API
 * to those of the form; a field without an entry uses the entry of its parent. Other errors are
 * rethrown.
 */
export async function submitted<T>(
  work: () => Promise<T>,
  names: FormFields = {},
): Promise<{ value: T; errors?: undefined } | { value?: undefined; errors: FormError[] }> {
  try {
    return { value: await work() }
  } catch (error) {
    if (!(error instanceof AppError && CORRECTABLE.has(error.kind))) throw error
    return { errors: error.fieldErrors.map((one) => errorOf(one, names)) }
  }
}

/** The form's field for each of the API's: its name, and the label that begins the sentence. */
export type FormFields = Readonly<Record<string, string | { name: string; label: string }>>

/** `headers.X-Foo` is about the form's `headers`, and the sentence names the rest of the path. */
function errorOf({ field = '', problem }: FieldError, names: FormFields): FormError {
  const steps = field.split('.')
  for (let length = steps.length; length > 0; length--) {
    const found = names[steps.slice(0, length).join('.')]
    if (found === undefined) continue
    const { name, label } = typeof found === 'string' ? { name: found, label: '' } : found
    const subject = [label, steps.slice(length).join('.')].filter(Boolean).join(' ')
    return { name, message: subject ? `${subject} ${problem}.` : asSentence(problem) }
  }
  return { message: field ? `${field} ${problem}.` : asSentence(problem) }
}

/** The error of a field as a complete sentence, shown beside it. */
export const asSentence = (problem: string): string =>
  `${problem.charAt(0).toUpperCase()}${problem.slice(1)}.`

/** The error to show beside a field. */
export const errorAt = (errors: readonly FormError[] | undefined, name: string) =>
  errors?.find((error) => error.name === name)?.message
