import { rawText } from '../../views/ui/form/field.tsx'
import type { FormError } from '../../views/ui/here.tsx'
import type { Fields } from '../http/body.ts'
import { AppError, type ErrorKind, type FieldError, invalid } from '../platform/errors.ts'

/** Text of a submitted field, trimmed; empty if the field is missing or not text. */
export const trimmedText = (fields: Fields, name: string): string =>
  rawText(fields, name)?.trim() ?? ''

/** Errors that a change of the form's input can fix. */
export const CORRECTABLE: ReadonlySet<ErrorKind> = new Set<ErrorKind>(['invalid', 'conflict'])

/**
 * The result of `work`, or its errors by form field. `names` maps API field names to form fields; a
 * field without an entry belongs to its closest parent that has one. Errors of other kinds than `kinds`
 * are thrown.
 */
export async function submitted<T>(
  work: () => Promise<T>,
  names: FormFields = {},
  kinds = CORRECTABLE,
): Promise<{ value: T; errors?: undefined } | { value?: undefined; errors: FormError[] }> {
  try {
    return { value: await work() }
  } catch (error) {
    if (!(error instanceof AppError && kinds.has(error.kind))) throw error
    return { errors: error.fieldErrors.map((one) => errorOf(one, names)) }
  }
}

/** Form fields by API field name, optionally with a label to start the error message with. */
export type FormFields = Readonly<Record<string, string | { name: string; label: string }>>

/** An error of `headers.X-Foo` belongs to the form's `headers`, and its message names `X-Foo`. */
function errorOf(error: FieldError, names: FormFields): FormError {
  const { field = '', problem, at, remedy } = error
  const allow = remedy?.allow
  const steps = field.split('.')
  for (let length = steps.length; length > 0; length--) {
    const found = names[steps.slice(0, length).join('.')]
    if (found === undefined) continue
    const { name, label } = typeof found === 'string' ? { name: found, label: '' } : found
    const subject = [label, steps.slice(length).join('.')].filter(Boolean).join(' ')
    const message = subject ? `${subject} ${problem}.` : asSentence(problem)
    return {
      name,
      at: at && { ...at, message },
      allow,
      message: at ? `Line ${at.line}, column ${at.column}: ${message}` : message,
    }
  }
  return { allow, message: field ? `${field} ${problem}.` : asSentence(problem) }
}

/** An error message without its subject, as a sentence. */
const asSentence = (problem: string): string =>
  `${problem.charAt(0).toUpperCase()}${problem.slice(1)}.`

/** Runs every check. Throws one `invalid` with the problems of all that fail. */
export function checkAll(checks: readonly (() => unknown)[]): void {
  const [first, ...rest] = checks.flatMap(problemsOf)
  if (first) throw new AppError('invalid', [first, ...rest])
}

function problemsOf(check: () => unknown): readonly FieldError[] {
  try {
    check()
    return []
  } catch (error) {
    if (!(error instanceof AppError && error.kind === 'invalid')) throw error
    return error.fieldErrors
  }
}

/** An amount in currency units, with a decimal point or comma and at most two decimals. */
const AMOUNT = /^(\d{1,13})(?:[.,](\d{1,2}))?$/

/** Parses a spend cap from a form, such as `20` or `20.50`, to cents. */
export function centsIn(amount: string): number {
  const [, whole, rest = ''] = AMOUNT.exec(amount) ?? []
  if (whole === undefined)
    throw invalid('must be an amount such as 20 or 20.50, without a currency', {
      field: 'spend_cap_cents',
      rule: 'format',
    })
  return Number(whole) * 100 + Number(rest.padEnd(2, '0'))
}
