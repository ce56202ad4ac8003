import type { FormError } from '../../../../views/console/form/error-summary.tsx'
import { rawText } from '../../../../views/console/form/values.ts'
import { METHODS, type Method } from '../../../engines/clockwork/request.ts'
import type { Fields } from '../../../http/body.ts'
import { fail, invalid } from '../../../platform/errors.ts'
import { type FormFields, submitted, trimmedText } from '../../form.ts'

/** Request of a job, from a form. */
export interface CallInForm {
  name: string
  url: string
  method: Method
  headers: Record<string, string>
  body: string | null
}

/** Names and labels of the fields, by API name. */
const FIELDS: FormFields = {
  name: { name: 'name', label: 'Name' },
  schedule: { name: 'schedule', label: 'Schedule' },
  run_at: { name: 'run_at', label: 'Time' },
  url: { name: 'url', label: 'URL' },
  method: { name: 'method', label: 'Method' },
  headers: { name: 'headers', label: 'Headers' },
  body: { name: 'body', label: 'Body' },
}

/** Checks whether a URL is allowed; throws if not. */
export type CheckCall = (call: { url?: string; headers?: Record<string, string> }) => void

/** Reads the request of a job; throws `invalid` with the field's name. */
export const callIn = (fields: Fields): CallInForm => ({
  name: nameIn(fields),
  url: trimmedText(fields, 'url'),
  method: methodIn(fields),
  headers: headersIn(fields),
  body: bodyTextIn(fields) || null,
})

/** Submits a form. Checks all fields first, to report all errors together: the engine stops at the first. */
export async function sent<T>(
  fields: Fields,
  {
    checkCall,
    checks,
    work,
  }: {
    checkCall: CheckCall
    /** Checks of fields that only this form has. */
    checks: readonly (() => unknown)[]
    work: () => Promise<T>
  },
): Promise<{ value: T; errors?: undefined } | { value?: undefined; errors: FormError[] }> {
  const errors = await problems([
    () => nameIn(fields),
    ...checks,
    () => methodIn(fields),
    () => checkCall({ url: trimmedText(fields, 'url') }),
    () => checkCall({ headers: headersIn(fields) }),
  ])
  return errors.length > 0 ? { errors } : await submitted(work, FIELDS)
}

/** Errors of several checks. */
export async function problems(checks: readonly (() => unknown)[]): Promise<FormError[]> {
  const found = await Promise.all(checks.map((check) => submitted(async () => check(), FIELDS)))
  return found.flatMap(({ errors }) => errors ?? [])
}

const MAX_NAME_LENGTH = 255

function nameIn(fields: Fields): string {
  const name = trimmedText(fields, 'name')
  if (name !== '' && name.length <= MAX_NAME_LENGTH) return name
  throw invalid(`must have 1 to ${MAX_NAME_LENGTH} characters`, {
    field: 'name',
    rule: name === '' ? 'required' : 'too_long',
  })
}

const methodIn = (fields: Fields): Method =>
  METHODS.find((one) => one === trimmedText(fields, 'method')) ??
  fail(invalid(`must be one of ${METHODS.join(', ')}`, { field: 'method', rule: 'choice' }))

/** Body from a form, with Unix line ends. */
export const bodyTextIn = (fields: Fields): string => asUnix(rawText(fields, 'body') ?? '')

export const asUnix = (text: string): string => text.replaceAll('\r\n', '\n')

/** Headers as text, one per line. */
export const headerLines = (headers: Readonly<Record<string, string>>): string =>
  Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n')

function headersIn(fields: Fields): Record<string, string> {
  const entries = new Map<string, string>()
  for (const line of asUnix(rawText(fields, 'headers') ?? '').split('\n')) {
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
