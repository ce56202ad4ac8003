import type { FormError } from '../../../../views/console/form/error-summary.tsx'
import { METHODS, type Method } from '../../../engines/clockwork/request.ts'
import type { Fields } from '../../../http/body.ts'
import { fail, invalid } from '../../../platform/errors.ts'
import { asTyped, type FormFields, submitted, typed } from '../../form.ts'

/** What both kinds of job call, as a form says it. */
export interface CallInForm {
  name: string
  url: string
  method: Method
  headers: Record<string, string>
  body: string | null
}

/** The form names its fields as the API does, and labels them for people. */
const FIELDS: FormFields = {
  name: { name: 'name', label: 'Name' },
  schedule: { name: 'schedule', label: 'Schedule' },
  run_at: { name: 'run_at', label: 'Time' },
  url: { name: 'url', label: 'URL' },
  method: { name: 'method', label: 'Method' },
  headers: { name: 'headers', label: 'Headers' },
  body: { name: 'body', label: 'Body' },
}

/** Says whether something may be called, by throwing what is wrong with it. */
export type CheckCall = (call: { url?: string; headers?: Record<string, string> }) => void

/** Throws `invalid`, naming the field, for what no job could have. */
export const callIn = (fields: Fields): CallInForm => ({
  name: nameIn(fields),
  url: typed(fields, 'url'),
  method: methodIn(fields),
  headers: headersIn(fields),
  body: bodyTextIn(fields) || null,
})

/**
 * What comes of a form. All of its fields are looked at before anything is done, so that what is wrong
 * with them is told at once: the engine stops at the first.
 */
export async function sent<T>(
  fields: Fields,
  {
    checkCall,
    checks,
    work,
  }: {
    checkCall: CheckCall
    /** Of the fields that only this form has. */
    checks: readonly (() => unknown)[]
    work: () => Promise<T>
  },
): Promise<{ value: T; errors?: undefined } | { value?: undefined; errors: FormError[] }> {
  const errors = await problems([
    () => nameIn(fields),
    ...checks,
    () => methodIn(fields),
    () => checkCall({ url: typed(fields, 'url') }),
    () => checkCall({ headers: headersIn(fields) }),
  ])
  return errors.length > 0 ? { errors } : await submitted(work, FIELDS)
}

/** What is wrong with each of some things. */
export async function problems(checks: readonly (() => unknown)[]): Promise<FormError[]> {
  const found = await Promise.all(checks.map((check) => submitted(async () => check(), FIELDS)))
  return found.flatMap(({ errors }) => errors ?? [])
}

const LONGEST_NAME = 255

function nameIn(fields: Fields): string {
  const name = typed(fields, 'name')
  if (name !== '' && name.length <= LONGEST_NAME) return name
  throw invalid(`must have 1 to ${LONGEST_NAME} characters`, {
    field: 'name',
    rule: name === '' ? 'required' : 'too_long',
  })
}

const methodIn = (fields: Fields): Method =>
  METHODS.find((one) => one === typed(fields, 'method')) ??
  fail(invalid(`must be one of ${METHODS.join(', ')}`, { field: 'method', rule: 'choice' }))

/** Browsers end the lines of a form in two characters, whatever was typed. */
export const bodyTextIn = (fields: Fields): string => asUnix(asTyped(fields, 'body'))

export const asUnix = (text: string): string => text.replaceAll('\r\n', '\n')

/** Headers as people write them: a line each. */
export const headerLines = (headers: Readonly<Record<string, string>>): string =>
  Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n')

function headersIn(fields: Fields): Record<string, string> {
  const entries = new Map<string, string>()
  for (const line of asUnix(asTyped(fields, 'headers')).split('\n')) {
    if (line.trim() === '') continue
    const colon = line.indexOf(':')
    if (colon < 1)
      throw invalid('must have one header per line, such as "X-Token: abc"', {
        field: 'headers',
        rule: 'format',
      })
    const name = line.slice(0, colon).trim()
    if (entries.has(name))
      throw invalid('must not be set twice', {
        field: `headers.${name.slice(0, 40)}`,
        rule: 'duplicate',
      })
    entries.set(name, line.slice(colon + 1).trim())
  }
  return Object.fromEntries(entries)
}
